"""Connected players and places of bots beside plain lists of them."""

from dataclasses import dataclass, field
from typing import cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.pairing.objects import count_objects
from ttt_net.clock import TimeControl
from ttt_net.messages import PlayerInfo, RatingChange
from ttt_net.ratings import Rating
from ttt_net.server import online_players
from ttt_net.server.online_players import (
    FIRST_WAIT_MS,
    FREE_ABORTS,
    MAX_WAIT_MS,
    REMEMBERED_MS,
    WAITS_MS,
    AbandonHistory,
    AbortHistory,
    BotPlaces,
    OnlinePlayers,
    Session,
)
from ttt_net.server.wire.connection import Connection
from ttt_net.text import name_key

PLAYERS = range(6)
EVERYBODY = st.sampled_from(PLAYERS)
ADDRESSES = st.sampled_from(["a", "b", None])
NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal")
HOUR_MS = 3_600_000
MOST_WAITING = 2
"""Addresses that are remembered as waiting, few enough to be reached."""


@dataclass(eq=False)
class At:
    """A connection from an address."""

    metered_as: str | None = None


@dataclass
class Here:
    """A connected player, as the model has them."""

    session: Session
    name: str
    address: str | None
    live: set[str] = field(default_factory=set)

    @property
    def shelf(self) -> int:
        """Where they are listed: free people, bots, people who play."""
        return 1 if self.session.is_bot else 2 if self.live else 0


class Online(RuleBasedStateMachine):
    """The players of a server, and those of the model, the latest to come or to be free last."""

    def __init__(self) -> None:
        super().__init__()
        self.real = OnlinePlayers()
        self.model: dict[int, Here] = {}
        self.gone: list[Session] = []

    def last(self, player: int) -> None:
        """Put a player last."""
        self.model[player] = self.model.pop(player)

    def is_free(self, name: str) -> bool:
        return name not in {each.name for each in self.model.values()}

    @rule(
        player=EVERYBODY,
        name=st.sampled_from(NAMES),
        is_bot=st.booleans(),
        address=ADDRESSES,
        live=st.sets(st.sampled_from("mn")),
        blocks=st.dictionaries(EVERYBODY, st.booleans(), max_size=2),
    )
    def come(
        self, player: int, name: str, is_bot: bool, address: str | None, live: set[str], blocks: dict[int | None, bool]
    ) -> None:
        if player in self.model:
            self.go(player)
        if not self.is_free(name):
            return
        info = PlayerInfo(name, "random" if is_bot else None)
        session = Session(cast(Connection, At(address)), player, info, unfinished=sorted(live), blocks=dict(blocks))
        self.real.add(session)
        self.model[player] = Here(session, name, address, set(live))

    @rule(player=EVERYBODY)
    def go(self, player: int) -> None:
        here = self.model.pop(player, None)
        if here is not None:
            self.gone.append(here.session)
            assert self.real.remove(here.session)

    @precondition(lambda self: self.gone)
    @rule()
    def one_who_has_gone_goes_again(self) -> None:
        assert not self.real.remove(self.gone[-1])
        self.real.moved(self.gone[-1])

    @rule(player=EVERYBODY, name=st.sampled_from(NAMES))
    def rename(self, player: int, name: str) -> None:
        if self.is_free(name):
            self.real.rename(player, name)
            if player in self.model:
                self.model[player].name = name
                self.last(player)

    @rule(player=EVERYBODY, match=st.sampled_from("mn"), begins=st.booleans())
    def play(self, player: int, match: str, begins: bool) -> None:
        here = self.model.get(player)
        if here is None:
            return
        before = here.shelf
        (here.live.add if begins else here.live.discard)(match)
        (here.session.began if begins else here.session.finished)(match)
        self.real.moved(here.session)
        if here.shelf != before:
            self.last(player)

    @invariant()
    def all_are_found_as_the_model_has_them(self) -> None:
        assert len(self.real) == len(self.model)
        assert self.real.people == sum(not each.session.is_bot for each in self.model.values())
        assert {each.player for each in self.real.bots} == {n for n, each in self.model.items() if each.session.is_bot}
        for name in NAMES:
            found = self.real.find(name.upper())
            assert (found and found.player) == next((n for n, each in self.model.items() if each.name == name), None)
        for player in PLAYERS:
            here = self.model.get(player)
            assert self.real.get(player) is (here and here.session)
            assert here is None or here.session.info.name == here.name
        for address in ("a", "b", "c"):
            own = {each.session.player for each in self.model.values() if each.address == address}
            assert {each.player for each in self.real.of_address(address)} == own

    @invariant()
    def the_latest_are_listed_first_free_people_before_all(self) -> None:
        latest = [*reversed(self.model)]
        expected = sorted(latest, key=lambda player: self.model[player].shelf)
        for most in (0, 2, 10):
            assert [each.player for each in self.real.by_leisure(most)] == expected[:most]

    @invariant()
    def two_are_apart_if_one_who_is_here_has_blocked_the_other(self) -> None:
        for one in PLAYERS:
            for other in PLAYERS:
                pairs = ((one, other), (other, one))
                blocks = [self.model[a].session.blocks.get(b, False) for a, b in pairs if a in self.model]
                assert self.real.have_blocked(one, other) == any(blocks)

    def teardown(self) -> None:
        """Check that nothing is kept of players who have gone."""
        for player in [*self.model]:
            self.go(player)
        assert count_objects(self.real) == count_objects(OnlinePlayers())


