"""Messages to all nodes that are not stored: three whole servers, on a log that works."""

from tests.server.cluster.evening import Evening
from ttt_net import messages as wire
from ttt_net.server.admin import protocol


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
