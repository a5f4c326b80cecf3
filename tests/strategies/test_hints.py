"""Advice: a move that can be made, and a sentence with its name, in every game.

Wins by fours and open threes: proofs by every reply that the rules allow, and what is told of them.
"""

import random
from typing import Any

import pytest

from tests.strategies.positions import after_names, line_game, random_position
from ttt_net.games import Game, Move, find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.notation import read_position
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer, write_record
from ttt_net.strategies import alphabeta, coaching, engine
from ttt_net.strategies.alphabeta import AlphaBeta
from ttt_net.strategies.analysis import Kept, analyse
from ttt_net.strategies.engine import FIVES, kernel_module
from ttt_net.strategies.explanation import ExplanationKind
from ttt_net.strategies.heuristic import completing_cells, own_and_other
from ttt_net.strategies.hints import MOST_PLIES, ThreatWins, advise, hint, warning
from ttt_net.strategies.review import Reviewed, glance, lesson_of, review
from ttt_net.strategies.sight import look
from ttt_net.strategies.strategy import DECIDED, Effort, Limit


def after(name: str, text: str) -> tuple[Game[Any], Any]:
    game = find_game(name)
    return game, after_names(game, text)


@pytest.mark.parametrize(
    ("name", "text", "moves", "sentence"),
    [
        ("tictactoe", "a1 b1 a2 b2", "a3", "You can win at once with a3."),
        ("tictactoe", "b2 b3 a3", "c1", "You have to play c1: they have two in a row."),
        ("connect4", "4 1 3 1", "5", "Play column 5: two threats, only one can be blocked."),
        ("connect4", "4 1 3", "2 5 6", "Play column 2, 5 or 6: they have two in a row with both ends open."),
        (
            "gomoku",
            "h8 a1 i8 a2 j8",
            "g8 k8",
            "Play g8 or k8: they have three in a row with both ends open.",
        ),
    ],
)
def test_a_hint_names_the_most_urgent_feature(name: str, text: str, moves: str, sentence: str) -> None:
    game, state = after(name, text)
    found = hint(game, state)
    assert found is not None
    assert found.text == sentence
    assert [game.move_names[move] for move in found.moves] == moves.split()


@pytest.mark.parametrize(
    ("name", "text"), [("connect4", "4 1 3"), ("tictactoe", "b2 b3 a3"), ("tictactoe3d", "1:a1 3:c3 1:b1")]
)
def test_hints_and_warnings_say_where_the_marks_are_that_threaten(name: str, text: str) -> None:
    game, state = after(name, text)
    marks = {cell for cell, mark in enumerate(game.board(state)) if mark == "X"}
    for found in (hint(game, state), warning(game, state, 1)):
        assert found is not None
        assert found.why.row is not None
        assert len(found.why.row.cells) == 2
        assert marks.issuperset(found.why.row.cells)


def test_a_quiet_position_has_no_hint_and_no_warning() -> None:
    game, state = after("gomoku", "h8")
    assert hint(game, state) is None
    assert warning(game, state, 0) is None
    assert warning(game, state, 1) is None


def test_each_side_is_warned_of_the_other() -> None:
    game, state = after("connect4", "4 1 3")
    theirs, ours = warning(game, state, 1), warning(game, state, 0)
    assert theirs is not None
    assert theirs.text == "Beware of column 5: they have two in a row with both ends open."
    assert ours is None
    game, state = after("connect4", "4 1 4 1 4 2")
    assert (found := warning(game, state, 1)) is not None
    assert found.text == "They can win at once with column 4."


def test_a_game_that_is_over_has_neither() -> None:
    game, state = after("tictactoe", "a1 b1 a2 b2 a3")
    assert hint(game, state) is None
    assert warning(game, state, 0) is None


LIMIT = Limit(nodes=2000)


@pytest.mark.parametrize("name", NAMES)
def test_in_every_game_a_legal_move_is_advised_and_named_until_the_end(name: str) -> None:
    game, rng = find_game(name), random.Random(1)
    state = game.initial
    for _ in range(12):
        found = advise(game, state, LIMIT)
        if game.is_terminal(state):
            assert found is None
            return
        assert found is not None
        assert set(found.moves) <= set(game.actions(state))
        assert game.move_names[found.moves[0]] in found.text
        assert found.text.endswith(".")
        state = game.result(state, rng.choice(list(game.actions(state))))


def test_a_winning_fork_is_advised_with_its_threats() -> None:
    pytest.importorskip("numba")
    game = find_game("gomoku")
    state = game.initial
    for name in ["h8", "a1", "i8", "g8", "j8", "o15", "l9", "o1", "l10", "a15"]:
        state = game.result(state, game.move_names.index(name))
    found = advise(game, state, Limit(nodes=6000))
    assert found is not None
    assert found.text == "Play l8: two threats, only one can be blocked."


