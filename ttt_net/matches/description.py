"""Describe games, rules, positions, clocks and the puzzle of a day to clients without rules. Knows no match."""

import datetime
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from ttt_net.clock import Clock
from ttt_net.errors import Code, Refusal
from ttt_net.games import Game, find_game
from ttt_net.games.game import Geometry
from ttt_net.games.notation import read_start, write_position
from ttt_net.games.puzzles import puzzle_of
from ttt_net.games.rules import draw_example, find_rules, play_example
from ttt_net.messages import (
    RETURNS,
    ClockInfo,
    CounterInfo,
    ExplanationInfo,
    GameInfo,
    GeometryInfo,
    NoteInfo,
    OwnMistake,
    OwnPuzzle,
    PieceInfo,
    Position,
    PuzzleReply,
    PuzzleRequest,
    RuleExample,
    RulesReply,
    TargetInfo,
)


@lru_cache(maxsize=64)
def describe_game(name: str) -> GameInfo:
    """Return the description of a game by name."""
    game = find_game(name)
    face = game.face
    return GameInfo(
        name=game.name,
        title=game.title,
        rule=game.rule,
        shape=list(game.shape),
        gravity=game.gravity,
        move_cells=list(game.move_cells),
        move_names=list(game.move_names),
        block=None if game.block is None else list(game.block),
        geometry=face.geometry and _describe_geometry(face.geometry),
        pieces=[PieceInfo(*piece) for piece in face.pieces] or None,
        endings=dict(face.endings) or None,
    )


def _describe_geometry(geometry: Geometry) -> GeometryInfo:
    return GeometryInfo(list(geometry.runs), geometry.cell, geometry.step, dict(geometry.edges))


@lru_cache(maxsize=64)
def describe_rules(name: str) -> RulesReply:
    """Return the page of rules of a game by name. Raises `Refusal` if the game does not exist."""
    page, (game, state) = find_rules(name), play_example(name)
    example, moves = None, page.example.split()
    if moves:
        position = describe_position(game, len(moves), state, is_over=game.is_terminal(state))
        example = RuleExample(moves, list(draw_example(name)), page.caption, describe_game(game.name), position)
    return RulesReply(game.name, game.title, game.rule, page.goal, page.special, list(page.tips), example)


MARKS = ("X", "O")
"""The mark of each side in games that only add marks."""


def describe_position(game: Game[Any], ply: int, state: Any, *, is_over: bool) -> Position:  # noqa: ANN401 - of any game
    """Return the position after `ply` moves; after the end of the match, no side is to move."""
    line, annotations = game.line(state), game.annotations(state)
    vanishing, target, takeover = (None, None, None) if is_over else game.special(state)
    return Position(
        ply=ply,
        board=game.board(state),
        to_move=None if is_over else game.to_move(state),
        legal=[] if is_over else list(game.actions(state)),
        line=list(line),
        marks=game.marks(state),
        blocks=game.blocks(state),
        line_by=game.line_side(state) if line else None,
        vanishing=vanishing,
        target=target and TargetInfo(target.block + 1, target.name),
        takeover=takeover,
        notes=None
        if annotations is None
        else [NoteInfo(note.kind, list(note.cells), note.text) for note in annotations.notes] or None,
        counters=None if annotations is None else [CounterInfo(*counter) for counter in annotations.counters] or None,
    )


def describe_marks(game: Game[Any], ply: int, state: Any, board: str) -> Position:  # noqa: ANN401 - of any game
    """Return the same as `describe_position` for an unfinished game that only adds marks, given its board."""
    return Position(
        ply=ply, board=board, to_move=game.to_move(state), legal=list(game.actions(state)), line=[], marks=MARKS
    )


def describe_clock(clock: Clock | None, now_ms: int) -> ClockInfo | None:
    """Return the time left to both sides, and whose runs; None without a clock."""
    return None if clock is None else ClockInfo(clock.read(now_ms), clock.running)


def day_of(at_ms: int) -> datetime.date:
    """Return the day by UTC at a time in milliseconds since 1970."""
    return datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC).date()


