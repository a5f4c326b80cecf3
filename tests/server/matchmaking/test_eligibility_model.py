"""Rules of who may meet, beside a model: rooms full of people and bots that are drawn from a seed."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ttt_net.errors import Refusal
from ttt_net.messages import PlayerInfo, SeekRequest
from ttt_net.pairing.seeks import Seek
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.online_players import FREE_ABORTS, Session
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits

NOW_MS, MOST_LIVE = 5_000_000, 4
GAMES = ("connect4", "gomoku", "tictactoe")
RATED = ("connect4", "gomoku")


@dataclass
class Guest:
    """A player as the model has them."""

    number: int
    label: str | None
    level: int | None
    places: int | None
    reserved: int
    any_level: bool
    on_request: bool
    plays: tuple[str, ...] | None
    address: str | None
    place: str
    is_guest: bool
    is_leaving: bool
    starting: int
    waits: bool
    """Whether they have aborted too often."""
    live: dict[str, bool | None] = field(default_factory=dict)
    """Their unfinished matches: whether each is adjourned, None if it is not in memory."""
    blocks: dict[int | None, bool] = field(default_factory=dict)

    @property
    def is_bot(self) -> bool:
        return self.label is not None


class Room:
    """Players and seeks drawn from a seed, with the real eligibility and what the model says."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        self.rates_same = rng.random() < 0.5
        limits = Limits(max_live_matches=MOST_LIVE, rated_same_address=self.rates_same)
        self.free_bytes = 1 << 40
        self.services = build_services(
            Configuration(limits=limits), Journal(MemoryLedger()), cast(Any, None), lambda: NOW_MS, rng,
            measure=lambda: DiskUsage(self.free_bytes, 0),
        )  # fmt: skip
        self.rooms: dict[str, Any] = {}
        self.real = Eligibility(self.services, self.rooms)
        self.guests = [self.drawn(number) for number in range(6)]
        self.apart: set[frozenset[int]] = set()
        for guest in self.guests:
            self.enter(guest)
        for guest in self.guests:
            for other in rng.sample(self.guests, 2):
                if other is not guest and rng.random() < 0.3:
                    guest.blocks[other.number] = rng.random() < 0.7
                if other is not guest and rng.random() < 0.1:
                    self.apart.add(frozenset((guest.number, other.number)))
                    self.services.aborts.part(guest.number, other.number, NOW_MS)
            self.services.players.sessions[guest.number].blocks = guest.blocks
        self.seeks = [self.wish(guest) for guest in self.guests if rng.random() < 0.6]
        self.real.standing = lambda: self.seeks
        self.held: list[str] = []
        for number in range(rng.randrange(8)):
            address = rng.choice(["a", "b"])
            self.services.players.bot_places.hold(f"held {number}", address)
            self.held.append(address)
        turned = rng.choice(["a", "b", None, None, None])
        self.turned = {turned} - {None}
        """The addresses that were refused a busy bot."""
        self.services.players.bot_places.turn_away(turned, NOW_MS)

    def fill_disk(self) -> None:
        self.free_bytes = 0
        self.services.disk.look()

    def drawn(self, number: int) -> Guest:
        rng = self.rng
        is_bot = rng.random() < 0.5
        return Guest(
            number=number,
            label="alpha" if is_bot else None,
            level=rng.choice([None, 2, 3]) if is_bot else None,
            places=rng.randrange(1, 5) if is_bot else None,
            reserved=rng.choice([0, 0, 1, 2]) if is_bot else 0,
            any_level=is_bot and rng.random() < 0.3,
            on_request=is_bot and rng.random() < 0.3,
            plays=rng.choice([None, (), ("connect4",), ("gomoku", "tictactoe")]) if is_bot else None,
            address=rng.choice(["a", "b", "b", None]),
            place=rng.choice(["192.0.2.1", "192.0.2.2"]),
            is_guest=not is_bot and rng.random() < 0.3,
            is_leaving=rng.random() < 0.05,
            starting=rng.choice([0, 0, 0, 1]),
            waits=rng.random() < 0.15,
            live={f"m{number}{match}": rng.choice([None, False, True]) for match in range(rng.choice([0, 0, 1, 2, 3]))},
        )

    def enter(self, guest: Guest) -> None:
        players = self.services.players
        session = Session(
            cast(Any, SimpleNamespace(metered_as=guest.address, address=guest.place, send=lambda told: None)),
            guest.number,
            PlayerInfo(f"P{guest.number}", guest.label, guest.level),
            is_guest=guest.is_guest,
            unfinished=[*guest.live],
        )
        if guest.places is not None:
            session.offer_places(guest.places, guest.reserved)
        session.describe(any_level=guest.any_level, on_request=guest.on_request, about=None)
        if guest.plays is not None:
            session.sought(guest.plays)
        players.add(session)
        if guest.is_leaving:
            players.leaving.add(guest.number)
        if guest.starting:
            players.starting[guest.number] = guest.starting
        for match, is_adjourned in guest.live.items():
            if is_adjourned is not None:
                self.rooms[match] = SimpleNamespace(is_adjourned=is_adjourned)
        for _ in range(FREE_ABORTS + 1 if guest.waits else FREE_ABORTS):
            self.services.aborts.add(guest.number, NOW_MS)

    def wish(self, guest: Guest) -> Seek:
        rng = self.rng
        is_rated = rng.random() < 0.5
        return Seek(
            player=guest.number,
            is_bot=guest.is_bot,
            games=rng.choice([(), ("connect4",), ("gomoku",), ("connect4", "tictactoe")]),
            opponents=rng.choice(["any", "any", "people", "bots"]),
            is_rated=is_rated,
            or_casual=is_rated and rng.random() < 0.5,
            level=rng.choice([None, None, 2]),
        )

    def session(self, guest: Guest) -> Session:
        return self.services.players.sessions[guest.number]

    # What the model says: the code of a refusal, or None.

    def occupied(self, guest: Guest) -> int:
        return guest.starting + [*guest.live.values()].count(None) + [*guest.live.values()].count(False)

    def may_play(self, guest: Guest, *, against_bot: bool) -> str | None:
        if guest.is_leaving:
            return "unknown_player"
        if len(guest.live) + guest.starting >= MOST_LIVE:
            return "too_many_matches"
        if guest.places is None:
            return None
        free = guest.places - self.occupied(guest)
        if free <= 0:
            return "too_many_matches"
        if against_bot and guest.reserved >= guest.places:
            return "not_welcome"
        return "too_many_matches" if against_bot and free <= guest.reserved else None

    def leaves_places(self, one: Guest, other: Guest) -> str | None:
        if one.is_bot == other.is_bot:
            return None
        person, bot = (other, one) if one.is_bot else (one, other)
        if person.address is None or self.held.count(person.address) < 2:
            return None
        places = sum(each.places or 0 for each in self.guests)
        others_wait = bool(self.turned - {person.address})
        for seek in self.seeks:
            seeker = self.guests[seek.player]
            if seeker.is_bot or seeker.address == person.address or seek.opponents == "people" or bot.plays is None:
                continue
            is_game = bot.plays == () or seek.games == () or bool({*bot.plays} & {*seek.games})
            if is_game and (seek.or_casual or not seek.is_rated):
                others_wait = True
        return "too_many_matches" if others_wait or self.held.count(person.address) >= places // 2 else None

    def may_meet(self, one: Guest, other: Guest) -> str | None:
        return (
            self.may_play(one, against_bot=other.is_bot)
            or self.may_play(other, against_bot=one.is_bot)
            or self.leaves_places(one, other)
        )

    def may_ask(self, one: Guest, other: Guest) -> str | None:
        if one.blocks.get(other.number):
            return "blocked"
        return "not_welcome" if other.blocks.get(one.number) else None

    def ratable(self, guest: Guest, games: tuple[str, ...]) -> str | None:
        return "always_casual" if guest.is_guest or not games or not {*games} <= {*RATED} else None

    def elsewhere(self, one: Guest, other: Guest) -> str | None:
        return "always_casual" if not self.rates_same and one.place == other.place else None

    def suits(self, one: Seek, other: Seek) -> bool:
        bot = self.guests[one.player]
        if not bot.is_bot:
            return True
        if bot.on_request and other.opponents != "bots":
            return False
        if other.level is not None and not bot.any_level and bot.level != other.level:
            return False
        return self.may_play(bot, against_bot=other.is_bot) is None

    def may_be_paired(self, one: Seek, other: Seek) -> bool:
        first, second = self.guests[one.player], self.guests[other.player]
        if frozenset((one.player, other.player)) in self.apart or self.may_ask(first, second):
            return False
        if not (self.suits(one, other) and self.suits(other, one)) or self.leaves_places(first, second):
            return False
        if not (one.is_rated and other.is_rated) or (one.or_casual and other.or_casual):
            return True
        if (one.or_casual or other.or_casual) and first.is_bot != second.is_bot:
            return False
        return self.elsewhere(first, second) is None