@pytest.mark.parametrize(
    ("position", "moves", "text"),
    [
        ("XX./OO./...", (2,), "You can win at once with c3."),
        ("XX./.O./...", (2,), "You have to play c3: they have two in a row."),
        ("X../.../..O", None, "you reach two threats at once with "),
        ("XOX/.O./.X.", None, "Try "),
        (".../.../...", (4,), "Try b2: many lines go through it."),
        ("X.X/O../XO.", None, "No move is safe: after "),
    ],
)
def test_the_reason_is_a_visible_or_proved_one(position: str, moves: tuple[int, ...] | None, text: str) -> None:
    game = find_game("tictactoe")
    found = advise(game, read_position(game, position), LIMIT)
    assert found is not None
    assert text in found.text
    assert moves is None or found.moves == moves


def sensible_position(game: Game[Any], rng: random.Random) -> Any:
    """A position that is not over, after moves that neither overlook a win in one nor allow one that can be seen."""
    while True:
        state = game.initial
        for _ in range(rng.randrange(1, 24)):
            sight = look(game, state)
            moves = game.actions(state)
            sound = [move for move in moves if sight.value(move) >= 0]
            state = game.result(state, rng.choice(sight.wins or sound or moves))
            if game.is_terminal(state):
                break
        else:
            return state


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "wild", "misere", "vanishing", "mnk:4x4,3"])
def test_no_hint_in_a_solved_game_names_a_move_that_gives_the_result_away(name: str) -> None:
    if name in ("connect4", "mnk:4x4,3"):
        pytest.importorskip("numba")
    game, rng, kept = find_game(name), random.Random(5), Kept(line_plies=0)
    for _ in range(15 if name == "vanishing" else 40):  # each takes 0.06 s there; elsewhere some faults need 34
        state = sensible_position(game, rng)
        truth, found = analyse(game, state, Limit(), kept), advise(game, state, Limit(), kept)
        assert found is not None
        assert {truth.moves[move].result for move in found.moves} == {truth.verdict.result}, found.text
        if found.why.plies is not None:
            assert found.why.plies == truth.verdict.plies


@pytest.mark.parametrize("name", ["tictactoe", "misere", "wild"])
def test_on_a_small_board_no_hint_gives_the_result_away_however_busy_the_machine_is(name: str) -> None:
    game = find_game(name)
    for move in game.actions(game.initial):
        state = game.result(game.initial, move)
        truth, found = analyse(game, state, Limit()), advise(game, state, Limit(ms=1))
        assert found is not None
        assert truth.keeping.issuperset(found.moves), found.text


pytest.importorskip("numba")


@pytest.mark.parametrize(
    ("moves", "text"),
    [
        ("1 4 2 1 2 6 3", "Play column 4: you can win with it."),
        ("3 6 4", "Play column 2: they have two in a row with both ends open."),
    ],
)
def test_a_hint_that_one_can_see_leaves_out_the_answers_that_lose(moves: str, text: str) -> None:
    game, state = after("connect4", moves)
    found = advise(game, state, Limit())
    assert found is not None
    assert text in found.text


@pytest.mark.parametrize("rows", ["X......O..OXOOX.X", "O......X......X...O..XX.OXO"])
def test_in_connect_four_no_hint_gives_the_result_away_however_busy_the_machine_is(rows: str) -> None:
    engine.load(game := find_game("connect4"))
    board = rows.rjust(42, ".")
    state = read_position(game, "/".join(board[row : row + 7] for row in range(0, 42, 7)))
    truth, found = analyse(game, state, Limit()), advise(game, state, Limit(ms=1))
    assert found is not None
    assert truth.keeping.issuperset(found.moves), found.text


