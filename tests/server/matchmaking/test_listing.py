"""The lists of the lobby, beside naive ones that look at everything and sort it whole."""

import random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.clock import TimeControl, speed
from ttt_net.messages import PlayerInfo, SeekInfo
from ttt_net.pairing.seeks import Seek
from ttt_net.ratings import Rating
from ttt_net.server.matchmaking import listing
from ttt_net.server.matchmaking.listing import Listing, shared
from ttt_net.server.online_players import OnlinePlayers, Session
from ttt_net.server.wire.connection import Connection

NOW_MS = 1_000_000
BLITZ = TimeControl(180_000)
FEW = {"MAX_LISTED": 3, "MAX_LIVE": 2, "MAX_SUGGESTED": 2, "SHARE": 2, "MAX_CROWD": 5, "_MAX_LOOKED_AT": 4}
"""Small limits, so that lists reach them."""


class Standing(list[Seek]):
    """Seeks that are open."""

    def of(self, player: int) -> Seek | None:
        return next((seek for seek in self if seek.player == player), None)


class Lounge:
    """A listing of players, seeks and rooms that a test puts there."""

    def __init__(self) -> None:
        self.players, self.rooms, self.standing = OnlinePlayers(), dict[str, Any](), Standing()
        self.occupied: dict[int, int] = {}
        services = SimpleNamespace(players=self.players, wall_ms=lambda: NOW_MS)
        eligibility = SimpleNamespace(occupied=lambda session: self.occupied.get(session.player, 0))
        self.listing = Listing(cast(Any, services), self.rooms, cast(Any, None), cast(Any, eligibility))
        self.listing.standing = lambda: self.standing

    def enter(
        self, number: int, bot: str | None = None, level: int | None = None, address: str | None = None, **ratings: Any
    ) -> Session:
        """Let a player come; ratings are by game, at blitz."""
        session = Session(
            cast(Connection, SimpleNamespace(metered_as=address)),
            number,
            PlayerInfo(f"P{number:03}", bot, level),
            {(game, speed(BLITZ)): Rating(rating, 50.0) for game, rating in ratings.items()},
        )
        self.players.add(session)
        return session

    def seek(self, player: int, **fields: Any) -> Seek:
        given = {"is_bot": False, "games": (), "time": BLITZ, "number": 100 + player, **fields}
        self.standing.append(Seek(player=player, **given))
        return self.standing[-1]

    def room(self, name: str, watchers: int = 0, at_ms: int = NOW_MS, is_listed: bool = True, **fields: Any) -> None:
        match = SimpleNamespace(
            id=name, game=SimpleNamespace(name="qubic"), players=(PlayerInfo("A", rating=1500), PlayerInfo("B")),
            moves=[1, 2], time=None, is_rated=False, events=[SimpleNamespace(at_ms=0), SimpleNamespace(at_ms=at_ms)],
        )  # fmt: skip
        vars(match).update(fields)
        self.rooms[name] = SimpleNamespace(
            is_listed=is_listed, audience=SimpleNamespace(watchers=watchers), match=match, known=match, newest_ms=at_ms
        )


@pytest.fixture
def lounge() -> Lounge:
    return Lounge()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FEW.items():
        monkeypatch.setattr(listing, name, value)


