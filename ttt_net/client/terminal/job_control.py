"""Ctrl-Z: the terminal is given back as it was found, the program stops, and once it goes on all is drawn anew.

What the network makes of the pause is no matter of ours: a link that was cut meanwhile is found so, and comes back.
"""

import os
import signal
from contextlib import suppress

from prompt_toolkit.input import Input

from ttt_net.client.events import Key
from ttt_net.client.terminal.screen import TerminalScreen

try:
    import termios
except ImportError:  # Windows has neither terminal attributes nor jobs
    termios = None  # type: ignore[assignment]

SUSPEND = Key("c-z")


def suspend(screen: TerminalScreen, keyboard: Input) -> None:
    """Stop until the shell has us go on; where there is no shell to do so, or no such signal, go on at once."""
    if not hasattr(signal, "SIGTSTP"):
        return
    with keyboard.detach(), keyboard.cooked_mode(), screen.given_back():
        os.kill(0, signal.SIGTSTP)  # the whole job, as the terminal itself would: what we have started stops, too
        with suppress(termios.error):  # where there is no shell, there is nothing to wait for
            termios.tcdrain(keyboard.fileno())  # stops us again after `bg`, while the terminal is as the shell needs it
