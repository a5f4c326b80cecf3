"""Apply one entry to the journal's tables: the only code that writes there, besides conversions of older files.

The result depends only on the entry and the tables: nothing here reads a clock, uses randomness or knows threads. An
invalid entry raises `Refusal`, or an error of SQLite, whose triggers enforce invariants too (events are numbered
without gaps, a match is counted once). The caller then rolls back.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, assert_never

import msgspec

from ttt_net.clock import Speed, TimeControl, speed
from ttt_net.errors import Code, Overtaken, Refusal
from ttt_net.games import Reason
from ttt_net.messages import LEARNED, Ended, MatchEvent, Played, RatingChange, Started, Tookback, decode_event, encode
from ttt_net.ratings import PROVISIONAL_STANDING, SETTLING_OPPONENTS, Rating, rated
from ttt_net.server.admission.sanctions import Act, of_player
from ttt_net.server.journal import entries
from ttt_net.server.journal.entries import AnyEntry, AppendEvents, AuditNote, Changes, UnsettleRatings
from ttt_net.server.journal.queries import blocks_of, pack, unfinished_of, unpacked
from ttt_net.server.journal.schema import SCHEMA_VERSION
from ttt_net.server.players import FORGOTTEN, Blocks, Player, PlayerId, still_playing
from ttt_net.tournaments.tournament import AnyFact, Closed, Opened

MAX_NOTES = 100_000
"""The maximal number of notes in the audit log; the oldest are deleted."""
FULL_QUEUE_MS = 3_600_000
"""The wait before a report that found no room may be sent again."""
SEEN_MS = 3_600_000
"""The minimal time between two recorded visits of a guest."""
_SCORES = {0: 1.0, None: 0.5, 1: 0.0}
"""The score of the first player, by the winner."""
_UNRATED = (Reason.ABORT.value, Reason.FORFEIT.value)
"""Reasons of ends that do not count as played."""
_MARK = "UPDATE matches SET is_over = 1, ended_ms = ?, winner = ?, reason = ?, plies = ? WHERE id = ? AND NOT is_over"
"""Marks a match as over, which triggers count for both players."""
_APPEND = "INSERT INTO facts (match, seq, fact) VALUES ((SELECT number FROM matches WHERE id = ?), ?, ?)"


def apply(connection: sqlite3.Connection, entry: AnyEntry) -> object:
    """Carry out the entry, and return the result that its class documents.

    Raises `Refusal` or `sqlite3.Error` if it is rejected or fails. Then the transaction must be rolled back, unless
    nothing was changed. The caller begins and commits; a plain event needs no transaction.
    """
    match entry:
        case AppendEvents():
            return append_events(connection, [entry])[0]
        case entries.RegisterPlayer():
            return _register(connection, entry)
        case entries.LabelBot():
            _label(connection, entry)
        case entries.RenamePlayer():
            _rename(connection, entry)
        case entries.ForgetPlayer():
            _forget_idle(connection, entry)
        case entries.SeeGuest():
            _see(connection, entry)
        case entries.KeepInvitation():
            _keep_invitation(connection, entry)
        case entries.ImposeSanction():
            _impose(connection, entry)
        case entries.LiftSanction():
            _lift(connection, entry)
        case entries.WriteNote():
            _write_note(connection, entry.note)
        case entries.SetBlock():
            return _set_block(connection, entry)
        case entries.FileReport():
            return _file_report(connection, entry)
        case entries.KeepMistake():
            _keep_mistake(connection, entry)
        case entries.CloseReport():
            _close_report(connection, entry)
        case entries.CloseReports():
            return _close_reports(connection, entry)
        case entries.AppointModerator():
            _appoint(connection, entry)
        case entries.DismissModerator():
            _dismiss(connection, entry)
        case entries.AppendTournament():
            _append_facts(connection, entry.tournament, entry.seq, entry.facts)
        case entries.BeginBoards():
            _begin_boards(connection, entry)
        case entries.ForgetMatches():
            return _forget_matches(connection, entry)
        case entries.ForgetGuests():
            return _forget_guests(connection, entry)
        case entries.ForgetSanctions():
            return _forget_sanctions(connection, entry)
        case entries.ForgetReports():
            return _forget_oldest(connection, "reports", "number", entry.before_ms, entry.most)
        case entries.ForgetNotes():
            return _forget_oldest(connection, "audit", "id", entry.before_ms, entry.most)
        case entries.PackMatches():
            return _pack_matches(connection, entry)
        case entries.UnsettleRatings():
            return unsettle_ratings(connection, entry)
        case entries.Probe():
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        case _:
            assert_never(entry)
    return None


# Matches: their events, and results and ratings at the end.


def append_event(connection: sqlite3.Connection, event: MatchEvent) -> None:
    """Append an event that neither starts nor ends its match: one statement."""
    connection.execute(_APPEND, _row(event))


def _row(event: MatchEvent) -> tuple[str, int, bytearray]:
    """Return the values of `_APPEND`.

    The event is a `bytearray`, because `sqlite3` spends half a microsecond on looking for an adapter of `bytes`.
    """
    return event.match, event.seq, bytearray(encode(event))


def append_events(connection: sqlite3.Connection, appends: Sequence[AppendEvents]) -> list[Changes | None]:
    """Apply many of these entries with one statement for each table that they touch; return their results.

    The result is the same as one by one. A thread waits for the interpreter's lock after every statement, so a few long
    statements are much faster than many short ones.
    """
    started, rows = [], []
    ends: dict[str, Ended] = {}
    plies: dict[str, int] = {}
    for append in appends:
        before: MatchEvent | None = None
        for event in append.events:
            rows.append(_row(event))
            if type(event) is Started:  # `isinstance` calls the metaclass of structs, which takes half a microsecond
                assert append.seats is not None, "a match starts with its seats"
                started.append((event.match, *append.seats, event.at_ms, *_kind(event)))
                if event.code is not None and event.previous is None:
                    connection.execute("DELETE FROM invitations WHERE code = ?", (event.code,))
            elif type(event) is Ended:
                ends.setdefault(event.match, event)  # a match has one end
                if type(before) is Played and before.match == event.match:
                    plies.setdefault(event.match, before.ply)
            before = event
    if started:
        connection.executemany(
            "INSERT INTO matches (id, first, second, started_ms, game, time, is_rated, is_private)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            started,
        )
    connection.executemany(_APPEND, rows)
    if not ends:
        return [None] * len(appends)
    changes = _end(connection, ends, plies)
    told = {id(ends[match]): change for match, change in changes.items()}  # only to the author of that end
    return [next((told[id(each)] for each in append.events if id(each) in told), None) for append in appends]


def _kind(started: Started) -> tuple[str, str | None, bool, bool]:
    time = None if started.time is None else encode(started.time).decode()
    return started.game, time, started.rated, started.private


def _plies(connection: sqlite3.Connection, end: Ended) -> int:
    """Return the number of moves at the end of a match, without take-backs, from its latest event."""
    newest = connection.execute(
        "SELECT fact FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?) AND seq < ? ORDER BY seq DESC",
        (end.match, end.seq),
    )
    for (kept,) in newest:
        for fact in reversed(unpacked(kept)):
            event = decode_event(fact)
            if isinstance(event, Played | Tookback):
                return event.ply
    return 0


def _end(connection: sqlite3.Connection, ends: Mapping[str, Ended], plies: Mapping[str, int]) -> dict[str, Changes]:
    """Mark matches as over, and rate the rated ones in the order of their ends; return the changes by match.

    `plies` are the numbers of moves of those that a move ended; those of the others are read.

    A match is rated only while it is marked as live, so never twice. Each end is counted before the next is rated,
    because a rating depends on the player's previous opponents.
    """
    rows = _rated_matches(connection, ends)
    marks = [
        (each.at_ms, each.winner, each.reason, plies.get(each.match) or _plies(connection, each), each.match)
        for each in ends.values()
    ]
    if not rows:
        connection.executemany(_MARK, marks)
        return {}
    changes: dict[str, Changes] = {}
    for (match, result), mark in zip(ends.items(), marks, strict=True):
        if match in rows:
            game, time, *players = rows[match]
            control = None if time is None else msgspec.json.decode(time, type=TimeControl)
            changes[match] = _rate_match(connection, result, game, speed(control), players)
        connection.execute(_MARK, mark)
    return changes


def _rated_matches(connection: sqlite3.Connection, ends: Mapping[str, Ended]) -> dict[str, Sequence[Any]]:
    """Return the game, time and players of each rated match with a rated result."""
    results = [match for match, end in ends.items() if end.reason not in _UNRATED]
    return {
        match: row
        for match, *row in connection.execute(
            "SELECT matches.id, game, time, first, one.bot IS NOT NULL, second, other.bot IS NOT NULL FROM matches"
            " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second"
            " WHERE matches.id IN (SELECT value FROM json_each(?)) AND is_rated AND NOT is_over"
            " AND one.token_hash IS NOT NULL AND other.token_hash IS NOT NULL",
            (json.dumps(results),),
        )
    }


def _rate_match(
    connection: sqlite3.Connection, result: Ended, game: str, at_speed: Speed, players: Sequence[int]
) -> Changes:
    """Rate one match; `players` are (player, is a bot) by side."""
    first, first_is_bot, second, second_is_bot = players
    before = [_rating(connection, player, game, at_speed) for player in (first, second)]
    met = _met(connection, first, second), _met(connection, second, first)
    after = rated(before[0], before[1], _SCORES[result.winner], result.at_ms, met)
    connection.executemany(
        "INSERT INTO ratings"
        " (player, game, speed, rating, deviation, volatility, games, rated_ms, is_bot, standing, settled_until_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET rating = excluded.rating, deviation = excluded.deviation,"
        " volatility = excluded.volatility, games = excluded.games, rated_ms = excluded.rated_ms,"
        " is_bot = excluded.is_bot, standing = excluded.standing, settled_until_ms = excluded.settled_until_ms",
        [
            (player, game, at_speed, *rating, is_bot, rating.standing, rating.settled_until_ms)
            for player, rating, is_bot in ((first, after[0], first_is_bot), (second, after[1], second_is_bot))
        ],
    )
    one, other = (
        RatingChange(old.shown, new.shown, new.is_provisional) for old, new in zip(before, after, strict=True)
    )
    return one, other


def _met(connection: sqlite3.Connection, player: PlayerId, opponent: PlayerId) -> int:
    """Return the number of opponents of a player, including this one; at most `SETTLING_OPPONENTS`."""
    (others,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM meetings WHERE player = ? AND opponent <> ? LIMIT ?)",
        (player, opponent, SETTLING_OPPONENTS - 1),
    ).fetchone()
    return 1 + int(others)


def _rating(connection: sqlite3.Connection, player: PlayerId, game: str, at_speed: Speed) -> Rating:
    row = connection.execute(
        "SELECT rating, deviation, volatility, games, rated_ms FROM ratings"
        " WHERE player = ? AND game = ? AND speed = ?",
        (player, game, at_speed),
    ).fetchone()
    return Rating() if row is None else Rating(*row)


def unsettle_ratings(connection: sqlite3.Connection, entry: UnsettleRatings) -> list[tuple[PlayerId, str, str]]:
    """Sort ratings that time has made provisional after settled ones; return their players, games and speeds."""
    stale = connection.execute(
        "SELECT player, game, speed FROM ratings WHERE settled_until_ms < ?"
        " ORDER BY settled_until_ms, player, game, speed LIMIT ?",
        (entry.at_ms, entry.most),
    ).fetchall()
    connection.executemany(  # which the triggers count
        "UPDATE ratings SET standing = standing + ?, settled_until_ms = NULL"
        " WHERE player = ? AND game = ? AND speed = ?",
        [(PROVISIONAL_STANDING, *key) for key in stale],
    )
    return stale


# Tournaments. A trigger stores the end of a match in its row of `pairings`, so results need no further writes.


def _append_facts(connection: sqlite3.Connection, code: str, seq: int, facts: Sequence[AnyFact]) -> int:
    """Append facts to a tournament, and return its number. Raises `Overtaken` if `seq` is not its next number."""
    if isinstance(facts[0], Opened):
        known = connection.execute("SELECT 1 FROM tournaments WHERE id = ?", (code,)).fetchone()
        if known is not None:
            raise Overtaken
        row = connection.execute(
            "INSERT INTO tournaments (id, opened_ms) VALUES (?, ?) RETURNING number", (code, facts[0].at_ms)
        ).fetchone()
    else:
        row = connection.execute("SELECT number FROM tournaments WHERE id = ?", (code,)).fetchone()
        if row is None:
            raise Refusal(Code.UNKNOWN_TOURNAMENT, f"no tournament has the code {code}")
    number = int(row[0])
    (last,) = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM tournament_facts WHERE tournament = ?", (number,)
    ).fetchone()
    if seq != last + 1:
        raise Overtaken
    rows = [(number, seq + offset, msgspec.json.encode(fact)) for offset, fact in enumerate(facts)]
    connection.executemany("INSERT INTO tournament_facts (tournament, seq, fact) VALUES (?, ?, ?)", rows)
    if isinstance(facts[-1], Closed):
        connection.execute("UPDATE tournaments SET closed_ms = ? WHERE number = ?", (facts[-1].at_ms, number))
    return number


def _begin_boards(connection: sqlite3.Connection, entry: entries.BeginBoards) -> None:
    row = connection.execute(
        "SELECT number, (SELECT coalesce(max(round), 0) FROM pairings WHERE tournament = number),"
        " (SELECT coalesce(max(seq), 0) FROM tournament_facts WHERE tournament = number)"
        " FROM tournaments WHERE id = ? AND closed_ms IS NULL",
        (entry.tournament,),
    ).fetchone()
    if row is None:
        raise Refusal(Code.TOURNAMENT_OVER, "that tournament is over")
    number, newest, seq = row
    query = "SELECT first, second FROM pairings WHERE tournament = ? AND NOT is_over"
    playing = {player for pair in connection.execute(query, (number,)) for player in pair}
    seats = [player for start in entry.starts for player in start.seats or ()]
    is_next_round = entry.began.round > newest
    if seq + 1 != entry.seq or len(set(seats)) < len(seats) or (playing if is_next_round else playing & set(seats)):
        raise Overtaken
    _append_facts(connection, entry.tournament, entry.seq, [entry.began])
    append_events(connection, entry.starts)
    boards = {board.match: board.board for board in entry.began.boards}
    connection.executemany(
        "INSERT INTO pairings (match, tournament, round, board, first, second) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (start.events[0].match, number, entry.began.round, boards[start.events[0].match], *start.seats)
            for start in entry.starts
            if start.seats is not None
        ],
    )


# Players.


def _register(connection: sqlite3.Connection, entry: entries.RegisterPlayer) -> Player:
    if not _is_taken(connection, entry.name_key, entry.looks, None):
        inserted = connection.execute(
            "INSERT INTO players (name, name_key, token_hash, bot, created_ms, is_guest, seen_ms)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (token_hash) DO NOTHING",
            (entry.name, entry.name_key, entry.token_hash, entry.bot, entry.at_ms, entry.is_guest, entry.at_ms),
        )
        if inserted.rowcount:
            player = inserted.lastrowid
            assert player is not None, "a row was inserted"
            _write_looks(connection, player, entry.looks)
            return Player(player, entry.name, is_guest=entry.is_guest, bot=entry.bot)
    known = connection.execute("SELECT id, name FROM players WHERE token_hash = ?", (entry.token_hash,)).fetchone()
    if known is None:
        raise _taken(entry.name)
    return Player(*known)


def _label(connection: sqlite3.Connection, entry: entries.LabelBot) -> None:
    _refuse_forgotten(connection, entry.player)
    connection.execute("UPDATE players SET bot = ? WHERE id = ?", (entry.bot, entry.player))


def _rename(connection: sqlite3.Connection, entry: entries.RenamePlayer) -> None:
    _refuse_forgotten(connection, entry.player)
    if _is_taken(connection, entry.name_key, entry.looks, entry.player):
        raise _taken(entry.name)
    connection.execute("DELETE FROM looks WHERE player = ?", (entry.player,))
    _write_looks(connection, entry.player, entry.looks)
    connection.execute(
        "UPDATE players SET name = ?, name_key = ?, is_guest = 0 WHERE id = ?",
        (entry.name, entry.name_key, entry.player),
    )


def _refuse_forgotten(connection: sqlite3.Connection, player: PlayerId) -> None:
    """Raise `Refusal` if the player is deleted: they may have sent `forget` just before."""
    known = connection.execute("SELECT token_hash FROM players WHERE id = ?", (player,)).fetchone()
    if known == (None,):
        raise Refusal(Code.UNKNOWN_PLAYER, "you are forgotten here; say hello with a name")


def _is_taken(connection: sqlite3.Connection, name_key: str, looks: Sequence[str], player: PlayerId | None) -> bool:
    """Tell whether another player has this name, or one that looks like it."""
    alike = connection.execute(
        "SELECT 1 FROM players WHERE name_key = ? AND id IS NOT ? UNION ALL"  # noqa: S608 - question marks
        f" SELECT 1 FROM looks WHERE look IN ({', '.join('?' * len(looks))}) AND player IS NOT ? LIMIT 1",
        (name_key, player, *looks, player),
    )
    return alike.fetchone() is not None


def _taken(name: str) -> Refusal:
    return Refusal(Code.NAME_TAKEN, f"another player here is called {name}, or so much like it; choose another")


def _write_looks(connection: sqlite3.Connection, player: PlayerId, looks: Sequence[str]) -> None:
    connection.executemany("INSERT INTO looks (look, player) VALUES (?, ?)", [(look, player) for look in looks])


def _forget_idle(connection: sqlite3.Connection, entry: entries.ForgetPlayer) -> None:
    unfinished = unfinished_of(connection, entry.player)
    if unfinished:
        raise still_playing(len(unfinished))
    _forget(connection, entry.player, entry.token_key)


def _forget(connection: sqlite3.Connection, player: PlayerId, token_key: str | None = None) -> None:
    """Delete the player's name, token and ratings; their matches keep their number."""
    connection.execute(
        "UPDATE players SET name = ?, name_key = NULL, token_hash = NULL, bot = NULL, is_guest = 0, created_ms = 0,"
        " seen_ms = 0 WHERE id = ?",
        (FORGOTTEN, player),
    )
    connection.execute("DELETE FROM looks WHERE player = ?", (player,))
    connection.execute("DELETE FROM ratings WHERE player = ?", (player,))
    connection.execute("DELETE FROM invitations WHERE player = ?", (player,))
    connection.execute("DELETE FROM blocks WHERE player = ? OR other = ?", (player, player))
    connection.execute("DELETE FROM mistakes WHERE player = ?", (player,))
    own = of_player(player)
    if token_key is None:
        connection.execute("DELETE FROM sanctions WHERE player = ? AND whom = ?", (player, own))
    else:
        connection.execute("UPDATE sanctions SET whom = ? WHERE player = ? AND whom = ?", (token_key, player, own))


