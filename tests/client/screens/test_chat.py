"""Chat at a match, and muted players."""

from dataclasses import replace

import pytest

from tests.client.pressing import drawn, lobby, pressed, seen
from tests.client.samples import ANN, BEN, knowing, snapshot, welcome
from ttt_net.client import words
from ttt_net.client.act import command_for
from ttt_net.client.display import Entry
from ttt_net.client.screens.offers import request_of
from ttt_net.client.update import MAX_CHAT, update
from ttt_net.messages import (
    ChatRequest,
    Chatted,
    JoinRequest,
    MuteRequest,
    PlayerInfo,
    PlayerRenamed,
    Rematched,
    Request,
    WatchRequest,
)

WON = [4, 0, 2, 1, 6]


MATCH = snapshot("connect4", [38], opponent=BEN)


def told(text: str, by: PlayerInfo = BEN, match: str = "m1") -> Chatted:
    return Chatted(match, "players", by, text)


def test_a_phrase_takes_two_keys() -> None:
    display, _ = pressed(lobby(MATCH), "s")
    assert "2 good luck" in drawn(display)
    display, requests = pressed(display, "2")
    assert requests == (ChatRequest(0, match="m1", phrase="good_luck"),)
    assert "good luck" not in drawn(display)


def test_words_of_ones_own_are_typed_and_may_hold_digits() -> None:
    _, requests = pressed(lobby(MATCH), "s", *"b2?", "c-m")
    assert requests == (ChatRequest(0, match="m1", text="b2?"),)
    assert pressed(lobby(MATCH), "s", *"abc", "escape")[0].typed == ""
    assert pressed(lobby(MATCH), "s", "c-m")[1] == ()
    long = pressed(lobby(MATCH), "s", *("w" * 300))[0]
    assert max(map(len, drawn(long, (40, 12)).split("\n"))) <= 40


def test_what_was_said_stays_from_match_to_match_of_a_series_and_no_further() -> None:
    display = update(lobby(snapshot(moves=WON, opponent=BEN)), told("Again?"), 0)
    after = update(update(display, Rematched("m1", 9, 0, next="m1-2"), 0), snapshot(match="m1-2", opponent=BEN), 0)
    assert "Ben: Again?" in drawn(after)
    other = update(display, snapshot(match="m7", opponent=BEN), 0)
    assert (other.shown, other.chat) == ("m7", ())


def test_where_only_phrases_are_said_nothing_else_can_be_typed() -> None:
    display, _ = pressed(knowing(lobby(MATCH), may_write=False), "s")
    assert command_for("b", display) is None
    assert "send" not in drawn(display)
    _, requests = pressed(display, "2")
    assert requests == (ChatRequest(0, match="m1", phrase="good_luck"),)


def test_where_letters_are_columns_the_upper_case_letter_says() -> None:
    display = lobby(snapshot("mnk:19x19,5", opponent=BEN))
    assert pressed(display, "S")[0].entry is Entry.CHAT
    assert pressed(display, "s")[0].typed == "s"


def test_what_is_said_stands_beside_the_board_and_is_told_where_there_is_no_room() -> None:
    display = update(lobby(MATCH), told("Shall we play on, now that it has become so late?"), 0)
    page = drawn(display)
    assert "Ben: Shall we play on," in page
    assert "  now that it has become" in page
    assert "Ben: Shall we play on" in drawn(display, (40, 12))
    for number in range(2 * MAX_CHAT):
        display = update(display, told(f"no. {number}"), 0)
    assert len(display.chat) == MAX_CHAT
    assert "no. 99" in drawn(display)


def test_our_own_words_and_those_at_another_match_are_no_news() -> None:
    assert words.notice(update(lobby(MATCH), told("hello", ANN), 0)) == ""
    assert update(lobby(MATCH), told("hello", match="m2"), 0).chat == ()


