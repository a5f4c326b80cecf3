"""Matches that begin from another position than the usual one: the referee, the record, the analysis."""

import random

import pytest
from hypothesis import given

from tests.games.plays import game_names, random_play, seeds
from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game
from ttt_net.games.notation import read_start, write_position
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer, read_record, write_record
from ttt_net.matches.match import Match, record_of
from ttt_net.matches.referee import decide, rematch
from ttt_net.strategies import Limit
from ttt_net.strategies.review import review

PLAYERS = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
NAMES = (RecordedPlayer("Ann"), RecordedPlayer("Bob"))
OPEN = "X../.O./..X"
"""Three marks are made, so O is to move."""


def begun(game: str, start: str | None) -> Match:
    return Match(wire.Started(match="m", seq=1, at_ms=0, game=game, players=PLAYERS, start=start))


def test_a_match_continues_from_its_start_and_counts_its_own_plies() -> None:
    match = begun("tictactoe", OPEN)
    assert match.to_move == 1
    assert match.position().board == "X...O...X"
    assert match.position().ply == 0
    with pytest.raises(Refusal) as refused:
        decide(match, 0, wire.PlayRequest(1, "m", 0, 1), 0)
    assert refused.value.code is Code.NOT_YOUR_TURN
    (played,) = decide(match, 1, wire.PlayRequest(1, "m", 0, 1), 0)
    match.evolve(played)
    assert match.told(played).position.board == "XO..O...X"  # type: ignore[union-attr]
    assert [event.seq for event in match.tail(1)] == [2]
    assert match.snapshot(1, (True, True), 0).start == OPEN


def test_the_rematch_begins_from_the_same_position() -> None:
    started = rematch(begun("tictactoe", OPEN), 0)
    assert started.start == OPEN
    assert started.players == PLAYERS[::-1]


def test_a_take_back_goes_to_the_start_and_not_beyond() -> None:
    match = begun("tictactoe", OPEN)
    for command in (wire.PlayRequest(1, "m", 0, 1), wire.OfferRequest(1, "m", "takeback")):
        for event in decide(match, 1, command, 0):
            match.evolve(event)
    for event in decide(match, 0, wire.OfferRequest(1, "m", "takeback"), 0):
        match.evolve(event)
    assert match.position().board == "X...O...X"


@pytest.mark.parametrize("text", ["XXX/OO./...", "XOX/XOO/OXX", "XX./.../...", "X", "", "x" * 5000])
def test_impossible_starting_positions_are_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_start(find_game("tictactoe"), text)
    assert refused.value.code is Code.BAD_NOTATION


@given(game_names, seeds)
def test_any_play_may_be_recorded_from_any_of_its_positions(name: str, seed: int) -> None:
    game = find_game(name)
    moves, _ = random_play(game, random.Random(seed))
    states = [game.initial]
    for move in moves:
        states.append(game.result(states[-1], move))
    if not moves:
        return
    cut = random.Random(seed).randrange(len(moves))
    start = write_position(game, states[cut])
    if read_start(game, start) != states[cut]:
        return  # a position may be written without what has been repeated before it
    match = begun(name, start)
    for move in moves[cut:]:
        side = match.to_move
        assert side is not None
        for event in decide(match, side, wire.PlayRequest(1, "m", len(match.moves), move), 0):
            match.evolve(event)
    record = record_of(match.events)
    assert record.start == start
    assert read_record(write_record(record)) == record
    assert [game.board(state) for state in record.positions()] == [game.board(state) for state in states[cut:]]


def test_a_record_contains_its_start_and_reads_it_in_any_notation() -> None:
    record = Record("tictactoe", NAMES, (RecordedMove(1),), start=OPEN)
    assert f"Start: {OPEN}\n" in write_record(record)
    assert read_record(write_record(record).replace(OPEN, "x--/-o-/--x")) == record
    with pytest.raises(Refusal, match="is written"):
        Record("tictactoe", NAMES, start="x--/-o-/--x")
    with pytest.raises(Refusal, match="the game is over"):
        read_record("Game: tictactoe\nFirst: A\nSecond: B\nStart: XXX/OO./...\n")


def test_a_review_begins_where_the_match_began() -> None:
    game = find_game("tictactoe")
    start = read_start(game, "XX./OO./...")
    (reviewed,) = review(game, (8,), Limit(), start)
    assert (reviewed.side, reviewed.best, reviewed.lost) == (0, (2,), 2)
