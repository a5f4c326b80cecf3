"""Admission: limits of connections and rates, bans and mutes; asked before anything costs something."""
