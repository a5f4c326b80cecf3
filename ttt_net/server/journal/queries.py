"""The reads from the journal as values, and their answers.

`AnyQuery` is for the server's own state and for its host: `answer` answers it between the writes, in the order of the
calls. `PastQuery` is for players: `archive.Archive` answers it beside the writes. Names are the players' current ones.
Nothing here writes.

A row of `facts` holds one event as JSON, or a pack: the lines of all events up to that row's number, compressed. A pack
keeps the last number of its match, so the next event still has to be the next. Packed, a match of Connect Four takes a
quarter of the space, which every backup and snapshot has to carry.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

import msgspec
from msgspec.structs import replace as restruct

from ttt_net import messages as wire
from ttt_net.clock import Speed, TimeControl
from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.messages import MatchEvent, ReportReason, Started, decode_event
from ttt_net.pairing.lobby import Invitation
from ttt_net.ratings import Rating, aged
from ttt_net.server.admission.sanctions import Sanction
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.players import Blocks, Player, PlayerId
from ttt_net.text import name_key
from ttt_net.tournaments.tournament import AnyFact, Entered, Opened

_fact_decoder: msgspec.json.Decoder[AnyFact] = msgspec.json.Decoder(AnyFact)
MAX_UNFINISHED = 50
"""The maximal number of a player's unfinished matches to look up, newest first."""
MAX_RATINGS_AT_HAND = 100
"""The maximal number of a player's ratings, by game and speed, to keep in memory, newest first."""


class MatchQuery(NamedTuple):
    """A match, as a `StoredMatch`. Refused with `UNKNOWN_MATCH` if there is none."""

    match: str


class TokenQuery(NamedTuple):
    """The `Player` with a token; None if it is unknown."""

    token_hash: bytes
    now_ms: int


class NameQuery(NamedTuple):
    """The number and name of a player by name. Refused with `UNKNOWN_PLAYER` if there is none."""

    name: str


class InvitationsQuery(NamedTuple):
    """The invitations that have not expired."""

    now_ms: int


class TournamentsQuery(NamedTuple):
    """The unfinished tournaments, as `StoredTournament`s; with a code, only the one that has it, if any."""

    code: str | None = None


class SpareQuery(NamedTuple):
    """The number of unused bytes in the file, left by deleted rows. They are reused before the file grows."""


class SanctionsQuery(NamedTuple):
    """All bans and mutes."""


class NotesQuery(NamedTuple):
    """The last notes of the audit log, the oldest first."""

    last: int


class ReportsQuery(NamedTuple):
    """Reports of players, open ones first, by weight and the oldest first, then the newest that were closed."""

    has_closed: bool
    most: int


class ReportQuery(NamedTuple):
    """One report. Refused with `BAD_MESSAGE` if there is none."""

    number: int


class ReportedAddressQuery(NamedTuple):
    """The keyed hash of a player's address at their latest report; None without one."""

    player: PlayerId


class ModeratorsQuery(NamedTuple):
    """All moderators, by their tokens."""


class ProfileQuery(NamedTuple):
    """The profile of a player: name, results, ratings."""

    said: wire.ProfileRequest
    asker: PlayerId
    online: wire.PlayerInfo | None
    """The player as the server shows them; None if they are not connected."""
    live: list[str]
    """The ids of their public live matches."""
    now_ms: int


class HistoryQuery(NamedTuple):
    """A page of a player's finished matches."""

    name: str | None
    """None: the asker's own."""
    game: str | None
    """None: of all games."""
    before: str | None
    """The end of the previous page; None: the first page."""
    asker: PlayerId


class LeaderboardQuery(NamedTuple):
    """A page of the ratings at a game and speed."""

    said: wire.LeaderboardRequest
    game: str
    asker: PlayerId
    now_ms: int


class ReplayQuery(NamedTuple):
    """Positions of a match."""

    said: wire.ReplayRequest
    asker: PlayerId
    is_heard: bool
    """Whether the asker plays or watches the match. Then they may see it, even if it is private."""


