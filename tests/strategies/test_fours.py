import random

import pytest

from tests.strategies.positions import after_names, line_game, random_position
from ttt_net.games import find_game
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.heuristic import completing_cells, own_and_other
from ttt_net.strategies.strategy import DECIDED, WIN, Effort, Stopped, is_decided

pytest.importorskip("numba")

from ttt_net.strategies.compiled import fours
from ttt_net.strategies.compiled.fours import FoursSearch, empty_board
from ttt_net.strategies.compiled.lines import LineSearch


def a_search(game: LineGame) -> FoursSearch:
    return FoursSearch(game, Effort(Limit()), random.Random(1))


def slow_win_by_fours(game: LineGame, own: int, other: int, fours: int) -> int | None:
    """The fewest plies in which `own` wins by fours and nothing else, found by trying all of them; None without one."""
    open_to_own = [(line & ~own) for line in game.lines if not line & other and (line & own).bit_count() >= game.k - 2]
    if any(missing.bit_count() == 1 for missing in open_to_own):
        return 1
    if not fours:
        return None
    taken = completing_cells(game.lines, other, own)
    moves = 0
    for missing in open_to_own:
        moves |= missing
    if taken:
        moves &= taken if taken.bit_count() == 1 else 0
    best = None
    for move in list_cells(moves):
        bit = 1 << move
        replies = 0
        for missing in open_to_own:
            if missing & bit:
                replies |= missing ^ bit
        if replies.bit_count() > 1:
            # The other side takes one of them, but cannot complete a line: what it threatened has been taken.
            return 3
        rest = slow_win_by_fours(game, own | bit, other | replies, fours - 1)
        if rest is not None and (best is None or rest + 2 < best):
            best = rest + 2
    return best


@pytest.mark.parametrize("name", ["gomoku", "mnk:9x9,4", "mnk:19x19,6", "mnk:11x7,3"])
def test_patterns_after_marks_come_and_go_are_those_of_the_position(name: str) -> None:
    game, rng = line_game(name), random.Random(3)
    search, kept = a_search(game), slice(fours.SCORE, fours.RANDOM)
    for stones in (3, 9, 5, 10):
        state, fresh = random_position(game, stones, rng), a_search(game)
        search.hold(state)
        fresh.hold(state)
        assert (search.block[kept] == fresh.block[kept]).all()
        for side, own, other in ((0, state.first, state.second), (1, state.second, state.first)):
            completing = {
                cell
                for cell in list_cells(game.full & ~(own | other))
                if search.block[fours.PATTERN + side * fours.MOST_CELLS + cell] & fours.COMPLETES
            }
            assert completing == set(list_cells(completing_cells(game.lines, own, other)))
    search.hold(game.initial)
    assert (search.block[kept] == empty_board(game)[kept]).all()


def test_wins_by_fours_of_up_to_15_plies_are_those_that_trying_all_of_them_finds() -> None:
    game, rng, lengths = line_game("gomoku"), random.Random(7), list[int | None]()
    while len(lengths) < 20 or not {None, 1, 3, 5, 7, 9} <= set(lengths):
        state = random_position(game, rng.choice((18, 20, 22)), rng)
        plies = slow_win_by_fours(game, *own_and_other(state), 7)
        line = a_search(game).forced_win(state)
        lengths.append(plies)
        assert plies == (None if line is None or len(line) > 15 else len(line))


def test_long_wins_by_fours_are_found_and_can_be_played_to_their_end() -> None:
    game, rng, lengths = line_game("gomoku"), random.Random(11), list[int]()
    while not {9, 11, 13} <= set(lengths):
        state = random_position(game, 22, rng)
        line = a_search(game).forced_win(state)
        if line is None:
            continue
        if len(line) in (9, 11, 13) and len(line) not in lengths:
            assert slow_win_by_fours(game, *own_and_other(state), 7) == len(line)
        lengths.append(len(line))
        for move, reply in zip(line[:-1:2], line[1::2], strict=True):
            state = game.result(state, move)
            own, other = own_and_other(state)
            replies = completing_cells(game.lines, other, own)
            assert replies >> reply & 1
            assert not completing_cells(game.lines, own, other)
            state = game.result(state, reply)
        assert game.result(state, line[-1]).has_line


