"""Print a display line by line: with boards for pipes and plain terminals, in sentences for screen readers.

It also prints news that no display keeps. Legal moves are the ones listed by the server; only the question `lines`
looks up the rules of the game.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Protocol

from ttt_net.client import words
from ttt_net.client.client_controller import Controller
from ttt_net.client.display import AnyCommand, Command, Display, Overlay, Step
from ttt_net.client.drawing.board import Fit, draw_board
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens.advice import as_told, hint_told, lesson_here, verdict
from ttt_net.client.screens.board_play import example_move, layers_of, quick_moves
from ttt_net.client.screens.guess_screen import guess_words, is_asked
from ttt_net.client.screens.guess_screen import question as question_of_guess
from ttt_net.client.screens.guess_screen import verdict as verdict_of_guess
from ttt_net.client.screens.offers import challenges
from ttt_net.client.screens.puzzle import heading, outcome, question
from ttt_net.client.screens.puzzle import seen_at as puzzle_seen
from ttt_net.client.screens.replay_screen import ACTIONS, LINES_HELP, is_position_missing, seen_at, step
from ttt_net.client.screens.rules_screen import told as told_rules
from ttt_net.client.screens.tournament_screen import told_in_lines
from ttt_net.client.world import LinkState, World
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.geometry import cell_name, cells_of
from ttt_net.games.line import LineGame
from ttt_net.games.notation import labels_of
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
    TournamentReply,
)
from ttt_net.text import clean

TAKEOVER = "type swap"
"""How to type the pie rule's takeover of the first move."""
_ANSWER, _CLAIM = "type accept or decline", "type claim"
QUESTION = "This ends the match. Type quit again to leave, anything else to stay."
_QUESTION_OF_DRAW = "This ends the match as a draw for both. Type draw again to do so, anything else to play on."
LET_WAIT = "wait"
SERVE_ON = "serve"
_QUESTION_HOSTING = f"Type quit again to end it, {SERVE_ON} to leave while it goes on, anything else to stay."
_NEXT = "Type rematch, new or quit; help lists the rest."
_BETWEEN_ROUNDS = "Your next match begins by itself. Type standings, pairings or quit; help lists the rest."
_SEEN = "Type replay to step through it, or stop; help lists the rest."
_IN_REPLAY = "Type next, back, the number of a move, first, last, again (to play on from here), guess or stop."
_WIDTH, _HEIGHT = 80, 60


class LineRenderer(Protocol):
    """Renders a display as lines of text."""

    help: str
    """The words for a match on a server."""
    help_at_home: str
    """The words for a match without a server."""
    has_drawings: bool
    """Whether boards are drawn."""

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name of a player who moves."""

    def parts(self, display: Display) -> dict[str, str]:
        """Return the printable parts of a display, in order."""

    def answer(self, question: str, display: Display, now_ms: int) -> str | None:
        """Return the answer to a typed question, if this renderer knows it."""


class BoardRenderer:
    """Prints a board after every move."""

    help = (
        "Type a move (5, b2), or: board, info, draw, takeback, resign, claim, adjourn, accept, "
        f"decline, say WORDS, mute, report, rules, quit, help. {LINES_HELP}"
    )
    help_at_home = f"Type a move (5, b2), or: board, info, draw, takeback, resign, rules, quit, help. {LINES_HELP}"
    has_drawings = True

    def __init__(self, glyphs: Glyphs, columns: Callable[[], int | None] = lambda: None) -> None:
        """`columns` returns the current width of lines; None: the usual width."""
        self._glyphs = glyphs
        self._columns = columns

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name with its bot mark."""
        return words.label_of(player)

    def parts(self, display: Display) -> dict[str, str]:
        """Return the parts to print, including the board."""
        match = display.match
        seen = {"players": words.pairing(match), "board": self._board(display)} if match is not None else {}
        return parts_of(display, seen, status(display), _first(match) if match is not None else "", _NEXT)

    def answer(self, question: str, display: Display, now_ms: int) -> str | None:
        """Return the board again, or the requested information."""
        if question == "info":
            return info(display)
        return self._board(display) if question == "board" else None

    def _board(self, display: Display) -> str:
        if display.match is None:
            return "There is no match yet."
        width = self._columns() or _WIDTH
        lines = draw_board(replace(display, cursor=-1, pending=None), width, _HEIGHT, self._glyphs, Fit.LETTERS)
        return "\n".join(line.plain.rstrip() for line in lines) if lines else "The board is too large to print."


def _first(match: Snapshot) -> str:
    """Return an example of how to type the first move, including its digit if that stands for a single move."""
    name = example_move(match)
    meant = {match.game.move_names[moves[0]]: digit for digit, moves in quick_moves(match).items() if len(moves) == 1}
    digit = meant.get(name, name)
    example = name if name == str(digit) else f"{digit} or {name}"
    return f"Type a move, such as {example}; help lists the rest."


