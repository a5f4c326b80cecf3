"""Forgetting what was long ago: matches that have ended, and guests who come no more.

Counts, ratings and who met whom stay as they are. Of a match goes the record and its line in histories; of a guest the
name and the token, so that his matches have a neutral name, as those of a player who asked to be forgotten.
"""

import json
import sqlite3
from collections.abc import Collection

from ttt_net.server.journal.periodic_job import BITE
from ttt_net.server.journal.players import forget_player
from ttt_net.server.players import PlayerId


def forget_matches(connection: sqlite3.Connection, before_ms: int, kept: Collection[str]) -> list[str]:
    """Forget a bite of the matches that ended before then, the oldest first, but for those kept; return which."""
    rows = connection.execute(
        "SELECT number, id, first, second, is_private, ended_ms FROM matches"
        " WHERE is_over AND ended_ms < ? ORDER BY ended_ms LIMIT ?",
        (before_ms, BITE + len(kept)),
    ).fetchall()
    gone = [row for row in rows if row[1] not in kept][:BITE]
    for number, match, first, second, is_private, ended_ms in gone:
        for player in (first, second):
            key = (player, is_private, ended_ms, match)
            connection.execute(
                "DELETE FROM results WHERE player = ? AND is_private = ? AND ended_ms = ? AND match = ?", key
            )
        _delete(connection, number)
    return [match for _, match, *_ in gone]


def forget_guests(
    connection: sqlite3.Connection, before_ms: int, now_ms: int, here: Collection[PlayerId], kept: Collection[str]
) -> list[PlayerId]:
    """Forget a bite of the guests who were last here before then, and return whom; who is here now is seen.

    What they have not finished with others waits for those; what nobody can come back to any more is deleted, but for
    the matches kept.
    """
    connection.execute(
        "UPDATE players SET seen_ms = ? WHERE id IN (SELECT value FROM json_each(?)) AND is_guest AND seen_ms < ?",
        (now_ms, json.dumps(list(here)), before_ms),
    )
    rows = connection.execute(
        "SELECT id FROM players WHERE is_guest AND seen_ms < ? ORDER BY seen_ms LIMIT ?", (before_ms, BITE)
    )
    guests = [guest for (guest,) in rows]
    for guest in guests:
        forget_player(connection, guest)
        for number, match in _deserted(connection, guest):
            if match not in kept:
                _delete(connection, number)
    return guests


def _deserted(connection: sqlite3.Connection, player: PlayerId) -> list[tuple[int, str]]:
    """Return the unfinished matches of a forgotten player with others who are forgotten."""
    found = []
    for one, other in (("first", "second"), ("second", "first")):
        found += connection.execute(
            f"SELECT number, matches.id FROM matches JOIN players ON players.id = {other}"  # noqa: S608 - ours
            f" WHERE NOT is_over AND {one} = ? AND token_hash IS NULL",
            (player,),
        ).fetchall()
    return found


def _delete(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("DELETE FROM facts WHERE match = ?", (number,))
    connection.execute("DELETE FROM matches WHERE number = ?", (number,))
