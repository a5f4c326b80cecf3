"""Positions described for clients that know no rules, and the puzzle of a day: the same for everybody."""

import datetime
from typing import Any, cast

import pytest
from msgspec.structs import replace

from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game
from ttt_net.games.game import Annotations, Counter, Face, Geometry, Note, Piece
from ttt_net.games.notation import read_move, read_start
from ttt_net.games.puzzles import FIRST_DAY, puzzle_count, puzzle_of
from ttt_net.games.rules import find_rules
from ttt_net.laboratory.puzzle_maker import SAVES
from ttt_net.matches import description
from ttt_net.matches.description import (
    checked_mistake,
    day_of,
    describe_game,
    describe_position,
    describe_puzzle,
    describe_rules,
)
from ttt_net.messages import (
    CounterInfo,
    GeometryInfo,
    NoteInfo,
    OwnMistake,
    OwnPuzzle,
    PieceInfo,
    Position,
    PuzzleRequest,
    TargetInfo,
    encode,
)
from ttt_net.strategies.explanation import WINNERS_ENDS


def after(name: str, words: str, *, is_over: bool = False) -> Position:
    """Return the position after the moves, as a client is told it."""
    game = find_game(name)
    state = game.initial
    for word in words.split():
        state = game.result(state, read_move(game, state, word))
    return describe_position(game, len(words.split()), state, is_over=is_over or game.is_terminal(state))


def test_the_mark_that_vanishes_next_is_sent_once_the_side_to_move_has_three() -> None:
    assert after("vanishing", "a3 c3 b2 b1 a2").vanishing is None
    assert after("vanishing", "a3 c3 b2 b1 a2 c2").vanishing == 0, "X's first mark, a3"
    assert after("vanishing", "a3 c3 b2 b1 a2 c2 c1").vanishing == 2, "O's first mark, c3"
    assert after("vanishing", "a3 c3 b2 b1 a2 a1 c2").vanishing is None, "the match is over"
    assert after("vanishing", "a3 c3 b2 b1 a2 c2", is_over=True).vanishing is None, "somebody resigned"


def test_the_board_to_play_in_is_described_by_number_and_name() -> None:
    assert after("ultimate", "").target is None
    assert after("ultimate", "5:c3").target == TargetInfo(3, "top right")
    assert after("ultimate", "5:b2").target == TargetInfo(5, "centre")
    assert after("ultimate", "5:c3", is_over=True).target is None
    free = after("ultimate", "5:a1 7:c1 9:b2 5:b2 5:c1 9:a1 7:a2 4:b2 5:b1 8:b2")
    assert free.target is None, "sent to board 5, which X has won"


def test_a_line_in_misere_belongs_to_its_loser() -> None:
    ended = after("misere", "b3 c3 a2 c1 b1 c2")
    assert (ended.line_by, ended.line) == (1, [2, 5, 8])
    assert after("tictactoe", "b2 b3 a1 c3 a2 c1 c2").line_by == 0
    assert after("wild", "Xb2 Oa1 Oc3 Xb1 Oa3 Xb3").line_by == 1
    assert after("connect4+swap", "4 swap 1 4 1 4 1 4").line_by == 1, "who swapped plays X"
    assert after("misere", "b3 c3").line_by is None


def test_only_the_second_player_is_offered_the_takeover() -> None:
    game = find_game("connect4+swap")
    assert after("connect4+swap", "").takeover is None
    assert after("connect4+swap", "4").takeover == game.move_names.index("swap")
    assert after("connect4+swap", "4 swap").takeover is None
    assert after("connect4+swap", "4 4").takeover is None
    assert after("connect4", "4").takeover is None
    assert after("mnk:1x1,1+swap", "a1").takeover is None


def test_default_values_are_omitted_from_messages() -> None:
    assert not {b"line_by", b"vanishing", b"target", b"takeover"} & set(encode(after("connect4", "4")).split(b'"'))


@pytest.mark.parametrize("name", ["tictactoe", "ultimate", "connect4", "qubic", "mnk:1x3,3"])
def test_a_game_and_its_rules_are_described_as_the_game_has_them(name: str) -> None:
    game, page = find_game(name), find_rules(name)
    block = describe_game(name).block
    assert block == (list(game.block) if game.block else None)
    example = describe_rules(name).example
    assert (example is None) == (not page.example)
    assert example is None or example.moves == page.example.split()


class Adorned:
    """A game with a look of its own, and with notes and counters once a move was made."""

    def __init__(self, face: Face, noted: Annotations | None) -> None:
        self.face, self._noted = face, noted
        self._game = find_game("tictactoe")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def annotations(self, state: object) -> Annotations | None:
        return self._noted


