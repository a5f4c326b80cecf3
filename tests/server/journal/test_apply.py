"""Writes and refusals of single entries."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.server.journal.jobs import committed, decode_entry, encode_entry, register
from ttt_net.errors import Code, Refusal
from ttt_net.messages import Ended, Played, PlayerInfo, Started, Tookback
from ttt_net.pairing.lobby import Invitation
from ttt_net.ratings import START_VOLATILITY
from ttt_net.server.admission.sanctions import Sanction, of_player
from ttt_net.server.journal import Database, Journal, MemoryLedger
from ttt_net.server.journal import apply as apply_module
from ttt_net.server.journal import database as database_module
from ttt_net.server.journal.entries import (
    AnyEntry,
    AppendEvents,
    AuditNote,
    CloseReport,
    CloseReports,
    FileReport,
    ForgetGuests,
    ForgetMatches,
    ForgetPlayer,
    ImposeSanction,
    KeepInvitation,
    LabelBot,
    LiftSanction,
    RegisterPlayer,
    RenamePlayer,
    SeeGuest,
    WriteNote,
)
from ttt_net.server.journal.queries import NotesQuery, SanctionsQuery, TokenQuery
from ttt_net.server.players import Player

NOTE = AuditNote(5, "ban", ": rude", 1)
NOBODY = (PlayerInfo(""), PlayerInfo(""))


@pytest.fixture
def database() -> Iterator[Database]:
    """A database with Ann (1) and Bob (2)."""
    with closing(Database(None)) as made:
        committed(made, register("ann"), register("bob"))
        yield made


def rows(database: Database, query: str) -> list[Any]:
    return database.connection.execute(query).fetchall()


def code(answer: object) -> Code:
    assert isinstance(answer, Refusal)
    return answer.code


def ban(until_ms: int | None = None, since_ms: int = 5, whom: str = of_player(1)) -> ImposeSanction:
    player = int(whom.removeprefix("player:")) if whom.startswith("player:") else None
    sanction = Sanction("ban", whom, "ann", "rude", since_ms, until_ms, player)
    return ImposeSanction((sanction,), NOTE._replace(at_ms=since_ms))


def report(reporter: int, at_ms: int = 10, network: str | None = "", most: int = 100, reported: int = 1) -> FileReport:
    return FileReport(at_ms, reporter, reported, "chat", "see", None, (), "", most, network)


def opens(database: Database) -> list[tuple[int, int, int]]:
    """Return number, reporter and weight of the open reports."""
    return rows(database, "SELECT number, reporter, weight FROM reports WHERE closed_ms IS NULL ORDER BY number")


def crowd(database: Database, size: int) -> range:
    """Register so many players, and return their numbers."""
    committed(database, *(register(f"p{each}") for each in range(size)))
    return range(3, size + 3)


def test_a_report_weighs_more_from_known_active_players_who_have_met_the_reported(
    database: Database,
) -> None:
    crowd(database, 4)
    database.connection.execute("UPDATE players SET won = 9, lost = 1 WHERE id IN (4, 5)")
    database.connection.execute("INSERT INTO meetings VALUES (5, 1, 0, 1, 0)")
    committed(database, register("late"), report(2, at_ms=86_399_999))
    committed(database, *(report(each, at_ms=86_400_000) for each in (3, 4, 5)), report(6, network=None))
    assert [weight for _, _, weight in opens(database)] == [0, 1, 2, 3, 1]


@pytest.mark.parametrize(("weight", "most"), [(0, 2), (1, 5), (2, 10), (3, 20)])
def test_a_reporter_has_as_many_open_reports_as_their_weight_allows(database: Database, weight: int, most: int) -> None:
    others = crowd(database, most + 1)
    if weight > 1:
        database.connection.execute("UPDATE players SET drawn = 10 WHERE id = 2")
    if weight > 2:
        database.connection.executemany("INSERT INTO meetings VALUES (2, ?, 1, 0, 0)", [(each,) for each in others])
    at_ms = 86_400_000 if weight else 10
    answers = committed(database, *(report(2, at_ms, reported=each) for each in others))
    assert answers[:most] == list(range(1, most + 1))
    assert code(answers[most]) is Code.TOO_FAST
    closing = CloseReport(1, "", NOTE._replace(at_ms=at_ms))
    assert committed(database, closing, report(2, at_ms, reported=others[most]))[1] == most + 1


def test_newcomers_of_one_network_share_twenty_open_reports_and_regulars_are_not_counted(database: Database) -> None:
    players = crowd(database, 14)
    flood = [report(each, network="network:1", reported=other) for each in players[:12] for other in (1, 2)]
    answers = committed(database, *flood)
    assert [isinstance(each, Refusal) for each in answers] == [False] * 20 + [True] * 4
    database.connection.execute("UPDATE players SET won = 10, created_ms = -86400000 WHERE id = ?", (players[12],))
    assert committed(database, report(players[12], network="network:1")) == [21]
    assert committed(database, report(players[13], network="network:2")) == [22]


def test_a_full_queue_makes_room_for_a_report_that_counts_more_and_for_no_other(database: Database) -> None:
    players = crowd(database, 5)
    committed(database, *(report(each, most=3) for each in players[:3]))
    assert code(*committed(database, report(players[3], most=3))) is Code.TOO_FAST
    database.connection.execute("UPDATE players SET won = 10 WHERE id = ?", (players[4],))
    assert code(*committed(database, report(players[4], network=None, most=3))) is Code.TOO_FAST, "of an older release"
    (number,) = committed(database, report(players[4], most=3))
    assert opens(database) == [(1, players[0], 0), (2, players[1], 0), (number, players[4], 1)]
    assert rows(database, "SELECT closed_by, note FROM reports WHERE number = 3") == [
        ("server", "closed to make room for a report by a player who is better known here")
    ]


def test_open_reports_of_a_player_or_by_one_are_closed_together_and_never_change_again(database: Database) -> None:
    first, second, third = crowd(database, 3)
    committed(database, report(first), report(second), report(first, reported=2), report(third, reported=2))
    closing = CloseReports(1, is_by=False, text="seen", note=NOTE)
    assert committed(database, closing) == [[1, 2]]
    assert code(*committed(database, closing)) is Code.BAD_MESSAGE
    closed = "SELECT * FROM reports WHERE number < 3"
    before = rows(database, closed)
    assert committed(database, CloseReports(first, is_by=True, text="spam", note=NOTE)) == [[3]]
    assert committed(database, report(first)) == [5], "a further report is a new one"
    assert code(*committed(database, CloseReport(1, "again", NOTE))) is Code.BAD_MESSAGE
    with pytest.raises(sqlite3.IntegrityError, match="a closed report never changes"):
        database.connection.execute("UPDATE reports SET note = 'x' WHERE number = 1")
    assert rows(database, closed) == before
    assert [each for each, *_ in rows(database, "SELECT what FROM audit")] == [": rude", ": rude"]


def test_a_bot_is_stored_with_its_label(database: Database) -> None:
    committed(database, LabelBot(2, "mcts"))
    assert rows(database, "SELECT name, bot FROM players ORDER BY id") == [("ann", None), ("bob", "mcts")]
    (found,) = committed(database, TokenQuery(b"bob", 0))
    assert found == Player(2, "bob", bot="mcts")


@pytest.mark.parametrize("entry", [LabelBot(1, "x"), RenamePlayer(1, "c", "c", ("c",)), ban()])
def test_deleted_players_cannot_be_labelled_renamed_or_banned(database: Database, entry: AnyEntry) -> None:
    committed(database, ForgetPlayer(1))
    before = rows(database, "SELECT * FROM players"), rows(database, "SELECT * FROM sanctions")
    assert code(*committed(database, entry)) is Code.UNKNOWN_PLAYER
    assert (rows(database, "SELECT * FROM players"), rows(database, "SELECT * FROM sanctions")) == before


def test_a_bot_is_let_in_once_its_label_is_kept_and_with_its_matches_of_then() -> None:
    ledger, answers = MemoryLedger(), list[object]()
    journal = Journal(ledger)
    for name in ("Ann", "Bob"):
        journal.register(name, f"token of {name}", None, 0, answers.append, answers.append)
    started = Started(match="m", seq=1, at_ms=0, game="tictactoe", players=NOBODY)
    journal.append([started], answers.append, answers.append, (1, 2))
    ledger.deliver()
    answers.clear()
    journal.find("token of Ann", "mcts", 0, answers.append, answers.append)
    ledger.deliver(1)
    assert answers == []
    journal.append([Ended("m", 2, 1, None, "draw")], lambda _: None, answers.append)
    ledger.deliver()
    ledger.deliver()
    assert answers == [Player(1, "Ann", bot="mcts")], "the match that ended meanwhile is none of hers any more"
    journal.find("token of Ann", "mcts", 0, answers.append, answers.append)
    ledger.deliver(1)
    assert len(answers) == 2, "a label that is known is not written again"
    ledger.database.close()


def test_a_match_by_invitation_spends_it_and_a_rematch_with_its_code_does_not(
    database: Database,
) -> None:
    invitation = Invitation("CODE", 1, "gomoku", None, 100)
    for previous, left in (("m", 1), (None, 0)):
        committed(database, KeepInvitation(invitation, 5))
        started = Started(f"n-{previous}", 1, 6, "gomoku", NOBODY, None, previous, private=True, code="CODE")
        assert committed(database, AppendEvents((started,), (1, 2))) == [None]
        assert len(rows(database, "SELECT * FROM invitations")) == left


def test_a_guest_is_seen_once_an_hour(database: Database) -> None:
    committed(database, RegisterPlayer("guest-1", "guest-1", (), b"g", 0, is_guest=True))
    seen = []
    for minutes in (1, 59, 61, 100, 122):
        committed(database, SeeGuest(3, minutes * 60_000))
        ((seen_ms,),) = rows(database, "SELECT seen_ms FROM players WHERE id = 3")
        seen.append(seen_ms // 60_000)
    assert seen == [0, 0, 61, 61, 122]


def test_the_name_of_a_guest_looks_like_nothing_and_that_of_a_player_is_found() -> None:
    ledger, answers = MemoryLedger(is_instant=True), list[object]()
    Journal(ledger).register("guest-1", "t", None, 0, answers.append, answers.append, is_guest=True)
    assert rows(ledger.database, "SELECT * FROM looks") == []
    Journal(ledger).rename(1, "Gus", lambda: answers.append(None), answers.append)
    assert {player for _, player in rows(ledger.database, "SELECT * FROM looks")} == {1}
    assert rows(ledger.database, "SELECT name, is_guest FROM players") == [("Gus", 0)]
    ledger.database.close()


def test_sanctions_are_kept_with_a_note_until_they_are_lifted_or_run_out(database: Database) -> None:
    network = ban(until_ms=100, whom="192.0.2.0/24")
    committed(database, network, ban())
    assert len(committed(database, SanctionsQuery())[0]) == 2
    committed(database, LiftSanction("ban", of_player(1), 1, NOTE._replace(act="unban")))
    assert committed(database, SanctionsQuery())[0] == list(network.sanctions)
    committed(database, ban(since_ms=100, whom="198.51.100.0/24"))
    assert [each.whom for each in committed(database, SanctionsQuery())[0]] == ["198.51.100.0/24"]
    acts = [note.act for note in committed(database, NotesQuery(9))[0]]
    assert acts == ["ban", "ban", "unban", "ban"]


def test_the_oldest_notes_give_way(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_module, "MAX_NOTES", 3)
    committed(database, *(WriteNote(AuditNote(at_ms, "announce", "hello")) for at_ms in range(9)))
    assert rows(database, "SELECT at_ms FROM audit ORDER BY id") == [(6,), (7,), (8,)]


def test_an_end_counts_the_moves_that_were_not_taken_back_before_it(database: Database) -> None:
    events = (
        Started(match="m", seq=1, at_ms=0, game="tictactoe", players=NOBODY),
        Played("m", 2, 1, 0, 1, 4), Played("m", 3, 2, 1, 2, 0), Tookback("m", 4, 3, 1, 1),
        Ended("m", 5, 4, 0, "resign"),
    )  # fmt: skip
    committed(database, AppendEvents(events, (1, 2)))
    assert rows(database, "SELECT is_over, ended_ms, winner, reason, plies FROM matches") == [(1, 4, 0, "resign", 1)]


def test_an_end_by_a_move_counts_that_move_among_ends_of_other_matches(database: Database) -> None:
    for each in "mno":
        started = Started(match=each, seq=1, at_ms=0, game="tictactoe", players=NOBODY)
        committed(database, AppendEvents((started, Played(each, 2, 1, 0, 1, 4)), (1, 2)))
    ends = [
        AppendEvents((Played("m", 3, 2, 1, 2, 0), Ended("m", 4, 2, 1, "line"))),
        AppendEvents((Ended("n", 3, 2, 1, "resign"),)),
        AppendEvents((Played("o", 3, 2, 1, 2, 8), Ended("n", 4, 3, 0, "resign"))),
    ]
    committed(database, *ends)
    found = rows(database, "SELECT id, plies FROM matches WHERE is_over ORDER BY id")
    assert found == [("m", 2), ("n", 1)]


def rated(match: str) -> AppendEvents:
    started = Started(match=match, seq=1, at_ms=0, game="connect4", players=NOBODY, rated=True)
    return AppendEvents((started,), (1, 2))


def test_a_match_has_one_end_even_if_two_share_a_commit(database: Database) -> None:
    ends = [AppendEvents((Ended("m", seq, seq, winner, "line"),)) for seq, winner in ((2, 0), (3, 1))]
    _, first, second = committed(database, rated("m"), *ends)
    assert first is not None
    assert second is None
    assert rows(database, "SELECT winner, ended_ms FROM matches") == [(0, 2)]
    assert rows(database, "SELECT won, lost FROM players") == [(1, 0), (0, 1)]
    assert rows(database, "SELECT player FROM ratings WHERE rating > 1500") == [(1,)]


def test_a_match_against_a_deleted_player_is_not_rated(database: Database) -> None:
    committed(database, rated("m"))
    database.connection.execute("UPDATE players SET is_guest = 1, seen_ms = 0 WHERE id = 2")
    assert committed(database, ForgetGuests(10, 10, (), (), 20)) == [[2]]
    assert committed(database, AppendEvents((Ended("m", 2, 1, 0, "line"),))) == [None]
    assert rows(database, "SELECT * FROM ratings") == []
    assert rows(database, "SELECT is_over FROM matches") == [(1,)]


def test_of_a_forgotten_player_only_the_number_is_left(database: Database) -> None:
    committed(database, rated("m"), AppendEvents((Ended("m", 2, 1, 0, "line"),)), ban())
    committed(database, KeepInvitation(Invitation("CODE", 1, "gomoku", None, 100), 5), ForgetPlayer(1))
    for table in ("ratings", "looks", "invitations"):
        assert 1 not in {player for (player,) in rows(database, f"SELECT player FROM {table}")}, table
    assert rows(database, "SELECT * FROM sanctions") == []  # without a hash of their token
    assert rows(database, "SELECT name, name_key, token_hash FROM players WHERE id = 1") == [("deleted", None, None)]
    assert rows(database, "SELECT sum(people) FROM standings") == [(1,)]


def test_matches_in_use_are_kept_and_a_bite_is_no_larger_for_them(database: Database) -> None:
    for match in "abcd":
        committed(database, rated(match), AppendEvents((Ended(match, 2, 1, 0, "line"),)))
    assert committed(database, ForgetMatches(10, ("d", "x"), 2)) == [["a", "b"]]
    database.connection.execute("UPDATE players SET is_guest = 1, seen_ms = 0")
    committed(database, rated("live"), rated("gone"))
    assert committed(database, ForgetGuests(10, 10, (), ("live",), 20)) == [[1, 2]]
    assert rows(database, "SELECT id FROM matches ORDER BY id") == [("c",), ("d",), ("live",)]


def test_the_start_of_a_rematch_is_kept_as_it_comes_back_from_its_bytes() -> None:
    ledger = MemoryLedger(is_instant=True)
    committed(ledger.database, register("ann"), register("bob"))
    asked: list[AnyEntry] = []
    ledger.follow(0, lambda _, entry: asked.append(entry))
    for match, score in (("m", (1, 0.5)), ("n", (0, 0))):
        started = Started(match, 1, 0, "gomoku", (PlayerInfo("Ann"), PlayerInfo("Bob")), previous="l", score=score)
        Journal(ledger).append([started], lambda _: None, lambda _: None, (1, 2))
    assert [encode_entry(decode_entry(encode_entry(entry))) for entry in asked] == [encode_entry(e) for e in asked]
    assert len(asked) == 2
    assert b"Ann" not in b"".join(encode_entry(entry) for entry in asked)
    ledger.database.close()


def test_ratings_are_kept_rounded_and_volatility_still_moves(database: Database) -> None:
    for number in range(12):
        started = Started(
            match=f"m{number}", seq=1, at_ms=number, game="connect4", players=NOBODY, rated=True
        )  # fmt: skip
        end = Ended(f"m{number}", 2, number, 0 if number < 8 else 1, "line")
        committed(database, AppendEvents((started,), (1, 2)), AppendEvents((end,)))
    kept = rows(database, "SELECT rating, deviation, volatility FROM ratings")
    assert len(kept) == 2
    for rating, deviation, volatility in kept:
        assert (rating, deviation) == (round(rating, 4), round(deviation, 4))
        assert volatility != START_VOLATILITY


def test_a_rejected_entry_is_rolled_back_and_the_rest_of_its_batch_is_applied(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No entry begins before it may still be refused; if one did, it would not harm others."""

    def careless(connection: sqlite3.Connection, entry: AnyEntry) -> object:
        result = apply_module.apply(connection, entry)
        if isinstance(entry, LabelBot):
            raise Refusal(Code.UNKNOWN_PLAYER, "too late")
        return result

    monkeypatch.setattr(database_module, "apply", careless)
    answers = committed(database, register("c"), LabelBot(1, "x"), register("d"))
    assert [type(answer) for answer in answers] == [Player, Refusal, Player]
    assert rows(database, "SELECT name, bot FROM players ORDER BY id") == [
        ("ann", None), ("bob", None), ("c", None), ("d", None),
    ]  # fmt: skip
