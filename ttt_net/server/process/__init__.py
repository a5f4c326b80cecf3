"""The server as a program among others: how it makes itself known, tends its journal, and ends."""
