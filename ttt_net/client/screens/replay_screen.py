"""Step through a finished match with an engine's verdict on each move, and list the requests about such a match."""

from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import AnyCommand, Change, Command, Display, Guessing, Page, ReplayState, Step
from ttt_net.client.screens import advice
from ttt_net.client.screens.advice import TRY_AGAIN, lesson_here, lesson_of, missing_analysis, verdict
from ttt_net.client.screens.board_play import prompt, rule, title
from ttt_net.client.screens.screen import (
    BACK,
    LEAVE,
    LEAVING_HELP,
    RULES,
    Effect,
    KeyHelp,
    KeyHint,
    KeyMeaning,
    MatchAction,
    Screen,
)
from ttt_net.errors import Refusal
from ttt_net.messages import (
    MAX_POSITION_LENGTH,
    RecordReply,
    RecordRequest,
    ReplayReply,
    ReplayRequest,
    Request,
    ServerMessage,
    Side,
    Snapshot,
)
from ttt_net.sdk.received import check_position

REPLAYS = ("replay", "guess")
"""The screens that show a position of a finished match."""
_ALL = 100_000

STEPS: dict[AnyCommand, int] = {
    **{Command.RIGHT: 1, Command.DOWN: 1, Command.PLACE: 1, Command.LEFT: -1, Command.UP: -1},
    **{Command.FIRST: -_ALL, Command.LAST: _ALL},
}

_PAGE = 32
"""The number of positions in one reply of the server."""


