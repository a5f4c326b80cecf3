"""Whether what a server says of a match fits together, so that nothing behind it has to doubt a number."""

from math import prod

from ttt_net.errors import Code, Refusal
from ttt_net.messages import ClockInfo, GameInfo, Played, Position, Snapshot, Tookback

MAX_CELLS = 4096
MAX_MOVES = 65_536
_SIDES = (0, 1)


def check_snapshot(snapshot: Snapshot) -> None:
    """Raise `Refusal` when the numbers of a snapshot do not fit one another."""
    game = snapshot.game
    cells = prod(game.shape) if 2 <= len(game.shape) <= 3 and min(game.shape) >= 1 else 0
    _claim(0 < cells <= MAX_CELLS, f"shape {game.shape[:4]}")
    _claim(len(game.move_cells) == len(game.move_names) <= MAX_MOVES, "moves without names, or too many")
    _claim(all(-1 <= cell < cells for cell in game.move_cells), "a move outside the board")
    _claim(all(0 <= move < len(game.move_cells) for move in snapshot.moves), "a move that the game does not have")
    _claim(snapshot.you in (None, *_SIDES), f"side {snapshot.you}")
    _claim(all(offer.side in _SIDES for offer in snapshot.offers), "an offer from nobody")
    _claim(snapshot.outcome is None or snapshot.outcome.winner in (None, *_SIDES), "a winner who does not play")
    _claim(snapshot.last is None or 0 <= snapshot.last < len(game.move_cells), "a last move that does not exist")
    _claim(snapshot.away is None or snapshot.away.side in _SIDES, "somebody away who does not play")
    _claim(_is_block(game), f"blocks of {(game.block or [])[:4]}")
    check_clock(snapshot.clock)
    check_position(game, snapshot.position)


def _is_block(game: GameInfo) -> bool:
    """Tell whether the small boards, if there are any, fill the board."""
    if game.block is None:
        return True
    sizes = zip(game.shape, game.block, strict=False)
    return len(game.block) == len(game.shape) == 2 and all(part >= 1 and size % part == 0 for size, part in sizes)


def _blocks_of(game: GameInfo) -> int:
    """Return the number of small boards that the board consists of; 0 if it consists of none."""
    return 0 if game.block is None else prod(game.shape) // prod(game.block)


def check_position(game: GameInfo, position: Position) -> None:
    """Raise `Refusal` when a position is not one of the game's board."""
    cells = prod(game.shape)
    _claim(len(position.board) == cells, f"a board of {len(position.board)} cells instead of {cells}")
    _claim(position.to_move in (None, *_SIDES), f"side {position.to_move} to move")
    _claim(all(0 <= move < len(game.move_cells) for move in position.legal), "a legal move that does not exist")
    _claim(all(0 <= cell < cells for cell in position.line), "a line outside the board")
    _claim(position.line_by in (None, *_SIDES), f"a line of side {position.line_by}")
    _claim(position.vanishing is None or 0 <= position.vanishing < cells, "a vanishing mark outside the board")
    _claim(position.takeover is None or position.takeover in position.legal, "a takeover that is no legal move")
    _claim(position.target is None or 1 <= position.target.board <= _blocks_of(game), "a target that is no small board")


def check_played(game: GameInfo, played: Played | Tookback) -> None:
    """Raise `Refusal` when a move, or moves taken back, do not fit the game that they are part of."""
    _claim(played.side in _SIDES, f"side {played.side}")
    _claim(isinstance(played, Tookback) or 0 <= played.move < len(game.move_cells), "a move that does not exist")
    check_clock(played.clock)
    if played.position is not None:
        _claim(played.position.ply == played.ply, f"ply {played.ply} with the position of another")
        check_position(game, played.position)


def check_clock(clock: ClockInfo | None) -> None:
    """Raise `Refusal` when the running side is not a side."""
    _claim(clock is None or clock.running in (None, *_SIDES), "a clock that runs for nobody")


def _claim(fits: bool, what: str) -> None:
    if not fits:
        raise Refusal(Code.BAD_MESSAGE, f"the server sent {what}")