class RecordQuery(NamedTuple):
    """A finished match as a text."""

    said: wire.RecordRequest
    asker: PlayerId


class BlocksQuery(NamedTuple):
    """The players whom the asker has muted or blocked."""

    asker: PlayerId


class MistakesQuery(NamedTuple):
    """A page of the asker's mistakes, as a `MistakeList`."""

    said: wire.MistakesRequest
    asker: PlayerId
    today: str


class FinishedQuery(NamedTuple):
    """A finished match, as an `ArchivedMatch`. Refused with `NOT_FINISHED` if it is live."""

    match: str


class MatchDataQuery(NamedTuple):
    """A finished public match as data."""

    match: str


class MatchesQuery(NamedTuple):
    """A page of the finished public matches, of a player or of all, in the order of their ends, as a `MatchPage`."""

    player: str | None = None
    """A name; None: of all players."""
    game: str | None = None
    """None: of all games."""
    is_rated: bool | None = None
    """None: rated and casual ones."""
    since_ms: int = 0
    """The earliest end."""
    after: str | None = None
    """The cursor of the last match on the previous page; None: the first page."""
    most: int = 100
    """The number of matches on a page. A page has fewer if matches are long, or if many others lie between them."""


PastQuery = (
    FinishedQuery
    | ProfileQuery
    | HistoryQuery
    | LeaderboardQuery
    | ReplayQuery
    | RecordQuery
    | BlocksQuery
    | MistakesQuery
    | MatchDataQuery
    | MatchesQuery
)
"""Questions of players and of the HTTP API, which `archive.Archive` answers."""
ModerationQuery = SanctionsQuery | NotesQuery | ReportsQuery | ReportQuery | ReportedAddressQuery | ModeratorsQuery
"""Questions of the host and moderators."""


class Reading(NamedTuple):
    """A function that reads from the tables, for ledgers in which only the writer's connection can use them."""

    read: Callable[[sqlite3.Connection], object]


AnyQuery = (
    TournamentsQuery | MatchQuery | TokenQuery | NameQuery | InvitationsQuery | SpareQuery | ModerationQuery | Reading
)


def answer(connection: sqlite3.Connection, query: AnyQuery) -> object:
    """Return the answer that the query describes. Raises `Refusal` if there is none."""
    match query:
        case Reading():
            return query.read(connection)
        case MatchQuery():
            return read_match(connection, *query)
        case TokenQuery():
            return find_player(connection, *query)
        case NameQuery():
            return player_named(connection, *query)
        case InvitationsQuery():
            return read_invitations(connection, *query)
        case TournamentsQuery():
            return read_tournaments(connection, query.code)
        case SpareQuery():
            return spare_bytes(connection)
        case SanctionsQuery():
            return read_sanctions(connection)
        case NotesQuery():
            return read_notes(connection, *query)
        case ReportsQuery():
            return read_reports(connection, *query)
        case ReportQuery():
            return read_report(connection, *query)
        case ReportedAddressQuery():
            return reported_address(connection, *query)
        case ModeratorsQuery():
            return read_moderators(connection)
        case _:
            assert_never(query)


LATER_MS = 2_000
"""When to ask again for what `not_yet` refuses."""


def not_yet() -> Refusal:
    """Return the refusal of a question about finished matches that this server does not have yet."""
    sentence = "this server has just joined the others and still fetches older matches; ask again in a moment"
    return Refusal(Code.BUSY, sentence, LATER_MS)


# Matches and players.


def spare_bytes(connection: sqlite3.Connection) -> int:
    """Return the number of unused bytes in the file."""
    (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages * page_bytes)


class StoredMatch(NamedTuple):
    """A match in the journal: its players by side, and its events in order."""

    seats: tuple[PlayerId, PlayerId]
    events: list[MatchEvent]


class MatchHead(NamedTuple):
    """A match without its events."""

    number: int
    id: str
    seats: tuple[PlayerId, PlayerId]
    names: tuple[str, str]
    """The current names of its players, by side."""
    is_over: bool
    is_private: bool
    events: int
    """The number of its events."""


