"""Five in a row on large boards: shapes as the rules have them, and no win or loss that is not one."""

import random

import pytest

from benchmarks.brains import openings
from tests.strategies.positions import after_names, line_game, random_position
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.alphabeta import deepening
from ttt_net.strategies.heuristic import completing_cells, own_and_other
from ttt_net.strategies.strategy import WIN, Effort, is_decided

pytest.importorskip("numba")

import numpy as np

from ttt_net.strategies.compiled import fives, shapes
from ttt_net.strategies.compiled.fives import FivesSearch
from ttt_net.strategies.compiled.fours import FoursSearch
from ttt_net.strategies.compiled.kit import INFINITY
from ttt_net.strategies.compiled.shapes import worth_of

LATE = "h8 g8 g7 h7 f6 i9 e5 d4 e6 f9 i6 h9 e9 j9 g9 g6 i8 j11 i10 j8 j10 h10"
"""A match against another engine after 22 moves: both sides could make many fours that leave one reply."""


def a_search(game: LineGame, limit: Limit | None = None) -> FivesSearch:
    return FivesSearch(game, Effort(limit or Limit()), random.Random(1))


@pytest.mark.parametrize("name", ["gomoku", "mnk:9x9,5", "mnk:19x19,5", "mnk:13x8,5"])
def test_fives_and_fours_are_those_of_the_rules_after_marks_come_and_go(name: str) -> None:
    game, rng = line_game(name), random.Random(3)
    search, counted = a_search(game), slice(shapes.COUNTS, shapes.SHAPES)
    empty = search.block[counted].copy()
    for stones in (3, 20, 11, 30, 26):
        state, fresh = random_position(game, stones, rng), a_search(game)
        search.hold(state)
        fresh.hold(state)
        assert (search.block[counted] == fresh.block[counted]).all()
        for side, own, other in ((0, state.first, state.second), (1, state.second, state.first)):
            fives = completing_cells(game.lines, own, other)
            made = [
                completing_cells(game.lines_through[cell], own | 1 << cell, other).bit_count()
                for cell in list_cells(game.full & ~(own | other | fives))
            ]
            counts = int(search.block[shapes.COUNTS + side])
            assert counts >> int(shapes.FIVES) & 255 == fives.bit_count()
            assert counts >> int(shapes.WINS) & 255 == sum(number > 1 for number in made)
            assert counts >> int(shapes.FOURS) & 255 == fives.bit_count() + sum(number > 0 for number in made)
    search.hold(game.initial)
    assert (search.block[counted] == empty).all()


@pytest.mark.parametrize("name", ["mnk:9x9,5", "mnk:19x19,5", "mnk:13x8,5"])
def test_marks_that_are_taken_back_leave_the_board_as_it_was(name: str) -> None:
    game, rng = line_game(name), random.Random(4)
    search, state = a_search(game), random_position(game, 10, rng)
    search.hold(state)
    address, kept = np.uint64(search.block.ctypes.data), slice(shapes.HASH, shapes.TABLE_OF_SHAPES)
    cells = rng.sample(list(game.actions(state)), 20)
    boards = []
    for n, cell in enumerate(cells):
        boards.append(search.block[kept].copy())
        shapes.put(cell, n & 1, 10 + n, address)
        fresh = a_search(game)
        state = game.result(state, cell)
        fresh.hold(state)
        assert (search.block[shapes.COUNTS : shapes.CODE] == fresh.block[shapes.COUNTS : shapes.CODE]).all()
    for n, cell in reversed(list(enumerate(cells))):
        shapes.take_back(cell, n & 1, 10 + n, address)
        assert (search.block[kept] == boards[n]).all()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("XX.XX", shapes.FIVE),
        (".X.XX.", shapes.FOUR_OPEN),
        ("OX.XX.", shapes.FOUR_CLOSED),
        ("X.X.X.X", shapes.FOUR_OPEN),
        ("..XX...", shapes.THREE_OPEN),
        ("O..XX.O", shapes.THREE_CLOSED),
        ("..X....", shapes.TWO_OPEN),
        ("O...XO", shapes.DEAD),
    ],
)
def test_a_mark_makes_the_shape_that_players_know(line: str, kind: int) -> None:
    """Each line stands on row 8 of an empty board; the kind is what X makes of one empty cell at least, and no more."""
    game = line_game("gomoku")
    search, first, second = a_search(game), 0, 0
    for n, mark in enumerate(line):
        bit = 1 << 7 * 15 + 4 + n
        first, second = first | bit * (mark == "X"), second | bit * (mark == "O")
    search.hold(game.initial._replace(first=first, second=second))
    kinds = [
        int(search.block[shapes.SHAPES + int(search.block[shapes.PLACE + 7 * 15 + 4 + n])]) & 15
        for n, mark in enumerate(line)
        if mark == "."
    ]
    assert max(kinds) == kind


