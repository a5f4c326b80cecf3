"""Show hints and warnings against a bot, and the lesson and analysis of a finished match; play on from a position."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import Change, Display
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.remembered import Achievements
from ttt_net.client.screens.offers import free_bots
from ttt_net.client.screens.screen import Effect, MatchAction
from ttt_net.messages import (
    MAX_BETTER,
    MAX_OWN_MOVES,
    AnalysedMove,
    AnalyseRequest,
    AnalysisReply,
    ChallengeRequest,
    Ended,
    HintReply,
    HintRequest,
    InviteRequest,
    LearnRequest,
    MatchLesson,
    MistakesRequest,
    OwnPuzzle,
    Played,
    PlayerInfo,
    Request,
    SeekRequest,
    ServerMessage,
    Side,
    Snapshot,
    Tookback,
)
from ttt_net.text import clean

LEAST_MOVES = 3
"""Matches with fewer plies have no lesson."""
EASY_LEVEL = 3
"""Against bots up to this level, the key hints mention warnings."""
_MAX_TEXT = 240
_MOST_BETTER = 3
_FOLLOWS = " What follows: "
"""The beginning of the part of a lesson that is omitted where a replay shows it."""


def as_told(display: Display, match: Snapshot) -> Snapshot:
    """Return the match for the words of a lesson, without "you" if two people share a keyboard."""
    return structs.replace(match, you=None) if display.world.is_shared else match


def lesson_of(display: Display, match: Snapshot) -> MatchLesson | None:
    """Return the lesson of a match, if it is known and about one of its moves."""
    told = display.world.reply(AnalysisReply)
    lesson = told.lesson if told is not None and told.match == match.match else None
    return lesson if lesson is not None and _is_of(match, lesson) else None


def _is_of(match: Snapshot, lesson: MatchLesson) -> bool:
    whole = len(match.moves)
    return lesson.ply is not None and lesson.side in (0, 1) and 1 <= lesson.ply <= whole


def with_own_mistake(achieved: Achievements, match: Snapshot, lesson: MatchLesson, account: str = "") -> Achievements:
    """Return the achievements with the lesson's mistake, if it was ours and a better move is known."""
    if not _is_of(match, lesson) or lesson.side != match.you or lesson.ply is None:
        return achieved
    # Where marks fall, a column is the name of all its cells; the position allows one of them.
    better = [move for move, name in enumerate(match.game.move_names) if name in lesson.better]
    before = list(match.moves[: lesson.ply - 1])
    if not 0 < len(better) <= MAX_BETTER or len(before) > MAX_OWN_MOVES:
        return achieved
    text = clean(lesson.text.partition(_FOLLOWS)[0], _MAX_TEXT)
    return achieved.with_mistake(OwnPuzzle(match.game.name, better, before, match.start), text, account)


def lesson_in_words(match: Snapshot, lesson: MatchLesson) -> str:
    """Return a lesson as a sentence, addressed to the player of the move, or about that player."""
    if lesson.ply is None or lesson.side not in (0, 1):
        return "No clear mistake was found."
    if lesson.side == match.you:
        return clean(lesson.text.partition(_FOLLOWS)[0], _MAX_TEXT)
    move = _chosen(match, match.moves[lesson.ply - 1]) if lesson.ply <= len(match.moves) else "?"
    better = _any_of(lesson.better)
    was_better = f" {better} was better." if better else " It decided the match."
    return f"Move {lesson.ply}: {words.name_of(match.players[lesson.side])} chose {move}.{was_better}"


def _chosen(match: Snapshot, move: int) -> str:
    """Return a move as a choice; where marks fall, it is a column."""
    name = words.move_name(match, move)
    return f"column {name}" if match.game.gravity and name.isdecimal() else name


def _any_of(names: Sequence[str]) -> str:
    """Return the first names of a list as a choice: `1, 2 or 5`."""
    *others, last = [clean(name, 12) for name in names[:_MOST_BETTER]] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def lesson_told(display: Display, match: Snapshot, shows_it: str) -> str:
    """Return the lesson of a finished match, and the key that shows it on the board; empty without a lesson."""
    lesson = lesson_of(display, match) if match.outcome is not None else None
    match = as_told(display, match)
    return f"{lesson_in_words(match, lesson)} {shows_it}" if lesson is not None else ""


