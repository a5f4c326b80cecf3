"""Play on a server from a program: the session, the connection that keeps it up, and trust. Knows no terminal."""
