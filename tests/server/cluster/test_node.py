"""What players on different nodes have of one another: three whole servers, on a log that works."""

import json
import random
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from tests.simulation.cluster import ClusterWorld
from tests.simulation.node_server import NodeServer
from tests.simulation.peer import Peer
from tests.simulation.swarm import Swarm
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.pairing.lobby import Pairing
from ttt_net.server.accounts.session import Session
from ttt_net.server.admin import protocol
from ttt_net.server.admin.roles import Admin
from ttt_net.server.cluster import shared_lobby
from ttt_net.server.cluster.entries import DeclareLost
from ttt_net.server.cluster.log import Reply
from ttt_net.server.cluster.replicated_ledger import GIVE_UP_S
from ttt_net.server.settings.rate import Rate


class Evening:
    """People on the nodes a, b and c, who do only what they are told to."""

    def __init__(self, *places: str) -> None:
        swarm = replace(Swarm.of(random.Random(1), ()), peers=len(places), bots=False, guests=False, delay_s=0.01)
        self.said: list[str] = []
        self.world = ClusterWorld(1, swarm, self.said.append, is_troubled=False)
        self.world.places.update(enumerate(places))
        self.go(4.0)
        self.people: list[Peer] = self.world.peers
        assert all(peer.is_welcome for peer in self.people)

    def go(self, seconds: float) -> None:
        """Let time pass."""
        loop = self.world.loop
        loop.run_until(loop.time() + seconds, 1_000_000)
        for error in loop.errors:
            raise error

    def move(self, node: str, *people: int) -> None:
        """Cut the links of people, who come back to that node."""
        for who in people:
            self.world.places[who] = node
            link = self.people[who].link
            assert link is not None
            self.people[who].lost(link)
        self.go(2.0)

    def node(self, name: str) -> NodeServer:
        server = self.world.servers[name]
        assert server is not None
        return server

    def heard(self, who: int, kind: str) -> list[dict[str, Any]]:
        """Return what somebody heard of a kind."""
        lines = [line for line in self.said if line.split()[1] == str(who) and " << " in line]
        told = [json.loads(line.partition(" << ")[2]) for line in lines]
        return [message for message in told if message["type"] == kind]

    def match(self, time: TimeControl | None = None) -> str:
        """Let the first two play, and return the id of their match."""
        for peer in self.people[:2]:
            peer.say(wire.SeekRequest(0, games=["tictactoe"], time=time))
        self.go(1.0)
        (match,) = self.people[0].matches
        assert self.people[1].matches.keys() == {match}
        return match


def test_people_on_two_nodes_are_paired_and_play_to_the_end() -> None:
    evening = Evening("a", "b")
    match = evening.match()
    for _ in range(9):
        for peer in evening.people:
            if match in peer.turns():
                peer.play(match)
        evening.go(0.2)
    assert [peer.matches[match].is_over for peer in evening.people] == [True, True]
    assert evening.heard(0, "ended") == evening.heard(1, "ended")


def test_players_and_watchers_on_other_nodes_hear_what_is_said_unless_they_have_muted_who_says_it() -> None:
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


def test_all_who_watch_are_counted_on_whichever_node_and_not_when_it_is_lost() -> None:
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


def seek_told(evening: Evening, who: int) -> dict[str, Any] | None:
    """Return the seek that somebody was told of with their newest welcome."""
    seek: dict[str, Any] | None = evening.heard(who, "welcome")[-1].get("seek")
    return seek


def test_a_seek_is_listed_on_all_nodes_and_so_is_who_made_it() -> None:
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


def test_who_comes_back_to_another_node_is_told_of_the_seek_that_stands_for_them() -> None:
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


def test_what_an_admin_announces_is_heard_on_all_nodes_and_a_restart_only_on_its_own() -> None:
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


