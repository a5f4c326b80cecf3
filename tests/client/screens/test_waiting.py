"""Waiting for a person: what the screen says meanwhile, and the one key that plays a bot instead."""

from dataclasses import replace

import pytest

from tests.client.pressing import SEEK, drawn, lobby, pressed
from tests.client.samples import ANN, BEN, BLITZ, BOT, knowing, snapshot
from ttt_net.client import words
from ttt_net.client.act import act, command_for
from ttt_net.client.bot.house import CHARACTERS
from ttt_net.client.display import Command, Open, Page, Pick, Type
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.screens.offers import free_bots
from ttt_net.client.update import update
from ttt_net.messages import (
    AcceptRequest,
    ChallengeRequest,
    ListedPlayer,
    Opponents,
    PlayerList,
    SeekInfo,
    SeekList,
    SeekRequest,
    Suggestion,
)

WON = [4, 0, 2, 1, 6]


def bots(*listed: ListedPlayer, online: int = 2) -> PlayerList:
    return PlayerList(online, [ListedPlayer("Ann"), *listed])


def test_who_looks_for_a_person_is_told_at_once_that_one_key_plays_a_bot() -> None:
    display = update(lobby(), bots(ListedPlayer("alphabeta", "alphabeta", 0, [], level=5, places=4, free=3)), 0)
    display, _ = pressed(display, "p", "t", "t", "6")
    for width in (80, 40):
        page = draw(display, (width, 16), 0, BOXES).plain
        assert "Looking for a person: Connect Four, 3+2, rated or casual ..." in page or width == 40
        assert "A bot plays you at once: press b" in page
        assert "b bot" in page
    challenge = ChallengeRequest(0, name="alphabeta", game="connect4", time=BLITZ)
    assert pressed(display, "b")[1] == (challenge,)
    assert pressed(display, "c-m")[1] == (challenge,), "it is the row that the cursor is on"
    assert pressed(display, "b")[0].world.seeking is not None, "a person who comes first is as welcome as before"


def test_the_bot_that_is_chosen_plays_or_else_the_weakest() -> None:
    display = update(
        lobby(),
        bots(ListedPlayer("strong", "alphabeta", 0, [], level=8), ListedPlayer("weak", "mcts", 0, [], level=2)),
        0,
    )
    display, _ = pressed(display, "p", "1")
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="weak"),)
    assert pressed(display, "down", "b")[1] == (ChallengeRequest(0, name="strong"),)
    display, _ = pressed(display, "escape")
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="weak"),)
    display = replace(display, pages=(Page("lobby", "player:strong"),))
    assert "> strong [bot, level 8]" in drawn(display), "among all players, where nobody is looked for"
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="strong"),)


MIA = ListedPlayer("Mia", "beginner", 0, [], level=1, places=4, free=4, any_level=True, about="is\x1b surprised")
TOM = ListedPlayer("Tom", "casual player", 0, [], level=3, places=4, free=4, any_level=True)
ROB = ListedPlayer("Rob", "mcts", 0, [], level=5)


def test_a_digit_plays_a_bot_at_that_level_and_the_row_says_how_it_plays() -> None:
    display, _ = pressed(update(lobby(), bots(MIA, TOM, ROB), 0), "p", "1")
    page = drawn(display)
    assert "press b, or 1-8" in page
    assert "is surprised" in page
    assert pressed(display, "7")[1] == (ChallengeRequest(0, name="Mia", level=7),)
    assert pressed(display, "1")[1] == (ChallengeRequest(0, name="Mia"),), "it is her own"
    assert pressed(display, "3")[1] == (ChallengeRequest(0, name="Tom"),)
    assert pressed(display, "5")[1] == (ChallengeRequest(0, name="Rob"),)
    assert pressed(display, "down", "down", "7")[1] == (ChallengeRequest(0, name="Mia", level=7),), "Rob cannot"
    alone, _ = pressed(update(lobby(), bots(ROB), 0), "p", "1")
    assert "1-8" not in drawn(alone)
    alone, requests = pressed(alone, "6")
    assert (requests, words.notice(alone)) == ((), "No bot is free at level 6 now.")


def test_a_bot_that_plays_at_the_level_as_a_rule_comes_before_those_that_play_at_any() -> None:
    seek = SeekRequest(0, ["tictactoe"], level=3)
    assert [each.name for each in free_bots(update(lobby(), bots(MIA, TOM, ROB), 0), seek)] == ["Tom", "Mia"]


def test_the_bot_of_the_match_that_is_over_plays_the_same_game_though_it_looks_for_nobody_yet() -> None:
    between = ListedPlayer(BOT.name, BOT.bot, 0, None, level=5)
    display = update(lobby(snapshot(moves=WON)), bots(between), 0)
    assert [each.name for each in free_bots(display, SeekRequest(0, ["tictactoe"]))] == [BOT.name]
    assert free_bots(display, SeekRequest(0, ["connect4"])) == []
    full = ListedPlayer(BOT.name, BOT.bot, 4, None, places=4, free=0)
    assert free_bots(update(display, bots(full), 0), SeekRequest(0, ["tictactoe"])) == []
    going_on = update(lobby(snapshot(moves=WON[:4])), bots(between), 0)
    assert free_bots(going_on, SeekRequest(0, ["tictactoe"])) == []