def test_the_worth_of_a_cell_grows_with_its_shapes() -> None:
    for weak, strong in (
        (shapes.TWO_OPEN, shapes.THREE_OPEN),
        (shapes.ONE_OPEN, shapes.TWO_OPEN),
        (shapes.THREE_CLOSED, shapes.FOUR_CLOSED),
    ):
        for other in (shapes.ONE_OPEN, shapes.TWO_OPEN, shapes.THREE_OPEN):
            for before, after in zip(worth_of((weak, other, 2, 2)), worth_of((strong, other, 2, 2)), strict=True):
                assert before < after


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("h8 a1 i8 a2 j8", "f8 g8 k8 l8"),  # an open three
        ("h8 a1 i8 a2 j8 a3 k8", "g8 l8"),  # an open four: either block
        ("h8 h9 i8 i9 j8 j9", "g8 k8"),  # its own open three comes first
    ],
)
def test_an_open_three_is_stopped_or_used(text: str, moves: str) -> None:
    game = line_game("gomoku")
    engine.load(game)
    choice = find_strategy("alphabeta", seed=1)(game, after_names(game, text), Limit(nodes=20_000))
    assert game.move_names[choice.move] in moves.split()


def test_a_move_that_leaves_a_win_by_fours_is_not_searched() -> None:
    game, rng, seen = line_game("gomoku"), random.Random(8), 0
    while seen < 60:
        state = random_position(game, 24, rng)
        own, other = own_and_other(state)
        if completing_cells(game.lines, own, other) or completing_cells(game.lines, other, own):
            continue
        before, after = a_search(game), a_search(game)
        before.hold(state)
        threats = int(before.block[shapes.COUNTS + 1 - (state.ply & 1)])
        if not threats >> int(shapes.WINS) & 255:
            continue
        seen += 1
        listed = before.ordered(state)
        left_out = [move for move in game.actions(state) if move not in listed]
        for move in left_out:
            after.hold(game.result(state, move))
            counts = [int(after.block[shapes.COUNTS + side]) for side in (state.ply & 1, 1 - (state.ply & 1))]
            assert counts[0] >> int(shapes.FIVES) & 255 == 0
            assert counts[1] >> int(shapes.WINS) & 255 > 0


def test_late_positions_full_of_threes_are_searched_deep() -> None:
    """Fours that lead to nothing took nine in ten of the positions: 20,000 were looked ahead three plies here."""
    game = line_game("gomoku")
    engine.load(game)
    choice = find_strategy("alphabeta", seed=1)(game, after_names(game, LATE), Limit(nodes=20_000))
    assert choice.counts.depth >= 6


def test_balanced_openings_are_looked_seven_plies_ahead_in_twenty_thousand_positions() -> None:
    """Before moves that cut beside were tried first, and hopeless ones left early, it was 6.7 plies, now 7.6."""
    game, depth = line_game("gomoku"), 0
    for opening in list(openings())[:12]:
        state = game.initial
        for move in opening:
            state = game.result(state, move)
        depth += deepening(game, Limit(nodes=20_000), random.Random(0)).choose(state).counts.depth
    assert depth >= 12 * 7


