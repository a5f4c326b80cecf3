"""Players and watchers of several matches, beside a model of who hears what.

The hub is real, and so is all below it, with its journal in memory; sockets and time are simulated. After each act,
everybody has received exactly what the model says, the count of watchers is true, and only rooms with an audience are
in memory.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.server.link import Link
from tests.simulation.loop import SimulatedLoop
from ttt_net import messages as wire
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.journal.entries import FileReport
from ttt_net.server.rooms import audience, chat
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection

PEOPLE = range(1, 6)
EVERYBODY = st.sampled_from(PEOPLE)
SIDES = st.integers(0, 1)
OFTEN = Rate(1_000_000)
LIMITS = Limits(
    codes=OFTEN, inquiries=OFTEN, matches=OFTEN, renames=OFTEN, chats=OFTEN, reports=OFTEN, challenges=OFTEN,
    blocks=OFTEN, writes=OFTEN, max_live_matches=40, unmetered=("192.0.5.0/24",),
)  # fmt: skip
MOST_HEARD, MOST_LINES = 3, 2
"""Small limits, so that they are reached."""
SHARED = 5
"""The player whose address many share: it is not metered."""
LINES = ({0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6})
Told = tuple[object, ...]


class Seat(Link):
    """A connection from an address of the player's own."""

    def __init__(self, player: int) -> None:
        super().__init__()
        self.place = f"192.0.{player}.7"
        self.turned_away: object = None
        self.opened_s = 0.0
        self.counts: dict[str, int] = {}
        """The watchers of each match, as the player was told last."""

    def charge(self, ms: float) -> None:
        """Charge nobody."""

    def take(self) -> list[Told]:
        """Return what was received since the last call and concerns matches."""
        news, self.heard = self.heard, []
        for each in news:
            if isinstance(each, wire.Watching | wire.Snapshot):
                self.counts[each.match] = each.watchers
        return [said for each in news if (said := told(each)) is not None]


def told(each: wire.AnyServerMessage) -> Told | None:
    """Return a message as the model has it; None if it has none."""
    match each:
        case wire.Ok():
            return ("ok",)
        case wire.Refused():
            return ("refused", str(each.code))
        case wire.Played():
            return ("played", each.match, each.seq, each.side, each.move)
        case wire.Ended():
            return ("ended", each.match, each.seq, each.reason, each.winner)
        case wire.Snapshot():
            names = tuple(player.name for player in each.players)
            return ("snapshot", each.match, each.seq, each.you, each.present, names)
        case wire.Presence():
            return ("presence", each.match, each.side, each.online)
        case wire.PlayerRenamed():
            return ("renamed", each.match, each.side, each.name)
        case wire.Chatted():
            return ("chat", each.match, each.room, each.by.name, each.text)
        case _:
            return None


@dataclass
class Table:
    """A match, as the model has it."""

    name: str
    seats: tuple[int, int]
    code: str | None
    moves: list[int] = field(default_factory=list)
    end: tuple[str, int | None] | None = None
    players: set[int] = field(default_factory=set)
    """The players who receive it."""
    watchers: set[int] = field(default_factory=set)
    said: dict[str, deque[str]] = field(default_factory=dict)
    """The last lines of chat by room, as long as somebody hears the match."""

    @property
    def hearers(self) -> set[int]:
        return self.players | self.watchers

    @property
    def seq(self) -> int:
        return 1 + len(self.moves) + (self.end is not None)

    @property
    def present(self) -> tuple[bool, bool]:
        return self.seats[0] in self.players, self.seats[1] in self.players

    def side(self, player: int) -> int | None:
        return self.seats.index(player) if player in self.seats else None

    def events(self, after: int) -> Iterator[Told]:
        for ply, move in enumerate(self.moves):
            if ply + 2 > after:
                yield ("played", self.name, ply + 2, ply % 2, move)
        if self.end is not None and self.seq > after:
            yield ("ended", self.name, self.seq, *self.end)


