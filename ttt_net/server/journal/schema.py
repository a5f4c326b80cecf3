"""The tables of the journal, as the steps that lead to them: a new file takes all, an older one those that it lacks.

A step that has been released is never changed; what comes later is one more step. So a step uses nothing of the
program that may change: it reads facts as plain JSON.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ttt_net.errors import ConfigurationError
from ttt_net.names import looks

log = logging.getLogger(__name__)

Step = Callable[[sqlite3.Connection], None]

_FACTS = """
CREATE TABLE players (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,      -- see text.name_key
    token_hash BLOB NOT NULL UNIQUE,    -- SHA-256; the token itself is never kept
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE matches (
    id TEXT PRIMARY KEY,
    first INTEGER NOT NULL REFERENCES players (id),
    second INTEGER NOT NULL REFERENCES players (id),
    started_ms INTEGER NOT NULL,
    is_over INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX live_of_first ON matches (first) WHERE NOT is_over;
CREATE INDEX live_of_second ON matches (second) WHERE NOT is_over;
CREATE TABLE facts (
    match TEXT NOT NULL REFERENCES matches (id),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as messages.py writes it
    PRIMARY KEY (match, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER facts_are_numbered_without_a_gap BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM facts WHERE match = NEW.match)
BEGIN SELECT raise(ABORT, 'the journal expects another fact number'); END;
"""

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

_COUNTING = """
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

_ORDER = """
CREATE TABLE new_matches (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    first INTEGER NOT NULL REFERENCES players (id),
    second INTEGER NOT NULL REFERENCES players (id),
    started_ms INTEGER NOT NULL,
    is_over INTEGER NOT NULL DEFAULT 0,
    game TEXT NOT NULL,
    time TEXT,                          -- JSON; null: no clock
    is_rated INTEGER NOT NULL DEFAULT 0,
    is_private INTEGER NOT NULL DEFAULT 0,
    ended_ms INTEGER,
    winner INTEGER,                     -- 0 or 1; null: nobody
    reason TEXT,
    plies INTEGER
) STRICT;
INSERT INTO new_matches
    (id, first, second, started_ms, is_over, game, time, is_rated, is_private, ended_ms, winner, reason, plies)
SELECT id, first, second, started_ms, is_over, game, time, is_rated, is_private, ended_ms, winner, reason, plies
    FROM matches ORDER BY started_ms, id;
CREATE TABLE new_facts (                -- in the order of writing, so that a commit touches few pages
    id INTEGER PRIMARY KEY,
    match INTEGER NOT NULL REFERENCES matches (number),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as messages.py writes it
    UNIQUE (match, seq)
) STRICT;
INSERT INTO new_facts (match, seq, fact)
SELECT number, seq, fact FROM facts JOIN new_matches ON new_matches.id = facts.match ORDER BY number, seq;
DROP TABLE facts;
DROP TABLE matches;
ALTER TABLE new_matches RENAME TO matches;
ALTER TABLE new_facts RENAME TO facts;
CREATE INDEX live_of_first ON matches (first) WHERE NOT is_over;
CREATE INDEX live_of_second ON matches (second) WHERE NOT is_over;
CREATE TRIGGER facts_are_numbered_without_a_gap BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM facts WHERE match = NEW.match)
BEGIN SELECT raise(ABORT, 'the journal expects another fact number'); END;
"""

_SANCTIONS = """
CREATE TABLE sanctions (
    act TEXT NOT NULL,                  -- ban or mute
    whom TEXT NOT NULL,                 -- a network, or player: and an id
    shown TEXT NOT NULL,
    reason TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER,                   -- null: for good
    PRIMARY KEY (act, whom)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    act TEXT NOT NULL,
    what TEXT NOT NULL
) STRICT;
CREATE INDEX matches_by_end ON matches (ended_ms) WHERE is_over;    -- those two are for forgetting old matches
CREATE INDEX results_of_match ON results (match);
"""

_LOOKS = """
CREATE TABLE looks (                    -- what the names of players look like: see names.looks
    look TEXT NOT NULL,
    player INTEGER NOT NULL REFERENCES players (id),
    PRIMARY KEY (look, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX looks_of_player ON looks (player);
"""


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Take the steps that the file lacks, each in a transaction of its own; a newer file raises `ConfigurationError`.

    Foreign keys must not be enforced meanwhile: a step may put a new table in the place of an old one.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA_VERSION:
        raise ConfigurationError(
            f"{path} was written by a newer ttt_net (schema {found}, this program knows {SCHEMA_VERSION}); upgrade"
        )
    for version, step in enumerate(STEPS[found:], found + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            step(connection)
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:  # what is half done is undone, whatever stopped it
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if found:
            log.warning("brought %s to schema %d", path, version)


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Run the statements of a script one by one: `executescript` would commit first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            connection.execute(pending)
            pending = ""


def _keep_facts(connection: sqlite3.Connection) -> None:
    """Step 1: players, matches, facts."""
    _run(connection, _FACTS)


def _count_results(connection: sqlite3.Connection) -> None:
    """Step 2: results and ratings; a journaled start says who by his seat alone, so that he can be forgotten."""
    for script in (_PLAYERS, _RESULTS, _COUNTING, _RATINGS):
        _run(connection, script)
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


def _keep_order(connection: sqlite3.Connection) -> None:
    """Step 3: facts in the order of writing. Side by side with their matches, each was on a page of its own."""
    _run(connection, _ORDER)
    _run(connection, _COUNTING)


def _keep_sanctions(connection: sqlite3.Connection) -> None:
    """Step 4: whom the host has banned or muted, what his admins did, and which matches are old."""
    _run(connection, _SANCTIONS)


def _keep_looks(connection: sqlite3.Connection) -> None:
    """Step 5: what names look like. Players of before keep theirs, even where two look alike."""
    _run(connection, _LOOKS)
    rows = connection.execute("SELECT id, name FROM players WHERE name_key IS NOT NULL").fetchall()
    connection.executemany(
        "INSERT INTO looks (look, player) VALUES (?, ?)",
        [(look, player) for player, name in rows for look in looks(name)],
    )


STEPS: tuple[Step, ...] = (_keep_facts, _count_results, _keep_order, _keep_sanctions, _keep_looks)
SCHEMA_VERSION = len(STEPS)
