"""Players on different nodes: three whole servers, on a log that works."""

from io import BytesIO

import pytest

from tests.server.cluster.evening import Evening
from tests.simulation.node_server import ASIDE_S
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.pairing.lobby import Pairing
from ttt_net.server.admin import exposition, protocol
from ttt_net.server.admin.moderation import Admin
from ttt_net.server.cluster.node import CUT_OFF_S
from ttt_net.server.cluster.peers import STALE_S
from ttt_net.server.cluster.replicated_ledger import GIVE_UP_S
from ttt_net.server.settings.configuration import Rate


def test_people_on_two_nodes_are_paired_and_play_to_the_end() -> None:
    evening = Evening("a", "b")
    match = evening.match()
    for _ in range(9):
        for peer in evening.people:
            if match in peer.turns():
                peer.play(match)
        evening.go(0.2)
    assert [peer.matches[match].outcome is None for peer in evening.people] == [False, False]
    assert evening.heard(0, "ended") == evening.heard(1, "ended")


def played(evening: Evening, match: str, moves: int) -> None:
    """Let the two players make some moves, each after half a second."""
    for _ in range(moves):
        (mover,) = (peer for peer in evening.people[:2] if match in peer.turns())
        evening.go(0.5)
        mover.play(match)
        evening.go(0.2)


@pytest.mark.parametrize("moves", [2, 4])
def test_a_match_that_nobody_hears_on_a_node_is_complete_for_the_first_who_watches_it_there(moves: int) -> None:
    evening = Evening("a", "b", "c")
    evening.world.skews_ms = {"a": 20_000, "b": 20_000, "c": 0}
    match = evening.match(TimeControl(60_000))
    played(evening, match, moves)
    c = evening.node("c")
    assert c.hub.census() == (3, 1)
    evening.go(2.0)
    evening.people[2].say(wire.WatchRequest(0, match=match))
    evening.go(0.2)
    evening.people[0].say(wire.ResumeRequest(0, match=match, seq=0))
    evening.go(0.2)
    (watched,), resumed = evening.heard(2, "snapshot"), evening.heard(0, "snapshot")[-1]
    same = "seq", "moves", "position", "offers", "last", "players", "present", "time"
    assert {field: watched[field] for field in same} == {field: resumed[field] for field in same}
    clocks = watched["clock"], resumed["clock"]
    assert clocks[0]["running"] == clocks[1]["running"]
    apart_ms = [one - other for one, other in zip(*(clock["remaining_ms"] for clock in clocks), strict=True)]
    assert max(map(abs, apart_ms)) < 300, "the clock counts from the last move, not from the first look"
    played(evening, match, 1)
    assert evening.heard(2, "played") == [evening.heard(0, "played")[-1]]


@pytest.mark.parametrize("moves", [3, 9])
def test_a_match_that_nobody_hears_on_a_node_ends_there_and_can_be_seen(moves: int) -> None:
    evening = Evening("a", "b", "c")
    match = evening.match()
    for _ in range(moves):
        for mover in [peer for peer in evening.people[:2] if match in peer.turns()][:1]:
            mover.play(match)
            evening.go(0.2)
    if moves == 3:
        evening.people[0].say(wire.ResignRequest(0, match=match))
        evening.go(0.2)
    (ended,) = evening.heard(0, "ended")
    c = evening.node("c")
    assert c.hub.census() == (3, 0)
    assert [session.live for session in c.hub.services.players.sessions.values()] == [set(), set(), set()]
    evening.people[2].say(wire.WatchRequest(0, match=match))
    evening.go(0.5)
    (watched,) = evening.heard(2, "snapshot")
    assert len(watched["moves"]) == len(evening.heard(0, "played"))
    assert (watched["seq"], watched["outcome"]["reason"]) == (ended["seq"], ended["reason"])


def test_players_can_be_kicked_on_any_node() -> None:
    evening = Evening("a", "b")
    evening.world.places[1] = "nowhere"
    evening.node("a").ask(protocol.Kick(evening.people[1].name, "enough"))
    evening.go(1.0)
    assert not evening.people[1].is_welcome
    assert evening.people[0].is_welcome


def test_a_sanction_is_announced_once_by_the_node_of_the_player() -> None:
    evening = Evening("a", "b")
    evening.world.places[1] = "nowhere"
    name, a = evening.people[1].name, evening.node("a")
    for act in (protocol.MutePlayer(name, "loud", 60), protocol.Unmute(name), protocol.Ban(name, "rude", 60)):
        a.ask(act)
        evening.go(1.0)
    told = [(each["act"], each.get("lifted", False)) for each in evening.heard(1, "sanctioned")]
    assert told == [("mute", False), ("mute", True), ("ban", False)]
    assert not evening.people[1].is_welcome
    assert evening.heard(0, "sanctioned") == []


