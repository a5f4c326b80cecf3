"""Tic-tac-toe and its family, played over a network.

docs/developing/architecture.md says where everything is, and which module may import which; a test checks the imports.
`bootstrap`, `__main__` and `commands` start programs, and may import anything. Only `server`, `sdk`, `client` and
`engines` know asyncio, sockets and clocks; all other modules take messages and times as arguments and return events.
"""

__version__ = "0.2.0"
