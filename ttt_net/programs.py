"""What the programs are called here: the scripts of a clone, or the verbs of the command that was installed."""

from pathlib import Path

_IS_CLONE = (Path(__file__).parent.parent / "client.py").exists()

CLIENT, SERVER = ("client.py", "server.py") if _IS_CLONE else ("ttt_net play", "ttt_net serve")
"""What they call themselves."""
PLAY, SERVE = (f"{'python ' * _IS_CLONE}{name}" for name in (CLIENT, SERVER))
"""What is typed to start them."""
VERBS = "python -m ttt_net" if _IS_CLONE else "ttt_net"
"""What is typed before the name of any other verb."""
