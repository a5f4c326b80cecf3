"""The lesson of a match is the mistake that decided it, in plain words."""

import random
from typing import Any

import pytest

from ttt_net.games import Game, find_game
from ttt_net.games.notation import read_move, read_position
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer, write_record
from ttt_net.laboratory.strategy_arena import random_opening
from ttt_net.strategies import Limit, coaching
from ttt_net.strategies.alphabeta import AlphaBeta
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.explanation import Explanation, ExplanationKind, estimate_of, searched_mistake
from ttt_net.strategies.hints import unrefuted
from ttt_net.strategies.mcts import CERTAIN
from ttt_net.strategies.review import Grade, Lesson, Reviewed, glance, lesson_of, review, winner_of
from ttt_net.strategies.strategy import WIN


def played(name: str, text: str) -> tuple[Game[Any], list[int], Any]:
    game = find_game(name)
    state, moves = game.initial, []
    for word in text.split():
        moves.append(read_move(game, state, word))
        state = game.result(state, moves[-1])
    return game, moves, state


def lessons(name: str, text: str, *, nodes: int = 20_000) -> tuple[Game[Any], Lesson, Lesson, list[Reviewed]]:
    """Return the lesson of a match at first sight, and after a review."""
    game, moves, state = played(name, text)
    winner = winner_of(game, state)
    reviewed = list(review(game, moves, Limit(nodes=nodes)))
    at_sight = lesson_of(list(glance(game, moves)), winner, is_searched=False)
    return game, at_sight, lesson_of(reviewed, winner), reviewed


@pytest.mark.parametrize(
    ("name", "text", "ply", "better", "reason"),
    [
        ("gomoku", "h8 a1 i8 a2 j8 a3 k8 a4 l8", 6, "g8 k8", "block at g8 or k8: they had three in a row with both"),
        ("connect4", "1 7 1 7 1 7 1", 6, "1", "you had to block at column 1: they had three in a row"),
        ("connect4", "4 3 4 3 4 3 4", 6, "4", "you had to block at column 4: they had three in a row"),
        ("connect4", "4 1 3 1 5 1 2", 4, "2 5 6", "they had two in a row with both ends open"),
        ("tictactoe", "a1 b2 c3 a3 c1 b1 a2 b3", 7, "c2", "you could have won at once with c2"),
        ("tictactoe", "a1 b1 a3 b2 c3 b3", 5, "a2", "you could have won at once with a2"),
        ("tictactoe", "a1 b2 a2 c3 a3", 4, "a3", "you had to block at a3: they had two in a row"),
        ("tictactoe", "a1 a2 b2 a3 c3", 4, "c3", "you had to block at c3: they had two in a row"),  # lost all the same
        ("tictactoe3d", "2:b2 1:a1 2:a2 3:c3 2:c2", 4, "2:c2", "you had to block at 2:c2: they had two in a row"),
        (
            "gomoku",
            "h8 a1 i8 a15 j9 o1 j10 o15 j8 a8 j11 a5 j12",
            8,
            "j8",
            "you had to play j8: there they make two open rows of three, and only one can be blocked",
        ),
        (
            "mnk:7x7,5",
            "d4 a1 c4 a7 e3 g1 e2 g7 e4 b1 e5 f1 e6",
            8,
            "e4",
            "you had to play e4: there they make two open rows of three, and only one can be blocked",
        ),
    ],
)
def test_mistakes_visible_to_a_beginner_come_first(name: str, text: str, ply: int, better: str, reason: str) -> None:
    game, first, last, _ = lessons(name, text)
    for lesson in (first, last):
        assert (lesson.ply, lesson.side) == (ply, (ply - 1) % 2)
        assert [game.move_names[move] for move in lesson.better] == better.split()
        assert reason in lesson.in_words(game)
        assert lesson.in_words(game).startswith(f"Move {ply}: ")


