"""Tic-tac-toe and its family, played over a network.

The layers, from the ones that know nothing to the ones that meet the world; an
importer stands to the right of what it imports::

    errors <- games <- strategies
    errors, clock <- messages
    text <- announcement
    clock <- absence
    games, messages, clock, absence <- match <- history
    games, messages, clock <- lobby
    match, lobby, messages, clock, games, announcement <- server    sockets, SQLite
    messages, clock, games, announcement <- client                  rich, keys
    strategies <- client.bot alone

`door`, `__main__` and `commands` are how people come in, and may import
anything. Only `server` and `client` know asyncio, sockets, files and clocks; in
all other modules a message and a time go in, and facts come out.
"""

__version__ = "0.1.0"