def parts_of(display: Display, seen: dict[str, str], status: str, first: str, over: str) -> dict[str, str]:
    """Return the sentences of a display by part, in order, including the `seen` ones of its match and its `status`.

    `first` says what can be typed in a match of ours, `over` after it.
    """
    match = display.match
    parts = {"link": link(display), "notice": words.notice(display), **lobby_parts(display), **seen}
    if display.world.reply(TournamentReply) is not None:
        parts["tournament"] = told_in_lines(display)
    if display.page.screen == "replay" and match is not None:
        return {**parts, "status": retold(display, match), "next": _IN_REPLAY}
    if display.page.screen == "guess" and match is not None:
        told = " ".join(filter(None, (verdict_of_guess(display), question_of_guess(display))))
        return {
            **parts,
            "status": told,
            "next": f"Type {'a move, ' * is_asked(display)}{', '.join(guess_words(display))}.",
        }
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
            parts["next"] = first if match.outcome is None else _BETWEEN_ROUNDS if match.tournament else over
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
    """Return the question whether to end a match that can also be left unfinished."""
    waits = words.does_wait(world, match)
    then = "the match waits until you are both back" if waits else words.claim_after_leaving(match)
    return f"This ends the match. Type quit again to leave, {LET_WAIT} only to leave ({then}), anything else to stay."


def lobby_parts(display: Display) -> dict[str, str]:
    """Return the parts about other players that always matter: challenges, our seek, and available bots."""
    ours = next(iter(challenges(display, is_ours=True)), None)
    parts = {"challenge": _challenge(display), "challenged": _challenged(ours)}
    elsewhere = words.elsewhere(display.elsewhere, "new")
    return {**parts, "elsewhere": elsewhere, "sought": _sought(display), "suggestion": _suggestion(display)}


def after(display: Display, match: Snapshot) -> str:
    """Return what the end of a match changed: the score of its series, and the ratings."""
    if match.outcome is None:
        return ""
    is_shared = display.world.is_shared
    has_score = any(match.score) or (is_shared and match.outcome.reason != "abort")
    said = [words.series(match, is_shared=is_shared or match.you is None)] if has_score else []
    ratings = ", ".join(words.new_ratings(display, match))
    return ". ".join([*said, *[f"Ratings: {ratings}"] * bool(ratings)]) + "." * bool(said or ratings)


def info(display: Display) -> str:
    """Return further facts about the match, and its moves."""
    match = display.match
    if match is None:
        return "There is no match yet."
    moves = ", ".join(f"{number}. {words.move_name(match, move)}" for number, move in enumerate(match.moves, start=1))
    return (
        ". ".join([*words.facts(display, match), f"Moves so far: {moves}" if moves else "No move was made yet"]) + "."
    )


def link(display: Display) -> str:
    """Return the state of the connection in a sentence, independent of the number of attempts."""
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
    """Return the position of a replay, and an engine's verdict on the move there."""
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
    stops = " Type stop to look no more." if display.match is not None else ""
    return f"{words.sought(display.world.seeking).removesuffix(' ...')}.{stops}"


def meanwhile(display: Display) -> str:
    """Return what a player can do in the lobby, with or without an open seek."""
    if not display.has_lobby or display.world.link is not LinkState.ONLINE or display.is_arriving:
        return ""
    if display.world.seeking is not None:
        return "Meanwhile type who, games, bot, invite, matches or stop; help lists more."
    return "Type play to find an opponent, bot to play a bot, or who for the players here; help lists more."


def news_of(event: WorldEvent, controller: Controller, renderer: LineRenderer) -> list[str]:
    """Return the sentence about an event that the controller has already handled."""
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
        case Notice(restart_in_ms=int()) if not controller.display.notice:  # no countdown: print the text itself
            return [clean(event.text, words.MAX_NOTICE_CELLS)]
        case ServerMessage() if match is not None:
            action = next((each for each in ACTIONS if isinstance(event, each.reply)), None)
            return action.news(as_told(controller.display, match), event) if action is not None else []
        case _:
            return []


def puzzle_told(puzzle: PuzzleReply, display: Display, renderer: LineRenderer) -> list[str]:
    """Return the puzzle of the day, or the result of an answer to it."""
    if said := outcome(puzzle, display):
        return [said]
    board = renderer.answer("board", puzzle_seen(display), 0) or ""
    return [f"{heading(puzzle)}.", board, question(puzzle), "Type solve and a move, or solve solution to see it."]


def stopped(before: Display, after: Display) -> str:
    """Return what was stopped, unless another printed sentence says so."""
    if before.is_watched and after.match is None:
        return "You stopped watching."
    has_stopped = before.world.seeking is not None and after.world.seeking is None
    return "You stopped looking for an opponent." if has_stopped and after.match is not None else ""


