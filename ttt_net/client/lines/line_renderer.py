"""Print a display line by line, with boards, for pipes and plain terminals, and the news that no display keeps.

`screen_reader` prints the same for the ear.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ttt_net.client import words
from ttt_net.client.client_controller import Controller
from ttt_net.client.display import AnyCommand, Command, Display, Overlay, Step
from ttt_net.client.drawing.board import FORMS, draw_board
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens.board_play import example_move, quick_moves
from ttt_net.client.screens.coaching import as_told, hint_told, lesson_here, verdict
from ttt_net.client.screens.offers import challenges
from ttt_net.client.screens.puzzle import heading, outcome, question
from ttt_net.client.screens.puzzle import seen_at as puzzle_seen
from ttt_net.client.screens.replay import ACTIONS, LINES_HELP, is_position_missing, seen_at, step
from ttt_net.client.screens.rules import told as told_rules
from ttt_net.client.world import LinkState, World
from ttt_net.messages import (
    Challenged,
    HintReply,
    Notice,
    Played,
    PlayerInfo,
    PuzzleReply,
    RulesReply,
    ServerMessage,
    Snapshot,
)
from ttt_net.text import clean

TAKEOVER = "type swap"
"""How the first move is taken over."""
_ANSWER, _CLAIM = "type accept or decline", "type claim"
QUESTION = "This ends the match. Type quit again to leave, anything else to stay."
_QUESTION_OF_DRAW = "This ends the match as a draw for both. Type draw again to do so, anything else to play on."
LET_WAIT = "wait"
SERVE_ON = "serve"
_QUESTION_HOSTING = f"Type quit again to end it, {SERVE_ON} to leave while it goes on, anything else to stay."
_NEXT = "Type rematch, new or quit; help tells what else."
_SEEN = "Type replay to step through it, or stop; help tells what else."
_IN_REPLAY = "Type next, back, the number of a move, first, last, again (to play on from here) or stop."
_WIDTH, _HEIGHT = 80, 60
_FORMS = tuple(form for form in FORMS if form.columns <= 3)


class LineRenderer(Protocol):
    """A way to tell a display in lines of text."""

    help: str
    """The words for a match on a server."""
    help_at_home: str
    """The words for a match without a server."""
    has_drawings: bool
    """Whether boards are drawn."""

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name of a player who moves."""

    def parts(self, display: Display) -> dict[str, str]:
        """Return all that can be said of a display, part by part, in the order in which it is said."""

    def answer(self, question: str, display: Display, now_ms: int) -> str | None:
        """Return the answer to what was typed, if that is a question that this way of telling knows."""


