"""Keep one node's copy of the cluster's state: the journal's tables, and their position in the log.

The fence (`is_next`, `carry_out`) decides which batches count, and applies them in one transaction with the position.
It reads only these tables and the batch. So the same batches at the same positions produce the same tables on every
node, regardless of repeats, delays and writes of nodes that were declared lost. Knows no log, no thread and no event
loop.
"""

import gzip
import io
import logging
import shutil
import sqlite3
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from itertools import groupby
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, assert_never, cast

import msgspec

from ttt_net.errors import Code, ConfigurationError, Overtaken, Refusal, StorageError
from ttt_net.messages import Started
from ttt_net.server.cluster import segments
from ttt_net.server.cluster.log import (
    FORM,
    AnyLoggedEntry,
    Author,
    Batch,
    BeginEpoch,
    Came,
    ClusterEntry,
    DeclareLost,
    NodeName,
    Position,
    Sat,
    Went,
    decode_batch,
    next_state,
)
from ttt_net.server.cluster.segments import Part, Segment
from ttt_net.server.journal.apply import append_events, apply
from ttt_net.server.journal.backups import back_up
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.entries import ERASING, AppendEvents, AppendTournament, BeginBoards
from ttt_net.server.journal.queries import AnyQuery, answer, blocks_of, not_yet, ratings_of, unfinished_of
from ttt_net.server.journal.schema import SCHEMA_VERSION, migrate
from ttt_net.server.players import Player, PlayerId
from ttt_net.tournaments.tournament import Entered, Opened

log = logging.getLogger(__name__)

TABLES = """
CREATE TABLE IF NOT EXISTS place (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    form INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO place VALUES (1, 0, '', 1);
CREATE TABLE IF NOT EXISTS nodes (
    node TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    number INTEGER NOT NULL,
    since INTEGER NOT NULL,
    is_lost INTEGER NOT NULL,
    url TEXT NOT NULL,
    form INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS connected (
    player INTEGER PRIMARY KEY,
    node TEXT NOT NULL,
    serial INTEGER NOT NULL,
    came BLOB NOT NULL
) STRICT;
"""
"""The cluster's own tables.

They hold the position of the tables in the log, and the form in force; the latest epoch of each node, and its first
position; and the node of each connected player.
"""
_PUT_IN_FORCE = """
UPDATE place SET form = MAX(form, COALESCE((SELECT MIN(form) FROM nodes WHERE NOT is_lost OR last > ?), 1))
"""
"""A form is in force once all nodes support it that may write, or did recently and may return; it never decreases."""
_HEEDS_BLOCKS = 6
"""The first form whose starts are rejected if one of the players has blocked the other."""
_BLOCKED = """
SELECT 1 FROM blocks WHERE is_block AND player = ? AND other = ? UNION ALL
SELECT 1 FROM blocks WHERE is_block AND player = ? AND other = ?
"""
AWHILE = 20_000
"""The number of positions (an hour of low activity) for which a newer form waits for a lost node."""
_DISK = (sqlite3.OperationalError, sqlite3.InternalError, MemoryError)
"""Failures of a single node; every other result of an entry is the same on all nodes."""
_FORMATS = slice(18, 20)
"""The bytes of an image that select the journal mode; 1: without a write-ahead log, which an image in memory lacks."""
_GZIP = b"\x1f\x8b"
"""The first bytes of a snapshot with gzip."""
_LEVEL = 1
"""Three times as fast as the default, for a twentieth more bytes."""
_CHUNK_BYTES = 2**20
_STEPS = 100_000
"""The steps of SQLite (some milliseconds) between two reports of progress."""
_PAGES = 1_024
"""The pages of a snapshot between two reports of progress."""
MOST_APPLIED = 100_000
"""The batches that are kept for whole tables; after more, only a newer snapshot can complete these."""
_ARRIVING = "-arriving-"
"""The part of a file name that marks an arriving snapshot."""
_AT_ONCE = 64
"""The batches in one transaction of tables that keep up with others."""
LACKS_PAST = (
    "this node still fetches older matches, which a backup of it would lack; back up another node, or try again later"
)


NO_NAMES: Mapping[PlayerId, str] = MappingProxyType({})
"""The names that come with most entries, such as moves."""