def test_lists_have_the_lengths_that_the_protocol_promises() -> None:
    assert {name: getattr(listing, name) for name in FEW} == {
        "MAX_LISTED": 100, "MAX_LIVE": 50, "MAX_SUGGESTED": 10, "SHARE": 10, "MAX_CROWD": 2_000, "_MAX_LOOKED_AT": 200,
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_an_address_gets_ten_rows_and_ten_more_only_after_all_others(seed: int) -> None:
    rng = random.Random(seed)
    places = rng.sample(["a", "b", "c", None], rng.randrange(1, 5))
    addresses = [rng.choice(places) for _ in range(rng.choice([0, 9, 10, 11, 20, 21, 30, 60]))]
    most = rng.choice([1, 9, 10, 11, 19, 20, 21, 30, 45])
    items = [*enumerate(addresses)]

    def turn(at: int) -> int:
        return 0 if addresses[at] is None else addresses[:at].count(addresses[at]) // 10

    expected = sorted(sorted(range(len(items)), key=lambda at: (turn(at), at))[:most])
    assert [at for at, _ in shared(items, lambda item: item[1], most)] == expected


@pytest.mark.parametrize("crowd", [0, 1, 2, 3, 4, 5, 6, 9])
def test_seeks_and_players_are_counted_whole_and_shown_up_to_a_limit(lounge: Lounge, few: None, crowd: int) -> None:
    for number in range(crowd):
        lounge.enter(number)
        lounge.seek(number)
    seeks, players = lounge.listing.seeks(), lounge.listing.players()
    assert (seeks.count, [row.by.name for row in seeks.seeks]) == (crowd, [f"P{n:03}" for n in range(min(3, crowd))])
    assert (players.online, len(players.players)) == (crowd, min(3, crowd))
    assert [row.name for row in players.players] == sorted(row.name for row in players.players)


def test_seeks_and_players_beyond_the_crowd_are_not_looked_at(lounge: Lounge, few: None) -> None:
    for number in range(7):
        lounge.enter(number, address="a" if number < 6 else None)
        lounge.seek(number)
    assert [row.by.name for row in lounge.listing.seeks().seeks] == ["P000", "P001", "P002"]
    lounge.standing.insert(0, lounge.standing.pop())
    assert [row.by.name for row in lounge.listing.seeks().seeks] == ["P006", "P000", "P001"]
    assert [row.name for row in lounge.listing.players().players] == ["P004", "P005", "P006"], (
        "the newest are looked at"
    )


def test_a_seek_is_shown_as_it_is_with_the_rating_for_its_first_game(lounge: Lounge) -> None:
    lounge.enter(1, connect4=1700.0, qubic=1200.0)
    for games, rating in (((), None), (("connect4", "qubic"), 1700), (("qubic",), 1200), (("gomoku",), None)):
        wish: dict[str, Any] = {"opponents": "people", "min_rating": 900, "max_rating": 2000, "level": 3}
        seek = lounge.seek(1, games=games, is_rated=True, or_casual=True, **wish)
        by = PlayerInfo("P001", rating=rating, provisional=False) if rating else PlayerInfo("P001")
        shown = SeekInfo(101, by, list(games), BLITZ, rated=True, or_casual=True, **wish)
        assert lounge.listing.seek_info(seek) == shown


def test_a_player_is_shown_with_what_they_do(lounge: Lounge) -> None:
    ann, robo, idle, apart = (lounge.enter(n, bot) for n, bot in ((1, None), (2, "alpha"), (3, "beta"), (4, "gamma")))
    ann.began("m")
    for bot, places, about, is_any in ((robo, 3, "I play", True), (idle, 2, None, False), (apart, 2, None, False)):
        bot.offer_places(places, 0)
        bot.describe(any_level=is_any, on_request=False, about=about)
    lounge.occupied |= {2: 1, 3: 5}
    lounge.seek(2, games=("qubic",))
    lounge.seek(4, opponents="bots")
    rows = lounge.listing.players().players
    shown = [(row.name, row.bot, row.playing, row.seeking, row.places, row.free, row.any_level) for row in rows]
    assert shown == [
        ("P001", None, 1, None, None, None, False),
        ("P002", "alpha", 0, ["qubic"], 3, 2, True),
        ("P003", "beta", 0, None, 2, 0, False),
        ("P004", "gamma", 0, [], 2, 0, False),
    ]
    assert [row.about for row in rows] == [None, "I play", None, None]


def test_the_bots_that_are_suggested_are_the_nearest_that_would_play(lounge: Lounge, few: None) -> None:
    ann = lounge.enter(1, connect4=1400.0)
    rated = {"weak": 1000.0, "near": 1390.0, "strong": 1900.0}

    def bot(number: int, label: str, plays: tuple[str, ...] | None = (), free: int = 1, **fields: Any) -> Session:
        session = lounge.enter(number, label, **fields)
        session.offer_places(1, 0)
        if plays is not None:
            session.sought(plays)
        lounge.occupied[number] = 1 - free
        return session

    def suggested(**wish: Any) -> list[str | None]:
        lounge.standing.clear()
        return [row.bot for row in lounge.listing.bots_for(lounge.seek(1, **wish))]

    for number, (label, rating) in enumerate(rated.items(), 10):
        bot(number, label, ("connect4",), connect4=rating)
    assert suggested(games=("connect4",)) == ["near", "weak"]
    assert suggested(games=("connect4", "qubic")) == ["near", "weak"]
    assert suggested(games=("qubic",)) == []
    assert suggested() == ["weak", "near"], "whatever they play; without a game none has a rating"
    bot(13, "busy", (), free=0)
    assert suggested(games=("qubic",)) == []
    lounge.players.remove(lounge.players.sessions[13])
    any_game = bot(13, "any", (), level=4)
    assert suggested(games=("qubic",)) == ["any"]
    bot(14, "fifth", (), level=5)
    assert suggested(games=("qubic",)) == ["any"], "only so many are looked at"
    any_game.blocks = {1: True}
    assert suggested(games=("qubic",)) == []
    any_game.blocks = {}
    ann.blocks = {13: True}
    assert suggested(games=("qubic",)) == []


@pytest.mark.parametrize(
    ("plays", "games", "is_told"),
    [
        (None, ("qubic",), False),
        (None, (), False),
        ((), ("qubic",), True),
        ((), (), True),
        (("qubic",), (), True),
        (("qubic",), ("connect4", "qubic"), True),
        (("qubic", "gomoku"), ("connect4",), False),
    ],
)
def test_a_bot_is_suggested_for_games_of_its_last_seek(
    lounge: Lounge, plays: tuple[str, ...] | None, games: tuple[str, ...], is_told: bool
) -> None:
    lounge.enter(1)
    session = lounge.enter(2, "bot")
    session.offer_places(1, 0)
    if plays is not None:
        session.sought(plays)
    assert bool(lounge.listing.bots_for(lounge.seek(1, games=games))) == is_told


def test_one_address_has_its_share_of_the_rows(lounge: Lounge, few: None) -> None:
    for number, address in enumerate(["a", "a", "a", "b", None]):
        lounge.enter(number, address=address)
        lounge.seek(number)
    assert [row.by.name for row in lounge.listing.seeks().seeks] == ["P000", "P001", "P003"]
    assert [row.name for row in lounge.listing.players().players] == ["P002", "P003", "P004"]


@pytest.mark.parametrize(
    ("own", "bots", "nearest"),
    [
        (None, {"one": 1, "two": 2}, ["one", "two"]),  # 900 and 1050, from the 1000 of a newcomer: 100 and 50
        (900.0, {"one": 1, "two": 2, "best": None}, ["one", "two"]),
        (2100.0, {"one": 1, "eight": 8, "best": None}, ["best", "eight"]),
        (1500.0, {"four": 4, "five": 5, "six": 6}, ["five", "four"]),
    ],
)
def test_bots_without_a_rating_are_as_strong_as_their_level(
    lounge: Lounge, few: None, own: float | None, bots: dict[str, int | None], nearest: list[str]
) -> None:
    ratings: dict[str, Any] = {} if own is None else {"qubic": own}
    lounge.enter(1, **ratings)
    for number, (label, level) in enumerate(bots.items(), 10):
        session = lounge.enter(number, label, level)
        session.offer_places(1, 0)
        session.sought(())
    told = lounge.listing.bots_for(lounge.seek(1, games=("qubic",)))
    assert sorted(str(row.bot) for row in told) == sorted(nearest)
    if own is not None:
        assert [row.bot for row in told] == nearest


def test_equally_near_bots_are_in_order_of_level_and_name(lounge: Lounge) -> None:
    lounge.enter(1, qubic=1125.0)
    for number, level in ((12, 3), (11, 2), (10, 3), (13, 2)):  # 1200 and 1050
        session = lounge.enter(number, "bot", level)
        session.offer_places(1, 0)
        session.sought(())
    for number in (15, 14):
        session = lounge.enter(number, "bot", qubic=1050.0)
        session.offer_places(1, 0)
        session.sought(())
    told = lounge.listing.bots_for(lounge.seek(1, games=("qubic",)))
    assert [row.name for row in told] == ["P014", "P015", "P011", "P013", "P010", "P012"]


ROOMS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from([NOW_MS, NOW_MS - 60_000, NOW_MS - 60_001]),
        st.sampled_from([True, True, True, False]),
        st.booleans(),
        st.sampled_from([None, 1200, 1800]),
    ),
    max_size=9,
)