def _see(connection: sqlite3.Connection, entry: entries.SeeGuest) -> None:
    connection.execute(
        "UPDATE players SET seen_ms = ? WHERE id = ? AND seen_ms < ?",
        (entry.at_ms, entry.player, entry.at_ms - SEEN_MS),
    )


def _keep_invitation(connection: sqlite3.Connection, entry: entries.KeepInvitation) -> None:
    invitation = entry.invitation
    connection.execute("DELETE FROM invitations WHERE expires_ms <= ?", (entry.at_ms,))
    time = None if invitation.time is None else encode(invitation.time).decode()
    connection.execute(
        "INSERT OR REPLACE INTO invitations (player, code, game, time, expires_ms, side, start)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            invitation.by,
            invitation.code,
            invitation.game,
            time,
            invitation.expires_ms,
            invitation.side,
            invitation.start,
        ),
    )


def _set_block(connection: sqlite3.Connection, entry: entries.SetBlock) -> Blocks:
    _refuse_forgotten(connection, entry.player)
    known = connection.execute("SELECT token_hash FROM players WHERE id = ?", (entry.other,)).fetchone()
    if entry.on and entry.other is not None and known in (None, (None,)):
        raise Refusal(Code.UNKNOWN_PLAYER, "nobody here is called that any more")
    blocks = blocks_of(connection, entry.player)
    is_block = entry.act == "block"
    if entry.on:
        if entry.other not in blocks and len(blocks) >= entry.most:
            _drop_oldest_mute(connection, entry.player, len(blocks))
        connection.execute(
            "INSERT INTO blocks (player, other, is_block) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET is_block = max(is_block, excluded.is_block)",
            (entry.player, entry.other, is_block),
        )
    elif blocks.get(entry.other) and not is_block:
        raise Refusal(Code.BLOCKED, "you have blocked that player; end the block to receive their messages")
    elif blocks.get(entry.other) == is_block:
        connection.execute("DELETE FROM blocks WHERE player = ? AND other IS ?", (entry.player, entry.other))
    return blocks_of(connection, entry.player)


