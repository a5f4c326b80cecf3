"""Analyses, hints and studies of matches as sent to clients, and the questions to the processes that make them.

`python -m ttt_net analyse` reads a record, and prints its moves and its lesson, one line of JSON each. The coach
answers questions about positions and records with one line of JSON each. Servers, and clients without a server, start
both processes; nothing here does. A study is a match of strong bots, judged in advance, whose moves people guess.
"""

import datetime
import sys
from functools import lru_cache
from importlib.util import find_spec

import msgspec

from ttt_net import messages as wire
from ttt_net.games.puzzles import FIRST_DAY, Study, studies
from ttt_net.matches import referee
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


_STRATEGY = "alphabeta"


def describe_study(request: wire.StudyRequest, today: datetime.date) -> wire.StudyReply:
    """Return the requested study, by default that of the day."""
    number = (today - FIRST_DAY).days if request.number is None else request.number
    return _described(number % len(studies()))


@lru_cache(maxsize=32)
def _described(number: int) -> wire.StudyReply:
    study = studies()[number]
    first, second = (
        wire.PlayerInfo(name, _STRATEGY, level) for name, level in zip(study.players, study.levels, strict=True)
    )
    match = Match(wire.Started(f"study-{number}", 1, 0, study.game, (first, second), None))
    for move in study.moves:
        play = wire.PlayRequest(0, match.id, len(match.moves), move)
        for event in referee.decide(match, match.to_move, play, 0):
            match.evolve(event)
    positions = match.positions(0, len(study.moves) + 1, has_legal=True)
    snapshot = match.snapshot(None, (True, True), 0)
    side: wire.Side = 0 if study.side == 0 else 1
    return wire.StudyReply(number, len(studies()), side, snapshot, positions, _judged(match, study))


def _judged(match: Match, study: Study) -> list[wire.AnalysedMove]:
    judged = zip(match.moves, study.values, study.keeping, strict=True)
    return [
        wire.AnalysedMove(
            ply=ply,
            move=move,
            value=value,
            best=list(keeping[:MAX_BEST]),
            turning=bool(keeping) and match.game.move_names[move] not in keeping,
            side=side,
            more=max(0, len(keeping) - MAX_BEST),
            keeping=list(keeping),
        )
        for ply, ((side, move), value, keeping) in enumerate(judged, start=1)
    ]