def code_of(ask: Callable[[], object]) -> str | None:
    """Return the code of the refusal, if any."""
    try:
        ask()
    except Refusal as refusal:
        return str(refusal.code)
    return None


def reached(found: set[str | None], *codes: str | None) -> None:
    """Check that the rooms were such that each outcome came about."""
    assert found == set(codes)


def test_a_player_may_play_one_more_match_by_their_limits_and_places() -> None:
    found = set()
    for seed in range(60):
        room = Room(seed)
        for guest in room.guests:
            assert room.real.occupied(room.session(guest)) == room.occupied(guest)
            for against_bot in (False, True):
                expected = room.may_play(guest, against_bot=against_bot)
                ask = lambda: room.real.may_play(room.session(guest), against_bot=against_bot)  # noqa: B023, E731
                assert code_of(ask) == expected, (seed, guest)
                found.add(expected)
            wait = "too_fast" if guest.waits and not guest.is_bot else None
            assert code_of(lambda: room.real.may_look(room.session(guest))) == wait  # noqa: B023
    reached(found, None, "unknown_player", "too_many_matches", "not_welcome")


def use_up(room: Room, act: Any, of: int | str | None) -> None:
    """Count an action until no more of it is allowed."""
    for _ in range(10_000):
        if isinstance(of, int):
            ask = partial(room.services.rate_limiter.spend, act, of, None)
        else:
            ask = partial(room.services.rate_limiter.share, act, of)
        if code_of(ask) is not None:
            return


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (lambda room, one: None, None),
        (lambda room, one: room.services.shutdown.drain(), "restarting"),
        (lambda room, one: room.fill_disk(), "storage"),
        (lambda room, one: use_up(room, "matches", one.number), "too_fast"),
        (lambda room, one: use_up(room, "writes", one.address), "too_fast"),
        (lambda room, one: room.services.rate_limiter.wrote(one.address, 1 << 40), "too_fast"),
    ],
)
def test_nobody_begins_a_match_beyond_the_limits_of_the_server(
    what: Callable[[Room, Guest], object], code: str | None
) -> None:
    for seed in range(30):
        room = Room(seed)
        for one in room.guests:
            if one.address is not None and room.may_play(one, against_bot=False) is None:
                what(room, one)
                assert code_of(lambda: room.real.may_play(room.session(one), against_bot=False)) == code  # noqa: B023
                return
    pytest.fail("nobody may play in any room")


