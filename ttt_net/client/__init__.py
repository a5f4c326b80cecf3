"""The client: a connection that comes back by itself, one pure display, and several ways to show it; knows no rules."""
