import random
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from tests.strategies.child import Child
from tests.strategies.positions import after_names, board, line_game, random_state
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.geometry import lines_through
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.rules import ELO
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.level import LEVELS, SKILLS, STYLES, Attention, distance_between, level_of, opposite
from ttt_net.strategies.sight import look

FEW = Limit(nodes=300)


def test_a_level_out_of_range_is_refused_with_the_range() -> None:
    for level in (0, 9):
        with pytest.raises(ConfigurationError, match=f"level {level} is out of range; 1 to 8"):
            find_strategy("alphabeta", level=level)


def test_level_8_is_the_strategy_as_it_is(tictactoe: Game[Any]) -> None:
    state = board("X../O../XOX")
    plain, levelled = (
        find_strategy("alphabeta", seed=1, level=level)(tictactoe, state, Limit()) for level in (None, 8)
    )
    assert plain[:3] == levelled[:3]


def test_the_lower_the_level_the_more_often_a_win_at_hand_is_overlooked(tictactoe: Game[Any]) -> None:
    def overlooked(level: int) -> int:
        strategy, state = find_strategy("alphabeta", seed=4, level=level), board("XX./OO./...")
        return sum(strategy(tictactoe, state, Limit()).move != 2 for _ in range(400))

    misses = [overlooked(level) for level in (1, 3, 5, 8)]
    assert misses == sorted(misses, reverse=True)
    assert misses[0] > 100
    assert misses[-1] == 0


@pytest.mark.parametrize("level", [6, 7, 8])
def test_the_highest_levels_differ_at_tictactoe(level: int) -> None:
    game = line_game("tictactoe")
    stronger, weaker = (find_strategy("alphabeta", seed=each, level=each) for each in (level, level - 1))
    rng, balance = random.Random(level), 0
    for _ in range(200):
        opening = random_state(game, 2, rng)
        for side in (0, 1):
            state = opening
            while not game.is_terminal(state):
                player = stronger if game.to_move(state) == side else weaker
                state = game.result(state, player(game, state, Limit(nodes=2_000)).move)
            balance += game.utility(state, side)
    assert balance > 20, "of 400 games"


@pytest.mark.parametrize("name", NAMES)
def test_level_1_loses_to_no_careless_child(name: str) -> None:
    """A match of 60 games; of 30 in games of many moves. Chance alone would let an equal player pass half the time."""
    game, points = find_game(name), 0
    games = 60 if len(game.move_cells) < 60 else 30
    rng = random.Random(1)
    mia, child = find_strategy("alphabeta", seed=2, level=1), Child(rng)
    for number in range(games):
        state = game.initial
        while not game.is_terminal(state):
            is_mias_turn = game.to_move(state) == number % 2
            move = mia(game, state, FEW).move if is_mias_turn else child(game, state)
            state = game.result(state, move)
        points += game.utility(state, number % 2)
    assert points >= 0


def test_each_game_has_skills_that_rise_to_the_strategy_itself_and_measured_steps() -> None:
    assert set(NAMES) <= set(SKILLS)
    for name, skills in SKILLS.items():
        assert len(skills) == len(LEVELS), name
        assert all(one < two for one, two in pairwise(skills)), name
        assert skills[-1] == 1
    assert set(ELO) == set(NAMES)
    for name, elo in ELO.items():
        assert elo[0] == 0, name
        assert all(one < two for one, two in pairwise(elo)), name


def test_a_level_looks_no_deeper_than_it_may(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=6)
    depths = {strategy(connect4, connect4.initial, Limit(ms=500)).counts.depth for _ in range(30)}
    assert max(depths) == level_of(SKILLS["connect4"][5]).depth


def test_a_tighter_limit_of_depth_holds_at_any_level(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=8)
    assert strategy(connect4, connect4.initial, Limit(depth=2)).counts.depth == 2


GOMOKU = line_game("gomoku")


def blocks(names: str, cells: set[str], *, seed: int = 1, sees: float = 0.8, tries: int = 150) -> float:
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


@pytest.mark.parametrize("name", [pytest.param("gomoku", marks=pytest.mark.long), "qubic"])
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
