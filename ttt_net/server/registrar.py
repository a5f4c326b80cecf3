"""Who a player is called: what he asks about his own name."""

from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.journal import Journal, StorageError
from ttt_net.server.journal.sqlite import PlayerId
from ttt_net.server.session import Session
from ttt_net.text import clean

Request = wire.Rename


class House(Interface):
    """What the registrar asks of the hub."""

    journal: Journal

    def renamed(self, player: PlayerId, name: str) -> None:
        """Let the player be called `name` wherever he is."""


class Registrar:
    """Carries out what a player asks about his own identity; the answer comes once it is written down."""

    def __init__(self, house: House) -> None:
        self._house = house

    def act(self, session: Session, said: Request) -> None:
        """Carry out one request, or raise `Refusal`."""
        name = clean(said.name, wire.MAX_NAME_CELLS)
        if not name:
            raise Refusal(Code.BAD_NAME, f"a name has 1 to {wire.MAX_NAME_CELLS} visible characters")

        def done(failure: Refusal | StorageError | None) -> None:
            if failure:
                session.refuse(said.id, refusal_of(failure))
                return
            self._house.renamed(session.player, name)
            session.ok(said.id)
            session.tell(wire.Renamed(wire.PlayerInfo(name, session.info.bot, session.info.level)))

        self._house.journal.rename(session.player, name, done)


def refusal_of(failure: Refusal | StorageError) -> Refusal:
    """Return how a request is refused that the journal did not carry out."""
    if isinstance(failure, Refusal):
        return failure
    return Refusal(Code.STORAGE, "the server cannot use its disk; nothing was changed, try again", 1_000)