def _drop_oldest_mute(connection: sqlite3.Connection, player: PlayerId, count: int) -> None:
    """Delete the oldest mute of a player. Raises `Refusal` if there are blocks only."""
    dropped = connection.execute(
        "DELETE FROM blocks WHERE number = (SELECT min(number) FROM blocks"
        " WHERE player = ? AND NOT is_block AND other IS NOT NULL)",
        (player,),
    )
    if not dropped.rowcount:
        raise Refusal(Code.TOO_MANY_BLOCKED, f"you have blocked {count} players; unblock one first")


OPEN_BY_WEIGHT = (2, 5, 10, 20)
"""The maximal number of open reports by one player, by the weight of their reports."""
LIGHT, OPEN_OF_NETWORK = 2, 20
"""The maximal number of open reports below a weight by the players of one network."""
KNOWN_MS = 86_400_000
"""The minimal age and number of finished matches of an account that counts as known."""
KNOWN_MATCHES = 10
MADE_ROOM = "closed to make room for a report by a player who is better known here"
MOST_REPORTED, MOST_LINES = 2_000, 100
"""The maximal characters of text and lines of chat in merged reports of the same player and match."""


def _file_report(connection: sqlite3.Connection, entry: entries.FileReport) -> int:
    _refuse_forgotten(connection, entry.reporter)
    known = connection.execute("SELECT token_hash FROM players WHERE id = ?", (entry.reported,)).fetchone()
    if known in (None, (None,)):
        raise Refusal(Code.UNKNOWN_PLAYER, "nobody here is called that any more")
    open_before = connection.execute(
        "SELECT number, text, lines, address FROM reports"
        " WHERE reporter = ? AND reported = ? AND match IS ? AND closed_ms IS NULL",
        (entry.reporter, entry.reported, entry.match),
    ).fetchone()
    lines = json.dumps(entry.lines)
    if open_before is not None:
        number, text_before, lines_before, address_before = open_before
        texts = [text_before, *([entry.text] if entry.text not in text_before.split("\n") else [])]
        kept = sorted({tuple(line) for line in (*json.loads(lines_before), *json.loads(lines))})
        connection.execute(
            "UPDATE reports SET at_ms = ?, reason = ?, text = ?, lines = ?, address = ? WHERE number = ?",
            (
                entry.at_ms,
                entry.reason,
                "\n".join(filter(None, texts))[-MOST_REPORTED:],
                json.dumps(kept[-MOST_LINES:]),
                entry.address or address_before,
                number,
            ),
        )
        return int(number)
    weight = 1
    if entry.network is not None:
        weight = _weight(connection, entry)
        _refuse_too_many(connection, entry, weight, entry.network)
    (count,) = connection.execute("SELECT count(*) FROM reports WHERE closed_ms IS NULL").fetchone()
    if count >= entry.most and not (entry.network is not None and _made_room(connection, entry.at_ms, weight)):
        raise Refusal(Code.TOO_FAST, "the host has as many reports to look at as there may be", FULL_QUEUE_MS)
    (number,) = connection.execute(
        "INSERT INTO reports"
        " (at_ms, reporter, reported, reason, text, match, lines, address, closed_by, note, weight, network)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', '', ?, ?) RETURNING number",
        (
            entry.at_ms,
            entry.reporter,
            entry.reported,
            entry.reason,
            entry.text,
            entry.match,
            lines,
            entry.address,
            weight,
            entry.network or "",
        ),
    ).fetchone()
    return int(number)


