"""Profiles, histories and lists of ratings: right, in pages, and at a cost that does not grow with what there is."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.ratings import Rating
from ttt_net.server.journal import Database
from ttt_net.server.journal.apply import apply
from ttt_net.server.journal.entries import AppendEvents, AppendTournament, BeginBoards, UnsettleRatings
from ttt_net.server.journal.past import KeptMatches, history, leaderboard, profile, record
from ttt_net.server.journal.queries import ratings_of
from ttt_net.server.maintenance import BITE
from ttt_net.tournaments.tournament import Begun, Board, BoardsBegan, Closed, Entered, Opened, Terms

ANN, BOB, BOT = 1, 2, 3
NOW_MS = 1_000_000


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A journal with Ann, Bob and a bot, and with no match yet."""
    with closing(Database(tmp_path / "journal")):
        pass
    with closing(sqlite3.connect(tmp_path / "journal", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = OFF")
        for player, name, bot in ((ANN, "Ann", None), (BOB, "Bob", None), (BOT, "alphabeta", "alphabeta")):
            connection.execute(
                "INSERT INTO players (id, name, name_key, token_hash, created_ms, bot) VALUES (?, ?, ?, ?, 7, ?)",
                (player, name, name.casefold(), name.encode(), bot),
            )
        yield connection


def play(
    connection: sqlite3.Connection,
    match: str,
    winner: int | None = 0,
    ended_ms: int = 10,
    seats: tuple[int, int] = (ANN, BOB),
    game: str = "connect4",
    reason: str = "line",
    *,
    is_private: bool = False,
) -> None:
    """Write down a finished match."""
    players = (wire.PlayerInfo(""), wire.PlayerInfo("", rating=1600))
    event = wire.encode(wire.Started(match=match, seq=1, at_ms=1, game=game, players=players))
    connection.execute(
        "INSERT INTO matches (id, first, second, started_ms, game, is_private) VALUES (?, ?, ?, 1, ?, ?)",
        (match, *seats, game, is_private),
    )
    connection.execute(
        "INSERT INTO facts (match, seq, fact) SELECT number, 1, ? FROM matches WHERE id = ?", (event, match)
    )
    connection.execute(
        "UPDATE matches SET is_over = 1, ended_ms = ?, winner = ?, reason = ?, plies = 7 WHERE id = ?",
        (ended_ms, winner, reason, match),
    )


def ids(told: wire.HistoryReply) -> list[str]:
    return [row.match for row in told.matches]


def test_a_history_is_newest_first_and_describes_each_match(journal: sqlite3.Connection) -> None:
    play(journal, "a", 0, 10)
    play(journal, "b", None, 30, seats=(BOT, ANN), reason="draw")
    play(journal, "c", 1, 20, seats=(BOB, BOT))
    told = history(journal, None, None, None, ANN)
    assert ids(told) == ["b", "a"]
    assert told.player == wire.PlayerInfo("Ann")
    assert told.matches[1] == wire.FinishedMatch(
        "a", "connect4", 10, (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob", rating=1600)), 0, "line", 7
    )
    assert ids(history(journal, "BOB", None, None, ANN)) == ["c", "a"]


def test_only_oneself_sees_ones_private_matches(journal: sqlite3.Connection) -> None:
    play(journal, "open", 0, 10)
    play(journal, "private", 0, 20, is_private=True)
    assert ids(history(journal, None, None, None, ANN)) == ["private", "open"]
    assert ids(history(journal, "ann", None, None, ANN)) == ["private", "open"]
    assert ids(history(journal, "Bob", None, None, ANN)) == ["open"]
    assert ids(history(journal, "Ann", None, None, BOT)) == ["open"]


@pytest.mark.parametrize("game", [None, "connect4"])
def test_the_pages_of_a_history_have_every_match_once(journal: sqlite3.Connection, game: str | None) -> None:
    rng = random.Random(1)
    matches = []
    for number in range(65):
        ended_ms = rng.randrange(20)  # many end in the same millisecond
        matches.append((ended_ms, f"m{number}"))
        play(journal, f"m{number}", None, ended_ms, is_private=rng.random() < 0.5)
        play(journal, f"q{number}", None, ended_ms, seats=(BOB, BOT))
    if game:
        play(journal, "another", 0, 5, game="qubic")
    before, pages = None, []
    while True:
        told = history(journal, None, game, before, ANN)
        pages.append(ids(told))
        before = told.before
        if before is None:
            break
    assert [len(page) for page in pages] == [20, 20, 20, 5]
    assert [match for page in pages for match in page] == [match for _, match in sorted(matches, reverse=True)]


@pytest.mark.parametrize("before", ["", "-", "x-y", "1e3-m", "-1-m", "9" * 30 + "-m", "²-m"])
def test_a_page_mark_that_was_never_given_is_refused(journal: sqlite3.Connection, before: str) -> None:
    with pytest.raises(Refusal) as caught:
        history(journal, None, None, before, ANN)
    assert caught.value.code is Code.BAD_MESSAGE


def test_a_profile_counts_results_and_how_the_asker_fared(journal: sqlite3.Connection) -> None:
    play(journal, "a", 0)
    play(journal, "b", 1)
    play(journal, "c", 0)
    play(journal, "d", None, reason="abort")
    play(journal, "e", None, reason="agreement", seats=(BOB, ANN))
    play(journal, "f", 0, seats=(BOT, ANN))
    told = profile(journal, KeptMatches(), wire.ProfileRequest(1, "bob"), ANN, None, [], NOW_MS)
    assert (told.won, told.drawn, told.lost) == (1, 1, 2)
    assert told.against == wire.HeadToHead(won=2, drawn=1, lost=1)
    assert (told.player, told.since_ms, told.online) == (wire.PlayerInfo("Bob"), 7, False)
    mine = profile(journal, KeptMatches(), wire.ProfileRequest(1), ANN, wire.PlayerInfo("Ann"), ["x"], NOW_MS)
    assert (mine.won, mine.drawn, mine.lost) == (2, 1, 2)
    assert (mine.against, mine.online, mine.live) == (None, True, ["x"])
    stranger = profile(journal, KeptMatches(), wire.ProfileRequest(1, "alphabeta"), BOB, None, [], NOW_MS)
    assert stranger.against == wire.HeadToHead(0, 0, 0)
    assert stranger.player.bot == "alphabeta"


def test_the_record_of_a_game_that_is_not_installed_has_the_numbers_of_its_moves(journal: sqlite3.Connection) -> None:
    started = wire.Started(
        match="k3V9pCD5", seq=1, at_ms=0, game="marbles", players=(wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    )
    played = wire.Played(match="k3V9pCD5", seq=2, at_ms=5, side=0, ply=1, move=17)
    ended = wire.Ended(match="k3V9pCD5", seq=3, at_ms=9, winner=0, reason="resign")
    apply(journal, AppendEvents((started, played, ended), (ANN, BOB)))
    answer = record(journal, KeptMatches(), wire.RecordRequest(1, "k3V9pCD5"), BOT)
    assert isinstance(answer.message, wire.RecordReply)
    assert answer.message.text.startswith("Game: marbles\n")
    assert answer.message.text.endswith("\n1. 17\n")


def test_unknown_players_have_no_profile_and_no_history(journal: sqlite3.Connection) -> None:
    asks: list[Callable[[], object]] = [
        lambda: profile(journal, KeptMatches(), wire.ProfileRequest(1, "Nobody"), ANN, None, [], NOW_MS),
        lambda: history(journal, "deleted", None, None, ANN),
    ]
    for ask in asks:
        with pytest.raises(Refusal) as caught:
            ask()
        assert caught.value.code is Code.UNKNOWN_PLAYER


def give(connection: sqlite3.Connection, player: int, rating: Rating, *, is_bot: bool = False) -> None:
    connection.execute(
        "INSERT INTO ratings VALUES (?, 'connect4', 'blitz', ?, ?, ?, ?, ?, ?, ?, ?)",
        (player, *rating, is_bot, rating.standing, rating.settled_until_ms),
    )


def club(connection: sqlite3.Connection, size: int, seed: int = 1) -> list[tuple[int, int, bool]]:
    """Rate so many new players; return (standing, number, is a bot), the best first."""
    rng = random.Random(seed)
    rows = []
    connection.execute("BEGIN")
    for player in range(100, 100 + size):
        connection.execute(
            "INSERT INTO players (id, name, name_key, created_ms) VALUES (?, ?, ?, 0)",
            (player, f"p{player}", f"p{player}"),
        )
        rating = Rating(rng.gauss(1500, 60), rng.choice([60, 200]), games=5, at_ms=NOW_MS)
        is_bot = rng.random() < 0.2
        give(connection, player, rating, is_bot=is_bot)
        rows.append((rating.standing, player, is_bot))
    connection.execute("COMMIT")
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def ask(
    connection: sqlite3.Connection,
    asker: int = ANN,
    page: int = 1,
    *,
    bots: bool = True,
    people: bool = True,
    now_ms: int = NOW_MS,
) -> wire.LeaderboardReply:
    said = wire.LeaderboardRequest(1, "connect4", "blitz", bots, page, people)
    return leaderboard(connection, said, "connect4", asker, now_ms)


@pytest.mark.parametrize(("bots", "people"), [(True, True), (False, True), (True, False)])
def test_the_pages_of_a_list_of_ratings_have_everybody_once_in_order(
    journal: sqlite3.Connection, *, bots: bool, people: bool
) -> None:
    order = [(player, is_bot) for _, player, is_bot in club(journal, 330) if (bots if is_bot else people)]
    others = set(range(100, 430)) - {player for player, _ in order}
    pages = -(-len(order) // 20)
    told = [ask(journal, page=page, bots=bots, people=people) for page in range(1, pages + 1)]
    assert [each.pages for each in told] == [pages] * pages
    assert [leader.player.name for each in told for leader in each.leaders] == [f"p{player}" for player, _ in order]
    assert [leader.rank for each in told for leader in each.leaders] == list(range(1, len(order) + 1))
    for rank, (player, _) in enumerate(order, 1):
        assert ask(journal, asker=player, bots=bots, people=people).you == rank
    assert all(ask(journal, asker=player, bots=bots, people=people).you is None for player in others)
    assert ask(journal, page=pages + 1, bots=bots, people=people).leaders == []
    assert ask(journal, page=10_000, bots=bots, people=people).leaders == []


def test_a_list_of_neither_people_nor_bots_is_refused(journal: sqlite3.Connection) -> None:
    with pytest.raises(Refusal, match="a list of ratings has people, bots or both"):
        ask(journal, bots=False, people=False)


def test_a_list_of_bots_looks_only_at_standings_that_have_some(journal: sqlite3.Connection) -> None:
    (statement,) = (
        each for each in traced(journal, lambda: (club(journal, 50), ask(journal, people=False))) if "CROSS" in each
    )
    plan = [row[-1] for row in journal.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert [line.partition(" USING ")[0] for line in plan][:2] == ["SEARCH standings", "SEARCH ratings"]
    assert "leaders (game=? AND speed=? AND standing=?)" in plan[1]
    assert not [line for line in plan if "SCAN" in line or "TEMP B-TREE" in line]


def test_settled_ratings_come_first_and_are_marked(journal: sqlite3.Connection) -> None:
    give(journal, ANN, Rating(1400, 80, games=30, at_ms=NOW_MS))
    give(journal, BOB, Rating(1800, 300, games=2, at_ms=NOW_MS))
    give(journal, BOT, Rating(1600, 50, games=99, at_ms=NOW_MS), is_bot=True)
    told = ask(journal)
    assert [(each.rank, each.player.name, each.player.rating, each.player.provisional) for each in told.leaders] == [
        (1, "alphabeta", 1600, False),
        (2, "Ann", 1400, False),
        (3, "Bob", 1800, True),
    ]
    assert told.leaders[0].player.bot == "alphabeta"
    assert (told.you, told.leaders[0].games, told.leaders[0].deviation) == (2, 99, 50)
    people = ask(journal, bots=False)
    assert [(each.rank, each.player.name) for each in people.leaders] == [(1, "Ann"), (2, "Bob")]
    assert ask(journal, asker=BOT, bots=False).you is None


def unsettle(connection: sqlite3.Connection, now_ms: int) -> list[tuple[int, str, str]]:
    return cast("list[tuple[int, str, str]]", apply(connection, UnsettleRatings(now_ms, BITE)))


def test_long_absent_players_rank_after_settled_ratings(journal: sqlite3.Connection) -> None:
    away, later_ms = Rating(2_000, 80, games=300, at_ms=NOW_MS), NOW_MS + 400 * 86_400_000
    give(journal, ANN, away)
    give(journal, BOB, Rating(1_400, 80, games=30, at_ms=later_ms))
    give(journal, BOT, Rating(1_300, 60, games=9, at_ms=later_ms), is_bot=True)
    assert unsettle(journal, NOW_MS) == []
    assert [each.player.name for each in ask(journal).leaders] == ["Ann", "Bob", "alphabeta"]
    assert unsettle(journal, later_ms) == [(ANN, "connect4", "blitz")]
    assert unsettle(journal, later_ms) == []
    told = ask(journal, now_ms=later_ms)
    assert [(each.rank, each.player.name, each.player.provisional) for each in told.leaders] == [
        (1, "Bob", False),
        (2, "alphabeta", False),
        (3, "Ann", True),
    ]
    assert told.you == 3
    counted = "SELECT standing, sum(NOT is_bot), sum(is_bot) FROM ratings GROUP BY 1 ORDER BY 1"
    in_lists = "SELECT standing, people, bots FROM standings ORDER BY 1"
    assert journal.execute(in_lists).fetchall() == journal.execute(counted).fetchall()


def test_the_ratings_that_time_has_made_provisional_are_moved_a_bite_at_a_time(journal: sqlite3.Connection) -> None:
    club(journal, 100)
    (settled,) = journal.execute("SELECT count(*) FROM ratings WHERE standing > 0").fetchone()
    moved = [len(unsettle(journal, NOW_MS + 10**12)) for _ in range(6)]
    assert moved[:2] == [BITE, BITE]
    assert (sum(moved), moved[-1]) == (settled, 0)
    assert journal.execute("SELECT count(*) FROM ratings WHERE standing > 0").fetchone() == (0,)


def test_a_list_without_ratings_has_one_empty_page(journal: sqlite3.Connection) -> None:
    told = ask(journal)
    assert (told.pages, told.leaders, told.you) == (1, [], None)


def traced(connection: sqlite3.Connection, work: Callable[[], object]) -> list[str]:
    """Return the statements that some work runs."""
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    try:
        work()
    finally:
        connection.set_trace_callback(None)
    return statements


def test_no_question_scans_a_table(journal: sqlite3.Connection) -> None:
    club(journal, 50)
    for number in range(30):
        play(journal, f"m{number}", number % 2, number)
    give(journal, ANN, Rating(1500, 60, games=9, at_ms=NOW_MS))
    ended = wire.Ended(match="m1", seq=2, at_ms=5, winner=0, reason="line")
    questions: list[Callable[[], Any]] = [
        lambda: history(journal, None, None, "20-m20", ANN),
        lambda: history(journal, "Bob", "connect4", None, ANN),
        lambda: profile(journal, KeptMatches(), wire.ProfileRequest(1, "Bob"), ANN, None, [], NOW_MS),
        lambda: ask(journal, page=2),
        lambda: ask(journal, page=2, bots=False),
        lambda: ratings_of(journal, ANN, NOW_MS),
        lambda: apply(journal, AppendEvents((ended,))),
        lambda: unsettle(journal, NOW_MS + 10**12),
    ]
    for question in questions:
        statements = traced(journal, question)
        assert statements
        for statement in (each for each in statements if not each.startswith("--")):
            for *_, step in journal.execute(f"EXPLAIN QUERY PLAN {statement}"):
                assert "SCAN" not in step or "json_each" in step, (statement, step)


def steps(connection: sqlite3.Connection, question: Callable[[], object]) -> int:
    """Return how many hundred instructions SQLite takes for a question: a measure that no busy machine changes."""
    counted = [0]

    def count() -> int:
        counted[0] += 1
        return 0

    connection.set_progress_handler(count, 100)
    try:
        question()
    finally:
        connection.set_progress_handler(None, 0)
    return counted[0]


def test_a_list_of_a_hundred_times_as_many_ratings_costs_little_more(journal: sqlite3.Connection) -> None:
    def costs(asker: int, *pages: int) -> list[int]:
        return [steps(journal, partial(ask, journal, asker, page)) for page in pages]

    club(journal, 300)
    small = costs(ANN, 1, 8, 15)
    journal.execute("DELETE FROM ratings")
    journal.execute("DELETE FROM players WHERE id >= 100")
    order = club(journal, 30_000)
    asker = order[20_000][1]
    assert ask(journal, asker).you == 20_001
    large = costs(asker, 1, 800, 1_500)
    assert max(large) < 10 * max(small) + 50, (small, large)


def test_a_long_history_costs_the_same_at_its_end(journal: sqlite3.Connection) -> None:
    journal.execute("BEGIN")
    for number in range(3_000):
        play(journal, f"m{number:04}", number % 2, number)
    journal.execute("COMMIT")
    first, last = (steps(journal, partial(history, journal, None, None, before, ANN)) for before in (None, "40-m"))
    assert last <= 2 * first + 5
    assert ids(history(journal, None, None, "2980-m2980", ANN))[0] == "m2979"


def hold(connection: sqlite3.Connection, code: str, *, is_private: bool = False, is_over: bool = True) -> None:
    """Write down a tournament of one round, in which Ann beats Bob, or is playing."""
    terms = Terms("Friday", "swiss", "connect4", TimeControl(60_000), rounds=1, private=is_private)
    facts = (Opened(5, terms), Entered(5, 1, ANN), Entered(5, 2, BOB), Begun(5))
    apply(connection, AppendTournament(code, 1, facts))
    players = (wire.PlayerInfo(""), wire.PlayerInfo(""))
    started = wire.Started(f"m{code}", 1, 6, "connect4", players, TimeControl(60_000))
    began = BoardsBegan(6, 1, (Board(1, 1, 2, started.match),))
    apply(connection, BeginBoards(code, 5, began, (AppendEvents((started,), (ANN, BOB)),)))
    if is_over:
        apply(connection, AppendEvents((wire.Ended(started.match, 2, 7, 0, "resign"),)))
        apply(connection, AppendTournament(code, 6, (Closed(8, "finished"),)))


def tournaments_of(connection: sqlite3.Connection, kept: KeptMatches, name: str, asker: int) -> list[str]:
    told = profile(connection, kept, wire.ProfileRequest(0, name), asker, None, [], NOW_MS)
    assert all(each.place == (1 if name == "Ann" or not each.over else 2) for each in told.tournaments)
    return [each.tournament for each in told.tournaments]


def test_a_profile_has_the_latest_tournaments_and_private_ones_only_of_oneself(journal: sqlite3.Connection) -> None:
    kept = KeptMatches()
    for number in range(14):
        hold(journal, f"T{number}", is_private=number == 12, is_over=number < 13)
    for _ in range(2):  # from the tables, and then from the cache
        assert tournaments_of(journal, kept, "Ann", ANN) == [f"T{number}" for number in range(13, 3, -1)]
        others = ["T13", *(f"T{number}" for number in range(11, 2, -1))]
        assert tournaments_of(journal, kept, "Bob", ANN) == others
    assert tournaments_of(journal, kept, "alphabeta", ANN) == []


def test_a_profile_reads_a_bounded_number_of_matches_of_tournaments(
    journal: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ttt_net.server.journal.past.MAX_PAIRINGS", 2)
    kept = KeptMatches()
    for number in range(5):
        hold(journal, f"T{number}")
    assert tournaments_of(journal, kept, "Ann", BOB) == ["T4", "T3"]
    assert tournaments_of(journal, kept, "Ann", BOB) == ["T4", "T3", "T2", "T1"], "those of before cost nothing"
