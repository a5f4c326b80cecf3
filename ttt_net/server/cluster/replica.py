"""One node's copy of the cluster's state: the journal's tables, and where in the log they stand.

The fence (`fence.py`) decides which batches count, and their effects, in one transaction with the place.
Knows no log, no thread and no event loop.
"""

import io
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, NamedTuple, cast

import msgspec

from ttt_net.errors import ConfigurationError, Refusal, StorageError
from ttt_net.server.cluster import fence
from ttt_net.server.cluster.entries import FORM, Author, Batch, Came, NodeName, decode_batch, next_state
from ttt_net.server.cluster.fence import EntryOutcome
from ttt_net.server.cluster.log import Position
from ttt_net.server.journal.backup import back_up
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.queries import AnyQuery, answer
from ttt_net.server.journal.schema import SCHEMA_VERSION, migrate
from ttt_net.server.players import Player

log = logging.getLogger(__name__)

_FORMATS = slice(18, 20)
"""Where an image of tables says how it is written to; 1: without a log beside it, which an image in memory has not."""

_PAGES = 1_024
"""Pages of a snapshot between two signs that it is being taken over."""


class NewerFormError(Exception):
    """All who may write know a newer form than this release: what follows in the log cannot be applied by it."""

    def __init__(self, in_force: int, known: int) -> None:
        super().__init__(
            f"the log is of form {in_force}, this release knows {known}; install the release of the others"
        )


class Applied(NamedTuple):
    """The result of one place of the log."""

    position: Position
    batch: Batch | None
    """None: what is there is no batch."""
    outcomes: Sequence[EntryOutcome] | None
    """One for each entry; None if the batch is a repeat, or of an author who was lost: then nothing has changed."""
    state: str
    """The running hash after it."""


class Connected(NamedTuple):
    """A player who is connected to a node."""

    node: NodeName
    came: Came
    player: Player


class TablesImage(NamedTuple):
    """The tables of one moment, as they can be read from a file."""

    position: Position
    file: BinaryIO


