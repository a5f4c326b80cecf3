"""Guess the moves of one side of a finished match, each before it is shown, and count how good the guesses are."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from types import MappingProxyType

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import (
    AnyCommand,
    Change,
    Choose,
    Command,
    Display,
    Guessing,
    Overlay,
    Page,
    Quick,
    ReplayState,
    Type,
    first_cursor,
)
from ttt_net.client.screens import replay_screen
from ttt_net.client.screens.board_play import act_in_match, pressed, quick_moves, rule, title
from ttt_net.client.screens.replay_screen import GUESSING, STEPS, stepped
from ttt_net.client.screens.screen import (
    BACK,
    BOARD_HELP,
    LEAVE,
    LEAVING_HELP,
    RULES,
    Effect,
    KeyHelp,
    KeyHint,
    Meaning,
    Screen,
    default_prompt,
)
from ttt_net.messages import (
    AnalysedMove,
    AnalysisReply,
    PlayRequest,
    ReplayRequest,
    SeekRequest,
    StudyReply,
    StudyRequest,
)
from ttt_net.text import clean, counted


class Guess(Enum):
    """The worth of a guess."""

    SAME = "the same move"
    KEPT = "kept the result"
    GIVEN_AWAY = "gave it away"
    UNKNOWN = "not judged"
    SHOWN = "shown"


def judge(move: int, guessed: int | None, names: Sequence[str], judged: AnalysedMove | None) -> Guess:
    """Return the worth of a guess, by what an engine knows of the position; None: the move was shown.

    `names` has the names of all moves of the game, `move` is the one that was played.
    """
    if guessed is None:
        return Guess.SHOWN
    if names[guessed] == names[move]:
        return Guess.SAME
    if judged is None or (not judged.keeping and judged.score is not None):
        return Guess.UNKNOWN
    return Guess.KEPT if not judged.keeping or names[guessed] in judged.keeping else Guess.GIVEN_AWAY


def total(guesses: Sequence[Guess], player: str) -> str:
    """Return how many guesses were the same as the moves of a player, kept the result, or gave it away."""
    counts = {guess: guesses.count(guess) for guess in Guess}
    said = [f"You found {counts[Guess.SAME]} of {counted(len(guesses), 'move')} of {player}"]
    rest = {
        Guess.KEPT: "as good" if counts[Guess.KEPT] == 1 else "as good as theirs",
        Guess.GIVEN_AWAY: "worse",
        Guess.UNKNOWN: "not judged",
        Guess.SHOWN: "shown",
    }
    return ", ".join(said + [f"{counts[guess]} {text}" for guess, text in rest.items() if counts[guess]]) + "."


def told(guess: Guess, guessed: str, played: str, player: str, judged: AnalysedMove | None) -> str:
    """Return the worth of a guess as a sentence, by what an engine knows of the move that was played."""
    value = judged.value if judged is not None else 0
    is_turning = judged is not None and judged.turning
    cost = ("gave the win away" if value == 0 else "lost the game") if is_turning else ""
    theirs = f"{player} played {played}{f', which {cost}' if cost else ''}."
    match guess:
        case Guess.SAME:
            return f"Yes, {played}{f', although it {cost}' if cost else ''}."
        case Guess.KEPT:
            return f"{guessed} is {'better' if cost else 'as good'}. {theirs}"
        case Guess.GIVEN_AWAY if is_turning:
            return f"{guessed} is no better. {theirs}"
        case Guess.GIVEN_AWAY:
            return f"{guessed} {'gives the win away' if value == 1 else 'loses'}. {theirs}"
        case _:
            return theirs


def studied(display: Display, reply: StudyReply) -> Display:
    """Return the display with a match of strong bots on the page that has asked for it."""
    at = next((n for n, page in enumerate(display.pages) if page.screen == "guess"), None)
    if at is None or len(reply.positions) != len(reply.snapshot.moves) + 1:
        return display
    first = next((ply for ply, each in enumerate(reply.positions) if each.to_move == reply.side), 0)
    page = Page("guess", about=reply.snapshot.match, ply=first)
    positions, nothing = tuple(reply.positions), (None,) * len(reply.positions)
    analysis = AnalysisReply(reply.snapshot.match, reply.moves, exact=True)
    return replace(
        display,
        pages=(*display.pages[:at], page, *display.pages[at + 1 :]),
        replay=ReplayState(reply.snapshot, positions, nothing),
        guessing=Guessing(reply.side),
        cursor=first_cursor(reply.snapshot),
        world=display.world.with_reply(analysis),
        typed="",
    )


def _judged_moves(display: Display) -> dict[int, AnalysedMove]:
    """Return the moves of the replayed match that an engine has judged, by ply from 1."""
    analysis, state = display.world.reply(AnalysisReply), display.replay
    if analysis is None or state is None or analysis.match != state.match.match:
        return {}
    return {each.ply: each for each in analysis.moves}


def _is_ready(display: Display) -> bool:
    state = display.replay
    return state is not None and state.match.match == display.page.about and display.guessing is not None


def is_asked(display: Display) -> bool:
    """Tell whether the next move is to be guessed."""
    state, guessing, ply = display.replay, display.guessing, display.page.ply
    if state is None or guessing is None or not _is_ready(display) or ply >= len(state.match.moves):
        return False
    position = state.positions[ply]
    is_theirs = position is not None and bool(position.legal) and position.to_move == guessing.side
    return is_theirs and ply not in guessing.guesses


def seen_at(display: Display) -> Display:
    """Return the display with the match at the shown ply, as one in which it is our turn if we are to guess.

    Before the last move it has no outcome: the score beside the board would tell who wins.
    """
    if not _is_ready(display):
        return replace(display, shown=None)
    seen = replay_screen.seen_at(display)
    match, guessing, state = seen.match, display.guessing, display.replay
    if match is None or guessing is None or state is None or display.page.ply >= len(state.match.moves):
        return seen
    asked = is_asked(display)
    match = structs.replace(match, outcome=None, you=guessing.side if asked else match.you)
    cells = len(match.position.board)
    world = replace(seen.world, matches=MappingProxyType({match.match: match}))
    if not asked:
        return replace(seen, world=world)
    return replace(seen, world=world, cursor=display.cursor if 0 <= display.cursor < cells else 0)


def _guessed(display: Display, guess: int | None) -> Effect:
    """Keep a guess, and show the move that was played."""
    guessing = display.guessing
    if guessing is None:
        return display, ()
    guesses = MappingProxyType({**guessing.guesses, display.page.ply: guess})
    display = replace(display, guessing=replace(guessing, guesses=guesses), typed="", overlay=Overlay.NONE)
    return _stepped(display, 1)


def _stepped(display: Display, by: int) -> Effect:
    after, requests = stepped(display, by)
    asked = tuple(structs.replace(each, legal=True) for each in requests if isinstance(each, ReplayRequest))
    return replace(after, notice=""), asked


def _act(display: Display, command: AnyCommand) -> Effect | None:
    """Guess a move, or step on once it is shown."""
    if command in (Command.BACK, Command.LEAVE) or not _is_ready(display):
        return None
    if not is_asked(display):
        return _stepped(display, STEPS[command]) if command in STEPS else (display, ())
    after, requests = act_in_match(seen_at(display), command, SeekRequest(0))
    guess = next((each.move for each in requests if isinstance(each, PlayRequest)), None)
    if guess is not None:
        return _guessed(display, guess)
    changed = replace(display, cursor=after.cursor, typed=after.typed, notice=after.notice)
    return replace(changed, overlay=after.overlay, choices=after.choices), ()


def _next(display: Display) -> Effect:
    """Ask for the next match of strong bots."""
    study = display.world.reply(StudyReply)
    return replace(display, notice=""), (StudyRequest(0, None if study is None else study.number + 1),)


def _show(display: Display) -> Effect:
    return _guessed(display, None) if is_asked(display) else (display, ())


_SHOW, _NEXT = Change(_show), Change(_next)
_MOVES: dict[str, AnyCommand] = {
    **{"up": Command.UP, "down": Command.DOWN, "left": Command.LEFT, "right": Command.RIGHT},
    **{"k": Command.UP, "j": Command.DOWN, "h": Command.LEFT, "l": Command.RIGHT},
    **{"home": Command.FIRST, "end": Command.LAST, "q": Command.LEAVE, "s": _SHOW, "n": _NEXT},
}


def _command(key: str, display: Display) -> AnyCommand | None:
    seen = seen_at(display)
    if display.overlay is Overlay.CHOICE and key in "123456789":
        return Choose(int(key) - 1)
    if display.typed and len(key) == 1:
        return Type(key) if key.isprintable() else None
    if seen.match is None or not is_asked(display) or len(key) > 1:
        return _MOVES.get(key)
    if key.isdecimal() and key.isascii() and quick_moves(seen.match):
        return Quick(int(key))
    names = {name[:1].lower() for name in seen.match.game.move_names}
    if key.lower() in _MOVES and (key.isupper() or key not in names):
        return _MOVES[key.lower()]
    return Type(key) if key.lower() in names else None


def question(display: Display) -> str:
    """Return whose move is to be guessed, or where in the match we are."""
    state, guessing = display.replay, display.guessing
    seen = seen_at(display)
    if state is None or guessing is None or seen.match is None:
        return "One moment ..."
    if not is_asked(display):
        return replay_screen.step(seen, seen.match)
    player = words.name_of(state.match.players[guessing.side])
    return f"Move {display.page.ply + 1} of {len(state.match.moves)}: what did {player} play?"


def verdict(display: Display) -> str:
    """Return the worth of the last guess, and after the last move the total."""
    state, guessing, ply = display.replay, display.guessing, display.page.ply
    if state is None or guessing is None or not _is_ready(display):
        return ""
    names, judged, player = state.match.game.move_names, _judged_moves(display), words.name_of(
        state.match.players[guessing.side]
    )  # fmt: skip
    found = {
        at: judge(state.match.moves[at], guess, names, judged.get(at + 1)) for at, guess in guessing.guesses.items()
    }
    said = []
    if ply - 1 in found and not is_asked(display):
        guess, move = guessing.guesses[ply - 1], state.match.moves[ply - 1]
        shown = clean(names[guess], 12) if guess is not None else ""
        said.append(told(found[ply - 1], shown, words.move_name(state.match, move), player, judged.get(ply)))
    if ply == len(state.match.moves) and found:
        said.append(total(list(found.values()), player))
    return " ".join(said)


def _prompt(display: Display, now_ms: int) -> str:
    return verdict(display) or default_prompt(display, now_ms)


def _hints(display: Display) -> list[KeyHint]:
    seen = seen_at(display)
    if seen.match is None:
        return [BACK, LEAVE, RULES]
    is_study = display.world.reply(StudyReply) is not None
    more = [KeyHint(pressed("n", seen), "another match", "N")] if is_study else []
    if not is_asked(display):
        return [KeyHint("left", "previous", "left"), KeyHint("right", "next", "right"), *more, BACK, LEAVE, RULES]
    quick = quick_moves(seen.match)
    found = [KeyHint("arrows Enter", ""), *([KeyHint(f"1-{max(quick)}", "")] if quick else [])]
    return [*found, KeyHint(pressed("s", seen), "show the move", "S"), *more, BACK, LEAVE, RULES]


def guess_words(display: Display) -> dict[str, AnyCommand]:
    """Return the words for lines mode, besides moves."""
    more = {"another": _NEXT} if display.world.reply(StudyReply) is not None else {}
    steps: dict[str, AnyCommand] = {"next": Command.RIGHT, "back": Command.LEFT}
    return {**({"show": _SHOW} if is_asked(display) else steps), **more, "stop": Command.BACK}


def _opened(display: Display) -> Effect:
    return replace(display, pages=(*display.pages, Page("guess"))), (StudyRequest(0),)


def _ask(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    return Change(_opened) if GUESSING in display.world.features else "This server has no matches for guessing moves."


GUESS = Screen(
    name="guess",
    title=lambda display: f"Guess the moves: {title(display)}" if display.match is not None else "Guess the moves",
    subtitle=rule,
    status=question,
    prompt=_prompt,
    requests=lambda page: () if page.about else (StudyRequest(0),),
    replies=(StudyReply,),
    seen=seen_at,
    match=lambda display: display.match,
    command=_command,
    act=_act,
    hints=_hints,
    help=lambda display: [
        BOARD_HELP,
        KeyHelp("Enter, click", "Guess this move."),
        KeyHelp("s", "Show the move."),
        KeyHelp("left right", "Once it is shown, go back or on."),
        KeyHelp("n", "Take another match of strong bots."),
        *LEAVING_HELP,
    ],
    words={"study": _ask},
    usage="study",
)
