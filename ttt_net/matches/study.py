"""Describe a match of strong bots, whose moves people guess, to clients without rules."""

import datetime
from functools import lru_cache

from ttt_net import messages as wire
from ttt_net.games.puzzles import FIRST_DAY, Study, studies
from ttt_net.matches import referee
from ttt_net.matches.analysis_processes import MAX_BEST
from ttt_net.matches.match import Match

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
