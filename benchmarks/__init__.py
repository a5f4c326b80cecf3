"""Repeatable measurements that print a table and its ratios; no test asserts on their times."""
