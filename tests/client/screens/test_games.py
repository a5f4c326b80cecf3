"""Choose a game, a clock and a kind of match."""

from tests.client.pressing import lobby, pressed
from tests.client.samples import (
    BEN,
    BLITZ,
)
from ttt_net.client.act import act
from ttt_net.client.display import Command, Open, Page, Purpose
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.screens.registry import screen_of
from ttt_net.clock import TimeControl
from ttt_net.messages import (
    ChallengeRequest,
    SeekInfo,
    SeekList,
    SeekRequest,
)


def test_the_game_and_clock_that_were_asked_for_are_chosen_where_one_is_to_choose() -> None:
    for time in (BLITZ, None):
        wanted = SeekRequest(0, ["connect4"], time)
        display, _ = act(lobby(), Open(Page("games", about="Ben", purpose=Purpose.CHALLENGE)), wanted)
        assert act(display, Command.PLACE, wanted)[1] == (
            ChallengeRequest(0, name="Ben", game="connect4", time=time, rated=True, or_casual=True),
        )
    for unlisted in (SeekRequest(0, ["mnk:7x7,4"], TimeControl(1_000, 0)), SeekRequest(0, [])):
        display, _ = act(lobby(), Open(Page("games")), unlisted)
        assert act(display, Command.PLACE, unlisted)[1] == (SeekRequest(0, ["tictactoe"]),)


def test_of_several_games_that_somebody_seeks_one_is_chosen() -> None:
    display = lobby(SeekList(1, [SeekInfo(9, BEN, ["gomoku", "connect4", "qubic"])]))
    assert "Gomoku, Connect Four and 1 more" in draw(display, (80, 24), 0, BOXES).plain
    assert pressed(display, "c-m", "2")[1] == (
        ChallengeRequest(0, name="Ben", game="connect4", rated=True, or_casual=True),
    )


def test_to_play_takes_two_keys_and_a_clock_one_more() -> None:
    display, requests = pressed(lobby(), "p", "6")
    assert requests == (SeekRequest(0, ["connect4"], opponents="people", rated=True, or_casual=True),)
    assert display.page.screen == "lobby"
    assert screen_of(display).status(display) == "Looking for a person: Connect Four, rated or casual ..."
    _, requests = pressed(lobby(), "p", "t", "t", "6")
    assert requests == (SeekRequest(0, ["connect4"], BLITZ, "people", rated=True, or_casual=True),)
    _, requests = pressed(lobby(), "p", "left", "down", "c-m")
    assert requests == (SeekRequest(0, ["misere"], TimeControl(900_000, 10_000), "people"),)


def test_another_game_is_named() -> None:
    display, _ = pressed(lobby(), "p", "end", "c-m", *"mnk:7x7,4")
    assert display.typed == "mnk:7x7,4"
    _, requests = pressed(display, "c-m")
    assert requests == (SeekRequest(0, ["mnk:7x7,4"], opponents="people"),)
