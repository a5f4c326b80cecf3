"""Finished matches as data: the numbers of their events, and the same text as the record of the match."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.games import Side, find_game
from ttt_net.games.catalogue import names
from ttt_net.games.notation import write_move
from ttt_net.games.records import write_record
from ttt_net.matches.match import Match, MatchData, match_data, record_of, write_text
from ttt_net.matches.referee import Command, decide

START_MS = 1_795_305_000_000
PLAYERS = (wire.PlayerInfo("Ann", rating=1_600), wire.PlayerInfo("Bob", "random"))
TIME = TimeControl(60_000, 1_000)
SIDES: tuple[Side, ...] = (0, 1)
REQUESTS: tuple[Command, ...] = (
    *[wire.OfferRequest(1, "m", kind) for kind in ("draw", "takeback")] * 2,
    wire.DeclineRequest(1, "m", "takeback"),
    wire.ResignRequest(1, "m"),
)


def begun(**about: object) -> wire.Started:
    return wire.Started("m", 1, START_MS, **{"game": "tictactoe", "players": PLAYERS, **about})  # type: ignore[arg-type]


@given(
    st.sampled_from(names()),
    st.sampled_from([None, TIME, TimeControl(30_000, per_move=True)]),
    st.randoms(use_true_random=False),
)
def test_a_finished_match_has_the_same_text_as_data_and_as_a_record(
    game: str, time: TimeControl | None, rng: random.Random
) -> None:
    match, now_ms = Match(begun(game=game, time=time)), START_MS
    while not match.is_over:
        now_ms += rng.randrange(2_000)
        side: Side = rng.choice(SIDES)
        command: Command = rng.choice(REQUESTS)
        if rng.random() < 0.8:
            side = match.game.to_move(match.state)
            command = wire.PlayRequest(1, "m", len(match.moves), rng.choice(match.game.actions(match.state)))
        with suppress(Refusal):
            for event in decide(match, side, command, now_ms):
                match.evolve(event)
    for event in decide(match, 0, wire.OfferRequest(1, "m", "rematch"), now_ms):
        match.evolve(event)
    data = match_data(match.events)
    assert write_text(data) == write_record(record_of(match.events))
    assert data.moves == [move for _, move in match.moves]
    assert data.written == [write_move(match.game, move) for move in data.moves]
    assert data.times_ms == sorted(data.times_ms)
    assert len(data.times_ms) == len(data.moves)
    assert (data.clocks_ms is None) == (time is None)


EVENTS: tuple[wire.MatchEvent, ...] = (
    begun(time=TIME, rated=True, previous="l", start="X../.O./..X"),
    wire.Played("m", 2, START_MS - 5, 1, 1, 1, clock=wire.ClockInfo((60_000, 61_000), None)),
    wire.Played("m", 3, START_MS + 700, 0, 2, 3, clock=wire.ClockInfo((60_500, 61_000), 1)),
    wire.Tookback("m", 4, START_MS + 800, 0, 1, clock=wire.ClockInfo((60_500, 61_000), 0)),
    wire.Played("m", 5, START_MS + 900, 0, 2, 5, clock=wire.ClockInfo((60_400, 61_000), 1)),
    wire.Ended("m", 6, START_MS + 950, 0, "resign"),
    wire.Offered("m", 7, START_MS + 990, 0, "rematch"),
)


def test_the_data_of_a_match_are_those_of_its_events() -> None:
    data = MatchData(
        match="m",
        game="tictactoe",
        players=PLAYERS,
        started_ms=START_MS,
        ended_ms=START_MS + 950,
        winner=0,
        reason="resign",
        moves=[1, 5],
        times_ms=[0, 900],
        written=[write_move(find_game("tictactoe"), move) for move in (1, 5)],
        clocks_ms=[61_000, 60_400],
        time=TIME,
        rated=True,
        start="X../.O./..X",
        previous="l",
    )
    assert match_data(EVENTS) == data
    assert data.cursor == f"{START_MS + 950}-m"


@pytest.mark.parametrize("without", [1, 4])
def test_clocks_are_left_out_unless_every_move_has_one(without: int) -> None:
    unclocked = EVENTS[without]
    assert isinstance(unclocked, wire.Played)
    data = match_data([*EVENTS[:without], replace(unclocked, clock=None), *EVENTS[without + 1 :]])
    assert (data.clocks_ms, data.time) == (None, TIME)
    assert "[" not in write_text(data)


@pytest.mark.parametrize(("time", "clocks"), [(None, None), (TIME, [])])
def test_a_match_without_a_move_has_clocks_if_it_has_a_time_control(
    time: TimeControl | None, clocks: list[int] | None
) -> None:
    assert match_data([begun(time=time), wire.Ended("m", 2, START_MS, 0, "resign")]).clocks_ms == clocks


def test_moves_are_written_as_numbers_where_the_rules_of_the_match_are_missing() -> None:
    for about in ({"game": "marbles"}, {"rules": 7}):
        data = match_data([begun(**about), wire.Played("m", 2, START_MS, 0, 1, 4), EVENTS[5]])
        assert (data.written, data.moves) == (None, [4])
        assert write_text(data).endswith("\n1. 4\n")
