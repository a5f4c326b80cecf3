"""The playthroughs are as the code plays them today."""

from pathlib import Path

import pytest

from tests.games.playthroughs import FOLDER, GAMES, draw, ending_of, moves_in, path_of
from ttt_net.games import find_game

FILES = sorted(FOLDER.glob("*.txt"))
NEVER_DRAWN = {"tictactoe3d", "tictactoe3d+swap"}
"""Every full cube has a line, so these cannot end in a draw."""


def test_there_is_a_playthrough_of_every_game_and_ending() -> None:
    wanted = {
        path_of(name, ending)
        for name in GAMES
        for ending in ("first", "second", "draw")
        if ending != "draw" or name not in NEVER_DRAWN
    }
    assert set(FILES) == wanted


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_play_is_drawn_as_it_was(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    game = find_game(text.splitlines()[0].removeprefix("game: "))
    moves = moves_in(game, text)
    assert draw(game, moves) == text
    state = game.initial
    for move in moves:
        state = game.result(state, move)
    assert path.stem.endswith(f"_{ending_of(game, state)}")
