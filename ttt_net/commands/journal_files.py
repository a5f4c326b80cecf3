"""`backup`, `restore` and `cluster`: copy a journal, restore a copy, check the log of a cluster, restart a lost one.

A backup can be made while the server runs. It is checked before it is restored.
"""

import argparse
import asyncio
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ttt_net.commands.recorded_matches import add_data
from ttt_net.errors import ConfigurationError
from ttt_net.server.check import FINE, RISKY, WRONG
from ttt_net.server.cluster.log import Batch, Log, Position, encode_batch
from ttt_net.server.cluster.replica import LACKS_PAST, Replica, living_beside
from ttt_net.server.journal import JOURNAL_FILE
from ttt_net.server.journal.backups import back_up, restore, verify
from ttt_net.server.settings.configuration import check_log

if TYPE_CHECKING:
    from ttt_net.server.cluster.jetstream_connection import JetStreamAddress


def add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", type=Path, help="the copy; it must not exist")
    add_data(parser)


def run_backup(args: argparse.Namespace) -> int:
    """Make a backup, and print its size."""
    journal = args.data / JOURNAL_FILE
    if living_beside(journal).exists():
        raise ConfigurationError(LACKS_PAST)
    size = back_up(journal, args.file)
    print(f"{args.file}: {size:,} bytes")
    return 0


def add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", type=Path, help="the backup; it stays as it is")
    parser.add_argument("--verify", action="store_true", help="only check it")
    parser.add_argument("--replace", action="store_true", help="put it in the place of a journal, which is kept aside")
    add_data(parser)


def run_restore(args: argparse.Namespace) -> int:
    """Check the backup, restore it, and print a summary."""
    if args.verify:
        print(f"{args.file} is whole: {verify(args.file)}")
        return 0
    contents = restore(args.file, args.data / JOURNAL_FILE, is_replacing=args.replace)
    print(f"{args.data / JOURNAL_FILE}: {contents}")
    return 0


WARNING = """\
This begins the log anew from the tables in {journal}.
- Do it only if all of the log is lost, and with every node stopped: what any other node knows beyond these tables
  is forgotten, though players were told that it was written.
- Take the most advanced node: these tables are at place {position}; compare `cluster reseed` on each.
- Afterwards delete {name} of every other node, and start them all: they take a snapshot of these tables.
"""


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "what",
        choices=("check", "reseed"),
        help="check: ask the servers of the log about themselves; reseed: restart a lost log from this node's tables",
    )
    parser.add_argument("--ledger", required=True, help="servers of NATS: nats://a:4222,nats://b:4222")
    parser.add_argument("--stream", default="ttt_net", help="what the log is called there (default: ttt_net)")
    parser.add_argument("--replicas", type=int, default=3, help="how many of the servers keep it (default: 3)")
    parser.add_argument("--credentials", type=Path, help="file of NATS credentials")
    parser.add_argument("--authority", type=Path, help="certificates that vouch for the servers")
    parser.add_argument("--yes", action="store_true", help="reseed: do it; without this, only explain the effect")
    add_data(parser)


def run_cluster(args: argparse.Namespace) -> int:
    """Check the log, or explain the effect of reseeding it, and do so if confirmed."""
    address = _address_of(args)
    if args.what == "check":
        return asyncio.run(_check(address, args.data))
    journal = args.data / JOURNAL_FILE
    if not journal.exists():
        raise ConfigurationError(f"there is no {journal}")
    replica = Replica(journal)
    try:
        if replica.position == 0:
            raise ConfigurationError(f"{journal} was never that of a node of a cluster, or has applied nothing yet")
        print(WARNING.format(journal=journal, position=replica.position, name=JOURNAL_FILE))
        if not args.yes:
            print("Nothing was done; add --yes to do it.")
            return 0
        asyncio.run(_reseed(address, replica))
    finally:
        replica.close()
    print("The log restarts. Start this node first.")
    return 0


def _address_of(args: argparse.Namespace) -> "JetStreamAddress":
    from ttt_net.server.cluster.jetstream_connection import JetStreamAddress  # the extra `cluster`

    servers = tuple(word.strip() for word in args.ledger.split(",") if word.strip())
    for server in servers:
        try:
            check_log(server)
        except ValueError as error:
            raise ConfigurationError(str(error)) from None
    return JetStreamAddress(servers, args.stream, args.replicas, args.credentials, args.authority)


async def _check(address: "JetStreamAddress", data: Path) -> int:
    """Print the answers of the servers of the log, faults and risks; return the exit code."""
    from ttt_net.server.cluster.jetstream_connection import describe, findings, inspect

    found = await inspect(address)
    for line in describe(found, address.stream):
        print(line)
    problems = [*findings(found, address, datetime.now(UTC)), *_room_for_copies(data)]
    for weight, line in problems:
        print(f"{weight}: {line}")
    if any(weight == "wrong" for weight, _ in problems):
        return WRONG
    if not problems:
        print("fine: nothing wrong and nothing risky was found")
    print("see for yourself: `sync_interval: always` in the configuration of each server, which none of them tells")
    return RISKY if problems else FINE


def _room_for_copies(data: Path) -> Iterator[tuple[str, str]]:
    """Yield a risk if a snapshot of this node's journal would fill its disk."""
    journal = data / JOURNAL_FILE
    if journal.exists() and (free := shutil.disk_usage(data).free) < journal.stat().st_size:
        size = journal.stat().st_size // 1_000_000
        yield "risky", f"{free // 1_000_000:,} MB are free beside {journal}, and a snapshot takes another {size:,}"


async def _reseed(address: "JetStreamAddress", replica: Replica) -> None:
    from ttt_net.server.cluster.jetstream import open_log  # the extra `cluster`

    async with open_log(address, "reseed") as stream:
        await reseed(stream, replica)


async def reseed(stream: Log, replica: Replica) -> None:
    """Begin an empty log with a snapshot of the tables at position 1.

    Raises `ConfigurationError` if the log is not empty or does not answer.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Position | None] = loop.create_future()
    stream.end(ended.set_result)
    if (end := await ended) != 0:
        raise ConfigurationError(
            "the log does not answer" if end is None else f"the log is not lost: it ends at place {end}"
        )
    published: asyncio.Future[Position | None] = loop.create_future()
    stream.publish(encode_batch(Batch("reseed", 0, 0, 0, "", ())), published.set_result)  # skipped
    if await published != 1:
        raise ConfigurationError("the log did not take its first place; look after its servers, and try again")
    replica.move_to(1)
    kept: asyncio.Future[bool] = loop.create_future()
    with replica.snapshot().file as file:
        stream.put_snapshot(1, file, kept.set_result)
        is_kept = await kept
    if not is_kept:
        raise ConfigurationError("the log did not take the snapshot; look after its servers, and try again")
