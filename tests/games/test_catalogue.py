"""The games by name, and what a client that knows no game needs of them."""

import random
import re
import tracemalloc

import pytest

from tests.games.slow import GAMES
from ttt_net.errors import Code, Refusal
from ttt_net.games import catalogue, find_game
from ttt_net.games.catalogue import NAMES, SWAPPABLE
from ttt_net.games.geometry import cells_of
from ttt_net.games.line import LineGame

NAMED = (
    "tictactoe",
    "misere",
    "wild",
    "vanishing",
    "gomoku",
    "connect4",
    "tictactoe3d",
    "qubic",
    "scorefour",
    "ultimate",
)


def test_the_named_games_are_all_there() -> None:
    assert set(NAMES) == set(NAMED)


@pytest.mark.parametrize(
    "name", [*GAMES, "mnk:1x1,1", "mnk:19x19,19", "connect:19x1,2", "qubic+swap", "mnk:3x3,3+swap"]
)
def test_a_game_has_the_name_that_finds_it(name: str) -> None:
    game = find_game(name)
    assert game.name == name
    assert game.title
    assert game.rule


def test_width_comes_first_in_a_name_and_height_first_in_a_shape() -> None:
    assert find_game("mnk:5x4,3").shape == (4, 5)
    assert find_game("connect:7x6,4").shape == find_game("connect4").shape == (6, 7)


@pytest.mark.parametrize(
    "name",
    [
        "mnk:0x3,3", "mnk:3x0,3", "mnk:3x3,9", "mnk:3x3,0", "mnk:99x99,5", "mnk:20x3,3", "connect:7x20,4",
        "connect:7x6,8", "mnk:9999x9999,9999",
    ],
)  # fmt: skip
def test_a_size_out_of_range_is_refused_with_the_range(name: str) -> None:
    with pytest.raises(Refusal, match="width and height 1 to 19, k 1 to the longer of the two") as refused:
        find_game(name)
    assert refused.value.code is Code.UNKNOWN_GAME


@pytest.mark.parametrize(
    "name",
    [
        "", "chess", "TICTACTOE", "mnk:3x3", "mnk:3x3,3 ", "mnk:-3x3,3", "mnk:３x3,3", "mnk:3x3,3\n", "mnk:12345x3,3",
        "chess+swap", "+swap", "qubic+swap+swap", "swap", "x" * 100_000,
    ],
)  # fmt: skip
def test_an_unknown_name_is_refused_with_the_known_names(name: str) -> None:
    with pytest.raises(Refusal, match=re.escape("there are: tictactoe, misere, wild")) as refused:
        find_game(name)
    assert refused.value.code is Code.UNKNOWN_GAME
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("name", sorted(set(NAMED) - set(SWAPPABLE)))
def test_swap_is_refused_where_it_is_not_offered(name: str) -> None:
    with pytest.raises(Refusal, match=f"{name} is not played with swap; it goes with: mnk:WxH,K"):
        find_game(f"{name}+swap")


@pytest.mark.parametrize("name", sorted(set(NAMED) & set(SWAPPABLE)))
def test_swap_gives_the_first_move_to_the_second_player(name: str) -> None:
    game = find_game(f"{name}+swap")
    swap = game.move_names.index("swap")
    assert swap not in game.actions(game.initial)
    begun = game.result(game.initial, game.actions(game.initial)[0])
    assert swap in game.actions(begun)
    swapped = game.result(begun, swap)
    assert game.board(swapped) == game.board(begun)
    assert game.marks(swapped) == ("O", "X")
    assert game.to_move(swapped) == 0
    assert swap not in game.actions(swapped)
    with pytest.raises(Refusal, match="swap is possible only in answer to the first move"):
        game.result(swapped, swap)


def test_a_first_move_that_wins_is_not_taken_over() -> None:
    game = find_game("mnk:1x1,1+swap")
    won = game.result(game.initial, 0)
    assert game.outcome(won) == (0, "line")
    assert game.actions(won) == ()
    with pytest.raises(Refusal, match="swap is possible only in answer to the first move"):
        game.result(won, 1)


