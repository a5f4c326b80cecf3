import random
from typing import Any

import pytest

from ttt_net.games import Game
from ttt_net.laboratory.arena import (
    SPRT_BOUND,
    Entrant,
    Result,
    Score,
    elo,
    elo_interval,
    play,
    play_all,
    random_opening,
    round_robin,
    sprt,
    standings,
)
from ttt_net.strategies import Limit, find_strategy


def entrants(*names: str) -> list[Entrant]:
    return [Entrant(name, find_strategy(name, seed=number)) for number, name in enumerate(names)]


def test_every_pair_plays_both_sides_in_every_round(tictactoe: Game[Any]) -> None:
    results = list(round_robin(tictactoe, 3, rounds=2, seed=1))
    pairs = [(result.first, result.second) for result in results]
    assert sorted(pairs) == sorted([(a, b) for a in range(3) for b in range(3) if a != b] * 2)


def test_the_same_seed_plays_the_same_arena(tictactoe: Game[Any]) -> None:
    def results() -> list[Result]:
        pairings = round_robin(tictactoe, 2, rounds=5, opening_plies=2, seed=3)
        return list(play_all(tictactoe, entrants("random", "tactics"), Limit(), pairings))

    assert results() == results()


def test_a_game_goes_on_from_its_opening_and_the_time_of_each_move_is_kept(tictactoe: Game[Any]) -> None:
    winner, loser = entrants("table", "rules")
    utility, moves = play(tictactoe, (winner, loser), Limit(), (4, 1, 0, 8, 6))
    assert (utility, len(moves), moves[:5]) == (1, 7, (4, 1, 0, 8, 6))
    assert (len(winner.move_ms), len(loser.move_ms)) == (1, 1)


@pytest.mark.parametrize("plies", [0, 3, 9])
def test_an_opening_ends_no_game_even_if_it_has_to_be_shorter(plies: int, tictactoe: Game[Any]) -> None:
    for seed in range(20):
        opening, state = random_opening(tictactoe, plies, random.Random(seed)), tictactoe.initial
        for move in opening:
            state = tictactoe.result(state, move)
        assert not tictactoe.is_terminal(state)
        assert len(opening) <= plies


def test_standings_count_each_game_from_both_sides(tictactoe: Game[Any]) -> None:
    both = entrants("random", "table")
    first, second = standings(both, [Result(0, 1, 1, ()), Result(1, 0, 1, ()), Result(1, 0, 0, ())])
    assert first.total == Score(won=1, drawn=1, lost=1)
    assert second.against == (Score(won=1, drawn=1, lost=1), Score())


def test_elo_of_three_points_in_four_is_191_with_its_error() -> None:
    difference, error = elo(Score(won=75, drawn=0, lost=25))
    assert difference == pytest.approx(190.8, abs=0.1)
    assert error == pytest.approx(40.1, abs=0.1)


def test_elo_is_unknown_when_all_games_were_won_or_none() -> None:
    assert elo(Score(won=5)) == (None, None)
    assert elo(Score()) == (None, None)


def test_an_arena_that_was_broken_off_goes_on_with_the_same_games(tictactoe: Game[Any]) -> None:
    def results(played: int) -> list[Result]:
        both = entrants("table", "rules")  # neither leaves anything to chance
        pairings = list(round_robin(tictactoe, 2, rounds=4, opening_plies=2, seed=3))
        return list(play_all(tictactoe, both, Limit(), pairings[played:]))

    assert results(5) == results(0)[5:]


def test_the_interval_of_all_wins_has_one_end_and_narrows_with_the_games() -> None:
    few, many = elo_interval(Score(won=5)), elo_interval(Score(won=100))
    assert few[1] is many[1] is None
    assert few[0] is not None
    assert few[0] == pytest.approx(45.9, abs=1)
    assert many[0] == pytest.approx(566, abs=5)
    high, low = elo_interval(Score(lost=5))
    assert high is None
    assert low == pytest.approx(-few[0])
    low, high = elo_interval(Score(won=75, lost=25))
    assert low is not None
    assert high is not None
    assert low < 190.8 < high
    assert elo_interval(Score()) == (None, None)


def test_the_sequential_test_accepts_what_the_games_speak_for() -> None:
    assert sprt(Score(won=300, drawn=100, lost=200), 0, 30) > SPRT_BOUND
    assert sprt(Score(won=250, drawn=100, lost=250), 0, 30) < -SPRT_BOUND / 2
    assert abs(sprt(Score(won=6, drawn=2, lost=4), 0, 30)) < SPRT_BOUND
    assert sprt(Score(won=20), 0, 300) > SPRT_BOUND
