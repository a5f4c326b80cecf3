"""Tic-tac-toe and its family, played over a network.

docs/architecture.md says what lives where, and who may import whom; a test reads the imports. `door`, `__main__` and
`commands` are how people come in, and may import anything. Only `server` and `client` know asyncio, sockets, files and
clocks; in all other modules a message and a time go in, and facts come out.
"""

__version__ = "0.1.0"
