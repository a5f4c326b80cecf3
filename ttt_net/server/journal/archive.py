"""Answer queries about the past beside the writes: fairly, within bounds, and only while the asker waits.

No move waits for an answer: `Ledger.look` reads on another thread. That thread gets one query at a time, and the next
one only in a later iteration of the event loop, so a busy event loop slows queries down, but not vice versa.
"""

import logging
import sqlite3
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, assert_never

from ttt_net.errors import Code, Refusal, StorageError
from ttt_net.matches.match import MatchData
from ttt_net.messages import AnyServerMessage
from ttt_net.server.admission.fair_shares import FairShares, Payer
from ttt_net.server.journal import past
from ttt_net.server.journal.ledger import Read, Tell
from ttt_net.server.journal.past import ArchivedMatch, KeptMatches, MatchPage, PastAnswer
from ttt_net.server.journal.queries import (
    BlocksQuery,
    FinishedQuery,
    HistoryQuery,
    LeaderboardQuery,
    MatchDataQuery,
    MatchesQuery,
    MistakesQuery,
    PastQuery,
    ProfileQuery,
    RecordQuery,
    ReplayQuery,
    not_yet,
)
from ttt_net.server.metrics import Histogram
from ttt_net.server.players import PlayerId

log = logging.getLogger(__name__)

MAX_WAITING = 512
"""The maximal number of waiting queries, in addition to the running one."""
MAX_OF_ADDRESS = 64
"""The maximal number of waiting queries of one address, or of one player without a metered address."""
MAX_STEPS = 1_000_000
"""The maximal number of SQLite VM instructions of a query, about 50 ms; a match of 3,000 events takes 16,000."""
MAX_S = 2.0
"""The maximal seconds of a query; only an almost dead disk needs as many."""
_LOOK_STEPS = 10_000
"""The instructions between two checks of these bounds."""
_LEAST_RETRY_MS, _MOST_RETRY_MS = 100, 10_000


Found = PastAnswer | ArchivedMatch | MatchData | MatchPage


class Asker(NamedTuple):
    """The author of a query, for fair turns."""

    player: PlayerId
    address: str | None
    """None: limits by address do not apply."""

    @property
    def share(self) -> str | PlayerId:
        """The address that takes turns with others, or the player without a metered address."""
        return self.player if self.address is None else self.address


class PastQuestion:
    """A question on its way."""

    __slots__ = ("asker", "done", "failed", "is_early", "is_wanted", "payer", "prepare", "query", "spent_ms")

    def __init__(
        self,
        query: PastQuery,
        asker: Asker,
        done: Callable[[Any], None],
        failed: Callable[[Refusal], None],
        prepare: Callable[[Any], Any] = lambda found: found,
    ) -> None:
        self.query, self.asker, self.done, self.failed = query, asker, done, failed
        self.prepare = prepare
        """Turns the result into the argument of `done`, on the reading thread."""
        self.is_wanted = True
        """False once the asker has left: then neither `done` nor `failed` is called."""
        self.spent_ms = 0.0
        """Cost of the answer, in milliseconds of CPU of the reading thread."""
        self.payer: Payer | None = None
        """The connection that is charged for it."""
        self.is_early = False
        """Whether the tables may lack finished matches as it is answered."""


