"""`python -m ttt_net VERB`: look up the verb and import only its module."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from ttt_net import __version__
from ttt_net.bootstrap import INTERRUPTED, go_elsewhere
from ttt_net.command_line import PLAY, OptionParser, meant
from ttt_net.command_line import VERBS as PROGRAM
from ttt_net.errors import ConfigurationError, EngineError, Refusal
from ttt_net.text import clean

PROGRAMS = {
    "serve": ("ttt_net.server.start", "run a server"),
    "play": ("ttt_net.commands.play", "join a server, or seat a bot with --bot"),
}
"""The verbs that are separate programs: the module whose `main` takes the arguments, and a description."""
VERBS = {
    "demo": ("ttt_net.commands.demo", "play a whole networked match between two bots in this terminal"),
    "games": ("ttt_net.commands.games", "list the games: size, rule, winning lines, known value"),
    "replay": ("ttt_net.commands.replay", "step through a recorded match"),
    "export": ("ttt_net.commands.export", "write recorded matches as text, JSON, CSV or Parquet"),
    "analyse": ("ttt_net.commands.analyse", "say what every move of a position is worth, and why"),
    "book": ("ttt_net.laboratory.book_maker", "build the opening book of Connect Four, or check it"),
    "arena": ("ttt_net.laboratory.strategy_arena", "have strategies play each other, and print a cross table"),
    "new-bot": ("ttt_net.commands.new_bot", "create a project for a bot: the bot, its tests and a README"),
    "sandbox": ("ttt_net.commands.new_bot", "run a bot, or any command, with a server of its own"),
    "compile": ("ttt_net.commands.searching", "compile the engine now, so that no first move waits for it"),
    "puzzles": ("ttt_net.laboratory.puzzle_maker", "make puzzles: positions with one solution, proved and graded"),
    "admin": (
        "ttt_net.commands.admin",
        "look after a server that runs here: figures, players, bans, messages, restarts",
    ),
    "tournament": (
        "ttt_net.commands.tournament",
        "hold tournaments on a server that runs here: rounds, standings, results",
    ),
    "backup": ("ttt_net.commands.journal_files", "copy a server's journal, while it runs or not"),
    "cluster": ("ttt_net.commands.journal_files", "check the log of a cluster, or restart it after a total loss"),
    "restore": (
        "ttt_net.commands.journal_files",
        "check a backup by replaying every match in it, and put it back",
    ),
    "completion": ("ttt_net.commands.shell_help", "print what bash, zsh or fish needs to complete all of this"),
    "man": ("ttt_net.commands.shell_help", "print the manual page"),
}
"""Each verb: the module with its `add_VERB_arguments(parser)` and `run_VERB(args) -> int`, and a description.

A hyphen in a verb becomes `_` in both names.
"""
_AS_FLAGS = {"help": "--help", "version": "--version"}
"""Words that act as the flag of the same name."""


def make_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of the chosen verb only."""
    parser = OptionParser(
        prog=PROGRAM,
        description="Tic-tac-toe and its family, over a network.",
        epilog=f"{PLAY} opens the start menu; {PROGRAM} help VERB explains a verb.",
    )
    version = f"ttt_net {__version__}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for program, (_, what) in PROGRAMS.items():
        subparsers.add_parser(program, help=what)
    for verb, (module, what) in VERBS.items():
        parser_of_verb = subparsers.add_parser(verb, help=what, description=f"{what[0].upper()}{what[1:]}.")
        parser_of_verb.add_argument("--version", action="version", version=version, help="print the version")
        if verb == chosen:
            getattr(_module(module), f"add_{verb.replace('-', '_')}_arguments")(parser_of_verb)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the verb; return 0 for success, 1 if nobody reads the output, 2 for a usage error, 130 if interrupted."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # also while modules load
        return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in PROGRAMS:
        status: int = _module(PROGRAMS[arguments[0]][0]).main(arguments[1:])
        return status
    arguments = _with_flags(arguments)
    if arguments[0] in PROGRAMS:
        return _run(arguments)
    chosen = next((word for word in arguments if word in VERBS), None)
    try:
        if not arguments[0].startswith("-") and arguments[0] not in VERBS:
            near = meant(arguments[0], [*PROGRAMS, *VERBS, *_AS_FLAGS])
            likely = f"{near}?" if near else f"; see {PROGRAM} --help"
            raise ConfigurationError(f"unknown verb {clean(arguments[0], 40)}{likely}")
        args = make_parser(chosen).parse_args(arguments)
    except ConfigurationError as error:
        print(f"ttt_net: {error}", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.isatty():
        nearest = _module("ttt_net.client.drawing.glyphs").NEAREST
        sys.stdout.reconfigure(errors=nearest)  # a pipe gets the text unaltered, or an error
    try:
        code: int = getattr(_module(VERBS[args.verb][0]), f"run_{args.verb.replace('-', '_')}")(args)
        sys.stdout.flush()
    except (ConfigurationError, EngineError, Refusal) as error:
        print(f"ttt_net: {error}", file=sys.stderr)
        return 2
    except UnicodeEncodeError as error:
        missing = error.object[error.start : error.end]
        print(f"ttt_net: {error.encoding} has no {missing!a}; set PYTHONIOENCODING=utf-8", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader closed the pipe. Keep the interpreter from complaining when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _with_flags(arguments: Sequence[str]) -> Sequence[str]:
    """Replace `help` and `version` with their flags. Without any words, return the flag for help."""
    if not arguments or arguments[0] == "help":
        return [*arguments[1:], "--help"]
    if len(arguments) == 2 and arguments[1] in _AS_FLAGS:
        return [arguments[0], _AS_FLAGS[arguments[1]]]
    return ["--version"] if arguments[0] == "version" else arguments


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as missing:
        go_elsewhere(missing, "ttt_net", ["-m", "ttt_net", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