def stayed(before: Display, after: Display, command: AnyCommand) -> str:
    """Return the position of a replay that a step did not change, so that a step at its end gets an answer."""
    is_step = isinstance(command, Step) or command in (Command.LEFT, Command.RIGHT, Command.FIRST, Command.LAST)
    if not is_step or before.page != after.page or after.page.screen != "replay" or is_position_missing(after):
        return ""
    seen = seen_at(after)
    return retold(seen, seen.match) if seen.match is not None else ""


_ROW = re.compile(r"row (\d{1,3})", re.ASCII)
_LETTERS = 26
_SPELLED_COLUMNS = 9
"""Up to this width every cell of a row is spelled out; in wider rows, only the marks with their columns."""
_MOST_LINES, _MOST_MOVES = 8, 40
_FIRST_HEARD = "Type a move or a question; help lists them."
_NEXT_HEARD = "Type rematch, new or quit; help lists the rest."


class ScreenReader:
    """Renders a display as sentences for screen readers."""

    help = (
        "Type a move, such as b2. For more: board, row 2, lines, moves, clock, info, repeat. "
        "For the rules: rules. "
        "To act: draw, takeback, resign, claim, adjourn, accept, decline, say and your words, mute, report, quit. "
        f"{LINES_HELP}"
    )
    help_at_home = (
        "Type a move, such as b2. For more: board, row 2, lines, moves, clock, info, repeat. "
        f"For the rules: rules. To act: draw, takeback, resign, quit. {LINES_HELP}"
    )
    has_drawings = False

    def name_of(self, player: PlayerInfo) -> str:
        """Return only the name: the first sentence of the match says that it is a bot."""
        return words.name_of(player)

    def parts(self, display: Display) -> dict[str, str]:
        """Return the parts to print, without the board."""
        is_shared = display.world.is_shared
        seen = {"players": _players(display.match, is_shared=is_shared)} if display.match is not None else {}
        return parts_of(display, seen, _status(display), _FIRST_HEARD, _NEXT_HEARD)

    def answer(self, question: str, display: Display, now_ms: int) -> str | None:
        """Return the requested information in words."""
        row = _ROW.fullmatch(question)
        if row is None and question not in ("board", "lines", "moves", "clock", "info"):
            return None
        match = display.match
        if match is None:
            return "There is no match yet."
        if question == "info":
            return info(display)
        if row is not None:
            return _row(match, int(row[1]))
        answers = {"board": board, "lines": lines, "moves": _moves}
        return answers[question](match) if question in answers else _clock(display, match, now_ms)


def _players(match: Snapshot, *, is_shared: bool) -> str:
    title = clean(match.game.title, 30)
    marks = [words.mark_of(match, side).replace("/", " or ") for side in (0, 1)]
    if is_shared and all(words.name_of(match.players[side]) == marks[side] for side in (0, 1)):
        return f"{title}: {marks[0]} against {marks[1]}."
    if match.you is None or is_shared:
        commas = ["," * (player.bot is not None) for player in match.players]
        sides = (f"{_name(match, side)}{commas[side]} plays {marks[side]}" for side in (0, 1))
        return f"{title}: {'; '.join(sides) if any(commas) else ', '.join(sides)}."
    return f"{title} against {_name(match, 1 - match.you)}; you play {marks[match.you]}."


def _name(match: Snapshot, side: int) -> str:
    player = match.players[side]
    return f"{words.name_of(player)}, a bot" if player.bot is not None else words.name_of(player)


def _status(display: Display) -> str:
    match, is_shared = display.match, display.world.is_shared
    if match is None or match.outcome is not None or match.adjourned:
        return status(display)
    to_move = match.position.to_move
    if to_move is None:
        return ""
    if display.is_my_turn and not is_shared:
        return f"Your turn, move {match.position.ply + 1}{words.demands(match, TAKEOVER)}."
    is_told = is_shared or match.position.ply == 0
    where = words.demands(match, TAKEOVER) if is_shared else ""
    return f"{words.name_of(match.players[to_move])} is to move{where}." if is_told else ""


def board(match: Snapshot) -> str:
    """Return the board row by row from the top; for wide boards, only the rows with marks.

    A board of small boards is described one small board at a time, as in the names of moves, and only those with marks.
    """
    if match.game.block is not None and match.position.blocks:
        return "\n".join(_small_boards(match, *match.game.block)) or "The board is empty."
    height, width = match.game.shape[-2:]
    rows = [(z, y) for z in range(layers_of(match)) for y in range(height)]
    if width > _SPELLED_COLUMNS or len(rows) > _SPELLED_COLUMNS:
        rows = [(z, y) for z, y in rows if set(_cells(match, z, y)) != {"."}]
    said = [_row_in_words(match, z, y) for z, y in rows]
    return "\n".join(said) if said else "The board is empty."


