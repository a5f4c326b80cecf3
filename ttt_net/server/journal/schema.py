"""Define the journal's tables, and convert files of older programs.

To change a table, change `SCHEMA`, add one to `SCHEMA_VERSION`, and keep a journal of the version before as
`tests/server/journal/schema_N.sql`. New tables, indexes and triggers are made in older files too; a change of a table
that exists already is one of `_CHANGES`, for every schema that has that table. An index that changes gets a new name.
"""

import logging
import re
import sqlite3
from pathlib import Path

from ttt_net.errors import ConfigurationError

log = logging.getLogger(__name__)

SCHEMA_VERSION = 14

SCHEMA = """
CREATE TABLE players (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT UNIQUE,               -- see text.name_key; null once the player is forgotten
    token_hash BLOB UNIQUE,             -- SHA-256, since the token itself is never kept; null once forgotten
    created_ms INTEGER NOT NULL,
    is_guest INTEGER NOT NULL DEFAULT 0,
    bot TEXT,                           -- the label of the last hello; null: a person
    won INTEGER NOT NULL DEFAULT 0,
    drawn INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    seen_ms INTEGER NOT NULL DEFAULT 0  -- when a guest was last here, to the hour
) STRICT;
CREATE INDEX guests_by_age ON players (seen_ms) WHERE is_guest;
CREATE TABLE looks (                    -- what the names of players look like: see names.looks
    look TEXT NOT NULL,
    player INTEGER NOT NULL REFERENCES players (id),
    PRIMARY KEY (look, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX looks_of_player ON looks (player);

CREATE TABLE matches (
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
    plies INTEGER,
    is_packed INTEGER NOT NULL DEFAULT 0    -- whether its events are one row of `facts`, compressed
) STRICT;
CREATE INDEX live_of_first ON matches (first) WHERE NOT is_over;
CREATE INDEX live_of_second ON matches (second) WHERE NOT is_over;
CREATE INDEX matches_by_end ON matches (ended_ms) WHERE is_over;    -- for retention
CREATE INDEX unpacked_matches ON matches (ended_ms) WHERE is_over AND NOT is_packed;
CREATE TABLE facts (                    -- the events, in the order of writing, so that a commit touches few pages
    id INTEGER PRIMARY KEY,
    match INTEGER NOT NULL REFERENCES matches (number),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as messages writes it, without the names of players; or see packs
    UNIQUE (match, seq)
) STRICT;
CREATE TRIGGER facts_are_numbered_without_a_gap BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM facts WHERE match = NEW.match)
BEGIN SELECT raise(ABORT, 'the journal expects another fact number'); END;

CREATE TABLE results (                  -- a finished match, as one of its players finds it
    player INTEGER NOT NULL REFERENCES players (id),
    is_private INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    match TEXT NOT NULL REFERENCES matches (id),
    game TEXT NOT NULL,
    PRIMARY KEY (player, is_private, ended_ms, match)
) STRICT, WITHOUT ROWID;
CREATE INDEX results_by_game ON results (player, game, is_private, ended_ms, match);
CREATE INDEX results_of_match ON results (match);                   -- for retention
CREATE TABLE meetings (                 -- how often a player has won, drawn and lost against another
    player INTEGER NOT NULL REFERENCES players (id),
    opponent INTEGER NOT NULL REFERENCES players (id),
    won INTEGER NOT NULL DEFAULT 0,
    drawn INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (player, opponent)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER an_end_is_found AFTER UPDATE OF is_over ON matches WHEN NEW.is_over AND NOT OLD.is_over
BEGIN
    INSERT INTO results (player, is_private, ended_ms, match, game) VALUES
        (NEW.first, NEW.is_private, NEW.ended_ms, NEW.id, NEW.game),
        (NEW.second, NEW.is_private, NEW.ended_ms, NEW.id, NEW.game);
END;
CREATE TRIGGER an_end_is_counted AFTER UPDATE OF is_over ON matches
WHEN NEW.is_over AND NOT OLD.is_over AND NEW.reason NOT IN ('abort', 'forfeit')
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

CREATE TABLE tournaments (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- the code by which players enter
    opened_ms INTEGER NOT NULL,
    closed_ms INTEGER                   -- null: it is not over
) STRICT;
CREATE INDEX open_tournaments ON tournaments (number) WHERE closed_ms IS NULL;
CREATE TABLE tournament_facts (
    tournament INTEGER NOT NULL REFERENCES tournaments (number),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as tournaments.tournament has it; players are numbers in it
    PRIMARY KEY (tournament, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER tournament_facts_are_numbered_without_a_gap BEFORE INSERT ON tournament_facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM tournament_facts WHERE tournament = NEW.tournament)
BEGIN SELECT raise(ABORT, 'the journal expects another number of this fact'); END;
CREATE TABLE pairings (                 -- the matches of tournaments, with their results; a match may be forgotten
    match TEXT PRIMARY KEY,
    tournament INTEGER NOT NULL REFERENCES tournaments (number),
    round INTEGER NOT NULL,
    board INTEGER NOT NULL,
    first INTEGER NOT NULL REFERENCES players (id),
    second INTEGER NOT NULL REFERENCES players (id),
    is_over INTEGER NOT NULL DEFAULT 0,
    winner INTEGER,
    reason TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX pairings_of_tournament ON pairings (tournament, round);
CREATE INDEX open_pairings ON pairings (tournament) WHERE NOT is_over;
CREATE INDEX pairings_of_first ON pairings (first, tournament);     -- for profiles
CREATE INDEX pairings_of_second ON pairings (second, tournament);
CREATE TRIGGER an_end_settles_its_board AFTER UPDATE OF is_over ON matches WHEN NEW.is_over AND NOT OLD.is_over
BEGIN
    UPDATE pairings SET is_over = 1, winner = NEW.winner, reason = NEW.reason WHERE match = NEW.id AND NOT is_over;
END;

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
    settled_until_ms INTEGER,           -- null: provisional; see ratings.settled_until_ms
    PRIMARY KEY (player, game, speed)
) STRICT, WITHOUT ROWID;
CREATE INDEX leaders ON ratings (game, speed, standing DESC, player);
CREATE INDEX leading_people ON ratings (game, speed, standing DESC, player) WHERE NOT is_bot;
CREATE INDEX settled_ratings ON ratings (settled_until_ms) WHERE settled_until_ms IS NOT NULL;
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

CREATE TABLE invitations (
    player INTEGER PRIMARY KEY REFERENCES players (id),     -- who invites; one invitation at a time
    code TEXT NOT NULL,
    game TEXT NOT NULL,
    time TEXT,                          -- JSON; null: no clock
    expires_ms INTEGER NOT NULL,
    side INTEGER,                       -- the inviter's; null: by lot
    start TEXT                          -- the position to begin from; null: the usual one
) STRICT;

CREATE TABLE blocks (                   -- whom players have muted or blocked, the oldest first
    number INTEGER PRIMARY KEY,
    player INTEGER NOT NULL REFERENCES players (id),
    other INTEGER REFERENCES players (id),                  -- null: everybody
    is_block INTEGER NOT NULL           -- 0: only muted
) STRICT;
CREATE UNIQUE INDEX blocks_of_player ON blocks (player, coalesce(other, 0));
CREATE INDEX blocks_of_other ON blocks (other) WHERE other IS NOT NULL;

CREATE TABLE mistakes (                 -- mistakes of players, as puzzles that return to them; the oldest first
    number INTEGER PRIMARY KEY,
    player INTEGER NOT NULL REFERENCES players (id),
    position BLOB NOT NULL,             -- a hash of the position: see apply
    puzzle TEXT NOT NULL,               -- JSON, as messages.OwnPuzzle has it
    text TEXT NOT NULL,                 -- the lesson
    due TEXT NOT NULL,                  -- the day on which it returns; empty: at once
    times INTEGER NOT NULL,             -- how many times in a row it was solved; messages.LEARNED: it is learned
    UNIQUE (player, position)
) STRICT;

CREATE TABLE sanctions (
    act TEXT NOT NULL,                  -- ban or mute
    whom TEXT NOT NULL,                 -- a network, player: and an id, or address: or token: and a keyed hash
    shown TEXT NOT NULL,                -- a network; empty where it is about a player
    reason TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER,                   -- null: for good
    player INTEGER REFERENCES players (id),     -- whom it is about, also when they are forgotten; null: a network
    by TEXT NOT NULL                    -- the moderator; host: the host
) STRICT;
CREATE UNIQUE INDEX sanctions_by_whom ON sanctions (act, whom, coalesce(player, 0));
CREATE INDEX sanctions_by_end ON sanctions (until_ms) WHERE until_ms IS NOT NULL;
CREATE INDEX sanctions_of_player ON sanctions (player) WHERE player IS NOT NULL;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    act TEXT NOT NULL,
    what TEXT NOT NULL,
    player INTEGER REFERENCES players (id),     -- whose name stands before `what`; null: nobody's
    by TEXT NOT NULL DEFAULT 'host'
) STRICT;
CREATE INDEX audit_by_age ON audit (at_ms);
CREATE TABLE moderators (
    name TEXT NOT NULL,
    name_key TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE reports (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    reporter INTEGER NOT NULL REFERENCES players (id),
    reported INTEGER NOT NULL REFERENCES players (id),
    reason TEXT NOT NULL,               -- chat, name, cheating or other
    text TEXT NOT NULL,                 -- what the reporter wrote
    match TEXT,                         -- null: none
    lines TEXT NOT NULL,                -- JSON: the last lines of chat there, each with a time, a player and a text
    address TEXT NOT NULL,              -- a keyed hash of where the reported came from; empty: not known
    closed_ms INTEGER,                  -- null: open
    closed_by TEXT NOT NULL,
    note TEXT NOT NULL,
    weight INTEGER NOT NULL DEFAULT 1,  -- how much it counts, 0 to 3: see apply
    network TEXT NOT NULL DEFAULT ''    -- a keyed hash of where the reporter came from; empty: not known
) STRICT;
CREATE INDEX reports_by_age ON reports (at_ms);
CREATE INDEX reports_of_player ON reports (reported, at_ms);
CREATE INDEX reports_open ON reports (reporter, reported) WHERE closed_ms IS NULL;
CREATE INDEX reports_by_weight ON reports (weight, number) WHERE closed_ms IS NULL;
CREATE INDEX reports_of_network ON reports (network) WHERE closed_ms IS NULL;
CREATE TRIGGER a_closed_report_never_changes BEFORE UPDATE ON reports WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT raise(ABORT, 'a closed report never changes'); END;
"""

