"""Admission: limits of connections and rates, bans and mutes, checked before any costly work."""
