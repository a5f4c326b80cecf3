"""Keep the journal's bans and mutes in memory.

A sanction identifies a player by number, and after deletion by a keyed hash of their token; if the host wants it, also
by a keyed hash of their address. Without the key, which is not in the journal, neither can be recovered or guessed.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.messages import SanctionAct, Sanctioned
from ttt_net.server.admission.client_address import UNKNOWN, Network, coarse, network_at, network_of
from ttt_net.server.players import PlayerId

Act = SanctionAct
HOST = "host"
"""Author of a sanction that no moderator imposed."""
WIDEST = {4: 8, 6: 16}
"""The shortest prefixes that can be banned: a shorter one is a typing error."""
_HASH_BYTES = 16
_PLAYER = "player:"
_ADDRESS = "address:"
_NETWORK = "network:"
_TOKEN = "token:"  # noqa: S105 - a kind, not a secret


class Sanction(NamedTuple):
    """One decision of the host, or a moderator."""

    act: Act
    whom: str
    """A network; `player:` and a number, so that a rename does not help; or a keyed hash after its kind."""
    shown: str
    """The network; or the player's current name, which the journal does not store here."""
    reason: str
    since_ms: int
    until_ms: int | None
    """The end; None: forever."""
    player: PlayerId | None = None
    """The player, deleted or not; None for a network."""
    by: str = HOST
    """The moderator who imposed it, or `HOST`."""

    def sentence(self) -> str:
        """Return the sentence for the player concerned."""
        what = "banned from this server" if self.act == "ban" else "not allowed to chat on this server"
        reason = f": {self.reason}" if self.reason else ""
        return f"you are {what} {until(self.until_ms)}{reason}"

    @property
    def title(self) -> str:
        """The title in lists: a network, a player (by number after deletion), or their address."""
        if self.player is None or self.whom.startswith(_PLAYER):
            return self.shown
        name = f"{self.shown} #{self.player}"
        return f"address of {name}" if self.whom.startswith(_ADDRESS) else name

    def left_ms(self, now_ms: int) -> int | None:
        """Return the time left; None: forever."""
        return None if self.until_ms is None else max(1, self.until_ms - now_ms)

    def message(self, now_ms: int, *, lifted: bool = False) -> Sanctioned:
        """Return the message for the player concerned."""
        return Sanctioned(self.act, self.left_ms(now_ms), self.reason, lifted)

    def refusal(self, now_ms: int) -> Refusal:
        """Return the refusal for an action that it forbids."""
        code = Code.BANNED if self.act == "ban" else Code.MUTED
        return Refusal(code, self.sentence(), self.left_ms(now_ms))


class Subject(NamedTuple):
    """A player as sanctions identify them."""

    player: PlayerId
    token_key: str
    """The key of their sanctions after they are deleted."""


def until(moment_ms: int | None) -> str:
    """Return the end of something in words."""
    if moment_ms is None:
        return "for good"
    return f"until {datetime.fromtimestamp(moment_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def of_player(player: PlayerId) -> str:
    """Return the key of a player in sanctions."""
    return f"{_PLAYER}{player}"


def network_to_ban(text: str) -> str | None:
    """Return the network of a text, for an IPv6 address its /64; None if it is not a network.

    Raises `Refusal` if it is so wide that it must be a typing error.
    """
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return None
    if network.version == 6 and network.prefixlen > 64:
        network = network.supernet(new_prefix=64)
    if network.prefixlen < WIDEST[network.version]:
        raise Refusal(Code.BAD_MESSAGE, f"{network} is too wide; at least /{WIDEST[network.version]}")
    return str(network)


