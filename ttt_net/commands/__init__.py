"""The verbs of `python -m ttt_net`; `__main__` maps them to these modules."""
