"""Play matches of strong bots in which much depends on single moves, for people who guess these moves."""

import random
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move, Side, find_game
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.review import Reviewed, review, winner_of

ROTA = "connect4 vanishing tictactoe connect4 misere mnk:5x5,4 connect4 wild"
"""The games, in turn; the engine judges every move of each."""
PLAYERS = (("Sophia", 8), ("Viktor", 6))
"""The house bots whose strategy plays, with their levels. The moves of the first one are guessed."""
BATCH = 10
"""The number of matches of which the one with the most decisions is kept."""
MOST_BATCHES = 10
"""The number of batches without a match to keep after which a game is said to have no more."""
LEAST_DECISIONS = 2
PLAYING, JUDGING = Limit(nodes=50_000), Limit(nodes=10_000_000)
"""The limits of each move and of each judgement. In nodes, they give the same matches on every machine."""


class StudyMade(NamedTuple):
    """A match, the side whose moves are guessed, and the review of all moves."""

    game: Game[Any]
    side: Side
    moves: tuple[Move, ...]
    reviewed: tuple[Reviewed, ...]
    decisions: int
    """How many guessed moves had at least as many wrong alternatives as right ones."""

    def as_json(self) -> dict[str, object]:
        """Return the study as a JSON object."""
        names, players = self.game.move_names, PLAYERS if self.side == 0 else PLAYERS[::-1]
        return {
            "game": self.game.name,
            "players": [name for name, _ in players],
            "levels": [level for _, level in players],
            "side": self.side,
            "moves": " ".join(names[move] for move in self.moves),
            "values": [each.was.result for each in self.reviewed],
            "keeping": [" ".join(names[move] for move in each.keeping) for each in self.reviewed],
        }


def studies_made(seed: int, rota: str) -> Iterator[StudyMade]:
    """Yield different studies of the games of a rota, in turn; a game that has no more is passed over."""
    rng, names = random.Random(seed), deque(rota.split())
    kept = set[tuple[str, tuple[Move, ...]]]()
    while names:
        game = find_game(names[0])
        found = next((each for _ in range(MOST_BATCHES) if (each := _best_of_batch(game, rng, kept))), None)
        if found is None:
            names = deque(name for name in names if name != game.name)
            continue
        kept.add((game.name, found.moves))
        names.rotate(-1)
        yield found
    raise ConfigurationError("no more matches to study were found")


def _best_of_batch(game: Game[Any], rng: random.Random, kept: set[tuple[str, tuple[Move, ...]]]) -> StudyMade | None:
    """Return the match with the most decisions; None if none is new and has enough of them."""
    made = [_study(game, side, rng) for side in (0, 1) for _ in range(BATCH // 2)]
    new = [each for each in made if each and each.decisions >= LEAST_DECISIONS and (game.name, each.moves) not in kept]
    return max(new, key=lambda each: each.decisions, default=None)


def _study(game: Game[Any], side: Side, rng: random.Random) -> StudyMade | None:
    """Play and review a match; return None unless the guessed side never gave anything away and did not lose."""
    strategies = [find_strategy("alphabeta", seed=rng.randrange(2**32), level=level) for _, level in PLAYERS]
    state, moves, legal = game.initial, list[Move](), list[int]()
    while not game.is_terminal(state):
        mover = game.to_move(state)
        legal.append(len(game.actions(state)))
        moves.append(strategies[0 if mover == side else 1](game, state, PLAYING).move)
        state = game.result(state, moves[-1])
    if winner_of(game, state) == 1 - side:
        return None
    reviewed = tuple(review(game, moves, JUDGING))
    ours = [each for each in reviewed if each.side == side]
    is_sound = all(each.was.result is not None for each in reviewed) and not any(each.lost for each in ours)
    decisions = sum(0 < 2 * len(each.keeping) <= legal[each.ply - 1] for each in ours)
    return StudyMade(game, side, tuple(moves), reviewed, decisions) if is_sound else None
