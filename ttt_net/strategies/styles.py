"""Five strategies that play games of lines, each with a style of its own.

They see what a careful person sees: wins, threats, and two threats at once. Among the moves that this leaves, each
plays what draws its eye (`attention.py`). Statistics of their moves tell them apart; docs/strategies.md has them.
"""

import random
from typing import Any

from ttt_net.games import Game
from ttt_net.games.swap import SwapGame
from ttt_net.strategies.attention import Attention, Style
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.lessons.sight import look
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit, S, require_playable

_CHOOSINESS = 4.0
"""How much more a styled player prefers what it likes than people do."""


class StyledPlayer:
    """Plays the moves in sight that it has to, and otherwise by a style; `rng` chooses among what it likes."""

    def __init__(self, name: str, idea: str, style: Style, rng: random.Random) -> None:
        self.name, self.idea, self.style = name, idea, style
        self._attention = Attention(rng, style, _CHOOSINESS)

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays games of lines only."""
        inner = game.base if isinstance(game, SwapGame) else game
        return (
            None if is_line_game(inner) else f"the {self.name} plays with lines, and {game.title} is not won by those"
        )

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return a move of its style that neither misses a win in sight nor allows one."""
        require_playable(self, game, state)
        sight, moves = look(game, state), list(game.actions(state))
        best = max(map(sight.value, moves))
        sound = [move for move in moves if sight.value(move) == best]
        move = self._attention.choose(game, state, sound, sees=1.0)
        self._attention.leave(game, state, move)
        return Choice(move, None, (), Counts())


STYLES: dict[str, tuple[str, Style]] = {
    "attacker": ("builds its own lines, and defends only when it must", Style(attack=4.0, block=0.25, far=-0.5)),
    "blocker": ("stands in the way of your lines, and waits", Style(attack=0.2, block=4.0, far=-1.0)),
    "trapper": ("plays where two of its lines cross, to threaten twice", Style(attack=0.3, block=0.3, trap=300.0)),
    "copycat": ("mirrors your moves across the board", Style(far=-1.0, copy=1e12)),
    "explorer": ("goes where nobody has played yet", Style(attack=0.5, block=0.5, far=4.0)),
}
"""By name what each does, in a few words, and its style."""