class Replica:
    """The tables of one node, in a file or in memory."""

    def __init__(self, path: Path | None, form: int = FORM, moved: Callable[[], None] = lambda: None) -> None:
        """Open or create the file. Raises `ConfigurationError` if it cannot be used."""
        self.form = form
        """The newest form of the log that is known here."""
        self.moved = moved
        """Called again and again while an older file is brought up to date, and while a snapshot is taken over."""
        self.database = Database(path, moved)
        self._path = path
        connection = self.database.connection
        if path is not None:
            connection.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes, the log still has
        connection.executescript(fence.TABLES)
        self.position, self.state = connection.execute("SELECT position, state FROM place").fetchone()

    def apply(self, batches: Sequence[tuple[Position, bytes]]) -> list[Applied]:
        """Apply what follows in the log, all in one transaction with its place; return what came of each batch.

        Raises `StorageError` if the disk failed: then nothing has changed, and the same may be tried again; and
        `NewerFormError` if what follows is for newer releases.
        """
        try:
            try:
                applied = self._transact(batches, fence.carry_out)
            except Exception as error:
                if fence.is_of_the_disk(error) or isinstance(error, NewerFormError):
                    raise
                # what an entry may not do is undone alone
                applied = self._transact(batches, fence.carry_out_one_by_one)
        except Exception as error:
            if not fence.is_of_the_disk(error):
                raise
            self.database.failures += 1
            raise StorageError(str(error) or type(error).__name__) from None
        self.position, self.state = applied[-1].position, applied[-1].state
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
                if batch is not None and fence.is_next(connection, batch, position):
                    outcomes = carry_out(connection, batch)
                state = next_state(state, data, msgspec.json.encode([*map(fence.digest, outcomes or ())]))
                applied.append(Applied(position, batch, outcomes, state))
            connection.execute("UPDATE place SET position = ?, state = ?", (batches[-1][0], state))
            if (in_force := self.in_force()) > self.form:  # what follows may be of that form
                raise NewerFormError(in_force, self.form)
            connection.execute("COMMIT")
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

    def epoch_of(self, node: NodeName) -> int:
        """Return the newest epoch of a node, 0 if it never had one."""
        row = self.database.connection.execute("SELECT epoch FROM nodes WHERE node = ?", (node,)).fetchone()
        return int(row[0]) if row else 0

    def in_force(self) -> int:
        """Return the form that all know who may write: newer ones are not written yet."""
        (form,) = self.database.connection.execute("SELECT form FROM place").fetchone()
        return int(form)

    def authors(self) -> dict[Author, int]:
        """Return who may write, with the number of their last batch; first who has been there for the longest."""
        rows = self.database.connection.execute(
            "SELECT node, epoch, number FROM nodes WHERE NOT is_lost ORDER BY since"
        )
        return {Author(node, epoch): number for node, epoch, number in rows}

    def urls(self) -> dict[NodeName, str]:
        """Return where players reach each node, those too that are lost."""
        return dict(self.database.connection.execute("SELECT node, url FROM nodes ORDER BY node"))

    def connected(self, now_ms: int) -> list[Connected]:
        """Return who is connected, to whichever node."""
        connection = self.database.connection
        rows = connection.execute("SELECT node, came FROM connected ORDER BY player").fetchall()
        found = []
        for node, data in rows:
            came = msgspec.json.decode(data, type=Came)
            with suppress(Refusal):  # of one who was forgotten; their connection is about to end
                found.append(Connected(node, came, fence.player_of(connection, came.player, now_ms)))
        return found

    # As a whole.

    def snapshot(self) -> TablesImage:
        """Copy the tables of this moment, of a file into another beside it; to be closed by the caller.

        Of a file on any thread, since it reads one state of it while others are written. Raises `StorageError` if the
        tables cannot be read, or the copy cannot be written.
        """
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
                copy.unlink()  # what is open can still be read
        except (OSError, sqlite3.Error, ConfigurationError) as error:
            raise StorageError(str(error)) from None

    def room_for_snapshot(self) -> BinaryIO:
        """Return an empty file for `read_from`: beside the tables if they are in one, since memory may be short."""
        if self._path is None:
            return io.BytesIO()
        return cast(BinaryIO, NamedTemporaryFile(dir=self._path.parent, prefix="snapshot-"))

    def write_to(self, file: BinaryIO) -> None:
        """Write the tables in memory to a file. Raises `StorageError` if they cannot be read, or memory is short."""
        try:
            image = bytearray(self.database.connection.serialize())
        except (sqlite3.Error, MemoryError) as error:
            raise StorageError(str(error) or type(error).__name__) from None
        image[_FORMATS] = b"\x01\x01"
        file.write(image)

    def read_from(self, file: BinaryIO) -> None:
        """Put the tables of a snapshot in place of these. Raises `StorageError` if it is none, or the disk fails."""
        try:
            with closing(_opened(file)) as snapshot:
                position, state, form = snapshot.execute("SELECT position, state, form FROM place").fetchone()
                (version,) = snapshot.execute("PRAGMA user_version").fetchone()
                if form > self.form or version > SCHEMA_VERSION:
                    raise StorageError("the snapshot is of a newer release; install the release of the others")
                snapshot.backup(self.database.connection, pages=_PAGES, progress=lambda *_: self.moved())
                migrate(self.database.connection, self._path or Path("memory"))
        except sqlite3.Error as error:
            raise StorageError(f"the snapshot cannot be used: {error}") from None
        self.position, self.state = position, state

    def move_to(self, position: Position) -> None:
        """Let the tables stand at another place: of a log that begins anew with them."""
        self.database.connection.execute("UPDATE place SET position = ?", (position,))
        self.position = position

    def back_up(self, file: Path, is_wanted: Callable[[], bool]) -> int:
        """Copy the tables into a new file; return its size. Raises `ConfigurationError` if it cannot be written."""
        if self._path is not None:
            return back_up(self._path, file, is_wanted)
        with closing(sqlite3.connect(file)) as copy:
            self.database.connection.backup(copy)
        return file.stat().st_size

    def close(self) -> None:
        """Close the file."""
        self.database.close()


def _opened(file: BinaryIO) -> sqlite3.Connection:
    """Return the tables of a snapshot: of a file that has a name where they are, else in memory."""
    name = getattr(file, "name", None)
    if name is not None:
        file.flush()
        return sqlite3.connect(name)
    tables = sqlite3.connect(":memory:")
    tables.deserialize(file.read())
    return tables


def _read(position: Position, data: bytes) -> Batch | None:
    try:
        return decode_batch(data)
    except msgspec.MsgspecError as error:
        log.error("place %d of the log is no batch of ours: %s", position, error)
        return None
