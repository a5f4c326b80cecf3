"""Tell once what no display keeps: an event, and that something was stopped or stays as it is."""

from ttt_net.client import labels, words
from ttt_net.client.commands import AnyCommand, Command, Step
from ttt_net.client.controller import Controller
from ttt_net.client.display import Display
from ttt_net.client.events import WorldEvent
from ttt_net.client.lines.line_renderer import LineRenderer, retold
from ttt_net.client.screens.coaching import as_told, hint_told
from ttt_net.client.screens.puzzle import heading, outcome, question
from ttt_net.client.screens.puzzle import seen_at as puzzle_seen
from ttt_net.client.screens.replay import ACTIONS, is_position_missing, seen_at
from ttt_net.client.screens.rules import told as told_rules
from ttt_net.messages import HintReply, Notice, Played, PuzzleReply, RulesReply, ServerMessage
from ttt_net.text import clean


def news_of(event: WorldEvent, controller: Controller, renderer: LineRenderer) -> list[str]:
    """Return what to say of the event, which the controller has heard already."""
    match = controller.display.match
    match event:
        case Played() if match is not None and match.match == event.match:
            is_ours = event.side == match.you and not controller.display.world.is_shared
            who = "You" if is_ours else renderer.name_of(match.players[event.side])
            return [f"{who} played {labels.move_name(match, event.move)}."]
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
        return "You look on no more."
    has_stopped = before.world.seeking is not None and after.world.seeking is None
    return "You look for nobody any more." if has_stopped and after.match is not None else ""


def stayed(before: Display, after: Display, command: AnyCommand) -> str:
    """Return where a replay is that a step did not move, so that a line at its end has an answer, too."""
    is_step = isinstance(command, Step) or command in (Command.LEFT, Command.RIGHT, Command.FIRST, Command.LAST)
    if not is_step or before.page != after.page or after.page.screen != "replay" or is_position_missing(after):
        return ""
    seen = seen_at(after)
    return retold(seen, seen.match) if seen.match is not None else ""
