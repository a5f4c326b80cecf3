"""Let players in by `hello`: with a name, with a token, or as a guest with neither."""

import base64
from collections.abc import Callable
from functools import partial

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.names import checked_name, is_like_an_office
from ttt_net.server.admission.filtered_words import FilteredWords
from ttt_net.server.journal import token_hash
from ttt_net.server.players import FORGOTTEN, Player
from ttt_net.server.services import Services
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.connection import Connection
from ttt_net.text import clean, name_key

Admit = Callable[[Connection, wire.HelloRequest, Player, str | None], None]
"""Called for an accepted player with connection, hello, player, and the token if it is new."""

MIN_TOKEN = 32
"""The shortest token that a client may choose: 192 bits, if it is base64."""
_TOKEN_BYTES = 32
_GUEST_DIGITS = 4
_GUEST_TRIES = 6
"""How often a name is made up for a guest until one is free; the last has nine digits."""


class Login:
    """Lets players in, one `hello` for each connection at a time."""

    def __init__(self, services: Services, admit: Admit) -> None:
        self._services = services
        self._admit = admit
        self._entering: set[Connection] = set()

    def enter(self, connection: Connection, request: wire.AnyRequest) -> None:
        """Let a player in, known by their token or new by their name; the answer comes after that of the journal."""
        if not isinstance(request, wire.HelloRequest) or connection in self._entering:
            raise Refusal(Code.HELLO_FIRST, "say hello first, and wait for its answer")
        if wire.PROTOCOL not in request.protocols:
            raise Refusal(Code.BAD_PROTOCOL, f"this server speaks protocol {wire.PROTOCOL}, you {request.protocols}")
        if request.token:
            self._entering.add(connection)
            found, failed = partial(self._found, connection, request), partial(self._failed, connection, request)
            now_ms = self._services.wall_ms()
            self._services.journal.find(request.token, self._label(request), now_ms, found, failed)
        else:
            self._let_in(connection, request)

    def _found(self, connection: Connection, request: wire.HelloRequest, found: Player | None) -> None:
        """Answer a `hello` with a token; with a name, an unknown one is the token of a new player."""
        if found is not None:
            self._entered(connection, request, None, found)
            return
        try:
            if request.name is None or not connection.is_open:
                raise Refusal(Code.UNKNOWN_TOKEN, "this server does not know that token; say hello with a name")
            self._let_in(connection, request)
        except Refusal as refusal:
            self._failed(connection, request, refusal)

    def _let_in(self, connection: Connection, request: wire.HelloRequest) -> None:
        if connection.lacks_place:
            connection.close(Closing.FULL)
            return
        name = None if request.name is None else checked_here(request.name, self._services, connection.metered_as)
        if request.token and len(request.token) < MIN_TOKEN:
            raise Refusal(Code.UNKNOWN_TOKEN, f"a token for a new player has {MIN_TOKEN} to 80 random characters")
        sanctions = self._services.sanctions
        ban = sanctions.on_token("ban", sanctions.key_of_token(token_hash(request.token))) if request.token else None
        if ban:
            raise ban.refusal(self._services.wall_ms())
        if name is None and not self._services.limits.allow_guests:
            raise Refusal(Code.NO_GUESTS, "guests are not let in here; say hello with a name")
        self._services.rate_limiter.spend_of_address("registrations", connection.metered_as)
        self._entering.add(connection)
        self._register(connection, request, name, tries=_GUEST_TRIES)

    def _register(self, connection: Connection, request: wire.HelloRequest, name: str | None, tries: int) -> None:
        """Make a new player; a guest, who has no name, gets one that is free."""
        token = request.token or self._new_token()
        is_guest = name is None

        def failed(refusal: Refusal) -> None:
            if is_guest and refusal.code is Code.NAME_TAKEN and tries > 1 and connection.is_open:
                self._register(connection, request, None, tries - 1)
            else:
                self._failed(connection, request, refusal)

        registered = partial(self._entered, connection, request, None if request.token else token)
        chosen = name or self._guest_name(_GUEST_TRIES - tries)
        now_ms = self._services.wall_ms()
        label = self._label(request)
        self._services.journal.register(chosen, token, label, now_ms, registered, failed, is_guest=is_guest)

    def _label(self, request: wire.HelloRequest) -> str | None:
        return label_of(request, self._services.words)

    def _entered(self, connection: Connection, request: wire.HelloRequest, token: str | None, found: Player) -> None:
        self._entering.discard(connection)
        if connection.is_open:
            self._admit(connection, request, found, token)

    def _failed(self, connection: Connection, request: wire.HelloRequest, refusal: Refusal) -> None:
        self._entering.discard(connection)
        if connection.is_open:
            connection.refuse(request.id, refusal)

    def forget(self, connection: Connection) -> None:
        """Forget a connection that is gone."""
        self._entering.discard(connection)

    def _new_token(self) -> str:
        return base64.urlsafe_b64encode(self._services.rng.randbytes(_TOKEN_BYTES)).rstrip(b"=").decode()

    def _guest_name(self, misses: int) -> str:
        """Return a made-up name, of more digits after each that was taken."""
        least = 10 ** (_GUEST_DIGITS + misses - 1)
        return f"guest-{self._services.rng.randrange(least, 10 * least)}"


def checked_here(typed: str, services: Services, address: str | None) -> str:
    """Return the name as it is kept here. Raises `Refusal` if it may not be taken, or after too many such names.

    Those are counted for each address: to check a name costs up to 50 times as much as a `ping`.
    """
    services.rate_limiter.check_of_address("mistakes", address)
    try:
        name = name_here(typed, services.limits)
        services.words.check_name(name)
    except Refusal:
        services.rate_limiter.spend_of_address("mistakes", address)
        raise
    return name


def name_here(typed: str, limits: Limits) -> str:
    """Return the name as it is kept here. Raises `Refusal` if it may not be taken, with the rule."""
    shown = clean(typed, wire.MAX_NAME_CELLS)
    is_free = limits.free_names and shown and name_key(shown) != FORGOTTEN
    return shown if is_free else checked_name(typed)


def label_of(request: wire.HelloRequest, words: FilteredWords) -> str | None:
    """Return the label of a bot as others may see it; None for people.

    One that reads like an office, or has a word that the host does not want, is only `bot`.
    """
    if request.bot is None:
        return None
    label = clean(request.bot, wire.MAX_NAME_CELLS)
    return label if label and not is_like_an_office(label) and not words.has(label) else "bot"
