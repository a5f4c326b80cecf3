"""Players may meet, and for ratings, by who they are and what they ask for."""

import asyncio
import random
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest

from tests.server.house import Caller, House
from tests.server.peer import CLOSE, client_frame, said
from tests.server.running import running, until
from ttt_net import messages as wire
from ttt_net.errors import Closing, Refusal
from ttt_net.messages import PlayerInfo
from ttt_net.pairing.seeks import Seek
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.online_players import Session
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection

Wishes = dict[str, Any]
"""The fields of a challenge."""


class Line:
    """A connection from an address."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.metered_as = None


def between(*addresses: str) -> Eligibility:
    """Return who may play whom where two players are connected, who do nothing."""
    settings = Configuration(limits=Limits(rated_same_address=False))
    journal, loop = Journal(MemoryLedger()), cast(asyncio.AbstractEventLoop, None)
    services = build_services(settings, journal, loop, lambda: 0, random.Random(1))
    for number, address in enumerate(addresses):
        services.players.add(Session(cast(Connection, Line(address)), number, PlayerInfo(f"P{number}")))
    return Eligibility(services, {})


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_an_ipv6_customer_is_one_address_however_many_they_have(one: str, other: str, *, is_one: bool) -> None:
    eligibility = between(one, other)
    rated, casual = (
        [Seek(player=player, is_bot=False, games=("connect4",), time=None, is_rated=is_rated) for player in (0, 1)]
        for is_rated in (True, False)
    )
    assert eligibility.may_be_paired(*rated) is not is_one
    assert eligibility.may_be_paired(*casual)
    if is_one:
        with pytest.raises(Refusal, match="one address"):
            eligibility.must_be_elsewhere(0, 1)
    else:
        eligibility.must_be_elsewhere(0, 1)


def kind_of(asker: str, other: str, asked: Wishes) -> bool | str:
    """Return whether a challenge leads to a rated match, or the code of its refusal, by the rules of the protocol."""
    people = asker != "Robo" and other != "Robo"
    is_lesson = asked["side"] is not None
    is_level = asked["level"] is not None
    can_be_rated = asked["game"] == "connect4" and "guest" not in (asker, other)
    if asked["or_casual"]:
        is_rated = bool(asked["rated"]) and can_be_rated and people and not is_lesson and not is_level
    else:
        is_rated = bool(asked["rated"])
        if is_rated and not can_be_rated:
            return "always_casual"
    if is_level and (people or asked["level"] == 3):
        return "not_welcome"
    if is_level and is_rated:
        return "always_casual"
    if is_lesson and other != "Robo":
        return "not_welcome"
    if is_lesson and is_rated:
        return "always_casual"
    return is_rated


@pytest.mark.parametrize("other", ["Bob", "guest", "Robo"])
@pytest.mark.parametrize("asker", ["Ann", "guest"])
async def test_a_challenge_is_rated_casual_or_refused_by_who_plays_and_what_is_asked(
    tmp_path: Path, asker: str, other: str
) -> None:
    async with running(tmp_path, Limits(challenges=Rate(1_000_000))) as server:
        people = [await server.connect(), await server.connect()]
        for peer, name in zip(people, (asker, other), strict=True):
            kind = {"bot": "random", "level": 2} if name == "Robo" else {}
            await peer.hello(**({} if name == "guest" else {"name": name} | kind))
        one, two = people
        for game, rated, or_casual, level, side in product(
            ("connect4", "tictactoe"), (False, True), (False, True), (None, 2, 3), (None, 0)
        ):
            asked: Wishes = {"game": game, "rated": rated, "or_casual": or_casual, "level": level, "side": side}
            given = {key: value for key, value in asked.items() if value is not None}
            answer = await one.ask("challenge", name=two.name, **given)
            expected = kind_of(asker, other, asked)
            if isinstance(expected, str):
                assert answer.get("code") == expected, (asked, answer)
                continue
            assert answer["type"] == "ok", (asked, answer)
            told = await two.hear("challenged")
            assert (told.get("rated", False), told.get("level")) == (expected, level), asked
            await one.ok("answer", challenge=told["challenge"], accept=False)


@pytest.mark.parametrize("is_same_address", [False, True])
@pytest.mark.parametrize(("rated", "or_casual"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("other", ["Bob", "guest", "Robo"])
async def test_a_seek_that_is_accepted_is_rated_casual_or_refused_by_who_accepts_it(
    tmp_path: Path, other: str, *, rated: bool, or_casual: bool, is_same_address: bool
) -> None:
    limits = Limits(rated_same_address=not is_same_address)
    async with running(tmp_path, limits) as server:
        ann, two = await server.join("Ann"), await server.connect()
        kind = {"bot": "random", "level": 2} if other == "Robo" else {}
        await two.hello(**({} if other == "guest" else {"name": other} | kind))
        await ann.ok("seek", games=["connect4"], rated=rated, or_casual=or_casual)
        seek = server.hub.lobby.seeks.of(server.player_of("Ann"))
        assert seek is not None
        answer = await two.ask("accept", seek=seek.number)
        cannot = other == "guest" or is_same_address
        if rated and not or_casual and cannot:
            assert answer["code"] == "always_casual"
            return
        assert answer["type"] == "ok"
        is_rated = (await ann.hear("snapshot")).get("rated", False)
        assert is_rated == (rated and not (or_casual and (cannot or other == "Robo")))


@pytest.mark.parametrize(
    ("least", "most", "is_refused"),
    [(None, None, False), (1600, None, False), (None, 1600, False), (1600, 1600, False), (1601, 1600, True)],
)
async def test_a_seek_for_ratings_that_nobody_can_have_is_refused_and_the_last_one_stands(
    tmp_path: Path, least: int | None, most: int | None, *, is_refused: bool
) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await ann.ok("seek", games=["gomoku"])
        answer = await ann.ask("seek", games=["connect4"], min_rating=least, max_rating=most)
        assert (answer["type"], answer.get("code")) == (("refused", "bad_message") if is_refused else ("ok", None))
        seek = server.hub.lobby.seeks.of(server.player_of("Ann"))
        assert seek is not None
        assert seek.games == (("gomoku",) if is_refused else ("connect4",))


def challenged(house: House, by: Caller, to: Caller, code: str | None = None) -> None:
    """Let one challenge another, who accepts; with a code, the challenge is refused with it."""
    before = len(by.heard)
    house.ask(by, wire.ChallengeRequest(9, to.known_as.info.name))
    answer = by.heard[before]
    assert (answer.code if isinstance(answer, wire.Refused) else None) == code
    if code is None:
        house.ask(to, wire.AnswerRequest(9, to.numbers()[-1], True))


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("label", [None, "alpha"])
def test_matches_about_to_begin_count_like_those_that_have_begun(most: int, label: str | None) -> None:
    often: dict[str, Any] = {"matches": Rate(1_000_000), "challenges": Rate(1_000_000)}
    house = House(max_live_matches=20 if label else most, **often)
    busy = house.enter(name="Busy", bot=label, places=most)
    people = [house.caller(f"192.0.{number}.7") for number in range(10, 10 + 2 * most + 2)]
    for number, each in enumerate(people):
        house.hello(each, name=f"P{'abcdefgh'[number]}")
    house.deliver()
    starting, player = house.services.players.starting, busy.known_as.player
    for guest in people[:most]:
        challenged(house, guest, busy)
    assert (starting[player], len(busy.known_as.live)) == (most, 0)
    late = people[most]
    for has_begun in (False, True):
        challenged(house, late, busy, "too_many_matches")
        challenged(house, busy, late, "too_many_matches")
        before = len(busy.heard)
        house.ask(busy, wire.SeekRequest(9, games=["tictactoe"]))
        assert [getattr(each, "code", None) for each in busy.heard[before:]] == ["too_many_matches"], has_begun
        house.deliver()
    assert (dict(starting), len(busy.known_as.live)) == ({}, most)
    house.ask(busy, wire.ResignRequest(9, next(iter(busy.known_as.live))))
    house.deliver()
    house.ledger.database.connection.execute("PRAGMA query_only = ON")
    challenged(house, late, busy)
    challenged(house, people[most + 1], busy, "too_many_matches")
    house.deliver()
    assert (dict(starting), busy.closings, late.closings) == ({}, [Closing.FAULT], [Closing.FAULT])


@pytest.mark.parametrize(("places", "reserved"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 1), (3, 4)])
def test_bots_have_the_places_of_a_bot_that_are_not_for_people(places: int, reserved: int) -> None:
    house = House(matches=Rate(1_000_000))
    busy = house.enter(name="Busy", bot="alpha", places=places, reserved=reserved)
    free = max(0, places - reserved)
    full = "not_welcome" if reserved >= places else "too_many_matches"
    codes = [None] * free + [full], [None] * (places - free) + ["too_many_matches"]
    for kind, expected in zip(("bot", "person"), codes, strict=True):
        for number, code in enumerate(expected):
            other = house.caller(f"192.0.{len(house.services.connections)}.7")
            house.hello(other, name=f"{kind[0].upper()}{'abcdefgh'[number]}", bot="beta" if kind == "bot" else None)
            house.deliver()
            challenged(house, other, busy, code)
            if number % 2:  # a match that has begun counts like one that begins
                house.deliver()


async def test_a_player_who_said_goodbye_cannot_be_found_though_the_socket_is_open(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.raw()
        await ann.hello("Ann")
        await ann.send(said("seek", id=2, games=["tictactoe"]))
        await ann.hear("ok")
        connection = server.connection_of("Ann")
        await ann.send(client_frame(CLOSE, (1000).to_bytes(2, "big")))  # she does not close the socket yet
        await until(lambda: connection.session is None)
        assert connection in server.connections
        bob, _, _ = await server.pair("Bob", "Cleo")
        assert await bob.refused("challenge", name="Ann", game="tictactoe") == "unknown_player"