_WITH_AUTHORS = """
ALTER TABLE sanctions RENAME TO sanctions_before;
CREATE TABLE sanctions (
    act TEXT NOT NULL,
    whom TEXT NOT NULL,
    shown TEXT NOT NULL,
    reason TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER,
    player INTEGER REFERENCES players (id),
    by TEXT NOT NULL
) STRICT;
INSERT INTO sanctions SELECT act, whom, shown, reason, since_ms, until_ms, NULL, 'host' FROM sanctions_before
    WHERE whom NOT LIKE 'player:%';
INSERT INTO sanctions SELECT act, whom, '', reason, since_ms, until_ms, CAST(substr(whom, 8) AS INTEGER), 'host'
    FROM sanctions_before WHERE whom LIKE 'player:%';
DROP TABLE sanctions_before;
ALTER TABLE audit ADD COLUMN by TEXT NOT NULL DEFAULT 'host';
"""
_WITH_WEIGHTS = """
ALTER TABLE reports ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;
ALTER TABLE reports ADD COLUMN network TEXT NOT NULL DEFAULT '';
"""
_WITH_PACKS = "ALTER TABLE matches ADD COLUMN is_packed INTEGER NOT NULL DEFAULT 0;"
_CHANGES = (({8}, _WITH_AUTHORS), ({9}, _WITH_WEIGHTS), ({8, 9, 10, 11, 12}, _WITH_PACKS))
"""Scripts that change tables which exist already, each with the schemas that need it."""
_MAY_EXIST = re.compile("^CREATE (TABLE|INDEX|UNIQUE INDEX) ", re.MULTILINE)
OLDEST = 8
"""The oldest schema that is read. Older ones were written in the two days before it, and by no release."""