def _weight(connection: sqlite3.Connection, entry: entries.FileReport) -> int:
    """Return how much a report counts, 0 to 3.

    One point each for an account older than a day, ten finished matches, and a match with the reported player.
    """
    reporter = connection.execute(
        "SELECT is_guest, created_ms, won + drawn + lost FROM players WHERE id = ?", (entry.reporter,)
    ).fetchone()
    if reporter is None:
        return 0  # a stranger, whose report the tables reject
    is_guest, created_ms, finished = reporter
    pair = (entry.reporter, entry.reported)
    has_met = connection.execute(
        "SELECT 1 FROM meetings WHERE player = ? AND opponent = ? UNION ALL"
        " SELECT 1 FROM matches WHERE NOT is_over AND first = ? AND second = ? UNION ALL"
        " SELECT 1 FROM matches WHERE NOT is_over AND second = ? AND first = ? LIMIT 1",
        pair * 3,
    ).fetchone()
    is_known = not is_guest and entry.at_ms - created_ms >= KNOWN_MS
    return int(is_known) + int(finished >= KNOWN_MATCHES) + int(has_met is not None)


def _refuse_too_many(connection: sqlite3.Connection, entry: entries.FileReport, weight: int, network: str) -> None:
    """Raise `Refusal` if the reporter or their network has reached its maximum of open reports."""
    query = "SELECT count(*) FROM reports WHERE closed_ms IS NULL AND "
    (own,) = connection.execute(f"{query} reporter = ?", (entry.reporter,)).fetchone()
    if own >= OPEN_BY_WEIGHT[weight]:
        raise Refusal(Code.TOO_FAST, f"{own} reports of yours wait to be looked at; report again later", FULL_QUEUE_MS)
    if not network or weight >= LIGHT:
        return
    (count,) = connection.execute(f"{query} network = ? AND weight < ?", (network, LIGHT)).fetchone()
    if count >= OPEN_OF_NETWORK:
        sentence = f"{count} reports from your network wait to be looked at; report again later"
        raise Refusal(Code.TOO_FAST, sentence, FULL_QUEUE_MS)


