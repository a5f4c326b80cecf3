"""The cause that a lesson or a hint names is the true one: the rules alone show it in the play that follows."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.strategies.positions import after_names
from ttt_net.games import Game, Move, Side, find_game
from ttt_net.games.line import LineGame
from ttt_net.games.vanishing import MARKS
from ttt_net.laboratory.strategy_arena import random_opening
from ttt_net.strategies import Limit
from ttt_net.strategies.analysis import analyse
from ttt_net.strategies.explanation import Explanation, ExplanationKind, Mistake
from ttt_net.strategies.hints import JUDGE_SHARE, advise, hint, warning, warning_of_move
from ttt_net.strategies.review import review
from ttt_net.strategies.sight import look

Kind = ExplanationKind


def wins(game: Game[Any], state: Any) -> list[Move]:
    """Return the moves by which the side to move wins at once."""
    found = []
    for move in game.actions(state):
        after = game.result(state, move)
        if game.is_terminal(after) and game.utility(after, game.to_move(state)) > 0:
            found.append(move)
    return found


def last_choice(game: Game[Any], state: Any, line: tuple[Move, ...], loser: Side) -> tuple[Any, Move, Move | None]:
    """Return the loser's last position of a play that ends the match, with the move and the winning reply, if any."""
    at, found = state, None
    for number, move in enumerate(line):
        if game.to_move(at) == loser:
            found = (at, move, line[number + 1] if number + 1 < len(line) else None)
        at = game.result(at, move)
    assert game.is_terminal(at)
    assert game.utility(at, loser) < 0
    assert found is not None
    return found


def check_end(game: Game[Any], after: Any, why: Explanation, line: tuple[Move, ...], loser: Side) -> None:
    """Check the named end of the play that follows a position, as the rules have it."""
    state, made, reply = last_choice(game, after, line, loser)
    moves, cells = game.actions(state), tuple(game.move_names.index(name) for name in why.theirs)
    if why.kind in (Kind.TO_OWN_LINE, Kind.MAKES_OWN_LINE):
        for move in moves:
            ended = game.result(state, move)
            assert game.is_terminal(ended)
            assert game.utility(ended, game.to_move(state)) < 0
        return
    assert reply is not None
    assert all(wins(game, game.result(state, move)) for move in moves), "whatever the loser plays"
    if why.kind in (Kind.TO_VANISHED, Kind.MAKES_VANISH):
        assert cells == (reply,) == (state.moves[-2 * MARKS],), "where the oldest mark was"
        assert all(reply in wins(game, game.result(state, move)) for move in moves)
    elif why.kind in (Kind.TO_ZUGZWANG, Kind.MAKES_ZUGZWANG, Kind.TO_STACK, Kind.MAKES_STACK):
        assert isinstance(game, LineGame)
        assert reply == made - game.fall
        assert [game.move_names[made]] == list(why.theirs)
        if why.row is not None:
            own = game.marks(after)[1 - game.to_move(state)]
            assert {game.board(after)[cell] for cell in why.row.cells} == {own}
            assert sum(1 << cell for cell in (*why.row.cells, reply)) in game.lines


def mistakes(game: Game[Any], moves: tuple[Move, ...], start: Any, nodes: int) -> Iterator[tuple[Any, Move, Mistake]]:
    """Yield the positions in which moves were mistakes, these moves, and their mistakes."""
    state = start
    for each in review(game, moves, Limit(nodes=nodes), start):
        if each.mistake is not None:
            yield state, each.move, each.mistake
        state = game.result(state, each.move)


ENDS = {Kind.TO_VANISHED, Kind.TO_OWN_LINE, Kind.TO_NO_SAFE_MOVE, Kind.TO_ZUGZWANG, Kind.TO_STACK}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("vanishing", Kind.TO_VANISHED), ("misere", Kind.TO_OWN_LINE), ("wild", Kind.GAVE_WIN_ANYBODY)],
)
def test_causes_in_random_matches_are_those_that_the_rules_show(name: str, kind: ExplanationKind) -> None:
    game, rng, seen = find_game(name), random.Random(11), 0
    for _ in range(6):
        moves = random_opening(game, 8, rng)
        for state, move, mistake in mistakes(game, moves, game.initial, 20_000):
            after, why = game.result(state, move), mistake.why
            seen += why.kind is kind
            if why.kind in ENDS:
                check_end(game, after, why, mistake.line, game.to_move(state))
            elif why.kind is Kind.GAVE_WIN_ANYBODY:
                assert {game.move_names[each] for each in wins(game, after)} == set(why.theirs)
                assert why.row is not None
                marks = {game.board(after)[cell] for cell in why.row.cells}
                assert marks == {why.theirs[0][0]}, "the mark that completes the line"
                assert game.move_cells[move] in why.row.cells
    assert seen > 2


