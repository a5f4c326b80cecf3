"""Bytes sent to terminals of every kind, encoding and size, keys as they arrive, and motion on the screen."""

import errno
import io
import os
import random
import sys
import unicodedata
from dataclasses import replace
from dataclasses import replace as changed

import pyte
import pytest
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tests.client.drawing.screens import SCREENS
from tests.client.samples import BEN, LIVE, PLAYERS, SEEKS, knowing, played, snapshot, welcome
from ttt_net.client import words
from ttt_net.client.display import Command, Display, Page
from ttt_net.client.drawing.draw import draw, draw_list
from ttt_net.client.drawing.glyphs import ASCII, BOXES, encodable, glyphs_for
from ttt_net.client.mailbox import Clicked, Focused, Key, Pasted, TerminalEvent
from ttt_net.client.screens.screen import Row
from ttt_net.client.terminal import canvas as canvases
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.terminal.keyboard import event_of
from ttt_net.client.terminal.painter import (
    FALL_MS,
    SLOW_MS,
    STROKE_MS,
    STROKES,
    SWEEP_MS,
    TerminalScreen,
    has_motion,
    in_motion,
    motion_between,
)
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.messages import Chatted, PlayerInfo, Tookback

SIZES = [(20, 6), (24, 8), (40, 12), (63, 15), (80, 24), (120, 40), (200, 60)]
VIEWS = [
    "lobby",
    "games",
    "connect4-clock",
    "start-of-gomoku",
    "cube-of-four",
    "ultimate",
    "tictactoe-lost-link",
    "chat",
]


