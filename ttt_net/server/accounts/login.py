"""How a connection becomes a player: `hello`, with a name, with a token, or as a guest with neither."""

import secrets
from collections.abc import Callable
from functools import partial

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.accounts.account_service import name_here
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.journal import Journal
from ttt_net.server.players import Player
from ttt_net.server.settings.limits import Limits
from ttt_net.server.wire.connection import Connection
from ttt_net.text import clean

Admit = Callable[[Connection, wire.HelloRequest, Player, str | None], None]
"""What to do with a player who is let in: connection, hello, player, and the token if it is new."""

MIN_TOKEN = 32
"""The shortest token that a client may choose: 192 bits, if it is base64."""
_GUEST_DIGITS = 4
_GUEST_TRIES = 6
"""How often a name is made up for a guest until one is free; the last has nine digits."""


class Login:
    """Lets players in, one `hello` for each connection at a time."""

    def __init__(
        self, journal: Journal, quotas: RateLimiter, limits: Limits, now_ms: Callable[[], int], admit: Admit
    ) -> None:
        self._journal = journal
        self._quotas = quotas
        self._limits = limits
        self._now_ms = now_ms
        self._admit = admit
        self._entering: set[Connection] = set()

    def enter(self, connection: Connection, said: wire.AnyRequest) -> None:
        """Let a player in: known by his token, or new by his name; the answer comes once the journal has given its."""
        if not isinstance(said, wire.HelloRequest) or connection in self._entering:
            raise Refusal(Code.HELLO_FIRST, "say hello first, and wait for its answer")
        if wire.PROTOCOL not in said.protocols:
            raise Refusal(Code.BAD_PROTOCOL, f"this server speaks protocol {wire.PROTOCOL}, you {said.protocols}")
        if said.token:
            self._entering.add(connection)
            found, failed = partial(self._found, connection, said), partial(self._failed, connection, said)
            self._journal.find(said.token, label_of(said), self._now_ms(), found, failed)
        else:
            self._let_in(connection, said)

    def _found(self, connection: Connection, said: wire.HelloRequest, found: Player | None) -> None:
        """Answer one who said a token; with a name, an unknown one is the token of a new player."""
        if found is not None:
            self._entered(connection, said, None, found)
            return
        try:
            if said.name is None or not connection.is_open:
                raise Refusal(Code.UNKNOWN_TOKEN, "this server does not know that token; say hello with a name")
            self._let_in(connection, said)
        except Refusal as refusal:
            self._failed(connection, said, refusal)

    def _let_in(self, connection: Connection, said: wire.HelloRequest) -> None:
        name = None if said.name is None else name_here(said.name, self._limits)
        if said.token and len(said.token) < MIN_TOKEN:
            raise Refusal(Code.UNKNOWN_TOKEN, f"a token for a new player has {MIN_TOKEN} to 80 random characters")
        if name is None and not self._limits.allow_guests:
            raise Refusal(Code.NO_GUESTS, "guests are not let in here; say hello with a name")
        self._quotas.spend_of_address("registrations", connection.metered_as)
        self._entering.add(connection)
        self._register(connection, said, name, tries=_GUEST_TRIES)

    def _register(self, connection: Connection, said: wire.HelloRequest, name: str | None, tries: int) -> None:
        """Make a new player; a guest, who has no name, gets one that is free."""
        token = said.token or secrets.token_urlsafe(32)
        is_guest = name is None

        def failed(refusal: Refusal) -> None:
            if is_guest and refusal.code is Code.NAME_TAKEN and tries > 1 and connection.is_open:
                self._register(connection, said, None, tries - 1)
            else:
                self._failed(connection, said, refusal)

        registered = partial(self._entered, connection, said, None if said.token else token)
        chosen = name or _guest_name(_GUEST_TRIES - tries)
        self._journal.register(chosen, token, label_of(said), self._now_ms(), registered, failed, is_guest=is_guest)

    def _entered(self, connection: Connection, said: wire.HelloRequest, token: str | None, found: Player) -> None:
        self._entering.discard(connection)
        if connection.is_open:
            self._admit(connection, said, found, token)

    def _failed(self, connection: Connection, said: wire.HelloRequest, refusal: Refusal) -> None:
        self._entering.discard(connection)
        if connection.is_open:
            connection.refuse(said.id, refusal)

    def forget(self, connection: Connection) -> None:
        """Forget a connection that is gone."""
        self._entering.discard(connection)


def _guest_name(misses: int) -> str:
    """Return a made-up name, of more digits after each that was taken."""
    digits = _GUEST_DIGITS + misses
    return f"guest-{secrets.randbelow(9 * 10 ** (digits - 1)) + 10 ** (digits - 1)}"


def label_of(said: wire.HelloRequest) -> str | None:
    """Return the label of a bot as others may see it; None for people."""
    return None if said.bot is None else clean(said.bot, wire.MAX_NAME_CELLS) or "bot"
