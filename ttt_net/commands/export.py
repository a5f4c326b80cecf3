"""`export`: write recorded matches as text, JSON Lines, CSV or Parquet, from files, the journal or a server.

Matches are read and written one by one, so that a million of them need no more memory than one page. A server sends
them over its HTTP API; its answers are validated like all data from strangers.
"""

import argparse
import asyncio
import csv
import datetime
import http.client
import io
import re
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from ttt_net.client.address import read_address, server_at
from ttt_net.client.saved_matches import records_file
from ttt_net.commands.recorded_matches import LOCAL, MATCH_ID, add_data, load_records, look_up, record_in
from ttt_net.errors import ConfigurationError, Refusal, StorageError
from ttt_net.games import game_name
from ttt_net.games.records import Record, write_record, write_time
from ttt_net.matches.match import MatchData, match_data, time_limit, write_text
from ttt_net.messages import Refused, encode
from ttt_net.sdk.trust import pinned_fingerprint, trust_of
from ttt_net.server.journal import JOURNAL_FILE, open_readonly
from ttt_net.server.journal.queries import find_match, finished_matches, read_events
from ttt_net.server.settings.configuration import DEFAULT_DATA
from ttt_net.text import as_cell, clean, counted, name_key

BATCH = 1_000
"""The number of matches in a row group of a Parquet file."""
TRIES = 6
"""How often to request a page before giving up; the waits between double from one second."""
MOST_WAIT_S = 60
"""The longest accepted `Retry-After` of a server."""
MOST_REFUSALS = 100
"""The number of consecutive `Retry-After` answers before the export gives up."""
ANSWER_S = 30.0
"""The longest silence of a server within a page."""
MAX_PAGE_BYTES = 16_000_000
MOST_EMPTY = 10_000
"""The maximal number of consecutive pages without a wanted match; a server searches 2,000 matches for each."""
_NEXT = re.compile(r'<(/api/[!-;=?-~]{1,600})>; rel="next"', re.ASCII)
_CURSOR = re.compile(r"[0-9]{1,18}-[0-9A-Za-z-]{0,32}", re.ASCII)
Exported = MatchData | Record
Write = Callable[[BinaryIO, Iterable[Exported]], int]
"""Writes matches and returns how many."""


class Filter(NamedTuple):
    """Which matches to export."""

    game: str | None
    player: str | None
    since: datetime.date | None
    """The first day of matches by their end."""
    is_rated: bool | None

    @property
    def since_ms(self) -> int:
        """The first day in milliseconds since 1970."""
        if self.since is None:
            return 0
        return round(datetime.datetime.combine(self.since, datetime.time(), datetime.UTC).timestamp() * 1000)

    def has(self, match: Exported) -> bool:
        """Tell whether to export a match; records do not mention ratings, so they count as casual."""
        names = {name_key(player.name) for player in match.players}
        if isinstance(match, Record):
            is_late = self.since is None or (match.date is not None and match.date >= self.since)
            is_rated = False
        else:
            is_late, is_rated = match.ended_ms >= self.since_ms, match.rated
        return (
            is_late
            and self.game in (None, match.game)
            and (self.player is None or name_key(self.player) in names)
            and self.is_rated in (None, is_rated)
        )


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "sources", nargs="*", metavar="FILE|ID", help="files of records, ids of matches on this machine's server"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="all finished matches of this machine: of its server, and as text those at this keyboard",
    )
    parser.add_argument("--server", metavar="ADDRESS", help="all finished public matches of a server, by its HTTP API")
    parser.add_argument(
        "--format",
        choices=tuple(_FORMATS),
        default="text",
        help="text: records; json: one object a line; csv; parquet, with the extra `data` (default: text)",
    )
    parser.add_argument("--game", help="only matches of this game")
    parser.add_argument("--player", metavar="NAME", help="only matches of this player")
    parser.add_argument("--since", metavar="DATE", help="only matches that ended on this day or later: 2026-11-24")
    parser.add_argument("--rated", action=argparse.BooleanOptionalAction, help="only rated matches, or only others")
    parser.add_argument(
        "--after", metavar="CURSOR", help="with --server: continue after this match, as printed by an export"
    )
    parser.add_argument("--tls-fingerprint", metavar="HEX", help="trust a server by its certificate's SHA-256")
    parser.add_argument("--to", metavar="FILE", help="where to write; else to the screen")
    add_data(parser)


