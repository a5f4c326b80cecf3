"""Find the legal moves that a cell or a digit means, in any game that a server may list."""

from ttt_net.messages import Snapshot


def layers_of(match: Snapshot) -> int:
    """Return how many boards lie side by side."""
    return match.game.shape[0] if len(match.game.shape) == 3 else 1


def legal_at(match: Snapshot, cell: int) -> tuple[int, ...]:
    """Return the legal moves that mark a cell, or where marks fall, those of its column or peg."""
    cells = match.game.move_cells
    if not match.game.gravity:
        return tuple(move for move in match.position.legal if cells[move] == cell)
    height, width = match.game.shape[-2:]
    column = width if layers_of(match) == 1 else width * height
    return tuple(m for m in match.position.legal if cells[m] >= 0 and cells[m] % column == cell % column)


def quick_moves(match: Snapshot) -> dict[int, tuple[int, ...]]:
    """Return the legal moves by digit, with every digit that means a cell or column; empty where digits mean none."""
    game = match.game
    names = {name for cell, name in zip(game.move_cells, game.move_names, strict=True) if cell >= 0}
    if game.gravity and all(name.isdecimal() and len(name) == 1 for name in names):
        digits = sorted(map(int, names))
        return {digit: tuple(m for m in match.position.legal if game.move_names[m] == str(digit)) for digit in digits}
    if len(game.shape) == 2 and game.shape[0] * game.shape[1] <= 9 and not game.gravity:
        return {cell + 1: legal_at(match, cell) for cell in range(game.shape[0] * game.shape[1])}
    return {}


def example_move(match: Snapshot) -> str:
    """Return the name of a move in the middle of the board, to show how moves are typed."""
    game = match.game
    names = [name for cell, name in zip(game.move_cells, game.move_names, strict=True) if cell >= 0]
    distinct = list(dict.fromkeys(names))  # a column has a name, and a move for each of its cells
    return distinct[len(distinct) // 2]
