"""Lines from a pipe or a terminal, and a question that nothing typed before it may answer."""

import asyncio
import contextlib
import os
from collections.abc import Iterator

import pytest

from tests.patience import PATIENCE_S
from ttt_net.client.lines.typed_lines import line_reader
from ttt_net.client.mailbox import Event, Line
from ttt_net.client.user_io import ask_anew


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe: where it is read, and where it is written."""
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


async def heard(mailbox: "asyncio.Queue[Event]", count: int) -> list[str | None]:
    async with asyncio.timeout(PATIENCE_S):
        letters = [await mailbox.get() for _ in range(count)]
    return [letter.text for letter in letters if isinstance(letter, Line)]


async def test_lines_come_in_order_and_so_does_their_end(pipe: tuple[int, int]) -> None:
    source, end = pipe
    os.write(end, b"who\nb2\nqu")
    mailbox: asyncio.Queue[Event] = asyncio.Queue(1)
    with line_reader(mailbox, source) as begin:
        assert begin()
        assert await heard(mailbox, 2) == ["who", "b2"]
        os.write(end, b"it")
        os.close(end)
        assert await heard(mailbox, 2) == ["quit", None]


async def test_unread_lines_are_left_for_the_next_reader(pipe: tuple[int, int]) -> None:
    source, end = pipe
    mailbox: asyncio.Queue[Event] = asyncio.Queue(1)
    for word in (b"first", b"second"):
        with line_reader(mailbox, source) as begin:
            assert not begin()
            os.write(end, word + b"\n")
            assert await heard(mailbox, 1) == [word.decode()]
    with line_reader(mailbox, source) as begin:
        begin()
        os.write(end, b"held up\nand up\n")
        await asyncio.sleep(0)  # whether or not they are read, nobody takes them
    os.write(end, b"third\n")
    assert os.read(source, 100).endswith(b"third\n")


def test_a_question_is_not_answered_by_earlier_input(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        asked: list[str] = []

        def answer(question: str) -> str:
            asked.append(question)
            os.write(ours, b"no\n")
            return terminal.readline().strip()

        monkeypatch.setattr("builtins.input", answer)
        os.write(ours, b"yes\nyes\n")
        assert ask_anew("Is it the same? ") == "no"
        assert asked == ["Is it the same? "]
    os.close(ours)
