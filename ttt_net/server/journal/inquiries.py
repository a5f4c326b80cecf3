"""What is asked about the past, answered in the journal's thread: every answer is bounded, and so is its cost."""

import sqlite3

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games.records import write_record
from ttt_net.history import record_of
from ttt_net.match import Match
from ttt_net.server.journal.sqlite import PlayerId, read_match

MAX_POSITIONS = 32
"""Positions in one answer; on the largest board they take 15 KB."""


def replay(connection: sqlite3.Connection, said: wire.Replay, asker: PlayerId, *, is_heard: bool) -> wire.ReplayTold:
    """Return positions of a match, from `said.ply` on."""
    match = _match(connection, said.match, asker, is_heard=is_heard)
    last = len(match.moves)
    if said.ply > last:
        raise Refusal(Code.STALE_PLY, f"match {match.id} has {last} plies; ask from 0 to {last}")
    return wire.ReplayTold(match.id, said.ply, match.positions(said.ply, MAX_POSITIONS), last)


def record(connection: sqlite3.Connection, said: wire.Record, asker: PlayerId) -> wire.RecordTold:
    """Return a finished match as a text to keep."""
    match = _match(connection, said.match, asker, is_heard=False)
    return wire.RecordTold(match.id, write_record(record_of(match.facts)))


def _match(connection: sqlite3.Connection, match_id: str, asker: PlayerId, *, is_heard: bool) -> Match:
    """Return a match that `asker` may look back on."""
    journaled = read_match(connection, match_id)
    if journaled is None:
        raise Refusal(Code.UNKNOWN_MATCH, f"there is no match {match_id}")
    match = Match.from_facts(journaled.facts)
    if match.is_private and not is_heard and asker not in journaled.seats:
        raise Refusal(Code.NOT_PUBLIC, "that match is private, and only its players may see it")
    if not match.is_over and not is_heard:
        raise Refusal(Code.NOT_FINISHED, f"match {match_id} is still being played; say watch to see it")
    return match
