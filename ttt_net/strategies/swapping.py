"""Let strategies play games with the pie rule as the game beneath, as soon as one move has been made."""

from typing import TypeGuard

from ttt_net.games import Game
from ttt_net.games.swap import SwapGame, SwapState
from ttt_net.strategies.strategy import Choice, S, is_decided


def beneath(game: Game[S], state: S) -> tuple[Game[S], S]:
    """Return the game and the position to think about: those beneath, once it is settled who has the first move."""
    if isinstance(game, SwapGame) and isinstance(state, SwapState) and state.moves > 1:
        return game.base, state.position
    return game, state


def is_first(state: object) -> TypeGuard[SwapState]:
    """Tell whether the side to move makes the first move, which may then be taken over."""
    return isinstance(state, SwapState) and state.moves == 0


def may_swap(state: object) -> TypeGuard[SwapState]:
    """Tell whether the side to move may take over the first move."""
    return isinstance(state, SwapState) and state.moves == 1


def value_of_swap(value: int) -> int:
    """Return what a swap is worth in a position of that value: its other side, and one ply more to the end."""
    return -value - (value < 0) + (value > 0) if is_decided(value) else -value


def or_swap(choice: Choice, swap: int) -> Choice:
    """Return a choice in the game beneath, or the swap if the position is worse than nothing for who is to move."""
    if choice.value is None or choice.value >= 0:
        return choice
    return choice._replace(move=swap, value=value_of_swap(choice.value), line=(swap, *choice.line))
