"""Connected players: login, sessions, accounts, and questions about the past."""