def test_two_players_may_meet_by_limits_places_and_blocks() -> None:
    met, asked = set(), set()
    for seed in range(80):
        room = Room(seed)
        for one in room.guests:
            for other in room.guests:
                if one is other:
                    continue
                here, there = room.session(one), room.session(other)
                expected = room.may_meet(one, other)
                assert code_of(lambda: room.real.may_meet(here, there)) == expected, (seed, one, other)  # noqa: B023
                is_bot_asked = other.is_bot and not one.is_bot and not room.may_play(one, against_bot=True)
                if is_bot_asked and room.may_play(other, against_bot=False) and one.address is not None:
                    room.turned.add(one.address)
                assert room.services.players.bot_places.others_were_turned_away("nobody", NOW_MS) == bool(room.turned)
                met.add(expected)
                asked.add(room.may_ask(one, other))
                assert code_of(lambda: room.real.may_ask(here, there)) == room.may_ask(one, other)  # noqa: B023
                elsewhere = room.elsewhere(one, other)
                assert code_of(lambda: room.real.must_be_elsewhere(one.number, other.number)) == elsewhere  # noqa: B023
                for games in ((), ("connect4",), ("tictactoe",), ("connect4", "gomoku"), ("connect4", "tictactoe")):
                    can = not room.ratable(one, games) and not room.ratable(other, games)
                    rivals = one.is_bot == other.is_bot and elsewhere is None
                    assert room.real.may_be_rated((here, there), games) == (can and rivals)
                    assert room.real.may_be_rated((here,), games) == (not room.ratable(one, games))
    reached(met, None, "unknown_player", "too_many_matches", "not_welcome")
    reached(asked, None, "blocked", "not_welcome")