def find_match(connection: sqlite3.Connection, match: str) -> MatchHead:
    """Return the head of a match by id. Raises `Refusal` if there is none."""
    row = connection.execute(
        "SELECT number, first, second, one.name, other.name, is_over, is_private,"
        " (SELECT coalesce(max(seq), 0) FROM facts WHERE match = number) FROM matches"
        " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second WHERE matches.id = ?",
        (match,),
    ).fetchone()
    if row is None:
        raise Refusal(Code.UNKNOWN_MATCH, f"there is no match {match}")
    number, first, second, name, other_name, is_over, is_private, events = row
    return MatchHead(number, match, (first, second), (name, other_name), bool(is_over), bool(is_private), events)


def read_events(connection: sqlite3.Connection, head: MatchHead) -> list[MatchEvent]:
    """Return the events of a match, in order. Raises `StorageError` if one is invalid."""
    rows = connection.execute("SELECT fact FROM facts WHERE match = ? ORDER BY seq", (head.number,))
    try:
        events = [decode_event(event) for (fact,) in rows for event in unpacked(fact)]
    except (msgspec.MsgspecError, zlib.error) as error:
        raise StorageError(f"match {head.id} cannot be read: {error}") from None
    if events and isinstance(events[0], Started):
        events[0] = with_names(events[0], *head.names)
    return events


def read_match(connection: sqlite3.Connection, match: str) -> StoredMatch:
    """Return a match by id. Raises `Refusal` if there is none, `StorageError` if it is invalid."""
    head = find_match(connection, match)
    return StoredMatch(head.seats, read_events(connection, head))


def with_names(started: Started, first: str, second: str) -> Started:
    """Return the start of a match with these names of its players."""
    one, other = started.players
    return restruct(started, players=(restruct(one, name=first), restruct(other, name=second)))


def finished_matches(
    connection: sqlite3.Connection,
    game: str | None = None,
    player: str | None = None,
    since_ms: int = 0,
    is_rated: bool | None = None,
) -> list[str]:
    """Return the ids of all finished matches, or of the given ones, in the order of their starts."""
    key = None if player is None else name_key(player)
    rows = connection.execute(
        "SELECT id FROM matches WHERE is_over AND ended_ms >= :since_ms AND (:game IS NULL OR game = :game)"
        " AND (:is_rated IS NULL OR is_rated = :is_rated) AND (:key IS NULL"
        " OR EXISTS (SELECT 1 FROM players WHERE name_key = :key AND id IN (first, second))) ORDER BY started_ms, id",
        {"since_ms": since_ms, "game": game, "is_rated": is_rated, "key": key},
    )
    return [match for (match,) in rows]


def find_player(connection: sqlite3.Connection, token_hash: bytes, now_ms: int) -> Player | None:
    """Return the player with a token, None if it is unknown."""
    row = connection.execute(
        "SELECT id, name, bot, is_guest FROM players WHERE token_hash = ?", (token_hash,)
    ).fetchone()
    if row is None:
        return None
    player, name, bot, is_guest = row
    matches = unfinished_of(connection, player)
    ratings = ratings_of(connection, player, now_ms)
    return Player(player, name, matches, bool(is_guest), ratings, bot, blocks_of(connection, player))


def blocks_of(connection: sqlite3.Connection, player: PlayerId) -> Blocks:
    """Return the players whom a player has muted or blocked, oldest first."""
    rows = connection.execute("SELECT other, is_block FROM blocks WHERE player = ? ORDER BY number", (player,))
    return {other: bool(is_block) for other, is_block in rows}


def unfinished_of(connection: sqlite3.Connection, player: PlayerId) -> tuple[str, ...]:
    """Return the ids of the player's unfinished matches, newest first."""
    rows = connection.execute(  # two searches, since for `first = ? OR second = ?` SQLite reads all live matches
        "SELECT id FROM (SELECT id, started_ms FROM matches WHERE NOT is_over AND first = ?"
        " UNION SELECT id, started_ms FROM matches WHERE NOT is_over AND second = ?)"
        " ORDER BY started_ms DESC LIMIT ?",
        (player, player, MAX_UNFINISHED),
    )
    return tuple(match for (match,) in rows)


