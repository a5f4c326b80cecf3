"""Sanctions beside a plain list of them: any sequence of decisions holds the same people for the same time.

The journal gets the same decisions, and sanctions that are read from it are the same again.
"""

from ipaddress import ip_address, ip_network
from typing import Any, get_args

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.server.journal.jobs import committed, register
from ttt_net.server.admission.sanctions import HOST, Act, Sanction, Sanctions, Subject, network_to_ban, of_player
from ttt_net.server.journal import Database
from ttt_net.server.journal.entries import (
    AnyEntry,
    AuditNote,
    ForgetPlayer,
    ForgetSanctions,
    ImposeSanction,
    LiftSanction,
    RenamePlayer,
)
from ttt_net.server.journal.queries import read_sanctions

KEY = b"k"
PLAYERS = range(1, 5)
ADDRESSES = ("192.0.2.7", "192.0.2.200", "198.51.100.1", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "unknown")
NETWORKS = ("192.0.2.7", "192.0.2.0/24", "2001:db8::1", "2001:db8::/48", "198.51.100.0/24")
EVERY_ACT, EVERY_PLAYER, EVERY_ADDRESS = (
    st.sampled_from(get_args(Act)),
    st.sampled_from(PLAYERS),
    st.sampled_from(ADDRESSES),
)
LENGTHS = st.sampled_from([None, 1, 2, 5])
FOR_EVER = 10**9

Decided = tuple[Sanction, str | None]
"""A sanction, with the address that it is for, if it is for one."""


