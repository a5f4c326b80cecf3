"""Pairing: open seeks, challenges and invitations. Knows no socket and no match."""