class Hall(RuleBasedStateMachine):
    """A hub, five people, and what they may do in matches."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(audience, "MAX_HEARD", MOST_HEARD)
        self.patch.setattr(chat, "MAX_LINES", MOST_LINES)
        self.loop = SimulatedLoop()
        self.ledger = MemoryLedger(is_instant=True)
        clock: Callable[[], int] = lambda: 1_000_000 + round(self.loop.time() * 1000)  # noqa: E731
        services = build_services(
            Configuration(name="x", limits=LIMITS), Journal(self.ledger), self.loop.as_asyncio, clock, random.Random(1)
        )
        self.hub = Hub(services)
        self.links: dict[int, Seat] = {}
        self.tokens: dict[int, str] = {}
        self.names = {player: f"P{player}" for player in PEOPLE}
        self.renames = 0
        self.tables: list[Table] = []
        self.muted: dict[int, set[int | None]] = {player: set() for player in PEOPLE}
        self.expected: dict[int, list[Told]] = {player: [] for player in PEOPLE}

    @initialize()
    def all_come(self) -> None:
        for player in PEOPLE:
            self.come(player)
        self.begin(1, 2, False)
        self.begin(3, 4, True)
        for player in (3, 4, 5):
            self.watch(player, 0, "")

    # What is asked, and what the model expects of it.

    def say(self, player: int, make: Callable[[int], wire.AnyRequest]) -> None:
        link = self.links[player]
        link.asked += 1
        self.hub.received(cast(Connection, link), wire.encode(make(link.asked)).decode())

    def tell(self, players: Any, *messages: Told) -> None:
        for player in players:
            self.expected[player] += messages

    def answer(self, player: int, code: str | None) -> bool:
        """Expect `ok`, or a refusal with the code; return whether it is `ok`."""
        self.tell([player], ("ok",) if code is None else ("refused", code))
        return code is None

    def snapshot(self, table: Table, player: int) -> Told:
        names = tuple(self.names[each] for each in table.seats)
        return ("snapshot", table.name, table.seq, table.side(player), table.present, names)

    def heard(self, player: int) -> list[Table]:
        return [table for table in self.tables if player in table.hearers]

    def settle(self) -> None:
        """Let a second pass, and compare what everybody has received."""
        self.loop.run_until(self.loop.time() + 1.0, 100_000)
        assert self.loop.errors == []
        for player, link in self.links.items():
            assert Counter(link.take()) == Counter(self.expected[player])
        for news in self.expected.values():
            news.clear()
        for table in self.tables:
            if not table.hearers:
                table.said.clear()

    def leave_rooms(self, player: int, rooms: list[Table]) -> None:
        """Remove a player from matches, and notify the others."""
        for table in rooms:
            was_player = player in table.players
            table.players.discard(player)
            table.watchers.discard(player)
            if was_player:
                self.tell(table.hearers, ("presence", table.name, table.side(player), False))

    def table(self, number: int) -> Table:
        return self.tables[number % len(self.tables)]

    # Coming and going.

    @rule(player=EVERYBODY)
    def come(self, player: int) -> None:
        """Connect, perhaps in place of an open connection."""
        self.leave_rooms(player, self.heard(player))
        before = self.links.get(player)
        link = self.links[player] = Seat(player)
        self.hub.opened(cast(Connection, link), link.place)
        token = self.tokens.get(player)
        self.say(
            player,
            lambda number: wire.HelloRequest(number, [1], token=token, name=None if token else self.names[player]),
        )
        if before is not None:
            assert not before.is_open, "the new connection replaces the old one"
            self.hub.closed(cast(Connection, before))
        (welcome,) = [each for each in link.heard if isinstance(each, wire.Welcome)]
        self.tokens[player] = welcome.token or self.tokens[player]
        live = {table.name for table in self.tables if table.end is None and player in table.seats}
        assert set(welcome.matches) == live
        self.answer(player, None)
        self.settle()

    @rule(player=EVERYBODY)
    def go(self, player: int) -> None:
        link = self.links.pop(player, None)
        if link is None:
            return
        self.leave_rooms(player, self.heard(player))
        link.is_open = False
        self.hub.closed(cast(Connection, link))
        self.settle()

    @rule(one=EVERYBODY, other=EVERYBODY, is_private=st.booleans())
    def begin(self, one: int, other: int, is_private: bool) -> None:
        """Let two people play, by challenge or by invitation."""
        if one == other or not {one, other} <= self.links.keys():
            return
        if is_private:
            self.say(one, lambda number: wire.InviteRequest(number, side=0))
            code = self.links[one].codes()[-1]
            self.say(other, lambda number: wire.JoinRequest(number, code.lower()))
        else:
            self.say(one, lambda number: wire.ChallengeRequest(number, self.names[other]))
            challenge = self.links[other].numbers()[-1]
            self.say(other, lambda number: wire.AnswerRequest(number, challenge, True))
        shown = [each for each in self.links[one].heard if isinstance(each, wire.Snapshot)]
        if shown[-1].you == 1:
            one, other = other, one
        for player in (one, other):
            finished = [each for each in self.heard(player) if each.end is not None and player in each.seats]
            self.leave_rooms(player, finished)
        table = Table(shown[-1].match, (one, other), shown[-1].code)
        assert (table.code is not None) == is_private
        self.tables.append(table)
        table.players = {one, other}
        for player in (one, other):
            self.answer(player, None)
            self.tell([player], self.snapshot(table, player))
        self.settle()

    @precondition(lambda self: self.tables)
    @rule(player=EVERYBODY, number=st.integers(0, 9), doubt=st.sampled_from(["", "", "", "none", "wrong"]))
    def watch(self, player: int, number: int, doubt: str) -> None:
        table = self.table(number)
        if player not in self.links:
            return
        code = {"": table.code, "none": None, "wrong": "XXXXXX"}[doubt]
        self.say(player, lambda request: wire.WatchRequest(request, table.name, code))
        refusal = None
        if table.side(player) is not None:
            refusal = "not_watching"
        elif table.code is not None and code != table.code:
            refusal = "not_public" if code is None else "unknown_code"
        elif len(self.heard(player)) >= MOST_HEARD:
            refusal = "too_many_matches"
        if self.answer(player, refusal):
            table.watchers.add(player)
            self.tell([player], self.snapshot(table, player))
        self.settle()

    @rule(player=EVERYBODY, is_first=st.booleans())
    def go_round(self, player: int, is_first: bool) -> None:
        """Look at every match, of one's own or of others, from the first or from the last."""
        for number in sorted(range(len(self.tables)), reverse=not is_first)[:5]:
            if self.tables[number].side(player) is None:
                for doubt in ("none", "wrong", "") if self.tables[number].code else ("",):
                    self.watch(player, number, doubt)
            else:
                self.resume(player, number, 1)

    @rule(one=EVERYBODY, other=EVERYBODY, times=st.integers(2, 4), is_last=st.booleans())
    def play_and_resign(self, one: int, other: int, times: int, is_last: bool) -> None:
        """Play several matches, of which all but the last are over."""
        for number in range(times):
            self.begin(one, other, False)
            self.play(len(self.tables) - 1, 0, number)
            if number < times - 1 or is_last:
                self.resign(len(self.tables) - 1, number % 2)

    @precondition(lambda self: self.tables)
    @rule(player=EVERYBODY, number=st.integers(0, 9))
    def unwatch(self, player: int, number: int) -> None:
        table = self.table(number)
        if player not in self.links:
            return
        self.say(player, lambda request: wire.UnwatchRequest(request, table.name))
        self.answer(player, None if player in table.watchers else "not_watching")
        table.watchers.discard(player)
        self.settle()

    @precondition(lambda self: self.tables)
    @rule(player=EVERYBODY, number=st.integers(0, 9), seq=st.integers(0, 12))
    def resume(self, player: int, number: int, seq: int) -> None:
        table = self.table(number)
        if player not in self.links:
            return
        self.say(player, lambda request: wire.ResumeRequest(request, table.name, seq))
        refusal = None
        if table.side(player) is None:
            refusal = "not_seated"
        elif table.end is not None and player not in table.players and len(self.heard(player)) >= MOST_HEARD:
            refusal = "too_many_matches"
        if self.answer(player, refusal):
            if player not in table.players:
                self.tell(table.hearers, ("presence", table.name, table.side(player), True))
            table.players.add(player)
            if seq:
                self.tell([player], *table.events(seq))
            self.tell([player], self.snapshot(table, player))
        self.settle()

    # In a match.

    @precondition(lambda self: self.tables)
    @rule(number=st.integers(0, 9), pick=st.integers(0, 8), plies=st.integers(1, 5))
    def play(self, number: int, pick: int, plies: int) -> None:
        table = self.table(number)
        for _ in range(plies):
            side = len(table.moves) % 2
            player = table.seats[side]
            if table.end is not None or player not in table.players:
                return
            free = sorted(set(range(9)) - set(table.moves))
            move, ply = free[pick % len(free)], len(table.moves)
            self.say(player, lambda request: wire.PlayRequest(request, table.name, ply, move))  # noqa: B023
            before = table.seq
            table.moves.append(move)
            if any(line <= set(table.moves[side::2]) for line in LINES):
                table.end = ("line", side)
            elif len(table.moves) == 9:
                table.end = ("draw", None)
            self.answer(player, None)
            self.tell(table.hearers, *table.events(before))
            self.settle()

    @precondition(lambda self: self.tables)
    @rule(number=st.integers(0, 9), side=SIDES)
    def resign(self, number: int, side: int) -> None:
        table = self.table(number)
        player = table.seats[side]
        if player not in table.players:
            return
        self.say(player, lambda request: wire.ResignRequest(request, table.name))
        before = table.seq
        if self.answer(player, None if table.end is None else "match_over"):
            table.end = ("resign", 1 - side)
            self.tell(table.hearers, *table.events(before))
        self.settle()

    # What people say.

    @precondition(lambda self: self.tables)
    @rule(player=EVERYBODY, number=st.integers(0, 9), text=st.sampled_from(["hello", "well", " ", None]))
    def chat(self, player: int, number: int, text: str | None) -> None:
        table = self.table(number)
        if player not in self.links:
            return
        self.say(player, lambda request: wire.ChatRequest(request, table.name, text))
        if text is None:
            self.answer(player, "bad_message")
        elif player not in table.hearers:
            self.answer(player, "not_watching")
        elif self.answer(player, "bad_message" if text == " " else None):
            room = "players" if player in table.players else "watchers"
            hearers = table.players if room == "players" else table.watchers
            kept = [each for each in hearers if each == player or not {player, None} & self.muted[each]]
            self.tell(kept, ("chat", table.name, room, self.names[player], text))
            table.said.setdefault(room, deque(maxlen=MOST_LINES)).append(text)
        self.settle()

    @precondition(lambda self: self.tables)
    @rule(number=st.integers(0, 9), pick=st.integers(0, 4), everybody=st.booleans())
    def quarrel(self, number: int, pick: int, everybody: bool) -> None:
        """Let one of those who hear a match mute another or all, and everybody say something."""
        table = self.table(number)
        for hearers in (sorted(table.players), sorted(table.watchers)):
            if len(hearers) > 1:
                one, other = hearers[pick % len(hearers)], hearers[(pick + 1) % len(hearers)]
                self.mute(one, None if everybody else other, True)
                for player in hearers:
                    self.chat(player, number, "well")
                self.mute(one, None if everybody else other, False)
                self.chat(other, number, "hello")

    @precondition(lambda self: self.tables)
    @rule(number=st.integers(0, 9), side=SIDES, pick=st.integers(0, 4))
    def complain(self, number: int, side: Literal[0, 1], pick: int) -> None:
        """Let somebody who hears a match chat, and mute and report the player of a seat."""
        hearers = sorted(self.table(number).hearers)
        if hearers:
            player = hearers[pick % len(hearers)]
            self.chat(player, number, "hello")
            self.mute_a_seat(player, number, side, True)
            self.report(player, player, number, side)

    @rule(player=EVERYBODY, other=st.none() | EVERYBODY, on=st.booleans())
    def mute(self, player: int, other: int | None, on: bool) -> None:
        if player not in self.links:
            return
        name = None if other is None else self.names[other]
        self.say(player, lambda request: wire.MuteRequest(request, name, on))
        if self.answer(player, "bad_message" if other == player else None):
            (self.muted[player].add if on else self.muted[player].discard)(other)
        self.settle()

    @precondition(lambda self: self.tables)
    @rule(player=EVERYBODY, number=st.integers(0, 9), side=SIDES, on=st.booleans())
    def mute_a_seat(self, player: int, number: int, side: Literal[0, 1], on: bool) -> None:
        table = self.table(number)
        if player not in self.links:
            return
        self.say(player, lambda request: wire.MuteRequest(request, "", on, table.name, side))
        other = table.seats[side]
        code = "not_watching" if player not in table.hearers else "bad_message" if other == player else None
        if self.answer(player, code):
            (self.muted[player].add if on else self.muted[player].discard)(other)
        self.settle()

    @precondition(lambda self: self.tables)
    @rule(player=EVERYBODY, other=EVERYBODY, number=st.none() | st.integers(0, 9), side=st.none() | SIDES)
    def report(self, player: int, other: int, number: int | None, side: Literal[0, 1] | None) -> None:
        """Report a player by name or by seat, with the lines of a match or without."""
        if player not in self.links:
            return
        table = None if number is None else self.table(number)
        match = None if table is None else table.name
        self.say(player, lambda request: wire.ReportRequest(request, self.names[other], "chat", match, None, side))
        if table is not None and side is not None:
            other = table.seats[side]
        if (table is not None and player not in table.hearers) or (table is None and side is not None):
            self.answer(player, "not_watching")
        elif other == player:
            self.answer(player, "bad_message")
        else:
            filed = self.ledger.entries[-1]
            is_full = any(isinstance(each, wire.Refused) for each in self.links[player].heard)
            if self.answer(player, "too_fast" if is_full else None):
                assert isinstance(filed, FileReport)
                room = "players" if table is not None and player in table.players else "watchers"
                said = [] if table is None else [*table.said.get(room, ())]
                assert (filed.reporter, filed.reported) == (self.number(player), self.number(other))
                assert [line.text for line in filed.lines] == said
                sanctions, link = self.hub.services.sanctions, self.links.get(other)
                is_known = link is not None and other != SHARED
                assert filed.address == (sanctions.key_of_address(link.address) if link and is_known else "")
                own = "" if player == SHARED else sanctions.key_of_network(self.links[player].address)
                assert filed.network == own
        self.settle()

    def number(self, player: int) -> int:
        """Return the number that the server has given a player: they were registered in order."""
        return player

    @rule(player=EVERYBODY)
    def rename(self, player: int) -> None:
        if player not in self.links:
            return
        self.renames += 1
        self.names[player] = f"Q{self.renames}"
        self.say(player, lambda request: wire.RenameRequest(request, self.names[player]))
        self.answer(player, None)
        for table in self.tables:
            if player in table.seats:
                self.tell(table.hearers, ("renamed", table.name, table.side(player), self.names[player]))
        self.settle()

    # What holds always.

    @invariant()
    def only_rooms_with_an_audience_are_in_memory(self) -> None:
        assert set(self.hub.registry.rooms) == {table.name for table in self.tables if table.hearers}
        for player, session in self.hub.services.players.sessions.items():
            assert session.rooms == {table.name for table in self.heard(player)}
            live = {table.name for table in self.tables if table.end is None and player in table.seats}
            assert session.live == live

    @invariant()
    def everybody_knows_how_many_watch(self) -> None:
        for table in self.tables:
            for player in table.hearers:
                assert self.links[player].counts[table.name] == len(table.watchers)

    @invariant()
    def public_matches_that_are_played_are_listed(self) -> None:
        listed = {row.match for row in self.hub.listing.live().matches}
        for table in self.tables:
            if table.end is None and table.code is None and all(table.present):
                assert table.name in listed
            elif table.end is not None or table.code is not None or not any(table.present):
                assert table.name not in listed

    def teardown(self) -> None:
        self.patch.undo()


Hall.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestHall = Hall.TestCase
