import contextlib
import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal

text = st.text(max_size=80)
names = st.text(min_size=1, max_size=32)
ids = st.integers(0, 2**53 - 1)
small = st.integers(0, 100_000)
sides = st.sampled_from([0, 1])
kinds = st.sampled_from(["draw", "takeback", "rematch"])
times = st.builds(TimeControl, st.integers(1_000, 10_800_000), st.integers(0, 60_000), st.booleans())

SAID: dict[type, st.SearchStrategy[wire.AnySaid]] = {
    wire.Hello: st.builds(
        wire.Hello,
        id=ids,
        protocols=st.lists(st.integers(-9, 9), min_size=1, max_size=16),
        name=st.none() | text,
        token=st.none() | text,
        bot=st.none() | text,
        client=st.none() | text,
        level=st.none() | st.integers(1, 8),
        places=st.none() | st.integers(0, 20),
        reserved=st.integers(0, 20),
    ),
    wire.Seek: st.builds(
        wire.Seek,
        id=ids,
        games=st.lists(st.text(max_size=40), max_size=16),
        time=st.none() | times,
        opponents=st.sampled_from(["any", "people", "bots"]),
        rated=st.booleans(),
        min_rating=st.none() | st.integers(0, 5_000),
        max_rating=st.none() | st.integers(0, 5_000),
    ),
    wire.Unseek: st.builds(wire.Unseek, id=ids),
    wire.Accept: st.builds(wire.Accept, id=ids, seek=ids),
    wire.Lobby: st.builds(wire.Lobby, id=ids, on=st.booleans()),
    wire.Challenge: st.builds(wire.Challenge, id=ids, name=text, game=st.text(max_size=40), time=st.none() | times),
    wire.Answer: st.builds(
        wire.Answer, id=ids, challenge=ids, accept=st.booleans(), reason=st.sampled_from(["later", "generic"])
    ),
    wire.Invite: st.builds(wire.Invite, id=ids, game=st.text(max_size=40), time=st.none() | times),
    wire.Join: st.builds(wire.Join, id=ids, code=text),
    wire.Matches: st.builds(wire.Matches, id=ids),
    wire.Watch: st.builds(wire.Watch, id=ids, match=names, code=st.none() | text),
    wire.Chat: st.builds(
        wire.Chat, id=ids, match=names, text=st.none() | text, phrase=st.none() | st.sampled_from(["hello", "oops"])
    ),
    wire.Mute: st.builds(wire.Mute, id=ids, name=st.none() | text, on=st.booleans()),
    wire.Unwatch: st.builds(wire.Unwatch, id=ids, match=names),
    wire.Play: st.builds(wire.Play, id=ids, match=names, ply=small, move=small),
    wire.Resign: st.builds(wire.Resign, id=ids, match=names),
    wire.Abort: st.builds(wire.Abort, id=ids, match=names),
    wire.Offer: st.builds(wire.Offer, id=ids, match=names, kind=kinds),
    wire.Decline: st.builds(wire.Decline, id=ids, match=names, kind=kinds),
    wire.Claim: st.builds(wire.Claim, id=ids, match=names, kind=st.sampled_from(["win", "draw", "adjourn"])),
    wire.Resume: st.builds(wire.Resume, id=ids, match=names, seq=small),
    wire.Who: st.builds(wire.Who, id=ids),
    wire.Rename: st.builds(wire.Rename, id=ids, name=text),
    wire.Forget: st.builds(wire.Forget, id=ids, name=text),
    wire.Profile: st.builds(wire.Profile, id=ids, name=st.none() | text),
    wire.History: st.builds(
        wire.History, id=ids, name=st.none() | text, game=st.none() | st.text(max_size=40), before=st.none() | text
    ),
    wire.Leaderboard: st.builds(
        wire.Leaderboard,
        id=ids,
        game=st.text(max_size=40),
        speed=st.sampled_from(["bullet", "blitz", "rapid", "untimed"]),
        bots=st.booleans(),
        page=st.integers(1, 10_000),
    ),
    wire.Replay: st.builds(wire.Replay, id=ids, match=names, ply=small),
    wire.Record: st.builds(wire.Record, id=ids, match=names),
    wire.Analyse: st.builds(wire.Analyse, id=ids, match=names),
    wire.Ping: st.builds(wire.Ping, id=ids),
}

