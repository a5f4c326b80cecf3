"""The lobby that one node keeps for all: three whole servers, on a log that works."""

from typing import Any

import pytest

from tests.server.cluster.evening import Evening, steward_and_guest
from tests.simulation.node_server import NodeServer
from ttt_net import messages as wire
from ttt_net.errors import Closing
from ttt_net.server.cluster import shared_lobby
from ttt_net.server.cluster.log import DeclareLost, Reply
from ttt_net.server.cluster.node_messages import Delivery, encode_message
from ttt_net.server.cluster.replicated_ledger import GIVE_UP_S
from ttt_net.server.matchmaking.matchmaker import WAIT_S
from ttt_net.server.online_players import Session
from ttt_net.server.wire.frames import frame


def seek_told(evening: Evening, who: int) -> dict[str, Any] | None:
    """Return the seek that somebody was told of with their newest welcome."""
    seek: dict[str, Any] | None = evening.heard(who, "welcome")[-1].get("seek")
    return seek


def test_a_seek_and_its_maker_are_listed_on_all_nodes() -> None:
    evening = Evening("a", "b", "c", "b")
    for peer in evening.people[:3]:
        peer.say(wire.LobbyRequest(0, on=True))
    evening.people[3].say(wire.SeekRequest(0, games=["connect4"]))
    evening.go(3.0)
    name = evening.people[3].name
    for who in range(3):
        (seek,) = evening.heard(who, "seeks")[-1]["seeks"]
        assert seek["by"]["name"] == name
        seeking = {row["name"]: row.get("seeking") for row in evening.heard(who, "players")[-1]["players"]}
        assert seeking[name] == ["connect4"]
        assert sum(games is not None for games in seeking.values()) == 1


def test_a_player_who_returns_to_another_node_is_sent_their_open_seek() -> None:
    evening = Evening("a", "b", "c", "b")
    seeker = evening.people[3]
    seeker.say(wire.SeekRequest(0, games=["connect4"], min_rating=900))
    evening.go(1.0)
    for place in ("c", "a", "b"):
        evening.move(place, 3)
        assert seeker.is_welcome
        told = seek_told(evening, 3)
        assert told is not None
        assert (told["games"], told["min_rating"]) == (["connect4"], 900)
    seeker.say(wire.UnseekRequest(0))
    evening.go(1.0)
    evening.move("c", 3)
    assert seek_told(evening, 3) is None


def test_a_seek_outlives_the_lobby_s_node_though_its_player_changed_theirs_and_is_numbered_anew() -> None:
    evening = Evening("a", "b", "c", "b")
    steward = next(name for name in "abc" if evening.node(name).ledger.is_steward)
    here, there = (name for name in "abc" if name != steward)
    seeker, guest = evening.people[3], evening.people[0]
    evening.world.places.update({0: here, 1: here, 2: here, 3: there})
    for peer in evening.people:
        assert peer.link is not None
        peer.lost(peer.link)
    evening.go(2.0)
    seeker.say(wire.SeekRequest(0, games=["connect4"]))
    guest.say(wire.LobbyRequest(0, on=True))
    evening.go(1.0)
    (before,) = evening.heard(0, "seeks")[-1]["seeks"]
    evening.move(here, 3)
    evening.node(steward).die()
    evening.go(6.0)
    (after,) = evening.heard(0, "seeks")[-1]["seeks"]
    assert after["by"] == before["by"]
    assert after["seek"] > before["seek"]
    guest.say(wire.AcceptRequest(0, seek=after["seek"]))
    evening.go(1.0)
    assert len(seeker.matches) == 1


def test_a_seek_is_back_after_every_node_was_declared_lost_at_once() -> None:
    evening = Evening("a", "b", "c", "b")
    steward = next(name for name in "abc" if evening.node(name).ledger.is_steward)
    here, there = (name for name in "abc" if name != steward)
    seeker = evening.people[3]
    evening.move(here, 3)
    seeker.say(wire.SeekRequest(0, games=["connect4"]))
    evening.go(1.0)
    ledger = evening.node(here).ledger
    refused: list[object] = []
    for name in (steward, there, here):
        ledger.append(DeclareLost(name, evening.node(name).ledger.epoch, 1_000), lambda _: None, refused.append)
    evening.go(5.0)
    assert refused == []
    evening.people[0].say(wire.LobbyRequest(0, on=True))
    evening.go(1.0)
    (seek,) = evening.heard(0, "seeks")[-1]["seeks"]
    assert (seek["by"]["name"], seek["games"]) == (seeker.name, ["connect4"])


