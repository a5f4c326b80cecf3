"""Batches come back from their bytes as they were, and the running hash depends on all that was applied."""

import msgspec
import pytest

from ttt_net.messages import Played
from ttt_net.server.cluster.entries import (
    Author,
    Batch,
    BeginEpoch,
    DeclareLost,
    decode_batch,
    encode_batch,
    next_state,
)
from ttt_net.server.journal.entries import AppendEvents, RegisterPlayer


def test_a_batch_comes_back_from_its_bytes_as_it_was() -> None:
    played = Played(match="abcd2345", seq=2, at_ms=5, side=0, ply=1, move=4)
    entries = (
        BeginEpoch("secret"),
        RegisterPlayer("Ann", "ann", ("ann",), b"\xff\x00", 7),
        AppendEvents((played,)),
        DeclareLost("b", 3, 5),
    )
    batch = Batch("a", 2, 1, 77, "ab12", entries)
    assert decode_batch(encode_batch(batch)) == batch
    assert batch.author == Author("a", 2)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"node":"a"}', encode_batch(Batch("a", 1, 1, 0, "", ())) + b"x"])
def test_what_is_no_batch_is_not_taken_for_one(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_batch(data)


def test_the_running_hash_tells_apart_what_was_applied_and_what_came_of_it() -> None:
    first = next_state("", b"batch", b"ok")
    assert first == next_state("", b"batch", b"ok")
    assert (
        len({first, next_state("", b"batch", b"refused"), next_state("", b"other", b"ok"), next_state(first, b"", b"")})
        == 4
    )
