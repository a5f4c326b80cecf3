"""Answer queries about the past: profiles, histories, ratings, replays, records. Writes nothing.

Every answer and its cost are bounded, whatever the size of the journal.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from ttt_net import messages as wire
from ttt_net.clock import Speed, TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.matches.match import Match, MatchData, match_data, write_text
from ttt_net.messages import decode_event, encode
from ttt_net.ratings import Rating, aged
from ttt_net.server.journal.queries import (
    MatchesQuery,
    MatchHead,
    find_match,
    read_events,
    read_tournament,
    unpacked,
    with_names,
)
from ttt_net.server.players import NOBODY, PlayerId
from ttt_net.text import name_key
from ttt_net.tournaments.tournament import Terms, Tournament

PAGE = 20
MAX_RATINGS = 50
"""Ratings in a profile, the most played first."""
_MAX_DIGITS = 18
MAX_POSITIONS = 32
"""Positions in one answer; on the largest board they take 15 KB."""
MAX_EVENTS = 10_000
"""The maximal number of events of a match to replay; current matches end long before, see `matches.referee`."""
KEPT_BYTES = 8_000_000
"""The memory for recently requested records of finished matches."""
KEPT_EVENTS = 20_000
"""The total number of events in finished matches that are kept for further pages of a replay."""

MAX_TOURNAMENTS = 10
"""Tournaments in a profile."""
MAX_LOOKED_THROUGH = 30
"""The maximal number of tournaments to examine for these; private ones are shown only to their players."""
MAX_PAIRINGS = 3_000
"""The matches of all tournaments that one profile may read: about 60 ms. Tournaments in the cache cost none."""
KEPT_PLACES = 20_000
"""The total number of players in finished tournaments whose places are kept for further profiles."""
PAGE_EVENTS = 1_000
"""A page of matches ends after this many events: about 5 ms of reading, and 60 KB of text."""
PAGE_ROWS = 2_000
"""The maximal number of matches to examine for one page."""

_RESULTS = (
    "SELECT ended_ms, match FROM results WHERE player = ? AND is_private = ? AND (ended_ms, match) < (?, ?)"
    " ORDER BY ended_ms DESC, match DESC LIMIT ?"
)
_RESULTS_OF_GAME = _RESULTS.replace("player = ?", "player = ? AND game = ?")
_FINISHED = (
    "SELECT game, ended_ms, winner, reason, plies, time, is_rated, is_private, one.name, other.name, fact FROM matches"
    " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second"
    " JOIN facts ON facts.match = number AND seq = (SELECT min(seq) FROM facts WHERE match = number)"
    " WHERE matches.id = ?"
)


def profile(
    connection: sqlite3.Connection,
    kept: "KeptMatches",
    said: wire.ProfileRequest,
    asker: PlayerId,
    online: wire.PlayerInfo | None,
    live: list[str],
    now_ms: int,
) -> wire.ProfileReply:
    """Return a player's profile; `online` and `live` come from the server's memory."""
    player, name, bot = _player(connection, said.name, asker)
    since_ms, won, drawn, lost = connection.execute(
        "SELECT created_ms, won, drawn, lost FROM players WHERE id = ?", (player,)
    ).fetchone()
    rows = connection.execute(
        "SELECT game, speed, rating, deviation, volatility, games, rated_ms FROM ratings WHERE player = ?"
        " ORDER BY games DESC, game, speed LIMIT ?",
        (player, MAX_RATINGS),
    )
    ratings = [_rating_info(game, speed, aged(Rating(*values), now_ms)) for game, speed, *values in rows]
    against, blocked = None, None
    if player != asker:
        query = "SELECT 1 FROM blocks WHERE player = ? AND other = ? AND is_block"
        blocked = connection.execute(query, (asker, player)).fetchone()
        met = connection.execute(
            "SELECT won, drawn, lost FROM meetings WHERE player = ? AND opponent = ?", (asker, player)
        ).fetchone()
        against = wire.HeadToHead(*(met or (0, 0, 0)))
    info = online or wire.PlayerInfo(name, bot)
    is_online = online is not None
    return wire.ProfileReply(
        info,
        since_ms,
        is_online,
        won,
        drawn,
        lost,
        ratings,
        against,
        live,
        blocked=blocked is not None,
        tournaments=list(_tournaments(connection, kept, player, is_own=player == asker)),
    )


_LATEST_TOURNAMENT = (  # two searches of an index for each, however many matches a player has in it
    "SELECT number, id, opened_ms, closed_ms FROM tournaments WHERE number = (SELECT max(latest) FROM"
    " (SELECT max(tournament) AS latest FROM pairings WHERE first = :player AND tournament < :before"
    " UNION ALL SELECT max(tournament) FROM pairings WHERE second = :player AND tournament < :before))"
)
_PAIRINGS = "SELECT count(*), min(is_over) FROM pairings WHERE tournament = ?"


class TournamentPlaces(NamedTuple):
    """The terms of a tournament, and the place of each player."""

    terms: Terms
    places: dict[PlayerId, int]


def _tournaments(
    connection: sqlite3.Connection, kept: "KeptMatches", player: PlayerId, *, is_own: bool
) -> Iterable[wire.PlayedTournament]:
    """Yield the latest tournaments of a player, newest first; the private ones only to themselves."""
    before, pairings, found = 2**62, 0, 0
    for _ in range(MAX_LOOKED_THROUGH):
        row = connection.execute(_LATEST_TOURNAMENT, {"player": player, "before": before}).fetchone()
        if row is None or found == MAX_TOURNAMENTS:
            return
        before, code, opened_ms, closed_ms = row
        known = kept.places.get(before)
        if known is None:
            count, is_over = connection.execute(_PAIRINGS, (before,)).fetchone()
            pairings += count
            if pairings > MAX_PAIRINGS and found:
                return
            known = _places(connection, before, code)
            if closed_ms is not None and is_over:
                kept.places.put(before, known, len(known.places))
        terms, places = known
        if terms.private and not is_own:
            continue
        found += 1
        yield wire.PlayedTournament(
            tournament=code,
            name=terms.name,
            kind=terms.kind,
            game=terms.game,
            at_ms=opened_ms if closed_ms is None else closed_ms,
            place=places[player],
            players=len(places),
            over=closed_ms is not None,
            private=terms.private,
        )


def _places(connection: sqlite3.Connection, number: int, code: str) -> TournamentPlaces:
    stored = read_tournament(connection, number, code)
    tournament = Tournament.from_facts(code, stored.facts, stored.ends)
    places = {tournament.entrants[row.entrant].player: row.place for row in tournament.standings()}
    return TournamentPlaces(tournament.terms, places)


def blocks(connection: sqlite3.Connection, asker: PlayerId) -> wire.BlockList:
    """Return the players whom a player has muted or blocked, by current names."""
    found: tuple[list[str], list[str]] = ([], [])
    rows = connection.execute(
        "SELECT name, is_block FROM blocks JOIN players ON players.id = other WHERE player = ? ORDER BY number",
        (asker,),
    )
    for name, is_block in rows:
        found[is_block].append(name)
    muted, blocked = found
    everybody = "SELECT 1 FROM blocks WHERE player = ? AND other IS NULL"
    return wire.BlockList(blocked, muted, connection.execute(everybody, (asker,)).fetchone() is not None)


def mistakes(
    connection: sqlite3.Connection, said: wire.MistakesRequest, asker: PlayerId, today: str
) -> wire.MistakeList:
    """Return a page of a player's mistakes: those that are due, the longest due first, or all, the oldest first."""
    rows = connection.execute(
        "SELECT puzzle, text, due, times FROM mistakes WHERE player = ? AND (? OR (times < ? AND due <= ?))"
        " ORDER BY iif(?, '', due), number",
        (asker, said.all, wire.LEARNED, today, said.all),
    ).fetchall()
    first = (said.page - 1) * PAGE
    found = [
        wire.OwnMistake(msgspec.json.decode(puzzle, type=wire.OwnPuzzle), *rest)
        for puzzle, *rest in rows[first : first + PAGE]
    ]
    return wire.MistakeList(today, found, len(rows), said.page)


