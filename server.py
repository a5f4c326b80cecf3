"""Start a ttt_net server: `python server.py`, or `python server.py --help`."""

from ttt_net.bootstrap import enter

if __name__ == "__main__":
    enter("ttt_net.server.start")
