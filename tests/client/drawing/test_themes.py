"""Colours: contrasts as WCAG 2.2 AA asks, what each terminal is shown, and boards that need no colour to be read."""

import re
from dataclasses import replace

import pytest
from msgspec import structs
from rich.color import Color, ColorSystem
from rich.style import Style

from tests.client.drawing.screens import SCREENS, with_blocks
from tests.client.pressing import seen
from tests.client.samples import snapshot
from ttt_net.client.drawing.board import draw_board
from ttt_net.client.drawing.draw import draw, grounded
from ttt_net.client.drawing.glyphs import ASCII, BOXES, CONSOLE, Glyphs
from ttt_net.client.drawing.sheet import coverage
from ttt_net.client.drawing.themes import (
    COLOURED,
    DARK,
    LIGHT,
    THEMES,
    Depth,
    Theme,
    blended,
    contrast,
    in_theme,
    is_on_light,
    theme_for,
)
from ttt_net.client.options import THEME_NAMES
from ttt_net.messages import Snapshot

TEXT, SIGN = 4.5, 3.0
"""The least contrasts of text, and of everything else that carries a meaning."""
NEEDED = [
    *(
        (text, ground, TEXT)
        for text in ("text", "quiet", "accent", "x", "o", "disc_x", "disc_o")
        for ground in ("ground",)
    ),
    *((text, ground, TEXT) for text in ("x", "o", "quiet") for ground in ("board", "board_2", "lit")),
    *((text, "last", TEXT) for text in ("x", "o", "text")),
    *((text, ground, TEXT) for text in ("text", "quiet") for ground in ("board", "lit")),
    ("accent", "board", TEXT),
    *((sign, ground, SIGN) for sign in ("accent", "line") for ground in ("board", "ground")),
    *(("accent", ground, SIGN) for ground in ("board_2", "lit", "last")),
    *((disc, ground, SIGN) for disc in ("disc_x", "disc_o") for ground in ("frame", "hole")),
    *(("hole", "frame", SIGN), ("on_frame", "frame", SIGN), ("wood_line", "wood", SIGN)),
    *((stone, ground, SIGN) for stone in ("black", "white", "on_frame") for ground in ("cloth", "cloth_2")),
    *((stone, "wood", SIGN) for stone in ("black", "white")),
    *(("on_light", light, TEXT) for light in ("win", "good", "bad")),
    *((light, "board", SIGN) for light in ("win", "good", "bad")),
]
"""Each colour, the one that it stands on, and the contrast that the two must have."""


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_each_theme_meets_double_a(theme: Theme) -> None:
    for depth in (Depth.TRUE, Depth.MANY):
        shown = as_shown(theme.name, depth)
        told = {
            f"{colour} on {ground}": round(contrast(shown[colour], shown[ground]), 2)
            for colour, ground, least in NEEDED
            if contrast(shown[colour], shown[ground]) < least
        }
        assert told == {}, depth


def as_shown(name: str, depth: Depth) -> dict[str, str]:
    """Return the colours of a theme as a terminal shows them: a palette of 256 colours lacks most of them."""
    theme = theme_for(name, depth)
    assert theme is not None
    system = ColorSystem.EIGHT_BIT if depth is Depth.MANY else ColorSystem.TRUECOLOR
    colours = ((each, Color.parse(getattr(theme, each)).downgrade(system)) for each in COLOURED)
    return {each: colour.get_truecolor().hex for each, colour in colours}


@pytest.mark.parametrize("name", THEMES)
def test_with_256_colours_each_light_differs_from_what_it_lies_on(name: str) -> None:
    shown = as_shown(name, Depth.MANY)
    pairs = [("lit", "board"), ("last", "board"), ("board_2", "board"), ("lit", "ground"), ("cloth_2", "wood")]
    assert [pair for pair in pairs if shown[pair[0]] == shown[pair[1]]] == []


def test_contrast_is_computed_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#ffffff", "#ffffff") == 1
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48
    assert round(contrast("#0072B2", "#10141c"), 1) == 3.6, "the blue of X in earlier releases"


def test_the_options_know_the_themes_by_name() -> None:
    assert tuple(THEMES) == THEME_NAMES


