"""The verbs of `python -m ttt_net`, one file each, with `add_arguments(parser)` and `run(args) -> int`."""