def test_two_seeks_are_paired_if_all_rules_allow_it_and_people_who_are_held_back_are_remembered() -> None:
    found = set()
    for seed in range(150):
        room = Room(seed)
        held_back = room.services.players.bot_places.held_back
        for one in room.seeks:
            for other in room.seeks:
                if one is other:
                    continue
                held_back.clear()
                expected = room.may_be_paired(one, other)
                assert room.real.may_be_paired(one, other) == expected, (seed, one, other)
                found.add(expected)
                first, second = room.guests[one.player], room.guests[other.player]
                if held_back:
                    person = second if first.is_bot else first
                    assert [*held_back] == [person.number]
                    assert room.leaves_places(first, second) is not None
    assert found == {True, False}


@pytest.mark.parametrize(("waiting", "is_remembered"), [(199, True), (200, False), (201, False)])
def test_a_crowd_that_is_held_back_is_remembered_up_to_a_limit(waiting: int, is_remembered: bool) -> None:
    for seed in range(400):
        room = Room(seed)
        held_back = room.services.players.bot_places.held_back
        pairs = [(one, other) for one in room.seeks for other in room.seeks if one.is_bot and not other.is_bot]
        for one, other in pairs:
            held_back.clear()
            if not room.real.may_be_paired(one, other) and held_back:
                held_back.clear()
                held_back.update(dict.fromkeys(range(1_000, 1_000 + waiting)))
                room.real.may_be_paired(one, other)
                assert (other.player in held_back) == is_remembered
                return
    pytest.fail("no room has somebody who is held back")


@pytest.mark.parametrize(("before", "is_seen"), [(199, True), (200, False)])
def test_so_many_seeks_are_looked_at_for_somebody_who_waits_for_a_bot(before: int, is_seen: bool) -> None:
    for seed in range(400):
        room = Room(seed)
        pairs = [(one, other) for one in room.guests for other in room.guests if one.is_bot and not other.is_bot]
        for bot, person in pairs if not room.turned else ():
            for seek in [*room.seeks]:
                room.seeks = []
                is_free = room.leaves_places(bot, person) is None
                room.seeks = [seek]
                if not is_free or room.leaves_places(bot, person) is None:
                    continue
                room.seeks = [Seek(player=person.number, is_bot=False, games=())] * before + [seek]
                ask = lambda: room.real.must_leave_places(room.session(bot), room.session(person))  # noqa: B023, E731
                assert code_of(ask) == ("too_many_matches" if is_seen else None)
                return
    pytest.fail("no room has somebody who waits")


