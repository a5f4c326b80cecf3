"""The shell around the core: sockets, sessions, the order of each match, the journal.

Read `start` and `main` for how it starts and ends, `hub` for who is here, `tables.table` for how a move becomes a fact,
`wire.connection` for what a bad peer cannot do, `journal` for what outlives the process.
"""