def _replay(display: Display) -> Effect:
    """Open the shown finished match at its lesson, or else at its beginning."""
    match = display.match
    if match is None or match.outcome is None:
        return replace(display, notice="Only a match that is over can be stepped through."), ()
    positions = (*[None] * len(match.moves), match.position)
    lesson = lesson_of(display, match)
    ply = lesson.ply - 1 if lesson is not None and lesson.ply is not None else 0
    page = Page("replay", about=match.match, ply=ply)
    starts: tuple[str | None, ...] = (None,) * len(positions)
    display = replace(display, pages=(*display.pages, page), replay=ReplayState(match, positions, starts))
    return display, (ReplayRequest(0, match=match.match, ply=ply // _PAGE * _PAGE),)


def _with_positions(display: Display, event: ServerMessage) -> Display:
    """Store received positions; ignore those that do not fit the match of the replay."""
    state = display.replay
    if state is None or not isinstance(event, ReplayReply) or event.match != state.match.match:
        return display
    positions, starts = list(state.positions), list(state.starts)
    for ply, start in enumerate(event.starts[:_PAGE], start=event.ply):
        if 0 <= ply < len(starts):
            starts[ply] = start[:MAX_POSITION_LENGTH]
    for ply, position in enumerate(event.positions, start=event.ply):
        with suppress(Refusal):
            check_position(state.match.game, position)
            if 0 <= ply < len(positions):
                positions[ply] = position
    return replace(display, replay=replace(state, positions=tuple(positions), starts=tuple(starts)))


def stepped(display: Display, by: int) -> tuple[Display, tuple[Request, ...]]:
    """Step forward or back, at most to the end, and request missing positions there."""
    replayed, page = display.replay, display.page
    if replayed is None:
        return display, ()
    ply = max(0, min(page.ply + by, len(replayed.positions) - 1))
    display = display.with_page(replace(page, ply=ply))
    if replayed.positions[ply] is not None:
        return display, ()
    return display, (ReplayRequest(0, match=page.about, ply=ply // _PAGE * _PAGE),)


def is_position_missing(display: Display) -> bool:
    """Return whether the replay's position has not arrived yet."""
    replayed, page = display.replay, display.page
    return page.screen in REPLAYS and replayed is not None and replayed.positions[page.ply] is None


def seen_at(display: Display) -> Display:
    """Return the display with the match at the replay's move; a missing position shows the final one."""
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
    if command in STEPS:
        return stepped(display, STEPS[command])
    return stepped(display, command.rows) if isinstance(command, Step) else None


def _prompt(display: Display, now_ms: int) -> str:
    match = display.match
    if match is not None and not display.notice:
        return lesson_here(display, match) or verdict(display, match)
    return prompt(display, now_ms)


def _status(display: Display) -> str:
    return step(display, display.match) if display.match is not None else ""


def step(display: Display, match: Snapshot) -> str:
    """Return the position of a replay: the move, and after the last one the result."""
    replayed = display.replay
    last = len(replayed.positions) - 1 if replayed is not None else 0
    ply = len(match.moves)
    name = f": {words.move_name(match, match.moves[-1])}" if match.moves else ""
    end = f"  {words.result(match, is_shared=display.world.is_shared)}" if ply == last else ""
    return f"Move {ply} of {last}{name}.{end}"


GUESSING = "study"
"""The feature of servers that send legal moves in replays, and matches of strong bots."""


def _side_to_guess(match: Snapshot) -> Side:
    """Return the side that won a match; after a draw the one that is not ours, because we know our own moves."""
    outcome = match.outcome
    if outcome is not None and outcome.winner is not None:
        return 0 if outcome.winner == 0 else 1
    return 1 if match.you == 0 else 0


def _begin(display: Display) -> Effect:
    """Begin to guess the moves of the match of a replay."""
    state = display.replay
    if state is None or not state.match.moves:
        return replace(display, notice="There is no move to guess."), ()
    if GUESSING not in display.world.features:
        return replace(display, notice="This server does not let you guess moves."), ()
    match, page = state.match, Page("guess", about=state.match.match)
    state = replace(state, positions=(*[None] * len(match.moves), match.position))  # those so far lack legal moves
    display = replace(display, pages=(*display.pages[:-1], page), typed="", notice="")
    display = replace(display, replay=state, guessing=Guessing(_side_to_guess(match)))
    return display, (ReplayRequest(0, match=match.match, legal=True), *missing_analysis(display, match))


GUESS_MOVES = Change(_begin)
"""Guess the moves of the match in place of stepping through it."""
_KEYS: dict[str, KeyMeaning] = {
    **{"h": Command.LEFT, "l": Command.RIGHT, "home": Command.FIRST, "end": Command.LAST},
    "t": TRY_AGAIN,
    "g": GUESS_MOVES,
}

REPLAY = Screen(
    name="replay",
    title=title,
    subtitle=rule,
    status=_status,
    prompt=_prompt,
    requests=lambda page: (ReplayRequest(0, match=page.about),),
    seen=seen_at,
    match=lambda display: display.match,
    keys=_KEYS,
    act=_act,
    hints=lambda display: [
        *(KeyHint("left", "previous", "left"), KeyHint("right", "next", "right"), BACK),
        KeyHint("t", "play on", "t"),
        *([KeyHint("g", "guess moves", "g")] if GUESSING in display.world.features else []),
        *(KeyHint("Home", "first", "home"), KeyHint("End", "last", "end")),
        *(LEAVE, RULES),
    ],
    help=lambda display: [
        KeyHelp("left right", "Go one move back or forward."),
        KeyHelp("PgUp PgDn", "Go ten moves back or forward."),
        KeyHelp("Home End", "Go to the beginning or the end."),
        KeyHelp("t", "Play on from here against a bot."),
        KeyHelp("g", "Guess the moves of the winner."),
        *LEAVING_HELP,
    ],
)
STEP_THROUGH = MatchAction(
    word="replay",
    key="v",
    command=Change(_replay),
    request=ReplayRequest,
    reply=ReplayReply,
    heard=_with_positions,
)
"""Begin to step through the shown match."""


def _save(display: Display) -> Effect:
    """Request the record, which the loop saves in a file."""
    if display.match is None or display.match.outcome is None:
        return replace(display, notice="Only a match that is over can be saved."), ()
    return display, (RecordRequest(0, match=display.match.match),)


SAVE = MatchAction(word="save", key="w", command=Change(_save), request=RecordRequest, reply=RecordReply)
REPLAY_WORDS: dict[str, AnyCommand] = {
    **{"next": Command.RIGHT, "back": Command.LEFT, "first": Command.FIRST, "last": Command.LAST},
    **{"guess": GUESS_MOVES, "stop": Command.BACK},
}
"""The words of a replay in lines mode."""
ACTIONS: tuple[MatchAction, ...] = (STEP_THROUGH, advice.ANALYSE, SAVE)
"""The actions, in the order in which hints and help list them."""
WORDS: dict[str, AnyCommand] = {each.word: each.command for each in ACTIONS}
"""The words for lines mode."""
LINES_HELP = (
    f"Against a bot: hint, warnings. After the end: rematch, new, {', '.join(WORDS)}; in a replay: again, guess."
)
"""How the help for lines mode lists these words."""