numbers = st.integers(0, 2**53)
players = st.builds(
    wire.PlayerInfo,
    name=text,
    bot=st.none() | text,
    level=st.none() | st.integers(1, 8),
    rating=st.none() | st.integers(0, 5000),
    provisional=st.booleans(),
)
clocks = st.builds(wire.ClockInfo, remaining_ms=st.tuples(numbers, numbers), running=st.none() | sides)
positions = st.builds(
    wire.Position,
    ply=small,
    board=text,
    to_move=st.none() | sides,
    legal=st.lists(small),
    line=st.lists(small),
    marks=st.tuples(text, text),
    blocks=st.sampled_from(["", "X.O=....."]),
)
FACTS: dict[type, st.SearchStrategy[wire.Fact]] = {
    wire.Started: st.builds(
        wire.Started,
        match=text,
        seq=small,
        at_ms=numbers,
        game=text,
        players=st.tuples(players, players),
        time=st.none() | times,
        previous=st.none() | text,
        private=st.booleans(),
        rated=st.booleans(),
        score=st.tuples(st.floats(0, 100), st.floats(0, 100)),
        code=st.none() | text,
    ),
    wire.Played: st.builds(
        wire.Played,
        match=text,
        seq=small,
        at_ms=numbers,
        side=sides,
        ply=small,
        move=small,
        refunded_ms=small,
        clock=st.none() | clocks,
        position=st.none() | positions,
    ),
    wire.Tookback: st.builds(
        wire.Tookback,
        match=text,
        seq=small,
        at_ms=numbers,
        side=sides,
        ply=small,
        clock=st.none() | clocks,
        position=st.none() | positions,
    ),
    wire.Adjourned: st.builds(wire.Adjourned, match=text, seq=small, at_ms=numbers, side=sides),
    wire.Offered: st.builds(wire.Offered, match=text, seq=small, at_ms=numbers, side=sides, kind=kinds),
    wire.Declined: st.builds(wire.Declined, match=text, seq=small, at_ms=numbers, side=sides, kind=kinds),
    wire.Ended: st.builds(
        wire.Ended,
        match=text,
        seq=small,
        at_ms=numbers,
        winner=st.none() | sides,
        reason=text,
        clock=st.none() | clocks,
    ),
    wire.Rematched: st.builds(wire.Rematched, match=text, seq=small, at_ms=numbers, next=text),
}


def test_every_request_and_every_fact_is_generated_here() -> None:
    assert set(SAID) == set(get_args(wire.AnySaid))
    assert set(FACTS) == set(get_args(wire.Fact))


@given(st.one_of(*SAID.values()))
def test_a_request_that_is_written_reads_as_the_same_request(said: wire.AnySaid) -> None:
    assert wire.decode_said(wire.encode(said)) == said
    assert wire.request_id(wire.encode(said)) == said.id


@given(st.one_of(*FACTS.values()))
def test_a_fact_that_is_written_reads_as_the_same_fact(fact: wire.Fact) -> None:
    assert wire.decode_fact(wire.encode(fact)) == fact
    assert wire.decode_heard(wire.encode(fact)) == fact


def is_read_or_refused(data: bytes | str) -> None:
    """Any other exception than a refusal fails the test that calls this."""
    wire.request_id(data)
    with contextlib.suppress(Refusal):
        assert isinstance(wire.decode_said(data), get_args(wire.AnySaid))


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
def test_what_is_not_a_request_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        wire.decode_said(data)
    assert caught.value.code is Code.BAD_MESSAGE


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(Refusal, match=r"Expected `int`, got `str` - at `\$\.ply`"):
        wire.decode_said('{"type":"play","id":1,"match":"m","ply":"0","move":0}')


def test_the_id_of_a_broken_request_is_still_found() -> None:
    assert wire.request_id('{"type":"zap","id":7,"x":[1,2]}') == 7
    assert wire.request_id('{"type":"zap"}') is None
    assert wire.request_id("{") is None


def test_what_is_heard_may_have_fields_that_this_client_does_not_know() -> None:
    assert wire.decode_heard('{"type":"ok","id":1,"news":[]}') == wire.Ok(1)


def test_the_longest_request_fits_in_a_message() -> None:
    text = ("\\u00e9" * 80,) * 4
    longest = wire.Hello(2**53 - 1, [10] * 16, *text, 8, 20, 20)
    assert len(wire.encode(longest)) <= wire.MAX_MESSAGE_BYTES


def test_a_match_that_an_older_server_wrote_down_is_still_read() -> None:
    kept = (
        b'{"type":"started","match":"m","seq":1,"at_ms":5,"game":"tictactoe",'
        b'"players":[{"name":"Ann"},{"name":"Bob","bot":"random"}],"private":true}'
    )
    started = wire.decode_fact(kept)
    assert isinstance(started, wire.Started)
    assert (started.rated, started.score, started.code) == (False, (0, 0), None)
    assert started.players[1] == wire.PlayerInfo("Bob", "random", None, None, False)