class BoardRenderer:
    """Tells with a board after every move."""

    help = (
        "Type a move (5, b2), or: board, info, draw, takeback, resign, claim, adjourn, accept, "
        f"decline, say WORDS, mute, report, rules, quit, help. {LINES_HELP}"
    )
    help_at_home = f"Type a move (5, b2), or: board, info, draw, takeback, resign, rules, quit, help. {LINES_HELP}"
    has_drawings = True

    def __init__(self, glyphs: Glyphs, columns: Callable[[], int | None] = lambda: None) -> None:
        """`columns` returns how wide lines may be at the moment; None: as wide as they usually are."""
        self._glyphs = glyphs
        self._columns = columns

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name with its bot mark."""
        return words.label_of(player)

    def parts(self, display: Display) -> dict[str, str]:
        """Return what can be said, the board among it."""
        match = display.match
        seen = {"players": words.pairing(match), "board": self._board(display)} if match is not None else {}
        return parts_of(display, seen, status(display), _first(match) if match is not None else "", _NEXT)

    def answer(self, question: str, display: Display, now_ms: int) -> str | None:
        """Return the board once more, or what else there is to know."""
        if question == "info":
            return info(display)
        return self._board(display) if question == "board" else None

    def _board(self, display: Display) -> str:
        if display.match is None:
            return "There is no match yet."
        width = self._columns() or _WIDTH
        lines = draw_board(replace(display, cursor=-1, pending=None), width, _HEIGHT, self._glyphs, _FORMS)
        return "\n".join(line.plain.rstrip() for line in lines) if lines else "The board is too large to print."


def _first(match: Snapshot) -> str:
    """Return how the first move is typed, by an example: by its digit, too, where that means one move alone."""
    name = example_move(match)
    meant = {match.game.move_names[moves[0]]: digit for digit, moves in quick_moves(match).items() if len(moves) == 1}
    digit = meant.get(name, name)
    example = name if name == str(digit) else f"{digit} or {name}"
    return f"Type a move, such as {example}; help tells what else."


def parts_of(display: Display, seen: dict[str, str], status: str, first: str, over: str) -> dict[str, str]:
    """Return the sentences of a display by part, in order, with those that are `seen` of its match and its `status`.

    `first` says what can be typed in a match of ours, `over` after it.
    """
    match = display.match
    parts = {"link": link(display), "notice": words.notice(display), **lobby_parts(display), **seen}
    if display.page.screen == "replay" and match is not None:
        return {**parts, "status": retold(display, match), "next": _IN_REPLAY}
    if match is not None:
        parts["offers"] = words.offers(match, lambda kind: _ANSWER)
        parts["absence"] = words.absence(display.world, match, match.away.claim_in_ms if match.away else None, _CLAIM)
    if display.pending is None:
        parts["status"] = status
    if match is None:
        parts["next"] = meanwhile(display)
    else:
        parts["after"] = after(display, match)
        if match.you is not None:
            parts["next"] = first if match.outcome is None else over
        elif match.outcome is not None:
            parts["next"] = _SEEN
    if display.overlay is Overlay.HOSTING:
        parts["question"] = f"{words.guests_left(display.world)} {_QUESTION_HOSTING}"
    if display.overlay is Overlay.LEAVE:
        parts["question"] = _question_online(display.world, match) if display.has_lobby and match else QUESTION
    if display.overlay is Overlay.DRAW:
        parts["question"] = _QUESTION_OF_DRAW
    return parts


def _question_online(world: World, match: Snapshot) -> str:
    """Return the question of whether to end a match, where it can also be left without an end."""
    waits = words.does_wait(world, match)
    then = "the match waits until you are both back" if waits else words.claim_after_leaving(match)
    return f"This ends the match. Type quit again to leave, {LET_WAIT} only to leave ({then}), anything else to stay."


def lobby_parts(display: Display) -> dict[str, str]:
    """Return what of the others matters at any time: challenges, whom we look for, and which bots would play us."""
    ours = next(iter(challenges(display, is_ours=True)), None)
    parts = {"challenge": _challenge(display), "challenged": _challenged(ours)}
    elsewhere = words.elsewhere(display.elsewhere, "new")
    return {**parts, "elsewhere": elsewhere, "sought": _sought(display), "suggestion": _suggestion(display)}


def after(display: Display, match: Snapshot) -> str:
    """Return what the end of a match has changed: the score of its series, and the ratings."""
    if match.outcome is None:
        return ""
    is_shared = display.world.is_shared
    has_score = any(match.score) or (is_shared and match.outcome.reason != "abort")
    said = [words.series(match, is_shared=is_shared or match.you is None)] if has_score else []
    ratings = ", ".join(words.new_ratings(display, match))
    return ". ".join([*said, *[f"Ratings: {ratings}"] * bool(ratings)]) + "." * bool(said or ratings)


def info(display: Display) -> str:
    """Return what else is known of the match, and the moves that were made."""
    match = display.match
    if match is None:
        return "There is no match yet."
    moves = ", ".join(f"{number}. {words.move_name(match, move)}" for number, move in enumerate(match.moves, start=1))
    return (
        ". ".join([*words.facts(display, match), f"Moves so far: {moves}" if moves else "No move was made yet"]) + "."
    )


def link(display: Display) -> str:
    """Return the state of the link in a sentence; the same however often it is tried."""
    if display.world.link is LinkState.LOST:
        return f"The link is lost; {'your match is safe' if display.is_live else 'please wait'}."
    if display.world.link is LinkState.CONNECTING:
        return (
            f"No answer from {display.world.address} yet."
            if display.world.attempt
            else f"Connecting to {display.world.address}."
        )
    return ""


def status(display: Display) -> str:
    """Return the state of the match, or of the lobby, in one sentence."""
    if display.match is not None:
        return words.result(display.match, is_shared=display.world.is_shared) or words.status(display, TAKEOVER)
    if display.world.seeking is not None or display.world.link is not LinkState.ONLINE or display.is_arriving:
        return ""
    if display.world.lobby.invitation is not None:
        return "You wait for the friend who has your code."
    return "You are in the lobby." if display.has_lobby else "Connected."


def retold(display: Display, match: Snapshot) -> str:
    """Return where a replay is, and what an engine says of the move there."""
    said = lesson_here(display, match) or verdict(display, match)
    return " ".join([*step(display, match).split("  "), said]).rstrip()


def _challenge(display: Display) -> str:
    waiting = display.world.challenge
    return f"Type accept to play {words.label_of(waiting.by)}, or decline." if waiting is not None else ""


def _challenged(ours: Challenged | None) -> str:
    if ours is None:
        return ""
    wanted = words.terms(ours.game, ours.time, is_rated=ours.rated)
    return f"You challenge {words.label_of(ours.to)}: {wanted}. Type stop to take it back."


def _suggestion(display: Display) -> str:
    suggestion = display.world.lobby.suggestion
    if display.world.seeking is None or suggestion is None or not suggestion.bots:
        return ""
    bot = suggestion.bots[0]
    name = words.full_label(PlayerInfo(bot.name, bot.bot, bot.level))
    others = len(suggestion.bots) - 1
    if not others:
        return f"Nobody else waits yet. {name} would play you: type bot, or wait on."
    more = f"{others} more bot{'s' * (others > 1)}"
    return f"Nobody else waits yet. {name} and {more} would play you: type bot, bots to choose one, or wait on."


def _sought(display: Display) -> str:
    if display.world.seeking is None or display.is_live or display.world.link is not LinkState.ONLINE:
        return ""
    return f"{words.sought(display.world.seeking).removesuffix(' ...')}."


def meanwhile(display: Display) -> str:
    """Return what can be done in the lobby, while one waits or does not."""
    if not display.has_lobby or display.world.link is not LinkState.ONLINE or display.is_arriving:
        return ""
    if display.world.seeking is not None:
        return "Meanwhile type who, games, bot, invite, matches or stop; help tells more."
    return "Type play to find an opponent, bot to play one, or who to hear who is here; help tells more."


def news_of(event: WorldEvent, controller: Controller, renderer: LineRenderer) -> list[str]:
    """Return what to say of the event, which the controller has heard already."""
    match = controller.display.match
    match event:
        case Played() if match is not None and match.match == event.match:
            is_ours = event.side == match.you and not controller.display.world.is_shared
            who = "You" if is_ours else renderer.name_of(match.players[event.side])
            return [f"{who} played {words.move_name(match, event.move)}."]
        case RulesReply():
            return [told_rules(event, has_drawing=renderer.has_drawings)]
        case PuzzleReply():
            return puzzle_told(event, controller.display, renderer)
        case HintReply() if match is not None:
            return [hint] if (hint := hint_told(controller.display, match, "Type takeback to ask for it back.")) else []
        case Notice(restart_in_ms=int()) if not controller.display.notice:  # nothing counts down: as it was said
            return [clean(event.text, words.MAX_NOTICE_CELLS)]
        case ServerMessage() if match is not None:
            action = next((each for each in ACTIONS if isinstance(event, each.reply)), None)
            return action.news(as_told(controller.display, match), event) if action is not None else []
        case _:
            return []


def puzzle_told(puzzle: PuzzleReply, display: Display, renderer: LineRenderer) -> list[str]:
    """Return the puzzle of the day, or what came of an answer to it."""
    if said := outcome(puzzle, display.achieved):
        return [said]
    board = renderer.answer("board", puzzle_seen(display), 0) or ""
    return [f"{heading(puzzle)}.", board, question(puzzle), "Type solve and a move, or solve solution to be told."]


def stopped(before: Display, after: Display) -> str:
    """Return what has been stopped, where nothing else that is told says so."""
    if before.is_watched and after.match is None:
        return "You stopped watching."
    has_stopped = before.world.seeking is not None and after.world.seeking is None
    return "You stopped looking for an opponent." if has_stopped and after.match is not None else ""


def stayed(before: Display, after: Display, command: AnyCommand) -> str:
    """Return where a replay is that a step did not move, so that a line at its end has an answer, too."""
    is_step = isinstance(command, Step) or command in (Command.LEFT, Command.RIGHT, Command.FIRST, Command.LAST)
    if not is_step or before.page != after.page or after.page.screen != "replay" or is_position_missing(after):
        return ""
    seen = seen_at(after)
    return retold(seen, seen.match) if seen.match is not None else ""