@pytest.mark.parametrize(
    ("text", "ply", "kind"),
    [
        ("4 4 4 4 4 2 2 6 2 2 6 5 5 5 6", 15, Kind.TO_STACK),
        ("1 3 3 7 5 5 3 5 5 3 2 2 1 6 6 1 6", 17, Kind.TO_STACK),
        ("1 4 3 4 1 3 1 1 3 6 7 6 2 3 4 4 3 6", 18, Kind.TO_ZUGZWANG),
    ],
)
def test_in_connect_four_the_play_ends_in_the_named_column(text: str, ply: int, kind: ExplanationKind) -> None:
    pytest.importorskip("numba")
    game = find_game("connect4")
    *before, name = text.split()
    start = after_names(game, " ".join(before))
    move = next(move for move in game.actions(start) if game.move_names[move] == name)
    ((_, _, mistake),) = mistakes(game, (move,), start, 1_000_000)
    assert len(before) + 1 == ply
    assert mistake.why.kind is kind
    check_end(game, game.result(start, move), mistake.why, mistake.line, game.to_move(start))


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("vanishing", {Kind.MAKES_VANISH}),
        ("misere", {Kind.MAKES_OWN_LINE}),
        ("wild", {Kind.MAKES_NO_SAFE_MOVE, Kind.NO_SAFE_MOVE}),
    ],
)
def test_a_hint_says_how_best_play_wins_in_the_end(name: str, kinds: set[ExplanationKind]) -> None:
    game, rng, named = find_game(name), random.Random(3), set[ExplanationKind]()
    for _ in range(120):
        state, limit = quiet_position(game, rng), Limit(nodes=20_000)
        found = advise(game, state, limit)
        assert found is not None
        why, move = found.why, found.moves[0]
        named.add(why.kind)
        after = game.result(state, move)
        if why.kind in kinds - {Kind.NO_SAFE_MOVE}:
            line = analyse(game, state, limit.share(JUDGE_SHARE)).moves[move].line
            check_end(game, after, why, line[1:], game.to_move(after))
        elif why.kind is Kind.NO_SAFE_MOVE:
            assert all(wins(game, game.result(state, each)) for each in game.actions(state))
            assert {game.move_names[each] for each in wins(game, after)} == set(why.theirs)
    assert kinds <= named


def quiet_position(game: Game[Any], rng: random.Random) -> Any:
    """Return an unfinished position after random moves that do not give the match away, where there are any."""
    while True:
        state = game.initial
        for _ in range(rng.randrange(3, 8)):
            sight, moves = look(game, state), game.actions(state)
            state = game.result(state, rng.choice([move for move in moves if sight.value(move) == 0] or list(moves)))
            if game.is_terminal(state):
                break
        else:
            return state


def test_a_mark_that_stands_in_the_way_and_vanishes_is_named_in_time() -> None:
    game, rng, seen = find_game("vanishing"), random.Random(2), 0
    for _ in range(300):
        state = game.initial
        for move in random_opening(game, rng.randrange(6, 20), rng):
            state = game.result(state, move)
        if game.is_terminal(state) or wins(game, state):
            continue
        side, oldest = game.to_move(state), game.special(state).vanishing
        is_lost = all(oldest in wins(game, game.result(state, move)) for move in game.actions(state))
        for found in (hint(game, state), warning(game, state, side)):
            assert (found is not None and found.why.kind is Kind.VANISHES_NOW) == is_lost
            if found is not None and is_lost:
                seen += 1
                assert found.moves == (oldest,)
                assert found.why.row is not None
                assert {game.board(state)[cell] for cell in found.why.row.cells} == {"OX"[side]}
    assert seen > 4


def test_a_warning_says_which_marks_a_move_of_wild_leaves_to_complete() -> None:
    game = find_game("wild")
    state = after_names(game, "Xb2 Oa1")
    move = game.move_names.index("Xc3")
    found = warning_of_move(game, state, move)
    assert found is None, "a1 is taken"
    found = warning_of_move(game, state, game.move_names.index("Xb1"))
    assert found is not None
    assert found.text == "Xb1 leaves two in a row for anybody to complete: they win at once with Xb3."
    assert found.why.row is not None
    assert sorted(found.why.row.cells) == sorted(
        map(game.move_cells.__getitem__, (move_of(game, "Xb2"), move_of(game, "Xb1")))
    )


def move_of(game: Game[Any], name: str) -> Move:
    """Return the move of this name."""
    return game.move_names.index(name)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "wild", "misere", "vanishing", "tictactoe3d"])
def test_the_marks_of_a_win_at_once_are_those_of_its_line(name: str) -> None:
    game, rng, seen = find_game(name), random.Random(4), 0
    for _ in range(80):
        state = game.initial
        for move in random_opening(game, rng.randrange(3, 12), rng):
            state = game.result(state, move)
        sight = look(game, state)
        if game.is_terminal(state) or not sight.wins:
            continue
        found = hint(game, state)
        assert found is not None
        if found.why.row is None:  # a win in misere is a line of the other side's
            assert name == "misere"
            continue
        line = set(game.line(game.result(state, sight.wins[0])))
        assert line.issuperset(found.why.row.cells)
        assert line.issuperset({game.move_cells[sight.wins[0]]})
        seen += 1
    assert seen > 3 or name == "misere"
