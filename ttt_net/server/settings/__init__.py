"""Settings: their fields, their sources, their checks."""