def _made_room(connection: sqlite3.Connection, at_ms: int, weight: int) -> bool:
    """Close the newest open report with the lowest weight, if it is below `weight`; return whether there was one."""
    closed = connection.execute(
        "UPDATE reports SET closed_ms = ?, closed_by = 'server', note = ? WHERE number ="
        " (SELECT number FROM reports WHERE closed_ms IS NULL AND weight < ? ORDER BY weight, number DESC LIMIT 1)",
        (at_ms, MADE_ROOM, weight),
    )
    return closed.rowcount > 0


def _keep_mistake(connection: sqlite3.Connection, entry: entries.KeepMistake) -> None:
    _refuse_forgotten(connection, entry.player)
    mistake = entry.mistake
    position = hashlib.sha256(msgspec.json.encode(mistake.position)).digest()[:16]
    connection.execute(  # compared as `OwnMistake.progress`
        "INSERT INTO mistakes (player, position, puzzle, text, due, times) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET due = excluded.due, times = excluded.times"
        " WHERE (excluded.due, excluded.times) > (due, times)",
        (
            entry.player,
            position,
            msgspec.json.encode(mistake.puzzle).decode(),
            mistake.text,
            mistake.due,
            mistake.times,
        ),
    )
    connection.execute(
        "DELETE FROM mistakes WHERE number IN (SELECT number FROM mistakes WHERE player = ?"
        " ORDER BY times = ?, number DESC LIMIT -1 OFFSET ?)",
        (entry.player, LEARNED, entry.most),
    )


