"""Frames are what `websockets` says that they are: some streams here, very many with `make fuzz`."""

import random

import pytest

from tests.hostile.differential import by_websockets, difference, stream_of
from ttt_net.server.wire import connection
from ttt_net.server.wire.frames import short_text

STREAMS = 1_500


def test_a_connection_reads_and_closes_exactly_as_websockets_does() -> None:
    differences = [found for found in map(difference, range(STREAMS)) if found]
    assert not differences, "\n".join(differences[:3])


def test_the_streams_end_in_every_way() -> None:
    ends = {by_websockets(stream_of(random.Random(seed))).code for seed in range(STREAMS)}
    assert ends >= {None, 1000, 1001, 1002, 1003, 1005, 1007, 1009, 4001}


def test_a_planted_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader by hand that takes the first piece of a message for all of it."""
    monkeypatch.setattr(
        connection, "short_text", lambda data: short_text(b"\x81" + data[1:]) if data[:1] == b"\x01" else None
    )
    assert any(map(difference, range(200)))