def test_an_admin_sees_the_cluster_and_the_node_of_each_player() -> None:
    evening = Evening("a", "b")
    answers: list[protocol.AnyAdminReply] = []
    a = evening.node("a")
    with evening.world.loop.acting_as(a.process):
        a.admin.carry_out(protocol.ListPlayers(), answers.append)
        figures = a.admin.report().cluster
    (listed,) = answers
    assert isinstance(listed, protocol.PlayerRows)
    assert {row.name: row.address == "node b" for row in listed.players} == {
        evening.people[0].name: False,
        evening.people[1].name: True,
    }
    assert figures is not None
    assert figures.members == 3
    with evening.world.loop.acting_as(a.process):
        written = exposition.write(a.admin.report())
    assert written is None or "ttt_net_cluster_members 3.0" in written[1]


def test_moderators_are_known_on_all_nodes_immediately() -> None:
    evening = Evening("a", "b")
    answers: list[protocol.AnyAdminReply] = []
    a, b = evening.node("a"), evening.node("b")
    with evening.world.loop.acting_as(a.process):
        a.admin.carry_out(protocol.AddModerator("Mia"), answers.append)
    evening.go(0.5)
    (appointed,) = answers
    assert isinstance(appointed, protocol.Done)
    assert b.admin.moderators.find(appointed.text) == Admin("Mia")
    with evening.world.loop.acting_as(b.process):
        b.admin.carry_out(protocol.RemoveModerator("Mia"), answers.append)
    evening.go(0.5)
    assert [node.admin.moderators.find(appointed.text) for node in (a, b)] == [None, None]


def test_the_log_has_only_keyed_hashes_of_addresses_and_bans_still_apply() -> None:
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
    assert c.hub.unready is None
    c.log.is_cut_off = True
    evening.go(3.0)
    assert [evening.node(name).hub.unready is None for name in "abc"] == [True, True, False]
    c.log.is_cut_off = False
    c.log.deliver()
    evening.go(3.0)
    assert c.hub.unready is None


def test_a_node_that_is_cut_off_keeps_its_players_through_an_election_and_not_for_longer() -> None:
    evening = Evening("a", "c")
    c = evening.node("c")
    evening.world.places[1] = "a"
    c.log.is_cut_off = True
    evening.go(6.4)
    assert len(c.hub.services.connections) == 1
    evening.go(STALE_S + CUT_OFF_S - 6.4 + 0.2)
    assert not c.hub.services.connections


FULL = "the server's disk is almost full"


def test_a_node_low_on_disk_hands_the_lobby_over_and_sends_its_players_away() -> None:
    evening = Evening("a", "b", "c")
    steward = next(evening.node(name) for name in "abc" if evening.node(name).ledger.is_steward)
    evening.world.places.clear()
    evening.world.low_disks.add(steward.name)
    evening.go(6.0)
    assert steward.hub.unready == FULL
    assert [evening.node(name).ledger.is_steward for name in "abc"].count(True) == 1
    assert not steward.ledger.is_steward
    assert all(peer.is_welcome for peer in evening.people)
    assert not steward.hub.services.connections
    match = evening.match()
    evening.world.low_disks.clear()
    evening.go(ASIDE_S + 4.0)
    assert steward.hub.unready is None
    assert evening.people[0].matches.keys() == {match}


def test_nodes_that_are_all_low_on_disk_let_matches_go_on_and_begin_none() -> None:
    evening = Evening("a", "b", "c")
    match = evening.match()
    evening.world.places.clear()
    evening.world.low_disks.update("abc")
    evening.go(8.0)
    assert all(peer.is_welcome for peer in evening.people)
    next(peer for peer in evening.people if match in peer.turns()).play(match)
    evening.people[2].say(wire.SeekRequest(0, games=["tictactoe"]))
    evening.go(1.0)
    assert [peer.matches[match].position.ply for peer in evening.people[:2]] == [1, 1]
    assert [refused["code"] for refused in evening.heard(2, "refused")] == ["storage"]
    assert [evening.node(name).hub.unready for name in "abc"] == [FULL, FULL, FULL]
    members = evening.node("a").ledger.peers.members()
    evening.go(5.0)
    assert evening.node("a").ledger.peers.members() == members


def test_a_node_low_on_disk_takes_the_place_of_the_last_one_that_dies() -> None:
    evening = Evening("a", "b", "c")
    evening.world.places.clear()
    evening.world.low_disks.update("ab")
    evening.go(6.0)
    assert [author.node for author in evening.node("a").ledger.peers.members()] == ["c"]
    evening.node("c").die()
    evening.world.servers["c"] = None
    evening.go(10.0)
    assert [peer.is_welcome for peer in evening.people] == [True, True, True]