def test_one_key_mutes_and_the_same_key_hears_again() -> None:
    display, requests = pressed(lobby(MATCH), "m")
    assert requests == (MuteRequest(0, name="Ben", on=True),)
    display = update(display, told("on its way before the mute"), 0)
    assert display.chat == ()
    display, requests = pressed(display, "m")
    assert requests == (MuteRequest(0, name="Ben", on=False),)
    assert update(display, told("hello"), 0).chat != ()


def test_a_mute_names_the_seat_of_the_opponent_and_follows_them_through_a_rename() -> None:
    display = update(seen(welcome(features=["seats"]), MATCH), told("hello"), 0)
    display, requests = pressed(display, "m")
    assert requests == (MuteRequest(0, name="Ben", on=True, match="m1", side=1),)
    display = update(display, PlayerRenamed("m1", 1, "Benny"), 0)
    assert words.notice(display) == "Ben is called Benny now."
    assert [each.by.name for each in display.chat] == ["Benny"]
    assert update(display, told("still here", PlayerInfo("Benny")), 0).chat == display.chat
    _, requests = pressed(display, "m")
    assert requests == (MuteRequest(0, name="Benny", on=False, match="m1", side=1),)


def test_who_watches_mutes_one_of_those_who_talk_or_everybody() -> None:
    watched = lobby()
    watched = replace(watched, world=replace(watched.world, watching="m1"))
    watched = update(watched, snapshot("connect4", [38], you=None, opponent=BEN), 0)
    silent, requests = pressed(watched, "m")
    assert (requests, words.notice(silent)) == ((), "Nobody has said anything here yet.")
    cleo, dora = PlayerInfo("Cleo"), PlayerInfo("Dora")
    heard = update(update(watched, told("so slow", cleo), 0), told("hush", dora), 0)
    asked, requests = pressed(heard, "m")
    assert requests == ()
    assert "Mute  1: everybody  2: Dora  3: Cleo" in drawn(asked)
    assert "1-3 choose" in drawn(asked)
    assert pressed(asked, "9")[1] == ()
    display, requests = pressed(asked, "3")
    assert requests == (MuteRequest(0, name="Cleo", on=True),)
    assert update(display, told("still slow", cleo), 0).chat == heard.chat
    assert len(update(display, told("indeed", dora), 0).chat) == 3
    assert "3: Cleo (muted)" in drawn(pressed(display, "m")[0])
    display, requests = pressed(display, "m", "3")
    assert requests == (MuteRequest(0, name="Cleo", on=False),)
    display, requests = pressed(display, "m", "1")
    assert requests == (MuteRequest(0, name=None, on=True),)
    assert update(display, told("hello", dora), 0).chat == heard.chat
    assert "1: everybody (muted)" in drawn(pressed(display, "m")[0])
    display, requests = pressed(display, "m", "1")
    assert requests == (MuteRequest(0, name=None, on=False),)
    assert len(update(display, told("hello", dora), 0).chat) == 3


def test_a_new_match_begins_without_the_words_of_the_last() -> None:
    display = update(lobby(snapshot(moves=WON, opponent=BEN)), told("well played"), 0)
    assert update(display, snapshot(match="m2"), 0).chat == ()


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("k7qmx2", JoinRequest(0, code="K7QMX2")),
        ("http://192.168.1.20:8765/j#K7QMX2", JoinRequest(0, code="K7QMX2")),
        ("http://192.168.1.20:8765/j/K7QMX2", JoinRequest(0, code="K7QMX2")),
        ("http://192.168.1.20:8765/m/k3V9pQ7x", WatchRequest(0, match="k3V9pQ7x")),
        ("https://example.org/m/k3V9pQ7x#K7QMX2", WatchRequest(0, match="k3V9pQ7x", code="K7QMX2")),
        ("/m/", WatchRequest(0, match="?")),
    ],
)
def test_a_code_or_a_link_is_understood(text: str, understood: Request) -> None:
    assert request_of(text) == understood