def _rating_info(game: str, speed: Speed, rating: Rating) -> wire.RatingInfo:
    return wire.RatingInfo(
        game, speed, rating.shown, round(rating.deviation), rating.games, provisional=rating.is_provisional
    )


def history(
    connection: sqlite3.Connection, name: str | None, game: str | None, before: str | None, asker: PlayerId
) -> wire.HistoryReply:
    """Return a page of a player's finished matches, newest first; the private ones only to themselves."""
    player, shown, bot = _player(connection, name, asker)
    kinds = (0, 1) if player == asker else (0,)
    page = _RESULTS_OF_GAME if game is not None else _RESULTS
    ended_ms, match = (2**62, "") if before is None else _cursor(before, "before")
    found: list[tuple[int, str]] = []
    for is_private in kinds:
        values = (player, *(() if game is None else (game,)), is_private, ended_ms, match, PAGE + 1)
        found += connection.execute(page, values)
    found.sort(reverse=True)
    shown_rows = found[:PAGE]
    next_page = "{}-{}".format(*shown_rows[-1]) if len(found) > PAGE else None
    matches = [_finished(connection, match) for _, match in shown_rows]
    return wire.HistoryReply(wire.PlayerInfo(shown, bot), matches, next_page)


def _cursor(cursor: str, name: str) -> tuple[int, str]:
    """Return the end and the id of the last match on the previous page."""
    ended_ms, _, match = cursor.partition("-")
    if not (ended_ms.isascii() and ended_ms.isdecimal() and len(ended_ms) <= _MAX_DIGITS):
        raise Refusal(Code.BAD_MESSAGE, f"`{name}` is what the page before this one gave, or left out")
    return int(ended_ms), match


