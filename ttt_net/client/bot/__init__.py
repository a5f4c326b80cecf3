"""A strategy as just another player, with its search in a process of its own."""
