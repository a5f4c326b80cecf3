"""What may be asked about the past: the journal's thread reads and answers, a few questions at a time."""

from collections.abc import Callable
from functools import partial
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.journal import Journal, StorageError, inquiries
from ttt_net.server.journal.sqlite import PlayerId, Question
from ttt_net.server.limits import Limits
from ttt_net.server.rate import Bucket
from ttt_net.server.registrar import refusal_of
from ttt_net.server.session import Session

Request = wire.Replay | wire.Record


class House(Interface):
    """What the archive asks of the hub."""

    journal: Journal
    limits: Limits
    now_ms: Callable[[], int]


class Archive:
    """Answers questions about what was played; a player has one on its way at a time, and a rate."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._asking: set[PlayerId] = set()
        self._buckets: dict[PlayerId, Bucket] = {}

    def act(self, session: Session, said: Request) -> None:
        """Look the answer up; it comes once the journal has given it. Raises `Refusal` to one who asks too much."""
        self._meter(session.player)

        def done(found: wire.Heard | Refusal | StorageError) -> None:
            self._asking.discard(session.player)
            if isinstance(found, Refusal | StorageError):
                session.refuse(said.id, refusal_of(found))
            else:
                session.ok(said.id)
                session.tell(found)

        self._asking.add(session.player)
        self._house.journal.look_up(self._question(session, said), done)

    def tick(self) -> None:
        """Forget the rates of those who have asked nothing for a while."""
        now_ms = self._house.now_ms()
        self._buckets = {player: each for player, each in self._buckets.items() if not each.is_full(now_ms)}

    def _question(self, session: Session, said: Request) -> Question:
        match said:
            case wire.Replay():
                is_heard = said.match in session.tables
                return partial(inquiries.replay, said=said, asker=session.player, is_heard=is_heard)
            case wire.Record():
                return partial(inquiries.record, said=said, asker=session.player)

    def _meter(self, player: PlayerId) -> None:
        limits, now_ms = self._house.limits, self._house.now_ms()
        if player in self._asking:
            raise Refusal(Code.TOO_FAST, "one question at a time; wait for the answer", 100)
        bucket = self._buckets.setdefault(player, Bucket(limits.inquiries, now_ms))
        wait_ms = bucket.take(now_ms)
        if wait_ms:
            raise Refusal(Code.TOO_FAST, f"at most {limits.inquiries} questions", wait_ms)