def run_export(args: argparse.Namespace) -> int:
    """Write the matches in the order of the sources; a file appears only when it is complete."""
    if bool(args.sources or args.all) == bool(args.server):
        raise ConfigurationError("name files or matches to export, or --all, or --server with an address")
    if args.after is not None and (not args.server or not _CURSOR.fullmatch(args.after)):
        raise ConfigurationError("--after needs --server, and a value printed by an export: 1790000014551-6vs9hfpt")
    if args.format == "parquet":
        if args.to is None:
            raise ConfigurationError("--format parquet writes a file; name it with --to")
        if find_spec("pyarrow") is None:
            raise ConfigurationError("--format parquet needs the extra: pip install 'ttt_net[data]'")
    wanted = Filter(args.game and _game_name(args.game), args.player, _read_day(args.since), args.rated)
    if args.server:
        matches: Iterator[Exported] = _from_server(args, wanted)
    else:
        matches = filter(wanted.has, _from_sources(args.sources, args.data))
        if args.all:
            matches = chain(matches, filter(wanted.has, _of_this_machine(args.data, wanted, args.format)))
    write = _FORMATS[args.format]
    if args.to is None:
        write(sys.stdout.buffer if hasattr(sys.stdout, "buffer") else _Text(sys.stdout), matches)  # type: ignore[arg-type]
        return 0
    with _new_file(Path(args.to)) as file:
        count = write(file, matches)
    print(f"{args.to}: {counted(count, 'match', 'matches')}")
    return 0