def test_a_seek_stands_again_though_the_new_keeper_of_the_lobby_heard_nothing_of_it_at_first() -> None:
    evening = Evening("a", "b", "c", "b")
    steward, other, here = (author.node for author in evening.node("a").ledger.peers.members())
    evening.move(here, *range(4))
    evening.people[3].say(wire.SeekRequest(0, games=["connect4"]))
    evening.go(1.0)
    servers, asked = evening.world.stream.servers, list[bytes]()
    serve = servers[f"steward.{other}"]

    def lose_the_first(question: bytes, reply: Reply) -> None:
        asked.append(question)
        if len(asked) > 1:
            serve(question, reply)

    servers[f"steward.{other}"] = lose_the_first
    evening.node(steward).die()
    evening.go(12.0)
    assert evening.node(other).ledger.is_steward
    assert len(asked) == 2
    assert seek_told(evening, 3) is None
    evening.people[0].say(wire.LobbyRequest(0, on=True))
    evening.go(1.0)
    (seek,) = evening.heard(0, "seeks")[-1]["seeks"]
    assert (seek["by"]["name"], seek["games"]) == (evening.people[3].name, ["connect4"])


def test_a_repeated_lobby_request_is_carried_out_and_answered_once() -> None:
    evening = Evening("a", "b", "c")
    steward, here = steward_and_guest(evening)
    guest, log = evening.people[0], steward.log
    publish = log.publish
    log.publish = lambda batch, done: None  # type: ignore[method-assign]
    guest.say(wire.InviteRequest(0, game="tictactoe"))
    evening.go(0.2)
    (request,) = guest.talk.asked.values()
    assert isinstance(request, wire.InviteRequest)
    session = here.hub.services.players.find(guest.name)
    assert session is not None
    with evening.world.loop.acting_as(here.process):
        here.hub.act_in_lobby(session, request)
    evening.go(0.2)
    log.publish = publish  # type: ignore[method-assign]
    evening.go(1.4)
    assert guest.talk.asked == {}
    assert len(evening.heard(0, "invitation")) == 1


def test_a_request_to_the_lobby_is_dropped_once_its_player_has_left() -> None:
    evening = Evening("a", "b", "c")
    steward, _ = steward_and_guest(evening)
    publish = steward.log.publish
    steward.log.publish = lambda batch, done: None  # type: ignore[method-assign]
    evening.people[0].say(wire.InviteRequest(0, game="tictactoe"))
    evening.go(0.2)
    assert steward.node.unanswered == 1
    evening.people[0].leave()
    evening.go(0.5)
    assert steward.node.unanswered == 0
    steward.log.publish = publish  # type: ignore[method-assign]
    evening.go(2.0)
    assert steward.node.unanswered == 0


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_fault_in_a_request_to_the_lobby_of_another_node_is_answered_once_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, is_answered: bool
) -> None:
    evening = Evening("a", "b", "c")
    steward, _ = steward_and_guest(evening)

    def fail(session: Session, request: wire.SeekRequest) -> None:
        if is_answered:
            session.ok(request.id)
        raise LookupError("nobody thought of it")

    monkeypatch.setattr(steward.hub.matchmaker, "act", fail)
    evening.people[0].say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(0.2)
    assert evening.people[0].talk.asked == {}
    assert [each["code"] for each in evening.heard(0, "refused")] == ([] if is_answered else ["restarting"])
    assert steward.node.unanswered == 0
    assert caplog.text.count("LookupError: nobody thought of it") == 1
    caplog.clear()  # it was meant


def test_a_delivery_to_a_session_that_was_replaced_reaches_nobody() -> None:
    evening = Evening("a", "b", "c")
    steward, here = steward_and_guest(evening)
    session = here.hub.services.players.find(evening.people[0].name)
    assert session is not None
    for serial, text in ((session.serial - 1, "old"), (session.serial, "new")):
        frames = frame(wire.encode(wire.Notice(text)))
        message = Delivery(session.player, serial, frames, None)
        steward.log.tell(f"node.{here.name}", encode_message(message))
        closing = Delivery(session.player, session.serial - 1, b"", int(Closing.KICKED))
        steward.log.tell(f"node.{here.name}", encode_message(closing))
    evening.go(0.5)
    assert [each["text"] for each in evening.heard(0, "notice")] == ["new"]
    assert evening.people[0].is_welcome


class FullLog(Evening):
    """Somebody has joined by the code of another while the log takes nothing, for so long that it was given up."""

    def __init__(self) -> None:
        super().__init__("a", "b", "c")
        self.steward, _ = steward_and_guest(self)
        self.world.places[2] = self.steward.name
        link = self.people[2].link
        assert link is not None
        self.people[2].lost(link)
        self.go(2.0)
        self.people[0].say(wire.InviteRequest(0, game="tictactoe"))
        self.go(1.0)
        (invitation,) = self.heard(0, "invitation")
        self.code: str = invitation["code"]
        while self.steward.ledger.health().waiting:
            self.go(0.01)
        self.world.weather.is_full = True
        self.people[1].say(wire.JoinRequest(0, code=self.code))
        self.go(GIVE_UP_S + 0.5)
        self.people[2].say(wire.JoinRequest(0, code=self.code))
        self.go(WAIT_S + 0.2)

    def takes(self, *servers: NodeServer) -> None:
        """Let the log take what is put there by some, and then by all."""
        for server in self.world.running:
            server.log.is_cut_off = server not in servers
        self.world.weather.is_full = False
        self.go(4.0)
        for server in self.world.running:
            server.log.is_cut_off = False
            server.log.deliver()
        self.go(10.0)
        assert len({server.replica.position for server in self.world.running}) == 1

    def matches(self) -> int:
        """Return how many were begun."""
        (count,) = self.steward.replica.database.connection.execute("SELECT COUNT(*) FROM matches").fetchone()
        return int(count)

    def good_on(self) -> list[bool]:
        """Return of each node whether the code is good there."""
        return [each.hub.lobby.is_code(self.code, each.wall_ms()) for each in self.world.running]


