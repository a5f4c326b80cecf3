"""The tests mirror the package; `end_to_end` plays over real sockets, processes and terminals."""