class EntryOutcome(NamedTuple):
    """The result of one entry."""

    entry: AnyLoggedEntry
    result: Any
    """The return value of `apply`, or the `Refusal`."""
    names: Mapping[PlayerId, str] = NO_NAMES
    """The names of the players of started matches, and of those who entered or made a tournament."""

    @property
    def has_only_appended(self) -> bool:
        """Whether events were appended, and nothing else came of it, as with most moves."""
        return self.result is None and type(self.entry) is AppendEvents


def is_next(connection: sqlite3.Connection, batch: Batch, position: Position) -> bool:
    """Record a batch, and tell whether it is its author's next one, neither repeated nor fenced off."""
    row = connection.execute("SELECT epoch, number, is_lost FROM nodes WHERE node = ?", (batch.node,)).fetchone()
    epoch, number, is_lost = row or (0, 0, True)
    if batch.epoch > epoch:
        if batch.number != 1 or not batch.entries or not isinstance(batch.entries[0], BeginEpoch):
            return False
        begin = batch.entries[0]
        (in_force,) = connection.execute("SELECT form FROM place").fetchone()
        if begin.form < in_force:
            return False
        connection.execute(
            "INSERT OR REPLACE INTO nodes (node, epoch, number, since, is_lost, url, form, last)"
            " VALUES (?, ?, 1, ?, 0, ?, ?, ?)",
            (batch.node, batch.epoch, position, begin.url, begin.form, position),
        )
        connection.execute(_PUT_IN_FORCE, (position - AWHILE,))
        return True
    if batch.epoch < epoch or is_lost or batch.number != number + 1:
        return False
    connection.execute("UPDATE nodes SET number = ?, last = ? WHERE node = ?", (batch.number, position, batch.node))
    return True


def carry_out(connection: sqlite3.Connection, batch: Batch) -> list[EntryOutcome]:
    """Apply the entries of a batch; neighbours that append to matches are applied together."""
    outcomes: list[EntryOutcome] = []
    for kind, group in groupby(batch.entries, key=type):
        if kind is AppendEvents:
            appends = list(group)
            for append in appends:
                if not append.is_plain:  # type: ignore[union-attr]
                    _may_append(connection, append, batch.author)  # type: ignore[arg-type]
            results = append_events(connection, appends)  # type: ignore[arg-type]
            outcomes += [
                EntryOutcome(entry, result, _names(connection, entry) if entry.seats else NO_NAMES)  # type: ignore[union-attr]
                for entry, result in zip(appends, results, strict=True)
            ]
        else:
            for entry in group:
                result = _apply(connection, entry, batch.author)
                outcomes.append(EntryOutcome(entry, result, _names(connection, entry)))
    return outcomes


def carry_out_one_by_one(connection: sqlite3.Connection, batch: Batch) -> list[EntryOutcome]:
    """Apply the entries of a batch, each completely or not at all."""
    outcomes = []
    for entry in batch.entries:
        connection.execute("SAVEPOINT entry")
        try:
            if isinstance(entry, AppendEvents):
                _may_append(connection, entry, batch.author)
            outcomes.append(EntryOutcome(entry, _apply(connection, entry, batch.author), _names(connection, entry)))
        except Exception as error:
            if is_of_the_disk(error):
                raise
            connection.execute("ROLLBACK TO entry")
            outcomes.append(EntryOutcome(entry, _refusal_of(entry, error)))
        connection.execute("RELEASE entry")
    return outcomes


def _names(connection: sqlite3.Connection, entry: AnyLoggedEntry) -> dict[PlayerId, str]:
    """Return the names of the players whom a node has to show because of this entry."""
    match entry:
        case AppendEvents():
            players: list[PlayerId] = list(entry.seats or ())
        case BeginBoards():
            players = [player for start in entry.starts for player in start.seats or ()]
        case AppendTournament():
            players = [fact.player for fact in entry.facts if isinstance(fact, Entered)]
            players += [fact.organiser for fact in entry.facts if isinstance(fact, Opened) and fact.organiser]
        case _:
            return {}
    query = "SELECT name FROM players WHERE id = ?"
    return {player: connection.execute(query, (player,)).fetchone()[0] for player in players}


