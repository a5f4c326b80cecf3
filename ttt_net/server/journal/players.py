"""Players in the journal: their names and tokens, and the matches that wait for them."""

import hashlib
import json
import sqlite3

from ttt_net.errors import Code, Refusal
from ttt_net.names import looks
from ttt_net.server.journal.rating import ratings_of
from ttt_net.server.players import FORGOTTEN, Player, PlayerId, still_playing
from ttt_net.text import name_key

MAX_UNFINISHED = 50
"""The most unfinished matches of one player that are looked up; the newest come first."""
SEEN_MS = 3_600_000
"""How often at most it is written down that a guest was here."""


def register_player(
    connection: sqlite3.Connection, name: str, token: str, bot: str | None, now_ms: int, *, is_guest: bool
) -> Player | Refusal:
    """Make a new player, or return whom the token belongs to already: his client has said the same twice."""
    known = connection.execute("SELECT id, name FROM players WHERE token_hash = ?", (_hash(token),)).fetchone()
    if known is not None:
        return Player(*known)
    if not is_guest and _is_taken(connection, name, None):
        return _name_taken(name)
    row = connection.execute(
        "INSERT INTO players (name, name_key, token_hash, bot, created_ms, is_guest, seen_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name_key) DO NOTHING RETURNING id",
        (name, name_key(name), _hash(token), bot, now_ms, is_guest, now_ms),
    ).fetchone()
    if row is None:
        return _name_taken(name)
    if not is_guest:
        _note_looks(connection, row[0], name)
    return Player(row[0], name, is_guest=is_guest)


def find_player(connection: sqlite3.Connection, token: str, bot: str | None, now_ms: int) -> Player | None:
    """Return the player that the token belongs to, None if it is unknown; a bot comes with its label."""
    row = connection.execute(
        "SELECT id, name, bot, is_guest FROM players WHERE token_hash = ?", (_hash(token),)
    ).fetchone()
    if row is None:
        return None
    player, name, label, is_guest = row
    if bot is not None and label != bot:  # once a bot, marked for good: a look at a profile is no play
        connection.execute("UPDATE players SET bot = ? WHERE id = ?", (bot, player))
    matches = _unfinished(connection, player, MAX_UNFINISHED)
    return Player(player, name, matches, bool(is_guest), ratings_of(connection, player, now_ms), bot or label)


def rename_player(connection: sqlite3.Connection, player: PlayerId, name: str) -> Refusal | None:
    """Call the player by another name from now on, unless it is taken."""
    known = connection.execute("SELECT token_hash FROM players WHERE id = ?", (player,)).fetchone()
    if known == (None,):  # he said `forget` just before
        return Refusal(Code.UNKNOWN_PLAYER, "you are forgotten here; say hello with a name")
    if _is_taken(connection, name, player):
        return _name_taken(name)
    _note_looks(connection, player, name)
    connection.execute(
        "UPDATE players SET name = ?, name_key = ?, is_guest = 0 WHERE id = ?", (name, name_key(name), player)
    )
    return None


def note_guest(connection: sqlite3.Connection, guest: PlayerId, now_ms: int) -> None:
    """Write down that a guest is here, unless that was done a while ago."""
    connection.execute("UPDATE players SET seen_ms = ? WHERE id = ? AND seen_ms < ?", (now_ms, guest, now_ms - SEEN_MS))


def forget_idle_player(connection: sqlite3.Connection, player: PlayerId) -> Refusal | None:
    """Forget the player, unless a match of his goes on."""
    unfinished = _unfinished(connection, player, MAX_UNFINISHED)
    if unfinished:
        return still_playing(len(unfinished))
    forget_player(connection, player)
    return None


def forget_player(connection: sqlite3.Connection, player: PlayerId) -> None:
    """Delete the player's name, token and ratings; what he has played keeps his number."""
    connection.execute(
        "UPDATE players SET name = ?, name_key = NULL, token_hash = NULL, bot = NULL, is_guest = 0, created_ms = 0,"
        " seen_ms = 0 WHERE id = ?",
        (FORGOTTEN, player),
    )
    connection.execute("DELETE FROM looks WHERE player = ?", (player,))
    connection.execute("DELETE FROM ratings WHERE player = ?", (player,))
    connection.execute("DELETE FROM invitations WHERE player = ?", (player,))
    connection.execute(  # it would still name him; and nobody can come in with his token any more
        "DELETE FROM sanctions WHERE act IN ('ban', 'mute') AND whom = 'player:' || ?", (player,)
    )


def _unfinished(connection: sqlite3.Connection, player: PlayerId, most: int) -> tuple[str, ...]:
    """Return the player's unfinished matches, the newest first.

    Two searches, for with `first = ? OR second = ?` SQLite reads the unfinished matches of everybody.
    """
    rows = connection.execute(
        "SELECT id FROM (SELECT id, started_ms FROM matches WHERE NOT is_over AND first = ?"
        " UNION SELECT id, started_ms FROM matches WHERE NOT is_over AND second = ?)"
        " ORDER BY started_ms DESC LIMIT ?",
        (player, player, most),
    )
    return tuple(match for (match,) in rows)


def _is_taken(connection: sqlite3.Connection, name: str, player: PlayerId | None) -> bool:
    """Tell whether another than `player` has that name, or one that people would take for it."""
    alike = connection.execute(
        "SELECT 1 FROM players WHERE name_key = ? AND id IS NOT ? UNION ALL"
        " SELECT 1 FROM looks WHERE look IN (SELECT value FROM json_each(?)) AND player IS NOT ? LIMIT 1",
        (name_key(name), player, json.dumps(list(looks(name))), player),
    )
    return alike.fetchone() is not None


def _note_looks(connection: sqlite3.Connection, player: PlayerId, name: str) -> None:
    connection.execute("DELETE FROM looks WHERE player = ?", (player,))
    connection.executemany("INSERT INTO looks (look, player) VALUES (?, ?)", [(look, player) for look in looks(name)])


def _name_taken(name: str) -> Refusal:
    return Refusal(Code.NAME_TAKEN, f"another player here is called {name}, or so much like it; choose another")


def _hash(token: str) -> bytes:
    """Return what is kept of a token: with 256 random bits in it, a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode()).digest()
