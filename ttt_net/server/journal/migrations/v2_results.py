"""Step 2: results and ratings; a journaled start says who by his seat alone, so that he can be forgotten."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from ttt_net.errors import ConfigurationError
from ttt_net.server.journal.migrations.script import run

_PLAYERS = """
CREATE TABLE new_players (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT UNIQUE,               -- see text.name_key; null once the player is forgotten
    token_hash BLOB UNIQUE,             -- SHA-256; the token itself is never kept; null once he is forgotten
    created_ms INTEGER NOT NULL,
    is_guest INTEGER NOT NULL DEFAULT 0,
    bot TEXT,                           -- the label that he last said hello with
    won INTEGER NOT NULL DEFAULT 0,
    drawn INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO new_players (id, name, name_key, token_hash, created_ms)
SELECT id, name, name_key, token_hash, created_ms FROM players;
DROP TABLE players;
ALTER TABLE new_players RENAME TO players;
"""

_RESULTS = """
ALTER TABLE matches ADD COLUMN game TEXT NOT NULL DEFAULT '';
ALTER TABLE matches ADD COLUMN time TEXT;                           -- JSON; null: no clock
ALTER TABLE matches ADD COLUMN is_rated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE matches ADD COLUMN is_private INTEGER NOT NULL DEFAULT 0;
ALTER TABLE matches ADD COLUMN ended_ms INTEGER;
ALTER TABLE matches ADD COLUMN winner INTEGER;                      -- 0 or 1; null: nobody
ALTER TABLE matches ADD COLUMN reason TEXT;
ALTER TABLE matches ADD COLUMN plies INTEGER;
CREATE TABLE results (                  -- a finished match, as one of its players finds it
    player INTEGER NOT NULL REFERENCES players (id),
    is_private INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    match TEXT NOT NULL REFERENCES matches (id),
    game TEXT NOT NULL,
    PRIMARY KEY (player, is_private, ended_ms, match)
) STRICT, WITHOUT ROWID;
CREATE INDEX results_by_game ON results (player, game, is_private, ended_ms, match);
CREATE TABLE meetings (                 -- how often a player has won, drawn and lost against another
    player INTEGER NOT NULL REFERENCES players (id),
    opponent INTEGER NOT NULL REFERENCES players (id),
    won INTEGER NOT NULL DEFAULT 0,
    drawn INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (player, opponent)
) STRICT, WITHOUT ROWID;
"""

COUNTING = """
CREATE TRIGGER an_end_is_found AFTER UPDATE OF is_over ON matches WHEN NEW.is_over AND NOT OLD.is_over
BEGIN
    INSERT INTO results (player, is_private, ended_ms, match, game) VALUES
        (NEW.first, NEW.is_private, NEW.ended_ms, NEW.id, NEW.game),
        (NEW.second, NEW.is_private, NEW.ended_ms, NEW.id, NEW.game);
END;
CREATE TRIGGER an_end_is_counted AFTER UPDATE OF is_over ON matches
WHEN NEW.is_over AND NOT OLD.is_over AND NEW.reason <> 'abort'
BEGIN
    UPDATE players SET
        won = won + (NEW.winner IS 0), drawn = drawn + (NEW.winner IS NULL), lost = lost + (NEW.winner IS 1)
        WHERE id = NEW.first;
    UPDATE players SET
        won = won + (NEW.winner IS 1), drawn = drawn + (NEW.winner IS NULL), lost = lost + (NEW.winner IS 0)
        WHERE id = NEW.second;
    INSERT INTO meetings (player, opponent, won, drawn, lost) VALUES
        (NEW.first, NEW.second, NEW.winner IS 0, NEW.winner IS NULL, NEW.winner IS 1),
        (NEW.second, NEW.first, NEW.winner IS 1, NEW.winner IS NULL, NEW.winner IS 0)
        ON CONFLICT DO UPDATE SET won = won + excluded.won, drawn = drawn + excluded.drawn, lost = lost + excluded.lost;
END;
"""
"""The triggers that count a match with its end."""

_RATINGS = """
CREATE TABLE ratings (
    player INTEGER NOT NULL REFERENCES players (id),
    game TEXT NOT NULL,
    speed TEXT NOT NULL,
    rating REAL NOT NULL,
    deviation REAL NOT NULL,
    volatility REAL NOT NULL,
    games INTEGER NOT NULL,
    rated_ms INTEGER NOT NULL,          -- when the last of the games ended
    is_bot INTEGER NOT NULL,
    standing INTEGER NOT NULL,          -- what the list is ordered by: see ratings.standing
    PRIMARY KEY (player, game, speed)
) STRICT, WITHOUT ROWID;
CREATE INDEX leaders ON ratings (game, speed, standing DESC, player);
CREATE INDEX leading_people ON ratings (game, speed, standing DESC, player) WHERE NOT is_bot;
CREATE TABLE standings (                -- how many ratings have each standing, so that ranks need no count of all
    game TEXT NOT NULL,
    speed TEXT NOT NULL,
    standing INTEGER NOT NULL,
    people INTEGER NOT NULL DEFAULT 0,
    bots INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (game, speed, standing)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER a_rating_is_counted AFTER INSERT ON ratings
BEGIN
    INSERT INTO standings (game, speed, standing, people, bots)
        VALUES (NEW.game, NEW.speed, NEW.standing, NOT NEW.is_bot, NEW.is_bot)
        ON CONFLICT DO UPDATE SET people = people + excluded.people, bots = bots + excluded.bots;
END;
CREATE TRIGGER a_rating_is_no_longer_counted AFTER DELETE ON ratings
BEGIN
    UPDATE standings SET people = people - (NOT OLD.is_bot), bots = bots - OLD.is_bot
        WHERE game = OLD.game AND speed = OLD.speed AND standing = OLD.standing;
    DELETE FROM standings
        WHERE game = OLD.game AND speed = OLD.speed AND standing = OLD.standing AND people = 0 AND bots = 0;
END;
CREATE TRIGGER a_rating_is_counted_anew AFTER UPDATE OF standing, is_bot ON ratings
BEGIN
    INSERT INTO standings (game, speed, standing, people, bots)
        VALUES (NEW.game, NEW.speed, NEW.standing, NOT NEW.is_bot, NEW.is_bot)
        ON CONFLICT DO UPDATE SET people = people + excluded.people, bots = bots + excluded.bots;
    UPDATE standings SET people = people - (NOT OLD.is_bot), bots = bots - OLD.is_bot
        WHERE game = OLD.game AND speed = OLD.speed AND standing = OLD.standing;
    DELETE FROM standings
        WHERE game = OLD.game AND speed = OLD.speed AND standing = OLD.standing AND people = 0 AND bots = 0;
END;
"""


def count_results(connection: sqlite3.Connection) -> None:
    """Make their tables, and fill them from the facts."""
    for script in (_PLAYERS, _RESULTS, COUNTING, _RATINGS):
        run(connection, script)
    for match, is_over in connection.execute("SELECT id, is_over FROM matches").fetchall():
        try:
            _describe_match(connection, match, is_over=is_over)
        except (ValueError, LookupError, TypeError) as error:
            raise ConfigurationError(f"cannot bring the journal up to date; match {match}: {error}") from None


def _describe_match(connection: sqlite3.Connection, match: str, *, is_over: bool) -> None:
    for (fact,) in connection.execute("SELECT fact FROM facts WHERE match = ? AND seq = 1", (match,)).fetchall():
        started = json.loads(fact)
        time = started.get("time")
        connection.execute(
            "UPDATE matches SET game = ?, time = ?, is_private = ? WHERE id = ?",
            (
                started["game"],
                time and json.dumps(time, separators=(",", ":")),
                bool(started.get("private")),
                match,
            ),
        )
        nameless = {**started, "players": [{**player, "name": ""} for player in started["players"]]}
        kept = json.dumps(nameless, separators=(",", ":"), ensure_ascii=False).encode()
        connection.execute("UPDATE facts SET fact = ? WHERE match = ? AND seq = 1", (kept, match))
    if is_over:
        _count_result(connection, match)


def _count_result(connection: sqlite3.Connection, match: str) -> None:
    ended, plies = None, 0
    for fact in _facts_from_the_last(connection, match):
        if fact["type"] == "ended":
            ended = fact
        elif fact["type"] in ("played", "tookback"):
            plies = fact["ply"]
            break
    if ended is not None:
        connection.execute("UPDATE matches SET is_over = 0 WHERE id = ?", (match,))
        connection.execute(  # which the triggers count
            "UPDATE matches SET is_over = 1, ended_ms = ?, winner = ?, reason = ?, plies = ? WHERE id = ?",
            (ended["at_ms"], ended["winner"], ended["reason"], plies, match),
        )


def _facts_from_the_last(connection: sqlite3.Connection, match: str) -> Iterator[dict[str, Any]]:
    for (fact,) in connection.execute("SELECT fact FROM facts WHERE match = ? ORDER BY seq DESC", (match,)):
        yield json.loads(fact)