def test_what_a_house_bot_says_of_itself_is_whole_at_80_columns() -> None:
    told = [
        ListedPlayer(each.name, each.label, 0, [], level=each.level, any_level=True, about=each.about)
        for each in CHARACTERS
    ]
    display, _ = pressed(update(lobby(), bots(*told), 0), "p", "1")
    for each in CHARACTERS:
        assert each.about in drawn(display)


def test_after_some_seconds_alone_the_offer_names_the_bot_that_the_server_suggests() -> None:
    display, _ = pressed(update(lobby(), bots(MIA, TOM), 0), "p", "1")
    assert "Looking for a person: Tic-tac-toe ..." in drawn(display)
    display = update(display, Suggestion([TOM, MIA]), 0)
    assert "Nobody yet for Tic-tac-toe: b plays Tom [bot, level 3]." in drawn(display)
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="Tom"),)
    gone = update(display, bots(MIA), 0)
    assert "Nobody yet for Tic-tac-toe: b plays Mia [bot, level 1]." in drawn(gone)


@pytest.mark.parametrize(
    "busy",
    [
        ListedPlayer("alphabeta", "alphabeta", 4, [], places=4, free=0),
        ListedPlayer("alphabeta", "alphabeta", 0, ["connect4"]),
        ListedPlayer("alphabeta", "alphabeta", 0, None),
        ListedPlayer("Ben", None, 0, ["tictactoe"]),
    ],
)
def test_nobody_is_offered_for_a_bot_who_is_full_plays_something_else_or_is_a_person(busy: ListedPlayer) -> None:
    display, _ = pressed(update(lobby(), bots(busy), 0), "p", "1")
    assert "press b" not in drawn(display)
    display, requests = pressed(display, "b")
    assert requests == ()
    assert words.notice(display) == "No bot is free for Tic-tac-toe now."


def test_a_bot_can_be_had_as_well_by_one_who_looks_for_nobody() -> None:
    display = update(lobby(), bots(ListedPlayer("alphabeta", "alphabeta", 0, [])), 0)
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="alphabeta"),)


def test_where_the_list_is_but_a_part_of_a_crowd_the_suggested_bots_are_offered() -> None:
    suggested = Suggestion([ListedPlayer("alphabeta", "alphabeta", 0, None, level=5)])
    display, _ = pressed(update(lobby(), bots(online=500), 0), "p", "1")
    assert "alphabeta [bot, level 5]" in drawn(update(display, suggested, 0))
    display = update(display, bots(online=1), 0)
    assert "[bot" not in drawn(update(display, suggested, 0)), "the whole list knows that it has gone"


def test_a_bot_is_one_key_away_at_a_board_where_a_new_opponent_is_waited_for() -> None:
    display = update(lobby(snapshot(moves=WON)), bots(ListedPlayer("tactics", "tactics", 0, [])), 0)
    assert command_for("b", display) is not Command.BOT
    display, _ = pressed(display, "n")
    assert "Looking for a person; b plays a bot." in draw(display, (40, 16), 0, BOXES).plain
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="tactics"),)
    assert "Looking for a person ..." in drawn(update(display, bots(), 0))
    live = update(display, snapshot(match="m2"), 0)
    assert command_for("b", live) == Type("b"), "there it is a column"


def test_at_a_finished_board_one_hears_of_a_person_who_has_come_meanwhile() -> None:
    seeks = SeekList(2, [SeekInfo(6, BOT, []), SeekInfo(7, BEN, ["connect4"])])
    display = update(lobby(snapshot(moves=WON)), seeks, 0)
    assert "Esc: Ben waits for an opponent." in draw(display, (40, 16), 0, BOXES).plain
    display, _ = pressed(display, "escape")
    assert pressed(display, "c-m")[1] == (AcceptRequest(0, seek=7),)
    for waiting in (SeekList(1, seeks.seeks[:1]), SeekList(1, [SeekInfo(8, ANN, ["connect4"])])):
        assert "waits for" not in drawn(update(lobby(snapshot(moves=WON)), waiting, 0))
    assert "waits for" not in drawn(update(lobby(snapshot()), seeks, 0)), "while one plays"


def test_who_is_welcome_stays_as_it_was_asked_for() -> None:
    for opponents in ("any", "bots", "people"):
        wanted = SeekRequest(0, ["tictactoe"], opponents=opponents)
        display, _ = act(lobby(), Open(Page("games")), wanted)
        (asked,) = act(display, Pick("game:connect4"), wanted)[1]
        assert isinstance(asked, SeekRequest)
        assert asked.opponents == opponents
        assert (asked.rated, asked.or_casual) == (opponents == "people", opponents == "people")


@pytest.mark.parametrize(("opponents", "whom"), [("any", "an opponent"), ("people", "a person"), ("bots", "a bot")])
def test_the_lobby_says_whom_it_looks_for(opponents: Opponents, whom: str) -> None:
    display = knowing(lobby(), seeking=SeekRequest(0, ["tictactoe"], opponents=opponents))
    assert f"Looking for {whom}: Tic-tac-toe ..." in drawn(display)


def test_nobody_is_told_to_seat_a_bot_before_it_is_known_who_is_here() -> None:
    assert "Seat a bot" not in drawn(knowing(lobby(), seeking=SEEK))
    assert "Seat a bot" in drawn(knowing(lobby(PlayerList(1, [])), seeking=SEEK))