def _finished(connection: sqlite3.Connection, match: str) -> wire.FinishedMatch:
    game, ended_ms, winner, reason, plies, time, is_rated, is_private, first, second, fact = connection.execute(
        _FINISHED, (match,)
    ).fetchone()
    started = decode_event(unpacked(fact)[0])
    assert isinstance(started, wire.Started)
    return wire.FinishedMatch(
        match=match,
        game=game,
        at_ms=ended_ms,
        players=with_names(started, first, second).players,
        winner=winner,
        reason=reason,
        plies=plies,
        time=None if time is None else msgspec.json.decode(time, type=TimeControl),
        rated=bool(is_rated),
        private=bool(is_private),
    )


def _player(connection: sqlite3.Connection, name: str | None, asker: PlayerId) -> tuple[PlayerId, str, str | None]:
    """Return the number, name and label of the named player, or of the asker."""
    if name is None:
        found = connection.execute("SELECT id, name, bot FROM players WHERE id = ?", (asker,)).fetchone()
    else:
        found = connection.execute("SELECT id, name, bot FROM players WHERE name_key = ?", (name_key(name),)).fetchone()
    if found is None:
        raise Refusal(Code.UNKNOWN_PLAYER, "no player here has that name")
    player, shown, bot = found
    return player, shown, bot


# Ratings.


_COUNTS = (
    "SELECT standing, ? * people + ? * bots FROM standings WHERE game = ? AND speed = ?"
    " AND ? * people + ? * bots > 0 ORDER BY standing DESC"
)
_LEADERS = (
    "SELECT name, bot, rating, deviation, volatility, games, rated_ms FROM ratings JOIN players ON id = player"
    " WHERE game = ? AND speed = ? AND standing <= ?{who} ORDER BY standing DESC, player LIMIT ? OFFSET ?"
)
_LEADING_BOTS = (  # few players are bots, so only standings with bots are examined
    "SELECT name, bot, rating, deviation, volatility, games, rated_ms FROM standings CROSS JOIN ratings"
    " ON ratings.game = standings.game AND ratings.speed = standings.speed AND ratings.standing = +standings.standing"
    " JOIN players ON id = player WHERE standings.game = ? AND standings.speed = ? AND standings.standing <= ?"
    " AND bots > 0{who} ORDER BY standings.standing DESC, player LIMIT ? OFFSET ?"
)
_BEFORE_IN_STANDING = "SELECT count(*) FROM ratings WHERE game = ? AND speed = ? AND standing = ? AND player < ?{who}"
_PEOPLE, _BOTS = " AND NOT is_bot", " AND is_bot"
_MINE = "SELECT standing, is_bot FROM ratings WHERE player = ? AND game = ? AND speed = ?"


