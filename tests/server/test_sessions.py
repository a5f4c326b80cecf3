"""Players let in by `hello`, their names and what they are told: tables, over a hub without sockets or threads."""

import gc
import random
import weakref
from collections.abc import Iterator
from typing import Any, cast

import pytest

from tests.server.house import TOKEN, House, Members, elsewhere, known
from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.server.accounts import MIN_TOKEN, session_elsewhere
from ttt_net.server.journal import token_hash
from ttt_net.server.journal.entries import RegisterPlayer, SeeGuest
from ttt_net.server.players import Player
from ttt_net.server.settings.configuration import Games, Rate
from ttt_net.server.wire.connection import Connection, RemoteConnection


class LowDice(random.Random):
    """Dice that show the lowest number; tokens differ."""

    def random(self) -> float:
        return 0.0


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    house.enter(name="Ann", token=TOKEN)
    yield house
    assert house.loop.errors == []


@pytest.mark.parametrize(
    ("who", "answer"),
    [
        ({"name": "Bob"}, "welcome"),
        ({}, "welcome"),
        ({"token": TOKEN}, "welcome"),
        ({"token": TOKEN, "name": "Bob"}, "welcome"),
        ({"token": "b" * MIN_TOKEN}, "unknown_token"),
        *(
            ({"token": "b" * (MIN_TOKEN + more), "name": "Bob"}, answer)
            for more, answer in ((-1, "unknown_token"), (0, "welcome"), (1, "welcome"))
        ),
        ({"name": "ANN"}, "name_taken"),
        ({"name": "ANN", "token": "b" * MIN_TOKEN}, "name_taken"),
        ({"name": "A"}, "bad_name"),
        ({"name": "A", "token": "b" * MIN_TOKEN}, "bad_name"),
    ],
)
def test_a_hello_is_answered_by_name_and_token(house: House, who: dict[str, Any], answer: str) -> None:
    link = house.hello(**who)
    assert link.take() == ([] if answer != "bad_name" or "token" in who else ["bad_name"])
    house.deliver()
    if answer != "welcome":
        assert (link.take(), link.session) == ([answer], None) if link.heard else link.session is None
        house.hello(link, name="Cid")  # one refusal is not the end
        house.deliver()
        who = {"name": "Cid"}
    told = link.welcome
    chosen = who.get("token")
    assert (told.token is None) == (chosen is not None), "only a token that is not the client's own is sent"
    assert link.known_as.subject.token_key == house.services.sanctions.key_of_token(
        token_hash(chosen or told.token or "")
    )
    assert told.you.name == ("Ann" if chosen == TOKEN else who.get("name", told.you.name))
    assert link.known_as.is_guest == (who == {})


@pytest.mark.parametrize("who", [{"name": "Bob"}, {"token": TOKEN}, {"token": "b" * 40, "name": "Bob"}])
def test_one_hello_is_answered_at_a_time(house: House, who: dict[str, Any]) -> None:
    link = house.hello(**who)
    house.hello(link, name="Cid")
    assert link.take() == ["hello_first"]
    house.deliver()
    assert link.take() == ["ok", "welcome"]
    house.ask(link, wire.HelloRequest(9, [1], name="Cid"))
    assert link.take() == ["hello_first"]


@pytest.mark.parametrize("who", [{"token": "b" * 40}, {"name": "Ann"}])
def test_a_hello_may_follow_one_that_was_refused(house: House, who: dict[str, Any]) -> None:
    link = house.hello(**who)
    house.deliver()
    assert link.take() in (["unknown_token"], ["name_taken"])
    house.hello(link, **who)
    house.deliver()
    assert link.take() in (["unknown_token"], ["name_taken"])


@pytest.mark.parametrize("who", [{"token": "b" * 40, "name": "Bob"}, {"token": "b" * 40}, {"token": TOKEN}, {}])
def test_nobody_enters_over_a_connection_that_closed_meanwhile(house: House, who: dict[str, Any]) -> None:
    before = [*house.services.players.sessions.values()]
    link = house.hello(**who)
    link.is_open = False
    house.hub.closed(cast(Connection, link))
    house.deliver()
    assert [*house.services.players.sessions.values()] == before
    assert (link.heard, link.session) == ([], None)
    house.enter(name="Bob")


