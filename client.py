"""Join a ttt_net server: `python client.py [ADDRESS]`, or `python client.py --help`."""

from ttt_net.bootstrap import enter

if __name__ == "__main__":
    enter("ttt_net.commands.play")
