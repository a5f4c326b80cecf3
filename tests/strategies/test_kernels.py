"""Compiled kernels beside the interpreter: the same nodes, and the same memory afterwards."""

import os
import random
import subprocess
import sys
from typing import Any

import pytest

from tests.strategies.positions import line_game, random_state
from tests.strategies.uncompiled import uncompiled
from ttt_net.games.line import LineGame
from ttt_net.games.ultimate import UltimateGame
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.strategy import WIN, Effort, Limit

pytest.importorskip("numba")

import numpy as np

from ttt_net.strategies.compiled import connect4_solver as connect4
from ttt_net.strategies.compiled import fives, fours, kit, lines, playouts, proofs, shapes
from ttt_net.strategies.compiled.fives import FivesSearch
from ttt_net.strategies.compiled.fours import FoursSearch
from ttt_net.strategies.compiled.lines import LineSearch
from ttt_net.strategies.compiled.playouts import PlayoutTree
from ttt_net.strategies.compiled.proofs import ProofSearch


@pytest.fixture(autouse=True)
def _words_that_overflow_as_they_do_when_compiled() -> Any:
    with np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize(
    ("name", "plies", "depth"), [("mnk:4x3,3", 2, 5), ("mnk:4x4,4", 6, 3), ("connect:5x5,4", 8, 5), ("qubic", 12, 1)]
)
def test_the_search_of_small_boards(name: str, plies: int, depth: int) -> None:
    game, search, nodes = line_game(name), uncompiled(kit, lines)["search"], 0
    for seed in range(4):
        state = random_state(game, plies, random.Random(seed))
        blocks = [LineSearch(game, Effort(Limit()), random.Random(2)).block for _ in range(2)]
        for block in blocks:
            block[lines.LOG_BUCKETS] = 8
        own, other = map(np.uint64, own_and_other(state))
        compiled = lines.search(own, other, plies, depth, -WIN, WIN, np.uint64(blocks[0].ctypes.data))
        assert search(own, other, plies, depth, -WIN, WIN, blocks[1]) == compiled
        assert (blocks[0] == blocks[1]).all()
        nodes += int(blocks[0][kit.NODES])
    assert nodes > 20


@pytest.mark.parametrize(("name", "plies", "left"), [("mnk:4x3,3", 1, 4), ("mnk:5x5,4", 7, 4), ("connect:5x4,4", 8, 5)])
def test_the_proofs_of_small_boards(name: str, plies: int, left: int) -> None:
    game, can_force, nodes, answers = line_game(name), uncompiled(kit, lines, proofs)["can_force"], 0, set()
    for seed in range(6):
        own, other = own_and_other(random_state(game, plies, random.Random(seed)))
        for maker, breaker, turn in ((own, other, 1), (other, own, 0)):
            boards = np.uint64(maker), np.uint64(breaker)
            blocks = [ProofSearch(game, Effort(Limit())).block for _ in range(2)]
            for block in blocks:
                block[lines.LOG_BUCKETS] = 6
            answer = proofs.can_force(*boards, turn, left, np.uint64(blocks[0].ctypes.data))
            assert can_force(*boards, turn, left, blocks[1]) == answer
            assert (blocks[0] == blocks[1]).all()
            nodes += int(blocks[0][kit.NODES])
            answers.add(answer)
    assert nodes > 100
    assert answers == {proofs.YES, proofs.NO}


def test_the_search_of_large_boards() -> None:
    game, search, nodes = line_game("mnk:5x5,4"), uncompiled(kit, fours)["search"], 0
    for seed in range(4):
        state, blocks = random_state(game, 4, random.Random(seed)), []
        for _ in range(2):
            made = FoursSearch(game, Effort(Limit()), random.Random(2))
            made.hold(state)
            blocks.append(made.block)
        compiled = fours.search(0, 4, 2, -WIN, WIN, np.uint64(blocks[0].ctypes.data))
        assert search(0, 4, 2, -WIN, WIN, blocks[1]) == compiled
        assert (blocks[0] == blocks[1]).all()
        nodes += int(blocks[0][kit.NODES])
    assert nodes > 20


