"""Boards of games from other packages in the terminal: hexagons, captures, passes, and how they end."""

import random
import re

import pytest
from msgspec import structs

from tests.client.pressing import seen
from tests.client.samples import BEN, snapshot
from ttt_net.client import words
from ttt_net.client.display import Point
from ttt_net.client.drawing.board import place_of
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import ASCII, BOXES, Glyphs
from ttt_net.client.lines.line_renderer import ScreenReader
from ttt_net.games import find_game
from ttt_net.games.rules import find_rules
from ttt_net.messages import NoteInfo, OutcomeInfo, Snapshot

pytestmark = pytest.mark.usefixtures("examples")
SIZES = [(120, 40), (80, 24), (60, 18), (40, 12)]


def played(name: str, *moves: str) -> Snapshot:
    game = find_game(name)
    return snapshot(name, [game.move_names.index(move) for move in moves], opponent=BEN)


def page(match: Snapshot, size: tuple[int, int] = (80, 24), glyphs: Glyphs = BOXES) -> str:
    drawn = draw(seen(match), size, 0, glyphs)
    return "\n".join(line.rstrip() for line in drawn.plain.split("\n"))


def test_rows_of_hexagons_are_shifted_by_half_a_cell_and_show_who_owns_the_edges() -> None:
    lines = page(played("hex", "a1", "b2", "d4"), glyphs=ASCII).split("\n")
    found = [re.search(r"(\d) O(.*) O\b", line) for line in lines]
    rows = [row for row in found if row is not None]
    assert [row[1] for row in rows] == list("1234567")
    assert [row.start() for row in rows] == [rows[0].start() + 2 * n for n in range(7)]
    assert rows[0][2].split()[0] == "X"
    assert [line.split()[:7] for line in lines if "X   X" in line] == [["X"] * 7] * 2


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["hex", "pente", "othello", "hex+swap"])
def test_each_added_game_fits_each_size_with_its_last_move_in_sight(name: str, size: tuple[int, int]) -> None:
    game, luck = find_game(name), random.Random(7)
    state, moves = game.initial, list[int]()
    for _ in range(9):
        moves.append(luck.choice(list(game.actions(state))))
        state = game.result(state, moves[-1])
    drawn = page(snapshot(name, moves, opponent=BEN), size)
    assert all(len(line) <= size[0] for line in drawn.split("\n"))
    assert (
        "(○)" in drawn
        or "(●)" in drawn
        or re.search(r"\([●○▀▄█▇▟▙▜▛]+\)", drawn)
        or f"last: {game.move_names[moves[-1]]}" in drawn
    )


def test_a_click_on_a_hexagon_is_a_click_on_its_cell() -> None:
    drawn = draw(seen(played("hex")), (80, 24), 0, BOXES)
    rows = [line for line in drawn.split("\n", allow_blank=True) if place_of(line, Point(3 + 7 * 2)) >= 0]
    assert len(rows) == 1


def test_a_chain_that_wins_is_marked_and_named() -> None:
    match = played("hex", *find_rules("hex").example.split())
    assert page(match).count("*●*") == 7
    assert words.result(match) == "You won: you connected both edges."
    other = structs.replace(match, you=1, players=(match.players[1], match.players[0]))
    assert words.result(other) == "You lost: Ben connected both edges."


def test_counters_stand_beside_the_board_and_are_said() -> None:
    match = played("pente", "g7", "h7", "a1", "i7", "j7")
    assert words.counters(match) == ["Pairs: X 1 of 5, O 0 of 5"]
    assert "Pairs: X 1 of 5" in page(match)


def test_a_note_says_what_the_next_move_has_to_respect() -> None:
    match = played("othello")
    noted = structs.replace(match.position, notes=[NoteInfo("pass", text="no move turns a disc: pass")])
    assert words.status(seen(structs.replace(match, position=noted))).endswith("; no move turns a disc: pass.")


def test_an_error_of_the_rules_is_shown_with_its_consequence_for_the_game() -> None:
    match = structs.replace(played("hex"), outcome=OutcomeInfo(None, "abort", "the rules of hex failed: Oops"))
    assert words.result(match) == "The match was called off: the rules of hex failed: Oops. It does not count."


def test_a_sentence_of_a_stranger_is_no_format_string() -> None:
    match = played("hex", *find_rules("hex").example.split())
    game = structs.replace(match.game, endings={"connection": "{winner.__class__} \x1b[2J{0} won"})
    assert words.result(structs.replace(match, game=game)) == "You won: {winner.__class__} [2J{0} won."


def test_rows_are_read_aloud_by_the_names_of_the_moves() -> None:
    told = ScreenReader().answer("board", seen(played("hex", "a1", "b2", "d7")), 0)
    assert told is not None
    rows = told.split("\n")
    assert rows[0] == "Row 1: X, empty, empty, empty, empty, empty, empty."
    assert rows[6] == "Row 7: empty, empty, empty, X, empty, empty, empty."
    assert ScreenReader().answer("row 2", seen(played("hex", "a1", "b2")), 0) == (
        "Row 2: empty, O, empty, empty, empty, empty, empty."
    )
    assert ScreenReader().answer("row 8", seen(played("hex")), 0) == (
        "There is no row 8; rows are 1, at the top, to 7, at the bottom."
    )
    assert ScreenReader().answer("board", seen(played("pente", "g7", "h7")), 0) == "Row 7: X at g, O at h."