def test_who_is_sent_away_may_be_on_any_node() -> None:
    evening = Evening("a", "b")
    evening.world.places[1] = "nowhere"
    evening.node("a").ask(protocol.Kick(evening.people[1].name, "enough"))
    evening.go(1.0)
    assert not evening.people[1].is_welcome
    assert evening.people[0].is_welcome


def test_who_moderates_is_known_on_all_nodes_at_once() -> None:
    evening = Evening("a", "b")
    answers: list[protocol.AnyAdminReply] = []
    a, b = evening.node("a"), evening.node("b")
    with evening.world.loop.acting_as(a.process):
        a.admin.carry_out(protocol.AddModerator("Mia"), answers.append)
    evening.go(0.5)
    (appointed,) = answers
    assert isinstance(appointed, protocol.Done)
    assert b.moderators.find(appointed.text) == Admin("Mia")
    with evening.world.loop.acting_as(b.process):
        b.admin.carry_out(protocol.RemoveModerator("Mia"), answers.append)
    evening.go(0.5)
    assert [node.moderators.find(appointed.text) for node in (a, b)] == [None, None]


def test_what_is_in_the_log_of_an_address_is_a_keyed_hash_and_a_ban_of_it_holds_all_the_same() -> None:
    evening = Evening("a", "b", "c")
    a = evening.node("a")
    own = a.hub.services.sanctions.key_of_address(evening.people[0].address)
    assert own is not None
    batches = b"".join(evening.world.stream.batches)
    assert own.encode() in batches
    assert evening.people[0].address.encode() not in batches
    evening.world.places.clear()
    with evening.world.loop.acting_as(evening.node("c").process):
        evening.node("c").ask(protocol.Ban(evening.people[0].name, "enough", 60, with_address=True))
    evening.go(1.0)
    banned = a.hub.services.sanctions.in_force()
    assert {each.whom for each in banned} >= {own}


def test_a_node_that_is_cut_off_is_not_ready_until_it_is_back() -> None:
    evening = Evening("a", "b", "c")
    c = evening.node("c")
    assert c.hub.is_ready
    c.log.is_cut_off = True
    evening.go(3.0)
    assert [evening.node(name).hub.is_ready for name in "abc"] == [True, True, False]
    c.log.is_cut_off = False
    c.log.deliver()
    evening.go(3.0)
    assert c.hub.is_ready


def test_what_may_be_done_only_so_often_is_counted_on_all_nodes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = Evening("a", "b", "c")
    one = evening.people[0]
    monkeypatch.setattr(evening.node("a").hub.limits, "renames", Rate(3, 3_600.0))
    for place in "abc":
        evening.node(place).hub.settings_changed(["limits.renames"])
    for number, place in enumerate("abc"):
        if number:
            evening.move(place, 0)
        one.say(wire.RenameRequest(0, name=f"Ann {place}"))
        evening.go(1.0)
    assert evening.heard(0, "refused") == []
    one.say(wire.RenameRequest(0, name="Ann again"))
    evening.go(1.0)
    (refused,) = evening.heard(0, "refused")
    assert (refused["code"], "limits.renames" in refused["message"]) == ("too_fast", True)


def test_what_players_of_one_address_have_written_down_is_counted_on_all_nodes() -> None:
    evening = Evening("a", "b", "c")
    address = evening.people[0].address
    key = evening.node("a").hub.services.sanctions.key_of_address(address)
    evening.node("a").hub.services.rate_limiter.wrote(key, 10_000_000_000)
    evening.go(1.0)
    for name in "abc":
        with pytest.raises(Refusal, match=r"limits\.daily_mb"):
            evening.node(name).hub.services.rate_limiter.may_write(key)


def test_a_node_that_leaves_for_a_restart_keeps_nobody_waiting() -> None:
    evening = Evening("a", "b", "c")
    match = evening.match()
    evening.world.places[0] = "b"
    with evening.world.loop.acting_as(evening.node("a").process):
        evening.node("a").ledger.leave()
    evening.go(1.0)
    assert all(peer.is_welcome for peer in evening.people)
    mover = next(peer for peer in evening.people if match in peer.turns())
    mover.play(match)
    evening.go(0.2)
    assert [len(evening.heard(who, "played")) for who in (0, 1)] == [1, 1]