def test_mistakes_that_need_a_search_are_explained_with_the_better_move() -> None:
    game, first, last, reviewed = lessons("tictactoe", "b2 b3 a3 c1 a1 a2 c3")
    assert first == Lesson(None, None, (), Explanation(ExplanationKind.NOTHING_SEEN))
    assert last.ply == 2
    assert [game.move_names[move] for move in last.better] == ["a3", "c3", "a1", "c1"]
    assert "held the draw" in last.in_words(game)
    assert "What follows: " in last.in_words(game)
    assert [each.sign for each in reviewed] == ["", "??", "", "", "", "", "!"]


@pytest.mark.parametrize("reply", ["k8 g8 l8", "g8 f8 k8"])
def test_the_continuation_begins_as_the_match_continued(reply: str) -> None:
    game, first, last, _ = lessons("gomoku", f"h8 a1 i8 a2 j8 a3 {reply.split()[0]}")
    assert first.in_words(game).endswith(f"What follows: {reply}.")
    assert last.in_words(game) == first.in_words(game)


def test_the_continuation_of_a_deep_loss_in_connect_four_is_shown() -> None:
    game, _, last, _ = lessons("connect4", "4 4 4 4 4 2 2 6 2 2 6 5 5 5 6", nodes=200_000)
    assert last.in_words(game) == (
        "Move 15: column 5 was better: now they get two wins in column 3, one above the other, and you block only the "
        "lower. What follows: 6 3 5 4 3 3 3."
    )


def test_a_lesson_names_an_allowed_four_with_an_open_row() -> None:
    pytest.importorskip("numba")
    text = "h8 a1 i8 g8 j8 o15 l9 o1 l10 a15 l8 k8 l11 l12 l7"
    game, _, lesson, reviewed = lessons("gomoku", text, nodes=6000)
    assert lesson.ply == 10
    assert "you let them make two threats with l8, and only one can be blocked" in lesson.in_words(game)
    assert reviewed[9].sign == "?"


@pytest.mark.parametrize(
    ("text", "ply", "sentence"),
    [
        pytest.param(
            "e10 g10 l2 h11 g8 g12 f9 d11 g9 f13 e14 e12 i6 h7 g14 i10 j9 h9 f11 h10 h8 j10 f10 k10",
            9,
            "looked better. What follows: f13",
            id="a loss that is proved two moves later",
        ),
        pytest.param(
            "b3 n1 f12 g11 f10 f9 g12 e12 d10 c9 d9 f11 d11 d8 h11 e10 d13 d12 e11 i12 g13 h14 f13 i10 e13 h13 c13",
            20,
            "i10 was better: after this they reach two threats at once with e13. What follows: g13 h14 f13 i10 e13.",
            id="a run of threats is told to its end",
        ),
        pytest.param(
            "i8 k7 f13 k6 k8 l8 j6 l7 l9 j5 m8 k5 k10 n7 j7 m7 o7 i6 h7 j9 j10 l10 h9 k4 k3 l3 m2 i4 h3 h10 j11 i12 "
            "g10 f11 g8 f7 k12 i10 k11 k9 h8 j8 l11 m11 i9 n12",
            43,
            "you had to block at i9 or h6: they had three in a row with both ends open.",
            id="fours of one's own are no blocks",
        ),
        pytest.param(
            "f6 m5 a1 k5 d4 e5 f4 g4 d5 d6 g5 h6 e7 d8 e3 f3 f2 c5 d2 c1 e2 c2 c4 d3 f7 e6 i5 j6 i3 h4 i4 i6 h7 k6 g6 "
            "l6",
            33,
            "f5 was better: after this they reach two threats at once with k6.",
            id="no block is asked for where each loses",
        ),
        pytest.param(
            "k2 i7 m1 j8 h5 i9 i4 j3 h8 k7 h10 j7 h7 j9 h9 h6 h11",
            14,
            "you had to block at h9 or h6: they had three in one line that is open on both sides.",
            id="an open row has all marks that two of its lines share",
        ),
    ],
)
def test_a_lesson_of_gomoku_names_the_move_that_lost(text: str, ply: int, sentence: str) -> None:
    pytest.importorskip("numba")
    game, moves, _ = played("gomoku", text)
    _, _, lesson, _ = lessons("gomoku", text)
    assert lesson.ply == ply
    assert sentence in lesson.in_words(game)
    state = game.initial
    for move in moves[: ply - 1]:
        state = game.result(state, move)
    assert unrefuted(game, state, lesson.better, None) == lesson.better


