"""Have a finished match looked at by the server's engine, and tell where it turned."""

from dataclasses import replace

from ttt_net.client import labels
from ttt_net.client.commands import Change
from ttt_net.client.display import Display
from ttt_net.client.screens.coaching import lesson_in_words
from ttt_net.client.screens.screen import Effect, MatchAction
from ttt_net.messages import AnalysedMove, AnalyseRequest, AnalysisReply, ServerMessage, Snapshot
from ttt_net.text import clean

_GRADES = {"??": "A blunder", "?": "A mistake", "?!": "A doubtful move"}
"""What a sign says of a move that gave something away; without one it is a blunder."""


def _analyse(display: Display) -> Effect:
    """Have a finished match looked at by the server's engine, if it has one."""
    match = display.match
    if match is None or match.outcome is None:
        return replace(display, notice="Only a match that is over can be analysed."), ()
    if "analyse" not in display.world.features:
        return replace(display, notice="This server has no engine; save the match to analyse it yourself."), ()
    display = replace(display, notice="An engine looks at every move; this may take half a minute.")
    return display, (AnalyseRequest(0, match=match.match),)


def _is_offered(display: Display) -> bool:
    return "analyse" in display.world.features and not display.is_watched


def _heard(display: Display, reply: ServerMessage) -> Display:
    if isinstance(reply, AnalysisReply) and (reply.partial or not reply.moves):
        return replace(display, notice="") if reply.lesson is not None else display
    return replace(display, notice="The match has been analysed; a replay of it tells of every move.")


def verdict(display: Display, match: Snapshot) -> str:
    """Return what an engine says of the move that a replay is at; nothing as long as it has said nothing."""
    analysis, ply = display.world.reply(AnalysisReply), len(match.moves)
    if analysis is None or analysis.match != match.match or not match.moves:
        return ""
    moves = {each.ply: each for each in analysis.moves}
    if (move := moves.get(ply)) is None:
        return ""
    mover, other = labels.mark_of(match, move.side % 2), labels.mark_of(match, 1 - move.side % 2)
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
    what = _GRADES.get(move.sign, "A blunder")
    if before is None or before.score is not None:
        return f"{what}; {best} was better."
    had = before.value if before.side == move.side else -before.value
    return f"{what}; {best} {'won' if had > 0 else 'held the draw'}."


def _news(match: Snapshot, told: ServerMessage) -> list[str]:
    """Return where a match turned, as an engine sees it."""
    if not isinstance(told, AnalysisReply) or told.match != match.match:
        return []
    lesson = told.lesson if told.lesson is not None and told.lesson.ply is not None else None
    learned = [lesson_in_words(match, lesson)] if lesson is not None else []
    if told.partial:
        return [f"{each} Type replay to see it." for each in learned]
    if not told.moves and learned:
        return learned
    if not told.moves:
        return ["There is too little in it to look at." if told.exact else "The engine could not look at it in time."]
    moves = {move.ply: move for move in told.moves if 1 <= move.ply <= len(match.moves)}
    if lesson is not None:
        moves.pop(lesson.ply or 0, None)
    turns = [_turn(match, move, moves.get(move.ply - 1)) for move in moves.values() if move.turning and move.best]
    said = [*learned, *turns] or ["The engine saw no move that gave anything away."]
    return [*said, *["Some of this is estimated."] * (not told.exact)]


def _turn(match: Snapshot, move: AnalysedMove, before: AnalysedMove | None) -> str:
    name = labels.move_name(match, match.moves[move.ply - 1])
    return f"Move {move.ply}, {name}: {turning_point(move, before)}"


ACTION = MatchAction(
    word="analyse",
    key="a",
    command=Change(_analyse),
    request=AnalyseRequest,
    reply=AnalysisReply,
    is_offered=_is_offered,
    heard=_heard,
    news=_news,
)
