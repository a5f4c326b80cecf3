"""Ways to meet in the browser: by link, by name, bots, and people at a terminal."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.end_to_end.process import ROOT
from tests.page.place import SMALL_PHONE, Place, wait_for
from tests.patience import PATIENCE_S

CLIENT = [sys.executable, str(ROOT / "client.py")]


def test_the_page_speaks_the_language_of_the_browser_and_another_by_hand(place: Place) -> None:
    ann, mia = place.visitor(locale="ru-RU"), place.visitor(locale="ar", **SMALL_PHONE)
    for visitor, words, direction in ((ann, "Крестики-нолики и их семья", "ltr"), (mia, "إكس أو وعائلتها", "rtl")):
        visitor.page.goto(place.url)
        visitor.page.get_by_role("heading", name=words).wait_for()
        assert visitor.page.evaluate("getComputedStyle(document.body).direction") == direction
        assert visitor.page.evaluate("document.scrollingElement.scrollWidth") <= visitor.page.viewport_size["width"]
    ann.page.get_by_role("button", name="Настройки").click()
    ann.page.get_by_role("combobox", name="Язык").select_option("fr")
    ann.page.get_by_role("heading", name="Le morpion et sa famille").wait_for()
    ann.page.reload()
    ann.page.get_by_role("heading", name="Le morpion et sa famille").wait_for()


def test_a_friend_opens_a_link_and_plays(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.choose("connect4", "3+2")
    ann.press("Invite a friend")
    address = ann.page.get_by_label("Address").input_value()
    assert address.startswith(f"{place.url}/j#")
    bob = place.visitor()
    bob.page.goto(address)
    bob.page.get_by_role("region", name="Invitation").get_by_text("Ann invites you").wait_for()
    shown = bob.page.get_by_role("region", name="Invitation").inner_text()
    for words in ("Ann invites you", "Connect Four, 3+2", "Marks fall; four in a row wins."):
        assert words in shown
    bob.come("Bob", address.removeprefix(place.url))
    for visitor in (ann, bob):
        visitor.page.locator("main.match").wait_for()
        assert visitor.page.locator("h1").inner_text().split("\n") == ["Connect Four", "3+2 · private"]
        assert visitor.page.locator(".clock").all_inner_texts() == ["3:00", "3:00"]


def test_a_code_that_was_told_is_typed(place: Place) -> None:
    ann, bob = place.visitor().come("Ann"), place.visitor().come("Bob")
    ann.press("Invite a friend")
    bob.page.get_by_label("Invitation code").fill(f" {ann.page.locator('.code').inner_text()} ")
    bob.press("Join")
    bob.page.locator("main.match").wait_for()
    bob.page.go_back()
    bob.page.locator("main.lobby").wait_for()
    bob.page.get_by_role("button", name="Play on against Ann").wait_for()


def test_a_seek_on_the_list_is_taken_by_a_tap(place: Place) -> None:
    ann, bob = place.visitor().come("Ann"), place.visitor().come("Bob")
    bob.page.get_by_role("button", name="Challenge Ann").wait_for()
    ann.seek("qubic")
    bob.page.get_by_role("button", name="Play Ann").wait_for()
    bob.sees("button[aria-label='Challenge Ann']", 0)  # who waits is listed once
    bob.page.get_by_role("button", name="Play Ann").click()
    for visitor in (ann, bob):
        visitor.page.locator("main.match").wait_for()
    assert bob.page.locator(".layer").count() == 4


def test_a_challenge_is_seen_and_accepted(place: Place) -> None:
    ann, bob = place.visitor().come("Ann"), place.visitor().come("Bob")
    ann.page.get_by_role("button", name="Challenge Bob").click()
    bob.page.get_by_text("Ann challenges you: Tic-tac-toe, no clock.").wait_for()
    bob.press("Not now")
    ann.page.locator(".toast", has_text="not now").wait_for()
    bob.page.locator(".challenge").wait_for(state="detached")
    assert bob.page.locator(".toast").count() == 0, "who turned it down knows"
    bob.page.get_by_role("button", name="Leaderboard").click()
    ann.page.get_by_role("button", name="Challenge Bob").click()
    bob.press("Accept")
    for visitor in (ann, bob):
        visitor.page.locator("main.match").wait_for()
        visitor.sees(".challenge", 0)


def test_a_match_that_begins_takes_away_nothing_that_others_may_still_take_up(place: Place) -> None:
    ann, bob, cleo = (place.visitor().come(name) for name in ("Ann", "Bob", "Cleo"))
    ann.press("Invite a friend")
    code = ann.page.locator(".code").inner_text()
    for visitor, name in ((bob, "Bob"), (cleo, "Cleo")):
        visitor.page.get_by_role("button", name="Challenge Ann").click()
        ann.page.get_by_text(f"{name} challenges you: Tic-tac-toe, no clock.").wait_for()
    ann.page.get_by_role("button", name="Challenge Bob").click()
    ann.page.get_by_text("You challenged Bob: Tic-tac-toe, no clock.").wait_for()
    ann.page.get_by_role("button", name="Accept", exact=True).first.click()
    bob.page.locator("main.match").wait_for()
    ann.page.locator("main.match").wait_for()
    for words in ("Cleo challenges you", "You challenged Bob"):
        ann.page.get_by_text(f"{words}: Tic-tac-toe, no clock.").wait_for()
    ann.sees(".challenge", 2)
    ann.page.go_back()
    assert ann.page.locator(".code").inner_text() == code
    place.visitor().come("Dan", f"/j#{code.replace(' ', '')}").page.locator("main.match").wait_for()
    ann.page.locator("main.match").wait_for()
    ann.page.go_back()
    ann.page.locator("main.lobby").wait_for()
    ann.sees(".code", 0)


def test_the_game_that_was_chosen_last_is_in_sight(place: Place) -> None:
    ann = place.visitor(**SMALL_PHONE).come("Ann")
    for game in ("ultimate", "connect4", "tictactoe"):
        ann.choose(game)
        box = ann.page.locator(".shelf :checked").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= SMALL_PHONE["viewport"]["width"] + 1


def test_a_game_of_any_size_is_sought_and_played(place: Place) -> None:
    ann, bob = place.visitor(**SMALL_PHONE).come("Ann"), place.visitor().come("Bob")
    ann.page.get_by_role("radio", name="Any size").check()
    ann.page.get_by_label("Marks fall").check()
    for name, value in (("Width", "6"), ("Height", "5"), ("In a row", "99"), ("In a row", "3")):
        ann.page.get_by_label(name).fill(value)
    ann.page.get_by_label("The second player may swap").check()
    ann.press("Find an opponent")
    bob.page.get_by_text("Connect 3, 6×5 with swap, no clock").wait_for()
    bob.page.get_by_role("button", name="Play Ann").click()
    for visitor in (ann, bob):
        visitor.page.locator("main.match").wait_for()
        visitor.sees(".cell", 30)
        assert "Connect 3, 6×5" in visitor.page.locator("h1").inner_text()


def test_the_rules_of_a_game_are_shown_where_it_is_chosen(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.choose("connect4")
    ann.page.get_by_role("button", name="How to play").click()
    sheet = ann.page.get_by_role("dialog", name="How to play")
    sheet.get_by_text("Marks fall; four in a row wins.").wait_for()
    sheet.locator(".example .won").first.wait_for()
    ann.sees(".example .won .mark-X", 4)
    sheet.press("Tab")
    assert ann.page.evaluate("document.activeElement.ariaLabel") == "Close", "Tab goes on within a sheet"
    sheet.press("Escape")
    sheet.wait_for(state="detached")
    ann.press("Settings")
    over = ann.page.get_by_role("dialog", name="Settings")
    over.wait_for()
    ann.page.locator(".cover").click(position={"x": 100, "y": 640})
    over.wait_for(state="detached")
    assert ann.page.get_by_role("button", name="Stop waiting").count() == 0, "a tap beside a sheet does no more"


def test_one_takes_another_name_and_is_forgotten_when_asked(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.press("Ann")
    ann.page.get_by_label("New name").fill("Anna")
    ann.press("Save")
    ann.page.get_by_role("heading", name="Anna").wait_for()
    ann.page.get_by_text("Forget me").first.click()
    confirmation = ann.page.get_by_label("Your name")
    confirmation.fill("Bob")
    confirmation.press("Enter")
    ann.page.locator(".toast", has_text="Anna").wait_for()
    confirmation.fill("Anna")
    confirmation.press("Enter")
    ann.page.get_by_role("alert").get_by_text("Your name and ratings were deleted.").wait_for()
    assert ann.page.evaluate("localStorage.getItem('ttt_net.token')") is None
    place.visitor().come("Anna")


def test_players_talk_by_phrases_and_by_typing_and_can_be_muted(place: Place) -> None:
    first, second = place.pair()
    first.press("Good luck!")
    second.page.locator(".spoken p", has_text="Good luck!").wait_for()
    second.page.get_by_label("To your opponent").fill("<b>and to you</b>")
    second.page.keyboard.press("Enter")
    line = first.page.locator(".spoken p", has_text="<b>and to you</b>")
    line.get_by_role("button", name="Mute").click()
    line.wait_for(state="detached")
    first.page.locator(".toast", has_text="is muted.").wait_for()


def test_a_private_match_is_watched_by_its_link(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.press("Invite a friend")
    address = ann.page.get_by_label("Address").input_value()
    place.visitor().come("Bob", address.removeprefix(place.url))
    ann.page.locator("main.match").wait_for()
    ann.page.evaluate("navigator.clipboard.writeText = text => { window.copied = text }")
    ann.page.get_by_role("button", name="Share a link to watch").click()
    ann.page.locator(".toast", has_text="The link is copied.").wait_for()
    carl = place.visitor().come("Carl", ann.page.evaluate("window.copied").removeprefix(place.url))
    carl.page.get_by_text("You are watching.").wait_for()


def test_a_third_one_watches_and_goes_on_to_the_rematch(place: Place) -> None:
    first, second = place.pair()
    match = first.page.url.removeprefix(place.url)
    carl = place.visitor().come("Carl", match)
    carl.page.get_by_text("You are watching.").wait_for()
    first.play(4)
    carl.page.locator("#cell-4.last").wait_for()
    second.press("Abort")
    carl.until("Aborted")
    first.press("Rematch")
    second.press("Accept")
    carl.press("To the rematch")
    carl.page.wait_for_url("**-2")
    carl.page.get_by_text("You are watching.").wait_for()


@contextmanager
def seated(place: Place, *arguments: str) -> Iterator[None]:
    """Have a bot in the lobby."""
    bot = subprocess.Popen([*CLIENT, place.address, "--bot", *arguments], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            bot.terminate()
        bot.wait(timeout=PATIENCE_S)


def test_people_meet_though_a_bot_waits_and_who_is_alone_plays_it_with_one_tap(place: Place) -> None:
    with seated(place, "random", "--level", "3", "--game", "connect4"):
        ann, bob = place.visitor().come("Ann"), place.visitor(**SMALL_PHONE).come("Bob")
        ann.choose("connect4", "3+2")
        ann.page.get_by_role("button", name="Play random").wait_for()
        ann.press("Find an opponent")
        status = ann.page.get_by_role("status")
        status.get_by_text("Looking for a person: Connect Four, 3+2, rated or casual; or play a bot now").wait_for()
        bob.seek("connect4", "3+2")
        for visitor in (ann, bob):
            visitor.page.locator("main.match").wait_for()
            assert "random" not in visitor.page.locator("main.match").inner_text()
        bob.press("Abort")
        bob.until("Aborted")
        bob.press("New opponent")
        bob.page.get_by_text("or play a bot now").wait_for()
        choice = bob.page.locator(".waiting").get_by_role("button", name="Play random")
        assert choice.bounding_box()["y"] + 44 <= SMALL_PHONE["viewport"]["height"], "in sight"
        choice.click()
        bob.page.locator(".tag", has_text="bot").wait_for()
        assert bob.page.locator("h1").inner_text().split("\n") == ["Connect Four", "3+2"]


def test_a_bot_that_has_gone_on_to_somebody_else_is_challenged_to_the_rematch(place: Place) -> None:
    with seated(place, "random", "--level", "3", "--game", "tictactoe"):
        ann, bob = place.visitor().come("Ann"), place.visitor().come("Bob")
        for visitor in (ann, bob):
            visitor.page.get_by_role("button", name="Play random").first.click()
            visitor.page.locator("main.match").wait_for()
            if visitor is ann:
                ann.press("Abort")
                ann.until("Aborted")
        before = ann.page.url
        ann.page.get_by_role("button", name="Another game").wait_for(state="detached")
        assert "has left" not in ann.page.locator("main.match").inner_text()
        ann.press("Rematch")
        ann.page.wait_for_url(lambda url: "/m/" in url and url != before)
        ann.page.locator(".boards:not(.over)").wait_for()
        assert "level 3" in ann.page.locator("main.match").inner_text()


def test_a_browser_plays_the_alphabeta_bot_to_the_end(place: Place) -> None:
    with seated(place, "alphabeta", "--games", "1"):
        ann = place.visitor().come("Ann")
        ann.page.get_by_role("button", name="Play alphabeta").first.click()
        ann.page.locator("main.match").wait_for()
        over = ann.page.locator(".boards.over")
        while not over.count():
            wait_for(lambda: ann.is_to_move or over.count() > 0, ann)
            if ann.is_to_move:
                free = ann.page.locator(".cell.free")
                before = free.count()
                free.first.click()  # the bot may have answered before anybody looks
                free.nth(before - 1).wait_for(state="detached")
        assert "You won" not in ann.page.locator(".status").inner_text()
        assert ann.page.locator(".tag", has_text="bot").count() == 1


def test_a_browser_plays_the_terminal_client(place: Place) -> None:
    ann = place.visitor().come("Ann")
    ann.seek()
    command = [*CLIENT, place.address, "--plain", "--name", "Bob", "--game", "tictactoe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as bob:
        assert bob.stdin is not None
        try:
            ann.page.locator("main.match").wait_for()
            wait_for(lambda: ann.page.locator(".status").count() > 0, ann)
            mine, yours = iter((0, 1, 2)), iter(("a2", "b2", "c2"))
            if not ann.is_to_move:
                yours = iter(("a2", "b2", "a1"))
            for _ in range(6):
                if ann.page.locator(".boards.over").count():
                    break
                if ann.is_to_move:
                    ann.play(next(mine))
                    ann.page.locator(".boards.mine").wait_for(state="detached")
                else:
                    bob.stdin.write(f"{next(yours)}\n")
                    bob.stdin.flush()
                    wait_for(lambda: ann.is_to_move or ann.page.locator(".boards.over").count() > 0, ann)
            ann.until("You won: you completed a line.")
        finally:
            bob.kill()


def test_one_who_is_alone_plays_a_bot_of_the_chosen_strength_before_giving_a_name(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.stop()
    monkeypatch.setenv("TTT_NET_HOUSE_BOTS", "yes")
    place.start()
    ann = place.visitor(**SMALL_PHONE)
    ann.page.goto(place.url)
    ann.press("Play the computer")
    ann.page.locator("main.match").wait_for()
    ann.page.locator(".tag", has_text="bot, level 3").wait_for()
    ann.press("Abort")
    ann.press("‹ Lobby")
    ann.page.get_by_role("group", name="Strength, from 1 to 8").get_by_role("radio", name="8").check()
    ann.page.locator(".entry", has_text="level 8").get_by_role("button").first.click()
    ann.page.locator(".tag", has_text="bot, level 8").wait_for()
