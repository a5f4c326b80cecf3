"""How a connection becomes a player: `hello`, with a name or with a token."""

import secrets
from collections.abc import Callable

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.connection import Connection
from ttt_net.server.journal import Journal, Player, StorageError
from ttt_net.server.quotas import Quotas
from ttt_net.text import clean

Admit = Callable[[Connection, wire.Hello, Player, str | None], None]
"""What to do with a player who is let in: connection, hello, player, and the token if it is new."""


class Entrance:
    """Lets players in, one `hello` for each connection at a time."""

    def __init__(self, journal: Journal, quotas: Quotas, now_ms: Callable[[], int], admit: Admit) -> None:
        self._journal = journal
        self._quotas = quotas
        self._now_ms = now_ms
        self._admit = admit
        self._entering: set[Connection] = set()

    def enter(self, connection: Connection, said: wire.AnySaid) -> None:
        """Let a player in: known by his token, or new by his name; the answer comes once the journal has given its."""
        if not isinstance(said, wire.Hello) or connection in self._entering:
            raise Refusal(Code.HELLO_FIRST, "say hello first, and wait for its answer")
        if wire.PROTOCOL not in said.protocols:
            raise Refusal(Code.BAD_PROTOCOL, f"this server speaks protocol {wire.PROTOCOL}, you {said.protocols}")
        bot = label_of(said)
        name = clean(said.name or "", wire.MAX_NAME_CELLS)
        if not said.token and not name:
            raise Refusal(Code.BAD_NAME, f"a name has 1 to {wire.MAX_NAME_CELLS} visible characters")
        if not said.token:
            self._quotas.spend_of_address("registrations", connection.metered_as)
        token = said.token or secrets.token_urlsafe(32)

        def entered(found: Player | Refusal | StorageError | None) -> None:
            self._entering.discard(connection)
            if not connection.is_open:
                return
            if isinstance(found, Player):
                self._admit(connection, said, found, None if said.token else token)
                return
            if found is None:
                found = Refusal(Code.UNKNOWN_TOKEN, "this server does not know that token; say hello with a name")
            elif isinstance(found, StorageError):
                found = Refusal(Code.STORAGE, "the server cannot write to its disk; try again", 1_000)
            connection.refuse(said.id, found)

        self._entering.add(connection)
        if said.token:
            self._journal.find(token, bot, self._now_ms(), entered)
        else:
            self._journal.register(name, token, bot, self._now_ms(), entered)

    def forget(self, connection: Connection) -> None:
        """Forget a connection that is gone."""
        self._entering.discard(connection)


def label_of(said: wire.Hello) -> str | None:
    """Return the label of a bot as others may see it; None for people."""
    return None if said.bot is None else clean(said.bot, wire.MAX_NAME_CELLS) or "bot"