def test_a_level_is_asked_of_a_bot_that_plays_at_it_and_a_lesson_of_any_bot() -> None:
    found = set()
    for seed in range(40):
        room = Room(seed)
        for one in room.guests:
            for other in room.guests:
                if one is other:
                    continue
                here, there = room.session(one), room.session(other)
                for level in (None, 2, 3):
                    for is_rated in (False, True):
                        bot = other if other.is_bot else one
                        expected = None
                        if level is not None:
                            if not bot.is_bot or not (bot.any_level or bot.level == level):
                                expected = "not_welcome"
                            elif is_rated:
                                expected = "always_casual"
                        ask = lambda: room.real.must_play_at(here, there, level, is_rated=is_rated)  # noqa: B023, E731
                        assert code_of(ask) == expected
                        found.add(expected)
                for is_rated in (False, True):
                    expected = "not_welcome" if not other.is_bot else "always_casual" if is_rated else None
                    assert code_of(lambda: room.real.must_be_lesson(there, is_rated=is_rated)) == expected  # noqa: B023
    reached(found, None, "not_welcome", "always_casual")


def test_a_seek_is_checked_and_kept_as_it_was_asked_for() -> None:
    found = set()
    for seed in range(80):
        room = Room(seed)
        for guest in room.guests:
            for games in ([], ["connect4"], ["connect4", "connect4"], ["tictactoe"]):
                rng = room.rng
                wish = SeekRequest(
                    1, games, None, rng.choice(["any", "people", "bots"]), rng.random() < 0.5, 900, 2000,
                    rng.choice([None, None, 2]), rng.random() < 0.5,
                )  # fmt: skip
                kept = tuple(dict.fromkeys(games))
                can = room.ratable(guest, kept) is None and wish.level is None
                is_rated = wish.rated and (can or not wish.or_casual)
                expected = None
                if is_rated:
                    expected = room.ratable(guest, kept) or (None if wish.level is None else "always_casual")
                expected = expected or room.may_play(guest, against_bot=wish.opponents == "bots")
                if wish.opponents != "bots" and guest.waits and not guest.is_bot:
                    expected = expected or "too_fast"
                found.add(expected)
                told: list[Seek] = []
                ask = lambda: told.append(room.real.checked_seek(room.session(guest), wish))  # noqa: B023, E731
                assert code_of(ask) == expected, (seed, guest, wish)
                if expected is None:
                    has_place = guest.places is None or guest.places - room.occupied(guest) > guest.reserved
                    opponents = "people" if wish.opponents == "any" and not has_place else wish.opponents
                    assert told == [
                        Seek(
                            guest.number, guest.is_bot, kept, None, opponents, is_rated, is_rated and wish.or_casual,
                            900, 2000, wish.level,
                        )
                    ]  # fmt: skip
    reached(found, None, "unknown_player", "too_many_matches", "not_welcome", "always_casual", "too_fast")


def test_a_player_who_is_away_comes_from_no_address_that_is_known_to_be_another() -> None:
    answers = {room.rates_same: room.real.are_elsewhere(0, 99) for room in map(Room, range(10))}
    assert answers == {True: True, False: False}


@pytest.mark.parametrize(("level", "sentence"), [(None, "plays as it does alone"), (2, "plays at level 2 alone")])
def test_a_refused_level_is_answered_with_the_level_of_the_bot(level: int | None, sentence: str) -> None:
    room = Room(1)
    bot = next(guest for guest in room.guests if guest.is_bot)
    session = room.session(bot)
    session.describe(any_level=False, on_request=False, about=None)
    session.info = PlayerInfo("Robo", "alpha", level)
    with pytest.raises(Refusal, match=sentence):
        room.real.must_play_at(room.session(room.guests[0]), session, 7, is_rated=False)
