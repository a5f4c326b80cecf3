"""Questions to the processes that analyse and coach, and their answers as sent to clients. Starts no process.

`python -m ttt_net analyse` reads a record, and prints its moves and its lesson, one line of JSON each. The coach
answers questions about positions and records with one line of JSON each. Servers, and clients without a server, start
both processes.
"""

import sys
from importlib.util import find_spec

import msgspec

from ttt_net.matches.match import Match
from ttt_net.messages import AnalysedMove, ExplanationInfo, HintRequest, MatchLesson

COMMAND = (sys.executable, "-m", "ttt_net", "analyse", "--match", "-", "--json", "--match-time")
"""The command of the process, without its time limit in milliseconds."""
COACH = (sys.executable, "-m", "ttt_net.strategies.coaching")
"""The command of the process that answers questions."""
LEAST_MOVES = 3
"""Shorter matches are only openings, and not worth a process."""
MAX_BEST = 3
"""The maximal number of best moves to name for each move."""
MAX_KEEPING = 40
"""More moves that keep the result are not sent, because a guess can hardly miss them."""
_LESSON = b'{"type": "lesson"'


class JudgedMove(msgspec.Struct):
    """One line of the process: a move, valued from the view of the side that made it."""

    ply: int
    side: int
    move: int
    best: list[str]
    value: int | None
    keeping: list[str] = msgspec.field(default_factory=list)
    estimate: int | None = None
    lost: int | None = None
    sign: str = ""
    text: str = ""
    why: ExplanationInfo | None = None


def has_engine() -> bool:
    """Tell whether the compiled searches can be loaded, by looking for their dependencies without importing them."""
    return find_spec("numba") is not None


def read_line(line: bytes) -> JudgedMove | MatchLesson:
    """Return the content of a line of the process. Raises `msgspec.MsgspecError` if it is invalid."""
    if line.startswith(_LESSON):
        return msgspec.json.decode(line, type=MatchLesson)
    return msgspec.json.decode(line, type=JudgedMove)


def hint_question(match: Match, side: int, request: HintRequest, ms: int) -> dict[str, object]:
    """Return the question to the coach for a hint to a side, or for a warning."""
    return {
        "kind": request.kind,
        "game": match.game.name,
        "start": match.start,
        "moves": [move for _, move in match.moves],
        "side": side,
        "ms": ms,
    }


def lesson_question(record: str, ms: int) -> dict[str, object]:
    """Return the question to the coach for the lesson of a match that is visible without a search."""
    return {"kind": "lesson", "record": record, "ms": ms}


def described(each: JudgedMove) -> AnalysedMove:
    """Return a move as sent to clients; an estimate becomes a score between -1 and 1."""
    score = None if each.value is not None or each.estimate is None else each.estimate / (abs(each.estimate) + 50)
    return AnalysedMove(
        ply=each.ply,
        move=each.move,
        value=each.value or 0,
        best=each.best[:MAX_BEST],
        turning=bool(each.lost),
        score=None if score is None else round(score, 2),
        side=each.side,
        more=max(0, len(each.best) - MAX_BEST),
        sign=each.sign,
        text=each.text,
        why=each.why,
        keeping=each.keeping if len(each.keeping) <= MAX_KEEPING else [],
    )
