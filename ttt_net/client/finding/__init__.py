"""Find a server: addresses, announcements, servers used before, and a person who chooses."""