Online.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestOnline = Online.TestCase


class Places(RuleBasedStateMachine):
    """Places of bots by address, and those who wait for one."""

    def __init__(self) -> None:
        super().__init__()
        self.real, self.now_ms = BotPlaces(), 0
        self.held: dict[str, str] = {}
        self.refused: dict[str, int] = {}

    @rule(match=st.sampled_from("mnop"), address=ADDRESSES)
    def hold(self, match: str, address: str | None) -> None:
        self.real.hold(match, address)
        if address is not None:
            self.held.setdefault(match, address)

    @rule(match=st.sampled_from("mnop"))
    def free(self, match: str) -> None:
        self.real.free(match)
        self.held.pop(match, None)

    @rule(refused=st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=5))
    def turn_away(self, refused: list[str | None]) -> None:
        for address in refused:
            self.real.turn_away(address, self.now_ms)
            if address is not None:
                self.refused.pop(address, None)
                self.refused[address] = self.now_ms
                for oldest in [*self.refused][:-MOST_WAITING]:
                    del self.refused[oldest]

    @rule(later_ms=st.sampled_from([1, WAITS_MS - 1, WAITS_MS]))
    def time_passes(self, later_ms: int) -> None:
        self.now_ms += later_ms

    @invariant()
    def places_and_those_who_wait_are_as_the_lists_say(self) -> None:
        assert self.real.holders == self.held
        for address in ("a", "b", "c"):
            assert self.real.held_by(address) == [*self.held.values()].count(address)
            recent = {other for other, at_ms in self.refused.items() if self.now_ms - at_ms < WAITS_MS}
            assert self.real.others_were_turned_away(address, self.now_ms) == bool(recent - {address})

    def teardown(self) -> None:
        """Check that nothing is kept but the addresses that were refused last."""
        for match in [*self.held]:
            self.real.free(match)
        expected = BotPlaces()
        for address in self.refused:
            expected.turn_away(address, self.now_ms)
        assert count_objects(self.real) == count_objects(expected)


Places.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestPlaces = Places.TestCase


