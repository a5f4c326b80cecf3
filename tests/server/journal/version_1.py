"""A journal as the first release made it."""

VERSION_1 = """
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

INSERT INTO players VALUES (1, 'Ann', 'ann', x'01', 5), (2, 'Bob', 'bob', x'02', 6), (7, 'C D', 'c d', x'07', 7);
INSERT INTO matches VALUES ('won', 1, 2, 10, 1), ('drawn', 2, 1, 20, 1), ('off', 1, 7, 30, 1), ('live', 7, 2, 40, 0);
INSERT INTO facts VALUES
('won', 1, CAST('{"type":"started","match":"won","seq":1,"at_ms":10,"game":"tictactoe","players":[{"name":"Ann"},
{"name":"Bob","bot":"random"}],"time":{"initial_ms":180000,"increment_ms":2000},"private":true}' AS BLOB)),
('won', 2, CAST('{"type":"played","match":"won","seq":2,"at_ms":11,"side":0,"ply":1,"move":4}' AS BLOB)),
('won', 3, CAST('{"type":"played","match":"won","seq":3,"at_ms":12,"side":1,"ply":2,"move":0}' AS BLOB)),
('won', 4, CAST('{"type":"tookback","match":"won","seq":4,"at_ms":13,"side":1,"ply":1}' AS BLOB)),
('won', 5, CAST('{"type":"ended","match":"won","seq":5,"at_ms":14,"winner":0,"reason":"resign"}' AS BLOB)),
('won', 6, CAST('{"type":"rematched","match":"won","seq":6,"at_ms":15,"next":"drawn"}' AS BLOB)),
('drawn', 1, CAST('{"type":"started","match":"drawn","seq":1,"at_ms":20,"game":"connect4","players":[{"name":"Bob"},
{"name":"\u00c4nn"}]}' AS BLOB)),
('drawn', 2, CAST('{"type":"ended","match":"drawn","seq":2,"at_ms":21,"winner":null,"reason":"agreement"}' AS BLOB)),
('off', 1, CAST('{"type":"started","match":"off","seq":1,"at_ms":30,"game":"tictactoe","players":[{"name":"Ann"},
{"name":"C D"}]}' AS BLOB)),
('off', 2, CAST('{"type":"ended","match":"off","seq":2,"at_ms":31,"winner":null,"reason":"abort"}' AS BLOB)),
('live', 1, CAST('{"type":"started","match":"live","seq":1,"at_ms":40,"game":"tictactoe","players":[{"name":"C D"},
{"name":"Bob"}]}' AS BLOB));
PRAGMA user_version = 1;
"""
"""The tables as the first schema had them, and a few matches."""
