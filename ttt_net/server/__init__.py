"""The shell around the core: sockets, sessions, the order of each match, the journal.

Read `start` and `serving` for starting and ending, `hub` for the dispatch, `rooms.room` for the way of a move,
`wire.connection` for the limits of a peer, and `journal` for what outlives the process.
"""
