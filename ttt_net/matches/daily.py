"""Tell the puzzle of a day to a client that knows no rules, and whether its answer is right."""

import datetime

import msgspec

from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game
from ttt_net.games.notation import read_start
from ttt_net.games.puzzles import puzzle_of
from ttt_net.matches.description import describe_game, describe_position
from ttt_net.messages import ExplanationInfo, PuzzleReply, PuzzleRequest


def today(wall_ms: int) -> datetime.date:
    """Return the day by UTC at a time in milliseconds since 1970."""
    return datetime.datetime.fromtimestamp(wall_ms / 1000, datetime.UTC).date()


def describe_puzzle(request: PuzzleRequest, now: datetime.date) -> PuzzleReply:
    """Return the puzzle that is asked for, with what there is to say of the move.

    Raises `Refusal` if the day is none or has not come, or if the move is not legal there.
    """
    day = _day_of(request.day, now)
    puzzle = puzzle_of(day)
    game = find_game(puzzle.game)
    state = read_start(game, puzzle.position)
    position = describe_position(game, 0, state, is_over=False)
    is_right = None if request.move is None else request.move == puzzle.solution
    if request.move is not None and request.move not in position.legal:
        game.result(state, request.move)  # raises the refusal that names the reason
    is_told = is_right or request.reveal
    return PuzzleReply(
        day=day.isoformat(),
        game=describe_game(game.name),
        position=position,
        start=puzzle.position,
        kind="win" if puzzle.is_win else "save",
        plies=puzzle.plies,
        grade=puzzle.grade,
        move=request.move,
        right=is_right,
        solution=puzzle.solution if is_told else None,
        text=puzzle.why if is_told else "" if is_right is None else _not_it(puzzle.is_win),
        why=msgspec.convert(puzzle.explanation, ExplanationInfo) if is_told else None,
    )


def _not_it(is_win: bool) -> str:
    return "That does not win. Try another move." if is_win else "After that they can win. Try another move."


def _day_of(text: str | None, now: datetime.date) -> datetime.date:
    if text is None:
        return now
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        raise Refusal(Code.NO_PUZZLE, f"{text[:20]!r} is no day; write it as {now.isoformat()}") from None
    if day > now:
        raise Refusal(Code.NO_PUZZLE, f"the puzzle of {day.isoformat()} has not come yet; today is {now.isoformat()}")
    return day
