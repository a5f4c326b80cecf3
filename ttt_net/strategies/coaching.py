"""Answer a server's questions about positions and matches: read and write one line of JSON each, until the input ends.

`python -m ttt_net.strategies.coaching`. The process ends when its input ends, so it never outlives the server that
started it. A question has a `kind`: `move` and `warning` ask about a position, as the moves that lead to it, and are
answered with moves and a sentence; `lesson` asks about a record, and is answered with its lesson.
"""

import json
import sys
from functools import lru_cache
from typing import Any

from ttt_net.games import find_game
from ttt_net.games.notation import read_start
from ttt_net.games.records import first_position, read_records
from ttt_net.strategies.analysis import Kept, analyse, is_solvable, limit_of_truth
from ttt_net.strategies.engine import warm
from ttt_net.strategies.hints import advise, unrefuted, warning
from ttt_net.strategies.review import MOST_CHECKED, Reviewed, glance, lesson_of, review, winner_of
from ttt_net.strategies.strategy import Effort, Limit

JUDGE_MS = 300
"""The time limit for finding the better moves of a lesson, in games that can be solved."""


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one question. Raises `Refusal` if a position or record cannot be read."""
    if question["kind"] == "lesson":
        return _lesson(question["record"], Limit(ms=question["ms"]))
    game = find_game(question["game"])
    state = game.initial if question["start"] is None else read_start(game, question["start"])
    for move in question["moves"]:
        state = game.result(state, move)
    if question["kind"] == "warning":
        found = warning(game, state, question["side"])
    else:
        warm(game)
        found = advise(game, state, Limit(ms=question["ms"]), _kept(game.name))
    if found is None:
        return {"moves": [], "text": ""}
    return {"moves": list(found.moves), "text": found.text, "why": found.why.as_json()}


@lru_cache(maxsize=2)
def _kept(game: str) -> Kept:
    """Return the results of earlier questions about a game; the tables are large, so only two games' are kept."""
    return Kept(line_plies=0)


def _lesson(text: str, limit: Limit) -> dict[str, object]:
    """Return the lesson of a recorded match by what can be seen in its moves, as many as the limit allows.

    If nothing can be seen in a game that can be solved, a search judges the moves.
    """
    (record,) = read_records(text)
    game, effort = find_game(record.game), Effort(limit)
    states = [first_position(game, record.start)]
    moves = [made.move for made in record.moves]
    reviewed: list[Reviewed] = []
    for each in glance(game, moves, states[0]):
        reviewed.append(each)
        if effort.is_over():
            break
    for move in moves:
        states.append(game.result(states[-1], move))
    winner = winner_of(game, states[-1]) if record.outcome is None else record.outcome.winner
    lesson = lesson_of(reviewed, winner, is_searched=False)
    if lesson.ply is None and is_solvable(game) and not effort.is_over():
        lesson = lesson_of(list(review(game, moves, limit, states[0], Limit(ms=JUDGE_MS))), winner)
    if lesson.ply is not None and is_solvable(game) and not effort.is_over():
        judging = limit_of_truth(game, Limit(ms=JUDGE_MS))
        lesson = lesson.judged(game, analyse(game, states[lesson.ply - 1], judging, _kept(game.name)))
    elif lesson.ply is not None and 1 < len(lesson.better) <= MOST_CHECKED:
        left = effort.seconds_left()
        sound = unrefuted(game, states[lesson.ply - 1], lesson.better, None if left is None else round(1000 * left))
        lesson = lesson.of_better(game, sound)
    return lesson.as_json(game)


def main() -> int:
    """Answer questions until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
