"""Print the help that most people need on one screen, and read numbers."""

import argparse
from collections.abc import Sequence
from typing import Any

from ttt_net.programs import CLIENT
from ttt_net.text import clean

SHORT_HELP = f"""\
Play tic-tac-toe and its family, with people anywhere or with the computer.

  {CLIENT}                        the start menu: find servers, play here
  {CLIENT} 192.168.1.20           join one: host, host:port or wss://...
  {CLIENT} host                   start a server here; friends find it
  {CLIENT} ADDRESS --invite       get a code for a friend, and wait
  {CLIENT} ADDRESS --join CODE    ... who joins with the code you gave them
  {CLIENT} connect4               any of these may name a game, too
  {CLIENT} local                  two at one keyboard, without any server
  {CLIENT} local --o computer --level 4      against the computer, 1 to 8
  {CLIENT} ADDRESS --bot alphabeta           seat a bot for all to play

  --game G         tictactoe (default), connect4, ultimate, mnk:15x15,5 ...
  --time M+S       with a clock: minutes each, seconds for every move; 3+2 or 3
  --name NAME      who you are (default: the name you typed the last time)
  --plain          line by line; or --screen-reader, or --json

? shows the keys while you play. --help-all lists every option; docs/client.md
tells the rest."""


class ShortHelp(argparse.Action):
    """`--help`, which fits a terminal; `--help-all` is the usual one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Print it, and exit."""
        print(SHORT_HELP)
        parser.exit()


def whole_number(text: str) -> int:
    """Return the number that was typed. Raises `ArgumentTypeError` if it is none."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{clean(text, 20)!r} is no whole number") from None
