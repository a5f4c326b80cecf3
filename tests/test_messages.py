import contextlib
import datetime
import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.any_message import EVENTS, SAID
from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal


def test_every_request_and_every_event_is_generated_here() -> None:
    assert set(SAID) == set(get_args(wire.AnyRequest))
    assert set(EVENTS) == set(get_args(wire.MatchEvent))


@given(st.one_of(*SAID.values()))
def test_a_request_that_is_written_reads_as_the_same_request(said: wire.AnyRequest) -> None:
    assert wire.decode_request(wire.encode(said)) == said
    assert wire.request_id(wire.encode(said)) == said.id


@given(st.one_of(*EVENTS.values()))
def test_an_event_that_is_written_reads_as_the_same_event(event: wire.MatchEvent) -> None:
    assert wire.decode_event(wire.encode(event)) == event
    assert wire.decode_server_message(wire.encode(event)) == event


def is_read_or_refused(data: bytes | str) -> None:
    """Any other exception than a refusal fails the test that calls this."""
    wire.request_id(data)
    with contextlib.suppress(Refusal):
        assert isinstance(wire.decode_request(data), get_args(wire.AnyRequest))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_are_refused(data: bytes) -> None:
    is_read_or_refused(data)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
requests = st.one_of(*SAID.values()).map(msgspec.to_builtins)


@given(requests, st.text(max_size=8) | st.sampled_from(["id", "type", "match", "ply", "move", "games", "time"]), values)
def test_any_json_near_to_a_request_is_a_request_or_is_refused(
    request: dict[str, object], field: str, value: object
) -> None:
    is_read_or_refused(json.dumps({**request, field: value}))
    is_read_or_refused(json.dumps({key: each for key, each in request.items() if key != field}))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"play"',
        b"\xff\xfe",
        b"[" * 4000,
        b'{"type":"zap","id":1}',
        b'{"type":"ping","id":1,"more":2}',
        b'{"type":"ping","id":-1}',
        b'{"type":"ping","id":1.5}',
        b'{"type":"ping","id":true}',
        b'{"type":"ping","id":"1"}',
        b'{"type":"ping","id":9007199254740992}',
        b'{"type":"ping","id":1e400}',
        b'{"type":"ping","id":' + b"9" * 3000 + b"}",
        b'{"type":"play","id":1,"match":"","ply":0,"move":0}',
        b'{"type":"play","id":1,"match":"m","ply":0,"move":-1}',
        b'{"type":"play","id":1,"match":"m","ply":0}',
        b'{"type":"offer","id":1,"match":"m","kind":"bribe"}',
        b'{"type":"hello","id":1,"protocols":[]}',
        b'{"type":"seek","id":1,"time":{"initial_ms":0,"increment_ms":0}}',
        b'{"type":"hello","id":1,"protocols":[1],"name":"\xed\xa0\x80"}',
    ],
)
def test_invalid_requests_are_refused(data: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        wire.decode_request(data)
    assert caught.value.code is Code.BAD_MESSAGE


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(Refusal, match=r"Expected `int`, got `str` - at `\$\.ply`"):
        wire.decode_request('{"type":"play","id":1,"match":"m","ply":"0","move":0}')


def test_the_id_of_a_broken_request_is_still_found() -> None:
    assert wire.request_id('{"type":"zap","id":7,"x":[1,2]}') == 7
    assert wire.request_id('{"type":"zap"}') is None
    assert wire.request_id("{") is None


def test_unknown_fields_in_messages_are_ignored() -> None:
    assert wire.decode_server_message('{"type":"ok","id":1,"news":[]}') == wire.Ok(1)


def test_the_longest_request_fits_in_a_message() -> None:
    text = ("\\u00e9" * 80,) * 4
    longest = wire.HelloRequest(2**53 - 1, [10] * 16, *text, 8, 20, 20)
    assert len(wire.encode(longest)) <= wire.MAX_MESSAGE_BYTES


def test_a_match_that_an_older_server_wrote_down_is_still_read() -> None:
    kept = (
        b'{"type":"started","match":"m","seq":1,"at_ms":5,"game":"tictactoe",'
        b'"players":[{"name":"Ann"},{"name":"Bob","bot":"random"}],"private":true}'
    )
    started = wire.decode_event(kept)
    assert isinstance(started, wire.Started)
    assert (started.rated, started.score, started.code) == (False, (0, 0), None)
    assert started.players[1] == wire.PlayerInfo("Bob", "random", None, None, False)


def test_a_solved_mistake_returns_after_longer_and_longer_waits_and_is_then_learned() -> None:
    mistake, today, days = wire.OwnMistake(wire.OwnPuzzle("tictactoe", [4]), "why"), "2026-11-27", []
    while mistake.times != wire.LEARNED:
        mistake = mistake.answered(today, is_right=True)
        days.append((mistake.times, today := mistake.due))
    waits = [(1, "2026-11-28"), (2, "2026-12-01"), (3, "2026-12-08"), (4, "2026-12-29"), (5, "2026-12-30")]
    assert days == waits
    assert not mistake.is_due("9999-12-31")
    assert mistake.answered("9999-12-30", is_right=False) is mistake


def test_a_learned_mistake_that_is_made_again_begins_anew_and_any_other_goes_on() -> None:
    learned = wire.OwnMistake(wire.OwnPuzzle("tictactoe", [4]), "why", "2026-12-30", wire.LEARNED)
    again = learned.made_again()
    assert (again.due, again.times) == ("2026-12-31", 0)
    assert again.progress > learned.progress
    assert again.made_again() is again


def test_an_answer_counts_once_and_a_wrong_one_lets_a_mistake_begin_again() -> None:
    new = wire.OwnMistake(wire.OwnPuzzle("tictactoe", [4]), "why", "2026-11-27", 3)
    wrong = new.answered("2026-11-27", is_right=False)
    assert (wrong.times, wrong.due) == (0, "2026-11-28")
    assert wrong.answered("2026-11-27", is_right=True) is wrong
    assert new.answered("2026-11-26", is_right=True) is new
    late = new.answered("2026-12-31", is_right=True)
    assert (late.times, late.due) == (4, "2027-01-21")


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans())))
def test_every_answer_that_counts_is_more_progress(answers: list[tuple[int, bool]]) -> None:
    mistake = wire.OwnMistake(wire.OwnPuzzle("tictactoe", [4]))
    for day, is_right in answers:
        today = (datetime.date(2026, 1, 1) + datetime.timedelta(days=day)).isoformat()
        after = mistake.answered(today, is_right=is_right)
        assert after is mistake or after.progress > mistake.progress
        mistake = after
