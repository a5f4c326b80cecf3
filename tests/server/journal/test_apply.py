"""Writes and refusals of single entries."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.server.journal.jobs import committed, register
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
    decode_entry,
    encode_entry,
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


def test_a_label_is_the_one_that_was_said_and_stays(database: Database) -> None:
    committed(database, LabelBot(2, "mcts"))
    assert rows(database, "SELECT name, bot FROM players ORDER BY id") == [("ann", None), ("bob", "mcts")]
    (found,) = committed(database, TokenQuery(b"bob", 0))
    assert found == Player(2, "bob", bot="mcts")


@pytest.mark.parametrize("entry", [LabelBot(1, "x"), RenamePlayer(1, "c", "c", ("c",)), ban()])
def test_who_is_forgotten_is_not_labelled_named_or_banned(database: Database, entry: AnyEntry) -> None:
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


def test_a_match_with_one_who_is_forgotten_is_not_rated(database: Database) -> None:
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


def test_what_a_refused_entry_had_begun_is_undone_and_others_of_its_batch_are_done(
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
