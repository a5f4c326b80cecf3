"""`backup` and `restore`: copy the journal, while a server runs or not; check a copy and put it back."""

import argparse
from pathlib import Path

from ttt_net.commands.recorded_matches import add_data
from ttt_net.server.journal import JOURNAL_FILE
from ttt_net.server.journal.backups import back_up, restore, verify


def add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", type=Path, help="the copy; it must not exist")
    add_data(parser)


def run_backup(args: argparse.Namespace) -> int:
    """Copy, and say how large the copy is."""
    size = back_up(args.data / JOURNAL_FILE, args.file)
    print(f"{args.file}: {size:,} bytes")
    return 0


def add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", type=Path, help="the backup; it stays as it is")
    parser.add_argument("--verify", action="store_true", help="only check it")
    parser.add_argument("--replace", action="store_true", help="put it in the place of a journal, which is kept aside")
    add_data(parser)


def run_restore(args: argparse.Namespace) -> int:
    """Check the backup, put it back, and report its contents."""
    if args.verify:
        print(f"{args.file} is whole: {verify(args.file)}")
        return 0
    contents = restore(args.file, args.data / JOURNAL_FILE, is_replacing=args.replace)
    print(f"{args.data / JOURNAL_FILE}: {contents}")
    return 0