class Sanctions:
    """The sanctions in force; expired ones are ignored."""

    def __init__(self, now_ms: Callable[[], int], key: bytes) -> None:
        self._now_ms = now_ms
        self._key = key
        self._all: dict[tuple[Act, str], dict[PlayerId | None, Sanction]] = {}
        """By key, then by the player concerned: two banned players may share an address."""
        self._prefixes: set[tuple[int, int]] = set()
        """The versions and prefix lengths of the banned networks: each needs one lookup."""
        self._has_addresses = False
        self.are_read = False
        """Whether the journal's sanctions are loaded: not yet, if the disk could not be read at the start."""
        self.are_missing = False
        """Whether the last attempt to read them failed: then nobody may chat, because anybody may be muted."""

    # Keys.

    def key_of_token(self, token_hash: bytes) -> str:
        """Return the key of a player's sanctions after deletion, by their token."""
        return _TOKEN + self._hashed(token_hash)

    def key_of_address(self, address: str) -> str | None:
        """Return the key for sanctions of an address (for IPv6, of its /64); None for an unknown one.

        For a player on another node of a cluster, the address is already such a key.
        """
        if address.startswith(_ADDRESS):
            return address
        network = network_of(address)
        return None if network == UNKNOWN else _ADDRESS + self._hashed(network.encode())

    def key_of_network(self, address: str) -> str:
        """Return a keyed hash of the network around an address: the /24 of IPv4, the /48 of IPv6; empty if unknown.

        For a player on another node of a cluster only a hash of the address is known, which replaces the network.
        """
        network = address if address.startswith(_ADDRESS) else coarse(address)
        return "" if network == UNKNOWN else _NETWORK + self._hashed(network.encode())

    def _hashed(self, data: bytes) -> str:
        return hashlib.blake2b(data, key=self._key, digest_size=_HASH_BYTES).hexdigest()

    # Changes, which are journaled before.

    def add(self, sanctions: Iterable[Sanction]) -> None:
        """Put sanctions in force; each replaces an earlier one of the same kind for the same target."""
        for each in sanctions:
            self._all.setdefault((each.act, each.whom), {})[each.player] = each
            self._has_addresses = self._has_addresses or each.whom.startswith(_ADDRESS)
            if each.player is None:
                network = ip_network(each.whom)
                self._prefixes.add((network.version, network.prefixlen))

    def impose(self, sanctions: Iterable[Sanction]) -> None:
        """Put new sanctions in force, replacing all of the same kind for the same player.

        Sanctions that have expired by then are dropped, as in the journal: the clock here may be behind.
        """
        imposed = list(sanctions)
        since_ms = max((each.since_ms for each in imposed), default=0)
        self._remove(each for each in self._each() if each.until_ms is not None and each.until_ms <= since_ms)
        for act, player in {(each.act, each.player) for each in imposed if each.player is not None}:
            self._remove(each for each in self._each() if (each.act, each.player) == (act, player))
        self.add(imposed)

    def lift(self, act: Act, whom: str, player: PlayerId | None) -> bool:
        """End a sanction of a network, or all of a kind against a player; return whether there was one."""
        found = [
            each
            for each in self._each()
            if each.act == act and each.player == player and (player is not None or each.whom == whom)
        ]
        self._remove(found)
        return bool(found)

    def ran_out(self, act: Act, whom: str, player: PlayerId | None) -> None:
        """Drop a sanction that has expired by the clock of the lobby's node, even if not by this node's clock."""
        self._remove(each for each in self._each() if (each.act, each.whom, each.player) == (act, whom, player))

    def renamed(self, player: PlayerId, name: str) -> None:
        """Show the sanctions of a player under their new name."""
        self.add([each._replace(shown=name) for each in self._each() if each.player == player])

    def forgotten(self, player: PlayerId, token_key: str | None) -> None:
        """Keep the sanctions of a deleted player by their token, if known, and by their address."""
        own = [each for each in self._each() if each.whom == of_player(player)]
        self._remove(own)
        if token_key is not None:
            self.add([each._replace(whom=token_key) for each in own])

    def _remove(self, sanctions: Iterable[Sanction]) -> None:
        for each in list(sanctions):
            alike = self._all[each.act, each.whom]
            del alike[each.player]
            if not alike:
                del self._all[each.act, each.whom]

    # Questions.

    def _each(self) -> Iterator[Sanction]:
        return (each for alike in list(self._all.values()) for each in list(alike.values()))

    def in_force(self) -> list[Sanction]:
        """Return all sanctions in force, newest first; drop expired ones."""
        now_ms = self._now_ms()
        self._remove(each for each in self._each() if each.until_ms is not None and each.until_ms <= now_ms)
        return sorted(self._each(), key=lambda each: -each.since_ms)

    def on(self, act: Act, subject: Subject, address: str) -> Sanction | None:
        """Return a sanction of a kind against a player or their address, if any."""
        return (
            self._in_force(act, of_player(subject.player))
            or self._in_force(act, subject.token_key)
            or self.on_address(act, address)
        )

    def on_token(self, act: Act, token_key: str) -> Sanction | None:
        """Return a sanction of a kind against a deleted player with the token, if any."""
        return self._in_force(act, token_key)

    def on_address(self, act: Act, address: str) -> Sanction | None:
        """Return a sanction of a kind against an address, if any."""
        for version, length in self._prefixes:
            network: Network | None = network_at(address, version, length)
            if network and (found := self._in_force(act, str(network))):
                return found
        key = self.key_of_address(address) if self._has_addresses else None
        return self._in_force(act, key) if key else None

    def _in_force(self, act: Act, whom: str) -> Sanction | None:
        """Return the sanction in force that lasts longest."""
        alike = self._all.get((act, whom))
        if not alike:
            return None
        now_ms = self._now_ms()
        left = [each for each in alike.values() if each.until_ms is None or each.until_ms > now_ms]
        return max(left, key=lambda each: float("inf") if each.until_ms is None else each.until_ms, default=None)