def convert(connection: sqlite3.Connection, found: int) -> None:
    """Bring an older schema up to date: change what it has, add what it lacks, and make all triggers anew.

    Schemas 8 to 12 were written from 2026-11-21 to 2026-11-27, and by no release; they are read until 0.3.
    """
    for schemas, script in _CHANGES:
        if found in schemas:
            run(connection, script)
    for (trigger,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    run(connection, _MAY_EXIST.sub(r"\g<0>IF NOT EXISTS ", SCHEMA))


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty file, or convert an older file, in one transaction.

    Foreign keys must not be enforced meanwhile: a conversion may replace a table. Raises `ConfigurationError` if the
    file is newer, or too old.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA_VERSION:
        raise ConfigurationError(
            f"{path} was written by a newer ttt_net (schema {found}, this program knows {SCHEMA_VERSION}); upgrade"
        )
    if 0 < found < OLDEST:
        raise ConfigurationError(
            f"{path} has schema {found}, which was written before the first release; this program reads schemas"
            f" {OLDEST} to {SCHEMA_VERSION}. Start a build of 2026-11-23 on it once, or choose a folder with --data"
        )
    if found == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if found:
            convert(connection, found)
        else:
            run(connection, SCHEMA)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:  # whatever the reason
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if found:
        log.warning("brought %s to schema %d", path, SCHEMA_VERSION)


def run(connection: sqlite3.Connection, script: str) -> None:
    """Run the statements of a script one by one: `executescript` would commit first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            connection.execute(pending)
            pending = ""