def test_one_code_begins_one_match_though_the_log_took_nothing_for_long_and_answered() -> None:
    evening = FullLog()
    assert [refused["code"] for refused in evening.heard(2, "refused")] == ["storage"]
    evening.takes(evening.steward)
    assert (evening.matches(), evening.good_on()) == (1, [False] * 3)


def test_of_two_players_using_one_code_on_two_nodes_at_once_one_plays_and_the_other_is_refused() -> None:
    evening = Evening("a", "b", "c")
    evening.people[0].say(wire.InviteRequest(0, game="tictactoe"))
    evening.go(1.0)
    (invitation,) = evening.heard(0, "invitation")
    for peer in evening.people[1:]:
        peer.say(wire.JoinRequest(0, code=invitation["code"].lower()))
    evening.go(1.0)
    refused = [each["code"] for who in (1, 2) for each in evening.heard(who, "refused")]
    assert refused == ["unknown_code"]
    assert sorted(len(peer.matches) for peer in evening.people) == [0, 1, 1]


def test_a_code_works_again_once_it_is_known_that_no_match_began_with_it() -> None:
    evening = FullLog()
    assert evening.good_on().count(False) == 1
    evening.takes(*(server for server in evening.world.running if server is not evening.steward))
    assert (evening.matches(), evening.good_on()) == (0, [True] * 3)
    evening.people[2].say(wire.JoinRequest(0, code=evening.code))
    evening.go(1.0)
    assert (evening.matches(), evening.good_on()) == (1, [False] * 3)


def test_a_seek_that_led_to_a_match_before_its_answer_came_does_not_stand_with_the_next_steward() -> None:
    evening = Evening("a", "b", "c")
    steward, here = steward_and_guest(evening)
    evening.move(steward.name, 1)
    evening.move(here.name, 2)
    evening.people[1].say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(1.0)
    servers = evening.world.stream.servers
    serve = servers[f"steward.{steward.name}"]

    def answer_late(question: bytes, reply: Reply) -> None:
        def late(data: bytes) -> None:
            evening.world.loop.call_later(1.0, reply, data)

        serve(question, late)

    servers[f"steward.{steward.name}"] = answer_late
    evening.people[0].say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(0.5)
    assert len(evening.heard(0, "snapshot")) == 1
    assert len(evening.people[0].talk.asked) == 1
    evening.go(1.0)
    assert evening.people[0].talk.asked == {}
    steward.die()
    evening.go(12.0)
    evening.people[2].say(wire.LobbyRequest(0, on=True))
    evening.go(1.0)
    assert evening.heard(2, "seeks")[-1]["seeks"] == []


def test_of_too_many_questions_that_know_more_than_the_steward_some_are_to_be_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_lobby, "MOST_EARLY", 2)
    evening = Evening("a", "b", "c")
    steward, _ = steward_and_guest(evening)
    steward.worker.slowest_s = 1.0
    evening.go(0.7)
    for _ in range(4):
        evening.people[0].say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(0.1)
    assert [refused["code"] for refused in evening.heard(0, "refused")] == ["restarting", "restarting"]
    assert len(evening.people[0].talk.asked) == 2


def test_the_keeper_of_the_lobby_charges_a_forwarded_request_to_the_address_of_its_player() -> None:
    evening = Evening("a", "b", "c", "b")
    steward, _, here = (author.node for author in evening.node("a").ledger.peers.members())
    evening.move(here, 0, 1)
    shares, busy, other = evening.node(steward).hub.shares, *evening.people[:2]
    looks = iter(range(10**6))
    shares.clock_s = lambda: next(looks) * 0.3
    for _ in range(6):
        busy.say(wire.SeekRequest(0, games=["connect4"]))
        evening.go(0.2)
    refused = evening.heard(0, "refused")
    assert {each["code"] for each in refused} == {"too_fast"}
    assert "your address has used 1000 ms" in refused[-1]["message"]
    busy.say(wire.UnseekRequest(0))
    other.say(wire.SeekRequest(0, games=["qubic"]))
    evening.go(0.5)
    assert evening.heard(0, "refused") == refused, "a seek can be withdrawn all the same"
    assert evening.heard(1, "refused") == []
    shares.clock_s = lambda: 0.0
    evening.go(40.0)
    busy.say(wire.SeekRequest(0, games=["connect4"]))
    evening.go(0.5)
    assert evening.heard(0, "refused") == refused