def test_who_comes_to_their_node_once_more_has_the_time_that_they_have_there() -> None:
    evening = Evening("a", "b")
    match = evening.match(TimeControl(1_000))
    for _ in range(2):
        next(peer for peer in evening.people if match in peer.turns()).play(match)
        evening.go(0.1)
    mover = next(peer for peer in evening.people if match in peer.turns())
    other = evening.people[1 - mover.number]
    mover.play(match)
    evening.world.loop.pause(evening.node("ab"[other.number]).process, 0.9)  # so they hear late that it is their turn
    evening.go(0.95)
    assert match in other.turns()
    assert other.link is not None
    other.lost(other.link)
    evening.go(0.6)
    assert other.is_welcome
    assert evening.heard(mover.number, "ended") == []
    evening.go(1.0)
    (ended,) = evening.heard(mover.number, "ended")
    assert ended["reason"] == "time"


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


def test_who_is_renamed_by_another_node_s_late_entry_is_told_so() -> None:
    evening = Evening("a", "b")
    peer = evening.people[0]
    (session,) = (
        each for each in evening.node("a").hub.services.players.sessions.values() if each.info.name == peer.name
    )
    refusals: list[Refusal] = []
    evening.node("b").hub.services.journal.rename(session.player, "Ada", lambda: None, refusals.append)
    evening.go(1.0)
    assert refusals == []
    assert [told["you"]["name"] for told in evening.heard(0, "renamed")] == ["Ada"]
    assert peer.name == "Ada"


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


def test_who_is_muted_or_free_again_is_told_so_by_their_own_node() -> None:
    evening = Evening("a", "b")
    for act in (protocol.MutePlayer("192.0.2.2", "spam", 60), protocol.Unmute("192.0.2.2")):
        evening.node("a").ask(act)
        evening.go(0.5)
    assert evening.people[1].address == "192.0.2.2"
    told = [(each["act"], each.get("lifted", False)) for each in evening.heard(1, "sanctioned")]
    assert told == [("mute", False), ("mute", True)]
    assert evening.heard(0, "sanctioned") == []


def test_a_mute_that_came_about_though_it_was_given_up_is_told() -> None:
    evening = Evening("a", "b")
    evening.world.weather.losing = 1.0
    evening.node("a").ask(protocol.MutePlayer("192.0.2.2", "spam", 60))
    evening.go(GIVE_UP_S + 0.5)
    assert any("answers the admin: Failed" in line for line in evening.said)
    evening.world.weather.losing = 0.0
    evening.go(3.0)
    assert [each["act"] for each in evening.heard(1, "sanctioned")] == ["mute"]


def test_a_mute_that_has_run_out_by_the_clock_of_one_node_is_over_on_all() -> None:
    evening = Evening("a", "b", "c")
    evening.node("a").ask(protocol.MutePlayer(evening.people[0].name, "", 60))
    evening.go(0.5)
    assert all(evening.node(name).hub.services.sanctions.in_force() for name in "abc")
    steward = next(name for name in "abc" if evening.node(name).ledger.is_steward)
    evening.world.skews_ms[steward] = 3_600_000
    evening.go(3.0)
    assert [evening.node(name).hub.services.sanctions.in_force() for name in "abc"] == [[], [], []]


def test_who_is_renamed_and_has_left_while_their_match_begins_has_the_new_name_in_it() -> None:
    evening = Evening("a", "b", "c")
    steward = next(name for name in "abc" if evening.node(name).ledger.is_steward)
    hub = evening.node(steward).hub
    gone, here = (hub.services.players.find(evening.people[who].name) for who in (0, 1))
    assert gone is not None
    assert here is not None
    with evening.world.loop.acting_as(evening.node(steward).process):
        hub.registry.start(Pairing("tictactoe", None, gone.player, here.player))
        hub.sessions.end(gone)
        hub.accounts.renamed(gone.player, "Ada")
    evening.go(0.5)
    (room,) = hub.registry.rooms.values()
    assert room.match is not None
    assert [player.name for player in room.match.players] == ["Ada", evening.people[1].name]