@pytest.mark.parametrize(
    ("position", "text"),
    [
        (
            "XOX..OOXO/OO..XOX.O/.XO..OX.O/O.OXXOX.X/.X.OXXX.O/X..OXOO../..XO..XXX/.OX.O..X./OXX..O..O",
            "You have to play 1:c2 or 4:c2: they have a win with 1:c2.",
        ),
        (
            "..O....X./.O..O..X./O.X..O.X./O..X...X./.O.XO..O./..OX...../X..X...../.OO..OXXX/...X....O next 6",
            "You have to play 6:c2: they have a win with 7:a2.",
        ),
    ],
)
def test_in_ultimate_no_answer_to_a_threat_is_named_that_playouts_prove_to_lose(position: str, text: str) -> None:
    engine.load(game := find_game("ultimate"))
    state = read_position(game, position)
    at_sight, advised = hint(game, state), advise(game, state, Limit(nodes=1_000))
    assert at_sight is not None
    assert advised is not None
    assert advised.text == text
    left_out = set(at_sight.moves) - set(advised.moves)
    assert left_out
    for move in at_sight.moves:
        reply = AlphaBeta(random.Random(1))(game, game.result(state, move), Limit(nodes=200_000))
        assert (reply.value is not None and reply.value > DECIDED) == (move in left_out)
    for move in set(game.actions(state)) - set(advised.moves):
        (reviewed_move,) = review(game, (move,), Limit(nodes=4_000), state)
        mistake = reviewed_move.mistake
        assert mistake is not None
        assert set(advised.moves).issuperset(mistake.better)
        assert move in left_out or set(advised.moves) == set(mistake.better)


def test_a_move_that_wins_is_known_before_all_the_others_are_judged() -> None:
    game, state = after("connect4", "6 1 6 7 2 5 2 6")
    in_time = analyse(game, state, Limit(nodes=3_000_000))
    assert None in {verdict.result for verdict in in_time.moves.values()}
    assert in_time.keeping == analyse(game, state, Limit()).keeping


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


def reviewed(name: str, text: str, *, nodes: int = 300) -> list[Reviewed]:
    game, moves = find_game(name), []
    state = game.initial
    for word in text.split():
        moves.append(game.move_names.index(word))
        state = game.result(state, moves[-1])
    return list(review(game, moves, Limit(nodes=nodes)))


def test_a_lesson_names_a_win_by_threats_that_was_missed_and_then_allowed() -> None:
    game, moves = find_game("gomoku"), reviewed("gomoku", MISSED)
    missed, allowed = moves[8:]
    assert missed.mistake is not None
    assert missed.sign == "?"
    assert missed.mistake.reason == "you had a win in at most 4 moves with g5"
    assert allowed.mistake is not None
    assert allowed.mistake.reason.endswith(" was better: after this they reach two threats at once with h7")
    assert allowed.sign == "?"
    better = game.result(after_names(line_game("gomoku"), MISSED[:-4]), allowed.mistake.better[0])
    assert ThreatWins(line_game("gomoku")).win(better) == ()
    lesson = lesson_of(moves, 0)
    assert lesson.ply == 10
    assert lesson.in_words(game).endswith("What follows: g5 h6 g7 g8 h7.")


def test_a_hint_in_a_lost_position_of_ultimate_names_a_move_that_can_be_made() -> None:
    game = find_game("ultimate")
    state = read_position(
        game, "X.X.OXOXO/XOX.X.OX./..OX.OO.X/O.O.OX.OX/X...OX.X./...O.XOO./X..O.OOXX/.XO.O..OX/.XXOX.OXO next 1"
    )
    found = advise(game, state, Limit(nodes=500))
    assert found is not None
    assert set(found.moves) <= set(game.actions(state))
    assert found.text == "No move is safe: after 1:b3 they win at once with 6:c1."


def test_a_hint_names_our_win_by_threats_and_a_warning_theirs() -> None:
    game = line_game("gomoku")
    before = after_names(game, MISSED[:-8])
    hint = advise(game, before, Limit(nodes=300))
    assert hint is not None
    assert hint.text == "Play g5: you can win with it, in at most 4 moves."
    found = warning(game, after_names(game, MISSED[:-4]), 1)
    assert found is not None
    assert found.text == "They can win in at most 4 moves by one threat after another, g5 first."
    assert warning(game, after_names(game, "h8 a1 i9"), 1) is None


def test_a_hint_prevents_their_win_by_threats_if_possible() -> None:
    game = line_game("gomoku")
    state = after_names(game, MISSED[:-4])
    hint = advise(game, state, Limit(nodes=300))
    assert hint is not None
    assert ThreatWins(game).win(game.result(state, hint.moves[0])) == ()


LONG_LOSSES = "e10 g10 l2 h11 g8 g12 f9 d11"
"""A position in which wins by threats of 17 to 25 plies refute many moves of X."""
GOES_ON = "g9 f13 e14 e12 i6 h7 g14 i10 j9 h9 f11 h10 h8 j10 f10 k10"


