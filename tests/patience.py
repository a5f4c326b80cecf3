"""How long tests wait: for what must come, and for what must come in time."""

PATIENCE_S = 60
"""For what must come; only a hang takes that long, however busy the machine is."""
BUSY_S = 15
"""Seconds that a busy machine may add where the time itself is promised."""