def test_a_token_that_nobody_had_registers_nobody_over_a_connection_that_closed_meanwhile(house: House) -> None:
    link = house.hello(token="b" * 40, name="Bob")
    link.is_open = False
    house.deliver()
    assert [entry.name for entry in house.ledger.entries if isinstance(entry, RegisterPlayer)] == ["Ann"]


def test_a_guest_gets_six_names_to_be_free_and_no_more() -> None:
    house = House(rng=LowDice(), registrations=Rate(1_000))
    for number in ("agile-bear", "agile-bear-1", "agile-bear-10", "1000000", "10000000", "100000000"):
        assert house.enter().welcome.you.name == f"guest-{number}"
    late = house.hello()
    house.deliver()
    assert late.take() == ["name_taken"]
    assert late.session is None


def test_a_guest_who_left_or_who_cannot_be_written_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(rng=LowDice())
    house.enter()
    gone = house.hello()
    gone.is_open = False
    asked: list[str] = []
    register = house.services.journal.register

    def noted(name: str, *rest: Any, **more: Any) -> None:
        asked.append(name)
        register(name, *rest, **more)

    monkeypatch.setattr(house.services.journal, "register", noted)
    house.deliver()
    assert (asked, gone.heard) == ([], [])
    house.ledger.database.connection.execute("PRAGMA query_only = ON")
    unlucky = house.hello()
    house.deliver()
    assert (asked, unlucky.take()) == (["guest-agile-bear", "guest-agile-bear-1"], ["storage"])


def test_new_players_of_an_address_have_a_rate_and_known_ones_do_not() -> None:
    house = House(registrations=Rate(2, 3_600.0))
    house.enter(name="Ann", token=TOKEN)
    house.enter()
    newcomers: tuple[dict[str, Any], ...] = ({"name": "Bob"}, {}, {"name": "Bob", "token": "b" * 40})
    for who in newcomers:
        link = house.hello(**who)
        house.deliver()
        assert link.take() == ["too_fast"]
    house.enter(token=TOKEN)
    elsewhere = house.hello(house.caller("192.0.3.7"), name="Bob")
    house.deliver()
    assert elsewhere.take() == ["ok", "welcome"]


def test_names_that_are_not_allowed_have_a_rate_of_their_own() -> None:
    house = House(mistakes=Rate(2, 3_600.0))
    link = house.caller()
    for name, answer in (("A", "bad_name"), ("Bob", None), ("B", "bad_name"), ("C", "too_fast"), ("Bobby", "too_fast")):
        link = link if link.session is None else house.caller()
        house.hello(link, name=name)
        house.deliver()
        assert (link.take()[:1] == ["ok"]) if answer is None else (link.take() == [answer]), name


@pytest.mark.parametrize(
    ("typed", "is_free", "stored"),
    [
        ("O'Neil the 3rd", True, "O'Neil the 3rd"),
        ("O'Neil the 3rd", False, None),
        ("Deleted", True, None),
        ("deleted", False, None),
        ("\u200b", True, None),
        ("Bob", True, "Bob"),
        ("Bob", False, "Bob"),
    ],
)
def test_a_host_may_allow_any_name(typed: str, is_free: bool, stored: str | None) -> None:
    house = House(free_names=is_free)
    link = house.hello(name=typed)
    house.deliver()
    assert (link.welcome.you.name if link.session else None) == stored


def test_a_banned_token_does_not_come_back_under_a_new_name(house: House) -> None:
    key = house.services.sanctions.key_of_token(token_hash("b" * 40))
    house.impose("ban", key, player=99)
    link = house.hello(token="b" * 40, name="Bob")
    house.deliver()
    assert link.take() == ["banned"]
    other = house.hello(token="c" * 40, name="Bob")
    house.deliver()
    assert other.take() == ["ok", "welcome"]


@pytest.mark.parametrize(
    ("act", "kinds"), [("ban", ["sanctioned", "banned"]), ("mute", ["ok", "welcome", "sanctioned"])]
)
def test_players_are_told_of_a_sanction_that_is_in_force_when_they_come(
    house: House, act: str, kinds: list[str]
) -> None:
    number = next(iter(house.services.players.sessions))
    house.impose(act, f"player:{number}", player=number)
    link = house.hello(token=TOKEN)
    house.deliver()
    assert link.take() == kinds


