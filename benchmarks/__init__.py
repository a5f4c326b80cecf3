"""Repeatable measurements that print a table and a ratio; nothing here is asserted in a test."""