# The acts of the host and of moderators.


def _impose(connection: sqlite3.Connection, entry: entries.ImposeSanction) -> None:
    for sanction in entry.sanctions:
        if sanction.player is not None:
            known = connection.execute("SELECT token_hash FROM players WHERE id = ?", (sanction.player,)).fetchone()
            if known in (None, (None,)):
                raise Refusal(Code.UNKNOWN_PLAYER, f"no player is called {sanction.shown}")
    for act, player in sorted({(each.act, each.player) for each in entry.sanctions if each.player is not None}):
        connection.execute("DELETE FROM sanctions WHERE act = ? AND player = ?", (act, player))
    connection.execute("DELETE FROM sanctions WHERE until_ms <= ?", (entry.note.at_ms,))
    connection.executemany(
        "INSERT OR REPLACE INTO sanctions (act, whom, shown, reason, since_ms, until_ms, player, by)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [each._replace(shown="" if each.player else each.shown) for each in entry.sanctions],
    )
    _write_note(connection, entry.note)


def _lift(connection: sqlite3.Connection, entry: entries.LiftSanction) -> None:
    which, value = ("whom", entry.whom) if entry.player is None else ("player", entry.player)
    connection.execute(f"DELETE FROM sanctions WHERE act = ? AND {which} = ?", (entry.act, value))  # noqa: S608 - ours
    _write_note(connection, entry.note)