def test_a_full_server_lets_in_who_plays_or_is_here_and_nobody_else() -> None:
    house = House(max_connections=3)
    ann, bob, zoe = (house.enter(name=name, token=name[0] * 40) for name in ("Ann", "Bob", "Zoe"))
    house.ask(ann, wire.SeekRequest(2, games=["tictactoe"]))
    house.ask(bob, wire.SeekRequest(2, games=["tictactoe"]))
    house.deliver()
    house.leave(zoe)
    house.leave(ann)
    house.enter(name="Cid")
    house.enter(name="Dan")
    callers: tuple[tuple[dict[str, Any], bool], ...] = (
        ({"name": "Eve"}, False),
        ({}, False),
        ({"token": "e" * 40, "name": "Eve"}, False),
        ({"token": "Z" * 40}, False),
        ({"token": "B" * 40}, True),
        ({"token": "A" * 40}, True),
    )
    for who, is_let_in in callers:
        link = house.caller()
        link.lacks_place = True
        house.hello(link, **who)
        house.deliver()
        assert (link.session is not None, link.closings) == (is_let_in, [] if is_let_in else [Closing.FULL]), who
        assert link.lacks_place != is_let_in, "who is let in has a place"
        house.leave(link)


def test_only_visits_of_guests_are_noted(house: House) -> None:
    guest = house.enter()

    def visits() -> list[int]:
        return [entry.player for entry in house.ledger.entries if isinstance(entry, SeeGuest)]

    house.deliver()
    assert visits() == [guest.known_as.player]
    house.enter(token=guest.welcome.token)
    house.deliver()
    assert visits() == 2 * [guest.known_as.player]


def test_guests_may_be_rejected_and_players_are_not() -> None:
    house = House(allow_guests=False)
    link = house.hello()
    house.deliver()
    assert link.take() == ["no_guests"]
    house.enter(name="Ann")


