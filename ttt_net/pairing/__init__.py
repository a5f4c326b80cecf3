"""Pairing: seeks, challenges, invitations, and the index of seeks that wait. Knows no socket and no match."""