@pytest.mark.parametrize("name", GAMES)
def test_a_client_that_knows_no_game_can_draw_it_and_enter_moves(name: str) -> None:
    game, rng = find_game(name), random.Random(name)
    state = game.initial
    assert len(game.move_cells) == len(game.move_names)
    while not game.is_terminal(state):
        legal = game.actions(state)
        names = [game.move_names[move] for move in legal]
        assert len(set(names)) == len(names)
        before = game.board(state)
        move = rng.choice(legal)
        mover = game.to_move(state)
        cell = game.move_cells[move]
        marks = game.marks(state)[mover]
        state = game.result(state, move)
        changed = {n for n, (old, new) in enumerate(zip(before, game.board(state), strict=True)) if old != new}
        if cell < 0:
            assert changed == set()
        else:
            assert before[cell] == "."
            assert game.board(state)[cell] in marks
            assert {n for n in changed if game.board(state)[n] != "."} == {cell}
    assert set(game.board(state)) <= set("XO.")


@pytest.mark.parametrize("name", GAMES)
def test_an_illegal_move_is_refused_with_the_legal_ones(name: str) -> None:
    game, rng = find_game(name), random.Random(name)
    state = game.initial
    while True:
        legal = set(game.actions(state))
        for move in (-1, len(game.move_cells), *rng.sample(range(len(game.move_cells)), 9)):
            if move not in legal:
                with pytest.raises(Refusal, match=r"legal: |swap is possible|this move is in board") as refused:
                    game.result(state, move)
                assert refused.value.code in (Code.CELL_TAKEN, Code.ILLEGAL_MOVE)
                assert len(str(refused.value)) < 200
        if game.is_terminal(state):
            return
        state = game.result(state, rng.choice(sorted(legal)))


def test_a_move_above_the_lowest_free_cell_is_refused_by_its_number() -> None:
    game = find_game("connect4")
    with pytest.raises(Refusal, match=r"^move 24 is above the lowest free cell of 4; legal: 4, 1, 2, 3, 5, 6, 7$"):
        game.result(game.result(game.initial, 38), 24)


@pytest.mark.parametrize("name", ["mnk:19x19,1", "mnk:19x19,2", "mnk:19x19,5+swap", "connect:19x19,19"])
def test_a_large_board_is_made_without_making_its_lines(name: str) -> None:
    """With them it takes 26 ms and a megabyte, for a name that any stranger may send; counted are bytes."""
    catalogue.sized_game.cache_clear()
    catalogue.game_with_swap.cache_clear()
    tracemalloc.start()
    try:
        game = find_game(name)
        assert game.result(game.initial, game.actions(game.initial)[0]) != game.initial
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 150_000


def test_caches_of_strangers_requests_are_bounded() -> None:
    for width in range(1, 20):
        for k in range(1, 6):
            find_game(f"mnk:{width}x5,{k}+swap")
    assert catalogue.sized_game.cache_info().currsize <= 64
    assert catalogue.game_with_swap.cache_info().currsize <= 64
    for bits in range(10_000):
        assert len(cells_of(bits)) == bits.bit_count()
    assert cells_of.cache_info().currsize <= 4096


@pytest.mark.parametrize("name", ["mnk:5x4,4", "gomoku", "mnk:17x15,5", "mnk:16x16,5", "mnk:19x19,5"])
def test_a_cell_list_does_not_depend_on_earlier_calls(name: str) -> None:
    game, rng = find_game(name), random.Random(5)
    assert isinstance(game, LineGame)
    states = [game.initial]
    for _ in range(1000):
        state = rng.choice(states[-3:])
        legal = game.actions(state)
        assert list(legal) == [n for n, mark in enumerate(game.board(state)) if mark == "." and not state.has_line]
        assert game.actions(state._replace(ply=state.ply + 1)) == legal  # a search that lets a side pass
        states.append(game.result(state, rng.choice(legal)) if legal else game.initial)


@pytest.mark.parametrize("name", ["mnk:17x15,5+swap", "mnk:16x16,5+swap"])
def test_a_swap_that_is_too_late_is_not_legal_however_large_its_number(name: str) -> None:
    game = find_game(name)
    swap = game.move_names.index("swap")
    after = game.result(game.result(game.initial, 7), 8)
    assert swap in game.actions(game.result(game.initial, 7))
    assert swap not in game.actions(after)
    assert len(game.actions(after)) == len(game.move_names) - 3


def test_a_vanishing_game_without_an_end_is_drawn_after_200_plies() -> None:
    game = find_game("vanishing")
    for seed in range(3000):
        rng = random.Random(seed)
        state, plies = game.initial, 0
        while not game.is_terminal(state):
            quiet = [move for move in game.actions(state) if not game.line(game.result(state, move))]
            state = game.result(state, rng.choice(quiet or game.actions(state)))
            plies += 1
        assert plies <= 200
        if plies == 200 and not game.line(state):
            assert game.outcome(state) == (None, "draw")
            return
    pytest.fail("no play was that long")