class FairQueue:
    """The waiting queries. Addresses take turns, and so do the players of each address."""

    def __init__(self) -> None:
        self._shares: OrderedDict[str | PlayerId, OrderedDict[PlayerId, deque[PastQuestion]]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._count

    def count_of(self, asker: Asker) -> int:
        """Return how many wait in the asker's share."""
        return sum(map(len, self._shares.get(asker.share, {}).values()))

    @property
    def shares(self) -> int:
        """The number of addresses, or players without one, that take turns."""
        return len(self._shares)

    def add(self, question: PastQuestion) -> None:
        """Queue a question, behind all others of the same player."""
        asker = question.asker
        players = self._shares.setdefault(asker.share, OrderedDict())
        players.setdefault(asker.player, deque()).append(question)
        self._count += 1

    def take(self) -> PastQuestion:
        """Remove and return the next question. Raises `KeyError` if none waits."""
        share, players = self._shares.popitem(last=False)
        player, own = players.popitem(last=False)
        question = own.popleft()
        self._count -= 1
        if own:
            players[player] = own
        if players:
            self._shares[share] = players
        return question

    def discard(self, question: PastQuestion) -> None:
        """Remove a question, if it waits."""
        share, player = question.asker.share, question.asker.player
        players = self._shares.get(share, OrderedDict())
        own = players.get(player, deque())
        if question in own:
            own.remove(question)
            self._count -= 1
            if not own:
                del players[player]
            if not players:
                del self._shares[share]


class Archive:
    """Answers questions about the past, one after the other.

    Call its methods on the event loop; answers arrive there too.
    """

    def __init__(
        self,
        look: Callable[[Read, Tell], None],
        stopwatch_s: Callable[[], float],
        shares: FairShares,
        has_past: Callable[[], bool] = lambda: True,
    ) -> None:
        """`has_past` tells whether the tables have all finished matches; see `Ledger`."""
        self._look = look
        self._has_past = has_past
        self._stopwatch_s = stopwatch_s
        self._shares = shares
        self._queue = FairQueue()
        self._under_way: PastQuestion | None = None
        self._kept = KeptMatches()
        """Only for the reading thread, which answers one question at a time."""
        self._mean_ms = 1.0
        """Mean cost of the last answers."""
        self.answer_s = Histogram()
        """CPU time that answers took on the reading thread."""
        self.refused = 0
        """The number of queries rejected because too many waited, or aborted at `MAX_STEPS` or `MAX_S`."""

    @property
    def waiting(self) -> int:
        """The number of waiting and running queries."""
        return len(self._queue) + (self._under_way is not None)

    def ask(self, question: PastQuestion) -> None:
        """Queue a question; later its `done` or `failed` is called. Raises `Refusal` if too many wait."""
        waiting = self._queue.count_of(question.asker)
        if waiting >= MAX_OF_ADDRESS:
            raise self._busy(f"{waiting} questions of your address", waiting * self._queue.shares)
        if len(self._queue) >= MAX_WAITING:
            raise self._busy(f"{len(self._queue)} questions", len(self._queue))
        question.payer = self._shares.payer
        self._queue.add(question)
        self._go_on()

    def _busy(self, what: str, ahead: int) -> Refusal:
        self.refused += 1
        wait_ms = min(_MOST_RETRY_MS, max(_LEAST_RETRY_MS, round(ahead * self._mean_ms)))
        return Refusal(Code.BUSY, f"{what} wait for an answer already; ask again in a moment", wait_ms)

    def cancel(self, question: PastQuestion) -> None:
        """Drop a question that nobody waits for; a running one ends soon."""
        question.is_wanted = False
        self._queue.discard(question)

    def _go_on(self) -> None:
        if self._under_way is None and len(self._queue):
            question = self._under_way = self._queue.take()
            question.is_early = not self._has_past()  # of the tables that it is answered from, or of older ones
            self._look(partial(self._answer, question), partial(self._answered, question))

    def _answered(self, question: PastQuestion, found: Any) -> None:  # noqa: ANN401 - of `prepare`
        self._under_way = None
        self._mean_ms += (question.spent_ms - self._mean_ms) / 8
        self.answer_s.observe(question.spent_ms / 1000)
        payer, clock_s = question.payer, self._shares.clock_s
        self._shares.payer, began_s = payer, clock_s()
        try:
            if question.is_wanted:
                if isinstance(found, Refusal):
                    self.refused += found.code is Code.BUSY
                    question.failed(found)
                else:
                    question.done(found)
        finally:
            self._shares.payer = None
            if payer is not None and payer.account is not None:
                payer.charge(question.spent_ms + (clock_s() - began_s) * 1000)
            self._go_on()

    # On the reading thread, if there is one.

    def _answer(self, question: PastQuestion, connection: sqlite3.Connection) -> Any:  # noqa: ANN401 - of `prepare`
        """Return the answer to a query, or its refusal; never raise."""
        began_s = self._shares.clock_s()  # of this thread
        bounds = _Bounds(question, self._stopwatch_s)
        is_within = connection.in_transaction  # the writer's, if no other connection can be used
        try:
            if not is_within:
                connection.execute("BEGIN")  # one consistent state of the tables for all reads
            connection.set_progress_handler(bounds.are_passed, _LOOK_STEPS)
            if question.is_early and isinstance(question.query, HistoryQuery | MatchesQuery):
                return not_yet()
            return question.prepare(self._find(connection, question.query))
        except StorageError as error:
            log.error("storage: %s", error.cause)
            return error.with_traceback(None)
        except Refusal as refusal:
            is_unknown = refusal.code is Code.UNKNOWN_MATCH
            return not_yet() if is_unknown and question.is_early else refusal.with_traceback(None)
        except sqlite3.Error as error:
            if bounds.passed is None:
                log.error("storage: %s", error)
                return StorageError(str(error))
            return Refusal(Code.BUSY, bounds.passed, _MOST_RETRY_MS)
        except Exception:  # an internal error in one answer must not affect the others
            log.exception("fault while answering %s", type(question.query).__name__)
            return StorageError("fault while answering a question")
        finally:
            connection.set_progress_handler(None, 0)
            if connection.in_transaction and not is_within:
                with suppress(sqlite3.Error):  # the answer has reported the failing disk
                    connection.execute("ROLLBACK")
            question.spent_ms = (self._shares.clock_s() - began_s) * 1000

    def _find(self, connection: sqlite3.Connection, query: PastQuery) -> Found:
        message: AnyServerMessage
        match query:
            case FinishedQuery():
                return past.finished(connection, *query)
            case RecordQuery():
                return past.record(connection, self._kept, *query)
            case ReplayQuery():
                message = past.replay(connection, self._kept, *query)
            case ProfileQuery():
                message = past.profile(connection, self._kept, *query)
            case HistoryQuery():
                message = past.history(connection, *query)
            case LeaderboardQuery():
                message = past.leaderboard(connection, *query)
            case BlocksQuery():
                message = past.blocks(connection, *query)
            case MistakesQuery():
                message = past.mistakes(connection, *query)
            case MatchDataQuery():
                return past.data_of_match(connection, *query)
            case MatchesQuery():
                return past.matches(connection, query)
            case _:
                assert_never(query)
        return PastAnswer.of(message)


class _Bounds:
    """The limits of one query, which SQLite checks periodically."""

    def __init__(self, question: PastQuestion, stopwatch_s: Callable[[], float]) -> None:
        self._question, self._stopwatch_s = question, stopwatch_s
        self._began_s = stopwatch_s()
        self._steps = 0
        self.passed: str | None = None
        """Why the question was given up, if it was."""

    def are_passed(self) -> bool:
        self._steps += _LOOK_STEPS
        if not self._question.is_wanted:
            self.passed = "the question was withdrawn"
        elif self._steps > MAX_STEPS:
            self.passed = "the answer would take too much reading; ask for less at once"
        elif self._stopwatch_s() - self._began_s > MAX_S:
            self.passed = "the disk is too slow to answer that now; ask again later"
        return self.passed is not None
