"""The table of vanishing tic-tac-toe, held against the rules of the game, position by position."""

from itertools import permutations

import pytest

from ttt_net.games.vanishing import MAX_PLIES, VanishingGame, VanishingState
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.analysis import analyse
from ttt_net.strategies.strategy import WIN, from_above
from ttt_net.strategies.vanishing_solver import VanishingSolver

GAME = VanishingGame("vanishing", "Vanishing", "three marks each")
SOLVER = VanishingSolver(GAME)


def position(moves: bytes) -> VanishingState:
    """Return the position with those marks, which nobody has a line in; the past of it is no longer than they are."""
    first, second = (sum(1 << cell for cell in moves[side::2]) for side in (0, 1))
    return VanishingState(moves, first, second, has_line=False, is_drawn=False)


def value_of(state: VanishingState) -> int:
    """Return the value for the side to move, by the table, or by the rules of a position that is over."""
    if GAME.is_terminal(state):
        return GAME.utility(state, GAME.to_move(state)) * WIN
    return max(value for _, value in SOLVER.values(state))


def values_behind(state: VanishingState) -> dict[int, int]:
    """Return the value of each move by the values of the positions behind it, where nothing has been repeated."""
    behind = {}
    for move in GAME.actions(state):
        child = GAME.result(state, move)
        if not GAME.is_terminal(child):
            child = child._replace(moves=child.moves[-6 - len(child.moves) % 2 :])
        behind[move] = from_above(-value_of(child), 1)
    return behind


def has_line(moves: bytes) -> bool:
    sides = (sum(1 << cell for cell in moves[side::2]) for side in (0, 1))
    return any(line & side == line for side in sides for line in GAME.lines)


@pytest.mark.parametrize("marks", [*range(6), pytest.param(6, marks=pytest.mark.long)])
def test_the_value_of_every_position_follows_from_its_moves(marks: int) -> None:
    """Up to symmetry. Only the truth fits: a win and a loss rest on others that are nearer to the end."""
    boards = (bytes(cells) for cells in permutations(range(9), marks) if not cells or cells[0] in (0, 1, 4))
    checked = 0
    for moves in boards:
        if not has_line(moves):
            state = position(moves)
            assert dict(SOLVER.values(state)) == values_behind(state), moves
            checked += 1
    assert checked >= [1, 3, 24, 168, 1008, 4500, 15_000][marks]


def circle() -> list[int]:
    """Return the nine cells in an order that can be played round and round without a line."""
    for cells in permutations(range(9)):
        sides = [{cells[start - shift] for shift in (0, 2, 4)} for start in range(9)]
        if not any(sum(1 << cell for cell in side) in GAME.lines for side in sides):
            return list(cells)
    raise AssertionError("there is none")


@pytest.mark.parametrize("plies", [24, 30, 36, 40, 41])
def test_a_position_that_occurs_a_third_time_is_a_draw(plies: int) -> None:
    cells, state = circle(), GAME.initial
    for ply in range(plies):
        state = GAME.result(state, cells[ply % 9])
    assert not GAME.is_terminal(state)
    # against a plain search by the rules, with the whole past, to a depth that shows every end of so many plies
    shown = {move: from_above(-_searched(GAME.result(state, move), 6), 1) for move in GAME.actions(state)}
    told = {move: value if abs(value) >= WIN - 7 else 0 for move, value in SOLVER.values(state)}
    assert told == shown
    assert plies < 41 or 0 in shown.values()


def _searched(state: VanishingState, depth: int) -> int:
    """Return the value for the side to move by plain search; 0 where no end is seen within the depth."""
    if GAME.is_terminal(state):
        return GAME.utility(state, GAME.to_move(state)) * WIN
    if depth == 0:
        return 0
    return max(from_above(-_searched(GAME.result(state, move), depth - 1), 1) for move in GAME.actions(state))


def test_a_win_that_comes_after_the_last_ply_is_a_draw() -> None:
    marks = bytes((0, 8, 2, 1, 7, 3))
    assert value_of(position(marks)) == WIN - 3
    for left, value in ((4, WIN - 3), (2, 0)):
        past = bytes(range(20, 20 + MAX_PLIES - left - len(marks)))  # whatever it was, nothing in it was repeated
        assert max(value for _, value in SOLVER.values(position(marks)._replace(moves=past + marks))) == value


def test_the_strongest_player_never_gives_a_win_away_and_takes_every_one() -> None:
    player, other = find_strategy("alphabeta", seed=1), find_strategy("random", seed=1)
    for game in range(20):
        state = GAME.initial
        while not GAME.is_terminal(state):
            if GAME.to_move(state) == game % 2:
                best = value_of(state)
                choice = player(GAME, state, Limit(ms=50))
                assert (choice.value, choice.exact) == (best, True)
                state = GAME.result(state, choice.move)
                assert best <= 0 or GAME.is_terminal(state) or value_of(state) == from_above(best, -1) * -1
            else:
                state = GAME.result(state, other(GAME, state).move)
        assert game % 2 == 1 or GAME.utility(state, 0) == 1


def test_the_analysis_has_the_true_value_and_continuation_of_every_move() -> None:
    found = analyse(GAME, GAME.initial, Limit(ms=100))
    assert (found.verdict.value, found.verdict.exact, found.best) == (WIN - 13, True, (1, 3, 5, 7))
    assert all(verdict.exact for verdict in found.moves.values())
    assert len(found.moves[1].line) == 13