def ratings_of(connection: sqlite3.Connection, player: PlayerId, now_ms: int) -> dict[tuple[str, Speed], Rating]:
    """Return the player's newest ratings by game and speed, aged to `now_ms`."""
    rows = connection.execute(
        "SELECT game, speed, rating, deviation, volatility, games, rated_ms FROM ratings WHERE player = ?"
        " ORDER BY rated_ms DESC LIMIT ?",
        (player, MAX_RATINGS_AT_HAND),
    )
    return {(game, each): aged(Rating(*values), now_ms) for game, each, *values in rows}


def player_named(connection: sqlite3.Connection, name: str) -> tuple[PlayerId, str]:
    """Return the number and name of a player by name. Raises `Refusal` if there is none."""
    row = connection.execute("SELECT id, name FROM players WHERE name_key = ?", (name_key(name),)).fetchone()
    if row is None:
        raise Refusal(Code.UNKNOWN_PLAYER, f"no player is called {name}")
    player, shown = row
    return player, shown


def read_invitations(connection: sqlite3.Connection, now_ms: int) -> list[Invitation]:
    """Return the invitations that have not expired at `now_ms`."""
    rows = connection.execute(
        "SELECT code, player, game, time, expires_ms, side, start FROM invitations WHERE expires_ms > ?", (now_ms,)
    )
    return [
        Invitation(code, by, game, None if time is None else msgspec.json.decode(time, type=TimeControl), *rest)
        for code, by, game, time, *rest in rows
    ]


class StoredTournament(NamedTuple):
    """A tournament in the journal: its facts, the ends of its matches, and the current names of its players."""

    code: str
    facts: list[AnyFact]
    ends: dict[str, tuple[int | None, str]]
    """The winner, if any, and the reason, by match."""
    names: dict[PlayerId, str]


def read_tournaments(connection: sqlite3.Connection, code: str | None) -> list[StoredTournament]:
    """Return the unfinished tournaments, or the one with a code. Raises `StorageError` if one is unreadable."""
    which = "closed_ms IS NULL" if code is None else "id = ?"
    found = connection.execute(
        f"SELECT number, id FROM tournaments WHERE {which} ORDER BY number",  # noqa: S608 - ours
        () if code is None else (code,),
    ).fetchall()
    return [read_tournament(connection, number, each) for number, each in found]


def read_tournament(connection: sqlite3.Connection, number: int, code: str) -> StoredTournament:
    """Return a tournament by its number in the tables and its code. Raises `StorageError` if it is unreadable."""
    kept = connection.execute("SELECT fact FROM tournament_facts WHERE tournament = ? ORDER BY seq", (number,))
    try:
        facts = [_fact_decoder.decode(fact) for (fact,) in kept]
    except msgspec.MsgspecError as error:
        raise StorageError(f"tournament {code} cannot be read: {error}") from None
    ends = connection.execute("SELECT match, winner, reason FROM pairings WHERE tournament = ? AND is_over", (number,))
    players = {fact.player for fact in facts if isinstance(fact, Entered)}
    opened = facts[0]
    if isinstance(opened, Opened) and opened.organiser is not None:
        players.add(opened.organiser)
    names = connection.execute(
        "SELECT id, name FROM players WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(players)),)
    )
    return StoredTournament(code, facts, {match: (winner, reason) for match, winner, reason in ends}, dict(names))


# Moderation.


class SpokenLine(NamedTuple):
    """A line of chat in a report."""

    at_ms: int
    name: str
    text: str


class PlayerReport(NamedTuple):
    """A player's report of another."""

    number: int
    at_ms: int
    reporter: str
    reported: str
    reason: ReportReason
    text: str
    match: str | None
    lines: tuple[SpokenLine, ...]
    closed_ms: int | None
    """None while it is open."""
    closed_by: str
    note: str
    """The moderator's finding."""
    player: PlayerId
    """The number of the reported player."""
    weight: int
    """The weight of the report, 0 to 3; see `apply`."""