def test_a_four_three_fork_is_made() -> None:
    game = line_game("gomoku")
    state = after_names(game, "h8 h7 h9 i8 h10 g9 i11 j7 j11 c3 k11 c4")  # X has three in column h, and in row 11
    choice = find_strategy("alphabeta")(game, state, Limit(nodes=200_000))
    assert choice.value is not None
    assert choice.value >= WIN - 5


def test_a_four_three_fork_is_stopped() -> None:
    game = line_game("gomoku")
    state = after_names(
        game, "h8 i6 h9 f8 h10 h7 i12 d12 j12"
    )  # next X could make h12: a four of column h, a three of row 12
    threat = state._replace(ply=state.ply + 1)
    assert a_search(game).forced_win(threat) is not None
    choice = find_strategy("alphabeta")(game, state, Limit(nodes=200_000))
    state = game.result(state, choice.move)
    assert a_search(game).forced_win(state) is None


def test_a_win_by_fours_is_stopped_if_it_can_be() -> None:
    game, rng, stopped = line_game("gomoku"), random.Random(17), 0
    engine.load(game)
    while stopped < 5:
        state = random_position(game, 14, rng)
        if a_search(game).forced_win(state) or not a_search(game).forced_win(state._replace(ply=state.ply + 1)):
            continue
        choice = find_strategy("alphabeta")(game, state, Limit(nodes=30_000))
        child = game.result(state, choice.move)
        if choice.value is not None and not is_decided(choice.value):
            stopped += 1
            assert a_search(game).forced_win(child) is None


@pytest.mark.parametrize("name", ["mnk:4x4,4", "mnk:5x5,3", "mnk:4x3,3"])
def test_it_agrees_with_the_search_for_smaller_boards(name: str) -> None:
    game, rng = line_game(name), random.Random(5)
    for _ in range(8):
        state = game.initial
        while state.ply < 6 and not game.is_terminal(state):
            state = game.result(state, rng.choice(game.actions(state)))
        if game.is_terminal(state):
            continue
        for move in game.actions(state):
            large, small = a_search(game), LineSearch(game, Effort(Limit()), rng)
            depth = game.size - state.ply
            values = [search.value_of_move(state, move, depth, -WIN, WIN) for search in (large, small)]
            results = [(value >= DECIDED) - (value <= -DECIDED) for value in values]
            assert results[0] == results[1]


def test_it_keeps_its_limit_and_can_be_cancelled() -> None:
    game = line_game("gomoku")
    state = random_position(game, 12, random.Random(2))
    find_strategy("alphabeta")(game, state, Limit(nodes=1))
    assert not find_strategy("alphabeta")(game, state, Limit(ms=200)).exact
    assert find_strategy("alphabeta")(game, state, Limit(cancelled=lambda: True)).counts.depth == 0
    with pytest.raises(Stopped):
        FoursSearch(game, Effort(Limit(nodes=2)), random.Random(1)).forced_win(
            random_position(game, 30, random.Random(1))
        )


def test_large_boards_without_gravity_have_their_own_compiled_search() -> None:
    effort, rng = Effort(Limit()), random.Random(1)
    for name in ("mnk:19x19,6", "mnk:13x5,4", "mnk:19x19,19", "mnk:19x4,1"):
        assert isinstance(engine.line_search(find_game(name), effort, rng), FoursSearch)
        choice = find_strategy("alphabeta")(find_game(name), find_game(name).initial, Limit(ms=50))
        assert choice.move in find_game(name).actions(find_game(name).initial)
    for name in ("connect:12x8,4", "wild", "ultimate"):
        assert engine.line_search(find_game(name), effort, rng) is None