@pytest.mark.parametrize("name", THEMES)
def test_each_colour_of_a_theme_is_one_that_the_terminal_can_be_sent(name: str) -> None:
    for depth in (Depth.SIXTEEN, Depth.MANY, Depth.TRUE):
        theme = theme_for(name, depth)
        assert theme is not None
        for colour in COLOURED:
            Style.parse(f"{getattr(theme, colour)} on {getattr(theme, colour)}")
        assert all(getattr(theme, each).startswith("#") for each in COLOURED) is (depth is not Depth.SIXTEEN)
    assert theme_for(name, Depth.NONE) is None


def test_without_a_theme_the_ground_of_the_terminal_decides() -> None:
    assert theme_for(None, Depth.TRUE) is DARK
    assert theme_for(None, Depth.TRUE, is_on_light=True) is LIGHT
    grounds = {"0;15": True, "15;0": False, "0;default;7": True, "": False}
    assert {told: is_on_light({"COLORFGBG": told}) for told in grounds} == grounds


def test_rich_names_for_colours_are_depths() -> None:
    assert [Depth(name) for name in (None, "standard", "256", "truecolor", "windows")] == [
        *(Depth.NONE, Depth.SIXTEEN, Depth.MANY, Depth.TRUE, Depth.SIXTEEN),
    ]


def test_dim_text_has_the_quiet_colour_of_the_theme() -> None:
    assert in_theme("dim", DARK) == DARK.quiet
    assert in_theme("not dim bold", DARK) == f"{DARK.text} bold"
    assert in_theme("not dim #5cc8ff", DARK) == "#5cc8ff"
    assert in_theme("bold", DARK) == "bold"
    assert blended("#000000", "#ffffff", 0.5) == "#808080"


@pytest.mark.parametrize("name", sorted(SCREENS))
def test_every_page_fills_the_window_in_every_theme_and_says_the_same(name: str) -> None:
    display, glyphs = SCREENS[name]
    for theme in (DARK, theme_for("paper", Depth.SIXTEEN)):
        themed = replace(glyphs, theme=theme)
        drawn = draw(display, (80, 24), 0, themed)
        page = grounded(drawn, (80, 24), themed)
        lines = page.plain.split("\n")
        assert [len(line) for line in lines] == [80] * 24 or not page.plain.isascii()
        assert [line.rstrip() for line in lines] == [line.rstrip() for line in drawn.plain.split("\n")]
        assert "dim" not in " ".join(str(span.style) for span in page.spans) or theme is not DARK


@pytest.mark.parametrize("glyphs", [BOXES, CONSOLE, ASCII], ids=["unicode", "console", "ascii"])
@pytest.mark.parametrize("game", ["tictactoe", "connect4", "gomoku", "ultimate", "qubic"])
def test_without_colours_the_two_marks_differ_in_shape(game: str, glyphs: Glyphs) -> None:
    for size in ((200, 60), (80, 16), (36, 9)):
        pictures = []
        for moves in ([38, 31], [31, 38]) if game == "connect4" else ([4, 0], [0, 4]):
            match = snapshot(game, [])
            board = list(match.position.board)
            board[moves[0]], board[moves[1]] = "X", "O"
            position = with_board(match, "".join(board))
            lines = draw_board(seen(position), *size, glyphs)
            pictures.append("\n".join(line.plain for line in lines) if lines is not None else "too small")
        assert pictures[0] != pictures[1] or "too small" in pictures


def with_board(match: Snapshot, board: str) -> Snapshot:
    """Return the match with other marks on its board."""
    return structs.replace(match, position=structs.replace(match.position, board=board))


