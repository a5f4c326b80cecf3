"""Name the programs as users start them here, and report command-line errors in one sentence.

The programs are the scripts of a clone, or the verbs of the installed command. They start each other with `python -m
ttt_net` and the environment of `beside_us`.
"""

import argparse
import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

_ROOT = Path(__file__).parent.parent
_IS_CLONE = (_ROOT / "client.py").exists()

CLIENT, SERVER = ("client.py", "server.py") if _IS_CLONE else ("ttt_net play", "ttt_net serve")
"""The names that the programs print."""
PLAY, SERVE = (f"{'python ' * _IS_CLONE}{name}" for name in (CLIENT, SERVER))
"""The commands that start the programs."""
VERBS = "python -m ttt_net" if _IS_CLONE else "ttt_net"
"""The command before any other verb."""


def beside_us(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which a process, started in any folder, imports this same package."""
    path = os.pathsep.join(filter(None, (str(_ROOT), environment.get("PYTHONPATH"))))
    return {**environment, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}  # and imports nothing from its working directory


def without_us(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of an external program: as it was before `beside_us`."""
    rest = dict(environment)
    paths = rest.get("PYTHONPATH", "").split(os.pathsep)
    if paths[0] == str(_ROOT):
        rest.pop("PYTHONSAFEPATH", None)
        rest["PYTHONPATH"] = os.pathsep.join(paths[1:])
    return rest


_UNRECOGNIZED = "unrecognized arguments: "
_INVALID = re.compile(r"^(?:argument )?(\S+): invalid choice: '([^']*)' \(choose from (.*)\)$", re.DOTALL)
_MAX_CELLS = 200
_MAX_WORD = 40


class OptionParser(argparse.ArgumentParser):
    """A parser that raises `ConfigurationError` instead of printing its usage, as do the parsers of its verbs."""

    def error(self, message: str) -> NoReturn:
        """Raise `ConfigurationError` with one line, and a suggestion if a known option is similar."""
        raise ConfigurationError(f"{self._sentence_of(message)}; see {self.prog} --help")

    def _sentence_of(self, message: str) -> str:
        if message.startswith(_UNRECOGNIZED):
            first = message.removeprefix(_UNRECOGNIZED).split()[0]
            kind, option, known = (
                "option" if first.startswith("-") else "word",
                first.partition("=")[0],
                self.known_options(),
            )
            if option in known:
                return f"{option} is in the wrong place; write it directly after the verb"
            return f"there is no {kind} {clean(first, _MAX_WORD)}{meant(option, known)}"
        if found := _INVALID.match(message):
            known = re.findall(r"[\w.-]+", found[3])
            there = "" if (near := meant(found[2], known)) else f"; there are: {', '.join(known)}"
            return f"{found[1]}: there is no {clean(found[2], _MAX_WORD)}{near}{there}"
        return clean(message.removeprefix("argument "), _MAX_CELLS)

    def known_options(self) -> list[str]:
        """Return all options, including those of the chosen verb."""
        parsers: list[argparse.ArgumentParser] = [self]
        for parser in parsers:
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction):
                    parsers += action.choices.values()
        return [option for parser in parsers for action in parser._actions for option in action.option_strings]


def meant(word: str, known: Iterable[str]) -> str:
    """Return the suggestion of the most similar known word, `; did you mean this`, or an empty text."""
    near = get_close_matches(word.lower()[:_MAX_WORD], list(known), 1)
    return f"; did you mean {near[0]}" if near else ""
