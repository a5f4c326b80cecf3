"""Messages between nodes, also of different releases, and those to all nodes that are not stored."""

import logging

import pytest

from tests.server.cluster.evening import Evening, steward_and_guest
from ttt_net import messages as wire
from ttt_net.server.admin import protocol
from ttt_net.server.cluster.log import FORM
from ttt_net.server.cluster.node_messages import (
    AddedRules,
    LobbyQuestion,
    WatcherCounts,
    decode_message,
    encode_message,
)
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.online_players import OnlinePlayers

NEWER = b'{"form": %d, "said": "in a way that is still to come"}' % (FORM + 1)


def test_a_message_survives_encoding_and_needs_no_form_or_later_field() -> None:
    counts = WatcherCounts("a", {"k3V9": 2})
    assert decode_message(encode_message(counts), WatcherCounts) == counts
    assert decode_message(b'{"node":"a","matches":{"k3V9":2},"since":"later"}', WatcherCounts) == counts


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"node":1,"matches":{}}', NEWER])
def test_a_message_that_cannot_be_read_is_ignored_and_logged_once_at_most(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert [decode_message(data, WatcherCounts) for _ in range(3)] == [None] * 3
    assert [record.levelno for record in caplog.records] in ([], [logging.WARNING])  # another test may have met it


@pytest.mark.parametrize("data", [b"{}", NEWER])
def test_a_node_that_gets_messages_of_a_newer_release_plays_on(data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    evening = Evening("a", "b", "c")
    subjects = [
        "lobby.seeks",
        "rooms.chat",
        "rooms.watching",
        "limits.taken",
        "games.rules",
        *(f"node.{name}" for name in "abc"),
    ]
    evening.people[2].say(wire.SeekRequest(0, games=["connect4"]))
    evening.go(1.0)
    for subject in subjects:
        evening.node("a").log.tell(subject, data)
    evening.node("a").log.ask("steward.b", data, lambda _: None)
    evening.go(3.0)
    evening.match()
    assert [record for record in caplog.records if record.levelno > logging.WARNING] == []


def test_a_request_that_only_a_newer_release_knows_is_refused_by_the_steward() -> None:
    evening = Evening("a", "b", "c")
    steward, here = steward_and_guest(evening)
    session = here.hub.services.players.find(evening.people[0].name)
    assert session is not None
    answers: list[bytes | None] = []
    request = b'{"type":"teleport","id":7}'
    question = LobbyQuestion(session.player, session.serial, 0, request, is_again=False)
    here.log.ask(f"steward.{steward.name}", encode_message(question), answers.append)
    evening.go(1.0)
    (answer,) = answers
    assert answer is not None
    assert b'"code":"restarting"' in answer
    assert b'"id":7' in answer


def test_chat_reaches_players_and_watchers_on_other_nodes_unless_muted() -> None:
    evening = Evening("a", "b", "c", "a")
    match = evening.match()
    for watcher in evening.people[2:]:
        watcher.say(wire.WatchRequest(0, match=match))
    evening.go(0.5)
    evening.people[0].say(wire.ChatRequest(0, match=match, text="2.5"))
    evening.people[2].say(wire.ChatRequest(0, match=match, text="1.5"))
    evening.go(0.5)
    assert [each["text"] for each in evening.heard(1, "chat")] == ["2.5"]
    assert [each["text"] for each in evening.heard(3, "chat")] == ["1.5"]
    evening.people[1].say(wire.MuteRequest(0, name=evening.people[0].name, on=True))
    evening.go(0.5)
    evening.people[0].say(wire.ChatRequest(0, match=match, text="3.5"))
    evening.go(0.5)
    assert len(evening.heard(1, "chat")) == 1
    assert len(evening.heard(0, "chat")) == 2


def test_an_abort_is_counted_once_on_every_node_and_keeps_the_two_apart_there() -> None:
    evening = Evening("a", "b", "c")
    steward, here = steward_and_guest(evening)
    match = evening.match()
    evening.people[0].say(wire.AbortRequest(0, match=match))
    evening.go(1.0)
    services = steward.hub.services
    one, other = (evening.world.player_of(peer.token) or 0 for peer in evening.people[:2])
    for node in (steward, here):
        aborts = node.hub.services.aborts
        assert [aborts.count(player, services.now_ms()) for player in (one, other)] == [1, 0]
        assert aborts.are_apart(one, other, services.now_ms())
    for peer in evening.people[:2]:
        peer.say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(10.0)
    assert [evening.heard(who, "started") for who in (0, 1)] == [[], []]
    assert len({told["match"] for told in evening.heard(1, "snapshot")}) == 1, "they are not paired again"


def test_a_block_holds_on_the_node_that_keeps_the_lobby_and_ends_there() -> None:
    evening = Evening("a", "b", "c")
    steward_and_guest(evening)
    one, other = evening.people[:2]
    one.say(wire.BlockRequest(0, name=other.name, on=True))
    evening.go(1.0)
    other.say(wire.ChallengeRequest(0, name=one.name))
    for peer in (one, other):
        peer.say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(10.0)
    assert [told["code"] for told in evening.heard(1, "refused")] == ["not_welcome"]
    assert not one.matches
    one.say(wire.BlockRequest(0, name=other.name, on=False))
    evening.go(2.0)
    assert len(one.matches) == 1
    assert one.matches.keys() == other.matches.keys()


def test_no_match_begins_while_the_lobby_does_not_know_of_a_block_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = Evening("a", "b", "c")
    steward_and_guest(evening)
    one, other = evening.people[:2]
    one.say(wire.BlockRequest(0, name=other.name, on=True))
    evening.go(1.0)
    with monkeypatch.context() as lobby:
        lobby.setattr(OnlinePlayers, "have_blocked", lambda *_: False)
        for peer in (one, other):
            peer.say(wire.SeekRequest(0, games=["tictactoe"]))
        evening.go(0.5)
        assert not one.matches
    evening.go(10.0)
    assert not one.matches
    one.say(wire.BlockRequest(0, name=other.name, on=False))
    evening.go(2.0)
    assert len(one.matches) == 1, "both came back, and seek again"


def test_no_rematch_begins_while_its_node_does_not_know_of_a_block_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = Evening("a", "b", "c")
    steward_and_guest(evening)
    one, other = evening.people[:2]
    match = evening.match()
    one.say(wire.ResignRequest(0, match=match))
    evening.go(1.0)
    one.say(wire.OfferRequest(0, match=match, kind="rematch"))
    one.say(wire.BlockRequest(0, name=other.name, on=True))
    evening.go(1.0)
    monkeypatch.setattr(OnlinePlayers, "have_blocked", lambda *_: False)
    other.say(wire.OfferRequest(0, match=match, kind="rematch"))
    evening.go(2.0)
    assert [told["code"] for told in evening.heard(1, "refused")] == ["not_welcome"]
    assert other.matches.keys() == {match}


def test_watchers_of_all_nodes_are_counted_until_their_node_is_lost() -> None:
    evening = Evening("a", "b", "c", "c", "b")
    match = evening.match()
    for watcher in evening.people[2:]:
        watcher.say(wire.WatchRequest(0, match=match))
    evening.go(2.0)
    assert [evening.heard(who, "watching")[-1]["watchers"] for who in range(5)] == [3] * 5
    evening.world.places.update({2: "nowhere", 3: "nowhere"})
    evening.node("c").die()
    evening.go(6.0)
    assert evening.heard(0, "watching")[-1]["watchers"] == 1


def test_announcements_reach_all_nodes_but_restarts_only_their_own() -> None:
    evening = Evening("a", "b")
    evening.node("a").ask(protocol.Announce("good evening"))
    evening.go(0.5)
    assert [each["text"] for who in (0, 1) for each in evening.heard(who, "notice")] == ["good evening"] * 2
    evening.node("a").ask(protocol.Drain(30))
    evening.go(0.5)
    evening.node("a").ask(protocol.Drain(None))
    evening.go(0.5)
    assert len(evening.heard(0, "notice")) == 3
    assert len(evening.heard(1, "notice")) == 1
    assert evening.people[1].is_welcome


def test_that_nobody_watches_any_more_is_known_though_it_was_lost_on_its_way() -> None:
    evening = Evening("a", "b", "c")
    match = evening.match()
    evening.people[2].say(wire.WatchRequest(0, match=match))
    evening.go(1.0)
    assert evening.heard(0, "watching")[-1]["watchers"] == 1
    evening.people[2].say(wire.UnwatchRequest(0, match=match))
    evening.world.weather.losing = 1.0
    evening.go(0.4)
    evening.world.weather.losing = 0.0
    evening.go(7.0)
    assert evening.heard(0, "watching")[-1]["watchers"] == 0


def test_nodes_log_once_which_games_have_other_rules_on_another_node(caplog: pytest.LogCaptureFixture) -> None:
    evening = Evening("a")
    told = encode_message(AddedRules("d", {"hex": 2}))
    for _ in range(2):
        evening.node("a").log.tell("games.rules", told)
        evening.go(6.0)  # the nodes have told theirs
    sentence = "the game hex has rules of version none here and 2 on node d: install the same package on all nodes"
    assert [record.getMessage() for record in caplog.records].count(sentence) == len(evening.world.servers)


def test_a_match_of_a_game_that_only_another_node_has_harms_nobody_here(caplog: pytest.LogCaptureFixture) -> None:
    evening = Evening("a", "b")
    sessions = [evening.node("b").hub.services.players.find(peer.name) for peer in evening.people]
    first, second = (session.player for session in sessions if session is not None)
    names = {first: "Ann", second: "Ben"}
    started = wire.Started("k3V9", 1, 0, "hex", (wire.PlayerInfo("Ann"), wire.PlayerInfo("Ben")))
    registry = evening.node("b").hub.registry
    registry.hear(AppendEvents((started,), (first, second)), names, None)
    registry.hear(AppendEvents((wire.Played("k3V9", 2, 5, 0, 1, 24),)), names, None)
    registry.hear(AppendEvents((wire.Ended("k3V9", 3, 9, 0, "resign"),)), names, None)
    assert "the match k3V9 of another node cannot be opened here: unknown game 'hex'" in caplog.text
    assert "k3V9" not in registry.rooms
    evening.match()
