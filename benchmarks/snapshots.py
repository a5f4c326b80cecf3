"""Cost of snapshots of a cluster with many finished matches, and of beginning from them.

`python -m benchmarks.snapshots --matches 1000000` makes that many packed matches, in minutes, and prints one table. It
takes snapshots on a thread and measures how long another one waits meanwhile. Transfers are not in it.
"""

import argparse
import io
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec.structs import replace

from benchmarks.restart import events_of
from ttt_net.messages import Ended, encode
from ttt_net.server.cluster.replica import Replica, TablesImage, delete_living
from ttt_net.server.journal.queries import pack

PLIES = 24
_BATCH = 10_000
_MATCHES = """
INSERT INTO matches (number, id, first, second, started_ms, is_over, game, ended_ms, winner, reason, plies, is_packed)
VALUES (?, ?, ?, ?, ?, 1, 'connect4', ?, 0, 'resign', ?, 1)
"""
_RESULTS = "INSERT INTO results (player, is_private, ended_ms, match, game) VALUES (?, 0, ?, ?, 'connect4')"
_MEETINGS = "INSERT OR IGNORE INTO meetings (player, opponent, won) VALUES (?, ?, 1)"


def fill(connection: sqlite3.Connection, matches: int) -> None:
    """Write finished matches, all of them packed, of one player to twenty matches."""
    rng, template = random.Random(1), list(events_of(0, PLIES))
    players = max(2, matches // 20)
    (trigger,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name LIKE 'facts_are_numbered%'").fetchone()
    connection.execute("DROP TRIGGER facts_are_numbered_without_a_gap")
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO players (name, name_key, token_hash, created_ms) VALUES (:name, :name, :token, 1)",
        [{"name": f"p{number}", "token": rng.randbytes(32)} for number in range(players)],
    )
    for begin in range(1, matches + 1, _BATCH):
        numbers = range(begin, min(begin + _BATCH, matches + 1))
        names = {number: rng.randbytes(6).hex() for number in numbers}
        seats = {number: rng.sample(range(1, players + 1), 2) for number in numbers}
        at_ms = {number: 1_000_000 + 300 * number for number in numbers}
        connection.executemany(
            _MATCHES, [(each, names[each], *seats[each], at_ms[each], at_ms[each], PLIES) for each in numbers]
        )
        facts = []
        for each in numbers:
            events = [replace(event, match=names[each], at_ms=at_ms[each] + rng.randrange(9_999)) for event in template]
            end = Ended(names[each], len(events) + 1, at_ms[each] + 9_999, 0, "resign")
            facts.append((each, end.seq, pack([encode(event) for event in (*events, end)])))
        connection.executemany("INSERT INTO facts (match, seq, fact) VALUES (?, ?, ?)", facts)
        connection.executemany(
            _RESULTS, [(player, at_ms[each], names[each]) for each in numbers for player in seats[each]]
        )
        connection.executemany(_MEETINGS, [(*seats[each][::turn],) for each in numbers for turn in (1, -1)])
    connection.execute("COMMIT")
    connection.execute(trigger)


@contextmanager
def measured(what: str) -> Iterator[list[str]]:
    """Print a row of the table; the block may add what it has found."""
    more: list[str] = []
    longest_s, is_over = 0.0, threading.Event()

    def wait() -> None:
        nonlocal longest_s
        while not is_over.is_set():
            began_s = time.perf_counter()
            time.sleep(0.001)
            longest_s = max(longest_s, time.perf_counter() - began_s - 0.001)

    waiting = threading.Thread(target=wait)
    waiting.start()
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    yield more
    wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    is_over.set()
    waiting.join()
    print(f"| {what} | {wall_s:.2f} | {cpu_s:.2f} | {longest_s * 1000:.0f} | {', '.join(more)} |", flush=True)


def mb(size: int) -> str:
    """Return a number of bytes in words."""
    return f"{size / 1e6:.1f} MB"


def in_segments(replica: Replica, store: dict[str, bytes], what: str) -> TablesImage:
    """Take a snapshot as the steward does, and put its new segments into the store."""
    with measured(what) as found:
        replica.claim_segments(store.keys())
        image = replica.split(store.keys())
        replica.note_segments([segment for segment, _ in image.segments])
        new = [(segment.name, part) for segment, part in image.segments if part is not None]
        rest = mb(image.file.seek(0, io.SEEK_END))
        store |= {name: part.read() for name, part in new}
        found += [f"{len(new)} new segments of {mb(sum(len(store[name]) for name, _ in new))}", f"the rest {rest}"]
    return image


def begin_from(replica: Replica, image: TablesImage, store: dict[str, bytes], what: str) -> None:
    """Let a node begin from a snapshot."""
    image.file.seek(0)
    with measured(what) as found, replica.reading(image.file) as given:
        missing = [*given.missing]
        for segment in missing:
            given.add(segment, store[segment.name])
        given.take_over()
        found.append(f"{len(missing)} segments fetched")


def take_part(replica: Replica, image: TablesImage, what: str) -> None:
    """Let a node take part with the live tables of a snapshot."""
    image.file.seek(0)
    with measured(what), replica.reading(image.file) as given:
        living = given.live()
    living.close()
    if living.path is not None:
        delete_living(living.path)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.snapshots", description=__doc__)
    parser.add_argument("--matches", type=int, default=50_000)
    matches = parser.parse_args().matches
    store: dict[str, bytes] = {}
    print("| | s | CPU s | another thread waits, ms | |\n|---|--:|--:|--:|---|")
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Replica(Path(folder, "steward.sqlite"))) as steward,
        closing(Replica(Path(folder, "one.sqlite"))) as one,
        closing(Replica(Path(folder, "other.sqlite"))) as other,
    ):
        with measured(f"{matches:,} packed matches"):
            fill(steward.database.connection, matches)
            steward.move_to(1)
        with measured("a whole snapshot") as found:
            whole = steward.snapshot()
            found.append(mb(whole.file.seek(0, io.SEEK_END)))
        begin_from(one, whole, store, "a new node from that")
        whole.close()
        in_segments(steward, store, "the first snapshot in segments").close()
        image = in_segments(steward, store, "the next, nothing old changed")
        take_part(other, image, "a new node, until it takes part")
        begin_from(other, image, store, "until it has all")
        begin_from(one, image, store, "a node that returns and knows no hashes")
        begin_from(other, image, store, "a node that returns")
        image.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
