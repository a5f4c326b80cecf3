"""Each style, by statistics of its moves against a player of level 4."""

import random
from functools import cache
from typing import NamedTuple

import pytest

from tests.strategies.positions import after_names, line_game
from ttt_net.errors import ConfigurationError
from ttt_net.games import find_game
from ttt_net.games.geometry import lines_through
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.attention import distance_between, opposite
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.lessons.sight import look
from ttt_net.strategies.styles import STYLES

MATCHES = 6
SIGNS = {"attacker": "attack", "blocker": "block", "trapper": "cross", "copycat": "copied", "explorer": "far"}
"""By which statistic each style stands out."""


class Habits(NamedTuple):
    attack: float
    """Own marks in the best open line through the cell, less the other side's in theirs."""
    block: float
    """The same the other way round."""
    cross: float
    """Whether two open lines with own marks meet in the cell."""
    copied: float
    """Whether the cell mirrors the other side's last."""
    far: float
    """The distance from the other side's last mark."""


def habit(game: LineGame, state: LineState, move: int, last: int) -> Habits:
    own, other = own_and_other(state)
    ours, theirs = [], []
    for lines in lines_through(game.shape, game.k, move):
        ours.append(max(((line & own).bit_count() for line in lines if not line & other), default=0))
        theirs.append(max(((line & other).bit_count() for line in lines if not line & own), default=0))
    meeting = sum(marks > 0 for marks in ours)
    is_copied = move == opposite(game, last)
    most = max(ours) - max(theirs)
    return Habits(most, -most, meeting > 1, is_copied, distance_between(game, last, move))


def is_free(game: LineGame, state: LineState) -> bool:
    """Whether nothing has to be done in sight."""
    sight = look(game, state)
    return not (sight.wins or sight.threats or sight.double_threats or sight.their_double_threats)


@cache
def habits(name: str, who: str) -> Habits:
    """The mean of all free moves of a style in some matches."""
    game, found = line_game(name), list[Habits]()
    styled, other = find_strategy(who, seed=1), find_strategy("alphabeta", seed=2, level=4)
    for number in range(MATCHES):
        state, last = game.initial, None
        while not game.is_terminal(state):
            if game.to_move(state) == number % 2:
                move = styled(game, state, Limit(nodes=500)).move
                if last is not None and is_free(game, state):
                    found.append(habit(game, state, move, last))
            else:
                move = other(game, state, Limit(nodes=500)).move
            state, last = game.result(state, move), move
    return Habits(*(sum(column) / len(found) for column in zip(*found, strict=True)))


@pytest.mark.parametrize("name", ["gomoku", "qubic"])
@pytest.mark.parametrize("who", STYLES)
def test_each_style_stands_out_by_its_own_habit(name: str, who: str) -> None:
    sign = SIGNS[who]
    by_name = {each: getattr(habits(name, each), sign) for each in STYLES}
    others = [value for each, value in by_name.items() if each != who]
    margin = 0.04 * (max(by_name.values()) - min(by_name.values()))
    assert by_name[who] > max(others) + margin, by_name


@pytest.mark.parametrize("who", STYLES)
def test_a_styled_player_misses_no_win_and_stops_a_threat_in_sight(who: str) -> None:
    game = line_game("gomoku")
    for names, cells in (("f8 a1 g8 a3 h8 a5 i8 a7", {"e8", "j8"}), ("a1 f8 a3 g8 a5 h8 e8 i8", {"j8"})):
        state = after_names(game, names)
        for seed in range(5):
            move = find_strategy(who, seed=seed)(game, state, Limit()).move
            assert game.move_names[move] in cells


def test_styled_players_play_games_of_lines_only_and_at_any_level() -> None:
    attacker = find_strategy("attacker", seed=1)
    assert attacker.objection(find_game("ultimate"))
    assert attacker.objection(find_game("gomoku+swap")) is None
    with pytest.raises(ConfigurationError, match="plays with lines"):
        attacker(find_game("misere"), find_game("misere").initial, Limit())
    game, rng = line_game("connect4"), random.Random(1)
    for level in (1, 5):
        player = find_strategy("trapper", seed=rng.getrandbits(9), level=level)
        assert player(game, game.initial, Limit()).move in game.actions(game.initial)


if __name__ == "__main__":
    for each in ("gomoku", "qubic"):
        for style in STYLES:
            print(each, style, *(f"{value:.2f}" for value in habits(each, style)))
