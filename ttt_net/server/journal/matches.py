"""Matches in the journal: written down fact by fact, and read back whole."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace as restruct

from ttt_net.messages import Ended, MatchEvent, Played, Started, Tookback, decode_event, encode
from ttt_net.server.journal.database import StorageError
from ttt_net.server.journal.invitations import spend_invitation
from ttt_net.server.journal.rating import Changes, rate
from ttt_net.server.players import PlayerId


class StoredMatch(NamedTuple):
    """A match as the journal has it: who sits where, and its facts in order."""

    seats: tuple[PlayerId, PlayerId]
    facts: list[MatchEvent]


_Append = tuple[Sequence[MatchEvent], tuple[PlayerId, PlayerId] | None]
"""Facts of one match that belong together, and who sits where, with the first of them."""
_APPEND = "INSERT INTO facts (match, seq, fact) VALUES ((SELECT number FROM matches WHERE id = ?), ?, ?)"


def append_fact(connection: sqlite3.Connection, append: _Append) -> None:
    """Write down a single fact that neither starts nor ends its match, as a move does, in one statement."""
    ((fact,), _) = append
    connection.execute(_APPEND, (fact.match, fact.seq, encode(fact)))


def append_facts(connection: sqlite3.Connection, appends: list[_Append]) -> list[Changes | None]:
    """Write down the facts of many matches, with one statement for each table that they touch.

    Return for each item what it did to the ratings: of several rated ends in it, there is never more than one.
    """
    started, ended, rows = [], [], []
    for facts, seats in appends:
        for fact in facts:
            # a fact says who by his seat alone, so that a name can be changed, and forgotten
            kept = with_names(fact, "", "") if isinstance(fact, Started) else fact
            rows.append((fact.match, fact.seq, encode(kept)))
            if isinstance(fact, Started):
                assert seats is not None, "a match starts with its seats"
                time = None if fact.time is None else encode(fact.time).decode()
                started.append((fact.match, *seats, fact.at_ms, fact.game, time, fact.rated, fact.private))
                if fact.code is not None and fact.previous is None:
                    spend_invitation(connection, fact.code)
            elif isinstance(fact, Ended):
                ended.append(fact)
    if started:
        connection.executemany(
            "INSERT INTO matches (id, first, second, started_ms, game, time, is_rated, is_private)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            started,
        )
    connection.executemany(_APPEND, rows)
    if ended:
        changes = rate(connection, ended)
        connection.executemany(  # which the triggers count for both players
            "UPDATE matches SET is_over = 1, ended_ms = ?, winner = ?, reason = ?, plies = ?"
            " WHERE id = ? AND NOT is_over",
            [(each.at_ms, each.winner, each.reason, _plies(connection, each.match), each.match) for each in ended],
        )
        return [next((changes[fact.match] for fact in facts if fact.match in changes), None) for facts, _ in appends]
    return [None] * len(appends)


def _plies(connection: sqlite3.Connection, match: str) -> int:
    """Return how many moves a match has, those that were taken back left out: its newest such fact knows."""
    newest = connection.execute(
        "SELECT fact FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?) ORDER BY seq DESC", (match,)
    )
    for (kept,) in newest:
        fact = decode_event(kept)
        if isinstance(fact, Played | Tookback):
            return fact.ply
    return 0


def read_match(connection: sqlite3.Connection, match: str) -> StoredMatch | None:
    """Return the match of that id, or None if there is none; one that cannot be understood raises `StorageError`."""
    row = connection.execute(
        "SELECT number, first, second, one.name, other.name FROM matches"
        " JOIN players AS one ON one.id = first JOIN players AS other ON other.id = second WHERE matches.id = ?",
        (match,),
    ).fetchone()
    if row is None:
        return None
    number, first, second, *names = row
    rows = connection.execute("SELECT fact FROM facts WHERE match = ? ORDER BY seq", (number,))
    try:
        facts = [decode_event(fact) for (fact,) in rows]
    except msgspec.MsgspecError as error:
        raise StorageError(f"match {match} cannot be read: {error}") from None
    if facts and isinstance(facts[0], Started):
        facts[0] = with_names(facts[0], names[0], names[1])
    return StoredMatch((first, second), facts)


def with_names(started: Started, first: str, second: str) -> Started:
    """Return the start of a match with the names that its players have now."""
    one, other = started.players
    return restruct(started, players=(restruct(one, name=first), restruct(other, name=second)))


def finished_matches(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of the matches that are over, in the order in which they began."""
    rows = connection.execute("SELECT id FROM matches WHERE is_over ORDER BY started_ms, id")
    return [match for (match,) in rows]
