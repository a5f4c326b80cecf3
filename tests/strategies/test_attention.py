import random
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.strategies.positions import after_names, line_game
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, find_game
from ttt_net.games.geometry import lines_through
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.attention import STYLES, Attention, distance_between, opposite
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.lessons.sight import look

GOMOKU = line_game("gomoku")


def blocks(names: str, cells: set[str], *, seed: int = 1, sees: float = 0.8, tries: int = 300) -> float:
    """The share of moves that stop what the last but one position had: O to move, X having moved last at the end."""
    rng = random.Random(seed)
    *before, last = names.split()
    found = 0
    for _ in range(tries):
        eye = Attention(rng)
        earlier = after_names(GOMOKU, " ".join(before[:-1]))
        eye.leave(GOMOKU, earlier, GOMOKU.moves_by_name[before[-1]][0])
        state = after_names(GOMOKU, names)
        move = eye.choose(GOMOKU, state, list(GOMOKU.actions(state)), sees)
        found += GOMOKU.move_names[move] in cells
    assert last
    return found / tries


ROW = "f8 a1 g8 a3 h8 a5 i8"
DIAGONAL = "f6 a1 g7 a3 h8 a5 i9"
FAR = "f8 a1 g8 a3 h8 a5 i8 a7 o15"


def test_a_diagonal_is_overlooked_more_often_than_a_row() -> None:
    in_a_row, on_a_diagonal = blocks(ROW, {"e8", "j8"}), blocks(DIAGONAL, {"e5", "j10"})
    assert in_a_row > on_a_diagonal + 0.05


def test_a_threat_far_from_the_last_move_is_overlooked_more_often() -> None:
    assert blocks(ROW, {"e8", "j8"}) > blocks(FAR, {"e8", "j8"}) + 0.05


def test_a_player_who_sees_everything_blocks_always() -> None:
    assert blocks(DIAGONAL, {"e5", "j10"}, sees=1.0, tries=100) > 0.97


@pytest.mark.parametrize("level", [1, 2])
def test_low_levels_play_near_the_action_and_extend_their_own_rows(level: int) -> None:
    game: Game[Any] = GOMOKU
    player = find_strategy("alphabeta", seed=3, level=level)
    near = rows = moves = 0
    for _ in range(4):
        state = game.initial
        while not game.is_terminal(state) and len(game.actions(state)) > 185:
            own = [cell for cell, mark in enumerate(game.board(state)) if mark == "XO"[game.to_move(state)]]
            marked = [cell for cell, mark in enumerate(game.board(state)) if mark != "."]
            move = player(game, state, Limit(nodes=500)).move
            if own:
                moves += 1
                near += min(distance_between(game, cell, move) for cell in marked) <= 2
                rows += min(distance_between(game, cell, move) for cell in own) <= 2
            state = game.result(state, move)
    assert near / moves > 0.9
    assert rows / moves > 0.5


def test_the_opposite_cell_is_across_the_middle_or_the_middle_column_where_marks_fall() -> None:
    connect4 = find_game("connect4")
    assert opposite(GOMOKU, GOMOKU.moves_by_name["a1"][0]) == GOMOKU.moves_by_name["o15"][0]
    assert opposite(connect4, 35) == 41
    assert opposite(connect4, 38) == 38


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
