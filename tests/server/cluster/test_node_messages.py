"""Nodes of different releases understand one another, or ignore what they cannot read."""

import logging

import pytest

from tests.server.cluster.evening import Evening, steward_and_guest
from ttt_net import messages as wire
from ttt_net.server.cluster.entries import FORM
from ttt_net.server.cluster.node_messages import LobbyQuestion, WatcherCounts, decode_message, encode_message

NEWER = b'{"form": %d, "said": "in a way that is still to come"}' % (FORM + 1)


def test_a_message_comes_back_from_its_bytes_as_it_was_and_needs_no_form_or_later_field() -> None:
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
    subjects = ["lobby.seeks", "rooms.chat", "rooms.watching", "limits.taken", *(f"node.{name}" for name in "abc")]
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
