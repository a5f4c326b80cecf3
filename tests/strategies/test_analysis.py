from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from tests.strategies.positions import after_columns, board
from ttt_net.games import Game, find_game
from ttt_net.strategies import Limit
from ttt_net.strategies.analysis import Verdict, analyse, solver_score
from ttt_net.strategies.strategy import WIN


def test_every_move_of_every_position_of_tictactoe_is_judged_rightly(tictactoe: Game[Any], oracle: Oracle) -> None:
    for state in oracle.positions()[::3]:
        analysis = analyse(tictactoe, state, Limit())
        assert (analysis.verdict.result, analysis.verdict.exact) == (oracle.judge(state)[0], True)
        for move, verdict in analysis.moves.items():
            value, plies = oracle.judge_move(state, move)
            assert (verdict.result, verdict.plies) == (value, plies if value else None)


def test_a_finished_game_has_its_outcome_and_no_moves(tictactoe: Game[Any]) -> None:
    state = tictactoe.result(board("XX./OO./..."), 2)
    analysis = analyse(tictactoe, state, Limit())
    assert (analysis.verdict.result, analysis.verdict.plies, analysis.moves, analysis.best) == (-1, 0, {}, ())


def test_unfinished_analyses_claim_nothing(connect4: Game[Any]) -> None:
    analysis = analyse(connect4, connect4.initial, Limit(depth=2))
    assert analysis.verdict == Verdict(analysis.verdict.value, exact=False, line=analysis.verdict.line)
    assert {verdict.result for verdict in analysis.moves.values()} == {None}


def test_only_estimates_of_the_same_depth_are_compared() -> None:
    game, depths = find_game("connect:12x8,4"), set()
    for nodes in range(20, 4_000, 600):
        cut_short = analyse(game, game.initial, Limit(nodes=nodes))
        depths.add(cut_short.counts.depth)
        if cut_short.counts.depth:
            to_depth = analyse(game, game.initial, Limit(depth=cut_short.counts.depth))
            assert cut_short.moves == to_depth.moves
            assert cut_short.best == to_depth.best
    assert len(depths) > 2


@pytest.mark.parametrize(
    ("columns", "value", "plies", "score"),
    [
        ((3, 3, 4, 4), 1, 3, 18),  # X wins with its fourth stone: 21 - 4 + 1
        ((3, 3, 4, 4, 5), -1, 2, -18),
        ((1, 3, 3, 4, 4, 5), -1, 2, -18),  # O wins with its fourth stone
    ],
)
def test_scores_are_the_usual_solvers(
    columns: tuple[int, ...], value: int, plies: int, score: int, connect4: Game[Any]
) -> None:
    state = after_columns(connect4, *columns)
    verdict = analyse(connect4, state, Limit(depth=4)).verdict
    assert (verdict.result, verdict.plies, solver_score(connect4, state, verdict)) == (value, plies, score)


def test_a_win_with_the_very_last_stone_scores_1(connect4: Game[Any]) -> None:
    state = connect4.initial
    assert solver_score(connect4, state, Verdict(WIN - 41, exact=True, line=())) == 1
    assert solver_score(connect4, state, Verdict(42 - WIN, exact=True, line=())) == -1
    assert solver_score(connect4, state, Verdict(0, exact=True, line=())) == 0
    assert solver_score(connect4, state, Verdict(7, exact=False, line=())) is None
    assert solver_score(connect4, state, Verdict(WIN - 41, exact=False, line=())) is None
