"""Golden playthroughs: whole plays as text, one file per game and kind of ending.

`python -m tests.games.playthroughs --write` writes what is missing and draws the others anew from their moves;
look at the difference before you commit it. The test compares.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.game import Game
from ttt_net.games.geometry import cell_name
from ttt_net.games.line import LineState
from ttt_net.games.notation import read_move, write_position

FOLDER = Path(__file__).parent / "playthroughs"
GAMES = (*NAMES, "mnk:5x4,4", "connect:4x5,3", "tictactoe3d+swap", "connect4+swap")
TRIES = 400
"""Random plays among which the shortest of each ending is chosen."""
PEACEFUL_TRIES = 40
"""Further plays in which nobody completes a line who can help it."""
REPETITION = [0, 2, 1, 4, 3, 7, 5, 8] * 2 + [0, 2, 1, 4, 3, 7]
"""Each side of a vanishing game walks around four cells; the position after six plies stands for the third time."""


def ending_of(game: Game[Any], state: Any) -> str:
    outcome = game.outcome(state)
    assert outcome is not None
    return "draw" if outcome.winner is None else ("first", "second")[outcome.winner]


def random_plays(game: Game[Any]) -> dict[str, list[int]]:
    """The shortest random play of each ending; with swap, one in which it happens."""
    rng = random.Random(game.name)
    found: dict[str, list[int]] = {}
    for attempt in range(TRIES + PEACEFUL_TRIES):
        state, moves = game.initial, list[int]()
        while not game.is_terminal(state):
            legal = game.actions(state)
            if game.move_names[legal[-1]] == "swap":
                legal = legal[-1:]
            elif attempt >= TRIES:
                legal = peaceful(game, state)
            moves.append(rng.choice(legal))
            state = game.result(state, moves[-1])
        ending = ending_of(game, state)
        if ending not in found or len(moves) < len(found[ending]):
            found[ending] = moves
    if game.name == "vanishing":
        found["draw"] = REPETITION
    return found


def peaceful(game: Game[Any], state: Any) -> Sequence[int]:
    """The moves that complete no line; first of all those that keep the other side from completing one."""
    legal = game.actions(state)
    quiet = tuple(move for move in legal if not game.line(game.result(state, move))) or legal
    if not isinstance(state, LineState):
        return quiet
    passed = state._replace(ply=state.ply + 1)
    return tuple(move for move in quiet if game.line(game.result(passed, move))) or quiet


def path_of(name: str, ending: str) -> Path:
    return FOLDER / f"{name.translate(str.maketrans(':,', '--'))}_{ending}.txt"


def draw(game: Game[Any], moves: list[int]) -> str:
    """The whole play as text."""
    state = game.initial
    lines = [f"game: {game.name}", f"moves: {' '.join(game.move_names[move] for move in moves)}", ""]
    lines += describe(game, state)
    for ply, move in enumerate(moves, start=1):
        side = game.to_move(state)
        state = game.result(state, move)
        lines += ["", f"{ply}. side {side} plays {game.move_names[move]} (move {move}, cell {game.move_cells[move]})"]
        lines += describe(game, state)
    return "\n".join(lines) + "\n"


def describe(game: Game[Any], state: Any) -> list[str]:
    lines = [f"   {write_position(game, state)}"]
    outcome = game.outcome(state)
    if outcome is None:
        names = [game.move_names[move] for move in game.actions(state)]
        shown = names if len(names) <= 18 else [*names[:3], "...", *names[-3:]]
        mark = game.marks(state)[game.to_move(state)]
        return [*lines, f"   side {game.to_move(state)} places {mark}; {len(names)} legal: {' '.join(shown)}"]
    names = [game.move_names[cell] if game.block else cell_name(game.shape, cell) for cell in game.line(state)]
    line = " ".join(names) or "none"
    winner = "nobody" if outcome.winner is None else f"side {outcome.winner}"
    return [*lines, f"   {winner} wins: {outcome.reason}; line: {line}"]


def moves_in(game: Game[Any], text: str) -> list[int]:
    """The moves of a playthrough."""
    state, moves = game.initial, []
    for word in text.splitlines()[1].removeprefix("moves:").split():
        moves.append(read_move(game, state, word))
        state = game.result(state, moves[-1])
    return moves


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in GAMES:
        game = find_game(name)
        for ending, moves in random_plays(game).items():
            path = path_of(name, ending)
            if path.exists():
                moves = moves_in(game, path.read_text(encoding="utf-8"))
            path.write_text(draw(game, moves), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="write the files")
    parser.parse_args()
    write()