def plant(monkeypatch: pytest.MonkeyPatch, state: LineState, liked: Move) -> None:
    """Replace every search by one that likes a move of a position, and nothing else."""

    class Planted(kernel_module(FIVES).result().FivesSearch):  # type: ignore[misc]
        def forced_win(self, state: LineState) -> None:
            return None

        def ordered(self, state: LineState) -> list[Move]:
            return sorted(super().ordered(state), key=liked.__ne__)

        def value_of_move(self, at: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
            value = int(super().value_of_move(at, move, depth, alpha, beta))
            return value if at != state else 900 if move == liked else -900

    def planted(game: LineGame, effort: Effort, rng: random.Random, earlier: object = None) -> Planted:
        return Planted(game, effort, rng)

    monkeypatch.setattr(alphabeta, "line_search", planted)


@pytest.mark.parametrize("name", ["i10", "g11", "f11", "e14", "f10"])
def test_no_hint_or_lesson_names_a_move_that_loses_to_threats_however_much_a_search_likes_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = line_game("gomoku")
    state, threats = after_names(game, LONG_LOSSES), ThreatWins(game)
    liked = game.move_names.index(name)
    assert len(threats.refutation(state, liked)) > MOST_PLIES
    plant(monkeypatch, state, liked)
    assert AlphaBeta(random.Random(0))(game, state, Limit(nodes=2_000, depth=1)).move == liked
    hint = advise(game, state, Limit(nodes=2_000))
    assert hint is not None
    assert threats.refutation(state, hint.moves[0]) == ()
    allowed = reviewed("gomoku", f"{LONG_LOSSES} {GOES_ON}", nodes=2_000)[8].mistake
    assert allowed is not None
    assert allowed.better
    assert not any(threats.refutation(state, better) for better in allowed.better)


def test_no_block_is_named_that_loses_to_threats() -> None:
    game, text = line_game("gomoku"), "f10 h10 k7 k10 h9 i11 j11 i10"
    state, threats = after_names(game, text), ThreatWins(game)
    at_sight = hint(game, state)
    assert at_sight is not None
    assert [game.move_names[move] for move in at_sight.moves if not threats.refutation(state, move)] == ["j10"]
    advised = advise(game, state, Limit(nodes=300))
    assert advised is not None
    assert advised.text == "Play j10: they have three in one line that is open on both sides."
    moves = [game.move_names.index(name) for name in f"{text} a1 j10 g10 l10".split()]
    won = game.outcome(after_names(game, f"{text} a1 j10 g10 l10"))
    record = Record("gomoku", (RecordedPlayer("Ann"), RecordedPlayer("Bob")), tuple(map(RecordedMove, moves)), won)
    told = coaching.answer({"kind": "lesson", "record": write_record(record), "ms": 60_000})
    assert told["ply"] == 9
    assert told["better"] == ["j10"]
    lesson = lesson_of(reviewed("gomoku", f"{text} a1 j10 g10 l10"), 1)
    assert (lesson.ply, lesson.better) == (9, (game.move_names.index("j10"),))


def test_hints_name_no_longer_win_than_people_see() -> None:
    game, rng, found = line_game("gomoku"), random.Random(2), 0
    threats = ThreatWins(game)
    for _ in range(60):
        line = threats.win(random_position(game, 14, rng))
        found += bool(line)
        assert len(line) <= MOST_PLIES
    assert found > 10


@pytest.mark.parametrize(
    ("name", "text", "cells"),
    [
        ("qubic", "1:a1 4:d1 1:b1 4:c1 1:c1 4:a2", "1:a1 1:b1 1:c1"),
        ("tictactoe3d", "1:a1 3:c1 2:b2 3:c2", "1:a1 2:b2"),
    ],
)
def test_a_line_that_wins_next_is_named_by_its_marks_in_cubes_too(name: str, text: str, cells: str) -> None:
    game = find_game(name)
    state = after_names(game, text)
    wanted = tuple(sorted(game.moves_by_name[each][0] for each in cells.split()))
    told = warning(game, state, 1)
    assert told is not None
    assert told.why.row is not None
    assert told.why.row.cells == wanted


@pytest.mark.parametrize("name", ["connect4", "scorefour"])
def test_a_lesson_of_a_win_that_was_given_away_names_the_marks_of_its_line(name: str) -> None:
    game, rng, found = find_game(name), random.Random(1), 0
    while found < 2:
        state, moves = game.initial, list[int]()
        while not game.is_terminal(state):
            moves.append(rng.choice(list(game.actions(state))))
            state = game.result(state, moves[-1])
        state = game.initial
        for each in glance(game, moves):
            if each.mistake is not None and each.mistake.why.kind in (_GAVE, _GAVE_ABOVE):
                found += 1
                row, board = each.mistake.why.row, game.board(state)
                assert row is not None
                assert [board[cell] for cell in row.cells] == ["XO"[1 - each.side]] * 3
            state = game.result(state, each.move)


_GAVE, _GAVE_ABOVE = ExplanationKind.GAVE_WIN, ExplanationKind.GAVE_WIN_ABOVE