def _refusal_of(entry: AnyLoggedEntry, error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error.with_traceback(None)
    if isinstance(entry, AppendEvents) and isinstance(error, sqlite3.IntegrityError):
        return Overtaken()
    log.error("an entry of the log is refused: %s: %s", type(error).__name__, error)
    return StorageError(f"{type(error).__name__}: {error}")


def digest(outcome: EntryOutcome) -> object:
    """Return the part of an entry's result that must be the same on all nodes."""
    if outcome.result is None:  # a move, most often
        return None
    if isinstance(outcome.result, Refusal):
        return outcome.result.code
    return outcome.result if isinstance(outcome.entry, AppendEvents) else None


def _may_append(connection: sqlite3.Connection, entry: AppendEvents, author: Author) -> None:
    """Reject the start of a match if one of its players has blocked the other.

    Unless it is a rematch, also reject it if the author does not keep the lobby, or a player was deleted.
    """
    started = next((event for event in entry.events if isinstance(event, Started)), None)
    if started is None or entry.seats is None:
        return
    if started.previous is None:
        _must_be_steward(connection, author)
        for player in entry.seats:
            if connection.execute("SELECT token_hash FROM players WHERE id = ?", (player,)).fetchone() == (None,):
                raise Refusal(Code.UNKNOWN_PLAYER, "one of them was forgotten here")
    (form,) = connection.execute("SELECT form FROM place").fetchone()
    if form >= _HEEDS_BLOCKS and connection.execute(_BLOCKED, entry.seats + entry.seats[::-1]).fetchone():
        raise Refusal(Code.NOT_WELCOME, "there is no match between you two; play somebody else")


def _must_be_steward(connection: sqlite3.Connection, author: Author) -> None:
    steward = connection.execute("SELECT node, epoch FROM nodes WHERE NOT is_lost ORDER BY since LIMIT 1").fetchone()
    if steward != author:
        raise Refusal(Code.RESTARTING, "the lobby is kept by another node now; ask again", 100)


def _apply(connection: sqlite3.Connection, entry: AnyLoggedEntry, author: Author) -> object:
    if isinstance(entry, ClusterEntry):
        return _apply_own(connection, entry, author)
    if isinstance(entry, BeginBoards):
        _must_be_steward(connection, author)
    return apply(connection, entry)


def _apply_own(connection: sqlite3.Connection, entry: ClusterEntry, author: Author) -> object:
    """Apply an entry of the cluster, like `apply`."""
    match entry:
        case BeginEpoch():
            return _disconnect(connection, author.node)
        case DeclareLost():
            lost = connection.execute(
                "UPDATE nodes SET is_lost = 1 WHERE node = ? AND epoch = ? AND number <= ? AND NOT is_lost",
                (entry.node, entry.epoch, entry.number),
            )
            if not lost.rowcount:
                raise Refusal(Code.TOO_LATE, f"node {entry.node} is not silent, or lost already")
            return _disconnect(connection, entry.node)
        case Came():
            player = player_of(connection, entry.player, entry.at_ms)
            connection.execute(
                "INSERT OR REPLACE INTO connected (player, node, serial, came) VALUES (?, ?, ?, ?)",
                (entry.player, author.node, entry.serial, msgspec.json.encode(entry)),
            )
            return player
        case Sat():
            _must_be_connected(connection, entry, author)
        case Went():
            _must_be_connected(connection, entry, author)
            connection.execute("DELETE FROM connected WHERE player = ?", (entry.player,))
        case _:
            assert_never(entry)
    return None


def _disconnect(connection: sqlite3.Connection, node: NodeName) -> list[PlayerId]:
    rows = connection.execute("DELETE FROM connected WHERE node = ? RETURNING player", (node,)).fetchall()
    return sorted(player for (player,) in rows)


def _must_be_connected(connection: sqlite3.Connection, entry: Sat | Went, author: Author) -> None:
    """Reject entries about a connection that another one has replaced."""
    row = connection.execute("SELECT node, serial FROM connected WHERE player = ?", (entry.player,)).fetchone()
    if row != (author.node, entry.serial):
        raise Refusal(Code.OPPONENT_GONE, "that connection has been replaced")


def player_of(connection: sqlite3.Connection, player: PlayerId, now_ms: int) -> Player:
    """Return a player from the tables. Raises `Refusal` if they were deleted."""
    row = connection.execute(
        "SELECT name, bot, is_guest FROM players WHERE id = ? AND token_hash IS NOT NULL", (player,)
    ).fetchone()
    if row is None:
        raise Refusal(Code.UNKNOWN_PLAYER, "that player was forgotten here; say hello with a name")
    name, bot, is_guest = row
    matches = unfinished_of(connection, player)
    ratings = ratings_of(connection, player, now_ms)
    return Player(player, name, matches, bool(is_guest), ratings, bot, blocks_of(connection, player))


def is_of_the_disk(error: Exception) -> bool:
    """Tell whether an error is a failure of this node rather than of the entry."""
    is_damage = type(error) is sqlite3.DatabaseError  # exactly this class: the file is no longer a database
    return is_damage or isinstance(error, _DISK)


class NewerFormError(Exception):
    """All nodes that may write support a newer form than this release, which cannot apply the rest of the log."""

    def __init__(self, in_force: int, known: int) -> None:
        super().__init__(
            f"the log is of form {in_force}, this release knows {known}; install the release of the others"
        )


class PastNeededError(StorageError):
    """A batch needs finished matches that these tables lack: nothing was applied, and the same may be tried again."""

    def __init__(self, match: str) -> None:
        super().__init__(f"an entry is about match {match}, which this node is still fetching")


class Applied(NamedTuple):
    """The result of one position of the log."""

    position: Position
    batch: Batch | None
    """None if the position holds no batch."""
    outcomes: Sequence[EntryOutcome] | None
    """The outcome of each entry; None if the batch was ignored as a repeat or as of a lost author."""
    state: str
    """The running hash after this position."""


class Connected(NamedTuple):
    """A player who is connected to a node."""

    node: NodeName
    came: Came
    player: Player


class TablesImage(NamedTuple):
    """The tables at one moment, readable as a file."""

    position: Position
    file: BinaryIO
    segments: Sequence[tuple[Segment, Part | None]] = ()
    """The segments that complete the tables; a part has the bytes of one that the log's store lacks."""
    spool: BinaryIO | None = None
    """The file of the parts."""

    def close(self) -> None:
        """Close both files."""
        self.file.close()
        if self.spool is not None:
            self.spool.close()


class GivenTables:
    """A snapshot that a node begins from: add what `missing` names, then `take_over`."""

    def __init__(self, replica: "Replica", connection: sqlite3.Connection) -> None:
        self._replica, self._connection = replica, connection
        self._manifest = segments.manifest_of(connection)
        self._added: set[Segment] = set()

    @property
    def most_missing(self) -> int:
        """How many segments may have to be added: those that the tables of this node are not known to have."""
        own = self._replica.database.connection
        return sum(not segments.is_known_in(own, segment) for segment in self._manifest or ())

    @cached_property
    def missing(self) -> list[Segment]:
        """The segments that have to be added; finding them may take reading all matches."""
        missing = []
        for segment in self._manifest or ():
            if not segments.is_in(self._replica.database.connection, segment):
                missing.append(segment)
            self._replica.moved()
        return missing

    def add(self, segment: Segment, data: bytes) -> None:
        """Add a missing segment. Raises `StorageError` if it is damaged, or the disk fails."""
        with _as_storage_error():
            segments.add(self._connection, segment, data)
        self.missing.remove(segment)
        self._added.add(segment)
        self._replica.moved()

    def take_over(self) -> None:
        """Replace the tables of this node. Raises `StorageError` if a segment is missing, or the disk fails."""
        if self.missing:
            raise StorageError(f"the snapshot cannot be used: it lacks {self.missing[0].name}")
        kept = [segment for segment in self._manifest or () if segment not in self._added]
        with _as_storage_error():
            self._replica._take(self._connection, self._manifest, kept)

    def live(self) -> "Replica":
        """Return live tables, with which a node can take part until its tables are whole; see `keep_up_with`.

        This consumes the snapshot. Raises `StorageError` if the disk fails.
        """
        return self._replica._live_tables(self._connection)


class Replica:
    """The tables of one node, in a file or in memory."""

    def __init__(
        self,
        path: Path | None,
        form: int = FORM,
        moved: Callable[[], None] = lambda: None,
        segment_size: int = segments.SIZE,
    ) -> None:
        """Open or create the file. Raises `ConfigurationError` if it cannot be used."""
        self._segment_size = segment_size
        self.form = form
        """The latest form of the log that this node supports."""
        self.moved = moved
        """Called repeatedly during the migration of an older file, and while loading a snapshot."""
        self.database = Database(path, moved)
        self._path = path
        connection = self.database.connection
        if path is not None:
            connection.execute("PRAGMA synchronous = NORMAL")  # the log still has what a power cut loses
        self._add_own_tables()
        self.position, self.state = connection.execute("SELECT position, state FROM place").fetchone()
        self.last_in_force = self.in_force()
        """The form in force at `position`; any thread may read it."""
        self.has_past = True
        """Whether these tables have all finished matches; live tables lack those in segments. For any thread."""
        self._applied: deque[tuple[Position, bytes]] = deque(maxlen=MOST_APPLIED)
        """The batches that live tables have applied, for `keep_up_with`."""

    @property
    def path(self) -> Path | None:
        """The file of the tables; None: they are in memory."""
        return self._path

    def apply(self, batches: Sequence[tuple[Position, bytes]]) -> list[Applied]:
        """Apply the next batches of the log in one transaction with their position; return their results.

        Raises `StorageError` if the disk failed, or one of them needs the past that these tables lack: then nothing has
        changed, and the call may be repeated. Raises `NewerFormError` if the batches are for newer releases.
        """
        try:
            try:
                applied = self._transact(batches, carry_out)
            except Exception as error:
                if is_of_the_disk(error) or isinstance(error, NewerFormError | PastNeededError):
                    raise
                # a rejected entry is undone separately
                applied = self._transact(batches, carry_out_one_by_one)
        except Exception as error:
            if not is_of_the_disk(error):
                raise
            self.database.failures += 1
            raise StorageError(str(error) or type(error).__name__) from None
        self.position, self.state = applied[-1].position, applied[-1].state
        if not self.has_past:
            self._applied.extend(batches)
        written = (entry for each in applied if each.batch is not None for entry in each.batch.entries)
        self.database.has_traces |= not ERASING.isdisjoint(map(type, written))
        self.database.erase_traces()
        return applied

    def _transact(
        self,
        batches: Sequence[tuple[Position, bytes]],
        carry_out: Callable[[sqlite3.Connection, Batch], list[EntryOutcome]],
    ) -> list[Applied]:
        connection = self.database.connection
        state, applied = self.state, []
        connection.execute("BEGIN")
        try:
            for position, data in batches:
                batch, outcomes = _read(position, data), None
                if batch is not None and is_next(connection, batch, position):
                    if not self.has_past:
                        _refuse_old_matches(connection, batch)
                    outcomes = carry_out(connection, batch)
                state = next_state(state, data, msgspec.json.encode([*map(digest, outcomes or ())]))
                applied.append(Applied(position, batch, outcomes, state))
            connection.execute("UPDATE place SET position = ?, state = ?", (batches[-1][0], state))
            if (in_force := self.in_force()) > self.form:  # the next batches may have that form
                raise NewerFormError(in_force, self.form)
            connection.execute("COMMIT")
            self.last_in_force = in_force
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return applied

    def answer(self, query: AnyQuery) -> object:
        """Return the answer to a query. Raises `Refusal` if there is none."""
        try:
            return answer(self.database.connection, query)
        except sqlite3.Error as error:
            raise StorageError(str(error)) from None
        except Refusal as refusal:
            if refusal.code is Code.UNKNOWN_MATCH and not self.has_past:
                raise not_yet() from None
            raise

    def epoch_of(self, node: NodeName) -> int:
        """Return the latest epoch of a node, 0 if it never had one."""
        row = self.database.connection.execute("SELECT epoch FROM nodes WHERE node = ?", (node,)).fetchone()
        return int(row[0]) if row else 0

    def in_force(self) -> int:
        """Return the form that all writing nodes support: newer ones are not written yet."""
        (form,) = self.database.connection.execute("SELECT form FROM place").fetchone()
        return int(form)

    def authors(self) -> dict[Author, int]:
        """Return the authors that may write, with the number of their last batch, oldest first."""
        rows = self.database.connection.execute(
            "SELECT node, epoch, number FROM nodes WHERE NOT is_lost ORDER BY since"
        )
        return {Author(node, epoch): number for node, epoch, number in rows}

    def urls(self) -> dict[NodeName, str]:
        """Return the address for players of each node, including lost ones."""
        return dict(self.database.connection.execute("SELECT node, url FROM nodes ORDER BY node"))

    def connected(self, now_ms: int) -> list[Connected]:
        """Return the connected players of all nodes."""
        connection = self.database.connection
        rows = connection.execute("SELECT node, came FROM connected ORDER BY player").fetchall()
        found = []
        for node, data in rows:
            came = msgspec.json.decode(data, type=Came)
            with suppress(Refusal):  # of a deleted player, whose connection is about to end
                found.append(Connected(node, came, player_of(connection, came.player, now_ms)))
        return found

    # The tables as a whole.

    def _add_own_tables(self) -> None:
        """Create the cluster's own tables and triggers, which a journal or an older snapshot may lack."""
        self.database.connection.executescript(TABLES + segments.TABLES)
        segments.forget_others(self.database.connection, self._segment_size)

    def claim_segments(self, found: Collection[str]) -> StorageError | None:
        """Prepare for `split`, on the thread that writes; return the failure of the disk, if any."""
        return self._written(lambda connection: segments.claim(connection, self._segment_size, found))

    def note_segments(self, known: Collection[Segment]) -> StorageError | None:
        """Note the segments that `split` found, on the thread that writes; return the failure of the disk, if any."""
        return self._written(lambda connection: segments.note(connection, known))

    def _written(self, write: Callable[[sqlite3.Connection], None]) -> StorageError | None:
        connection = self.database.connection
        try:
            connection.execute("BEGIN")
            write(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            return StorageError(str(error))
        return None

    def split(self, found: Collection[str]) -> TablesImage:
        """Copy the tables like `snapshot`, but without the matches in segments, and return these.

        `found` names the segments in the log's store: their bytes are not needed. Call `claim_segments` before, and
        `note_segments` after that.
        """
        try:
            with ExitStack() as opened:
                spool = opened.enter_context(self._room_without_a_name())
                with self.room_for_snapshot() as rest:
                    name = getattr(rest, "name", ":memory:")
                    with closing(sqlite3.connect(name, isolation_level=None, uri=True)) as into:
                        _write_carelessly(into)
                        self._attach_to(into)
                        named = segments.split(into, found, spool)
                        (position,) = into.execute("SELECT position FROM main.place").fetchone()
                        if self._path is None:
                            rest.write(into.serialize())
                    rest.seek(0)
                    small = self._zipped(rest)
                opened.pop_all()
        except (OSError, sqlite3.Error) as error:
            raise StorageError(str(error)) from None
        return TablesImage(position, small, named, spool)

    def _attach_to(self, connection: sqlite3.Connection) -> None:
        """Attach these tables to another connection as `source`, only to be read."""
        if self._path is None:
            image = io.BytesIO()
            self.write_to(image)
            connection.execute("ATTACH ':memory:' AS source")
            connection.deserialize(image.getvalue(), name="source")
        else:
            connection.execute("ATTACH ? AS source", (f"{self._path.absolute().as_uri()}?mode=ro",))
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # only the writer may; see `database`

    def snapshot(self) -> TablesImage:
        """Copy the current tables with gzip, those of a file into another file beside it; the caller closes the copy.

        For a file, any thread may call this, since it reads one consistent state during writes. Raises `StorageError`
        if the tables cannot be read, or the copy cannot be written.
        """
        taken = self._copy()
        try:
            with closing(taken.file):
                return taken._replace(file=self._zipped(taken.file))
        except OSError as error:
            raise StorageError(str(error)) from None

    def _zipped(self, plain: BinaryIO) -> BinaryIO:
        with ExitStack() as opened:
            small = opened.enter_context(self._room_without_a_name())
            with gzip.GzipFile(fileobj=small, mode="wb", compresslevel=_LEVEL) as into:
                shutil.copyfileobj(plain, into, _CHUNK_BYTES)
            small.seek(0)
            opened.pop_all()
        return small

    def _copy(self) -> TablesImage:
        if self._path is None:
            image = io.BytesIO()
            self.write_to(image)
            image.seek(0)
            return TablesImage(self.position, image)
        copy = self._path.with_name(f"{self._path.name}.snapshot")
        try:
            copy.unlink(missing_ok=True)  # of a process that was killed
            back_up(self._path, copy)
            try:
                with closing(sqlite3.connect(copy)) as tables:
                    (position,) = tables.execute("SELECT position FROM place").fetchone()
                return TablesImage(position, copy.open("rb"))
            finally:
                copy.unlink()  # an open file can still be read
        except (OSError, sqlite3.Error, ConfigurationError) as error:
            raise StorageError(str(error)) from None

    def room_for_snapshot(self) -> BinaryIO:
        """Return an empty file for `read_from`: beside the tables if they are in a file, since memory may be short."""
        if self._path is None:
            return io.BytesIO()
        return cast(BinaryIO, NamedTemporaryFile(dir=self._path.parent, prefix=f"{self._path.stem}{_ARRIVING}"))

    def write_to(self, file: BinaryIO) -> None:
        """Write the tables in memory to a file. Raises `StorageError` if they cannot be read, or memory is short."""
        try:
            image = bytearray(self.database.connection.serialize())
        except (sqlite3.Error, MemoryError) as error:
            raise StorageError(str(error) or type(error).__name__) from None
        image[_FORMATS] = b"\x01\x01"
        file.write(image)

    def read_from(self, file: BinaryIO) -> None:
        """Replace the tables by a complete snapshot, with gzip or without, whose file is at its beginning.

        Raises `StorageError` if it is invalid or lacks segments, or the disk fails.
        """
        with self.reading(file) as given:
            given.take_over()

    @contextmanager
    def reading(self, file: BinaryIO) -> Iterator[GivenTables]:
        """Open a snapshot, with gzip or without, whose file is at its beginning.

        Raises `StorageError` if it is invalid, or the disk fails.
        """
        with ExitStack() as opened:
            with _as_storage_error():
                snapshot = opened.enter_context(closing(_opened(opened.enter_context(self._plain(file)))))
                _write_carelessly(snapshot)
                (form,) = snapshot.execute("SELECT form FROM place").fetchone()
                (version,) = snapshot.execute("PRAGMA user_version").fetchone()
                if form > self.form or version > SCHEMA_VERSION:
                    raise StorageError("the snapshot is of a newer release; install the release of the others")
                given = GivenTables(self, snapshot)
            yield given

    def _take(self, snapshot: sqlite3.Connection, manifest: Sequence[Segment] | None, kept: Sequence[Segment]) -> None:
        connection, place = self.database.connection, self._path or Path("memory")
        position, state, form = snapshot.execute("SELECT position, state, form FROM place").fetchone()
        if manifest is not None:
            snapshot.set_progress_handler(self.moved, _STEPS)
            segments.add_results(snapshot)
            migrate(snapshot, place)
        if kept:
            _attach_given(snapshot, connection)
            connection.set_progress_handler(self.moved, _STEPS)
            connection.execute("PRAGMA foreign_keys = OFF")
            try:
                segments.take_over(connection, manifest or (), kept)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.set_progress_handler(None, 0)
                connection.execute("DETACH given")
        else:  # page by page, which takes a third of the time
            if manifest is not None:
                segments.complete(snapshot, connection, manifest)
            snapshot.backup(connection, pages=_PAGES, progress=lambda *_: self.moved())
            migrate(connection, place)
            self._add_own_tables()
        self.position, self.state, self.last_in_force = position, state, form

    def _room_without_a_name(self) -> BinaryIO:
        """Return an empty file beside the tables, or in memory, which is gone even if this process is killed."""
        return io.BytesIO() if self._path is None else cast(BinaryIO, TemporaryFile(dir=self._path.parent))

    @contextmanager
    def _plain(self, file: BinaryIO) -> Iterator[BinaryIO]:
        """Yield the tables of a snapshot without gzip, at their beginning."""
        is_plain = file.read(len(_GZIP)) != _GZIP
        file.seek(0)
        if is_plain:
            yield file
            return
        with self.room_for_snapshot() as plain, gzip.GzipFile(fileobj=file) as small:
            while data := small.read(_CHUNK_BYTES):
                plain.write(data)
                self.moved()
            plain.seek(0)
            yield plain

    # Live tables, with which a node takes part while its whole tables are made.

    def _live_tables(self, snapshot: sqlite3.Connection) -> "Replica":
        path = None if self._path is None else living_beside(self._path)
        if path is not None:
            delete_living(path)
        with _as_storage_error():
            living = Replica(path, self.form, self.moved, self._segment_size)
            try:
                living.has_past = False
                living.database.connection.execute("PRAGMA synchronous = OFF")  # nobody needs it after a power cut
                living._take(snapshot, (), ())
            except BaseException:
                living.close()
                raise
        return living

    def keep_up_with(self, living: "Replica") -> bool:
        """Apply some of the batches that live tables have applied; return whether those were all, for now.

        Any thread may call this, one at a time. Raises `StorageError` if the disk fails, or a batch between is missing.
        """
        batches: list[tuple[Position, bytes]] = []
        while living._applied and len(batches) < _AT_ONCE:
            position, data = living._applied.popleft()
            following = self.position + 1 + len(batches)
            if position > following:
                living._applied.extendleft([(position, data), *reversed(batches)])
                raise StorageError(f"place {following} of the log is missing")
            if position == following:
                batches.append((position, data))
        if batches:
            try:
                self.apply(batches)
            except StorageError:
                living._applied.extendleft(reversed(batches))
                raise
        return len(batches) < _AT_ONCE

    def become(self, whole: "Replica") -> bool:
        """Take over the whole tables if they are at the same place; return whether they are.

        Call this on the thread that applies. The live tables are deleted. Raises `RuntimeError` if the two differ,
        which is a bug of this release.
        """
        if whole.position != self.position:
            return False
        if whole.state != self.state:
            raise RuntimeError(f"the whole tables differ from the live ones at place {self.position}")
        before, path = self.database, self._path
        self.database, self._path = whole.database, whole._path
        self.has_past = True
        self._applied.clear()
        before.close()
        if path is not None:
            delete_living(path)
        return True

    def move_to(self, position: Position) -> None:
        """Set the tables' position, in a new log that starts from them."""
        self.database.connection.execute("UPDATE place SET position = ?", (position,))
        self.position = position

    def back_up(self, file: Path, is_wanted: Callable[[], bool]) -> int:
        """Copy the tables into a new file; return its size.

        Raises `ConfigurationError` if it cannot be written, or these tables lack finished matches.
        """
        if not self.has_past:
            raise ConfigurationError(LACKS_PAST)
        if self._path is not None:
            return back_up(self._path, file, is_wanted)
        with closing(sqlite3.connect(file)) as copy:
            self.database.connection.backup(copy)
        return file.stat().st_size

    def close(self) -> None:
        """Close the file."""
        self.database.close()


@contextmanager
def _as_storage_error() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, zlib.error, OSError, EOFError, msgspec.MsgspecError) as error:
        raise StorageError(f"the snapshot cannot be used: {error}") from None


def _opened(file: BinaryIO) -> sqlite3.Connection:
    """Return the tables of a snapshot: of a file that has a name where they are, else in memory."""
    name = getattr(file, "name", None)
    if name is not None:
        file.flush()
        return sqlite3.connect(name, isolation_level=None, check_same_thread=False)
    tables = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    tables.deserialize(file.read())
    return tables


def _write_carelessly(connection: sqlite3.Connection) -> None:
    """Write a temporary file fast and without syncs: nobody needs it after a failure."""
    connection.execute("PRAGMA main.journal_mode = OFF")
    connection.execute("PRAGMA main.synchronous = OFF")


def _attach_given(snapshot: sqlite3.Connection, connection: sqlite3.Connection) -> None:
    """Attach the tables of a snapshot to the ones of a node as `given`."""
    (_, _, name), *_ = snapshot.execute("PRAGMA database_list").fetchall()
    if Path(name).is_absolute():
        connection.execute("ATTACH ? AS given", (name,))
    else:  # in memory, for which SQLite has another name
        connection.execute("ATTACH ':memory:' AS given")
        connection.deserialize(snapshot.serialize(), name="given")


def living_beside(journal: Path) -> Path:
    """Return the file of the live tables while the node of a journal lacks finished matches."""
    return journal.with_name(f"{journal.stem}-living{journal.suffix}")


def clear_up(journal: Path) -> None:
    """Delete what a process that was killed has left beside its journal. The caller has the lock of the journal."""
    delete_living(living_beside(journal))
    for each in journal.parent.glob(f"{journal.stem}{_ARRIVING}*"):
        with suppress(OSError):
            each.unlink()


def delete_living(path: Path) -> None:
    """Delete the file of live tables."""
    for each in (path, *(path.with_name(path.name + part) for part in ("-wal", "-shm")), path.with_suffix(".lock")):
        with suppress(OSError):  # the next start deletes it, where an open file cannot be
            each.unlink(missing_ok=True)


def _refuse_old_matches(connection: sqlite3.Connection, batch: Batch) -> None:
    """Raise `PastNeededError` if an entry adds to a match that these tables lack, since only the match tells if it may.

    Live tables have all else that entries read: live matches and those not packed yet, accounts, ratings, meetings.
    """
    begun: set[str] = set()
    for entry in batch.entries:
        for event in entry.events if isinstance(entry, AppendEvents) else ():
            if isinstance(event, Started):
                begun.add(event.match)
            elif event.match not in begun:
                found = connection.execute("SELECT 1 FROM matches WHERE id = ?", (event.match,)).fetchone()
                if found is None:
                    raise PastNeededError(event.match)


def _read(position: Position, data: bytes) -> Batch | None:
    try:
        return decode_batch(data)
    except msgspec.MsgspecError as error:
        log.error("place %d of the log is no batch of ours: %s", position, error)
        return None