def test_the_move_that_last_answered_another_is_tried_early() -> None:
    game = line_game("gomoku")
    state, search = after_names(game, "h8 i9 a1"), a_search(game)
    before = search.ordered(state)
    quiet = next(move for move in before[10:] if move in game.actions(state))
    search.block[fives.PLAYED + state.ply] = game.move_names.index("a1")
    search.block[fives.ANSWERS + shapes.MOST_CELLS + game.move_names.index("a1")] = quiet + 1
    assert search.ordered(state).index(quiet) < before.index(quiet)


def test_no_loss_is_claimed_while_there_is_a_defence() -> None:
    game, rng, claimed = line_game("mnk:9x9,5"), random.Random(5), 0
    engine.load(game)
    while claimed < 4:
        state = random_position(game, 15, rng)
        choice = find_strategy("alphabeta", seed=1)(game, state, Limit(nodes=30_000))
        if choice.value is None or choice.value > -900_000:
            continue
        claimed += 1
        for move in game.actions(state):
            after = game.result(state, move)
            if a_search(game).win_by_fours(after) is None:
                found = find_strategy("alphabeta", seed=2)(game, after, Limit(nodes=400_000))
                assert found.value is not None
                assert found.value > 900_000, (game.board(state), move)


def test_a_win_that_is_claimed_is_won_against_every_reply() -> None:
    """Of wins that are more than a run of fours, the reply that holds out longest is not known: all are looked at."""
    game, rng, claimed = line_game("gomoku"), random.Random(9), 0
    engine.load(game)
    while claimed < 3:
        state = random_position(game, 12, rng)
        if a_search(game).win_by_fours(state):
            continue
        choice = find_strategy("alphabeta", seed=1)(game, state, Limit(nodes=40_000))
        if choice.value is None or choice.value < 900_000:
            continue
        claimed += 1
        after = game.result(state, choice.move)
        own, other = own_and_other(after)
        near = [cell for cell in a_search(game).ordered(after) if cell in game.actions(after)]
        for reply in list_cells(completing_cells(game.lines, other, own)) or near:
            found = find_strategy("alphabeta", seed=2)(game, game.result(after, reply), Limit(nodes=400_000))
            assert found.value is not None
            assert found.value > 900_000, (game.board(state), choice, reply)


@pytest.mark.parametrize(
    "text",
    [
        "g10 i9 h10 i8 i10 g7 g9 h7 h8 i7 j7 i6",
        "h10 f9 i9 h9 k9 e8 f8 i8 g8 j8 h8 g7 f7 h7 j7 i7",
    ],
)
def test_a_win_by_fours_and_threes_is_played_before_a_search_sees_it(text: str) -> None:
    game = line_game("gomoku")
    engine.load(game)
    state = after_names(game, text)
    assert a_search(game).win_by_fours(state) is None
    assert a_search(game).win_by_threats(state, 100) is None
    choice = find_strategy("alphabeta", seed=1)(game, state, Limit(nodes=20_000))
    assert choice.value is not None
    assert choice.value == WIN - len(choice.line)
    assert choice.counts.nodes <= 2_500  # a tenth of the limit, and what fours take; the search needs all and more


def test_a_move_after_which_they_win_by_fours_and_threes_is_not_played_if_another_is_there() -> None:
    game = line_game("gomoku")
    engine.load(game)
    state = after_names(game, "g9 i10 f8 f9 h8 h9 i8 i9 f7 j9 f6 g8 g6 j8 f5 f4")
    loses = game.result(state, game.move_names.index("j10"))
    assert a_search(game).win_by_threats(loses, 20_000)
    choice = find_strategy("alphabeta", seed=1)(game, state, Limit(nodes=20_000))
    after = game.result(state, choice.move)
    assert a_search(game).win_by_fours(after) is None
    assert a_search(game).win_by_threats(after, 100_000) is None
    search, line = a_search(game, Limit(nodes=200_000)), list[int]()
    value = search.value_of_move(state, game.move_names.index("j10"), 1, -INFINITY, INFINITY)
    while (move := search.remembered(loses)) is not None:
        line.append(move)
        loses = game.result(loses, move)
    assert game.is_terminal(loses)
    assert value == len(line) + 1 - WIN


