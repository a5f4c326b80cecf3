"""The cause that a lesson or a hint names is the true one: the rules alone show it in the play that follows."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.strategies.positions import after_names
from ttt_net.games import Game, Move, Side, find_game
from ttt_net.games.line import LineGame
from ttt_net.games.notation import read_start
from ttt_net.games.puzzles import FIRST_DAY, puzzle_count, puzzle_of
from ttt_net.games.ultimate import ANY, UltimateGame
from ttt_net.games.vanishing import MARKS
from ttt_net.laboratory.strategy_arena import random_opening
from ttt_net.strategies import Limit
from ttt_net.strategies.analysis import Kept, analyse
from ttt_net.strategies.explanation import (
    WINNERS_ENDS,
    Explanation,
    ExplanationKind,
    Mistake,
    fault_of_boards,
    merit_of_boards,
)
from ttt_net.strategies.hints import JUDGE_SHARE, advise, hint, warning
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
    elif why.kind in (Kind.TO_SENT, Kind.MAKES_SENT):
        assert state.target != ANY
    elif why.kind in (Kind.TO_STACK, Kind.MAKES_STACK):
        assert isinstance(game, LineGame)
        (lower,) = (move for move in moves if [game.move_names[move]] == list(why.theirs))
        (upper,) = wins(game, game.result(state, lower))
        assert upper == lower - game.fall
    elif why.kind in (Kind.TO_ZUGZWANG, Kind.MAKES_ZUGZWANG):
        assert isinstance(game, LineGame)
        assert reply == made - game.fall
        assert [game.move_names[made]] == list(why.theirs)
        if why.row is not None:
            own = game.marks(after)[1 - game.to_move(state)]
            assert {game.board(after)[cell] for cell in why.row.cells} == {own}
            assert sum(1 << cell for cell in (*why.row.cells, reply)) in game.lines


def check_two_threats(game: Game[Any], state: Any, name: str, line: tuple[Move, ...], winner: Side) -> None:
    """Check that the winner plays a move of this name in a line, and then wins next, whatever the loser plays."""
    at, found = state, False
    for move in line:
        by, at = game.to_move(at), game.result(at, move)
        if by == winner and game.move_names[move] == name and not game.is_terminal(at):
            found = found or all(wins(game, game.result(at, reply)) for reply in game.actions(at))
    assert found, (game.board(state), name)


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


PUZZLES = [puzzle_of(FIRST_DAY + timedelta(days=day)) for day in range(puzzle_count())]


def test_the_reasons_of_won_puzzles_are_those_that_the_rules_show() -> None:
    seen = set[str]()
    for puzzle in PUZZLES:
        why, game = puzzle.explanation, find_game(puzzle.game)
        state, kind = read_start(game, puzzle.position), Kind(why["kind"])
        winner, line = game.to_move(state), (puzzle.solution, *puzzle.line)
        if kind is Kind.TWO_THREATS:
            check_two_threats(game, state, why["moves"][0], line[:1], winner)
        elif kind is Kind.MAKES_TWO_THREATS:
            check_two_threats(game, state, why["theirs"][0], line, winner)
        elif kind in WINNERS_ENDS.values():
            named = Explanation(kind, tuple(why["moves"]), tuple(why.get("theirs", ())))
            check_end(game, game.result(state, puzzle.solution), named, line[1:], 1 - winner)
        seen.add(kind)
    assert seen >= {*WINNERS_ENDS.values(), Kind.TWO_THREATS}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tictactoe", Kind.SAVE_TWO_THREATS),
        ("vanishing", Kind.SAVE_VANISH),
        ("misere", Kind.SAVE_OWN_LINE),
        ("wild", Kind.SAVE_NO_SAFE_MOVE),
        ("connect4", Kind.SAVE_NO_SAFE_MOVE),
        ("ultimate", Kind.SAVE_NO_SAFE_MOVE),
        ("mnk:5x5,4", Kind.SAVE_TWO_THREATS),
    ],
)
def test_after_every_other_move_than_a_save_best_play_ends_as_its_reason_says(name: str, kind: Kind) -> None:
    if name in ("connect4", "mnk:5x5,4"):
        pytest.importorskip("numba")
    game, kept = find_game(name), Kept()
    chosen = [each for each in PUZZLES if each.game == name and each.explanation["kind"] == kind][:3]
    assert chosen
    for puzzle in chosen:
        state = read_start(game, puzzle.position)
        for move in set(game.actions(state)) - {puzzle.solution}:
            at, side = game.result(state, move), game.to_move(state)
            if game.is_terminal(at):
                assert game.utility(at, side) < 0
                continue
            found = analyse(game, at, Limit(), kept)
            best_play = max((found.moves[best].line for best in found.best), key=len)
            if kind is Kind.SAVE_TWO_THREATS:
                assert ends_in_two_threats(game, at, best_play, 1 - side)
                continue
            if kind is Kind.SAVE_NO_SAFE_MOVE and wins(game, at):
                continue
            last, _, reply = last_choice(game, at, best_play, side)
            for each in game.actions(last):
                ended = game.result(last, each)
                if kind is Kind.SAVE_OWN_LINE:
                    assert game.utility(ended, side) < 0
                elif kind is Kind.SAVE_VANISH:
                    assert last.moves[-2 * MARKS] == reply in wins(game, ended)
                else:
                    assert wins(game, ended)


def ends_in_two_threats(game: Game[Any], state: Any, line: tuple[Move, ...], winner: Side) -> bool:
    """Tell whether in a play the winner comes to threaten two wins at once, which no reply stops."""
    for move in line:
        by, state = game.to_move(state), game.result(state, move)
        if by == winner and not game.is_terminal(state):
            after = [game.result(state, reply) for reply in game.actions(state)]
            if all(not game.is_terminal(each) and wins(game, each) for each in after):
                return len({win for each in after for win in wins(game, each)}) > 1
    return False


def board_won(game: UltimateGame, state: Any, move: Move) -> bool:
    """Tell whether a move wins a small board."""
    after = game.result(state, move)
    return bool((after.won_first | after.won_second) != (state.won_first | state.won_second))


def can_win_a_board(game: UltimateGame, state: Any) -> list[Move]:
    """Return the moves that win a small board."""
    return [move for move in game.actions(state) if board_won(game, state, move)]


def passed(state: Any) -> Any:
    """Return an ultimate position with the other side to move, in any board."""
    return state._replace(ply=state.ply + 1, target=ANY)


def test_what_a_move_of_ultimate_does_in_a_small_board_is_what_the_rules_show() -> None:
    game, rng, merits, faults = find_game("ultimate"), random.Random(5), set[str](), set[str]()
    assert isinstance(game, UltimateGame)
    for _ in range(60):
        state = game.initial
        for made in random_opening(game, rng.randrange(4, 50), rng):
            state = game.result(state, made)
        moves = list(game.actions(state))
        if len(moves) < 2:
            continue
        for move in moves:
            if (why := merit_of_boards(game, state, move)) is not None:
                merits.add(why.kind)
                assert why.moves == (game.move_names[move],)
                check_merit(game, state, move, why)
        move, better = rng.sample(moves, 2)
        after = game.result(state, move)
        if (why := fault_of_boards(game, state, move, (better,))) is not None:
            faults.add(why.kind)
            assert why.moves == (game.move_names[better],)
            instead = game.result(state, better)
            if why.kind is Kind.MISSED_BOARD:
                assert board_won(game, state, better)
                assert not board_won(game, state, move)
                continue
            assert instead.target != ANY
            assert not can_win_a_board(game, instead)
            if why.kind is Kind.GAVE_CHOICE:
                assert after.target == ANY
            else:
                assert {game.move_names[reply] for reply in can_win_a_board(game, after)} == set(why.theirs)
                assert after.target != ANY
    stops = {Kind.TRY_STOP_BOARD, Kind.TRY_STOP_GAME}
    assert merits == {Kind.TRY_BOARD, Kind.TRY_TWO_WAYS, Kind.TRY_SENT, Kind.TRY_CENTRE_BOARD, *stops}
    assert faults == {Kind.MISSED_BOARD, Kind.GAVE_BOARD, Kind.GAVE_CHOICE}


def check_merit(game: UltimateGame, state: Any, move: Move, why: Explanation) -> None:
    after, mark = game.result(state, move), game.marks(state)[game.to_move(state)]
    match why.kind:
        case Kind.TRY_BOARD:
            assert board_won(game, state, move)
            assert why.row is not None
            assert {game.board(state)[cell] for cell in why.row.cells} == {mark}
        case Kind.TRY_TWO_WAYS:
            ways = {game.move_names[each] for each in can_win_a_board(game, passed(after))}
            assert len(why.theirs) >= 2
            assert ways.issuperset(why.theirs)
            assert {name[0] for name in why.theirs} == {game.move_names[move][0]}
        case Kind.TRY_STOP_BOARD | Kind.TRY_STOP_GAME:
            assert move in can_win_a_board(game, passed(state))
            assert game.is_terminal(game.result(passed(state), move)) == (why.kind is Kind.TRY_STOP_GAME)
            left = can_win_a_board(game, after._replace(target=ANY))
            assert game.move_names[move][0] not in {game.move_names[each][0] for each in left}
            assert why.row is not None
            assert mark not in {game.board(state)[cell] for cell in why.row.cells}
        case Kind.TRY_SENT:
            assert after.target != ANY
            assert not can_win_a_board(game, after)
        case _:
            assert game.move_names[move].startswith("5:")


def test_most_hints_of_ultimate_have_a_reason_that_one_can_see() -> None:
    game, rng, seen = find_game("ultimate"), random.Random(5), 0
    for _ in range(10):
        state = game.initial
        for made in random_opening(game, rng.randrange(6, 40), rng):
            state = game.result(state, made)
        found = advise(game, state, Limit(nodes=300))
        assert found is not None
        seen += found.why.kind is not Kind.TRY_SEARCH
    assert seen > 5