class Histories(RuleBasedStateMachine):
    """Abandoned and aborted matches of the last hour, and pairs that are kept apart, of at most three."""

    def __init__(self) -> None:
        super().__init__()
        self.abandons, self.aborts, self.now_ms = AbandonHistory(3), AbortHistory(3), 10 * HOUR_MS
        self.ends: dict[str, list[tuple[int, int]]] = {"abandons": [], "aborts": []}
        """The player who ended each match, and when; at most those of three players, the last one last."""
        self.apart: dict[frozenset[int], int] = {}

    def count(self, kind: str, player: int) -> int:
        """Return how many matches ended because of a player, each less than an hour after the one before."""
        count, last_ms = 0, self.now_ms
        for who, at_ms in reversed(self.ends[kind]):
            if who == player:
                if last_ms - at_ms >= REMEMBERED_MS:
                    break
                count, last_ms = count + 1, at_ms
        return count

    @rule(player=EVERYBODY, kind=st.sampled_from(["abandons", "aborts"]), times=st.sampled_from([1, 1, 5]))
    def add(self, player: int, kind: str, times: int) -> None:
        for _ in range(times):
            self.now_ms += 1
            (self.abandons if kind == "abandons" else self.aborts).add(player, self.now_ms)
            ends = self.ends[kind]
            ends.append((player, self.now_ms))
            newest = [*dict.fromkeys(who for who, _ in reversed(ends))][:3]
            self.ends[kind] = [each for each in ends if each[0] in newest]

    @rule(pair=st.lists(EVERYBODY, min_size=2, max_size=2, unique=True))
    def part(self, pair: list[int]) -> None:
        self.aborts.part(pair[0], pair[1], self.now_ms)
        self.apart.pop(frozenset(pair), None)
        self.apart[frozenset(pair)] = self.now_ms + 300_000
        if len(self.apart) > 3:
            del self.apart[next(iter(self.apart))]

    @rule()
    def reunite(self) -> None:
        due = [pair for pair, until_ms in self.apart.items() if until_ms <= self.now_ms]
        found = self.aborts.reunited(self.now_ms)
        assert len(found) == len(due)
        assert all(player in pair for player, pair in zip(found, due, strict=True))
        for pair in due:
            del self.apart[pair]

    @rule(later_ms=st.sampled_from([1, 29_999, 299_999, 300_000, HOUR_MS - 1, HOUR_MS]))
    def time_passes(self, later_ms: int) -> None:
        self.now_ms += later_ms

    @invariant()
    def counts_waits_and_pairs_are_as_the_lists_say(self) -> None:
        for player in PLAYERS:
            assert self.abandons.count(player, self.now_ms) == self.count("abandons", player)
            aborts = self.count("aborts", player)
            assert self.aborts.count(player, self.now_ms) == aborts
            last_ms = max((at_ms for who, at_ms in self.ends["aborts"] if who == player), default=0)
            waits_ms = 0 if aborts <= FREE_ABORTS else min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (aborts - FREE_ABORTS - 1))
            assert self.aborts.wait_ms(player, self.now_ms) == (max(0, last_ms + waits_ms - self.now_ms))
            for other in PLAYERS:
                until_ms = self.apart.get(frozenset((player, other)), 0)
                assert self.aborts.are_apart(player, other, self.now_ms) == (until_ms > self.now_ms)


Histories.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestHistories = Histories.TestCase


def test_a_session_shows_the_rating_of_a_game_and_speed_and_the_best_that_is_settled() -> None:
    blitz, rapid = TimeControl(180_000), TimeControl(1_800_000)
    ratings = {
        ("gomoku", "blitz"): Rating(1_800.4, 50.0, games=20),
        ("gomoku", "rapid"): Rating(1_900.0, 300.0, games=1),
        ("connect4", "blitz"): Rating(1_700.0, 50.0, games=20),
    }
    connection = cast(Connection, At())
    one = Session(connection, 1, PlayerInfo("Ann"), ratings)  # type: ignore[arg-type]
    assert [one.rating_at("gomoku", time) for time in (blitz, rapid, None)] == [1_800, 1_900, Rating().shown]
    assert one.info_at("gomoku", blitz) == PlayerInfo("Ann", rating=1_800)
    assert one.info_at("gomoku", rapid) == PlayerInfo("Ann", rating=1_900, provisional=True)
    assert one.info_at("gomoku", None) is one.info
    assert one.best_rating == 1_800
    one.rated("connect4", blitz, RatingChange(1_700, 1_850))
    one.rated("connect4", rapid, RatingChange(1_500, 2_000, provisional=True))
    assert (one.best_rating, one.rating_at("connect4", rapid)) == (1_850, 2_000)
    assert Session(connection, 2, PlayerInfo("Bob")).best_rating is None
    bot = Session(connection, 3, PlayerInfo("Bot", "mcts", level=2))
    assert [bot.info_for("gomoku", None, level).level for level in (None, 5)] == [2, 2]
    bot.describe(any_level=True, on_request=False, about=None)
    assert [bot.info_for("gomoku", None, level).level for level in (None, 5)] == [2, 5]
    online = OnlinePlayers()
    online.add(one)
    assert online.rating_of(1, "gomoku", rapid) == 1_900


def test_a_session_is_muted_by_name_or_with_everybody_and_a_new_name_makes_a_player_of_a_guest() -> None:
    connection = cast(Connection, At())
    one = Session(connection, 1, PlayerInfo("guest-1"), is_guest=True, blocks={2: False, 3: True})
    assert [one.has_muted(player) for player in (2, 3, 4)] == [True, True, False]
    assert [one.has_blocked(player) for player in (2, 3, 4)] == [False, True, False]
    one.blocks = {None: False}
    assert (one.has_muted(4), one.has_blocked(4)) == (True, False)
    one.rename("Ann")
    assert (one.info.name, one.is_guest) == ("Ann", False)
    assert online_players.place_of(one) == (name_key("Ann"), 1)