def test_the_next_search_of_a_match_goes_on_with_the_table_of_the_last() -> None:
    game = line_game("gomoku")
    engine.load(game)
    state, player = after_names(game, "h8 i9 i7 g9 g7"), find_strategy("alphabeta", seed=1)
    for move in player(game, state, Limit(nodes=50_000)).line[:2]:
        state = game.result(state, move)
    fresh = find_strategy("alphabeta", seed=1)
    assert player(game, state, Limit(nodes=500)).counts.hits > fresh(game, state, Limit(nodes=500)).counts.hits


def test_matches_played_at_the_same_time_each_go_on_with_their_own_table() -> None:
    game = line_game("gomoku")
    engine.load(game)
    player, alone = find_strategy("alphabeta", seed=1), find_strategy("alphabeta", seed=1)
    state = after_names(game, "h8 i9 i7 g9 g7")
    expected = [alone(game, state, Limit(nodes=50_000))]
    chosen = [player(game, state, Limit(nodes=50_000))]
    for text in ("h8 i8 i7", "h8 h9 g7", "a1 i8 b3"):
        player(game, after_names(game, text), Limit(nodes=500))
    for move in expected[0].line[:2]:
        state = game.result(state, move)
    expected.append(alone(game, state, Limit(nodes=500)))
    chosen.append(player(game, state, Limit(nodes=500)))
    for each, other in zip(chosen, expected, strict=True):
        assert each._replace(counts=each.counts._replace(ms=0)) == other._replace(counts=other.counts._replace(ms=0))


def test_a_search_is_not_influenced_by_another_match_or_a_limit_of_depth() -> None:
    game = line_game("gomoku")
    engine.load(game)
    player, fresh = find_strategy("alphabeta", seed=1), find_strategy("alphabeta", seed=1)
    state = after_names(game, "h8 i9 i7 g9 g7")
    expected = fresh(game, state, Limit(nodes=5_000)), fresh(game, state, Limit(depth=3))
    player(game, after_names(game, "h8 i8 i7"), Limit(nodes=5_000))
    chosen = player(game, state, Limit(nodes=5_000)), player(game, state, Limit(depth=3))
    for each, other in zip(chosen, expected, strict=True):
        assert each._replace(counts=each.counts._replace(ms=0)) == other._replace(counts=other.counts._replace(ms=0))


def test_a_limit_of_depth_is_one_of_plies_and_leaves_out_runs_of_fours() -> None:
    game = line_game("gomoku")
    engine.load(game)
    state = after_names(game, "h8 a1 h9 a2 i8 a3 j8 b6")
    choice = find_strategy("alphabeta", seed=1)(game, state, Limit(depth=1))
    assert choice.counts.depth == 1
    assert choice.value is not None
    assert is_decided(choice.value)
    assert WIN - choice.value == 3


def test_five_in_a_row_has_a_search_of_its_own() -> None:
    effort, rng = Effort(Limit()), random.Random(1)
    for name, kind in (
        ("gomoku", FivesSearch),
        ("mnk:19x19,5", FivesSearch),
        ("mnk:13x5,5", FivesSearch),
        ("mnk:13x5,4", FoursSearch),
        ("mnk:19x19,6", FoursSearch),
    ):
        assert isinstance(engine.line_search(line_game(name), effort, rng), kind)
    game = line_game("gomoku")
    first = find_strategy("alphabeta")(game, game.initial, Limit(ms=50))
    assert game.move_names[first.move] == "h8"
