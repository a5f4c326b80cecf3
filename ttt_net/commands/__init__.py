"""The verbs of `python -m ttt_net`; `__main__` says which module has which."""
