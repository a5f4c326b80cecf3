"""The verbs of `python -m ttt_net`: one module each, with `add_parser` and `run`."""
