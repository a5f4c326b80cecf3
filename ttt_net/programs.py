"""Name the programs as they are typed here: the scripts of a clone, or the verbs of the command that was installed.

And how one of them loads, and starts another: with `python -m ttt_net`, and the environment that `beside_us` returns.
"""

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_IS_CLONE = (_ROOT / "client.py").exists()

CLIENT, SERVER = ("client.py", "server.py") if _IS_CLONE else ("ttt_net play", "ttt_net serve")
"""The names that the programs print."""
PLAY, SERVE = (f"{'python ' * _IS_CLONE}{name}" for name in (CLIENT, SERVER))
"""The commands that start the programs."""
VERBS = "python -m ttt_net" if _IS_CLONE else "ttt_net"
"""The command in front of any other verb."""


def beside_us(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that is to find this very package, wherever it is started."""
    path = os.pathsep.join(filter(None, (str(_ROOT), environment.get("PYTHONPATH"))))
    return {**environment, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}  # and nothing of the folder that it is started in


@contextmanager
def quick_to_end() -> Iterator[None]:
    """Let Ctrl-C end the process at once inside the block, in which modules are loaded.

    The import system lets go of its locks in callbacks that may not raise: an interrupt in one is printed and lost.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # and is not ignored, as in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def without_us(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program of others: as it was before `beside_us`."""
    rest = dict(environment)
    paths = rest.get("PYTHONPATH", "").split(os.pathsep)
    if paths[0] == str(_ROOT):
        rest.pop("PYTHONSAFEPATH", None)
        rest["PYTHONPATH"] = os.pathsep.join(paths[1:])
    return rest
