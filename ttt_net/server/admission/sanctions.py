"""Keep bans and mutes in memory, as the journal has them."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Literal, NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.server.admission.client_address import Network, network_at

Act = Literal["ban", "mute"]
ACTS: tuple[Act, ...] = ("ban", "mute")
WIDEST = {4: 8, 6: 16}
"""The shortest prefixes that can be banned: a shorter one is a slip."""
_PLAYER = "player:"


class Sanction(NamedTuple):
    """One decision of the host."""

    act: Act
    whom: str
    """A network, or `player:` and the player's id, so that another name does not help."""
    shown: str
    """The name that the player has, or the network."""
    reason: str
    since_ms: int
    until_ms: int | None
    """None: for ever."""

    def sentence(self) -> str:
        """Return the sentence for the player concerned."""
        what = "banned from this server" if self.act == "ban" else "not allowed to chat on this server"
        reason = f": {self.reason}" if self.reason else ""
        return f"you are {what} {until(self.until_ms)}{reason}"

    @property
    def player(self) -> int | None:
        """The player's id; None for a network."""
        return int(self.whom.removeprefix(_PLAYER)) if self.whom.startswith(_PLAYER) else None

    def left_ms(self, now_ms: int) -> int | None:
        """Return how long it still is; None for ever."""
        return None if self.until_ms is None else max(1, self.until_ms - now_ms)


def until(moment_ms: int | None) -> str:
    """Return in words when something ends."""
    if moment_ms is None:
        return "for good"
    return f"until {datetime.fromtimestamp(moment_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def of_player(player: int) -> str:
    """Return how a sanction names the player."""
    return f"{_PLAYER}{player}"


def network_to_ban(text: str) -> str | None:
    """Return the network that the text names, for an IPv6 address its /64; None for a text that is none.

    One that is so wide that it must be a slip raises `Refusal`.
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
    """The sanctions that are in force; what has run out counts as gone."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._all: dict[tuple[Act, str], Sanction] = {}
        self._prefixes: set[tuple[int, int]] = set()
        """Version and prefix length of the networks that are banned: one look for each."""

    def add(self, sanctions: Iterable[Sanction]) -> None:
        """Put sanctions in force; one of the same kind for the same takes the place of the last."""
        for each in sanctions:
            self._all[each.act, each.whom] = each
            if each.player is None:
                network = ip_network(each.whom)
                self._prefixes.add((network.version, network.prefixlen))

    def lift(self, act: Act, whom: str) -> bool:
        """End a sanction; tell whether there was one."""
        return self._all.pop((act, whom), None) is not None

    def renamed(self, player: int, name: str) -> None:
        """Show the sanctions of a player under the name that they have now."""
        for each in self._of_player(player):
            self._all[each.act, each.whom] = each._replace(shown=name)

    def forgotten(self, player: int) -> None:
        """Forget the sanctions of a player who is forgotten."""
        for each in self._of_player(player):
            del self._all[each.act, each.whom]

    def _of_player(self, player: int) -> list[Sanction]:
        found = (self._all.get((act, of_player(player))) for act in ACTS)
        return [each for each in found if each]

    def in_force(self) -> list[Sanction]:
        """Return all of them, the newest first; those that have run out are forgotten."""
        now_ms = self._now_ms()
        self._all = {key: each for key, each in self._all.items() if each.until_ms is None or each.until_ms > now_ms}
        return sorted(self._all.values(), key=lambda each: -each.since_ms)

    def of(self, act: Act, player: int) -> Sanction | None:
        """Return the player's sanction of that kind, if there is one."""
        return self._in_force(act, of_player(player))

    def ban_of_address(self, address: str) -> Sanction | None:
        """Return the ban of the address, if there is one."""
        for version, length in self._prefixes:
            network: Network | None = network_at(address, version, length)
            if network and (ban := self._in_force("ban", str(network))):
                return ban
        return None

    def _in_force(self, act: Act, whom: str) -> Sanction | None:
        found = self._all.get((act, whom))
        return found if found and (found.until_ms is None or found.until_ms > self._now_ms()) else None
