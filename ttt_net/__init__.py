"""Tic-tac-toe and its family, played over a network.

docs/developing/architecture.md says what lives where, and who may import whom; a test reads the imports. `bootstrap`,
`__main__` and `commands` are how programs start, and may import anything. Only `server`, `sdk`, `client` and `engines`
know asyncio, sockets and clocks; in all other modules a message and a time go in, and events come out.
"""

__version__ = "0.1.0"
