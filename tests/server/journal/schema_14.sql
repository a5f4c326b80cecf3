-- A journal as the server of 2026-11-27 wrote it, with two mistakes to learn from; dumped by sqlite3.Connection.iterdump.
BEGIN TRANSACTION;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    act TEXT NOT NULL,
    what TEXT NOT NULL,
    player INTEGER REFERENCES players (id),     -- whose name stands before `what`; null: nobody's
    by TEXT NOT NULL DEFAULT 'host'
) STRICT;
INSERT INTO "audit" VALUES(1,1795000000000,'ban',' for good: rude',2,'host');
INSERT INTO "audit" VALUES(2,1795000000000,'mute','192.0.2.0/24 until 2033: spam',NULL,'host');
INSERT INTO "audit" VALUES(3,1795000000000,'appoint','Mo',NULL,'host');
CREATE TABLE blocks (                   -- whom players have muted or blocked, the oldest first
    number INTEGER PRIMARY KEY,
    player INTEGER NOT NULL REFERENCES players (id),
    other INTEGER REFERENCES players (id),                  -- null: everybody
    is_block INTEGER NOT NULL           -- 0: only muted
) STRICT;
INSERT INTO "blocks" VALUES(1,1,2,0);
INSERT INTO "blocks" VALUES(2,1,4,1);
INSERT INTO "blocks" VALUES(3,4,NULL,0);
CREATE TABLE facts (                    -- the events, in the order of writing, so that a commit touches few pages
    id INTEGER PRIMARY KEY,
    match INTEGER NOT NULL REFERENCES matches (number),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as messages writes it, without the names of players; or see packs
    UNIQUE (match, seq)
) STRICT;
INSERT INTO "facts" VALUES(16,3,1,X'7B2274797065223A2273746172746564222C226D61746368223A227261746564303031222C22736571223A312C2261745F6D73223A302C2267616D65223A22636F6E6E65637434222C22706C6179657273223A5B7B226E616D65223A22227D2C7B226E616D65223A22227D5D2C2274696D65223A7B22696E697469616C5F6D73223A3138303030302C22696E6372656D656E745F6D73223A323030307D2C227261746564223A747275657D');
INSERT INTO "facts" VALUES(17,3,2,X'7B2274797065223A22656E646564222C226D61746368223A227261746564303031222C22736571223A322C2261745F6D73223A313739353436333035343033332C2277696E6E6572223A312C22726561736F6E223A2272657369676E222C22636C6F636B223A7B2272656D61696E696E675F6D73223A5B3138303030302C3138303030305D2C2272756E6E696E67223A6E756C6C7D7D');
INSERT INTO "facts" VALUES(18,4,1,X'7B2274797065223A2273746172746564222C226D61746368223A226E474C5856725656222C22736571223A312C2261745F6D73223A313739353436333035343034302C2267616D65223A22746963746163746F65222C22706C6179657273223A5B7B226E616D65223A22227D2C7B226E616D65223A22227D5D2C2270726976617465223A747275652C22636F6465223A223659395A5432227D');
INSERT INTO "facts" VALUES(19,4,2,X'7B2274797065223A22656E646564222C226D61746368223A226E474C5856725656222C22736571223A322C2261745F6D73223A313739353436333035343034342C2277696E6E6572223A6E756C6C2C22726561736F6E223A2261626F7274227D');
INSERT INTO "facts" VALUES(20,5,1,X'7B2274797065223A2273746172746564222C226D61746368223A22444A6A4B55597759222C22736571223A312C2261745F6D73223A313739353436333035343034372C2267616D65223A22636F6E6E65637434222C22706C6179657273223A5B7B226E616D65223A22227D2C7B226E616D65223A22227D5D2C2274696D65223A7B22696E697469616C5F6D73223A3138303030302C22696E6372656D656E745F6D73223A323030307D7D');
INSERT INTO "facts" VALUES(21,1,7,X'789C95CE4D6E83301005E07D8F316B16FC18033943B7594551E5E2518B14DBC44C1221C4DD3BA1B152213712BBD11BCFE737018D3DC20E06529E5043024651FBCD49FD7EE9F5757FE668C033ECB204147D9881A7AA29852CD2B2682A99C097327781BA96544B0EF9A03FA9113D3F3D4C607FD79C7E3AE2C12BAB9D813979AEE6E3FC368526CBEDAB2279AC489DF2B6D30CA4F7EFC7A5AF71570EC416BC88E222E0D903CF039E6EC14514AFD7CD8B80E75BF0328637F9BAB90878B60597515CAE9B9701977F70B4FAA55DFD67DF3A6BD12FBA473538CBC7A7CE22CC3FB293CC6C');
INSERT INTO "facts" VALUES(22,2,8,X'789C95D14D6F83300C06E0FB7E86CF1C42F82CC749BDEF3E4D930B2E4390A40BD92A84F8EF7359D1D09422718BECF889F56604375C080AE81D5A471504A0D0951F5CA95F9EB3363A4A2EF5F409451800BA77D5F3293B24711A892416420450A3BA09AE291D96CE100F5C3A1CC8F2D5D711F46F9BAB27E3F860515746C114FCB5A6B7E9695C369967B71691DE4562EE361503E2F6FC30EFABCC3717E23D78E4C5F3050FEFB85C70B1C2CDF94C76538F7D7A28577ADBE8EA1626B674C2B28515EF8C69E7DA633FF1FAE9FFEDC33D89A45EF3F030917C5722994F9772F599F7442A8BD7751AA4AB4D38F7C2FC01D7466BB250E8AFAE0BC012F646F33CD69648917630FD006CCBE3C6');
CREATE TABLE invitations (
    player INTEGER PRIMARY KEY REFERENCES players (id),     -- who invites; one invitation at a time
    code TEXT NOT NULL,
    game TEXT NOT NULL,
    time TEXT,                          -- JSON; null: no clock
    expires_ms INTEGER NOT NULL,
    side INTEGER,                       -- the inviter's; null: by lot
    start TEXT                          -- the position to begin from; null: the usual one
) STRICT;
INSERT INTO "invitations" VALUES(3,'T7GK9R','tictactoe',NULL,1795466654051,NULL,NULL);
CREATE TABLE looks (                    -- what the names of players look like: see names.looks
    look TEXT NOT NULL,
    player INTEGER NOT NULL REFERENCES players (id),
    PRIMARY KEY (look, player)
) STRICT, WITHOUT ROWID;
INSERT INTO "looks" VALUES('ann',1);
INSERT INTO "looks" VALUES('bob',2);
INSERT INTO "looks" VALUES('cléo',3);
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
INSERT INTO "matches" VALUES(1,'8LupdvUq',2,1,1795463053976,1,'tictactoe',NULL,0,0,1795463053996,0,'line',5,1);
INSERT INTO "matches" VALUES(2,'gPB7k3E2',2,1,1795463054000,1,'tictactoe',NULL,0,0,1795463054024,NULL,'agreement',2,1);
INSERT INTO "matches" VALUES(3,'rated001',1,2,0,1,'connect4','{"initial_ms":180000,"increment_ms":2000}',1,0,1795463054033,1,'resign',0,0);
INSERT INTO "matches" VALUES(4,'nGLXVrVV',1,3,1795463054040,1,'tictactoe',NULL,0,1,1795463054044,NULL,'abort',0,0);
INSERT INTO "matches" VALUES(5,'DJjKUYwY',4,3,1795463054047,0,'connect4','{"initial_ms":180000,"increment_ms":2000}',0,0,NULL,NULL,NULL,NULL,0);
CREATE TABLE meetings (                 -- how often a player has won, drawn and lost against another
    player INTEGER NOT NULL REFERENCES players (id),
    opponent INTEGER NOT NULL REFERENCES players (id),
    won INTEGER NOT NULL DEFAULT 0,
    drawn INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (player, opponent)
) STRICT, WITHOUT ROWID;
INSERT INTO "meetings" VALUES(1,2,0,1,2);
INSERT INTO "meetings" VALUES(2,1,2,1,0);
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
INSERT INTO "mistakes" VALUES(1,1,X'EAA8238D90AD4613E672ADFEE6EB1558','{"game":"tictactoe","better":[4],"moves":[0]}','The centre was free.','',0);
INSERT INTO "mistakes" VALUES(2,1,X'4D52DE7F6EDBAF99CF5CE766482B67BC','{"game":"connect4","better":[3],"moves":[0,6]}','Four in a row was near.','2026-12-04',3);
CREATE TABLE moderators (
    name TEXT NOT NULL,
    name_key TEXT PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "moderators" VALUES('Mo','mo',X'0505050505050505050505050505050505050505050505050505050505050505',1795000000000);
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
INSERT INTO "players" VALUES(1,'Ann','ann',X'EDD181CFA532FBD853411AEFF057083F87FEF5648AEBEAE2A586DD17B018CC70',1795463053923,0,NULL,0,1,2,1795463053923);
INSERT INTO "players" VALUES(2,'Bob','bob',X'B43A708B908C3E21C62B62764920ED892134558F409F9F612E455E4AB7330DA6',1795463053941,0,'random',2,1,0,1795463053941);
INSERT INTO "players" VALUES(3,'Cléo','cléo',X'21CF8FDDC264E2DC694A9EA71FEF85BE0DEADC490F71A32B17F55A0DCD1FCDD0',1795463053968,0,NULL,0,0,0,1795463053968);
INSERT INTO "players" VALUES(4,'guest-3201','guest-3201',X'3B52D0B520C810FDE13D285FB5525348A4F76C9555FEBBECF709DE88EF76B69C',1795463053973,1,NULL,0,0,0,1795463053973);
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
INSERT INTO "ratings" VALUES(1,'connect4','blitz',1337.788,290.2305,0.059999675,1,1795463054033,0,-8662,NULL);
INSERT INTO "ratings" VALUES(2,'connect4','blitz',1662.212,290.2305,0.059999675,1,1795463054033,1,-8338,NULL);
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
INSERT INTO "reports" VALUES(1,1795463054060,4,1,'name','a bad name',NULL,'[]','',NULL,'','',2,'network:0505');
CREATE TABLE results (                  -- a finished match, as one of its players finds it
    player INTEGER NOT NULL REFERENCES players (id),
    is_private INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    match TEXT NOT NULL REFERENCES matches (id),
    game TEXT NOT NULL,
    PRIMARY KEY (player, is_private, ended_ms, match)
) STRICT, WITHOUT ROWID;
INSERT INTO "results" VALUES(1,0,1795463054033,'rated001','connect4');
INSERT INTO "results" VALUES(1,0,1795463053996,'8LupdvUq','tictactoe');
INSERT INTO "results" VALUES(1,0,1795463054024,'gPB7k3E2','tictactoe');
INSERT INTO "results" VALUES(1,1,1795463054044,'nGLXVrVV','tictactoe');
INSERT INTO "results" VALUES(2,0,1795463054033,'rated001','connect4');
INSERT INTO "results" VALUES(2,0,1795463053996,'8LupdvUq','tictactoe');
INSERT INTO "results" VALUES(2,0,1795463054024,'gPB7k3E2','tictactoe');
INSERT INTO "results" VALUES(3,1,1795463054044,'nGLXVrVV','tictactoe');
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
INSERT INTO "sanctions" VALUES('ban','player:2','','rude',1795000000000,NULL,2,'host');
INSERT INTO "sanctions" VALUES('mute','192.0.2.0/24','192.0.2.0/24','spam',1795000000000,2000000000000,NULL,'host');
CREATE TABLE standings (                -- how many ratings have each standing, so that ranks need no count of all
    game TEXT NOT NULL,
    speed TEXT NOT NULL,
    standing INTEGER NOT NULL,
    people INTEGER NOT NULL DEFAULT 0,
    bots INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (game, speed, standing)
) STRICT, WITHOUT ROWID;
INSERT INTO "standings" VALUES('connect4','blitz',-8662,1,0);
INSERT INTO "standings" VALUES('connect4','blitz',-8338,0,1);
CREATE TABLE tournament_facts (
    tournament INTEGER NOT NULL REFERENCES tournaments (number),
    seq INTEGER NOT NULL,
    fact BLOB NOT NULL,                 -- JSON, as tournaments.tournament has it; players are numbers in it
    PRIMARY KEY (tournament, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "tournament_facts" VALUES(1,1,X'7B2266616374223A226F70656E6564222C2261745F6D73223A313739353030303030303030302C227465726D73223A7B226E616D65223A22467269646179222C226B696E64223A227377697373222C2267616D65223A22746963746163746F65222C2274696D65223A7B22696E697469616C5F6D73223A36303030307D7D2C226F7267616E69736572223A317D');
INSERT INTO "tournament_facts" VALUES(1,2,X'7B2266616374223A22656E7465726564222C2261745F6D73223A313739353030303030303030302C22656E7472616E74223A312C22706C61796572223A317D');
INSERT INTO "tournament_facts" VALUES(1,3,X'7B2266616374223A22656E7465726564222C2261745F6D73223A313739353030303030303030302C22656E7472616E74223A322C22706C61796572223A327D');
INSERT INTO "tournament_facts" VALUES(1,4,X'7B2266616374223A22626567756E222C2261745F6D73223A313739353030303030303030307D');
CREATE TABLE tournaments (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- the code by which players enter
    opened_ms INTEGER NOT NULL,
    closed_ms INTEGER                   -- null: it is not over
) STRICT;
INSERT INTO "tournaments" VALUES(1,'BCDFG',1795000000000,NULL);
CREATE INDEX guests_by_age ON players (seen_ms) WHERE is_guest;
CREATE INDEX looks_of_player ON looks (player);
CREATE INDEX live_of_first ON matches (first) WHERE NOT is_over;
CREATE INDEX live_of_second ON matches (second) WHERE NOT is_over;
CREATE INDEX matches_by_end ON matches (ended_ms) WHERE is_over;
CREATE INDEX unpacked_matches ON matches (ended_ms) WHERE is_over AND NOT is_packed;
CREATE INDEX results_by_game ON results (player, game, is_private, ended_ms, match);
CREATE INDEX results_of_match ON results (match);
CREATE INDEX open_tournaments ON tournaments (number) WHERE closed_ms IS NULL;
CREATE INDEX pairings_of_tournament ON pairings (tournament, round);
CREATE INDEX open_pairings ON pairings (tournament) WHERE NOT is_over;
CREATE INDEX pairings_of_first ON pairings (first, tournament);
CREATE INDEX pairings_of_second ON pairings (second, tournament);
CREATE INDEX leaders ON ratings (game, speed, standing DESC, player);
CREATE INDEX leading_people ON ratings (game, speed, standing DESC, player) WHERE NOT is_bot;
CREATE INDEX settled_ratings ON ratings (settled_until_ms) WHERE settled_until_ms IS NOT NULL;
CREATE UNIQUE INDEX blocks_of_player ON blocks (player, coalesce(other, 0));
CREATE INDEX blocks_of_other ON blocks (other) WHERE other IS NOT NULL;
CREATE UNIQUE INDEX sanctions_by_whom ON sanctions (act, whom, coalesce(player, 0));
CREATE INDEX sanctions_by_end ON sanctions (until_ms) WHERE until_ms IS NOT NULL;
CREATE INDEX sanctions_of_player ON sanctions (player) WHERE player IS NOT NULL;
CREATE INDEX audit_by_age ON audit (at_ms);
CREATE INDEX reports_by_age ON reports (at_ms);
CREATE INDEX reports_of_player ON reports (reported, at_ms);
CREATE INDEX reports_open ON reports (reporter, reported) WHERE closed_ms IS NULL;
CREATE INDEX reports_by_weight ON reports (weight, number) WHERE closed_ms IS NULL;
CREATE INDEX reports_of_network ON reports (network) WHERE closed_ms IS NULL;
CREATE TRIGGER facts_are_numbered_without_a_gap BEFORE INSERT ON facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM facts WHERE match = NEW.match)
BEGIN SELECT raise(ABORT, 'the journal expects another fact number'); END;
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
CREATE TRIGGER tournament_facts_are_numbered_without_a_gap BEFORE INSERT ON tournament_facts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM tournament_facts WHERE tournament = NEW.tournament)
BEGIN SELECT raise(ABORT, 'the journal expects another number of this fact'); END;
CREATE TRIGGER an_end_settles_its_board AFTER UPDATE OF is_over ON matches WHEN NEW.is_over AND NOT OLD.is_over
BEGIN
    UPDATE pairings SET is_over = 1, winner = NEW.winner, reason = NEW.reason WHERE match = NEW.id AND NOT is_over;
END;
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
CREATE TRIGGER a_closed_report_never_changes BEFORE UPDATE ON reports WHEN OLD.closed_ms IS NOT NULL
BEGIN SELECT raise(ABORT, 'a closed report never changes'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('reports',1);
COMMIT;
PRAGMA user_version = 14;