class _Text:
    """A binary stream over a text stream, for a standard output without a buffer."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        return self._stream.write(data.decode())


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Write a temporary file, and move it to the path at the end."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _game_name(name: str) -> str:
    """Return the canonical name of a game; the name of a game that is not installed is returned unchanged."""
    try:
        return game_name(name)
    except Refusal:
        return name


def _read_day(text: str | None) -> datetime.date | None:
    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(f"--since {clean(text or '', 20)} does not look like 2026-11-24") from None


# From this machine.


def _from_sources(sources: list[str], data: Path) -> Iterator[Exported]:
    """Yield the matches of files and of the journal. Raises `ConfigurationError` if one cannot be read."""
    for source in sources:
        if source != "-" and not Path(source).exists() and MATCH_ID.fullmatch(source):
            yield look_up(data, source, _data_in)
        else:
            yield from load_records(source, data)


def _of_this_machine(data: Path, wanted: Filter, form: str) -> Iterator[Exported]:
    """Yield the matches of the journal, then those of this keyboard if the format allows matches without times.

    Raises `ConfigurationError` if there are none, or they cannot be read.
    """
    journal, local = data / JOURNAL_FILE, records_file()
    count = 0
    if journal.exists() or data != DEFAULT_DATA:
        for count, match in enumerate(_finished(data, wanted), 1):  # noqa: B007 - the count is used below
            yield match
    records = load_records(LOCAL, data) if local.exists() else []
    if form == "text":
        yield from records
    elif records:
        left_out = counted(len(records), "match of this keyboard has", "matches of this keyboard have")
        print(f"{left_out} no times of moves and can be exported only as text", file=sys.stderr)
    if not count and not records and wanted == Filter(None, None, None, None):
        raise ConfigurationError(f"no match has ended on this machine yet: there is none in {journal} or {local}")


def _data_in(connection: sqlite3.Connection, match: str) -> Exported:
    head = find_match(connection, match)
    return match_data(read_events(connection, head)) if head.is_over else record_in(connection, match)


def _finished(data: Path, wanted: Filter) -> Iterator[MatchData]:
    with closing(open_readonly(data / JOURNAL_FILE)) as connection:
        for match in finished_matches(connection, wanted.game, wanted.player, wanted.since_ms, wanted.is_rated):
            try:
                yield match_data(read_events(connection, find_match(connection, match)))
            except StorageError as error:
                raise ConfigurationError(error.cause) from None


# From a server.


def _from_server(args: argparse.Namespace, wanted: Filter) -> Iterator[MatchData]:
    """Yield the wanted finished public matches of a server, in the order of their ends."""
    url = read_address(args.server).url
    fields = {"game": wanted.game, "since_ms": wanted.since_ms or None, "after": args.after}
    if wanted.is_rated is not None:
        fields["rated"] = str(wanted.is_rated).lower()
    query = urlencode({name: value for name, value in fields.items() if value is not None})
    start = "/api/matches" if wanted.player is None else f"/api/players/{quote(wanted.player, safe='')}/matches"
    address: str | None = f"{start}?{query}" if query else start
    reader, cursor = _ApiReader(url, args.tls_fingerprint), args.after or ""
    count = empty = 0
    with closing(reader):
        while address is not None:
            try:
                page = reader.page(address)
            except ConfigurationError as error:
                were = counted(count, "match was", "matches were")
                resume = f"; {were} read, go on with --after {cursor}" if count else ""
                raise ConfigurationError(f"{error}{resume}") from None
            for match in page.matches:
                if _place(match.cursor) < _place(cursor):
                    raise ConfigurationError(f"{reader.server} sends its matches in no order")
                cursor, count = match.cursor, count + 1
                if wanted.has(match):
                    yield match
            empty = 0 if page.matches else empty + 1
            if page.next == address or empty > MOST_EMPTY:
                raise ConfigurationError(f"{reader.server} sends pages without an end")
            address = page.next
            if sys.stderr.isatty():
                print(f"\r{count:,} matches", end="\n" if address is None else "", file=sys.stderr, flush=True)


def _place(cursor: str) -> int:
    return int(cursor.partition("-")[0] or 0)


class _Page(NamedTuple):
    matches: list[MatchData]
    next: str | None


class _ApiReader:
    """A connection to the HTTP API of a server, which requests pages one by one."""

    def __init__(self, url: str, fingerprint: str | None) -> None:
        parts = urlsplit(url)
        self.server = server_at(url)
        self._is_encrypted = parts.scheme == "wss"
        pinned = pinned_fingerprint(self.server) if self._is_encrypted else None
        self._trust = trust_of(url, fingerprint or pinned, is_insecure=True)  # the request contains no secrets
        host, port = parts.hostname or "", parts.port or (443 if self._is_encrypted else 80)
        context = self._trust.context(url)
        self._connection = (
            http.client.HTTPConnection(host, port, timeout=ANSWER_S)
            if context is None
            else http.client.HTTPSConnection(host, port, timeout=ANSWER_S, context=context)
        )

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def page(self, address: str) -> _Page:
        """Return a page, after waiting as the server requests. Raises `ConfigurationError` if the server sends none."""
        failures = refusals = 0
        while True:
            try:
                response, data = self._ask(address)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                failures += 1
                if failures == TRIES:
                    raise ConfigurationError(f"{self.server} does not answer: {clean(str(error), 100)}") from None
                time.sleep(2 ** (failures - 1))
                continue
            if response.status == 200:
                return self._read(response, data)
            wait_s = response.headers.get("Retry-After", "")
            if response.status not in (429, 503) or not wait_s.isdecimal() or refusals == MOST_REFUSALS:
                raise ConfigurationError(f"{self.server}: {_sentence(response.status, data)}")
            refusals += 1
            time.sleep(min(int(wait_s[:4]), MOST_WAIT_S))

    def _ask(self, address: str) -> tuple[http.client.HTTPResponse, bytes]:
        if self._connection.sock is None:
            self._connection.connect()
            extra = {"ssl_object": self._connection.sock if self._is_encrypted else None}
            objection = self._trust.objection(asyncio.BaseTransport(extra))
            if objection:
                raise ConfigurationError(f"{self.server}: {objection}")
        self._connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
        response = self._connection.getresponse()
        data = response.read(MAX_PAGE_BYTES + 1)
        if response.length and len(data) <= MAX_PAGE_BYTES:  # an incomplete answer could not be recognized
            raise http.client.IncompleteRead(data, response.length)
        if response.will_close:
            self._connection.close()
        if response.headers.get("Content-Encoding") == "gzip":
            unpacking = zlib.decompressobj(wbits=31)
            try:
                data = unpacking.decompress(data, MAX_PAGE_BYTES + 1)
            except zlib.error:
                raise ConfigurationError(f"{self.server} sends what cannot be unpacked") from None
        if len(data) > MAX_PAGE_BYTES:
            raise ConfigurationError(f"{self.server} sends a page of more than {MAX_PAGE_BYTES:,} bytes")
        return response, data

    def _read(self, response: http.client.HTTPResponse, data: bytes) -> _Page:
        try:
            matches = [_decoder.decode(line) for line in data.splitlines()]
        except msgspec.MsgspecError as error:
            raise ConfigurationError(f"{self.server} sends what is no match: {clean(str(error), 100)}") from None
        for match in matches:
            texts = (match.match, match.game, match.reason, match.start or "", *(match.written or ()))
            names = (text for player in match.players for text in (player.name, player.bot or ""))
            if not all(text.isprintable() for text in (*texts, *names)) or not _are_parallel(match):
                raise ConfigurationError(f"{self.server} sends what is no match")
        following = _NEXT.fullmatch(response.headers.get("Link", ""))
        return _Page(matches, following and following[1])


_decoder = msgspec.json.Decoder(MatchData)


def _are_parallel(match: MatchData) -> bool:
    lists = (match.times_ms, match.written, match.clocks_ms)
    return all(each is None or len(each) == len(match.moves) for each in lists)


def _sentence(status: int, data: bytes) -> str:
    """Return the server's error message."""
    try:
        return clean(msgspec.json.decode(data, type=Refused).message, 200)
    except msgspec.MsgspecError:
        return f"status {status}" + ("; it has no HTTP API" if status == 404 else "")


