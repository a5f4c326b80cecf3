"""The parser behind the command line: what is wrong is one line, and the help that most people need is one screen."""

import argparse
import difflib
from collections.abc import Sequence
from typing import Any

from ttt_net.errors import ConfigurationError
from ttt_net.programs import CLIENT
from ttt_net.text import clean

SHORT_HELP = f"""\
Play tic-tac-toe and its family, with people anywhere or with the computer.

  {CLIENT}                        look for servers on this network
  {CLIENT} 192.168.1.20           join one: host, host:port or wss://...
  {CLIENT} host                   start a server here; friends find it
  {CLIENT} ADDRESS --invite       get a code for a friend, and wait
  {CLIENT} ADDRESS --join CODE    ... who joins with the code you gave them
  {CLIENT} connect4               any of these may name a game, too
  {CLIENT} local                  two at one keyboard, without any server
  {CLIENT} local --o alphabeta --level 4     against the computer, 1 to 8
  {CLIENT} ADDRESS --bot alphabeta           seat a bot for all to play

  --game G         tictactoe (default), connect4, ultimate, mnk:15x15,5 ...
  --time M+S       with a clock: minutes each, seconds for every move; 3+2 or 3
  --name NAME      who you are (default: the name you typed the last time)
  --plain          line by line; or --screen-reader, or --json

? shows the keys while you play. --help-all lists every option; docs/client.md
tells the rest."""


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and what may have been meant."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise `ConfigurationError` instead of printing pages."""
        start = "unrecognized arguments: "
        sentence = message.removeprefix("argument ")
        if message.startswith(start):
            sentence = self._unknown(message.removeprefix(start))
        raise ConfigurationError(f"{clean(sentence, 200)}; see {self.prog} --help")

    def _unknown(self, said: str) -> str:
        first = said.split()[0]
        known = [option for action in self._actions for option in action.option_strings]
        likely = difflib.get_close_matches(first.partition("=")[0], known, 1)
        return f"there is no option {first}{'; did you mean ' * bool(likely)}{''.join(likely)}"


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
    """Return the number that was typed; what is none raises what the parser makes a line of."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{clean(text, 20)!r} is no whole number") from None
