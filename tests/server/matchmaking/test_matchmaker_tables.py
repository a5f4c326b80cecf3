"""Challenges, seeks and invitations on simulated time: who is told what, up to the last millisecond."""

from collections import Counter
from typing import Any

import pytest

from tests.server.house import TOKEN, Caller
from tests.server.matchmaking.parlour import Parlour
from ttt_net import messages as wire
from ttt_net.games import find_game
from ttt_net.games.notation import write_position
from ttt_net.pairing.seeks import BANDS, MOST_IN_TURN
from ttt_net.server.journal.entries import KeepInvitation
from ttt_net.server.settings.configuration import Rate

CONNECT4 = find_game("connect4")


@pytest.fixture
def parlour() -> Parlour:
    return Parlour()


def over(link: Caller) -> list[tuple[int, object]]:
    """Return the challenges that a player was told are over, with the reasons."""
    told: list[tuple[int, object]] = [
        (each.challenge, each.reason) for each in link.heard if isinstance(each, wire.ChallengeOver)
    ]
    link.heard.clear()
    return told


def test_lists_are_sent_once_or_while_they_are_asked_for(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    assert parlour.do(ann, wire.WhoRequest(9)) == ["ok", "playerlist"]
    parlour.do(bob, wire.SeekRequest(9, games=["qubic"]))
    parlour.later(3_000)
    assert ann.take() == []
    assert parlour.do(ann, wire.LobbyRequest(9, on=True)) == ["ok", "seeklist", "playerlist", "livelist"]
    parlour.do(bob, wire.UnseekRequest(9))
    parlour.later(3_000)
    assert sorted(ann.take()) == ["playerlist", "seeklist"]
    assert parlour.do(ann, wire.LobbyRequest(9, on=False)) == ["ok"]
    parlour.do(bob, wire.SeekRequest(9, games=["qubic"]))
    parlour.later(3_000)
    assert ann.take() == []


def test_a_seek_is_withdrawn_once(parlour: Parlour) -> None:
    (ann,) = parlour.people("Ann")
    requests: list[wire.AnyRequest] = [wire.UnseekRequest(9)] * 4
    requests[1] = wire.SeekRequest(9, games=["qubic"])
    answers = [["not_seeking"], ["ok"], ["ok"], ["not_seeking"]]
    assert [parlour.do(ann, each) for each in requests] == answers


@pytest.mark.parametrize(("later_ms", "is_over"), [(29_999, False), (30_000, True), (30_001, True)])
def test_a_challenge_waits_for_half_a_minute(parlour: Parlour, later_ms: int, is_over: bool) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    assert parlour.do(ann, wire.ChallengeRequest(9, "bob")) == ["ok", "challenged"]
    (number,) = bob.numbers()
    bob.heard.clear()
    parlour.later(later_ms)
    expected = [(number, "expired")] if is_over else []
    assert (over(ann), over(bob)) == (expected, expected)
    assert parlour.do(bob, wire.AnswerRequest(9, number, True))[:1] == (["unknown_challenge"] if is_over else ["ok"])


def test_a_challenge_ends_as_its_players_say_or_leave(parlour: Parlour) -> None:
    ann, bob, cid = parlour.people("Ann", "Bob", "Cid")
    for who, reason in ((bob, "later"), (bob, "generic"), (ann, "generic")):
        parlour.do(ann, wire.ChallengeRequest(9, "Bob"))
        number = bob.numbers()[-1]
        bob.heard.clear()
        assert "ok" in parlour.do(who, wire.AnswerRequest(9, number, False, reason))  # type: ignore[arg-type]
        assert over(bob if who is ann else ann) == [(number, reason)]
    parlour.do(ann, wire.ChallengeRequest(9, "Bob"))
    number = bob.numbers()[-1]
    assert parlour.do(ann, wire.AnswerRequest(9, number, True)) == ["not_yourself"]
    assert parlour.do(cid, wire.AnswerRequest(9, number, True)) == ["unknown_challenge"]
    assert parlour.do(ann, wire.ChallengeRequest(9, "Nobody")) == ["unknown_player"]
    assert parlour.do(ann, wire.ChallengeRequest(9, "Ann")) == ["not_yourself"]
    bob.heard.clear()
    parlour.leave(ann)
    assert over(bob) == [(number, "gone")]
    assert over(cid) == []


def test_an_accepted_challenge_begins_the_match_that_was_asked_for(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    parlour.do(ann, wire.ChallengeRequest(9, "Bob", "qubic"))
    number = bob.numbers()[-1]
    bob.heard.clear()
    assert parlour.do(bob, wire.AnswerRequest(9, number, True)) == ["ok", "challengeaccepted"]
    assert ann.take() == ["challengeaccepted"]
    parlour.deliver()
    (shown,) = [each for each in ann.heard if isinstance(each, wire.Snapshot)]
    assert (shown.game.name, {player.name for player in shown.players}) == ("qubic", {"Ann", "Bob"})


@pytest.mark.parametrize(
    ("away_ms", "on_purpose", "is_kept"),
    [(0, False, True), (9_999, False, True), (10_001, False, False), (0, True, False)],
)
def test_a_seek_is_kept_for_a_while_for_one_who_lost_the_link(
    parlour: Parlour, away_ms: int, on_purpose: bool, is_kept: bool
) -> None:
    bob, _ = parlour.people("Bob", "Cid")
    ann = parlour.enter(name="Ann", token=TOKEN)
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"], min_rating=900))
    parlour.do(bob, wire.LobbyRequest(9, on=True))
    ann.left_on_purpose = on_purpose
    parlour.leave(ann)
    parlour.later(away_ms)
    parlour.later(0)
    again = parlour.enter(token=TOKEN)
    kept = again.welcome.seek
    assert (kept is not None) == is_kept
    assert kept is None or (kept.games, kept.min_rating, kept.by.name) == (["qubic"], 900, "Ann")
    assert len(parlour.hub.lobby.seeks) == is_kept
    if away_ms:
        parlour.later(5_000)
        lists = [each for each in bob.heard if isinstance(each, wire.SeekList)]
        assert lists[-1].count == is_kept


def test_one_who_returns_is_paired_with_those_who_came_meanwhile(parlour: Parlour) -> None:
    (bob,) = parlour.people("Bob")
    ann = parlour.enter(name="Ann", token=TOKEN)
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"]))
    parlour.leave(ann)
    assert parlour.do(bob, wire.SeekRequest(9, games=["qubic"])) == ["ok"]
    again = parlour.enter(token=TOKEN)
    assert "snapshot" in again.take()
    assert "snapshot" in bob.take()


def test_nobody_is_paired_by_a_return_before_a_restart(parlour: Parlour) -> None:
    (bob,) = parlour.people("Bob")
    ann = parlour.enter(name="Ann", token=TOKEN)
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"]))
    parlour.leave(ann)
    parlour.do(bob, wire.SeekRequest(9, games=["qubic"]))
    parlour.services.shutdown.begin(60.0, lambda: None)
    again = parlour.enter(token=TOKEN)
    parlour.later(1_000)
    assert "snapshot" not in again.take()
    assert parlour.hub.registry.rooms == {}


@pytest.mark.parametrize(("wait_ms", "is_told"), [(4_999, False), (5_000, True)])
def test_one_who_waits_alone_is_told_of_bots(parlour: Parlour, wait_ms: int, is_told: bool) -> None:
    (ann,) = parlour.people("Ann")
    robo = parlour.enter(name="Robo", bot="alpha", on_request=True)
    parlour.do(robo, wire.SeekRequest(9, games=["qubic"]))
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"]))
    parlour.later(wait_ms)
    told = [each for each in ann.heard if isinstance(each, wire.Suggestion)]
    assert [[bot.name for bot in each.bots] for each in told] == ([["Robo"]] if is_told else [])
    parlour.later(20_000)
    assert [type(each) for each in ann.heard].count(wire.Suggestion) <= 1, "once"


def test_nothing_is_suggested_where_no_bot_plays_or_the_seek_is_gone(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    robo = parlour.enter(name="Robo", bot="alpha", on_request=True)
    parlour.do(robo, wire.SeekRequest(9, games=["qubic"]))
    parlour.do(ann, wire.SeekRequest(9, games=["connect4"]))
    parlour.do(bob, wire.SeekRequest(9, games=["qubic"]))
    parlour.now_ms += 5_000
    parlour.hub.matchmaker.tick()
    parlour.do(bob, wire.UnseekRequest(9))
    parlour.later(1)
    assert [link.take() for link in (ann, bob)] == [[], []]


def invitation(parlour: Parlour, link: Caller, **fields: Any) -> str:
    """Let somebody invite; return the code."""
    assert parlour.do(link, wire.InviteRequest(9, "qubic", **fields)) == []
    parlour.deliver()
    code = link.codes()[-1]
    assert link.take() == ["ok", "invitationreply"]
    return code


def test_an_invitation_is_shown_to_people_with_its_link_as_often_as_they_like(parlour: Parlour) -> None:
    ann, _ = parlour.people("Ann", "Bob")
    code = invitation(parlour, ann)
    invitations = parlour.hub.matchmaker.invitations
    assert invitations.preview("ZZZZZZ", "192.0.2.1") is None
    for typed in (code, code.lower()):
        shown = invitations.preview(typed, "192.0.2.1")
        assert shown is not None
        assert (shown.by and shown.by.name, shown.game, shown.time) == ("Ann", "qubic", None)
    parlour.leave(ann)
    shown = invitations.preview(code, "192.0.2.1")
    assert shown is not None
    assert shown.by is None


def test_wrong_codes_of_an_address_are_counted_and_right_ones_are_not() -> None:
    parlour = Parlour(wrong_codes=Rate(2, 3_600.0), unmetered=())
    ann = parlour.enter(name="Ann")
    ann.take()
    code = invitation(parlour, ann)
    preview = parlour.hub.matchmaker.invitations.preview
    assert all(preview(code, "192.0.9.1") for _ in range(5))
    for _ in range(200):
        if preview(code, "192.0.9.1") is None:
            break
        assert preview("ZZZZZZ", "192.0.9.1") is None
    assert preview(code, "192.0.9.1") is None, "after too many wrong ones"
    assert preview(code, "192.0.8.1") is not None, "from elsewhere it is shown"


def test_a_guest_joins_by_the_code_while_the_host_is_there(parlour: Parlour) -> None:
    bob, cid = parlour.people("Bob", "Cid")
    ann = parlour.enter(name="Ann", token=TOKEN)
    ann.take()
    code = invitation(parlour, ann)
    assert parlour.do(ann, wire.JoinRequest(9, code)) == ["not_yourself"]
    assert parlour.do(bob, wire.JoinRequest(9, "ZZZZZZ")) == ["unknown_code"]
    parlour.leave(ann)
    assert parlour.do(bob, wire.JoinRequest(9, code)) == ["opponent_gone"]
    parlour.enter(token=TOKEN).take()
    assert parlour.do(bob, wire.JoinRequest(9, f" {code.lower()} ")) == ["ok"]
    assert parlour.do(cid, wire.JoinRequest(9, code)) == [], "the match is being written"
    parlour.deliver()
    assert "snapshot" in bob.take()
    parlour.later(10)
    assert cid.take() == ["unknown_code"]
    parlour.later(5_000)
    assert cid.take() == [], "one answer"


def test_one_who_waits_for_a_code_gets_the_match_if_the_first_one_fails(parlour: Parlour) -> None:
    ann, bob, cid, dan = parlour.people("Ann", "Bob", "Cid", "Dan")
    code = invitation(parlour, ann)
    parlour.do(bob, wire.JoinRequest(9, code))
    parlour.do(dan, wire.JoinRequest(9, code))
    parlour.do(cid, wire.JoinRequest(9, code))
    parlour.ledger.database.connection.execute("PRAGMA query_only = ON")
    parlour.leave(dan)
    parlour.loop.run_until(parlour.loop.time() + 0.01, 1_000)
    assert cid.take() == ["ok"]
    assert dan.heard == [], "nobody joins for one who has left"


@pytest.mark.parametrize(("wait_s", "answer"), [(1.49, []), (1.51, ["storage"])])
def test_one_who_waits_for_a_code_is_refused_after_a_while(parlour: Parlour, wait_s: float, answer: list[str]) -> None:
    ann, bob, cid = parlour.people("Ann", "Bob", "Cid")
    code = invitation(parlour, ann)
    parlour.do(bob, wire.JoinRequest(9, code))
    parlour.do(cid, wire.JoinRequest(9, code))
    parlour.loop.run_until(parlour.loop.time() + wait_s, 1_000)
    assert cid.take() == answer
    parlour.deliver()
    parlour.loop.run_until(parlour.loop.time() + 5.0, 1_000)
    assert cid.take() == ([] if answer else ["unknown_code"]), "one answer"


def test_invitations_that_cannot_be_read_are_read_again_until_they_can(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    code = invitation(parlour, ann)
    assert [entry.invitation.code for entry in parlour.ledger.entries if isinstance(entry, KeepInvitation)] == [code]
    parlour.hub.lobby.uninvite(ann.known_as.player)
    parlour.ledger.database.connection.execute("ALTER TABLE invitations RENAME TO away")
    parlour.hub.recall()
    for _ in range(3):
        parlour.deliver()
        parlour.loop.run_until(parlour.loop.time() + 4.9, 10_000)
        assert not parlour.hub.lobby.is_code(code, parlour.now_ms)
        parlour.loop.run_until(parlour.loop.time() + 0.2, 10_000)
    parlour.ledger.database.connection.execute("ALTER TABLE away RENAME TO invitations")
    parlour.deliver()
    parlour.loop.run_until(parlour.loop.time() + 5.1, 10_000)
    parlour.deliver()
    assert parlour.hub.lobby.is_code(code, parlour.now_ms)
    assert parlour.do(bob, wire.JoinRequest(9, code)) == ["ok"]


def test_a_deleted_player_invites_nobody(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    code = invitation(parlour, ann)
    parlour.hub.matchmaker.invitations.forget(ann.known_as.player)
    assert parlour.do(bob, wire.JoinRequest(9, code)) == ["unknown_code"]


@pytest.mark.parametrize(
    ("game", "start", "stored"),
    [
        ("tictactoe", None, None),
        ("tictactoe", ".../.../...", None),
        ("tictactoe", "X../.../...", "X../.../..."),
        ("tictactoe", "x../.O./...", "X../.O./..."),
    ],
)
def test_an_invitation_keeps_a_position_unless_it_is_the_usual_one(
    parlour: Parlour, game: str, start: str | None, stored: str | None
) -> None:
    (ann,) = parlour.people("Ann")
    parlour.do(ann, wire.InviteRequest(9, game, side=1, start=start))
    parlour.deliver()
    (entry,) = [each for each in parlour.ledger.entries if isinstance(each, KeepInvitation)]
    assert (entry.invitation.start, entry.invitation.side) == (stored, 1)


def test_a_block_ends_challenges_and_its_end_lets_seeks_meet(parlour: Parlour) -> None:
    ann, bob, cid = parlour.people("Ann", "Bob", "Cid")
    for by, to in ((ann, "Bob"), (bob, "Ann"), (ann, "Cid")):
        parlour.do(by, wire.ChallengeRequest(9, to))
    for link in (ann, bob, cid):
        link.heard.clear()
    parlour.do(ann, wire.MuteRequest(9, None, on=True))
    parlour.deliver()
    assert over(bob) == []
    ann.heard.clear()
    parlour.ask(ann, wire.BlockRequest(9, "Bob", on=True))
    assert [sorted(each for each, _ in over(link)) for link in (ann, bob, cid)] == [[1, 2], [1, 2], []]
    parlour.deliver()
    for link in (ann, bob):
        parlour.do(link, wire.SeekRequest(9, games=["qubic"]))
    parlour.deliver()
    assert "snapshot" not in bob.take()
    parlour.ask(ann, wire.BlockRequest(9, "Bob", on=False))
    parlour.deliver()
    assert "snapshot" in bob.take()
    assert len(parlour.hub.lobby.seeks) == 0


def test_the_end_of_a_block_pairs_nobody_before_a_restart(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    parlour.ask(ann, wire.BlockRequest(9, "Bob", on=True))
    parlour.deliver()
    for link in (ann, bob):
        parlour.do(link, wire.SeekRequest(9, games=["qubic"]))
    parlour.services.shutdown.begin(60.0, lambda: None)
    parlour.ask(ann, wire.BlockRequest(9, "Bob", on=False))
    parlour.deliver()
    assert parlour.hub.registry.rooms == {}


@pytest.mark.parametrize(("is_restarting", "begun"), [(False, 1), (True, 0)])
def test_two_who_were_kept_apart_meet_when_the_time_is_over(parlour: Parlour, is_restarting: bool, begun: int) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    parlour.services.aborts.part(ann.known_as.player, bob.known_as.player, parlour.now_ms)
    for link in (ann, bob):
        parlour.do(link, wire.SeekRequest(9, games=["qubic"]))
    if is_restarting:
        parlour.services.shutdown.begin(3_600.0, lambda: None)
    parlour.later(299_999)
    assert parlour.hub.registry.rooms == {}
    parlour.later(1)
    assert len(parlour.hub.registry.rooms) == begun


@pytest.mark.parametrize(
    ("before", "wish", "after", "is_kept"),
    [
        ({}, "any", {}, True),
        ({}, "any", {"bot": "alpha", "places": 3}, False),
        ({"bot": "alpha"}, "any", {"bot": "alpha"}, True),
        ({"bot": "alpha"}, "any", {}, False),
        ({"bot": "alpha", "places": 2}, "any", {"bot": "alpha", "places": 2}, True),
        ({"bot": "alpha", "places": 2}, "any", {"bot": "alpha", "places": 1}, False),
        ({"bot": "alpha", "places": 2}, "any", {"bot": "alpha", "places": 2, "reserved": 1}, True),
        ({"bot": "alpha", "places": 2}, "bots", {"bot": "alpha", "places": 2}, True),
        ({"bot": "alpha", "places": 2}, "bots", {"bot": "alpha", "places": 2, "reserved": 1}, False),
    ],
)
def test_a_seek_is_kept_for_a_player_who_returns_as_they_were(
    parlour: Parlour, before: dict[str, Any], wish: Any, after: dict[str, Any], is_kept: bool
) -> None:
    (bob,) = parlour.people("Bob")
    ann = parlour.enter(name="Ann", token=TOKEN, **before)
    if before.get("places"):  # one of them is taken
        parlour.do(bob, wire.ChallengeRequest(9, "Ann"))
        parlour.do(ann, wire.AnswerRequest(9, 1, True))
        parlour.deliver()
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"], opponents=wish))
    parlour.leave(ann)
    again = parlour.enter(token=TOKEN, **after)
    assert (again.welcome.seek is not None) == is_kept
    assert len(parlour.hub.lobby.seeks) == is_kept


def test_a_seek_of_another_node_stands_again_without_an_answer(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    parlour.hub.matchmaker.seek_again(ann.known_as, wire.SeekRequest(9, games=["qubic"]))
    assert ann.take() == []
    assert [seek.player for seek in parlour.hub.lobby.seeks] == [ann.known_as.player]
    parlour.hub.matchmaker.seek_again(bob.known_as, wire.SeekRequest(9, games=["qubic"]))
    parlour.deliver()
    assert ("snapshot" in ann.take(), "snapshot" in bob.take()) == (True, True)


def test_nothing_is_suggested_to_one_who_has_just_left(parlour: Parlour) -> None:
    (ann,) = parlour.people("Ann")
    robo = parlour.enter(name="Robo", bot="alpha", on_request=True)
    parlour.do(robo, wire.SeekRequest(9, games=["qubic"]))
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"]))
    parlour.now_ms += 5_000
    parlour.hub.matchmaker.tick()
    parlour.leave(ann)
    parlour.loop.run_until(parlour.loop.time() + 1.0, 10_000)
    assert parlour.loop.errors == []
    assert ann.take() == []


@pytest.mark.parametrize(
    ("seeker", "accepter", "prepare", "code"),
    [
        ({}, {}, "", None),
        ({}, {}, "unknown", "unknown_seek"),
        ({}, {}, "busy", "too_many_matches"),
        ({}, {}, "busy unknown", "too_many_matches"),
        ({}, {}, "blocked", "blocked"),
        ({}, {}, "aborted", "too_fast"),
        ({}, {}, "aborted unknown", "too_fast"),
        ({"bot": "alpha"}, {}, "", None),
        ({"bot": "alpha"}, {}, "aborted", None),
        ({"bot": "alpha", "places": 2, "reserved": 2}, {"bot": "beta"}, "", "not_welcome"),
        ({}, {"bot": "alpha", "level": 2}, "", None),
        ({}, {"bot": "alpha", "level": 2}, "level", "not_welcome"),
        ({}, {"bot": "alpha", "level": 3}, "level", None),
        ({}, {}, "level for all", None),
    ],
)
def test_a_seek_is_accepted_by_a_player_who_may_play_the_other(
    seeker: dict[str, Any], accepter: dict[str, Any], prepare: str, code: str | None
) -> None:
    parlour = Parlour(max_live_matches=1 if "busy" in prepare else 20)
    ann, bob = parlour.enter(name="Ann", **seeker), parlour.enter(name="Bob", **accepter)
    (cid,) = parlour.people("Cid")
    level = 3 if "level" in prepare else None
    wish: Any = "bots" if prepare == "level" else "any"
    parlour.do(ann, wire.SeekRequest(9, games=["qubic"], level=level, opponents=wish))
    seek = parlour.hub.lobby.seeks.of(ann.known_as.player)
    assert seek is not None
    if "busy" in prepare:
        parlour.do(cid, wire.ChallengeRequest(9, "Bob"))
        parlour.do(bob, wire.AnswerRequest(9, 1, True))
    if prepare == "blocked":
        parlour.do(bob, wire.BlockRequest(9, "Ann", on=True))
        parlour.deliver()
    for _ in range(4 if "aborted" in prepare else 0):
        parlour.services.aborts.add(bob.known_as.player, parlour.now_ms)
    bob.heard.clear()
    number = 99 if "unknown" in prepare else seek.number
    told = parlour.do(bob, wire.AcceptRequest(9, number))
    assert told == (["ok"] if code is None else [code])
    parlour.deliver()
    assert "snapshot" in bob.take() or code is not None


@pytest.mark.parametrize(
    ("wish", "is_rated"),
    [
        ({}, True),
        ({"level": 2}, False),
        ({"side": 0}, False),
        ({"start": write_position(CONNECT4, CONNECT4.result(CONNECT4.initial, 38))}, False),
    ],
)
def test_a_bot_that_asks_a_bot_for_a_lesson_plays_casually(
    parlour: Parlour, wish: dict[str, Any], is_rated: bool
) -> None:
    ann = parlour.enter(name="Ann", bot="alpha")
    bob = parlour.enter(name="Bob", bot="beta", any_level=True)
    told = parlour.do(ann, wire.ChallengeRequest(9, "Bob", "connect4", rated=True, or_casual=True, **wish))
    assert "challenged" in told
    (challenged,) = [each for each in bob.heard if isinstance(each, wire.Challenged)]
    assert challenged.rated == is_rated


def test_two_of_one_address_are_not_rated_where_the_host_says_so() -> None:
    parlour = Parlour(rated_same_address=False)
    ann, bob = parlour.enter(name="Ann"), parlour.enter(name="Bob")
    (cid,) = parlour.people("Cid")
    for to, code in ((bob, "always_casual"), (cid, "ok")):
        ann.heard.clear()
        to.heard.clear()
        name = to.known_as.info.name
        assert parlour.do(ann, wire.ChallengeRequest(9, name, "connect4", rated=True))[0] == code
    assert "challenged" in parlour.do(ann, wire.ChallengeRequest(9, "Bob", "connect4", rated=True, or_casual=True))
    (challenged,) = [each for each in bob.heard if isinstance(each, wire.Challenged)]
    assert not challenged.rated


@pytest.mark.parametrize("by", ["Ann", "Bob"])
def test_nobody_challenges_or_is_challenged_by_one_who_is_blocked(parlour: Parlour, by: str) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    blocker, other = (ann, "Bob") if by == "Ann" else (bob, "Ann")
    parlour.ask(blocker, wire.BlockRequest(9, other, on=True))
    parlour.deliver()
    blocker.heard.clear()
    assert parlour.do(ann, wire.ChallengeRequest(9, "Bob")) == ["blocked" if by == "Ann" else "not_welcome"]
    assert bob.take() == []


@pytest.mark.parametrize(("most", "accepted"), [(1, 1), (2, 2), (3, 3)])
@pytest.mark.parametrize("act", ["challenge", "invite"])
def test_so_many_challenges_and_invitations_a_player_may_make(act: str, most: int, accepted: int) -> None:
    parlour = Parlour(challenges=Rate(most, 3_600.0))
    (ann, *_) = parlour.people("Ann", "P1", "P2", "P3", "P4")
    for number in range(1, 5):
        asked = wire.ChallengeRequest(9, f"P{number}") if act == "challenge" else wire.InviteRequest(9, "qubic")
        parlour.ask(ann, asked)
        parlour.deliver()
        assert ann.take()[0] == ("ok" if number <= accepted else "too_fast")


@pytest.mark.parametrize(("live", "answer"), [(0, ["ok", "invitationreply"]), (1, ["too_many_matches"])])
def test_one_whose_matches_are_too_many_invites_nobody(live: int, answer: list[str]) -> None:
    parlour = Parlour(max_live_matches=1)
    ann, bob, _ = parlour.people("Ann", "Bob", "Cid")
    begin(parlour, *(ann, bob)[: 2 * live])
    parlour.ask(ann, wire.InviteRequest(9, "qubic"))
    parlour.deliver()
    assert ann.take() == answer


def begin(parlour: Parlour, *two: Caller) -> None:
    """Let two people play, if there are any."""
    if two:
        parlour.do(two[0], wire.ChallengeRequest(9, two[1].known_as.info.name))
        parlour.do(two[1], wire.AnswerRequest(9, two[1].numbers()[-1], True))
        parlour.deliver()
        for link in two:
            assert "snapshot" in link.take()


@pytest.mark.parametrize("busy", ["nobody", "guest", "host"])
def test_a_guest_joins_if_both_may_play_one_more_match(busy: str) -> None:
    parlour = Parlour(max_live_matches=1)
    ann, bob, cid = parlour.people("Ann", "Bob", "Cid")
    code = invitation(parlour, ann)
    begin(parlour, *{"nobody": (), "guest": (bob, cid), "host": (ann, cid)}[busy])
    assert parlour.do(bob, wire.JoinRequest(9, code)) == (["ok"] if busy == "nobody" else ["too_many_matches"])


def test_invitations_are_counted_as_bytes_of_the_journal() -> None:
    parlour = Parlour(daily_mb=1, unmetered=())
    ann, bob = parlour.people("Ann", "Bob")
    counted, untold = [], Counter[tuple[str, int | str]]()
    parlour.services.rate_limiter.untold = untold
    for link in (ann, bob, ann):
        invitation(parlour, link)
        counted.append([untold["bytes", each.known_as.connection.metered_as or ""] for each in (ann, bob)])
    assert counted == [[500, 0], [500, 500], [1_000, 500]]


@pytest.mark.parametrize(("age_ms", "is_kept"), [(3_599_999, True), (3_600_000, False), (3_600_001, False)])
def test_an_invitation_is_forgotten_after_an_hour(parlour: Parlour, age_ms: int, is_kept: bool) -> None:
    (ann,) = parlour.people("Ann")
    code = invitation(parlour, ann)
    parlour.later(age_ms)
    if is_kept:
        assert parlour.hub.lobby.offered(code).by == ann.known_as.player
    else:
        with pytest.raises(KeyError):
            parlour.hub.lobby.offered(code)


@pytest.mark.parametrize("crowd", [MOST_IN_TURN - 1, MOST_IN_TURN, MOST_IN_TURN + 1, 2 * MOST_IN_TURN + 1])
def test_all_of_a_crowd_are_looked_at_after_one_tick(parlour: Parlour, crowd: int) -> None:
    for link in parlour.people(*(f"P{number}" for number in range(crowd))):
        parlour.do(link, wire.SeekRequest(9, games=["qubic"], min_rating=3_900))
    parlour.now_ms += BANDS[1][0]
    parlour.hub.matchmaker.tick()
    assert parlour.hub.lobby.seeks.is_behind(parlour.now_ms) == (crowd > MOST_IN_TURN)
    parlour.loop.run_until(parlour.loop.time() + 0.01, 1_000_000)
    assert not parlour.hub.lobby.seeks.is_behind(parlour.now_ms)


def test_people_who_are_held_back_from_a_bot_are_looked_at_once_for_each_time(parlour: Parlour) -> None:
    ann, bob = parlour.people("Ann", "Bob")
    held_back = parlour.services.players.bot_places.held_back
    held_back.update(dict.fromkeys((ann.known_as.player, bob.known_as.player)))
    parlour.hub.matchmaker.tick()
    assert held_back == {}