def test_a_faster_loss_than_necessary_is_reported() -> None:
    pytest.importorskip("numba")
    _, _, _, reviewed = lessons("gomoku", "h8 a1 i8 o1 h10 a15 i10 o15 j8 e1", nodes=6000)
    assert reviewed[9].grade is Grade.SOONER_LOSS
    assert reviewed[9].mistake is not None
    assert reviewed[9].mistake.reason == "they win in 2 moves instead of 3: g8 or k8 held out longer"
    assert reviewed[7].grade is Grade.LOST
    assert reviewed[7].mistake is None


def test_a_blunder_is_never_marked_as_a_mistake_is() -> None:
    seen = set[tuple[str, str]]()
    for text in ("4 4 4 4 4 2 2 6 2 2 6 5 5 5 6", "4 4 4 1 1 7 7 3", "4 1 3 1 5 1 2"):
        _, _, _, reviewed = lessons("connect4", text, nodes=200_000)
        seen |= {(each.sign, each.grade) for each in reviewed if each.sign.startswith("?")}
    assert {grade for sign, grade in seen if sign == "??"} == {Grade.BLUNDER}
    assert Grade.BLUNDER not in {grade for sign, grade in seen if sign != "??"}
    assert ("?", Grade.MISTAKE) in seen


def test_an_open_row_is_no_fork_when_it_was_there_before() -> None:
    game, first, _, _ = lessons("gomoku", "h8 a1 i8 a2 j8 g8 j9 k8 j10", nodes=500)
    assert "two open rows" not in first.in_words(game)


def test_an_estimate_of_a_short_look_ahead_is_held_against_nobody() -> None:
    game, moves, _ = played("gomoku", "h8 a1 i8 a2 j8")
    assert {each.sign for each in review(game, moves, Limit(depth=2))} == {""}


def test_in_a_lost_position_the_distance_to_the_end_decides() -> None:
    game = find_game("connect4")

    def made(ply: int, was: int, could: int) -> Reviewed:
        verdicts = (Verdict(plies - WIN, exact=True, line=(35,)) for plies in (was, could))
        was_worth, could_be = verdicts
        found = searched_mistake(game, was_worth, could_be, (38,))
        return Reviewed(ply, 1, 35, was_worth, could_be, (38,), Grade.SOONER_LOSS, found)

    reviewed = [made(2, 34, 36), made(8, 30, 30), made(10, 4, 28), made(12, 2, 2)]
    lesson = lesson_of(reviewed, winner=0)
    assert (lesson.ply, lesson.side, lesson.better) == (10, 1, (38,))
    assert lesson.in_words(game) == "Move 10: they win in 2 moves instead of 14: column 4 held out longer."
    assert [each.sign for each in reviewed] == ["", "", "?!", ""]


def test_a_costly_move_by_estimate_comes_before_a_proved_loss_of_what_was_nearly_lost() -> None:
    def made(ply: int, was: Verdict, could: Verdict) -> Reviewed:
        found = searched_mistake(find_game("ultimate"), was, could, (40,))
        return Reviewed(ply, 1, 35, was, could, (40,), Grade.DOUBTFUL, found)

    def estimate(mean: float) -> Verdict:
        return Verdict(estimate_of(mean), exact=False, line=(40,))

    lost = Verdict(18 - WIN, exact=False, line=(35,))
    costly, nearly_lost = made(36, estimate(-0.6), estimate(-0.1)), made(40, lost, estimate(-0.7))
    assert lesson_of([costly, nearly_lost], winner=0).ply == 36
    assert lesson_of([costly, made(40, lost, estimate(0.1))], winner=0).ply == 40
    held_out = made(44, Verdict(8 - WIN, exact=False, line=(35,)), lost)
    assert lesson_of([nearly_lost, held_out], winner=0).ply == 40


