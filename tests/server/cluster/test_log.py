"""The contract of a replicated log, which every backend passes, and the batches in it.

The inbox is bounded, and nothing of the log is lost by that.
"""

import asyncio
import io
from typing import Any

import msgspec
import pytest

from tests.server.cluster.logs import WAIT_S, Cluster, Heard, end_of, following, not_gone, published, trimmed
from tests.server.cluster.simulated_nodes import Nodes
from ttt_net.messages import Played
from ttt_net.server.cluster import log as cluster_log
from ttt_net.server.cluster.log import (
    MAX_BATCH_BYTES,
    NOBODY,
    Author,
    Batch,
    BeginEpoch,
    DeclareLost,
    Inbox,
    Log,
    MemoryLog,
    MemoryStream,
    Reply,
    Retained,
    decode_batch,
    encode_batch,
    next_state,
)
from ttt_net.server.journal.entries import AppendEvents, RegisterPlayer

PROBE = b"is anybody there?"


async def kept_of(log: Log) -> Retained:
    """Return what is kept."""
    done = Heard()
    log.kept(done)
    found = await done.one()
    assert isinstance(found, Retained)
    return found


async def asked_until_answered(log: Log, subject: str) -> None:
    """Ask until an answer comes: a log of several servers knows only some time later, on each of them, who answers."""
    async with asyncio.timeout(WAIT_S):
        answer = NOBODY
        while answer == NOBODY:
            done = Heard()
            log.ask(subject, PROBE, done)
            answer = await done.one()


async def told_until_heard(log: Log, subject: str, *listeners: Heard) -> None:
    """Tell until all have heard it: as above."""
    async with asyncio.timeout(WAIT_S):
        while not all(listener.calls for listener in listeners):
            log.tell(subject, PROBE)
            await end_of(log)  # a way to the log and back


async def test_positions_are_counted_from_one_and_an_author_learns_the_place_of_each_batch(cluster: Cluster) -> None:
    log = await cluster.node()
    assert await end_of(log) == 0
    assert await published(log, b"a") == [1]
    assert await published(log, b"b") == [2]
    assert await end_of(log) == 2


async def test_no_callback_comes_from_within_a_call(cluster: Cluster) -> None:
    log = await cluster.node()
    heard, done = following(log), Heard()
    log.publish(b"a", done)
    log.end(done)
    log.listen("x", heard)
    log.tell("x", b"t")
    log.ask("nobody.answers", b"", done)
    assert heard.calls == []
    assert done.calls == []
    await done.first(3)


async def test_every_node_receives_all_batches_in_one_order_without_gaps(cluster: Cluster) -> None:
    logs = [await cluster.node() for _ in range(3)]
    heard = [following(log) for log in logs]
    done = [Heard() for _ in logs]
    for number in range(40):
        for which, log in enumerate(logs):
            log.publish(b"%d of %d" % (number, which), done[which])
    first, *others = [await each.first(120) for each in heard]
    assert [position for position, _ in first] == list(range(1, 121))
    assert all(other == first for other in others)
    places = {place: which for which, each in enumerate(done) for place in await each.first(40)}
    assert all(batch.endswith(b"of %d" % places[position]) for position, batch in first)


async def test_equal_batches_are_both_kept_or_the_second_is_given_the_place_of_the_first(cluster: Cluster) -> None:
    log = await cluster.node()
    heard = following(log)
    places = await published(log, b"same") + await published(log, b"same", b"end")
    *batches, last = await heard.first(places[-1])
    assert last == (places[-1], b"end")
    assert {batch for _, batch in batches} == {b"same"}
    assert set(places[:2]) <= {position for position, _ in batches}


async def test_a_later_node_receives_earlier_entries_from_the_place_it_names(cluster: Cluster) -> None:
    one, other = await cluster.node(), await cluster.node()
    await published(one, b"a", b"b", b"c")
    heard = following(other, 1)
    assert await heard.first(2) == [(2, b"b"), (3, b"c")]
    await published(one, b"d")
    assert await heard.first(3) == [(2, b"b"), (3, b"c"), (4, b"d")]