def test_the_search_of_five_in_a_row() -> None:
    game, names, nodes = line_game("mnk:9x9,5"), uncompiled(kit, shapes, fives), 0
    for seed in range(3):
        state, blocks = random_state(game, 10 + seed, random.Random(seed)), []
        for _ in range(2):
            made = FivesSearch(game, Effort(Limit()), random.Random(2))
            made.hold(state)
            blocks.append(made.block)
        side = state.ply & 1
        compiled = fives.search(side, state.ply, 3, -WIN, WIN, np.uint64(blocks[0].ctypes.data))
        assert names["search"](side, state.ply, 3, -WIN, WIN, blocks[1]) == compiled
        assert (blocks[0] == blocks[1]).all()
        nodes += int(blocks[0][kit.NODES])
    assert nodes > 100


def test_the_look_for_wins_by_threats() -> None:
    game, names, found = line_game("mnk:9x9,5"), uncompiled(kit, shapes, fives), list[int]()
    for seed in range(8):
        state, blocks = random_state(game, 9 + seed, random.Random(seed)), []
        for _ in range(2):
            made = FivesSearch(game, Effort(Limit()), random.Random(2))
            made.hold(state)
            made.block[shapes.LOOK_UNTIL] = 400
            blocks.append(made.block)
        side = state.ply & 1
        compiled = fives.win_by_threats(side, state.ply, 2, np.uint64(blocks[0].ctypes.data))
        assert names["win_by_threats"](side, state.ply, 2, blocks[1]) == compiled
        assert (blocks[0] == blocks[1]).all()
        found.append(int(compiled))
    assert 0 in found
    assert any(0 < marks <= game.size for marks in found)


def test_the_solver_of_connect_four() -> None:
    game, solve = line_game("connect4"), uncompiled(connect4)["solve"]
    for plies, seed in ((24, 1), (26, 2), (30, 3)):
        state = random_state(game, plies, random.Random(seed))
        blocks = [np.zeros(connect4.TABLE + (2 << 8), dtype=np.uint64) for _ in range(2)]
        for block in blocks:
            block[connect4.LOG], block[connect4.BUDGET] = 8, 1 << 62
        own, other = map(np.uint64, own_and_other(state))
        compiled = connect4.solve(own, other, -21, 21, np.uint64(blocks[0].ctypes.data))
        assert solve(own, other, -21, 21, blocks[1]) == compiled
        assert (blocks[0] == blocks[1]).all()


def assert_they_play_out_alike(compiled: Any, uncompiled: Any, game: LineGame | UltimateGame, state: Any) -> None:
    """Assert that both make the same tree of some hundred playouts."""
    trees = [PlayoutTree(game, 5) for _ in range(2)]
    for tree, kernel in zip(trees, (compiled, uncompiled), strict=True):
        position = tree.hold(state)
        tree.control[playouts.BUDGET] = 400
        nodes = tree.nodes if kernel is compiled else tree.nodes.view(np.recarray)
        kernel(*position, 1.0, tree.control, tree.path, nodes)
    used = int(trees[0].control[playouts.USED])
    assert used > 100
    assert (trees[0].control == trees[1].control).all()
    assert (trees[0].nodes[:used] == trees[1].nodes[:used]).all()


@pytest.mark.parametrize(("name", "plies"), [("mnk:4x4,4", 5), ("connect:5x4,4", 4), ("qubic", 8)])
def test_playouts(name: str, plies: int) -> None:
    game, play_out = line_game(name), uncompiled(playouts)["line_play_out"]
    state = random_state(game, plies, random.Random(1))
    assert_they_play_out_alike(playouts.line_play_out, play_out, game, state)


def test_playouts_of_ultimate() -> None:
    game, play_out = UltimateGame("ultimate", "", ""), uncompiled(playouts)["ultimate_play_out"]
    state, rng = game.initial, random.Random(4)
    for _ in range(30):
        state = game.result(state, rng.choice(game.actions(state)))
    assert_they_play_out_alike(playouts.ultimate_play_out, play_out, game, state)


@pytest.mark.parametrize("processor", [{}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}])
def test_a_bit_is_picked_by_its_number_with_or_without_an_instruction_for_it(processor: dict[str, str]) -> None:
    program = """
import random
import numpy as np
from numba import njit
from ttt_net.strategies.compiled.machine import nth_bit

pick, rng = njit(lambda bits, number: nth_bit(bits, number)), random.Random(1)
for _ in range(200):
    bits = rng.getrandbits(64) | 1 << rng.randrange(64)
    ones = [1 << n for n in range(64) if bits >> n & 1]
    for number, one in enumerate(ones):
        assert pick(np.uint64(bits), np.uint64(number)) == one
"""
    assert subprocess.run([sys.executable, "-c", program], env=os.environ | processor, check=False).returncode == 0
