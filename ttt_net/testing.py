"""Check that a game satisfies the invariants on which servers, clients, bots and records rely; for authors of games."""

import random
from collections.abc import Iterator
from typing import Any

from ttt_net.errors import Refusal
from ttt_net.games import Game
from ttt_net.games.notation import draw_diagram, read_move, read_position, write_move, write_position
from ttt_net.games.outside import OutsideGame
from ttt_net.messages import MAX_POSITION_LENGTH

MAX_PLIES = 2_000
"""The maximal number of moves in a match."""
MAX_ESTIMATE = 100_000
"""Searches cannot tell larger estimates from wins."""


def check_game(game: Game[Any], plays: int = 20, seed: int = 1) -> None:
    """Play `plays` random matches of a game, and raise `AssertionError` with every violated invariant.

    The invariants: the server's guard accepts each answer; positions are values that moves never change; the same move
    gives the same position; moves and positions can be written and read back; illegal moves are rejected; the winner
    and the utilities agree; a match ends within `MAX_PLIES` moves.
    """
    guarded, rng = OutsideGame(game), random.Random(seed)
    broken: dict[str, str] = {}
    for number in range(plays):
        played: list[int] = []
        for law in _broken_in_a_play(guarded, rng, played):
            moves = " ".join(game.move_names[move] for move in played)
            broken.setdefault(law, f"{law}, after {moves or 'no move'} (play {number + 1} of seed {seed})")
    assert not broken, "\n".join([f"{game.name} breaks {len(broken)} of the laws:", *broken.values()])


def count_plays(game: Game[Any], plies: int) -> int:
    """Return the number of sequences of moves with this length, for comparison with published counts (perft)."""

    def count(state: Any, left: int) -> int:  # noqa: ANN401 - each game has its own positions
        if left == 0:
            return 1
        if game.is_terminal(state):
            return 0
        return sum(count(game.result(state, move), left - 1) for move in game.actions(state))

    return count(game.initial, plies)


def _broken_in_a_play(game: OutsideGame, rng: random.Random, played: list[int]) -> Iterator[str]:
    state = game.initial
    while True:
        yield from _broken_in(game, state, rng)
        if game.is_terminal(state):
            return
        if len(played) == MAX_PLIES:
            yield f"a play ends within {MAX_PLIES} moves"
            return
        move = rng.choice(list(game.actions(state)))
        before = hash(state)
        after = game.advance(state, move)
        played.append(move)
        if hash(state) != before:
            yield "a move leaves the position as it is that it is made in"
        if game.inner.result(state, move) != after:
            yield "the same move leads to the same position"
        state = after


def _broken_in(game: OutsideGame, state: Any, rng: random.Random) -> Iterator[str]:  # noqa: ANN401
    """Yield the invariants that one position violates."""
    legal, outcome = game.actions(state), game.outcome(state)
    if len({game.move_names[move] for move in legal}) < len(legal):
        yield "no two legal moves have the same name"
    if outcome is not None:
        worth = 0 if outcome.winner is None else 1 - 2 * outcome.winner
        if (game.utility(state, 0), game.utility(state, 1)) != (worth, -worth):
            yield "the utilities of an end are 1 for the winner and -1 for the other, or 0 for both"
    else:
        yield from _broken_for_bots(game, state)
    for move in rng.sample(list(legal), min(3, len(legal))):
        try:
            if read_move(game, state, write_move(game, move)) != move:
                yield f"the name {game.move_names[move]} is read as that move"
        except Refusal as refusal:
            yield f"the name {game.move_names[move]} can be read ({refusal})"
    for move in {-1, len(game.move_names), *rng.sample(range(len(game.move_names)), min(3, len(game.move_names)))}:
        if move not in legal and not _is_refused(game, state, move):
            yield "an illegal move raises Refusal"
    yield from _broken_in_writing(game, state)


def _broken_for_bots(game: OutsideGame, state: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the invariants that what a game tells strategies about an unfinished position violates."""
    estimate = game.inner.estimate(state)
    if type(estimate) is not int or abs(estimate) >= MAX_ESTIMATE:
        yield f"an estimate is a whole number below {MAX_ESTIMATE:,}, and not {estimate!r}"
    words = game.playouts.words(state) if game.playouts is not None else ()
    if not all(type(word) is int and 0 <= word < 1 << 64 for word in words):
        yield "the words of playouts are whole numbers of 64 bits"


def _broken_in_writing(game: OutsideGame, state: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the invariants that the text and the drawing of a position violate."""
    text = write_position(game, state)
    try:
        if read_position(game, text) != state:
            yield f"the position {text} is read as it was written"
    except Refusal as refusal:
        yield f"the position {text} can be read ({refusal})"
    if len(text) > MAX_POSITION_LENGTH:
        yield f"a position is written in at most {MAX_POSITION_LENGTH} characters"
    if any(len(row) > 76 for row in draw_diagram(game, state, is_cropped=True)):
        yield "a drawing is at most 76 columns wide"


def _is_refused(game: OutsideGame, state: Any, move: int) -> bool:  # noqa: ANN401
    try:
        game.inner.result(state, move)
    except Refusal:
        return True
    except Exception:  # noqa: BLE001 - any other error is a violation
        return False
    return False