def _write_note(connection: sqlite3.Connection, note: AuditNote) -> None:
    connection.execute("INSERT INTO audit (at_ms, act, what, player, by) VALUES (?, ?, ?, ?, ?)", note)
    connection.execute("DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?", (MAX_NOTES,))


def _close_report(connection: sqlite3.Connection, entry: entries.CloseReport) -> None:
    closed = connection.execute(
        "UPDATE reports SET closed_ms = ?, closed_by = ?, note = ? WHERE number = ? AND closed_ms IS NULL",
        (entry.note.at_ms, entry.note.by, entry.text, entry.number),
    )
    if not closed.rowcount:
        raise Refusal(Code.BAD_MESSAGE, f"no open report has the number {entry.number}")
    _write_note(connection, entry.note)


def _close_reports(connection: sqlite3.Connection, entry: entries.CloseReports) -> list[int]:
    which = "reporter" if entry.is_by else "reported"
    rows = connection.execute(
        "UPDATE reports SET closed_ms = ?, closed_by = ?, note = ?"  # noqa: S608 - ours
        f" WHERE {which} = ? AND closed_ms IS NULL RETURNING number",
        (entry.note.at_ms, entry.note.by, entry.text, entry.player),
    )
    numbers = sorted(number for (number,) in rows)
    if not numbers:
        raise Refusal(Code.BAD_MESSAGE, f"there is no open report {'by' if entry.is_by else 'of'} that player")
    _write_note(connection, entry.note)
    return numbers


def _appoint(connection: sqlite3.Connection, entry: entries.AppointModerator) -> None:
    known = connection.execute("SELECT 1 FROM moderators WHERE name_key = ?", (entry.name_key,)).fetchone()
    if known is not None:
        raise Refusal(Code.NAME_TAKEN, f"{entry.name} is a moderator already; remove them first for a new token")
    connection.execute(
        "INSERT INTO moderators (name, name_key, token_hash, since_ms) VALUES (?, ?, ?, ?)",
        (entry.name, entry.name_key, entry.token_hash, entry.note.at_ms),
    )
    _write_note(connection, entry.note)


def _dismiss(connection: sqlite3.Connection, entry: entries.DismissModerator) -> None:
    if not connection.execute("DELETE FROM moderators WHERE name_key = ?", (entry.name_key,)).rowcount:
        raise Refusal(Code.UNKNOWN_PLAYER, f"no moderator is called {entry.name_key}")
    _write_note(connection, entry.note)


# Retention. Counts, ratings and the opponents of each player stay. Of a match, the record and its line in histories are
# deleted; of a guest, the name and the token, so that their matches show a neutral name, as after `ForgetPlayer`.