def test_a_loss_that_is_proved_ten_moves_later_is_the_lesson() -> None:
    pytest.importorskip("numba")
    text = (
        "4:a3 2:c4 4:a4 4:a1 2:c3 4:b3 3:b3 1:d3 1:d1 2:c2 1:a1 2:b2 1:a4 2:d2 2:a2 3:a3 1:a2 1:a3 1:c1 1:b1 1:c2 1:b3"
    )
    game, _, lesson, reviewed = lessons("qubic", f"{text} 1:c3 1:c4 1:b2 3:c3 1:d4")
    assert "6: after this they win in at most" in lesson.in_words(game)
    assert not [each for each in reviewed if each.side == 1 and each.mistake and each.ply < 6]


def test_a_win_by_threats_is_named_where_each_move_of_it_threatens() -> None:
    pytest.importorskip("numba")
    text = "g12 d11 g14 e10 i12 f12 g11 g13 j11 f15 h11 f11 h13 k10 f13 i10 e14 d15 h14 f14 h12 h10 h15"
    game, _, lesson, _ = lessons("gomoku", text)
    told = lesson.in_words(game)
    assert told.startswith("Move 6: after this they win in at most ")
    assert " moves by one threat after another, g11 first; " in told


def test_a_match_without_a_mistake_has_a_lesson_that_says_so() -> None:
    game, _, last, _ = lessons("tictactoe", "b2 a1 c3 a3 a2 c2 b3 b1 c1")
    assert last.as_json(game) == {
        "type": "lesson",
        "ply": None,
        "side": None,
        "better": [],
        "text": "No clear mistake was found.",
        "why": {"kind": "nothing"},
        "follows": [],
    }


def test_the_lesson_of_a_won_match_is_the_mistake_of_the_loser() -> None:
    _, first, _, _ = lessons("tictactoe", "b2 b3 a3 a2 c2 b1 c1")  # X overlooks a win at move 5, and wins with move 7
    assert (first.ply, first.side) == (6, 1)


def test_a_player_who_resigned_is_shown_their_mistake() -> None:
    game, moves, _ = played("tictactoe", "b2 b3 a3 a2")
    assert lesson_of(list(glance(game, moves)), winner=0).ply == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gomoku", "h8 a1 i8 a2 j8 a3 k8 a4 l8"),
        ("qubic", "1:a1 4:b1 1:b1 3:c3 1:c1 2:d4 1:d1"),
        ("ultimate", "e5 e4 e1 e2"),
    ],
)
def test_every_move_has_a_grade_and_a_best_move(name: str, text: str) -> None:
    _, _, _, reviewed = lessons(name, text)
    assert all(each.grade and each.best for each in reviewed)
    assert {each.sign for each in reviewed} <= {"", "!", "?!", "?", "??"}


def test_a_move_is_known_to_lose_when_the_next_position_is_proved_to_win() -> None:
    game, moves, _ = played("gomoku", "h8 a1 i8 a2 j8 a3 k8")
    *_, last = review(game, moves[:6], Limit(nodes=2000))
    assert last.was.result == -1
    assert last.sign == "?"


def test_every_move_is_listed_even_without_time_for_any() -> None:
    game, moves, _ = played("gomoku", "h8 i9 g7 j8 i8 h9 g9 f8 j10")
    with_little_time = list(review(game, moves, Limit(), total=Limit(ms=1)))
    assert [each.move for each in with_little_time] == moves