def _small_boards(match: Snapshot, height: int, width: int) -> list[str]:
    across = match.game.shape[-1] // width
    said = []
    for number, owner in enumerate(clean(match.position.blocks, _MOST_MOVES)):
        top, left = number // across * height, number % across * width
        cells = "".join(_cells(match, 0, y)[left : left + width] for y in range(top, top + height))
        marks = [
            f"{clean(mark, 1)} at {cell_name((height, width), cell)}" for cell, mark in enumerate(cells) if mark != "."
        ]
        if owner == "=":
            said.append(f"Board {number + 1} is nobody's.")
        elif owner != ".":
            said.append(f"Board {number + 1} is won by {owner}.")
        elif marks:
            said.append(f"Board {number + 1}: {', '.join(marks)}.")
    return said


def _row(match: Snapshot, number: int) -> str:
    names = labels_of(match.game).row_names(match.game.shape[-2])
    if str(number) not in names:
        return f"There is no row {number}; rows are {names[0]}, at the top, to {names[-1]}, at the bottom."
    return "\n".join(_row_in_words(match, z, names.index(str(number))) for z in range(layers_of(match)))


def _cells(match: Snapshot, z: int, y: int) -> str:
    height, width = match.game.shape[-2:]
    start = (z * height + y) * width
    return match.position.board[start : start + width]


def _row_in_words(match: Snapshot, z: int, y: int) -> str:
    height, width = match.game.shape[-2:]
    row = f"Layer {z + 1}, row" if layers_of(match) > 1 else "Row"
    labels = labels_of(match.game)
    row += f" {labels.row_names(height)[y]}"
    cells = _cells(match, z, y)
    if set(cells) == {"."}:
        return f"{row} is empty."
    if width <= _SPELLED_COLUMNS:
        said = ["empty" if cell == "." else clean(cell, 1) for cell in cells]
    else:
        columns = labels.columns or tuple(_column(match, x) for x in range(width))
        said = [f"{clean(cell, 1)} at {columns[x]}" for x, cell in enumerate(cells) if cell != "."]
    return f"{row}: {', '.join(said)}."


def _column(match: Snapshot, x: int) -> str:
    is_numbered = match.game.gravity and layers_of(match) == 1
    return str(x + 1) if is_numbered or x >= _LETTERS else chr(ord("a") + x)


def lines(match: Snapshot) -> str:
    """Return the lines that lack one mark, or the line that ended the match."""
    shape = tuple(match.game.shape)

    def name(cell: int) -> str:
        return cell_name(shape, cell)

    if match.position.line:
        return f"The line is {', '.join(name(cell) for cell in match.position.line)}."
    try:
        game = find_game(match.game.name)
    except Refusal:
        game = None
    if not isinstance(game, LineGame) or tuple(game.shape) != shape:  # the server's board shape is authoritative
        return "This game has no list of lines; type board."
    found = []
    for line in game.lines:
        cells = list(cells_of(line))
        marks = {match.position.board[cell] for cell in cells} - {"."}
        free = [cell for cell in cells if match.position.board[cell] == "."]
        if len(marks) == len(free) == 1:
            found.append(f"{clean(marks.pop(), 1)} has {name(cells[0])} to {name(cells[-1])} but for {name(free[0])}.")
    if not found:
        return "No line lacks only one mark."
    more = [f"And {len(found) - _MOST_LINES} more."] if len(found) > _MOST_LINES else []
    return "\n".join([*islice(found, _MOST_LINES), *more])


def _moves(match: Snapshot) -> str:
    legal = list(dict.fromkeys(words.move_name(match, move) for move in match.position.legal))
    if not legal:
        return "No moves are possible."
    more = f" and {len(legal) - _MOST_MOVES} more" if len(legal) > _MOST_MOVES else ""
    return f"Possible: {', '.join(legal[:_MOST_MOVES])}{more}."


def _clock(display: Display, match: Snapshot, now_ms: int) -> str:
    if match.clock is None:
        return "There is no clock."
    said = []
    for side in (0, 1):
        who = (
            "You have"
            if side == match.you and not display.world.is_shared
            else f"{words.name_of(match.players[side])} has"
        )
        said.append(f"{who} {_duration(display.left_ms(side, now_ms) or 0)}")
    return f"{'; '.join(said)}."


def _duration(left_ms: int) -> str:
    minutes, seconds = divmod(left_ms // 1000, 60)
    parts = [f"{minutes} minute{'s' * (minutes != 1)}"] if minutes else []
    return " ".join([*parts, f"{seconds} second{'s' * (seconds != 1)}"])
