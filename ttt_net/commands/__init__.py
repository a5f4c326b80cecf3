"""The verbs of `python -m ttt_net`, one file each, with `add_parser(subparsers)` and `run(args) -> int`."""
