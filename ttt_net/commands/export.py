"""`export`: recorded matches, one or many, as one text in the one form that is written."""

import argparse
import sys
from pathlib import Path

from ttt_net.commands.source import add_data, load_all, load_records
from ttt_net.errors import ConfigurationError
from ttt_net.games.records import write_records


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "sources", nargs="*", metavar="FILE|ID", help="files of records, ids of matches on this machine's server"
    )
    parser.add_argument(
        "--all", action="store_true", help="all finished matches of this machine: of its server, and at this keyboard"
    )
    parser.add_argument("--to", metavar="FILE", help="where to write; else to the screen")
    add_data(parser)


def run_export(args: argparse.Namespace) -> int:
    """Write all records, in the order of the sources; nothing is written if one of them cannot be read."""
    if not args.sources and not args.all:
        raise ConfigurationError("name files or matches to export, or --all")
    records = [record for source in args.sources for record in load_records(source, args.data)]
    text = write_records([*records, *load_all(args.data)] if args.all else records)
    if args.to is None:
        sys.stdout.write(text)
        return 0
    try:
        Path(args.to).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {args.to}: {error.strerror}") from None
    return 0
