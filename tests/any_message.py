"""Any request and any fact, as what Hypothesis draws from."""

from hypothesis import strategies as st

from ttt_net import messages as wire
from ttt_net.clock import TimeControl

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