def test_a_look_of_its_own_is_described_and_a_usual_one_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    geometry = Geometry(((0, 0, 1, 3),), "hexagon", 2, {"top": "X"})
    face = Face(geometry=geometry, pieces=(Piece("X", "cross", "cross"),), endings={"time": "{winner} won"})
    for each, told in (
        (face, (True, [PieceInfo("X", "cross", "cross")], dict(face.endings))),
        (Face(), (False, None, None)),
    ):
        monkeypatch.setattr(description, "find_game", lambda name, each=each: Adorned(each, None))
        info = describe_game.__wrapped__("adorned")
        assert (info.geometry is not None, info.pieces, info.endings) == told
        assert info.geometry is None or info.geometry == GeometryInfo([(0, 0, 1, 3)], "hexagon", 2, {"top": "X"})


def test_notes_and_counters_are_sent_where_a_position_has_them() -> None:
    noted = Annotations((Note("win", (0, 1), "x"),), (Counter("pairs", 2, 5, 0),))
    for each, notes, counters in (
        (noted, [NoteInfo("win", [0, 1], "x")], [CounterInfo("pairs", 2, 5, 0)]),
        (Annotations(), None, None),
        (None, None, None),
    ):
        game = cast(Any, Adorned(Face(), each))
        told = describe_position(game, 0, game.initial, is_over=False)
        assert (told.notes, told.counters) == (notes, counters)


def test_nobody_may_move_in_a_match_that_is_over_though_the_board_has_room() -> None:
    assert after("tictactoe", "b2").legal
    assert after("tictactoe", "b2", is_over=True).legal == []


NOW = datetime.date(2026, 11, 22)
DAYS = [FIRST_DAY + datetime.timedelta(days=number) for number in range(puzzle_count())]


def test_every_puzzle_can_be_read_and_its_solution_played() -> None:
    seen = set()
    for day in DAYS:
        puzzle = puzzle_of(day)
        game = find_game(puzzle.game)
        state = read_start(game, puzzle.position)
        assert puzzle.solution in game.actions(state)
        assert len(puzzle.line) == (puzzle.plies - 1 if puzzle.is_win else 0)
        side, after = game.to_move(state), state
        for move in (puzzle.solution, *puzzle.line):
            after = game.result(after, move)
        assert not puzzle.is_win or game.utility(after, side) == 1
        assert len(game.actions(state)) > 1
        assert puzzle.why.endswith(".")
        seen.add((puzzle.game, puzzle.position))
    assert len(seen) == len(DAYS) >= 2000, "five years without the same one again"
    assert len({game for game, _ in seen}) >= 10


def test_puzzles_rise_through_the_week_and_their_reasons_are_about_the_solution() -> None:
    saves = {"only_draw", "must_block", "should_block", "should_play", *SAVES.values()}
    wins, unnamed = {"two_threats", *WINNERS_ENDS.values()}, 0
    for day in DAYS:
        puzzle = puzzle_of(day)
        assert puzzle.grade == (2, 2, 3, 3, 4, 4, 5)[day.weekday()]
        why = puzzle.explanation
        assert why["kind"] in (wins if puzzle.is_win else saves)
        assert why["moves"] == [find_game(puzzle.game).move_names[puzzle.solution]]
        assert why.get("plies", puzzle.plies) == puzzle.plies
        unnamed += why["kind"] == "only_draw"
    assert unnamed < 20, "all wins and nearly all saves say how they come about"
    assert len(DAYS) % 7 == 0, "the first again on the same day of the week"


def test_puzzles_repeat_after_the_last_day_and_exist_before_the_first() -> None:
    assert puzzle_of(DAYS[-1] + datetime.timedelta(days=1)) == puzzle_of(FIRST_DAY)
    assert puzzle_of(FIRST_DAY - datetime.timedelta(days=1)) == puzzle_of(DAYS[-1])


def test_the_solution_is_sent_after_finding_it_or_giving_up() -> None:
    puzzle = puzzle_of(NOW)
    asked = describe_puzzle(PuzzleRequest(1), NOW)
    assert (asked.day, asked.right, asked.solution, asked.text) == ("2026-11-22", None, None, "")
    assert asked.position.to_move is not None
    wrong = next(move for move in asked.position.legal if move != puzzle.solution)
    told = describe_puzzle(PuzzleRequest(1, move=wrong), NOW)
    assert (told.move, told.right, told.solution) == (wrong, False, None)
    assert told.text.endswith("Try another move.")
    told = describe_puzzle(PuzzleRequest(1, move=puzzle.solution), NOW)
    assert (told.right, told.solution, told.text) == (True, puzzle.solution, puzzle.why)
    told = describe_puzzle(PuzzleRequest(1, reveal=True), NOW)
    assert (told.right, told.solution, told.text) == (None, puzzle.solution, puzzle.why)
    assert told.why is not None
    assert told.why.kind == puzzle.explanation["kind"]
    assert asked.why is None


