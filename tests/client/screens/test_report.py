"""A player is reported from a match, from a profile, and by a word; and what the host decides is told."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_reply

from tests.client.pressing import SEEK, drawn, lobby, pressed, seen
from tests.client.samples import BEN, snapshot, welcome
from ttt_net.client import words
from ttt_net.client.act import act
from ttt_net.client.display import Open, Page
from ttt_net.client.lines.typed_lines import command_of
from ttt_net.client.screens.people import THANKS
from ttt_net.client.update import update
from ttt_net.messages import (
    HeadToHead,
    Ok,
    PlayerInfo,
    PlayerRenamed,
    ProfileReply,
    ReportRequest,
    Sanctioned,
    SeekRequest,
)
from ttt_net.sdk.received import Answered

MATCH = snapshot("connect4", [38], opponent=BEN)


def test_one_key_at_the_board_reports_the_opponent_with_the_match() -> None:
    display, requests = pressed(lobby(MATCH), "f")
    assert requests == ()
    assert "Report Ben" in drawn(display)
    assert "last lines of the chat" in drawn(display)
    display, requests = pressed(display, "down", "down", "c-m")
    (asked,) = requests
    assert asked == ReportRequest(0, name="Ben", reason="cheating", match="m1")
    assert display.page.screen == "match"
    assert words.notice(update(display, Answered(asked, Ok(7)), 0)) == THANKS


def test_a_report_that_is_being_written_concerns_the_same_player_after_a_rename() -> None:
    display, _ = pressed(seen(welcome(features=["seats"]), MATCH), "f")
    display = update(display, PlayerRenamed("m1", 1, "Benny"), 0)
    assert "Report Benny" in drawn(display)
    _, requests = pressed(display, "down", "down", "c-m")
    assert requests == (ReportRequest(0, name="Benny", reason="cheating", match="m1", side=1),)


def test_where_letters_are_columns_the_upper_case_letter_reports() -> None:
    display = lobby(snapshot("mnk:19x19,5", opponent=BEN))
    assert pressed(display, "F")[0].page == Page("report", about="Ben")
    assert pressed(display, "f")[0].typed == "f"


def test_one_who_watches_chooses_whom() -> None:
    watched = lobby()
    watched = replace(watched, world=replace(watched.world, watching="m1"))
    watched = update(watched, snapshot("connect4", [38], you=None, opponent=BEN), 0)
    display, _ = pressed(watched, "f")
    assert "Ben" in drawn(display)
    display, requests = pressed(display, "down", "c-m", "c-m")
    assert requests == (ReportRequest(0, name="Ben", reason="chat", match="m1"),)


def test_a_profile_leads_to_a_report_without_a_match() -> None:
    display, _ = act(lobby(), Open(Page("profile", about="Ben")), SEEK)
    told = ProfileReply(PlayerInfo("Ben"), 0, False, 0, 0, 0, [], HeadToHead(0, 0, 0), [])
    ours = update(display, replace_reply(told, against=None), 0)
    assert "Report" not in drawn(ours)
    display, requests = pressed(update(display, told, 0), "down", "c-m", "down", "c-m")
    assert requests == (ReportRequest(0, name="Ben", reason="name", match=None),)


@pytest.mark.parametrize(
    ("typed", "page"),
    [("report Ben B", Page("report", about="Ben B")), ("report", Page("report", about="Ben"))],
)
def test_a_word_reports_where_there_are_only_lines(typed: str, page: Page) -> None:
    assert command_of(typed, lobby(MATCH), SeekRequest(0)) == Open(page)


def test_without_a_match_the_word_wants_a_name() -> None:
    assert command_of("report", lobby(), SeekRequest(0)) == "Type report and a name."


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (
            Sanctioned("mute", 299_400, "shouting"),
            "The host has muted you for 5 min: nobody hears what you write, and you can play on. Why: shouting.",
        ),
        (Sanctioned("ban"), "The host has banned you for good: you cannot play on this server."),
        (Sanctioned("mute", 5, lifted=True), "You are heard in the chat again."),
    ],
)
def test_what_the_host_decides_is_told_with_what_it_means(told: Sanctioned, sentence: str) -> None:
    assert words.notice(update(lobby(MATCH), told, 0)) == sentence
