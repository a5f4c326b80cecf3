"""The environments for learning programs: as PettingZoo wants them, and as the rules of the games have it."""

import asyncio
import random
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.server.running import running
from ttt_net import environments
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES

EXAMPLE = Path(__file__).parents[1] / "examples" / "learning" / "train_policy.py"
GAMES = (*NAMES, "connect4+swap", "mnk:5x4,4", "connect:5x4,3")
OF_LINES = ("tictactoe", "misere", "connect4", "qubic", "scorefour", "tictactoe3d", "mnk:7x3,3", "connect:4x6,4")
OF_DICTIONARIES = ("Observation is not a NumPy array", "Observation space for each agent probably should be")
"""Beginnings of what PettingZoo warns of in every game with masks that it does not know by name."""


@pytest.mark.parametrize("game", GAMES)
def test_every_game_passes_the_tests_of_pettingzoo(game: str) -> None:
    from pettingzoo.test import api_test, seed_test

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        api_test(environments.env(game), num_cycles=100)
        seed_test(lambda: environments.env(game), num_cycles=100)
    assert [str(each.message) for each in warned if not str(each.message).startswith(OF_DICTIONARIES)] == []


def test_in_games_with_gravity_an_action_is_a_column() -> None:
    env = environments.env("connect4")
    assert env.unwrapped.names == tuple("1234567")
    env.reset()
    for _ in range(6):
        assert env.last()[0]["action_mask"].tolist() == [1] * 7
        env.step(3)
    assert env.last()[0]["action_mask"].tolist() == [1, 1, 1, 0, 1, 1, 1]
    assert environments.env("scorefour").action_space("player_0").n == 16
    assert environments.env("connect4+swap").unwrapped.names[-1] == "swap"


def test_each_side_sees_its_own_marks_in_the_first_plane() -> None:
    env = environments.env("tictactoe")
    env.reset()
    env.step(4)
    mine, theirs = env.observe("player_1"), env.observe("player_0")
    assert mine["observation"].shape == (3, 3, 4)
    assert (mine["observation"][1, 1, :3].tolist(), theirs["observation"][1, 1, :3].tolist()) == ([0, 1, 0], [1, 0, 0])
    assert mine["observation"][:, :, 2].sum() == mine["action_mask"].sum() == 8
    assert theirs["action_mask"].sum() == 0, "the other side is to move"


def test_the_winner_gets_one_point_and_the_other_loses_one() -> None:
    env = environments.env("tictactoe")
    env.reset(options={"start": "xx-/oo-/---"})
    assert env.agent_selection == "player_0"
    env.step(2)
    assert env.rewards == {"player_0": 1, "player_1": -1}
    assert all(env.terminations.values())


def test_an_illegal_move_loses_the_match() -> None:
    env = environments.env("tictactoe")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.rewards == {"player_0": 0, "player_1": -1}
    raw = environments.Environment("tictactoe")
    raw.reset()
    raw.step(4)
    with pytest.raises(Refusal, match="legal: a3"):
        raw.step(4)


def test_a_board_is_drawn_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    env = environments.env("tictactoe", render_mode="human")
    env.reset()
    env.step(4)
    assert "X" in capsys.readouterr().out


def test_an_unknown_game_is_refused() -> None:
    for make in (environments.env, lambda game: environments.PositionBatch(game, 1)):
        with pytest.raises(Refusal, match="unknown game 'chess'"):
            make("chess")


@pytest.mark.parametrize("game", OF_LINES)
def test_a_batch_plays_by_the_rules(game: str) -> None:
    rules, rng = find_game(game), random.Random(1)
    actions = environments.Actions(rules)
    batch, states = environments.PositionBatch(game, 20), [rules.initial] * 20
    while not batch.is_over.all():
        raw = environments.Environment(game)
        raw.reset()
        seen, legal, chosen = batch.observe(), batch.legal(), []
        for row, state in enumerate(states):
            moves = {actions.of_move[move]: move for move in rules.actions(state)}
            assert set(np.flatnonzero(legal[row])) == set(moves)
            chosen.append(rng.choice(list(moves)) if moves else -1)
            if moves:
                raw.position = state
                own = raw.observe(environments.AGENTS[rules.to_move(state)])
                assert (own["observation"] == seen[row]).all()
                states[row] = rules.result(state, moves[chosen[-1]])
        batch.play(chosen)
        for row, state in enumerate(states):
            outcome = rules.outcome(state)
            assert batch.is_over[row] == (outcome is not None)
            won = environments.NOBODY if outcome is None or outcome.winner is None else outcome.winner
            assert batch.winners[row] == won


@pytest.mark.parametrize("play_out", ["play_out", "play_out_by_numpy"])
def test_random_play_ends_as_often_as_is_known(play_out: str) -> None:
    """X wins 737 of 1,260 random plays of tic-tac-toe, O wins 121 of 420, and 8 of 63 are drawn."""
    batch = environments.PositionBatch("tictactoe", 20_000)
    getattr(batch, play_out)(7)
    assert batch.is_over.all()
    for winner, share in ((0, 737 / 1260), (1, 121 / 420), (environments.NOBODY, 8 / 63)):
        assert abs((batch.winners == winner).mean() - share) < 4 * (share * (1 - share) / 20_000) ** 0.5


def test_playouts_of_one_seed_are_the_same_and_of_another_are_not() -> None:
    start = environments.PositionBatch("connect4", 50)
    start.play(np.full(50, 3))
    ends = []
    for seed in (1, 1, 2):
        batch = start.copy()
        batch.play_out(seed)
        ends.append(batch.marks.tolist())
    assert ends[0] == ends[1] != ends[2]
    assert (start.plies == 1).all()


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [([4, 4, 9], "not legal"), ([4, 4, -1], "not legal"), ([0, 4, 4], "not legal"), ([4, 4], "3 actions are needed")],
)
def test_a_batch_refuses_illegal_moves_and_changes_nothing(actions: list[int], sentence: str) -> None:
    batch = environments.PositionBatch("tictactoe", 3)
    batch.play([0, 1, 2])
    with pytest.raises(ValueError, match=sentence):
        batch.play(actions)
    assert batch.plies.tolist() == [1, 1, 1]
    for game, size in (("ultimate", 5), ("tictactoe", 0)):
        with pytest.raises(ValueError, match="a batch"):
            environments.PositionBatch(game, size)


def test_a_missing_extra_is_named_in_the_error() -> None:
    program = "import sys; sys.modules['pettingzoo'] = None; import ttt_net.environments"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "ImportError: ttt_net.environments needs the extra: pip install 'ttt_net[learn]'" in ended.stderr


async def test_the_example_trains_a_policy_and_seats_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "client"))
    example: dict[str, Any] = runpy.run_path(str(EXAMPLE))
    policy = example["train"]("tictactoe", 2)
    async with running(tmp_path) as server, asyncio.TaskGroup() as group:
        bot = group.create_task(asyncio.to_thread(example["seat"], policy, "tictactoe", server.url, "my-policy", 1))
        ann = await server.join("Ann")
        await ann.ok("seek", games=["tictactoe"])
        told = await ann.hear("snapshot")
        match, side = told["match"], told["you"]
        position, ply = told["position"], 0
        while position["to_move"] is not None:
            if position["to_move"] == side:
                await ann.ok("play", match=match, ply=ply, move=position["legal"][0])
            position = (await ann.hear("played", match=match, ply=ply + 1))["position"]
            ply += 1
        await ann.hear("ended", match=match)
        await bot