def lesson_here(display: Display, match: Snapshot) -> str:
    """Return the lesson if the replay is just before the move that it is about."""
    lesson = display.world.reply(AnalysisReply)
    found = lesson.lesson if lesson is not None and lesson.match == match.match else None
    match = as_told(display, match)
    if found is None or found.ply is None or found.ply != len(match.moves) + 1:
        return ""
    if found.side == match.you:
        said, _, follows = found.text.partition(_FOLLOWS)
        return clean(found.text if " " in follows else said, _MAX_TEXT)
    better = _any_of(found.better)
    name = words.name_of(match.players[found.side]) if found.side in (0, 1) else "?"
    return f"Here {name} went wrong.{f' {better} was better.' if better else ''}"


def hint_of(display: Display, match: Snapshot) -> HintReply | None:
    """Return the hint or warning for the shown position, if any."""
    told = display.world.reply(HintReply)
    is_of_position = told is not None and (told.match, told.ply) == (match.match, match.position.ply)
    return told if is_of_position and told is not None and told.text and match.outcome is None else None


def hint_told(display: Display, match: Snapshot, takes_back: str) -> str:
    """Return the hint or warning for the shown position as a sentence; after our own move, add how to take it back."""
    told = hint_of(display, match)
    if told is None:
        return ""
    is_late = told.kind == "warning" and match.position.to_move != match.you
    return clean(told.text, _MAX_TEXT) + (f" {takes_back}" if is_late else "")


def good_cells(display: Display, match: Snapshot) -> set[int]:
    """Return the cells of the moves that a hint names, or that were better at the shown ply of a replay."""
    told = hint_of(display, match)
    if told is not None and told.kind == "move":
        return _cells(match, told.moves)
    analysis = display.world.reply(AnalysisReply)
    lesson = analysis.lesson if analysis is not None and analysis.match == match.match else None
    if display.page.screen != "replay" or lesson is None or lesson.ply != len(match.moves) + 1:
        return set()
    return {cell for name in lesson.better if (cell := _cell_named(match, name)) >= 0}


def bad_cells(display: Display, match: Snapshot) -> set[int]:
    """Return the cells of the opponent's moves that a warning names, and of the marks that a hint or warning names."""
    told = hint_of(display, match)
    if told is None:
        return set()
    row = told.why.row if told.why is not None else None
    return (_cells(match, told.moves) if told.kind == "warning" else set()) | set(row.cells if row is not None else ())


def _cells(match: Snapshot, moves: list[int]) -> set[int]:
    places = match.game.move_cells
    return {places[move] for move in moves if 0 <= move < len(places) and places[move] >= 0}


def _cell_named(match: Snapshot, name: str) -> int:
    """Return the free cell of a move by its name; where marks fall, the one where the mark would land."""
    game, board = match.game, match.position.board
    named = zip(game.move_cells, game.move_names, strict=True)
    free = [cell for cell, each in named if each == name and 0 <= cell < len(board) and board[cell] == "."]
    if not free:
        return -1
    return max(free) if game.gravity and len(game.shape) == 2 else min(free)


def objection(display: Display) -> str:
    """Return why the shown match allows no hint or warning; empty if it does."""
    match = display.match
    if match is None or not display.is_live:
        return "Hints are for matches that you play."
    if words.opponent_of(match).bot is None:
        return "Hints are for matches against a bot."
    if "hint" not in display.world.features:
        return "This server gives no hints."
    if match.tournament is not None:
        return "There are no hints in a tournament."
    return "There are no hints in a rated match." if match.rated else ""


def is_easy(display: Display) -> bool:
    """Tell whether to mention warnings: the opponent is a weak bot, and warnings are available."""
    level = words.opponent_of(display.match).level if display.match is not None else None
    return not objection(display) and level is not None and level <= EASY_LEVEL


