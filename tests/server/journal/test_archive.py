"""Questions about the past: their turns, their bounds, and what is kept of the answers."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

from benchmarks.world import long_match
from tests.server.journal.jobs import committed, register
from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.server.admission.fair_shares import Account, FairShares
from ttt_net.server.journal import Archive, Asker, Database, PastQuestion, archive
from ttt_net.server.journal.archive import MAX_OF_ADDRESS, MAX_WAITING, FairQueue
from ttt_net.server.journal.entries import AppendEvents, ForgetMatches, ForgetPlayer, RenamePlayer
from ttt_net.server.journal.ledger import Read, Tell
from ttt_net.server.journal.past import BoundedCache, PastAnswer
from ttt_net.server.journal.queries import (
    LATER_MS,
    HistoryQuery,
    MatchesQuery,
    PastQuery,
    ProfileQuery,
    RecordQuery,
    ReplayQuery,
)
from ttt_net.server.settings.configuration import Limits

ANN, BOB = Asker(1, "a"), Asker(2, "b")


def ignore(_: object) -> None:
    """Do nothing with an answer."""


def of(player: int, address: str | None, query: PastQuery | None = None) -> PastQuestion:
    return PastQuestion(query or record("long"), Asker(player, address), ignore, ignore)


def record(match: str, asker: int = 1) -> RecordQuery:
    return RecordQuery(wire.RecordRequest(1, match), asker)


def replay(match: str, ply: int = 0) -> ReplayQuery:
    return ReplayQuery(wire.ReplayRequest(1, match, ply), 1, False)


def profile(name: str) -> ProfileQuery:
    return ProfileQuery(wire.ProfileRequest(1, name), 1, None, [], 0)


class Desk:
    """An archive over tables in memory, whose reads wait until the test lets them happen."""

    def __init__(self) -> None:
        self.database = Database(None)
        assert not [each for each in committed(self.database, register("ann"), register("bob")) if each is None]
        self.reads: deque[tuple[Read, Tell]] = deque()
        self.now_s = self.look_s = 0.0
        """The time, and how much of it passes between two looks at it."""
        self.shares = FairShares(Limits(), lambda: 0, self.look_at_time)
        self.has_past = True
        self.archive = Archive(
            lambda read, tell: self.reads.append((read, tell)), self.look_at_time, self.shares, lambda: self.has_past
        )
        self.heard: list[Any] = []

    def look_at_time(self) -> float:
        self.now_s += self.look_s
        return self.now_s

    def add(self, match: str) -> None:
        """Write a match of 3,000 events."""
        assert committed(self.database, AppendEvents(tuple(long_match(match)), (1, 2))) == [None]

    def ask(self, query: PastQuery, asker: Asker = ANN) -> PastQuestion:
        """Ask; what comes of it is heard."""
        question = PastQuestion(query, asker, self.heard.append, self.heard.append)
        self.archive.ask(question)
        return question

    def read(self) -> None:
        """Let the read that is under way happen."""
        read, tell = self.reads.popleft()
        tell(read(self.database.connection))

    def answer(self, query: PastQuery) -> Any:
        """Return the answer to a question, or how it is refused."""
        self.ask(query)
        self.read()
        return self.heard.pop()


@pytest.fixture
def desk() -> Iterator[Desk]:
    """An archive with one long match."""
    made = Desk()
    made.add("long")
    yield made
    made.database.close()


def test_addresses_take_turns_however_much_one_of_them_asks() -> None:
    queue = FairQueue()
    many = [of(player, "greedy") for player in range(3)]
    for question in [*many, one := of(7, "modest"), other := of(8, None), last := of(9, None)]:
        queue.add(question)
    assert [queue.take() for _ in range(6)] == [many[0], one, other, last, many[1], many[2]]
    assert (len(queue), queue.shares) == (0, 0)


def test_the_players_of_an_address_take_turns() -> None:
    queue = FairQueue()
    first, second, third, other = of(1, "a"), of(1, "a"), of(1, "a"), of(2, "a")
    for question in (first, second, third, other):
        queue.add(question)
    assert queue.count_of(Asker(5, "a")) == 4
    assert [queue.take() for _ in range(4)] == [first, other, second, third]


def test_a_discarded_question_leaves_no_trace_in_the_queue() -> None:
    queue = FairQueue()
    gone, stays, never = of(1, "a"), of(2, "a"), of(1, "a")
    queue.add(gone)
    queue.add(stays)
    for question in (gone, gone, never):
        queue.discard(question)
    assert (len(queue), queue.count_of(ANN)) == (1, 1)
    assert queue.take() is stays
    assert len(queue) == 0
    with pytest.raises(KeyError):
        queue.take()


def test_one_question_is_read_at_a_time_and_the_next_after_its_answer(desk: Desk) -> None:
    desk.ask(profile("ann"))
    desk.ask(profile("bob"), BOB)
    assert (len(desk.reads), desk.archive.waiting) == (1, 2)
    desk.read()
    assert (len(desk.reads), desk.archive.waiting) == (1, 1)
    desk.read()
    assert [each.message.player.name for each in desk.heard] == ["ann", "bob"]
    assert all(each.data == wire.encode(each.message) for each in desk.heard)


@pytest.mark.parametrize(
    ("count", "asker"), [(MAX_OF_ADDRESS, lambda _: ANN), (MAX_WAITING, lambda number: Asker(number, str(number)))]
)
def test_one_question_over_the_limit_is_refused_with_the_time_to_retry(
    desk: Desk, count: int, asker: Callable[[int], Asker]
) -> None:
    for number in range(count + 1):  # the first of them is under way
        desk.ask(profile("ann"), asker(number))
    with pytest.raises(Refusal) as refused:
        desk.ask(profile("ann"), asker(count + 1))
    assert refused.value.code is Code.BUSY
    assert refused.value.retry_after_ms is not None
    assert 100 <= refused.value.retry_after_ms <= 10_000
    desk.read()
    desk.ask(profile("ann"), asker(count + 1))


def test_a_full_address_does_not_keep_others_out(desk: Desk) -> None:
    for _ in range(MAX_OF_ADDRESS + 1):
        desk.ask(profile("ann"))
    desk.ask(profile("bob"), BOB)
    desk.read()
    desk.read()
    desk.read()
    assert [each.message.player.name for each in desk.heard] == ["ann", "ann", "bob"]


def test_a_question_is_not_read_once_its_asker_has_left(desk: Desk) -> None:
    desk.ask(profile("ann"))
    gone = desk.ask(profile("ann"), BOB)
    desk.archive.cancel(gone)
    desk.read()
    assert (len(desk.heard), len(desk.reads), desk.archive.waiting) == (1, 0, 0)


def test_a_read_under_way_ends_when_its_asker_goes(desk: Desk) -> None:
    question = desk.ask(replay("long"))
    desk.archive.cancel(question)
    desk.read()
    assert desk.heard == []
    assert isinstance(desk.answer(profile("ann")), PastAnswer), "the connection goes on"


def test_a_question_that_reads_too_much_is_given_up(desk: Desk) -> None:
    with mock.patch.object(archive, "MAX_STEPS", 5_000):
        refusal = desk.answer(replay("long"))
        assert (refusal.code, refusal.retry_after_ms) == (Code.BUSY, 10_000)
        assert "ask for less" in str(refusal)
        assert isinstance(desk.answer(profile("ann")), PastAnswer)
    assert isinstance(desk.answer(replay("long")), PastAnswer)


def test_a_question_that_takes_too_long_is_given_up(desk: Desk) -> None:
    desk.look_s = 2.5
    refusal = desk.answer(replay("long"))
    assert refusal.code is Code.BUSY
    assert "disk is too slow" in str(refusal)
    assert desk.archive.refused == 1
    assert desk.answer(profile("nobody")).code is Code.UNKNOWN_PLAYER
    assert desk.archive.refused == 1


def test_a_match_with_too_many_events_is_refused_before_they_are_read(desk: Desk) -> None:
    with mock.patch("ttt_net.server.journal.past.MAX_EVENTS", 2_999):
        refusal = desk.answer(record("long"))
    assert refusal.code is Code.BUSY
    assert "match long has 3,0" in str(refusal)


def test_what_a_node_without_its_past_cannot_know_is_refused_with_the_time_to_ask_again(desk: Desk) -> None:
    desk.has_past = False
    history = HistoryQuery("ann", None, None, 1)
    early = [desk.answer(query) for query in (record("older"), replay("older"), history, MatchesQuery())]
    assert {(each.code, each.retry_after_ms) for each in early} == {(Code.BUSY, LATER_MS)}
    assert isinstance(desk.answer(record("long")), PastAnswer)
    assert isinstance(desk.answer(profile("ann")), PastAnswer)
    assert desk.answer(profile("nobody")).code is Code.UNKNOWN_PLAYER
    desk.has_past = True
    assert desk.answer(record("older")).code is Code.UNKNOWN_MATCH
    assert isinstance(desk.answer(history), PastAnswer)


def test_tables_that_become_whole_during_a_read_do_not_make_its_answer_final(desk: Desk) -> None:
    desk.has_past = False
    desk.ask(record("older"))
    desk.has_past = True
    desk.read()
    assert desk.heard.pop().code is Code.BUSY


class Paying:
    """A connection that pays."""

    def __init__(self, account: Account) -> None:
        self.account: Account | None = account
        self.player: int | None = None
        self.owed_ms = 0.0

    def charge(self, ms: float) -> None:
        self.owed_ms += ms


def test_each_question_is_charged_to_its_connection_whatever_came_of_it(desk: Desk) -> None:
    payers = [Paying(desk.shares.account_of(address)) for address in "abc"]
    questions = []
    for payer, name in zip(payers, ("ann", "nobody", "bob"), strict=True):
        desk.shares.payer = payer
        questions.append(desk.ask(profile(name)))
    desk.shares.payer = None
    desk.archive.cancel(questions[0])
    desk.look_s = 0.004
    for _ in payers:
        desk.read()
        assert desk.shares.payer is None
    assert [question.spent_ms for question in questions] == pytest.approx([8.0, 8.0, 8.0])
    assert [payer.owed_ms for payer in payers] == pytest.approx([12.0, 12.0, 12.0])
    assert sum(desk.archive.answer_s.counts) == 3


def test_consequences_of_an_answer_are_charged_to_the_same_connection(desk: Desk) -> None:
    payer = Paying(desk.shares.account_of("a"))
    paying: list[object] = []
    desk.shares.payer = payer
    desk.archive.ask(PastQuestion(profile("ann"), ANN, lambda _: paying.append(desk.shares.payer), ignore))
    desk.shares.payer = None
    desk.read()
    assert paying == [payer]


def test_a_fault_in_one_answer_does_not_keep_others_from_theirs(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.ask(profile("ann"))
    desk.ask(profile("bob"))
    with mock.patch("ttt_net.server.journal.past.profile", side_effect=ZeroDivisionError):
        desk.read()
    assert isinstance(desk.heard.pop(), StorageError)
    assert "fault while answering ProfileQuery" in caplog.text
    caplog.clear()  # it was meant
    desk.read()
    assert isinstance(desk.heard.pop(), PastAnswer)


def test_a_fault_in_the_callback_of_one_asker_does_not_stop_the_queue(desk: Desk) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    desk.archive.ask(PastQuestion(profile("ann"), ANN, fail, fail))
    desk.ask(profile("bob"), BOB)
    with pytest.raises(ZeroDivisionError):
        desk.read()
    desk.read()
    assert len(desk.heard) == 1


def facts_read(connection: sqlite3.Connection, work: Callable[[], object]) -> bool:
    """Tell whether some work reads events of matches."""
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    try:
        work()
    finally:
        connection.set_trace_callback(None)
    return any("SELECT fact" in each for each in statements)


def test_a_record_is_made_once_and_then_kept(desk: Desk) -> None:
    first = desk.answer(record("long"))
    assert "341. r2" in first.message.text
    assert not facts_read(desk.database.connection, lambda: desk.answer(record("long")))
    assert desk.answer(record("long")) is first


def test_a_kept_record_has_the_names_of_now(desk: Desk) -> None:
    assert "ann" in desk.answer(record("long")).message.text
    committed(desk.database, RenamePlayer(1, "anna", "anna", ("anna",)))
    assert "anna" in desk.answer(record("long")).message.text
    committed(desk.database, ForgetPlayer(1))
    assert "ann" not in desk.answer(record("long")).message.text


def test_a_cached_record_is_not_shown_to_players_who_may_not_see_the_match(desk: Desk) -> None:
    desk.answer(record("long"))
    desk.database.connection.execute("UPDATE matches SET is_private = 1")
    assert isinstance(desk.answer(record("long", asker=1)), PastAnswer)
    assert desk.answer(record("long", asker=3)).code is Code.NOT_PUBLIC
    desk.database.connection.execute("UPDATE matches SET is_private = 0")
    committed(desk.database, ForgetMatches(2**50, (), 1))
    assert desk.answer(record("long", asker=1)).code is Code.UNKNOWN_MATCH


def test_the_pages_of_a_replay_play_the_match_through_once(desk: Desk) -> None:
    assert desk.answer(replay("long", 0)).message.positions[5].ply == 5
    assert not facts_read(desk.database.connection, lambda: desk.answer(replay("long", 320)))
    assert desk.answer(replay("long", 320)).message.positions[-1].ply == 341


def test_a_live_match_is_read_again_each_time(desk: Desk) -> None:
    committed(desk.database, AppendEvents(tuple(long_match("live")[:-1]), (1, 2)))
    query = replay("live")._replace(is_heard=True)
    desk.answer(query)
    assert facts_read(desk.database.connection, lambda: desk.answer(query))


def test_a_cache_keeps_the_most_recently_used_values_up_to_its_weight() -> None:
    cache = BoundedCache[str, int](10)
    for number, key in enumerate("abc"):
        cache.put(key, number, 4 if key != "c" else 3)
    assert [cache.get(key) for key in "abc"] == [None, 1, 2]
    cache.put("d", 3, 3)
    assert cache.weight == 10
    assert cache.get("b") == 1
    cache.put("e", 4, 3)
    assert [cache.get(key) for key in "bcde"] == [1, None, 3, 4]
    cache.put("huge", 5, 11)
    cache.put("b", 9, 1)
    assert (cache.get("huge"), cache.get("b"), cache.weight) == (None, 1, 10)