class Wire:
    """A terminal that is only its bytes, and what they show."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, encoding: str, size: tuple[int, int]) -> None:
        self.bytes = io.BytesIO()
        self.size = size
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(self.bytes, encoding, newline="\r\n", write_through=True))
        monkeypatch.setattr(canvases, "termios", None)
        monkeypatch.setenv("COLUMNS", str(size[0]))
        monkeypatch.setenv("LINES", str(size[1]))

    def display(self, encoding: str) -> list[str]:
        terminal = pyte.Screen(*self.size)
        pyte.Stream(terminal).feed(self.bytes.getvalue().decode(encoding))
        return [line.rstrip() for line in terminal.display]


@pytest.mark.parametrize(
    ("term", "encoding"),
    [
        ("xterm-256color", "utf-8"),
        ("xterm-256color", "ascii"),
        ("vt100", "latin-1"),
        ("vt100", "cp437"),
        ("linux", "cp437"),
        ("linux", "utf-8"),
        ("screen", "utf-8"),
        ("screen", "ascii"),
    ],
)
def test_every_terminal_shows_exactly_the_picture_and_no_line_wraps(
    monkeypatch: pytest.MonkeyPatch, term: str, encoding: str
) -> None:
    rng = random.Random(f"{term} {encoding}")
    monkeypatch.setenv("TERM", term)
    for size in SIZES:
        for has_colour in (True, False):
            monkeypatch.delenv("NO_COLOR", raising=False)
            if not has_colour:
                monkeypatch.setenv("NO_COLOR", "1")
            display = SCREENS[rng.choice(VIEWS)][0]
            wire = Wire(monkeypatch, encoding, size)
            glyphs = glyphs_for(encoding, is_ascii=False)
            canvas = Canvas()
            screen = TerminalScreen(canvas, glyphs)
            with canvas.opened():
                screen.paint(display, 0)
                shown = wire.display(encoding)
            expected = encodable(draw(display, size, 0, glyphs).plain, encoding).split("\n")
            assert shown == [line.rstrip() for line in expected]
            assert has_colour or b"[38;" not in wire.bytes.getvalue()


def test_nothing_is_written_when_nothing_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire(monkeypatch, "utf-8", (80, 24))
    canvas = Canvas()
    screen = TerminalScreen(canvas, BOXES)
    with canvas.opened():
        screen.paint(SCREENS["lobby"][0], 1)
        written = len(wire.bytes.getvalue())
        for now_ms in range(1, 900, 100):
            screen.paint(SCREENS["lobby"][0], now_ms)
        assert len(wire.bytes.getvalue()) == written


@pytest.mark.parametrize("has_motion", [True, False])
def test_a_mark_is_seen_to_fall_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch, has_motion: bool) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    wire = Wire(monkeypatch, "utf-8", (80, 24))
    canvas = Canvas()
    screen = TerminalScreen(canvas, ASCII, has_motion=has_motion)
    before = update(update(Display(), welcome(), 0), snapshot("connect4", [38], opponent=BEN), 0)
    after = update(before, played("connect4", [38, 31]), 0)
    rows = []
    with canvas.opened():
        screen.paint(before, 0)
        for now_ms in range(0, 10 * FALL_MS, FALL_MS):
            screen.paint(after, now_ms)
            rows.append(next(number for number, line in enumerate(wire.display("utf-8")[6:]) if "O" in line))
            assert (screen.wait_ms is not None) is (has_motion and now_ms < 4 * FALL_MS)
    assert rows[-1] == rows[9]
    assert (len(set(rows)) == 5) is has_motion, "in four rows above the one that it comes to lie in"


def test_a_quiet_terminal_neither_rings_nor_has_another_title(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for is_quiet in (True, False):
        wire = Wire(monkeypatch, "utf-8", (80, 24))
        canvas = Canvas()
        screen = TerminalScreen(canvas, BOXES, is_quiet=is_quiet)
        screen.is_focused = False
        with canvas.opened():
            screen.paint(update(Display(), welcome(), 0), 0)
            screen.paint(SCREENS["start-of-tictactoe"][0], 0)
        assert (b"\x07\x07" in wire.bytes.getvalue()) is not is_quiet


def test_a_challenge_rings_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    wire = Wire(monkeypatch, "utf-8", (80, 24))
    canvas = Canvas()
    screen = TerminalScreen(canvas, BOXES)
    screen.is_focused = False
    with canvas.opened():
        screen.paint(SCREENS["lobby"][0], 0)
    assert b"\x1b]2;* a challenge - ttt_net\x07\x07" in wire.bytes.getvalue()


def test_copied_text_goes_to_the_clipboard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    wire = Wire(monkeypatch, "utf-8", (80, 24))
    canvas = Canvas()
    screen = TerminalScreen(canvas, BOXES)
    display = replace(SCREENS["tictactoe-won"][0], copied="http://192.168.1.20:8765/m/m1")
    with canvas.opened():
        screen.paint(display, 0)
        screen.paint(display, 0)
    assert wire.bytes.getvalue().count(b"\x1b]52;c;aHR0cDovLzE5Mi4xNjguMS4yMDo4NzY1L20vbTE=\x07") == 1


def test_a_closed_terminal_is_reported_as_unread_output(monkeypatch: pytest.MonkeyPatch) -> None:
    person, ours = os.openpty()
    os.close(person)
    with os.fdopen(ours, encoding="utf-8") as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        with pytest.raises(OSError, match="Input/output error") as told, Canvas().opened():
            pass
    assert told.value.errno == errno.EIO, "which `main` takes for a window that was closed"


ASSIGNED = (*range(0x20000), *range(0xE0000, 0xE0200))
"""All code points that have a meaning of their own, and are not for private use."""
ALIKE = range(0x20000, sys.maxunicode + 1, 97)
"""Some of the planes in which all are alike."""


def chunks(size: int) -> list[str]:
    """Every code point that has a meaning, and some of the others, in texts of that length."""
    points = [chr(point) for point in (*ASSIGNED, *ALIKE)]
    return ["".join(points[start : start + size]) for start in range(0, len(points), size)]


def is_only_text(text: str) -> bool:
    return all(unicodedata.category(each)[0] not in "CZ" or each == " " for each in text)


@pytest.mark.parametrize("what", ["name", "chat"])
def test_every_code_point_leaves_only_text_within_the_line(what: str) -> None:
    if what == "name":
        texts = [words.full_label(PlayerInfo(text)) for text in chunks(20)]
    else:
        texts = [words.chatted(Chatted("m1", "players", BEN, text)) for text in chunks(100)]
    rows = [Row((text, "beside it"), f"row:{number}", Command.PLACE) for number, text in enumerate(texts)]
    lines = draw_list(rows, Page("lobby"), (80, len(rows) * 4), BOXES)
    assert all(is_only_text(line.plain) for line in lines)
    assert max(cell_len(line.plain) for line in lines) <= 80
    paper = io.StringIO()
    console = Console(file=paper, width=80, color_system=None, markup=False, highlight=False, emoji=False)
    for start in range(0, len(lines), 500):
        console.print(Text("\n").join(lines[start : start + 500]), soft_wrap=True)
    written = paper.getvalue()
    assert written.split("\n")[:-1] == [line.plain for line in lines]
    assert "\x1b" not in written


def test_a_name_of_wide_letters_keeps_every_page_in_its_lines() -> None:
    wide = PlayerInfo("名前が長い人です名前", "bot", 8, 2210)
    display = update(Display(), welcome(), 0)
    for event in (SEEKS, PLAYERS, LIVE, snapshot("connect4", [38], opponent=wide)):
        display = update(display, event, 0)
    display = update(display, Chatted("m1", "players", wide, "名前が長い人です" * 12), 0)
    for width in range(24, 130, 3):
        for glyphs in (BOXES, ASCII):
            lines = draw(display, (width, 24), 0, glyphs).split("\n", allow_blank=True)
            assert max(line.cell_len for line in lines) <= width


def events(data: str) -> list[TerminalEvent | None]:
    presses: list[KeyPress] = []
    parser = Vt100Parser(presses.append)
    parser.feed_and_flush(data)
    return [event_of(press) for press in presses]


@pytest.mark.parametrize(
    ("data", "event"),
    [
        ("a", Key("a")),
        ("\r", Key("c-m")),
        ("\x1b[A", Key("up")),
        ("\x1b", Key("escape")),
        ("\x1b[<0;40;12M", Clicked(39, 11)),
        ("\x1b[<0;40;12m", None),
        ("\x1b[<2;40;12M", None),
        ("\x1b[<64;1;1M", Key("up")),
        ("\x1b[<65;1;1M", Key("down")),
        ("\x1b[<99999999999;1;1M", None),
        ("\x1b[I", Focused(True)),
        ("\x1b[O", Focused(False)),
        ("\x1b[200~b2\x1b[A\r\x1b[201~", Pasted("b2\x1b[A\r")),
    ],
)
def test_each_input_of_a_terminal_becomes_one_event(data: str, event: TerminalEvent | None) -> None:
    assert events(data) == [event]


COLUMN = [38, 31, 24]
"""Three marks in the middle column, the last in the third row from below."""


def shown(game: str, moves: list[int]) -> Display:
    return update(update(Display(World(address="here")), welcome(), 0), snapshot(game, moves, opponent=BEN), 0)


def test_a_mark_falls_row_by_row_to_its_place() -> None:
    before = shown("connect4", COLUMN[:-1])
    after = update(before, played("connect4", COLUMN), 0)
    motion = motion_between(before, after, 1_000)
    assert motion is not None
    boards = []
    for number in range(3):
        frame = motion.frame(after, 1_000 + number * FALL_MS)
        assert frame is not None
        boards.append(in_motion(after, frame).match)
    marks = [board.position.board.index("X") for board in boards if board is not None]
    assert marks == [3, 10, 17]
    assert motion.frame(after, 1_000 + 3 * FALL_MS) is None, "it lies there"
    assert motion.frame(shown("connect4", COLUMN[:-1]), 1_000) is None


def test_light_runs_along_a_winning_line_in_half_a_second() -> None:
    won = [38, 31, 37, 30, 36, 29, 35]
    before = shown("connect4", won[:-1])
    after = update(before, played("connect4", won), 0)
    motion = motion_between(before, after, 0)
    assert motion is not None
    fall_ms = 5 * FALL_MS
    frames = [motion.frame(after, fall_ms + number * SWEEP_MS // 4) for number in range(4)]
    assert [len(frame.line) if frame is not None else -1 for frame in frames] == [0, 1, 2, 3]
    assert motion.frame(after, fall_ms + SWEEP_MS) is None, "then all of it is lit"


def test_a_mark_is_drawn_stroke_by_stroke() -> None:
    before = shown("tictactoe", [4])
    after = update(before, played("tictactoe", [4, 0]), 0)
    motion = motion_between(before, after, 0)
    assert motion is not None
    pictures = []
    for number in range(STROKES):
        frame = motion.frame(after, number * STROKE_MS)
        seen = in_motion(after, frame) if frame is not None else after
        pictures.append(draw(seen, (80, 24), 0, BOXES).plain)
    inked = [sum(picture.count(block) for block in "█▀▄") for picture in pictures]
    assert inked == sorted(set(inked)), "each picture has more of it than the one before"
    assert motion.frame(after, (STROKES - 1) * STROKE_MS) is None


def test_nothing_moves_where_nothing_falls_or_the_link_is_slow_or_another_page_is_seen() -> None:
    before = shown("gomoku", [112])
    after = update(before, played("gomoku", [112, 113]), 0)
    assert motion_between(before, after, 0) is None, "stones are just there"
    before = shown("connect4", COLUMN[:-1])
    after = update(before, played("connect4", COLUMN), 0)
    assert motion_between(None, after, 0) is None
    assert motion_between(after, after, 0) is None
    assert motion_between(before, knowing(after, latency_ms=SLOW_MS + 1), 0) is None
    assert motion_between(before, changed(after, pages=(*after.pages, Page("replay"))), 0) is None
    back = update(after, Tookback("m1", 5, 0, side=0, ply=2), 0)
    assert motion_between(after, back, 0) is None


@pytest.mark.parametrize(
    ("environment", "moves"),
    [
        ({}, True),
        ({"SSH_CONNECTION": "1"}, False),
        ({"TTT_NET_MOTION": "on", "SSH_CONNECTION": "1"}, True),
        ({"TTT_NET_MOTION": "off"}, False),
    ],
)
def test_motion_is_off_on_request_and_on_remote_terminals(environment: dict[str, str], moves: bool) -> None:
    assert has_motion(environment) is moves
