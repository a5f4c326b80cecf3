"""The server as a program among others: how it makes itself known, and tends its journal."""