def _hint(display: Display) -> Effect:
    match, reason = display.match, objection(display)
    if reason or match is None:
        return replace(display, notice=reason), ()
    if not display.may_move:
        return replace(display, notice="Ask for a hint when it is your turn."), ()
    return display, (HintRequest(0, match=match.match),)


def _warn(display: Display) -> Effect:
    """Switch the warnings on or off."""
    match, reason = display.match, objection(display)
    if reason or match is None:
        return replace(display, notice=reason, has_warnings=False), ()
    if display.has_warnings:
        display = replace(display, world=display.world.without_replies((HintReply,)), has_warnings=False)
        return replace(display, notice="Warnings are off."), ()
    display = replace(display, has_warnings=True, notice="Warnings are on.")
    return display, (HintRequest(0, match=match.match, kind="warning"),)


def due_requests(display: Display, event: WorldEvent) -> tuple[Request, ...]:
    """Return the requests to send automatically after an event: for the lesson of a match of ours, or a warning."""
    match = display.match
    if not isinstance(event, Ended | Played | Tookback | Snapshot) or match is None or event.match != match.match:
        return ()
    has_coach = "hint" in display.world.features
    if match.you is None or not (has_coach or display.world.is_shared):
        return ()
    if isinstance(event, Ended):
        is_whole = event.reason != "abort" and len(match.moves) >= LEAST_MOVES
        return (AnalyseRequest(0, match=match.match, brief=True),) if is_whole else ()
    is_over = match.outcome is not None or match.position.to_move is None
    is_wanted = display.has_warnings and not is_over and not objection(display)
    return (HintRequest(0, match=match.match, kind="warning"),) if is_wanted else ()


def is_unasked(request: Request) -> bool:
    """Tell whether a request may have been sent automatically, so that its refusal is not shown."""
    is_warning = isinstance(request, HintRequest) and request.kind == "warning"
    is_lesson = isinstance(request, AnalyseRequest) and request.brief
    return is_warning or is_lesson or isinstance(request, LearnRequest | MistakesRequest)


def _try_again(display: Display) -> Effect:
    """Begin a casual match against a bot from the shown position of a replay."""
    replayed, ply = display.replay, display.page.ply
    if replayed is None or display.page.screen != "replay":
        return replace(display, notice="Step through a match first, and then play on from there."), ()
    if ply >= len(replayed.starts) or (start := replayed.starts[ply]) is None:
        return replace(display, notice="That position has not arrived yet."), ()
    if not start:
        return replace(display, notice="The match is over there; go back a move first."), ()
    match = replayed.match
    side = match.you if match.you is not None else ply % 2
    ours: Side = 0 if side == 0 else 1
    opponent, game = match.players[1 - ours], match.game.name
    if not display.has_lobby:
        if opponent.bot is None:
            return replace(display, notice="You can play on from a position only against a bot."), ()
        return _gone(display), (InviteRequest(0, game, None, ours, start),)
    bot = _bot_for(display, opponent, game)
    if bot is None:
        return replace(display, notice="No bot is free now; look into the lobby again."), ()
    display = replace(_gone(display), notice=f"{words.name_of(bot)} plays on with you from there.")
    return display, (ChallengeRequest(0, bot.name, game, level=bot.level, start=start, side=ours),)


def _gone(display: Display) -> Display:
    return replace(display, pages=tuple(page for page in display.pages if page.screen != "replay"))


def _bot_for(display: Display, opponent: PlayerInfo, game: str) -> PlayerInfo | None:
    """Return the bot for playing on: the one of that match, or a free one, at its level."""
    if opponent.bot is not None:
        return opponent
    bots = free_bots(display, SeekRequest(0, [game]))
    return PlayerInfo(bots[0].name, bots[0].bot, bots[0].level) if bots else None


HINT, WARN, TRY_AGAIN = Change(_hint), Change(_warn), Change(_try_again)
WORDS = {"hint": HINT, "warnings": WARN, "again": TRY_AGAIN}
"""The words for lines mode."""