@pytest.mark.parametrize("size", [4, 6, 8, 12])
def test_full_discs_and_those_with_a_hole_are_round_and_differ(size: int) -> None:
    disc, coin = (coverage(look, size, size) for look in ("disc", "coin"))
    for pixels in (disc, coin):
        assert pixels == pixels[::-1] == tuple(row[::-1] for row in pixels), "alike in all directions"
        assert pixels[0][0] < 0.5 < pixels[0][size // 2] + pixels[1][size // 2]
    middle = size // 2
    assert disc[middle][middle] == 1
    assert coin[middle][middle] < 0.5


def test_a_won_row_of_small_boards_is_lit() -> None:
    match = with_blocks("XXX......")
    position = structs.replace(match.position, line=list(range(27)))
    won = seen(structs.replace(match, position=position))
    themed = draw(won, (80, 24), 0, replace(BOXES, theme=DARK))
    assert any(f"on {DARK.win}" in str(span.style) for span in themed.spans)
    assert "*" in draw(won, (80, 24), 0, BOXES).plain


def test_lights_are_grounds_and_leave_no_frames_where_there_are_colours() -> None:
    won = seen(snapshot("tictactoe", [4, 0, 2, 1, 6]))
    plain = draw(won, (80, 24), 0, BOXES).plain
    themed = draw(won, (80, 24), 0, replace(BOXES, theme=DARK))
    assert "*" in plain
    assert "*" not in themed.plain
    assert any(f"on {DARK.win}" in str(span.style) for span in themed.spans)
    assert re.search(r"[█▀▄]", themed.plain)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_a_winning_line_of_stones_keeps_their_colours_on_a_light_that_shows_them(theme: Theme) -> None:
    rows = {"black": [112, 97, 113, 98, 114, 99, 111, 115, 110], "white": [0, 112, 2, 113, 4, 114, 6, 111, 8, 110]}
    for stone, moves in rows.items():
        board = draw_board(seen(snapshot("gomoku", moves)), 80, 20, replace(BOXES, theme=theme)) or []
        colour = getattr(theme, stone)
        lit = {
            str(span.style).rpartition("on ")[2]
            for line in board
            for span in line.spans
            if isinstance(span.style, str) and "●" in line.plain[span.start : span.end] and colour in span.style
            if f"on {theme.wood}" not in span.style
        }
        assert len(lit) == 1, "a light of its own"
        assert contrast(colour, lit.pop()) >= SIGN


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_large_stones_of_a_winning_line_have_a_dot_each_and_the_others_fade(theme: Theme) -> None:
    moves = [112, 97, 113, 98, 114, 99, 111, 115, 110]
    board = draw_board(seen(snapshot("gomoku", moves)), 120, 34, replace(BOXES, theme=theme)) or []
    styled = [(str(span.style), line.plain[span.start : span.end]) for line in board for span in line.spans]
    dots = [text for style, text in styled if style.split()[-3:] == [theme.white, "on", theme.black]]
    assert "".join(dots) == "▄▄" * 5 + "▀▀" * 5
    assert any(blended(theme.white, theme.wood, 0.55) in style for style, _ in styled)
    assert not any(f"{theme.white} on {theme.wood}" in style for style, _ in styled), "no stone beside the line"


@pytest.mark.parametrize(("name", "role"), [("rules-of-connect4", "disc_x"), ("rules-of-ultimate", "x")])
def test_the_rules_name_a_mark_in_the_colour_that_it_has_on_the_board(name: str, role: str) -> None:
    page = draw(SCREENS[name][0], (120, 40), 0, replace(BOXES, theme=DARK))
    styles = {str(span.style) for span in page.spans if page.plain[span.start : span.end] == "X"}
    assert f"bold {getattr(DARK, role)}" in styles


def starts_of_rows(game: str, width: int, height: int) -> list[int]:
    """Return how far to the right each labelled row of a board begins, from the top."""
    board = draw_board(seen(snapshot(game)), width, height, replace(BOXES, theme=DARK)) or []
    lines = [line.plain for line in board if line.plain.lstrip()[:1] in ("1", "2", "3")]
    return [len(line) - len(line.lstrip()) for line in lines]


@pytest.mark.parametrize(("game", "size"), [("tictactoe3d", (93, 34)), ("qubic", (120, 45)), ("scorefour", (120, 45))])
def test_layers_lie_in_perspective_where_there_is_room(game: str, size: tuple[int, int]) -> None:
    first, second, third, *_ = starts_of_rows(game, *size)
    assert first > second > third, "each row further to the right than the one below"


def test_layers_whose_crosses_would_not_be_recognised_in_perspective_lie_flat() -> None:
    assert len(set(starts_of_rows("qubic", 93, 34))) == 1


@pytest.mark.parametrize("size", [6, 8, 10, 12])
def test_discs_do_not_touch_where_nothing_separates_their_cells(size: int) -> None:
    pixels = [[share >= 0.5 for share in row] for row in coverage("disc", size, size, is_tight=True)]
    assert any(pixels[0])
    assert not any(pixels[-1])
    assert not any(row[-1] for row in pixels)


def test_a_small_cross_is_two_thin_diagonals() -> None:
    pixels = [[share >= 0.5 for share in row] for row in coverage("cross", 6, 6, is_tight=True)]
    assert pixels == [[row < 5 and column in (row, 4 - row) for column in range(6)] for row in range(6)]
