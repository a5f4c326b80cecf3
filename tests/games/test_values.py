"""The values that the catalogue claims to be found by full search are found by full search."""

from typing import Any

import pytest

from ttt_net.games import find_game, game_name
from ttt_net.games.catalogue import NAMES
from ttt_net.games.game import Game
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.rules import DRAW, FIRST, SECOND, UNKNOWN, is_always_casual, known_value
from ttt_net.games.vanishing import VanishingGame
from ttt_net.strategies.strategy import WIN
from ttt_net.strategies.vanishing_solver import VanishingSolver

WORDS = {1: FIRST, 0: DRAW, -1: SECOND}


def minimax(game: Game[Any]) -> dict[Any, int]:
    """The value of every position to side 0."""
    values: dict[Any, int] = {}

    def value(state: Any) -> int:
        if state not in values:
            if game.is_terminal(state):
                values[state] = game.utility(state, 0)
            else:
                after = [value(game.result(state, move)) for move in game.actions(state)]
                values[state] = max(after) if game.to_move(state) == 0 else min(after)
        return values[state]

    value(game.initial)
    return values


@pytest.mark.parametrize("name", ["tictactoe", "misere", "wild", "mnk:4x3,3", "mnk:3x4,3", "connect:4x4,4"])
def test_small_games_are_worth_what_the_catalogue_says(name: str) -> None:
    game = find_game(name)
    assert WORDS[minimax(game)[game.initial]] == known_value(name).value


def test_the_positions_of_tictactoe_have_their_known_values() -> None:
    game = find_game("tictactoe")
    to_mover = [value if game.to_move(state) == 0 else -value for state, value in minimax(game).items()]
    assert [to_mover.count(value) for value in (1, 0, -1)] == [2836, 1068, 1574]


def wins(game: LineGame, state: LineState, known: dict[LineState, bool]) -> bool:
    """Whether the first side can force a line; a player who can win or must block does just that."""
    if state in known:
        return known[state]
    legal = game.actions(state)
    after = {move: game.result(state, move) for move in legal}
    ended = [child for child in after.values() if child.has_line]
    if ended or not legal:
        return bool(ended) and state.ply % 2 == 0
    pending = state._replace(ply=state.ply + 1)
    threats = [move for move in legal if game.result(pending, move).has_line]
    if len(threats) > 1:
        return state.ply % 2 == 1
    moves = threats or sorted(legal, key=lambda move: -len(game.lines_through[move]))
    found = (wins(game, after[move], known) for move in moves)
    known[state] = any(found) if state.ply % 2 == 0 else all(found)
    return known[state]


@pytest.mark.parametrize("name", ["tictactoe3d", "mnk:5x3,3", "mnk:4x4,3", "mnk:5x5,3"])
def test_the_first_player_forces_a_line(name: str) -> None:
    game = find_game(name)
    assert isinstance(game, LineGame)
    assert wins(game, game.initial, {})
    assert known_value(name).value == FIRST


def test_four_in_a_row_on_4x4_is_a_draw() -> None:
    game = find_game("mnk:4x4,4")
    assert isinstance(game, LineGame)
    assert not wins(game, game.initial, {})  # and the first player never loses such a game: strategy stealing
    assert known_value(game.name).value == DRAW


def test_five_in_a_row_on_5x5_is_a_draw_as_each_line_has_two_cells_of_its_own() -> None:
    game = find_game("mnk:5x5,5")
    assert isinstance(game, LineGame)
    pairs = own_cells(game.lines, 2)
    # Whoever answers a mark in one cell of a pair with the other (Hales and Jewett, 1963) has a mark in every line, ...
    assert all(line & pair == pair and pair.bit_count() == 2 for line, pair in zip(game.lines, pairs, strict=True))
    assert sum(pairs).bit_count() == 2 * len(game.lines) == 24  # ... since no two pairs share a cell
    assert known_value(game.name).value == DRAW


def own_cells(lines: tuple[int, ...], number: int) -> list[int]:
    """So many cells of each line that are in no other line's share, by augmenting paths."""
    owner: dict[int, int] = {}

    def give(line: int, seen: set[int]) -> bool:
        for cell in (1 << n for n in range(lines[line].bit_length()) if lines[line] >> n & 1):
            if owner.get(cell) != line and cell not in seen:
                seen.add(cell)
                if cell not in owner or give(owner[cell], seen):
                    owner[cell] = line
                    return True
        return False

    for line in range(len(lines)):
        for _ in range(number):
            assert give(line, set())
    return [sum(cell for cell in owner if owner[cell] == line) for line in range(len(lines))]


def test_vanishing_is_won_by_the_first_player_on_ply_13_from_a_side_cell_alone() -> None:
    game = find_game("vanishing")
    assert isinstance(game, VanishingGame)
    values = dict(
        VanishingSolver(game).values(game.initial)
    )  # its table is proved in tests/strategies/test_vanishing.py
    assert values == {cell: WIN - 13 if cell in (1, 3, 5, 7) else 0 for cell in range(9)}
    assert known_value("vanishing").value == FIRST


def test_every_named_game_has_a_value_and_a_source() -> None:
    for name in NAMES:
        value, source = known_value(name)
        assert value in (FIRST, SECOND, DRAW, UNKNOWN)
        assert source


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("connect:6x6,4", SECOND), ("connect:8x7,4", FIRST), ("connect:4x4,4", DRAW), ("connect:8x9,4", FIRST),
        ("connect:12x4,4", SECOND), ("connect:13x4,4", UNKNOWN), ("connect:3x3,3", UNKNOWN), ("connect:7x6,5", UNKNOWN),
        ("mnk:5x6,4", FIRST), ("mnk:19x19,5", UNKNOWN), ("qubic+swap", UNKNOWN), ("connect:3x5,4", UNKNOWN),
    ],
)  # fmt: skip
def test_values_of_sizes_are_looked_up_by_size(name: str, value: str) -> None:
    assert known_value(name).value == value


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe", "misere", "wild", "vanishing", "tictactoe3d", "tictactoe3d+swap", "mnk:3x3,3", "mnk:4x4,4",
        "mnk:7x4,4", "mnk:4x7,4", "mnk:5x5,5+swap", "mnk:6x5,4", "mnk:15x15,4", "mnk:19x19,2", "mnk:19x19,8",
        "mnk:1x1,1", "connect:4x4,4", "connect:19x19,3", "connect:5x6,4",
    ],
)  # fmt: skip
def test_games_with_easy_perfect_play_are_never_rated(name: str) -> None:
    assert is_always_casual(game_name(name))


@pytest.mark.parametrize(
    "name",
    [
        "gomoku",
        "gomoku+swap",
        "connect4",
        "connect4+swap",
        "qubic",
        "scorefour",
        "ultimate",
        "mnk:7x7,5",
        "connect:8x8,4",
    ],
)
def test_games_of_skill_may_be_rated(name: str) -> None:
    assert not is_always_casual(game_name(name))
