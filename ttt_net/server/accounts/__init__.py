"""Players who are connected: login, sessions, and what they ask about themselves and the past."""
