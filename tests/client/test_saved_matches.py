"""A match as a picture that moves: one that any browser plays, of every game."""

import random
import re
from dataclasses import replace
from xml.dom import minidom

import pytest

from ttt_net.client.saved_matches import LETTER, MARGIN, MAX_PLIES, film_of
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer

PLAYERS = (RecordedPlayer("Ann <script>"), RecordedPlayer("Mia", "alphabeta"))


def played(game_name: str, moves: list[int] | None = None) -> Record:
    """Return the record of those moves, or of a match of chance to its end."""
    game, rng, state = find_game(game_name), random.Random(5), find_game(game_name).initial
    made: list[int] = []
    while not game.is_terminal(state) and (moves is None or len(made) < len(moves)):
        move = rng.choice(list(game.actions(state))) if moves is None else moves[len(made)]
        made.append(move)
        state = game.result(state, move)
    return Record(game_name, PLAYERS, tuple(map(RecordedMove, made)), game.outcome(state))


@pytest.mark.parametrize("name", [*NAMES, "gomoku+swap"])
def test_every_game_is_a_picture_that_ends_as_the_match_did(name: str) -> None:
    record = played(name)
    game = find_game(name)
    state = game.initial
    for made in record.moves:
        state = game.result(state, made.move)
    picture = film_of(record)
    assert minidom.parseString(picture).documentElement is not None
    left = re.findall('<(?:path|circle) class="m ', picture)
    gone = picture.count(";opacity:0}@keyframes")
    assert len(left) - gone == sum(mark != "." for mark in game.board(state))
    assert picture.count('class="end" x=') == len(set(game.line(state)))
    assert "prefers-reduced-motion:reduce" in picture


def test_names_are_no_markup_and_nothing_is_fetched() -> None:
    picture = film_of(played("connect4"))
    assert "<script" not in picture
    assert "Ann &lt;script&gt;" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_the_names_of_the_players_are_whole_above_a_small_board() -> None:
    name = "Maximiliane Wagner 2"
    record = replace(played("tictactoe"), players=(RecordedPlayer(name), RecordedPlayer("Mia", "alphabeta")))
    found = re.search('viewBox="0 0 ([0-9]+) ', film_of(record))
    assert found is not None
    assert int(found[1]) >= 2 * MARGIN + LETTER * len(f"Tic-tac-toe: {name} – Mia")


def test_marks_fall_only_where_they_fall_in_the_game() -> None:
    assert "translateY" in film_of(played("connect4"))
    assert "translateY" not in film_of(played("tictactoe"))


def test_a_mark_that_vanishes_goes_with_its_move_and_a_long_match_is_cut() -> None:
    vanishing = film_of(played("vanishing", [0, 1, 3, 4, 8, 5, 7]))
    assert vanishing.count(";opacity:0}@keyframes") == 1
    long = film_of(played("mnk:19x19,19", list(range(361))))
    assert long.count("@keyframes k") <= MAX_PLIES


def test_matches_of_unknown_games_are_rejected() -> None:
    with pytest.raises(Refusal):
        film_of(Record("chess", PLAYERS, ()))
    with pytest.raises(Refusal):
        film_of(Record("tictactoe", PLAYERS, (RecordedMove(4), RecordedMove(4))))