class Moderator(NamedTuple):
    """A moderator, appointed by the host."""

    name: str
    token_hash: bytes
    since_ms: int


_REPORTS = (
    "SELECT number, at_ms, one.name, other.name, reason, text, match, lines, closed_ms, closed_by, note, other.id,"
    " weight FROM reports JOIN players AS one ON one.id = reporter JOIN players AS other ON other.id = reported"
)


def read_reports(connection: sqlite3.Connection, has_closed: bool, most: int) -> list[PlayerReport]:
    """Return reports without their lines: open ones by weight, the oldest first, then the newest that were closed."""
    query = f"{_REPORTS} WHERE closed_ms IS NULL ORDER BY weight DESC, number LIMIT ?"
    rows = connection.execute(query, (most,)).fetchall()
    if has_closed and len(rows) < most:
        rows += connection.execute(
            f"{_REPORTS} WHERE closed_ms IS NOT NULL ORDER BY number DESC LIMIT ?", (most - len(rows),)
        ).fetchall()
    return [PlayerReport._make((*row[:7], (), *row[8:])) for row in rows]


def read_report(connection: sqlite3.Connection, number: int) -> PlayerReport:
    """Return a report by number. Raises `Refusal` if there is none."""
    row = connection.execute(f"{_REPORTS} WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise Refusal(Code.BAD_MESSAGE, f"there is no report {number}, or it was too old to keep")
    kept = json.loads(row[7])
    players = sorted({player for _, player, _ in kept})
    query = "SELECT id, name FROM players WHERE id IN (SELECT value FROM json_each(?))"
    names = dict(connection.execute(query, (json.dumps(players),)))
    lines = tuple(SpokenLine(at_ms, names[player], text) for at_ms, player, text in kept)
    return PlayerReport._make((*row[:7], lines, *row[8:]))


def reported_address(connection: sqlite3.Connection, player: PlayerId) -> str | None:
    """Return the keyed hash of a player's address at their latest report; None without one."""
    row = connection.execute(
        "SELECT address FROM reports WHERE reported = ? AND address <> '' ORDER BY at_ms DESC, number DESC LIMIT 1",
        (player,),
    ).fetchone()
    return None if row is None else str(row[0])


def read_moderators(connection: sqlite3.Connection) -> list[Moderator]:
    """Return all moderators, by name."""
    rows = connection.execute("SELECT name, token_hash, since_ms FROM moderators ORDER BY name_key")
    return [Moderator(*row) for row in rows]


def read_sanctions(connection: sqlite3.Connection) -> list[Sanction]:
    """Return all sanctions, with the current names of players."""
    rows = connection.execute(
        "SELECT act, whom, coalesce(name, shown), reason, since_ms, until_ms, player, by FROM sanctions"
        " LEFT JOIN players ON players.id = player"
    )
    return [Sanction(*row) for row in rows]


def read_notes(connection: sqlite3.Connection, last: int) -> list[AuditNote]:
    """Return the last notes of the audit log, oldest first, with the current names of players."""
    rows = connection.execute(
        "SELECT at_ms, act, coalesce(name, '') || what, player, by FROM audit LEFT JOIN players ON players.id = player"
        " ORDER BY audit.id DESC LIMIT ?",
        (last,),
    )
    return [AuditNote(*row) for row in reversed(rows.fetchall())]


_LEVEL = 6


def pack(facts: Sequence[bytes]) -> bytes:
    """Return events, each a line of JSON, as one value. Different builds of zlib may return different bytes."""
    return zlib.compress(b"\n".join(facts), _LEVEL)


def unpacked(fact: bytes) -> list[bytes]:
    """Return the events in a row of `facts`. Raises `zlib.error` if the row is damaged."""
    return [fact] if fact.startswith(b"{") else zlib.decompress(fact).split(b"\n")