class Decisions(RuleBasedStateMachine):
    """The sanctions of a server, and the list that they are compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 10
        self.real = Sanctions(lambda: self.now_ms, KEY)
        self.model: list[Decided] = []
        self.gone: set[int] = set()
        self.names = {player: f"P{player}" for player in PLAYERS}
        self.journal = Database(None)
        for player in PLAYERS:
            self.write(register(self.names[player]))

    def write(self, entry: AnyEntry) -> Any:
        (answer,) = committed(self.journal, entry)
        assert not isinstance(answer, Exception), answer
        return answer

    def teardown(self) -> None:
        self.journal.close()

    def token(self, player: int) -> str:
        return self.real.key_of_token(b"%d" % player)

    def put(self, news: list[Decided]) -> None:
        for new, at in news:
            key = (new.act, new.whom, new.player)
            self.model = [each for each in self.model if (each[0].act, each[0].whom, each[0].player) != key]
            self.model.append((new, at))

    def note(self) -> AuditNote:
        return AuditNote(self.now_ms, "note", "")

    def until_ms(self, lasts_ms: int | None) -> int | None:
        return None if lasts_ms is None else self.now_ms + lasts_ms

    @rule(act=EVERY_ACT, player=EVERY_PLAYER, address=st.none() | EVERY_ADDRESS, lasts_ms=LENGTHS)
    def impose(self, act: Act, player: int, address: str | None, lasts_ms: int | None) -> None:
        if player in self.gone:
            return  # the journal refuses it
        first = Sanction(
            act, of_player(player), self.names[player], "", self.now_ms, self.until_ms(lasts_ms), player, HOST
        )
        news: list[Decided] = [(first, None)]
        key = self.real.key_of_address(address) if address else None
        if key:
            news.append((first._replace(whom=key), address))
        self.write(ImposeSanction(tuple(new for new, _ in news), self.note()))
        self.real.impose(new for new, _ in news)
        self.model = [each for each in self.model if (each[0].act, each[0].player) != (act, player)]
        self.put(news)

    @rule(act=EVERY_ACT, text=st.sampled_from(NETWORKS), lasts_ms=LENGTHS)
    def impose_on_network(self, act: Act, text: str, lasts_ms: int | None) -> None:
        whom = network_to_ban(text)
        assert whom is not None
        new = Sanction(act, whom, whom, "", self.now_ms, self.until_ms(lasts_ms), None, HOST)
        self.write(ImposeSanction((new,), self.note()))
        self.real.impose([new])
        self.put([(new, None)])

    def lift_all(self, was: list[Sanction], act: Act, whom: str, player: int | None) -> None:
        self.write(LiftSanction(act, whom, player, self.note()))
        assert self.real.lift(act, whom, player) == bool(was)
        self.model = [each for each in self.model if each[0] not in was]

    @rule(act=EVERY_ACT, player=EVERY_PLAYER)
    def lift(self, act: Act, player: int) -> None:
        self.drop_old()
        self.lift_all([each for each, _ in self.model if (each.act, each.player) == (act, player)], act, "", player)

    @rule(act=EVERY_ACT, text=st.sampled_from(NETWORKS))
    def lift_network(self, act: Act, text: str) -> None:
        self.drop_old()
        whom = network_to_ban(text)
        assert whom is not None
        was = [each for each, _ in self.model if (each.act, each.player, each.whom) == (act, None, whom)]
        self.lift_all(was, act, whom, None)

    @rule(player=EVERY_PLAYER, name=st.sampled_from(["A", "B"]))
    def rename(self, player: int, name: str) -> None:
        if player in self.gone:
            return
        name = self.names[player] = f"{name}{player}"
        self.write(RenamePlayer(player, name, name.lower(), (name.lower(),)))
        self.real.renamed(player, name)
        self.model = [(each._replace(shown=name) if each.player == player else each, at) for each, at in self.model]

    @rule(player=EVERY_PLAYER, is_known=st.booleans())
    def forget(self, player: int, *, is_known: bool) -> None:
        if player in self.gone:
            return
        self.gone.add(player)
        own = [each for each in self.model if each[0].whom == f"player:{player}"]
        token = self.token(player) if is_known else None
        self.write(ForgetPlayer(player, token))
        self.real.forgotten(player, token)
        self.model = [each for each in self.model if each not in own]
        if is_known:
            self.put([(each._replace(whom=self.token(player)), None) for each, _ in own])

    @rule(most=st.integers(1, 3))
    def drop_expired(self, most: int) -> None:
        """Delete a few expired sanctions from the journal, as maintenance does."""
        for act, whom, player in self.write(ForgetSanctions(self.now_ms, most)):
            self.real.ran_out(act, whom, player)

    @rule()
    def restart(self) -> None:
        """Read the journal: what is in force does not change."""
        self.real = Sanctions(lambda: self.now_ms, KEY)
        self.real.add(read_sanctions(self.journal.connection))
        for player in self.gone:
            self.real.renamed(player, self.names[player])  # else the name is that of a deleted player
        self.list_them()

    @rule(by_ms=st.integers(0, 3))
    def time_passes(self, by_ms: int) -> None:
        self.now_ms += by_ms

    @rule()
    def list_them(self) -> None:
        self.drop_old()
        listed = self.real.in_force()
        assert [each.since_ms for each in listed] == sorted((each.since_ms for each in listed), reverse=True)
        assert sorted(map(repr, listed)) == sorted(repr(each) for each, _ in self.model)
        for each in listed:
            is_plain = each.player is None or each.whom.startswith("player:")
            of_address = "address of " if each.whom.startswith("address:") else ""
            assert each.title == (each.shown if is_plain else f"{of_address}{each.shown} #{each.player}")

    def drop_old(self) -> None:
        self.real.in_force()
        self.model = self.live()

    def live(self) -> list[Decided]:
        return [each for each in self.model if each[0].until_ms is None or each[0].until_ms > self.now_ms]

    @invariant()
    def each_is_held_by_their_own_sanctions_for_as_long_as_they_last(self) -> None:
        live = self.live()
        for act in get_args(Act):
            for address in ADDRESSES:
                there = [each for each, at in live if each.act == act and covers(each, at, address)]
                assert (self.real.on_address(act, address) is not None) == bool(there)
                for player in PLAYERS:
                    keys = (f"player:{player}", self.token(player))
                    own = [each for each, _ in live if each.act == act and each.whom in keys]
                    found = self.real.on(act, Subject(player, self.token(player)), address)
                    assert (found is not None) == bool(own or there)
                    assert not own or found in own
            for whom in {each.whom for each, _ in live}:
                ends = [each.until_ms or FOR_EVER for each, _ in live if (each.act, each.whom) == (act, whom)]
                held = self.real.on_token(act, whom)
                assert (held is not None) == bool(ends)
                assert held is None or (held.until_ms or FOR_EVER) == max(ends)


def covers(sanction: Sanction, at: str | None, address: str) -> bool:
    """Tell whether a sanction, decided at an address if at one, holds an address."""
    if address == "unknown":
        return False
    if sanction.player is None:
        return ip_address(address) in ip_network(sanction.whom)
    if at is None or ":" not in at or ":" not in address:
        return at == address
    return ip_address(address) in ip_network(at + "/64", strict=False)


Decisions.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestDecisions = Decisions.TestCase
