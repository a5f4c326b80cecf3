"""The pie rule: after the first move, the second player may take over this move and play X."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Annotations, Game, Move, Outcome, Side, Special


class SwapState(NamedTuple):
    """A position of the inner game; its number of moves, counted up to 2; whether the sides have been swapped."""

    position: Any
    moves: int
    is_swapped: bool


class SwapGame(Game[SwapState]):
    """Any game with the additional move `swap`: side 1 may answer the first move by taking it over.

    From then on side 1 plays X and side 0, who moves next, plays O.
    """

    def __init__(self, base: Game[Any]) -> None:
        self.base = base
        self.name, self.title = f"{base.name}+swap", f"{base.title} with swap"
        self.rule = f"{base.rule}; the second player may swap"
        self.shape, self.block, self.gravity = base.shape, base.block, base.gravity
        self.line_count, self.face = base.line_count, base.face
        self.swap = len(base.move_cells)
        """The move that takes over the first one."""
        self.move_cells = (*base.move_cells, -1)
        self.move_names = (*base.move_names, "swap")
        self.order = (*base.order, self.swap) if base.order else ()
        self.initial = SwapState(base.initial, 0, is_swapped=False)

    def to_move(self, state: SwapState) -> Side:
        """Return the side to move; after a swap, side 0 moves second."""
        return self.base.to_move(state.position) ^ state.is_swapped

    def actions(self, state: SwapState) -> Sequence[Move]:
        """Return the moves of the inner game, and `swap` directly after the first one."""
        moves = self.base.actions(state.position)
        return (*moves, self.swap) if state.moves == 1 and moves else moves

    def special(self, state: SwapState) -> Special:
        """Return `swap` as the takeover right after the first move."""
        special = self.base.special(state.position)
        return special._replace(takeover=self.swap) if state.moves == 1 else special

    def result(self, state: SwapState, move: Move) -> SwapState:
        """Return the position after a move or a swap. Raises `Refusal` if it is illegal."""
        if move != self.swap:
            return SwapState(self.base.result(state.position, move), min(state.moves + 1, 2), state.is_swapped)
        if state.moves != 1 or self.base.is_terminal(state.position):
            raise Refusal(Code.ILLEGAL_MOVE, "swap is possible only in answer to the first move")
        return SwapState(state.position, 2, is_swapped=True)

    def is_terminal(self, state: SwapState) -> bool:
        """Tell whether the inner game is over."""
        return self.base.is_terminal(state.position)

    def utility(self, state: SwapState, side: Side) -> int:
        """Return the value of the position for the player `side`, whichever mark they have now."""
        return self.base.utility(state.position, side ^ state.is_swapped)

    def outcome(self, state: SwapState) -> Outcome | None:
        """Return how the inner game ended, with the player who won it."""
        outcome = self.base.outcome(state.position)
        if outcome is None or outcome.winner is None:
            return outcome
        return Outcome(outcome.winner ^ state.is_swapped, outcome.reason)

    def board(self, state: SwapState) -> str:
        """Return the board of the inner game: a swap changes only the owners of marks."""
        return self.base.board(state.position)

    def line(self, state: SwapState) -> tuple[int, ...]:
        """Return the line of the inner game."""
        return self.base.line(state.position)

    def line_side(self, state: SwapState) -> Side | None:
        """Return the player who completed the line, whichever mark they have now."""
        side = self.base.line_side(state.position)
        return None if side is None else side ^ state.is_swapped

    def marks(self, state: SwapState) -> tuple[str, str]:
        """Return the mark that each side places; a swap exchanges them."""
        first, second = self.base.marks(state.position)
        return (second, first) if state.is_swapped else (first, second)

    def estimate(self, state: SwapState) -> int:
        """Return the estimate of the inner game, whose side to move is the same player."""
        return self.base.estimate(state.position)

    def annotations(self, state: SwapState) -> Annotations | None:
        """Return the notes and counters of the inner game; after a swap, each counter belongs to the other player."""
        annotations = self.base.annotations(state.position)
        if annotations is None or not state.is_swapped:
            return annotations
        counters = (each._replace(side=None if each.side is None else 1 - each.side) for each in annotations.counters)
        return annotations._replace(counters=tuple(counters))

    def details(self, state: SwapState) -> str:
        """Return `swapped` after a swap, then the details of the inner game."""
        details = self.base.details(state.position)
        return f"swapped {details}".strip() if state.is_swapped else details

    def place(self, board: str, details: str) -> SwapState:
        """Return the position of a board. Raises `Refusal` if it is `swapped` before any move."""
        is_swapped = details.split(maxsplit=1)[:1] == ["swapped"]
        position = self.base.place(board, details.removeprefix("swapped").strip() if is_swapped else details)
        moves = min(sum(mark != "." for mark in board), 2)
        if is_swapped and moves == 0:
            raise Refusal(Code.BAD_NOTATION, "swapped, but there is no first move to take over")
        return SwapState(position, 2 if is_swapped else moves, is_swapped)