def _forget_matches(connection: sqlite3.Connection, entry: entries.ForgetMatches) -> list[str]:
    rows = connection.execute(
        "SELECT number, id, first, second, is_private, ended_ms FROM matches"
        " WHERE is_over AND ended_ms < ? ORDER BY ended_ms, number LIMIT ?",
        (entry.before_ms, entry.most + len(entry.kept)),
    ).fetchall()
    gone = [row for row in rows if row[1] not in entry.kept][: entry.most]
    for number, match, first, second, is_private, ended_ms in gone:
        for player in (first, second):
            key = (player, is_private, ended_ms, match)
            connection.execute(
                "DELETE FROM results WHERE player = ? AND is_private = ? AND ended_ms = ? AND match = ?", key
            )
        _delete_match(connection, number)
    return [match for _, match, *_ in gone]


def _forget_guests(connection: sqlite3.Connection, entry: entries.ForgetGuests) -> list[PlayerId]:
    connection.execute(
        "UPDATE players SET seen_ms = ? WHERE id IN (SELECT value FROM json_each(?)) AND is_guest AND seen_ms < ?",
        (entry.at_ms, json.dumps(entry.here), entry.before_ms),
    )
    rows = connection.execute(
        "SELECT id FROM players WHERE is_guest AND seen_ms < ? ORDER BY seen_ms, id LIMIT ?",
        (entry.before_ms, entry.most),
    )
    guests = [guest for (guest,) in rows]
    for guest in guests:
        _forget(connection, guest)
        for number, match in _deserted(connection, guest):
            if match not in entry.kept:
                _delete_match(connection, number)
    return guests


def _deserted(connection: sqlite3.Connection, player: PlayerId) -> list[tuple[int, str]]:
    """Return the unfinished matches of a deleted player against other deleted players."""
    found = []
    for one, other in (("first", "second"), ("second", "first")):
        found += connection.execute(
            f"SELECT number, matches.id FROM matches JOIN players ON players.id = {other}"  # noqa: S608 - ours
            f" WHERE NOT is_over AND {one} = ? AND token_hash IS NULL",
            (player,),
        ).fetchall()
    return found


def _forget_sanctions(
    connection: sqlite3.Connection, entry: entries.ForgetSanctions
) -> list[tuple[Act, str, PlayerId | None]]:
    rows: list[tuple[Act, str, PlayerId | None]] = connection.execute(
        "SELECT act, whom, player FROM sanctions WHERE until_ms <= ? ORDER BY until_ms, act, whom, player LIMIT ?",
        (entry.at_ms, entry.most),
    ).fetchall()
    connection.executemany("DELETE FROM sanctions WHERE act = ? AND whom = ? AND player IS ?", rows)
    return rows


def _forget_oldest(connection: sqlite3.Connection, table: str, number: str, before_ms: int, most: int) -> list[int]:
    """Delete the oldest rows of reports or notes from before a time; return their numbers."""
    rows = connection.execute(
        f"SELECT {number} FROM {table} WHERE at_ms < ? ORDER BY at_ms, {number} LIMIT ?",  # noqa: S608 - ours
        (before_ms, most),
    ).fetchall()
    connection.executemany(f"DELETE FROM {table} WHERE {number} = ?", rows)  # noqa: S608 - as above
    return [each for (each,) in rows]


def _delete_match(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("DELETE FROM facts WHERE match = ?", (number,))
    connection.execute("DELETE FROM matches WHERE number = ?", (number,))


# Packing: the events of finished matches become one row each, which every copy of the tables has to carry.


def _pack_matches(connection: sqlite3.Connection, entry: entries.PackMatches) -> list[str]:
    query = (
        "SELECT number, id, coalesce(plies, 0) FROM matches WHERE is_over AND NOT is_packed AND ended_ms < ?"
        " ORDER BY ended_ms, number"
    )
    plies, chosen = 0, {}
    with closing(connection.execute(query, (entry.before_ms,))) as rows:
        for number, match, count in rows:
            chosen[number] = match
            plies += count + 1  # aborted ones have none
            if plies >= entry.most:
                break
    for number in chosen:
        _pack_match(connection, number)
    return list(chosen.values())


def _pack_match(connection: sqlite3.Connection, number: int) -> None:
    """Pack the events of a match; those that would not be read back the same stay as they are."""
    query = "SELECT seq, fact FROM facts WHERE match = ? ORDER BY seq"
    rows = connection.execute(query, (number,)).fetchall()
    facts = [fact for _, fact in rows]
    value = pack(facts)
    if unpacked(value) == facts:
        last, _ = rows[-1]
        connection.execute("DELETE FROM facts WHERE match = ? AND seq < ?", (number, last))
        connection.execute(  # as the newest row, since packs among gaps would leave a third of each page unused
            "UPDATE facts SET id = (SELECT 1 + max(id) FROM facts), fact = ? WHERE match = ? AND seq = ?",
            (value, number, last),
        )
    connection.execute("UPDATE matches SET is_packed = 1 WHERE number = ?", (number,))
