"""`export`: recorded matches, one or many, as one text in the one form that is written."""

import argparse
import sys
from pathlib import Path

from ttt_net.commands.source import load_records
from ttt_net.errors import ConfigurationError
from ttt_net.games.records import write_records


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb and its arguments."""
    parser = subparsers.add_parser("export", help="write recorded matches as text")
    parser.add_argument("sources", nargs="+", metavar="FILE", help="a file of records")
    parser.add_argument("--to", metavar="FILE", help="where to write; else to the screen")


def run(args: argparse.Namespace) -> int:
    """Write all records, in the order of the sources; nothing is written if one of them cannot be read."""
    text = write_records(record for source in args.sources for record in load_records(source))
    if args.to is None:
        sys.stdout.write(text)
        return 0
    try:
        Path(args.to).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.to}: {error.strerror}") from None
    return 0
