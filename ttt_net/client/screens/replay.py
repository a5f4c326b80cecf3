"""Step through a finished match, with what an engine says of each move if it has been asked."""

from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.commands import AnyCommand, Command, Step
from ttt_net.client.display import Display
from ttt_net.client.screens import match as match_screen
from ttt_net.client.screens.screen import (
    BACK,
    LEAVE,
    LEAVING_HELP,
    RULES,
    Effect,
    Hint,
    KeyMeaning,
    Screen,
)
from ttt_net.messages import AnalysedMove, AnalysisReply, ReplayRequest, Request, Snapshot
from ttt_net.text import clean

_ALL = 100_000

_STEPS: dict[AnyCommand, int] = {
    **{Command.RIGHT: 1, Command.DOWN: 1, Command.PLACE: 1, Command.LEFT: -1, Command.UP: -1},
    **{Command.FIRST: -_ALL, Command.LAST: _ALL},
}

WORDS: dict[str, AnyCommand] = {
    **{"next": Command.RIGHT, "back": Command.LEFT, "first": Command.FIRST, "last": Command.LAST},
    "stop": Command.BACK,
}
"""What is typed in a replay where there are only lines."""

_PAGE = 32
"""Positions that the server tells at a time."""


def stepped(display: Display, by: int) -> tuple[Display, tuple[Request, ...]]:
    """Go so many moves forward (or back), at most to the end, and ask for the positions there if they are missing."""
    replayed, page = display.replay, display.page
    if replayed is None:
        return display, ()
    ply = max(0, min(page.ply + by, len(replayed.positions) - 1))
    display = display.with_page(replace(page, ply=ply))
    if replayed.positions[ply] is not None:
        return display, ()
    return display, (ReplayRequest(0, match=page.about, ply=ply // _PAGE * _PAGE),)


def is_position_missing(display: Display) -> bool:
    """Tell whether a replay is at a position that the server has not told yet."""
    replayed, page = display.replay, display.page
    return page.screen == "replay" and replayed is not None and replayed.positions[page.ply] is None


def seen_at(display: Display) -> Display:
    """Return the display with the match as it stood at the move of the replay; a missing position is the final one."""
    replayed = display.replay
    if replayed is None:
        return display
    ply, match = display.page.ply, replayed.match
    moves = match.moves[:ply]
    position = replayed.positions[ply] or match.position
    match = structs.replace(match, moves=moves, last=moves[-1] if moves else None, position=position, clock=None)
    return replace(
        display,
        shown=match.match,
        pending=None,
        cursor=-1,
        world=replace(display.world, matches=MappingProxyType({match.match: match})),
    )


def _act(display: Display, command: AnyCommand) -> Effect | None:
    if command in _STEPS:
        return stepped(display, _STEPS[command])
    return stepped(display, command.rows) if isinstance(command, Step) else None


def _prompt(display: Display, now_ms: int) -> str:
    match = display.match
    if match is not None and not display.notice:
        return verdict(display, match)
    return match_screen.prompt(display, now_ms)


def _status(display: Display) -> str:
    return step(display, display.match) if display.match is not None else ""


def step(display: Display, match: Snapshot) -> str:
    """Return where a replay is: which move, and how it ended if it is the last."""
    replayed = display.replay
    last = len(replayed.positions) - 1 if replayed is not None else 0
    ply = len(match.moves)
    name = f": {words.move_name(match, match.moves[-1])}" if match.moves else ""
    end = f"  {words.result(match)}" if ply == last else ""
    return f"Move {ply} of {last}{name}.{end}"


def verdict(display: Display, match: Snapshot) -> str:
    """Return what an engine says of the move that a replay is at; nothing as long as it has said nothing."""
    analysis, ply = display.world.reply(AnalysisReply), len(match.moves)
    if analysis is None or analysis.match != match.match or not match.moves:
        return ""
    moves = {each.ply: each for each in analysis.moves}
    if (move := moves.get(ply)) is None:
        return ""
    mover, other = words.mark_of(match, move.side % 2), words.mark_of(match, 1 - move.side % 2)
    result = {1: f"{mover} wins", 0: "a draw", -1: f"{other} wins"}.get(move.value, "")
    if move.score is not None:
        result = f"about {move.score:+.1f} for {mover}"
    turn = f" {turning_point(move, moves.get(ply - 1))}" if move.turning and move.best else ""
    return f"With best play from here: {result}.{turn}"


def turning_point(move: AnalysedMove, before: AnalysedMove | None) -> str:
    """Return what a move gave away, by what the one before it had left, and which moves did not."""
    best = " or ".join(clean(name, 12) for name in move.best[:4])
    if move.value == 0:
        return f"A missed win; {best} won."
    if before is None or before.score is not None:
        return f"A blunder; {best} was better."
    had = before.value if before.side == move.side else -before.value
    return f"A blunder; {best} {'won' if had > 0 else 'held the draw'}."


_KEYS: dict[str, KeyMeaning] = {"h": Command.LEFT, "l": Command.RIGHT, "home": Command.FIRST, "end": Command.LAST}

SCREEN = Screen(
    name="replay",
    title=match_screen.SCREEN.title,
    subtitle=match_screen.SCREEN.subtitle,
    status=_status,
    prompt=_prompt,
    requests=lambda page: (ReplayRequest(0, match=page.about),),
    seen=seen_at,
    match=lambda display: display.match,
    keys=_KEYS,
    act=_act,
    hints=lambda display: [
        *(Hint("left", "", "left"), Hint("right", "", "right"), BACK),
        *(Hint("Home", "", "home"), Hint("End", "", "end")),
        *(LEAVE, RULES),
    ],
    help=lambda display: [
        "left right   one move back, one on",
        "PgUp PgDn    ten moves",
        "Home End     the beginning, the end",
        *LEAVING_HELP,
    ],
)