def test_completing_a_line_in_misere_is_answered_with_a_safe_move() -> None:
    game, at_sight, _, _ = lessons("misere", "b2 a2 a3 a1 b3 c1 c3")
    assert at_sight.in_words(game) == "Move 7: you completed a line, and that loses; c2 did not."
    _, at_sight, searched, _ = lessons("misere", "a1 b2 b1 a3 c3 c2 c1")
    assert at_sight.in_words(game) == "Move 7: you completed a line, and that loses; b3 or a2 did not."
    told = "Move 7: you completed a line, and that loses; b3 did not."
    assert searched.in_words(game) == told, "a2 would have lost later"


DOUBTED = (
    ExplanationKind.LOOKED_WORSE,
    ExplanationKind.MISSED_BOARD,
    ExplanationKind.GAVE_BOARD,
    ExplanationKind.GAVE_CHOICE,
)


def test_moves_of_ultimate_are_doubted_only_if_longer_playouts_agree() -> None:
    pytest.importorskip("numba")
    game, marked, named = find_game("ultimate"), 0, 0
    moves = random_opening(game, 24, random.Random(2))
    state = game.initial
    for each in review(game, moves, Limit(nodes=20_000)):
        before, state = state, game.result(state, each.move)
        if each.mistake is None or each.mistake.why.kind not in DOUBTED:
            continue
        named += each.mistake.why.kind is not ExplanationKind.LOOKED_WORSE
        best, answer = (AlphaBeta(random.Random(9))(game, at, Limit(nodes=60_000)) for at in (before, state))
        assert best.value is not None
        assert answer.value is not None
        assert best.value + answer.value > 0.15 * CERTAIN
        marked += 1
    assert marked > 2
    assert named > 0, "that one can see"


def test_a_proved_loss_in_ultimate_is_no_mistake_where_the_best_move_was_as_good_as_lost() -> None:
    pytest.importorskip("numba")
    game = find_game("ultimate")
    position = "..O..X.OX/.X...XOX./..OO...XO/.OO...X.O/XOO.X..../XX.OOOO../O.X.XXX../.XXO..X../O.X.O.X.. next 3"
    state = read_position(game, position)
    (reviewed,) = review(game, (read_move(game, state, "3:a3"),), Limit(nodes=10_000), state)
    assert reviewed.was.result == -1
    assert reviewed.could.result is None
    assert reviewed.move not in reviewed.best
    assert (reviewed.sign, reviewed.mistake) == ("", None)


def test_too_few_playouts_doubt_no_move_of_ultimate() -> None:
    pytest.importorskip("numba")
    game = find_game("ultimate")
    moves = random_opening(game, 24, random.Random(2))
    assert not [each for each in review(game, moves, Limit(nodes=2_000)) if each.sign and not each.was.exact]


def test_a_mistake_that_leads_to_a_fork_names_it() -> None:
    game, at_sight, lesson, _ = lessons("tictactoe", "a1 c3 c1 b1 a3 a2 b2")
    assert at_sight.ply is None
    assert lesson.in_words(game).startswith(
        "Move 2: b2 held the draw; after this they reach two threats at once with c1. What follows: a3 a2 c1"
    )


def test_the_servers_coach_searches_where_nothing_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coaching, "JUDGE_MS", 60_000)  # a busy machine may not finish within the product's limit
    game, moves, state = played("tictactoe", "a1 c3 c1 b1 a3 a2 b2")
    players = (RecordedPlayer("Ann"), RecordedPlayer("Ben"))
    record = Record(game.name, players, tuple(map(RecordedMove, moves)), game.outcome(state))
    told = coaching.answer({"kind": "lesson", "record": write_record(record), "ms": 60_000})
    assert told["ply"] == 2
    assert told["why"] == {"kind": "draw_to_two_threats", "moves": ["b2"], "theirs": ["c1"]}