def test_a_match_that_ends_while_a_node_reads_it_is_over_there_and_counted() -> None:
    evening = Evening("a", "b", "c")
    for peer in evening.people[:2]:
        peer.say(wire.SeekRequest(0, games=["connect4"], rated=True))
    evening.people[2].say(wire.LobbyRequest(0, on=True))
    evening.go(3.0)
    (match,) = evening.people[0].matches
    for _ in range(4):
        next(peer for peer in evening.people if match in peer.turns()).play(match)
        evening.go(0.2)
    assert {row.get("playing", 0) for row in evening.heard(2, "players")[-1]["players"]} == {0, 1}
    room = evening.node("c").hub.registry.rooms[match]
    room.match, room.is_busy = None, True
    evening.people[0].say(wire.ResignRequest(0, match=match))
    evening.go(3.0)
    (rated,) = evening.heard(0, "rated")
    assert rated["ratings"][0] != rated["ratings"][1]
    assert {row.get("playing", 0) for row in evening.heard(2, "players")[-1]["players"]} == {0}
    ratings = [
        {
            peer.name: session.rating_at("connect4", None)
            for peer in evening.people[:2]
            if (session := players.find(peer.name))
        }
        for players in (evening.node(name).hub.services.players for name in "abc")
    ]
    assert ratings[0] == ratings[1] == ratings[2]
    assert len(set(ratings[0].values())) == 2


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


def test_a_node_that_missed_what_was_trimmed_is_back_by_itself_and_its_players_play_on_meanwhile() -> None:
    evening = Evening("a", "c")
    match = evening.match()
    c, a = evening.node("c"), evening.node("a")
    evening.world.places[1] = "b"
    c.log.is_cut_off = True
    evening.go(10.0)  # by then it has sent its player away
    assert evening.people[1].is_welcome
    next(peer for peer in evening.people if match in peer.turns()).play(match)
    evening.go(1.0)
    assert [len(evening.heard(who, "played")) for who in (0, 1)] == [1, 1]
    image = BytesIO()
    a.replica.write_to(image)
    evening.world.stream.keep(a.replica.position, image.getvalue())
    evening.world.stream.let_go = a.replica.position
    c.log.is_cut_off = False
    c.log.deliver()
    evening.go(8.0)
    again = evening.node("c")
    assert again is not c
    assert again.ledger.is_fresh
    assert (again.replica.position, again.replica.state) == (a.replica.position, a.replica.state)
    assert evening.world.begun_anew == 1
    evening.world.places[1] = "c"
    link = evening.people[1].link
    assert link is not None
    evening.people[1].lost(link)
    evening.go(2.0)
    next(peer for peer in evening.people if match in peer.turns()).play(match)
    evening.go(1.0)
    assert [len(evening.heard(who, "played")) for who in (0, 1)] == [2, 2]


def steward_and_guest(evening: Evening) -> tuple[NodeServer, NodeServer]:
    """Let the first come to a node that does not keep the lobby; return the one that does, and theirs."""
    steward, _, here = (author.node for author in evening.node("a").ledger.peers.members())
    evening.move(here, 0)
    return evening.node(steward), evening.node(here)


def test_what_is_asked_again_of_the_lobby_while_it_is_carried_out_is_done_and_answered_once() -> None:
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


def test_a_request_to_the_lobby_of_who_has_left_meanwhile_is_not_kept_for_an_answer() -> None:
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
        self.go(0.5)

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


def test_a_code_is_good_again_once_it_is_known_that_no_match_was_begun_by_it() -> None:
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
