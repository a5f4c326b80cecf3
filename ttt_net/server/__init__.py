"""The shell around the core: sockets, sessions, the order of each match, the journal.

Read `start` and `serving` for how it starts and ends, `hub` for the dispatch, `rooms.room` for the way of a move,
`wire.connection` for what a bad peer cannot do, `journal` for what outlives the process.
"""