# To a file.


def _write_text(file: BinaryIO, matches: Iterable[Exported]) -> int:
    count = 0
    for count, match in enumerate(matches, 1):
        text = write_record(match) if isinstance(match, Record) else write_text(match)
        file.write(f"{text if count == 1 else chr(10) + text}".encode())
    return count


def _write_json(file: BinaryIO, matches: Iterable[Exported]) -> int:
    count = 0
    for count, match in enumerate(matches, 1):  # noqa: B007 - returned
        file.write(encode(_with_times(match)) + b"\n")
    return count


def _with_times(match: Exported) -> MatchData:
    """Return a match if it has values for all columns. Raises `ConfigurationError` if it is a record, without times."""
    if isinstance(match, Record):
        raise ConfigurationError("a record has no time for each move; export it with --format text")
    return match


COLUMNS = (
    "match", "game", "started", "ended", "first", "first_bot", "first_rating", "second", "second_bot", "second_rating",
    "winner", "reason", "rated", "time", "start", "previous", "moves", "written", "times_ms", "clocks_ms",
)  # fmt: skip
"""The columns of CSV and Parquet files; times are in UTC, and a list is one cell."""


def _row(match: MatchData) -> tuple[Any, ...]:
    first, second = match.players
    limit = time_limit(match.time)
    return (
        *(match.match, match.game, _moment(match.started_ms), _moment(match.ended_ms)),
        *(first.name, first.bot, first.rating, second.name, second.bot, second.rating),
        *(match.winner, match.reason, match.rated, limit and write_time(limit), match.start, match.previous),
        *(match.moves, match.written, match.times_ms, match.clocks_ms),
    )


def _moment(at_ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(milliseconds=at_ms)


def _write_csv(file: BinaryIO, matches: Iterable[Exported]) -> int:
    count, lines = 0, io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for count, match in enumerate(matches, 1):  # noqa: B007 - returned
        writer.writerow(map(_cell, _row(_with_times(match))))
        file.write(lines.getvalue().encode())
        lines.seek(0)
        lines.truncate()
    file.write(lines.getvalue().encode())
    return count


def _cell(value: object) -> object:
    match value:
        case datetime.datetime():
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case bool():
            return str(value).lower()
        case list():
            return as_cell(" ".join(map(str, value)))
        case str():  # perhaps from a stranger's server
            return as_cell(value)
        case _:
            return value


def _write_parquet(file: BinaryIO, matches: Iterable[Exported]) -> int:
    import pyarrow.parquet

    moment, numbers = pyarrow.timestamp("ms", "UTC"), pyarrow.list_(pyarrow.int64())
    kinds = dict.fromkeys(COLUMNS, pyarrow.string()) | {
        **dict.fromkeys(("started", "ended"), moment),
        **dict.fromkeys(("first_rating", "second_rating", "winner"), pyarrow.int32()),
        **dict.fromkeys(("moves", "times_ms", "clocks_ms"), numbers),
        "rated": pyarrow.bool_(),
        "written": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema(kinds.items())
    count = 0
    rows: list[tuple[Any, ...]] = []

    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for count, match in enumerate(matches, 1):  # noqa: B007 - returned
            rows.append(_row(_with_times(match)))
            if len(rows) == BATCH:
                writer.write_table(_table(pyarrow, schema, rows))
                rows.clear()
        if rows:
            writer.write_table(_table(pyarrow, schema, rows))
    return count


def _table(arrow: Any, schema: Any, rows: list[tuple[Any, ...]]) -> Any:  # noqa: ANN401 - pyarrow has no types
    columns = zip(*rows, strict=True)
    return arrow.table(dict(zip(COLUMNS, map(list, columns), strict=True)), schema=schema)


_FORMATS: dict[str, Write] = {
    "text": _write_text,
    "json": _write_json,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
