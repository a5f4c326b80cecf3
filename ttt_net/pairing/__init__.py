"""Pairing: seeks that stand, challenges and invitations. Knows no socket and no match."""