def test_the_line_of_a_puzzle_is_sent_move_by_move_to_its_end_and_not_beyond() -> None:
    day = next(day for day in DAYS if len(puzzle_of(day).line) > 1)
    puzzle = puzzle_of(day)
    game, line = find_game(puzzle.game), (puzzle.solution, *puzzle.line)
    state = read_start(game, puzzle.position)
    asked = PuzzleRequest(1, day=day.isoformat())
    unplayed = describe_puzzle(asked, DAYS[-1])
    assert (unplayed.ply, unplayed.last, unplayed.solution) == (0, None, None)
    for ply, move in enumerate(line, 1):
        state = game.result(state, move)
        told = describe_puzzle(replace(asked, ply=ply), DAYS[-1])
        assert (told.ply, told.last, told.solution) == (ply, move, puzzle.solution)
        assert told.position.board == game.board(state)
    assert describe_puzzle(replace(asked, ply=len(line) + 1), DAYS[-1]) == told


def test_every_puzzle_states_its_task_and_accepts_every_legal_answer() -> None:
    kinds = set()
    for day in DAYS[:60]:
        puzzle = puzzle_of(day)
        request = PuzzleRequest(1, day=day.isoformat())
        asked = describe_puzzle(request, DAYS[-1])
        assert asked.kind == ("win" if puzzle.is_win else "save")
        sentence = "That does not win." if puzzle.is_win else "After that they can win."
        for move in asked.position.legal:
            told = describe_puzzle(replace(request, move=move), DAYS[-1])
            assert told.right == (move == puzzle.solution)
            assert told.right or told.text == f"{sentence} Try another move."
        kinds.add(asked.kind)
    assert kinds == {"win", "save"}


def test_the_puzzles_of_today_and_earlier_days_are_sent() -> None:
    for day in (NOW, NOW - datetime.timedelta(days=1)):
        assert describe_puzzle(PuzzleRequest(1, day=day.isoformat()), NOW).day == day.isoformat()


@pytest.mark.parametrize(
    ("day", "says"), [("2026-11-23", "has not come yet"), ("tomorrow", "is no day"), ("", "is no day")]
)
def test_invalid_and_future_days_are_refused(day: str, says: str) -> None:
    with pytest.raises(Refusal, match=says) as refused:
        describe_puzzle(PuzzleRequest(1, day=day), NOW)
    assert refused.value.code == "no_puzzle"


def test_an_illegal_answer_is_refused() -> None:
    with pytest.raises(Refusal):
        describe_puzzle(PuzzleRequest(1, day="2026-01-01", move=99_999), NOW)


def test_the_day_is_that_of_utc() -> None:
    assert day_of(1_795_305_599_000).isoformat() == "2026-11-21"
    assert day_of(1_795_305_600_000).isoformat() == "2026-11-22"


NEW = OwnMistake(OwnPuzzle("tictactoe", [4, 8], [0, 1]), "why")


@pytest.mark.parametrize(
    ("mistake", "code"),
    [
        (replace(NEW, puzzle=OwnPuzzle("nonesuch", [4])), Code.UNKNOWN_GAME),
        (replace(NEW, puzzle=OwnPuzzle("tictactoe", [4], [0, 0])), Code.CELL_TAKEN),
        (replace(NEW, puzzle=OwnPuzzle("tictactoe", [4], [0, 3, 1, 4, 2])), Code.MATCH_OVER),
        (replace(NEW, puzzle=OwnPuzzle("tictactoe", [4], [], "XXX/XX/X")), Code.BAD_NOTATION),
        (replace(NEW, puzzle=OwnPuzzle("tictactoe", [0, 1, 99], [0, 1])), Code.ILLEGAL_MOVE),
        (replace(NEW, due="some day"), Code.BAD_MESSAGE),
    ],
)
def test_a_mistake_that_cannot_be_a_puzzle_is_refused(mistake: OwnMistake, code: Code) -> None:
    with pytest.raises(Refusal) as refused:
        checked_mistake(mistake, datetime.date(2026, 11, 27))
    assert refused.value.code is code


@pytest.mark.parametrize(
    ("due", "stored"),
    [
        ("", ""),
        ("2026-11-01", "2026-11-01"),
        ("20261201", "2026-12-01"),
        ("2026-12-18", "2026-12-18"),
        ("2026-12-19", "2026-12-18"),
        ("9999-12-31", "2026-12-18"),
    ],
)
def test_a_mistake_returns_within_three_weeks_whatever_a_client_says(due: str, stored: str) -> None:
    game = "mnk:3x3,3"
    mistake = replace(NEW, puzzle=replace(NEW.puzzle, game=game, better=[0, 4]), due=due, times=2)
    assert checked_mistake(mistake, datetime.date(2026, 11, 27)) == replace(mistake, due=stored)


def test_a_mistake_is_stored_under_the_usual_name_of_its_game() -> None:
    mistake = replace(NEW, puzzle=replace(NEW.puzzle, game="mnk:003x03,3"))
    assert checked_mistake(mistake, datetime.date(2026, 11, 27)).puzzle.game == "mnk:3x3,3"
