"""The client: a connection that comes back by itself, one pure view, and several ways to show it; knows no rules."""