def leaderboard(
    connection: sqlite3.Connection, said: wire.LeaderboardRequest, game: str, asker: PlayerId, now_ms: int
) -> wire.LeaderboardReply:
    """Return a page of the ratings at a game and speed, and the asker's rank.

    Its cost grows with the number of different standings (at most some thousand) and of players who share one, not with
    the number of ratings.
    """
    if not said.people and not said.bots:
        raise Refusal(Code.BAD_MESSAGE, "a list of ratings has people, bots or both; `people` and `bots` are false")
    listed = (said.people, said.bots)
    counts = connection.execute(_COUNTS, (*listed, game, said.speed, *listed)).fetchall()
    total = sum(count for _, count in counts)
    skipped = (said.page - 1) * PAGE
    leaders: list[wire.Leader] = []
    if skipped < total:
        standing, before = _standing_at(counts, skipped)
        rows = connection.execute(
            (_LEADERS if said.people else _LEADING_BOTS).format(who=_listed(said)),
            (game, said.speed, standing, PAGE, skipped - before),
        )
        leaders = [_leader(skipped + number, row, now_ms) for number, row in enumerate(rows, 1)]
    pages = max(1, -(-total // PAGE))
    you = _rank(connection, said, game, asker, counts)
    return wire.LeaderboardReply(game, said.speed, said.page, pages, leaders, you)


def _listed(said: wire.LeaderboardRequest) -> str:
    return ("" if said.bots else _PEOPLE) + ("" if said.people else _BOTS)


def _standing_at(counts: Sequence[tuple[int, int]], place: int) -> tuple[int, int]:
    """Return the standing of the player with `place` others before them, and how many players have a higher one."""
    before = 0
    for standing, count in counts:
        if place < before + count:
            return standing, before
        before += count
    raise AssertionError("the place is on the list")


def _rank(
    connection: sqlite3.Connection,
    said: wire.LeaderboardRequest,
    game: str,
    asker: PlayerId,
    counts: Sequence[tuple[int, int]],
) -> int | None:
    mine = connection.execute(_MINE, (asker, game, said.speed)).fetchone()
    if mine is None or not (said.bots if mine[1] else said.people):
        return None
    (beside,) = connection.execute(
        _BEFORE_IN_STANDING.format(who=_listed(said)), (game, said.speed, mine[0], asker)
    ).fetchone()
    return 1 + sum(count for standing, count in counts if standing > mine[0]) + int(beside)


def _leader(rank: int, row: Sequence[object], now_ms: int) -> wire.Leader:
    name, bot, *values = row
    rating = aged(Rating(*values), now_ms)  # type: ignore[arg-type]
    player = wire.PlayerInfo(str(name), None if bot is None else str(bot), None, rating.shown, rating.is_provisional)
    return wire.Leader(rank, player, rating.games, round(rating.deviation))


# Matches.

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class BoundedCache(Generic[_K, _V]):
    """A cache of the most recently used values, up to a total weight."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.weight = 0
        """The total weight of all values."""
        self._values: OrderedDict[_K, tuple[_V, int]] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        """Return a cached value."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: _K, value: _V, weight: int) -> None:
        """Cache a value, and drop others for it; a value that is too heavy is not cached."""
        if key in self._values or weight > self.most:
            return
        self._values[key] = value, weight
        self.weight += weight
        while self.weight > self.most:
            self.weight -= self._values.popitem(last=False)[1][1]


class PastAnswer(NamedTuple):
    """The reply to a query, and its encoding."""

    message: wire.AnyServerMessage
    data: bytes

    @classmethod
    def of(cls, message: wire.AnyServerMessage) -> "PastAnswer":
        """Return a message with its encoding."""
        return cls(message, encode(message))


class KeptMatches:
    """A cache of records of finished matches and places in finished tournaments, which do not change any more.

    The key of a match is the whole `MatchHead`: with a new name of a player, or another event, the record differs.
    """

    def __init__(self) -> None:
        self.records: BoundedCache[MatchHead, PastAnswer] = BoundedCache(KEPT_BYTES)
        self.matches: BoundedCache[MatchHead, Match] = BoundedCache(KEPT_EVENTS)
        self.places: BoundedCache[int, TournamentPlaces] = BoundedCache(KEPT_PLACES)


class ArchivedMatch(NamedTuple):
    """A finished match, for watching it again."""

    seats: tuple[PlayerId, PlayerId]
    match: Match


def finished(connection: sqlite3.Connection, match_id: str) -> ArchivedMatch:
    """Return a finished match, public or private. Raises `Refusal` if it does not exist or is not finished."""
    head = find_match(connection, match_id)
    if not head.is_over:
        raise Refusal(Code.NOT_FINISHED, f"match {match_id} is still being played")
    _check_size(head)
    return ArchivedMatch(head.seats, Match.from_events(read_events(connection, head)))


def replay(
    connection: sqlite3.Connection, kept: KeptMatches, said: wire.ReplayRequest, asker: PlayerId, is_heard: bool
) -> wire.ReplayReply:
    """Return positions of a match, from `said.ply` on."""
    head = _past_match(connection, said.match, asker, is_heard=is_heard)
    match = kept.matches.get(head)
    if match is None:
        match = Match.from_events(read_events(connection, head))
        if head.is_over:
            kept.matches.put(head, match, head.events)
    last = len(match.moves)
    if said.ply > last:
        raise Refusal(Code.STALE_PLY, f"match {match.id} has {last} plies; ask from 0 to {last}")
    positions = match.positions(said.ply, MAX_POSITIONS, has_legal=said.legal and head.is_over)
    starts = match.starts(said.ply, MAX_POSITIONS)
    return wire.ReplayReply(match.id, said.ply, positions, last, starts)


def record(connection: sqlite3.Connection, kept: KeptMatches, said: wire.RecordRequest, asker: PlayerId) -> PastAnswer:
    """Return a finished match as a text."""
    head = _past_match(connection, said.match, asker, is_heard=False)
    answer = kept.records.get(head)
    if answer is None:
        text = write_text(match_data(read_events(connection, head)))
        answer = PastAnswer.of(wire.RecordReply(head.id, text))
        kept.records.put(head, answer, len(text) + len(answer.data))
    return answer


def data_of_match(connection: sqlite3.Connection, match_id: str) -> MatchData:
    """Return a finished public match as data. Raises `Refusal` if it is none."""
    return match_data(read_events(connection, _past_match(connection, match_id, NOBODY, is_heard=False)))


class MatchPage(NamedTuple):
    """A page of finished matches, and the cursor of the next page; None if this is the last one for now."""

    matches: list[MatchData]
    after: str | None


_ALL = (
    "SELECT id, ended_ms, game, is_rated, is_private FROM matches WHERE is_over AND ended_ms >= ?"
    " AND (ended_ms > ? OR number > ?) ORDER BY ended_ms, number LIMIT ?"
)
_OF_PLAYER = (
    "SELECT match, results.ended_ms, results.game, is_rated, results.is_private FROM results"
    " JOIN matches ON matches.id = match WHERE player = ?{game} AND results.is_private = 0"
    " AND (results.ended_ms, match) > (?, ?) ORDER BY results.ended_ms, match LIMIT ?"
)


def matches(connection: sqlite3.Connection, query: MatchesQuery, most_events: int = PAGE_EVENTS) -> MatchPage:
    """Return a page of finished public matches. Raises `Refusal` if the player is unknown or the cursor invalid."""
    found: list[MatchData] = []
    events, after = 0, None
    rows = _finished_after(connection, query)
    for number, (match_id, ended_ms, game, is_rated, is_private) in enumerate(rows):
        if number == PAGE_ROWS or len(found) == query.most or events >= most_events:
            return MatchPage(found, after)
        after = f"{ended_ms}-{match_id}"
        if is_private or query.game not in (None, game) or query.is_rated not in (None, bool(is_rated)):
            continue
        head = find_match(connection, match_id)
        if head.events <= MAX_EVENTS:
            events += head.events
            found.append(match_data(read_events(connection, head)))
    return MatchPage(found, None)


def _finished_after(connection: sqlite3.Connection, query: MatchesQuery) -> Iterable[tuple[str, int, str, bool, bool]]:
    """Return the id, end, game, rated flag and private flag of the matches after a cursor, one more than a page."""
    ended_ms, match_id = (query.since_ms, "") if query.after is None else _cursor(query.after, "after")
    if ended_ms < query.since_ms:
        ended_ms, match_id = query.since_ms, ""
    if query.player is not None:
        player, _, _ = _player(connection, query.player, NOBODY)
        values = (player, *(() if query.game is None else (query.game,)), ended_ms, match_id, PAGE_ROWS + 1)
        return connection.execute(_OF_PLAYER.format(game="" if query.game is None else " AND results.game = ?"), values)
    at = connection.execute("SELECT number FROM matches WHERE id = ?", (match_id,)).fetchone()
    return connection.execute(_ALL, (ended_ms, ended_ms, at[0] if at else 0, PAGE_ROWS + 1))


def _past_match(connection: sqlite3.Connection, match_id: str, asker: PlayerId, *, is_heard: bool) -> MatchHead:
    """Return the head of a match that `asker` may replay."""
    head = find_match(connection, match_id)
    if head.is_private and not is_heard and asker not in head.seats:
        raise Refusal(Code.NOT_PUBLIC, "that match is private, and only its players may see it")
    if not head.is_over and not is_heard:
        raise Refusal(Code.NOT_FINISHED, f"match {match_id} is still being played; say watch to see it")
    _check_size(head)
    return head


def _check_size(head: MatchHead) -> None:
    if head.events > MAX_EVENTS:
        sentence = f"match {head.id} has {head.events:,} events, and at most {MAX_EVENTS:,} can be read; ask its host"
        raise Refusal(Code.BUSY, sentence)
