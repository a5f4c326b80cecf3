"""What may be asked about the past: the journal's thread reads and answers, a few questions at a time."""

from functools import partial
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.journal import Journal, StorageError, inquiries
from ttt_net.server.journal.sqlite import PlayerId, Question
from ttt_net.server.quotas import Quotas
from ttt_net.server.registrar import refusal_of
from ttt_net.server.session import Session

Request = wire.Replay | wire.Record


class House(Interface):
    """What the archive asks of the hub."""

    journal: Journal
    quotas: Quotas


class Archive:
    """Answers questions about what was played; a player has one on its way at a time, and a rate."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._asking: set[PlayerId] = set()

    def act(self, session: Session, said: Request) -> None:
        """Look the answer up; it comes once the journal has given it. Raises `Refusal` to one who asks too much."""
        self._meter(session)

        def done(found: wire.Heard | Refusal | StorageError) -> None:
            self._asking.discard(session.player)
            if isinstance(found, Refusal | StorageError):
                session.refuse(said.id, refusal_of(found))
            else:
                session.ok(said.id)
                session.tell(found)

        self._asking.add(session.player)
        self._house.journal.look_up(self._question(session, said), done)

    def _question(self, session: Session, said: Request) -> Question:
        match said:
            case wire.Replay():
                is_heard = said.match in session.tables
                return partial(inquiries.replay, said=said, asker=session.player, is_heard=is_heard)
            case wire.Record():
                return partial(inquiries.record, said=said, asker=session.player)

    def _meter(self, session: Session) -> None:
        if session.player in self._asking:
            raise Refusal(Code.TOO_FAST, "one question at a time; wait for the answer", 100)
        self._house.quotas.spend("inquiries", session.player, session.connection.metered_as)
