"""Matchmaking: seeks, challenges and invitations, the registry of matches, the lists of the lobby."""
