"""The server around the pure core: sockets, sessions, the order of events in each match, the journal.

Read `start` and `serving` for starting and stopping, `hub` for the dispatch, `rooms.room` for the way of a move,
`wire.connection` for the limits of a peer, and `journal` for the storage.
"""