def test_shared_rate_limits_count_on_all_nodes_together(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_moves_of_players_of_one_address_are_counted_on_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    evening = Evening("a", "b", "c")
    key = evening.node("a").hub.services.sanctions.key_of_address(evening.people[0].address)
    for name in "abc":
        server = evening.node(name)
        monkeypatch.setattr(server.hub.limits, "writes", Rate(3, 3_600.0))
        monkeypatch.setattr(server.hub.limits, "players_per_address", 1)
        server.hub.settings_changed(["limits.writes"])
    limiters = [evening.node(name).hub.services.rate_limiter for name in "abc"]
    for limiter in limiters:
        limiter.write(key, 1)
        evening.go(0.5)
    for limiter in limiters:
        with pytest.raises(Refusal, match=r"limits\.writes"):
            limiter.write(key, 1)


def test_journal_bytes_of_an_address_are_counted_on_all_nodes() -> None:
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


def test_a_player_who_returns_to_their_node_has_the_time_left_there() -> None:
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
    other.come_twice()
    evening.go(0.6)
    assert other.is_welcome
    assert evening.heard(mover.number, "ended") == []
    evening.go(1.0)
    (ended,) = evening.heard(mover.number, "ended")
    assert ended["reason"] == "time"


def test_a_rename_in_mid_match_reaches_players_and_watchers_on_all_nodes() -> None:
    evening = Evening("a", "b", "c")
    match = evening.match()
    watcher = evening.people[2]
    watcher.say(wire.WatchRequest(0, match=match))
    evening.go(0.5)
    side = evening.people[0].matches[match].you
    evening.people[0].say(wire.RenameRequest(0, name="Ada"))
    evening.go(1.0)
    told = [{"type": "playerrenamed", "match": match, "side": side, "name": "Ada"}]
    assert [evening.heard(who, "playerrenamed") for who in range(3)] == [told, told, told]
    assert side is not None
    assert [peer.matches[match].players[side].name for peer in evening.people] == ["Ada", "Ada", "Ada"]


def test_a_late_rename_from_another_node_reaches_its_player() -> None:
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


def test_mutes_and_unmutes_are_announced_by_the_players_own_node() -> None:
    evening = Evening("a", "b")
    for act in (protocol.MutePlayer("192.0.2.2", "spam", 60), protocol.Unmute("192.0.2.2")):
        evening.node("a").ask(act)
        evening.go(0.5)
    assert evening.people[1].address == "192.0.2.2"
    told = [(each["act"], each.get("lifted", False)) for each in evening.heard(1, "sanctioned")]
    assert told == [("mute", False), ("mute", True)]
    assert evening.heard(0, "sanctioned") == []


def test_a_mute_that_happens_after_being_given_up_is_announced() -> None:
    evening = Evening("a", "b")
    evening.world.weather.losing = 1.0
    evening.node("a").ask(protocol.MutePlayer("192.0.2.2", "spam", 60))
    evening.go(GIVE_UP_S + 0.5)
    assert any("answers the admin: Failed" in line for line in evening.said)
    evening.world.weather.losing = 0.0
    evening.go(3.0)
    assert [each["act"] for each in evening.heard(1, "sanctioned")] == ["mute"]


def test_a_request_whose_outcome_is_not_known_is_no_refusal_and_the_player_comes_back_and_sees_it() -> None:
    evening = Evening("a", "b", "c")
    match = evening.match()
    mover = next(peer for peer in evening.people if match in peer.turns())
    other = evening.people[2]
    links = mover.link, other.link
    evening.go(0.6)
    while any(server.ledger.health().waiting for server in evening.world.running):
        evening.go(0.01)
    evening.world.weather.losing = 1.0
    mover.play(match)
    other.say(wire.RenameRequest(0, name="Ada"))
    evening.go(GIVE_UP_S - 0.3)
    assert (mover.link, other.link) == links
    evening.go(0.6)
    assert mover.link not in links
    assert other.link not in links
    evening.world.weather.losing = 0.0
    evening.go(8.0)
    assert [evening.heard(who, "refused") for who in range(3)] == [[], [], []]
    assert other.name == "Ada"
    assert [peer.matches[match].position.ply for peer in evening.people[:2]] == [1, 1]


def test_a_mute_that_has_run_out_by_the_clock_of_one_node_is_over_on_all() -> None:
    evening = Evening("a", "b", "c")
    evening.node("a").ask(protocol.MutePlayer(evening.people[0].name, "", 60))
    evening.go(0.5)
    assert all(evening.node(name).hub.services.sanctions.in_force() for name in "abc")
    steward = next(name for name in "abc" if evening.node(name).ledger.is_steward)
    evening.world.skews_ms[steward] = 3_600_000
    evening.go(3.0)
    assert [evening.node(name).hub.services.sanctions.in_force() for name in "abc"] == [[], [], []]


def test_a_player_renamed_while_their_match_begins_has_the_new_name_in_it() -> None:
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


def test_a_node_that_missed_trimmed_entries_recovers_by_itself_while_its_players_play_on() -> None:
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