async def test_a_node_may_follow_from_the_end(cluster: Cluster) -> None:
    log = await cluster.node()
    await published(log, b"a")
    heard = following(log, 1)
    await published(log, b"b")
    assert await heard.first(1) == [(2, b"b")]


async def test_a_node_may_follow_again_from_an_earlier_place_even_after_later_entries_were_trimmed(
    cluster: Cluster,
) -> None:
    log = await cluster.node()
    first = following(log)
    await published(log, b"a", b"b", b"c")
    await first.first(3)
    again = following(log, 1)
    assert await again.first(2) == [(2, b"b"), (3, b"c")]
    await published(log, b"d")
    assert (await again.first(3))[2] == (4, b"d")
    assert len(first.calls) == 3
    log.trim(3)
    await trimmed(cluster, 2)
    missed = Heard()
    log.follow(2, missed, missed)
    assert await missed.one() == ()
    last = following(log, 3)
    await published(log, b"e")
    assert await last.first(2) == [(4, b"d"), (5, b"e")]
    assert len(missed.calls) == 1


async def test_the_longest_batch_arrives_whole(cluster: Cluster) -> None:
    log = await cluster.node()
    heard = following(log)
    longest = bytes(range(256)) * (MAX_BATCH_BYTES // 256)
    await published(log, longest)
    assert await heard.one() == (1, longest)


async def test_trimming_removes_entries_and_keeps_positions(cluster: Cluster) -> None:
    log, later = await cluster.node(), await cluster.node()
    await published(log, b"a", b"b", b"c")
    log.trim(2)
    await trimmed(cluster, 1)
    assert await end_of(log) == 3
    following_later = following(later, 2)
    assert await following_later.one() == (3, b"c")
    assert await published(log, b"d") == [4]


async def test_a_log_that_is_trimmed_whole_keeps_counting(cluster: Cluster) -> None:
    log = await cluster.node()
    heard = following(log)
    await published(log, b"a", b"b")
    await heard.first(2)
    log.trim(2)
    await trimmed(cluster, 0)
    assert await end_of(log) == 2
    assert await published(log, b"c") == [3]
    assert (await heard.first(3))[2] == (3, b"c")


async def test_the_newest_snapshot_is_the_one_that_is_found(cluster: Cluster) -> None:
    log, other = await cluster.node(), await cluster.node()
    found, done, into = Heard(), Heard(), io.BytesIO()
    other.get_snapshot(into, found)
    assert await found.one() == 0
    log.put_snapshot(5, io.BytesIO(b"five"), done)
    assert await done.one() is True
    large = bytes(range(256)) * 10_000
    log.put_snapshot(9, io.BytesIO(large), done)
    assert (await done.first(2))[1] is True
    found, into = Heard(), io.BytesIO()
    other.get_snapshot(into, found)
    assert await found.one() == 9
    assert into.getvalue() == large


async def segments_of(log: Log) -> Any:
    """Return the names of the segments in a log's store."""
    found = Heard()
    log.segments(found)
    return await found.one()


async def segment_of(log: Log, name: str) -> tuple[Any, bytes]:
    """Return whether the store has a segment, and its content."""
    found, into = Heard(), io.BytesIO()
    log.get_segment(name, into, found)
    return await found.one(), into.getvalue()


async def test_segments_are_stored_under_their_names_until_they_are_dropped(cluster: Cluster) -> None:
    log, other = await cluster.node(), await cluster.node()
    assert await segments_of(other) == frozenset()
    assert await segment_of(other, "segment-0-a") == (False, b"")
    done, large = Heard(), bytes(range(256)) * 10_000
    for name, data in (("segment-0-a", large), ("segment-4-b", b"four"), ("segment-4-b", b"four")):
        log.put_segment(name, io.BytesIO(data), done)
        await done.first(len(done.calls) + 1)
    assert done.calls == [True] * 3
    assert await segments_of(other) == {"segment-0-a", "segment-4-b"}
    assert await segment_of(other, "segment-0-a") == (True, large)
    log.put_snapshot(1, io.BytesIO(b"all"), done)
    assert (await done.first(4))[3] is True
    assert await segments_of(other) == {"segment-0-a", "segment-4-b"}, "the snapshot itself is none"
    log.drop_segments(["segment-0-a", "segment-8-nobody-knows"])
    async with asyncio.timeout(WAIT_S):
        while await segments_of(other) != {"segment-4-b"}:
            pass
    assert await segment_of(other, "segment-0-a") == (False, b"")
    assert await segment_of(other, "segment-4-b") == (True, b"four")


async def test_a_snapshot_tells_which_of_its_segments_are_missing(cluster: Cluster) -> None:
    log, other = await cluster.node(), await cluster.node()
    await published(log, b"a", b"b")
    done = Heard()
    log.put_segment("segment-0-a", io.BytesIO(b"a"), done)
    log.put_snapshot(2, io.BytesIO(b"two"), done, ["segment-0-a", "segment-4-b"])
    assert await done.first(2) == [True, True]
    kept = await kept_of(other)
    assert kept.snapshot == 2
    assert kept.missing == {"segment-4-b"}
    log.put_segment("segment-4-b", io.BytesIO(b"b"), done)
    assert (await done.first(3))[2] is True
    assert (await kept_of(other)).missing == frozenset()
    log.put_snapshot(3, io.BytesIO(b"three"), done)
    log.drop_segments(["segment-0-a", "segment-4-b"])
    assert (await done.first(4))[3] is True
    assert (await kept_of(other)).missing == frozenset()


async def test_all_nodes_see_the_same_retained_log(cluster: Cluster) -> None:
    log, other = await cluster.node(), await cluster.node()
    await published(log, b"a", b"b", b"c")
    assert (await kept_of(other))[:2] == (0, 0.0)
    done = Heard()
    log.put_snapshot(2, io.BytesIO(b"two"), done)
    assert await done.one() is True
    log.trim(1)
    await trimmed(cluster, 0)
    async with asyncio.timeout(WAIT_S):
        while not (kept := await kept_of(other)).stands_s:  # it is told by what comes after it
            await published(log, b"d")
    assert (kept.snapshot, kept.first) == (2, 2)
    assert kept.stands_s < WAIT_S
    await published(log, b"e")
    assert (await kept_of(log)).stands_s >= kept.stands_s


async def test_messages_reach_all_listeners_in_the_senders_order(cluster: Cluster) -> None:
    one, other = await cluster.node(), await cluster.node()
    heard, heard_too, elsewhere = Heard(), Heard(), Heard()
    one.listen("chat.lobby", heard)
    other.listen("chat.lobby", heard_too)
    other.listen("chat.else", elsewhere)
    await told_until_heard(one, "chat.lobby", heard, heard_too)
    await told_until_heard(one, "chat.else", elsewhere)
    for number in range(20):
        one.tell("chat.lobby", b"%d" % number)
    expected = [b"%d" % number for number in range(20)]
    for each in (heard, heard_too):
        while b"19" not in each.calls:
            await each.first(len(each.calls) + 1)
        assert [told for told in each.calls if told != PROBE] == expected
    assert set(elsewhere.calls) == {PROBE}


async def test_a_question_is_answered_once_now_or_later_or_by_nobody(cluster: Cluster) -> None:
    one, other = await cluster.node(), await cluster.node()
    asked, done = Heard(), Heard()

    def serve(question: bytes, reply: Reply) -> None:
        if question == PROBE:
            reply(b"here")
        else:
            asked(question, reply)

    other.answer("steward.b", serve)
    await asked_until_answered(one, "steward.b")
    one.ask("steward.b", b"how much?", done)
    question, reply = await asked.one()
    assert question == b"how much?"
    reply(b"five")
    reply(b"six")
    assert await done.one() == b"five"
    one.ask("steward.c", b"", done)
    assert (await done.first(2))[1] == NOBODY


async def test_publishing_while_receiving_keeps_the_order_of_the_log(cluster: Cluster) -> None:
    log, other = await cluster.node(), await cluster.node()
    done, heard = Heard(), Heard()

    def hear(position: int, batch: bytes) -> None:
        heard(position, batch)
        if position < 20:
            log.publish(b"after %d" % position, done)

    log.follow(0, hear, not_gone)
    await published(other, b"first")
    found = await heard.first(20)
    assert found[1:] == [(position + 1, b"after %d" % position) for position in range(1, 20)]


def test_a_batch_survives_encoding() -> None:
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
def test_invalid_batches_are_recognized(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_batch(data)


def test_the_running_hash_depends_on_batches_and_results() -> None:
    first = next_state("", b"batch", b"ok")
    assert first == next_state("", b"batch", b"ok")
    assert (
        len({first, next_state("", b"batch", b"refused"), next_state("", b"other", b"ok"), next_state(first, b"", b"")})
        == 4
    )


class Waiting:
    """An inbox at a log in memory, and what is called when something comes."""

    def __init__(self, places: int) -> None:
        self.soon: list[object] = []
        self.stream, self.told = MemoryStream(), 0
        for number in range(places):
            self.stream.append(b"%d" % number)
        self.inbox = Inbox(MemoryLog(self.stream, self.soon.append), self._tell)

    def _tell(self) -> None:
        self.told += 1

    def follow(self, position: int) -> None:
        """Follow from a place, and let what there is arrive."""
        self.inbox.follow(position)
        while self.soon:
            self.soon.pop(0)()  # type: ignore[operator]


def test_batches_beyond_the_bound_are_skipped_and_read_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster_log, "MOST_BYTES", 3 * 257)
    waiting = Waiting(8)
    waiting.follow(0)
    assert waiting.inbox.first(10) == [(1, b"0"), (2, b"1"), (3, b"2")]
    assert (len(waiting.inbox), waiting.inbox.is_followed) == (3, False)
    assert caplog.text.count("3 places of the log wait to be applied") == 1
    for _ in range(3):
        waiting.inbox.take()
    waiting.follow(3)
    assert waiting.inbox.first(2) == [(4, b"3"), (5, b"4")]
    assert len(waiting.inbox) == 3


def test_a_trimmed_batch_is_reported_once_and_nothing_follows() -> None:
    waiting = Waiting(3)
    waiting.stream.trimmed, waiting.stream.batches = 3, []
    waiting.follow(1)
    assert (waiting.inbox.is_trimmed, len(waiting.inbox), waiting.told) == (True, 0, 1)


def test_a_node_whose_disk_refuses_stops_following_and_says_so_and_catches_up_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_log, "MOST_BYTES", 5_000)
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    a.replica.database.connection.execute("PRAGMA query_only = ON")
    nodes.append(b, "ann")
    nodes.go(20.0)
    trouble = str(a.ledger.health().trouble)
    assert trouble.startswith("the disk refuses to be written; the log is not followed until it can be")
    a.replica.database.connection.execute("PRAGMA query_only = OFF")
    nodes.go(6.0)
    assert a.ledger.is_fresh
    assert a.replica.position == b.replica.position
    assert a.replica.state == b.replica.state


def test_a_node_whose_disk_refuses_does_not_begin_anew_until_it_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_log, "MOST_BYTES", 5_000)
    nodes = Nodes("a", "b")
    a, _ = nodes.nodes
    a.replica.database.connection.execute("PRAGMA query_only = ON")
    nodes.go(20.0)
    nodes.cut(a)
    nodes.go(5.0)
    nodes.stream.let_go = nodes.stream.end
    nodes.go(5.0)
    nodes.mend(a)
    nodes.go(5.0)
    assert "missed" not in a.lives
    assert "disk refuses" in str(a.ledger.trouble())
    a.replica.database.connection.execute("PRAGMA query_only = OFF")
    nodes.go(3.0)
    assert a.lives[-1] == "missed"
    assert a.ledger.trouble() == "it has missed entries that the log no longer has, and restarts from a snapshot"
