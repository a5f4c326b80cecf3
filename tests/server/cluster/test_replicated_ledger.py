"""Callbacks of a replicated ledger, and their times: on simulated time, with the log of a simulation."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.cluster.simulated_nodes import Node, Nodes
from tests.server.journal.jobs import register
from ttt_net.errors import Overtaken, StorageError, UnknownOutcomeError
from ttt_net.messages import Offered
from ttt_net.server.cluster.log import FORM, Author, Batch, BeginEpoch, encode_batch
from ttt_net.server.cluster.peers import LOST_S, MOST_POLLS, POLL_S
from ttt_net.server.cluster.replicated_ledger import GIVE_UP_S
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.journal.queries import NameQuery
from ttt_net.server.players import Player


def test_writes_of_one_node_reach_all_nodes_and_their_author() -> None:
    nodes = Nodes("a", "b", "c")
    a, b, c = nodes.nodes
    answers = nodes.append(a, "ann")
    assert answers == []
    nodes.go(0.1)
    assert answers == [Player(1, "ann")]
    assert b.entries()[-1] == c.entries()[-1] == "RegisterPlayer"
    assert "RegisterPlayer" not in a.entries()
    found: list[Any] = []
    b.ledger.ask(NameQuery("ann"), found.append, found.append)
    nodes.go(0.1)
    assert found == [(1, "ann")]


def test_of_two_players_taking_a_name_at_once_one_gets_it() -> None:
    nodes = Nodes("a", "b")
    answers = [nodes.append(nodes.nodes[0], "ann"), []]
    nodes.nodes[1].ledger.append(replace(register("ann"), token_hash=b"other"), answers[1].append, answers[1].append)
    nodes.go(0.1)
    assert sorted(type(answer).__name__ for (answer,) in answers) == ["Player", "Refusal"]


def test_after_five_seconds_the_outcome_is_reported_as_unknown_and_the_result_if_it_happens_later() -> None:
    nodes = Nodes("a")
    (a,) = nodes.nodes
    nodes.cut(a)
    answers = nodes.append(a, "ann")
    nodes.go(GIVE_UP_S + 0.5)
    (answer,) = answers
    assert isinstance(answer, UnknownOutcomeError)
    assert not a.ledger.is_fresh
    nodes.mend(a)
    nodes.go(2.0)
    assert a.entries() == ["BeginEpoch", "RegisterPlayer"]
    assert len(answers) == 1
    assert a.ledger.is_fresh


def test_a_node_that_stops_for_an_error_does_not_know_the_outcome_of_its_batch() -> None:
    nodes = Nodes("a")
    (a,) = nodes.nodes
    while a.ledger.health().waiting:
        nodes.go(0.01)
    nodes.cut(a)
    sent = nodes.append(a, "ann")
    nodes.go(0.1)
    unsent = nodes.append(a, "bob")
    a.ledger.stop_for(LookupError("nobody thought of it"))
    assert [type(answer) for (answer,) in (sent, unsent)] == [UnknownOutcomeError, StorageError]


def test_entries_given_up_before_sending_certainly_do_not_happen() -> None:
    nodes = Nodes("a")
    (a,) = nodes.nodes
    while a.ledger.health().waiting:
        nodes.go(0.01)
    nodes.cut(a)
    sent = nodes.append(a, "ann")
    nodes.go(0.1)
    unsent = nodes.append(a, "bob")
    nodes.go(GIVE_UP_S + 0.5)
    assert [type(answer) for (answer,) in (sent, unsent)] == [UnknownOutcomeError, StorageError]
    nodes.mend(a)
    nodes.go(2.0)
    assert a.entries() == ["BeginEpoch", "RegisterPlayer"]


def test_an_unconfirmed_batch_is_repeated_until_it_is_seen_and_happens_once() -> None:
    nodes = Nodes("a", "b")
    nodes.weather.losing, nodes.weather.repeating = 0.6, 0.5
    answers = [nodes.append(nodes.nodes[0], name) for name in ("ann", "bob", "cid")]
    nodes.go(4.5)
    nodes.weather.losing = nodes.weather.repeating = 0.0
    nodes.go(5.0)
    assert [answer for (answer,) in answers] == [Player(1, "ann"), Player(2, "bob"), Player(3, "cid")]


def test_a_node_that_is_silent_is_declared_lost_and_comes_back_in_a_new_epoch() -> None:
    nodes = Nodes("a", "b", "c")
    a, b, _ = nodes.nodes
    assert a.ledger.is_steward or b.ledger.is_steward or nodes.nodes[2].ledger.is_steward
    nodes.loop.pause(1, 20.0)
    nodes.go(LOST_S + 1.5)
    assert Author("a", 1) not in b.ledger.peers.members()
    assert b.entries().count("DeclareLost") <= 1
    answers = nodes.append(a, "ann")  # what it had in hand when it was stopped
    nodes.go(25.0)
    assert a.lives == ["began", "ended", "began"]
    assert a.ledger.epoch == 2
    (answer,) = answers
    assert isinstance(answer, StorageError)
    assert b.ledger.peers.members() == a.ledger.peers.members()
    assert len(a.ledger.peers.members()) == 3


def test_where_a_lost_node_was_is_known_to_the_others_for_pages_that_came_from_it() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    nodes.cut(b)
    nodes.go(LOST_S + 2.0)
    assert a.ledger.peers.urls() == ["ws://a"]
    assert a.ledger.peers.known_urls() == ["ws://a", "ws://b"]
    assert a.replica.urls() == {"a": "ws://a", "b": "ws://b"}


def test_an_error_in_handling_applied_entries_stops_the_node_instead_of_hanging_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    monkeypatch.setattr(a.replica, "apply", lambda _: [None])  # what nobody thought of
    nodes.go(LOST_S + 2.0)
    assert str(a.ledger.trouble()).startswith("a fault of this node (AttributeError: 'NoneType' object has no")
    assert b.ledger.peers.members() == [Author("b", 1)]
    caplog.clear()  # it was meant


def test_a_node_that_leaves_is_not_waited_for_and_does_not_come_back() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    a.ledger.leave()
    nodes.go(0.5)
    assert b.ledger.peers.members() == [Author("b", 1)]
    assert b.ledger.is_steward
    nodes.go(5.0)
    assert a.lives == ["began", "ended"]


def test_the_way_to_the_log_and_back_is_measured_while_nobody_plays() -> None:
    nodes = Nodes("a", "b")
    ways_s = nodes.nodes[0].ledger.health().commit_s
    before = sum(ways_s.counts), ways_s.total
    nodes.go(5.0)
    assert sum(ways_s.counts) >= before[0] + 5
    assert ways_s.total > before[1]


def test_a_node_without_contact_reports_it_and_declares_nobody_lost() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    nodes.cut(a)
    nodes.go(1.7)
    assert not a.ledger.is_fresh
    assert a.ledger.health().trouble == "the ledger of the cluster does not answer"
    nodes.go(10.0)
    nodes.mend(a)
    nodes.go(3.0)
    assert a.ledger.is_fresh
    assert b.lives == ["began"]


def test_a_second_process_of_one_name_is_noticed_and_one_of_them_stops() -> None:
    nodes = Nodes("a", "a")
    stopped = [node.ledger.stopped for node in nodes.nodes if node.ledger.stopped]
    assert len(stopped) == 1
    assert "another process runs as node a" in stopped[0]
    nodes.go(5.0)
    assert sum(node.ledger.is_fresh for node in nodes.nodes) == 1


def test_a_node_that_was_killed_as_it_began_and_is_back_at_once_is_no_twin_of_itself() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    nodes.cut(a)
    nodes.go(LOST_S + 2.0)
    a.log.is_gone = True
    nodes.loop.kill(1)
    nodes.weather.slowest_s = 0.2
    nodes.nodes.append(again := Node(nodes, "a", 3, 0, FORM))
    while not again.ledger.epoch:
        nodes.go(0.05)
    before = again.replica
    late = Batch("a", 2, 1, before.position, before.state, (BeginEpoch("of the process before"),))
    nodes.stream.append(encode_batch(late))
    nodes.go(6.0)
    assert again.ledger.stopped is None
    assert (again.ledger.is_fresh, again.ledger.epoch) == (True, 3)
    assert b.ledger.peers.members() == again.ledger.peers.members() == [Author("b", 1), Author("a", 3)]


def test_a_node_whose_tables_differ_from_those_of_all_others_stops() -> None:
    nodes = Nodes("a", "b", "c")
    a, b, c = nodes.nodes
    a.replica.database.connection.execute(
        "INSERT INTO players (name, name_key, token_hash, created_ms, seen_ms) VALUES ('x', 'ann', x'00', 0, 0)"
    )
    nodes.append(b, "ann")
    nodes.go(5.0)
    assert a.ledger.stopped is not None
    assert "differ" in a.ledger.stopped
    assert b.ledger.is_fresh
    assert c.ledger.is_fresh
    late = nodes.append(a, "bob")
    nodes.go(0.1)
    assert isinstance(late[0], StorageError)


def test_a_disk_that_fails_stops_nothing_but_this_node_and_for_as_long_as_it_does() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    a.replica.database.connection.execute("PRAGMA query_only = ON")
    answers = nodes.append(b, "ann")
    nodes.go(4.0)
    assert answers == [Player(1, "ann")]
    assert "disk" in str(a.ledger.health().trouble)
    a.replica.database.connection.execute("PRAGMA query_only = OFF")
    nodes.go(6.0)
    assert a.ledger.is_fresh
    assert a.replica.position == b.replica.position


def test_a_node_with_an_internal_error_stops_and_says_why() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    answers = nodes.append(a, "ann")
    with nodes.loop.acting_as(1):
        a.ledger.stop_for(LookupError("nobody thought of it"))
    nodes.go(LOST_S + 2.0)
    assert isinstance(answers[0], StorageError)
    assert a.ledger.health().trouble == "a fault of this node (LookupError: nobody thought of it); start it again"
    assert a.lives == ["began", "ended"]
    assert b.ledger.peers.members() == [Author("b", 1)]


def test_a_node_whose_clock_is_minutes_off_says_so_and_the_others_do_not() -> None:
    nodes = Nodes("a", "b", "c", clocks_s=(0, 600, 0))
    nodes.go(3.0)
    a, b, c = (node.ledger.health().trouble for node in nodes.nodes)
    assert (a, c) == (None, None)
    assert b == "the clock here is 600 s ahead of the others'; set it right"


def test_of_two_nodes_with_different_clocks_neither_is_considered_wrong() -> None:
    nodes = Nodes("a", "b", clocks_s=(0, 600))
    nodes.go(3.0)
    assert [node.ledger.health().trouble for node in nodes.nodes] == [None, None]


def test_a_node_that_applies_nothing_for_minutes_keeps_so_many_answers_and_catches_up_at_last() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    a.replica.database.connection.execute("PRAGMA query_only = ON")
    nodes.go(MOST_POLLS * POLL_S * 2)
    assert not a.ledger.is_fresh
    assert a.ledger.contact.ends_ahead == MOST_POLLS
    a.replica.database.connection.execute("PRAGMA query_only = OFF")
    nodes.go(6.0)
    assert a.ledger.is_fresh
    assert a.ledger.contact.ends_ahead < 5
    assert a.replica.position == b.replica.position


def test_the_mean_cost_of_an_entry_is_measured_where_it_is_applied() -> None:
    nodes = Nodes("a")
    (a,) = nodes.nodes
    looks = iter(range(10**6))
    assert a.ledger.job_ms == 0.0
    a.ledger.cost_s = lambda: next(looks) * 0.002
    nodes.append(a, "ann")
    nodes.go(0.1)
    assert 0.0 < a.ledger.job_ms < 2.0
    for number in range(200):
        a.ledger.ask(NameQuery(f"nobody {number}"), lambda _: None, lambda _: None)
    nodes.go(0.1)
    assert a.ledger.job_ms == pytest.approx(2.0, abs=0.01)


def test_a_node_that_needs_a_match_which_it_still_fetches_says_so_and_goes_on_once_it_has_it() -> None:
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    b.replica.has_past = False
    assert not b.ledger.has_past
    answers = nodes.write(a, AppendEvents((Offered("old", 9, 1, 0, "rematch"),)))
    nodes.go(0.2)
    assert [type(answer) for answer in answers] == [Overtaken]
    assert b.ledger.trouble() == "an entry is about match old, which this node is still fetching"
    assert b.ledger.stopped is None
    b.replica.has_past = True
    nodes.go(4.0)
    assert b.ledger.trouble() is None
    assert b.ledger.is_fresh
    assert b.replica.state == a.replica.state