@pytest.mark.parametrize(("chat", "guests"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_welcome_names_what_the_host_offers(chat: bool, guests: bool) -> None:
    house = House(allow_chat=chat, allow_guests=guests)
    told = house.enter(name="Ann").welcome
    always = {"puzzle", "study", "mistakes", "seats", "blocks", "tournaments", "or_casual"}
    offered = {name for name, is_offered in (("chat", chat), ("guests", guests)) if is_offered}
    assert always <= set(told.features)
    assert set(told.features) & {"chat", "guests"} == offered
    assert (told.chat, told.nodes, told.seek, told.matches) == (chat, [], None, [])


def test_players_who_come_before_a_restart_are_told_of_it(house: House) -> None:
    assert "notice" not in house.enter(name="Bob").take()
    house.services.shutdown.begin(60.0, lambda: None)
    assert house.enter(name="Cid").take() == ["ok", "welcome", "notice"]


@pytest.mark.parametrize(
    ("who", "bot", "level", "places", "about"),
    [
        ({}, None, None, None, None),
        ({"level": 3, "places": 4, "reserved": 2, "about": "I play"}, None, None, None, None),
        ({"bot": "alpha"}, "alpha", None, 1, None),
        ({"bot": ""}, "bot", None, 1, None),
        ({"bot": "\u200b"}, "bot", None, 1, None),
        ({"bot": "admin"}, "bot", None, 1, None),
        ({"bot": "a fool"}, "bot", None, 1, None),
        ({"bot": "alpha", "level": 3}, "alpha", 3, 1, None),
        ({"bot": "alpha", "places": 1}, "alpha", None, 1, None),
        ({"bot": "alpha", "places": 4, "reserved": 2}, "alpha", None, 4, None),
        ({"bot": "alpha", "about": ""}, "alpha", None, 1, None),
        ({"bot": "alpha", "about": "I am\u200b slow"}, "alpha", None, 1, "I am slow"),
        ({"bot": "alpha", "about": "a fool"}, "alpha", None, 1, None),
    ],
)
def test_bots_are_as_they_describe_themselves_in_allowed_words(
    tmp_path: Any, who: dict[str, Any], bot: str | None, level: int | None, places: int | None, about: str | None
) -> None:
    (tmp_path / "words").write_text("fool\n", encoding="utf-8")
    house = House(words=tmp_path / "words")
    for any_level, on_request in ((False, False), (True, False), (False, True)):
        link = house.enter(
            name=f"P{'xyz'[any_level + 2 * on_request]}", any_level=any_level, on_request=on_request, **who
        )
        session = link.known_as
        assert (session.info.bot, session.info.level, session.places, session.about) == (bot, level, places, about)
        is_bot = bot is not None
        assert (session.any_level, session.on_request) == (any_level and is_bot, on_request and is_bot)
        assert session.reserved == (who.get("reserved", 0) if is_bot else 0)


def test_a_second_connection_replaces_the_first_and_a_first_replaces_nobody(house: House) -> None:
    first = house.enter(name="Bob", token="b" * 40)
    assert first.closings == []
    second = house.enter(token="b" * 40)
    assert (first.closings, second.closings) == ([Closing.REPLACED], [])
    assert house.services.players.get(second.known_as.player) is second.session
    house.leave(first)
    assert house.services.players.get(second.known_as.player) is second.session
    house.leave(second)
    assert [each.info.name for each in house.services.players.sessions.values()] == ["Ann"]


def test_the_name_of_a_new_player_is_refused_once_the_words_are_read(tmp_path: Any) -> None:
    (tmp_path / "words").write_text("fool\n", encoding="utf-8")
    house = House(words=tmp_path / "words")
    with pytest.raises(Refusal):
        house.services.words.check_name("Fool")
    link = house.hello(name="Fool")
    assert link.take() == ["bad_name"]


def test_nothing_is_kept_of_a_connection_that_has_closed(house: House) -> None:
    ways: tuple[dict[str, Any], ...] = (
        {"name": "Bob", "token": "b" * 40}, {"token": "b" * 40}, {}, {"token": "c" * 40},
    )  # fmt: skip
    for who in ways:
        link = house.hello(**who)
        house.deliver()
        if link.session is not None:
            house.ask(link, wire.LobbyRequest(9, on=True))
            house.loop.run_until(house.loop.time() + 5.0, 10_000)
        house.leave(link)
        gone = weakref.ref(link)
        del link
        gc.collect()
        assert gone() is None, who


def test_lists_of_players_follow_arrivals_and_departures(house: House) -> None:
    reader = house.enter(token=TOKEN)
    house.ask(reader, wire.LobbyRequest(2, on=True))

    def listed() -> list[str]:
        house.loop.run_until(house.loop.time() + 5.0, 10_000)
        told = [each for each in reader.heard if isinstance(each, wire.PlayerList)]
        return [row.name for row in told[-1].players]

    assert listed() == ["Ann"]
    bob = house.enter(name="Bob")
    assert listed() == ["Ann", "Bob"]
    house.leave(bob)
    assert listed() == ["Ann"]
    cid = elsewhere(house, 77, "Cid")
    assert listed() == ["Ann", "Cid"]
    house.hub.sessions.end(cid)
    assert listed() == ["Ann"]


# On a node of a cluster.


@pytest.fixture
def members() -> Members:
    return Members()


@pytest.fixture
def node(members: Members) -> House:
    """A node that knows Ann, who is not here."""
    node = House(members=members)
    node.services.journal.register("Ann", TOKEN, None, 0, lambda player: None, lambda refusal: None, is_guest=False)
    node.deliver()
    return node


def test_a_player_enters_once_their_arrival_is_in_the_log(node: House, members: Members) -> None:
    link = node.hello(token=TOKEN)
    node.deliver()
    assert (link.take(), len(members.log)) == ([], 1)
    node.hello(link, token=TOKEN)
    node.deliver()
    assert (link.take(), len(members.log)) == (["hello_first"], 1)
    members.waiting.pop()[0](Player(known(node).id, "Annabel"))
    assert (link.welcome.you.name, link.welcome.nodes) == ("Annabel", ["ws://one", "ws://two"])
    assert link.known_as.serial == 1
    link.left_on_purpose = True
    node.leave(link)
    assert members.log[1:] == [(known(node).id, 1, True)]


def test_an_arrival_that_was_refused_may_be_tried_again(node: House, members: Members) -> None:
    link = node.hello(token=TOKEN)
    node.deliver()
    members.waiting.pop()[1](Refusal(Code.UNKNOWN_TOKEN, "forgotten"))
    assert (link.take(), link.session) == (["unknown_token"], None)
    node.hello(link, token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    assert link.take() == ["ok", "welcome"]


def test_an_arrival_over_a_connection_that_closed_meanwhile_replaces_the_one_before_and_ends(
    node: House, members: Members
) -> None:
    first = node.hello(token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    second = node.hello(token=TOKEN)
    node.deliver()
    second.is_open = False
    members.waiting.pop()[0](known(node))
    assert (first.closings, second.heard, second.session) == ([Closing.REPLACED], [], None)
    assert not node.services.players.sessions
    assert members.log[2:] == [(known(node).id, 2, False)], "the first was gone when the second came"
    node.leave(first)
    assert len(members.log) == 3


def test_a_banned_player_arrives_and_goes(node: House, members: Members) -> None:
    node.impose("ban", f"player:{known(node).id}", player=known(node).id)
    link = node.hello(token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    assert link.take() == ["sanctioned", "banned"]
    assert members.log[1:] == [(known(node).id, 1, False)]
    node.hello(link, token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    assert link.take() == ["sanctioned", "banned"], "and again, if they ask again"


def test_a_player_who_comes_to_another_node_is_replaced_here_and_the_other_way_round(
    node: House, members: Members
) -> None:
    ann = known(node).id
    link = node.hello(token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    node.ask(link, wire.SeekRequest(7, games=["connect4"]))
    forwarded: list[object] = []
    there = elsewhere(node, ann, "Ann", forwarded)
    assert link.closings == [Closing.REPLACED]
    assert (node.services.players.get(ann), len(node.services.players)) == (there, 1)
    assert [seek.player for seek in node.hub.listing.standing()] == [ann], "it stands again, wherever they are"
    again = node.hello(token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    assert node.services.players.get(ann) is again.session
    assert len(node.services.players) == 1
    assert forwarded == [], "their node closes that connection"
    assert [each for each in members.log if isinstance(each, tuple)] == []
    node.hub.sessions.end(elsewhere(node, ann, "Ann"))
    assert [each for each in members.log if isinstance(each, tuple)] == [], "their own node writes that"


def test_a_seek_is_withdrawn_if_its_player_returns_as_a_bot(node: House, members: Members) -> None:
    ann = known(node).id
    link = node.hello(token=TOKEN)
    node.deliver()
    members.waiting.pop()[0](known(node))
    node.ask(link, wire.SeekRequest(7, games=["connect4"]))
    node.leave(link)
    elsewhere(node, ann, "Ann", bot="alpha", places=1)
    assert node.hub.lobby.seeks.of(ann) is None


@pytest.mark.parametrize(
    "who",
    [
        {},
        {"bot": "alpha"},
        {"bot": "alpha", "level": 3, "places": 4, "reserved": 2, "about": "I play"},
        {"bot": "alpha", "any_level": True},
        {"bot": "alpha", "on_request": True},
    ],
)
@pytest.mark.parametrize("place", ["192.0.2.7", "192.0.5.7", ""])
def test_other_nodes_know_a_player_as_their_own_node_does(
    node: House, members: Members, who: dict[str, Any], place: str
) -> None:
    link = node.hello(node.caller(place), token=TOKEN, **who)
    link.metered_as = None if place != "192.0.2.7" else cast(Any, place)
    node.deliver()
    members.waiting.pop()[0](known(node))
    (came,) = members.log
    connection = RemoteConnection("b", "", 1, 0.0, lambda frames, closing: None, node.services.shares, is_metered=True)
    there, here = session_elsewhere(came, known(node), connection), link.known_as
    for name in ("info", "subject", "serial", "places", "reserved", "any_level", "on_request", "about", "is_guest"):
        assert getattr(there, name) == getattr(here, name), name
    assert came.address == (node.services.sanctions.key_of_address(place) or "")
    assert came.is_metered == (link.metered_as is not None)


def test_games_of_other_packages_are_named_once_with_their_swap(examples: None) -> None:
    games = House(games=Games(rated=("othello",))).enter(name="Ann").welcome.games
    told = {game.name: (game.swap, game.rated) for game in games}
    assert told == {
        "hex": (True, False),
        "hex11": (True, False),
        "othello": (False, True),
        "pente": (True, False),
        "pente19": (True, False),
    }