@given(ROOMS)
def test_live_matches_are_those_of_most_interest_with_one_in_front(drawn: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FEW.items():
            patch.setattr(listing, name, value)
        lounge = Lounge()
        for number, (watchers, at_ms, is_listed, is_rated, rating) in enumerate(drawn):
            players = (PlayerInfo("A", rating=rating), PlayerInfo("B", rating=1000))
            lounge.room(f"m{number}", watchers, at_ms, is_listed, is_rated=is_rated, players=players)
        told = lounge.listing.live()
    listed = [(f"m{number}", *fields) for number, fields in enumerate(drawn) if fields[2]]
    rows = []
    for newness, (name, watchers, at_ms, _, is_rated, rating) in enumerate(listed[-5:]):
        strength = 1000 + (rating or 0) if is_rated else 0
        rows.append((name, watchers, at_ms >= NOW_MS - 60_000, -newness, strength))
    expected: list[str] = []
    if rows:
        featured = max(rows, key=lambda row: (row[2], row[4], row[1], row[3]))
        others = sorted((row for row in rows if row != featured), key=lambda row: row[1:4], reverse=True)
        expected = [row[0] for row in (featured, *others)][:2]
    assert (told.count, [row.match for row in told.matches]) == (len(listed), expected)
    assert [row.featured for row in told.matches] == [True, False][: len(expected)]


def test_a_live_match_is_shown_with_what_a_watcher_wants_to_know(lounge: Lounge) -> None:
    lounge.room("m", watchers=4, time=BLITZ, is_rated=True)
    lounge.room("unread", is_listed=False)
    (row,) = lounge.listing.live().matches
    assert (row.match, row.game, row.ply, row.watchers, row.time, row.rated) == ("m", "qubic", 2, 4, BLITZ, True)
    assert [player.name for player in row.players] == ["A", "B"]
