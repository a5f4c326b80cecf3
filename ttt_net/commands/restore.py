"""`restore`: check a backup of the journal, and put it back."""

import argparse
from pathlib import Path

from ttt_net.commands.source import add_data
from ttt_net.server.journal import JOURNAL_FILE
from ttt_net.server.journal.backup import restore, verify


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", type=Path, help="the backup; it stays as it is")
    parser.add_argument("--verify", action="store_true", help="only check it")
    parser.add_argument("--replace", action="store_true", help="put it in the place of a journal, which is kept aside")
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Check the backup, put it back, and report its contents."""
    if args.verify:
        print(f"{args.file} is whole: {verify(args.file)}")
        return 0
    contents = restore(args.file, args.data / JOURNAL_FILE, is_replacing=args.replace)
    print(f"{args.data / JOURNAL_FILE}: {contents}")
    return 0
