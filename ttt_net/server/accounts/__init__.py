"""Who is here: how a connection becomes a player, and what a player asks about himself and the past."""
