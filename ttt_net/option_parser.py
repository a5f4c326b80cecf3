"""Report the fault of a command line in one sentence, with a suggestion."""

import argparse
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

_UNRECOGNIZED = "unrecognized arguments: "
_INVALID = re.compile(r"^(?:argument )?(\S+): invalid choice: '([^']*)' \(choose from (.*)\)$", re.DOTALL)
_MAX_CELLS = 200
_MAX_WORD = 40


class OptionParser(argparse.ArgumentParser):
    """A parser that raises `ConfigurationError` instead of printing pages; those of its verbs do the same."""

    def error(self, message: str) -> NoReturn:
        """Raise `ConfigurationError` with one line, and what was meant, if that is near."""
        raise ConfigurationError(f"{self._sentence_of(message)}; see {self.prog} --help")

    def _sentence_of(self, message: str) -> str:
        if message.startswith(_UNRECOGNIZED):
            first = message.removeprefix(_UNRECOGNIZED).split()[0]
            kind = "option" if first.startswith("-") else "word"
            return f"there is no {kind} {clean(first, _MAX_WORD)}{meant(first.partition('=')[0], self.known_options())}"
        if found := _INVALID.match(message):
            known = re.findall(r"[\w.-]+", found[3])
            there = "" if (near := meant(found[2], known)) else f"; there are: {', '.join(known)}"
            return f"{found[1]}: there is no {clean(found[2], _MAX_WORD)}{near}{there}"
        return clean(message.removeprefix("argument "), _MAX_CELLS)

    def known_options(self) -> list[str]:
        """Return all options, also those of the verb that was chosen."""
        parsers: list[argparse.ArgumentParser] = [self]
        for parser in parsers:
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction):
                    parsers += action.choices.values()
        return [option for parser in parsers for action in parser._actions for option in action.option_strings]


def meant(word: str, known: Iterable[str]) -> str:
    """Return the suggestion of the nearest known word, `; did you mean this`, or nothing."""
    near = get_close_matches(word.lower()[:_MAX_WORD], list(known), 1)
    return f"; did you mean {near[0]}" if near else ""
