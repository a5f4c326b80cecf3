"""List all verbs with their options, read from the parsers, for completions and the manual page."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ttt_net.__main__ import PROGRAMS, VERBS, make_parser
from ttt_net.client.command_line import options as client
from ttt_net.client.command_line.named import DEEDS
from ttt_net.games.catalogue import NAMES as GAMES
from ttt_net.server.settings import sources as server
from ttt_net.strategies import NAMES as STRATEGIES

_OF_GAMES = ("game", "leaderboard", "names")
_OF_STRATEGIES = ("bot", "x", "o", "strategy", "strategies")
_FILES = ("FILE", "FOLDER", "PATH", "FILE|ID")
"""Values that are paths, as help calls them."""


@dataclass(frozen=True, slots=True)
class OptionUsage:
    """One option: how it is written, what it takes, and what it is for."""

    flags: tuple[str, ...]
    value: str
    """What help calls its value; empty where it takes none."""
    help: str
    values: tuple[str, ...] = ()
    """The values to choose from, where they are known."""
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class VerbUsage:
    """One verb, or a word behind one: `path` is how it is typed after `ttt_net`."""

    path: tuple[str, ...]
    help: str
    arguments: tuple[OptionUsage, ...]
    """What is typed without a flag; `flags` then has its name."""
    options: tuple[OptionUsage, ...]
    verbs: tuple[str, ...] = ()
    """The words that lead on from here."""

    @property
    def words(self) -> tuple[str, ...]:
        """What may be typed here and is no option."""
        return (*self.verbs, *(value for each in self.arguments for value in each.values))


def verb_usages() -> list[VerbUsage]:
    """Return the whole command first, with its verbs, then each verb, and the words behind it."""
    parsers = {"serve": server.make_parser(is_whole=True), "play": client.make_parser()}
    found = [_usage((), "", make_parser(None))]
    for verb, (_, what) in PROGRAMS.items():
        found += _with_below((verb,), what, parsers[verb])
    for verb, what in VERBS.items():
        found += _with_below((verb,), what, _below(make_parser(verb))[verb][1])
    return found


def _with_below(path: tuple[str, ...], what: str, parser: argparse.ArgumentParser) -> Iterator[VerbUsage]:
    yield _usage(path, what, parser)
    for word, (help_of_word, below) in _below(parser).items():
        yield from _with_below((*path, word), help_of_word, below)


def _below(parser: argparse.ArgumentParser) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Return the parsers of the words that may follow, each with its help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            return {word: (helps.get(word, ""), below) for word, below in action.choices.items()}
    return {}


def _usage(path: tuple[str, ...], what: str, parser: argparse.ArgumentParser) -> VerbUsage:
    actions = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction) and action.help != argparse.SUPPRESS
    ]
    options = tuple(_option(action) for action in actions if action.option_strings)
    arguments = tuple(_option(action) for action in actions if not action.option_strings)
    if path == ("play",):
        arguments = (OptionUsage(("ADDRESS",), "", arguments[0].help, (*GAMES, *DEEDS)),)
    return VerbUsage(path, what, arguments, options, tuple(_below(parser)))


def _option(action: argparse.Action) -> OptionUsage:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    choices = tuple(str(choice) for choice in action.choices or ())
    if choices and action.metavar is None:
        metavar = "|".join(choices)
    values = choices or (GAMES if action.dest in _OF_GAMES else STRATEGIES if action.dest in _OF_STRATEGIES else ())
    is_file = not values and (action.type is Path or metavar in _FILES)
    flags = tuple(action.option_strings) or (metavar,)
    return OptionUsage(flags, "" if action.nargs == 0 else metavar, _help(action), tuple(values), is_file=is_file)


def _help(action: argparse.Action) -> str:
    """Return the help as it is printed, but for a default that is a folder of this machine."""
    text = action.help or ""
    if isinstance(action.default, Path):
        text = text.replace(" (default %(default)s)", "")
    return " ".join((text % {**vars(action), "prog": "ttt_net"}).split())