def describe_puzzle(request: PuzzleRequest, now: datetime.date) -> PuzzleReply:
    """Return the requested puzzle, with the verdict on the move, if any.

    Raises `Refusal` if the day is invalid or in the future, or if the move is not legal there.
    """
    day = _puzzle_day(request.day, now)
    if request.own is not None:
        return _describe_own(request, request.own, day)
    puzzle = puzzle_of(day)
    game = find_game(puzzle.game)
    state = read_start(game, puzzle.position)
    position = describe_position(game, 0, state, is_over=False)
    is_right = None if request.move is None else request.move == puzzle.solution
    if request.move is not None and request.move not in position.legal:
        game.result(state, request.move)  # raises the refusal that names the reason
    is_told = is_right or request.reveal
    played = (puzzle.solution, *puzzle.line)[: request.ply or 0]
    for made in played:
        state = game.result(state, made)
    if played:
        position = describe_position(game, len(played), state, is_over=game.is_terminal(state))
        is_told = True
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
        ply=len(played),
        last=played[-1] if played else None,
    )


def describe_coming_puzzles(today: datetime.date, days: int) -> dict[str, Any]:
    """Return the puzzles of the given number of days from today with their solutions, and the games that they name.

    The page keeps them for days without a connection. Games are described once, since most puzzles share one.
    """
    coming = [today + datetime.timedelta(days=number) for number in range(days)]
    puzzles = [describe_puzzle(PuzzleRequest(0, day.isoformat(), reveal=True), day) for day in coming]
    games = {puzzle.game.name: puzzle.game for puzzle in puzzles}
    told = [msgspec.to_builtins(puzzle) | {"game": puzzle.game.name} for puzzle in puzzles]
    return {"games": msgspec.to_builtins(games), "puzzles": told}


def checked_mistake(mistake: OwnMistake, now: datetime.date) -> OwnMistake:
    """Return a mistake of a player's own as it is stored: returning within `RETURNS[-1]` days.

    Raises `Refusal` if its position cannot be reached, if no better move is legal there, or if `due` is no day.
    """
    game, state = _reached(mistake.puzzle)
    if not set(mistake.puzzle.better) & set(game.actions(state)):
        raise Refusal(Code.ILLEGAL_MOVE, "none of the better moves is legal there")
    try:
        due = datetime.date.fromisoformat(mistake.due) if mistake.due else None
    except ValueError:
        raise Refusal(Code.BAD_MESSAGE, f"{mistake.due!r} is no day; write it as {now.isoformat()}") from None
    latest = now + datetime.timedelta(days=RETURNS[-1])
    puzzle = replace(mistake.puzzle, game=game.name)
    return replace(mistake, puzzle=puzzle, due="" if due is None else min(due, latest).isoformat())


def _reached(own: OwnPuzzle) -> tuple[Game[Any], Any]:
    """Return the game and the position of a player's mistake. Raises `Refusal` if it cannot be reached."""
    game = find_game(own.game)
    state = game.initial if own.start is None else read_start(game, own.start)
    for move in own.moves:
        state = game.result(state, move)
    if game.is_terminal(state):
        raise Refusal(Code.MATCH_OVER, "the game is over there; there is no move to find")
    return game, state


def _describe_own(request: PuzzleRequest, own: OwnPuzzle, day: datetime.date) -> PuzzleReply:
    """Return a mistake of a player's own as a puzzle. Raises `Refusal` if its position cannot be reached."""
    game, state = _reached(own)
    position = describe_position(game, len(own.moves), state, is_over=False)
    if request.move is not None and request.move not in position.legal:
        game.result(state, request.move)  # raises the refusal that names the reason
    is_right = None if request.move is None else request.move in own.better
    revealed = next((move for move in own.better if move in position.legal), None) if request.reveal else None
    solution = request.move if is_right else revealed
    return PuzzleReply(
        day=day.isoformat(),
        game=describe_game(game.name),
        position=position,
        start=write_position(game, state),
        kind="own",
        plies=0,
        grade=0,
        move=request.move,
        right=is_right,
        solution=solution,
        text="" if is_right is not False else "That is not it. Try another move.",
        own=own,
    )


def _not_it(is_win: bool) -> str:
    return "That does not win. Try another move." if is_win else "After that they can win. Try another move."


def _puzzle_day(text: str | None, now: datetime.date) -> datetime.date:
    if text is None:
        return now
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        raise Refusal(Code.NO_PUZZLE, f"{text[:20]!r} is no day; write it as {now.isoformat()}") from None
    if day > now:
        raise Refusal(Code.NO_PUZZLE, f"the puzzle of {day.isoformat()} has not come yet; today is {now.isoformat()}")
    return day
