"""Wins by fours and open threes: proofs by every reply that the rules allow, and what is told of them."""

import random

import pytest

from tests.strategies.positions import after_names, line_game, random_position
from ttt_net.games import find_game
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies import Limit, engine
from ttt_net.strategies.lessons.hints import MOST_PLIES, ThreatWins, advise, warning
from ttt_net.strategies.review import Reviewed, lesson_of, review
from ttt_net.strategies.strategy import Effort
from ttt_net.strategies.threats import completing_cells, own_and_other

pytest.importorskip("numba")

MISSED = "j7 f6 i7 h8 j8 i10 g6 i6 a15 o15"
"""Move 9 missed g5, and so won by four moves at most: g5 and g7 are threats, then h7 makes a four and an open three."""


@pytest.fixture(scope="module", autouse=True)
def _the_engine_is_loaded() -> None:
    engine.load(find_game("gomoku"))


def refute_every_reply(game: LineGame, state: LineState, threats: ThreatWins, seen: set[LineState]) -> None:
    """Play the first move of each win that is claimed against every legal reply, down to a five by the rules."""
    own, other = own_and_other(state)
    if state in seen or completing_cells(game.lines, own, other):
        return
    seen.add(state)
    line = threats.win(state)
    assert line, game.board(state)
    after = game.result(state, line[0])
    theirs, ours = own_and_other(after)
    assert not completing_cells(game.lines, theirs, ours), (game.board(state), line)
    fives = list_cells(completing_cells(game.lines, ours, theirs))
    if len(fives) > 1:
        return
    for reply in fives or game.actions(after):
        refute_every_reply(game, game.result(after, reply), threats, seen)


def test_a_claimed_win_by_threats_is_one_against_every_reply() -> None:
    game, rng, lengths = line_game("mnk:9x9,5"), random.Random(4), list[int]()
    threats = ThreatWins(game)
    while len(lengths) < 6:
        state = random_position(game, 12, rng)
        by_fours = engine.threat_search(game, Effort(Limit()))
        assert by_fours is not None
        if by_fours.win_by_fours(state) or not (line := threats.win(state)) or not 7 <= len(line) <= 11:
            continue
        lengths.append(len(line))
        refute_every_reply(game, state, threats, set())
    assert max(lengths) > 7


def test_no_win_is_claimed_where_there_is_none_so_soon() -> None:
    game = line_game("gomoku")
    for text in ("h8 a1", "h8 a1 i8 a2", "h8 g8 i9 g10"):
        assert ThreatWins(game).win(after_names(game, text)) == ()


def reviewed(name: str, text: str) -> list[Reviewed]:
    game, moves = find_game(name), []
    state = game.initial
    for word in text.split():
        moves.append(game.move_names.index(word))
        state = game.result(state, moves[-1])
    return list(review(game, moves, Limit(nodes=300)))


def test_a_lesson_tells_of_a_win_by_threats_that_was_missed_and_then_allowed() -> None:
    game, moves = find_game("gomoku"), reviewed("gomoku", MISSED)
    missed, allowed = moves[8:]
    assert missed.mistake is not None
    assert missed.sign == "?"
    assert missed.mistake.reason == "you had a win in at most 7 moves with g5"
    assert allowed.mistake is not None
    assert allowed.mistake.reason.startswith("after this they win in at most 8 moves; ")
    assert allowed.sign == "?"
    better = game.result(after_names(line_game("gomoku"), MISSED[:-4]), allowed.mistake.better[0])
    assert ThreatWins(line_game("gomoku")).win(better) == ()
    lesson = lesson_of(moves, 0)
    assert lesson.ply == 10
    assert lesson.in_words(game).endswith("What follows: g5 h6 g7 g8 h7.")


def test_a_hint_plays_a_win_by_threats_and_a_warning_tells_of_theirs() -> None:
    game = line_game("gomoku")
    before = after_names(game, MISSED[:-8])
    hint = advise(game, before, Limit(nodes=300))
    assert hint is not None
    assert hint.text == "Play g5: you can win with it, in at most 4 moves of yours."
    found = warning(game, after_names(game, MISSED[:-4]), 1)
    assert found is not None
    assert found.text == "They threaten to win with g5."
    assert warning(game, after_names(game, "h8 a1 i9"), 1) is None


def test_a_hint_lets_them_have_no_win_by_threats_if_that_can_be_helped() -> None:
    game = line_game("gomoku")
    state = after_names(game, MISSED[:-4])
    hint = advise(game, state, Limit(nodes=300))
    assert hint is not None
    assert ThreatWins(game).win(game.result(state, hint.moves[0])) == ()


def test_no_longer_win_is_told_of_than_people_see() -> None:
    game, rng, found = line_game("gomoku"), random.Random(2), 0
    threats = ThreatWins(game)
    for _ in range(60):
        line = threats.win(random_position(game, 14, rng))
        found += bool(line)
        assert len(line) <= MOST_PLIES
    assert found > 10