_GRADES = {"??": "A blunder", "?": "A mistake", "?!": "A doubtful move"}
"""The meaning of the sign of a move that gave something away; a move without a sign is a blunder."""


_LOOKING = "An engine looks at every move; this may take half a minute."
_TOO_SHORT = "There are too few moves to analyse."
_TOO_SLOW = "The engine did not finish in time."
_NO_ENGINE = "This server has no engine to judge every move."


def _analyse(display: Display) -> Effect:
    """Request an analysis of a finished match from the server's engine, if it has one."""
    match = display.match
    if match is None or match.outcome is None:
        return replace(display, notice="Only a match that is over can be analysed."), ()
    if "analyse" not in display.world.features:
        return replace(display, notice="This server has no engine; save the match to analyse it yourself."), ()
    display = replace(display, notice=_LOOKING)
    return display, (AnalyseRequest(0, match=match.match),)


def missing_analysis(display: Display, match: Snapshot) -> tuple[Request, ...]:
    """Return the request for the analysis of a finished match, unless it is known or the server has no engine."""
    told = display.world.reply(AnalysisReply)
    is_known = told is not None and told.match == match.match and bool(told.moves)
    return (AnalyseRequest(0, match=match.match),) if "analyse" in display.world.features and not is_known else ()


def _is_offered(display: Display) -> bool:
    return "analyse" in display.world.features and not display.is_watched


def _heard(display: Display, reply: ServerMessage) -> Display:
    if not isinstance(reply, AnalysisReply) or reply.moves:
        return replace(display, notice="The analysis is done: the replay has a verdict on every move.")
    is_awaited = display.notice == _LOOKING
    if reply.partial or not is_awaited:
        return display if is_awaited or reply.lesson is None else replace(display, notice="")
    return replace(display, notice=_TOO_SHORT if reply.exact else _NO_ENGINE if reply.lesson is not None else _TOO_SLOW)


def verdict(display: Display, match: Snapshot) -> str:
    """Return an engine's verdict on the replay's current move; empty until it arrives."""
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
    """Return what a move gave away, given the state before it, and which moves did not."""
    best = " or ".join(clean(name, 12) for name in move.best[:4])
    if move.value == 0:
        return f"A missed win; {best} won."
    what = _GRADES.get(move.sign, "A blunder")
    if before is None or before.score is not None:
        return f"{what}; {best} was better."
    had = before.value if before.side == move.side else -before.value
    return f"{what}; {best} {'won' if had > 0 else 'held the draw'}."


def _news(match: Snapshot, told: ServerMessage) -> list[str]:
    """Return where a match turned, according to an engine."""
    if not isinstance(told, AnalysisReply) or told.match != match.match:
        return []
    lesson = told.lesson if told.lesson is not None and told.lesson.ply is not None else None
    learned = [lesson_in_words(match, lesson)] if lesson is not None else []
    if told.partial:
        return [f"{each} Type replay to see it." for each in learned]
    if not told.moves and learned:
        return learned
    if not told.moves:
        return [_TOO_SHORT if told.exact else _TOO_SLOW]
    moves = {move.ply: move for move in told.moves if 1 <= move.ply <= len(match.moves)}
    if lesson is not None:
        moves.pop(lesson.ply or 0, None)
    turns = [_turn(match, move, moves.get(move.ply - 1)) for move in moves.values() if move.turning and move.best]
    said = [*learned, *turns] or ["The engine found no mistake."]
    return [*said, *["Some of this is estimated."] * (not told.exact)]


def _turn(match: Snapshot, move: AnalysedMove, before: AnalysedMove | None) -> str:
    name = words.move_name(match, match.moves[move.ply - 1])
    return f"Move {move.ply}, {name}: {turning_point(move, before)}"


ANALYSE = MatchAction(
    word="analyse",
    key="a",
    command=Change(_analyse),
    request=AnalyseRequest,
    reply=AnalysisReply,
    is_offered=_is_offered,
    heard=_heard,
    news=_news,
)
