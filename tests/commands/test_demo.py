"""A bot's lines as the demo shows them."""

from collections.abc import Iterator
from threading import Event

from rich.text import Text

from tests.client import samples
from tests.patience import PATIENCE_S
from ttt_net import messages as wire
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.commands.demo import KILLED_AT_PLY, DemoStage

MOVES = [38, 39, 31, 32, 40, 41]


def test_the_server_is_killed_in_time_though_pictures_are_late() -> None:
    killed, restarted, shown = Event(), [], list[str]()

    def lines() -> Iterator[str]:
        yield line(samples.snapshot("connect4"))
        for count in range(1, KILLED_AT_PLY + 1):
            yield line(samples.played("connect4", MOVES[:count]))
        assert killed.wait(PATIENCE_S)  # before anything more is played
        yield line(samples.snapshot("connect4", MOVES))

    def show(picture: Text, seconds: float) -> None:
        assert killed.wait(PATIENCE_S)  # the first picture is drawn when six moves were made
        shown.append(picture.plain)

    times = iter((3.0, 3.62))
    stage = DemoStage(show, BOXES, 24, is_moving=False, clock_s=lambda: next(times))
    stage.play(lines(), killed.set, lambda: restarted.append(True))
    assert restarted == [True]
    assert "The server is back: all 6 moves are there, nothing is lost." in shown[-1]
    assert stage.proof == "The proof: killed after move 6 (kill -9), back after 0.6 s, 0 moves lost."


def line(message: wire.AnyServerMessage) -> str:
    return wire.encode(message).decode()


def test_lines_that_are_closed_at_the_end_are_no_fault() -> None:
    def lines() -> Iterator[str]:
        yield line(samples.snapshot("connect4"))
        raise ValueError("I/O operation on closed file")

    stage = DemoStage(lambda picture, seconds: None, BOXES, 24, is_moving=False)
    match = stage.play(lines(), lambda: None, lambda: None)
    assert match is not None
    assert match.moves == []
