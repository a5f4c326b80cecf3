"""`backup`: copy the journal, while a server runs or not; `restore` puts it back."""

import argparse
from pathlib import Path

from ttt_net.commands.source import add_data
from ttt_net.server.journal import JOURNAL_FILE
from ttt_net.server.journal.backup import back_up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", type=Path, help="the copy; it must not exist")
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Copy, and say how large the copy is."""
    size = back_up(args.data / JOURNAL_FILE, args.file)
    print(f"{args.file}: {size:,} bytes")
    return 0
