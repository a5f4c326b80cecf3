"""Ways to meet in the browser: by a link, and with people at a terminal; and the way through the page."""

import subprocess
import sys
from collections.abc import Callable

from tests.end_to_end.process import ROOT
from tests.page.place import Place, wait_for

CLIENT = [sys.executable, str(ROOT / "client.py")]


def test_a_friend_opens_a_link_or_scans_it_and_plays(place: Place) -> None:
    ann = place.visitor()
    addresses: list[str] = []
    ann.page.on("request", lambda request: addresses.append(request.url))
    ann.page.on("websocket", lambda socket: addresses.append(socket.url))
    ann.prefer("connect4", "3+2").come("Ann")
    ann.press("Invite a friend")
    address = ann.page.get_by_label("Address").input_value()
    assert address.startswith(f"{place.url}/j?")
    drawn = ann.page.locator(".qr path").get_attribute("d") or ""
    dark = {tuple(map(int, place.split("h")[0].split())) for place in drawn.split("M")[1:]}
    size = max(x for x, _ in dark) + 1
    assert address.encode() in {read_code(dark, size, mask) for mask in range(8)}
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
    token = ann.page.evaluate("localStorage.getItem('ttt_net.token')")
    assert token
    assert len(addresses) > 3
    assert not [each for each in addresses if token in each]


MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda x, y: (x + y) % 2 == 0,
    lambda x, y: y % 2 == 0,
    lambda x, y: x % 3 == 0,
    lambda x, y: (x + y) % 3 == 0,
    lambda x, y: (y // 2 + x // 3) % 2 == 0,
    lambda x, y: x * y % 2 + x * y % 3 == 0,
    lambda x, y: (x * y % 2 + x * y % 3) % 2 == 0,
    lambda x, y: ((x + y) % 2 + x * y % 3) % 2 == 0,
)


def read_code(dark: set[tuple[int, ...]], size: int, mask: int) -> bytes:
    """Return the bytes in a QR code of version 2 to 5 and one block (ISO/IEC 18004), if it has that mask."""
    bits = ""
    columns = [x for x in range(size - 1, 0, -2) if x > 6] + [5, 3, 1]
    for turn, right in enumerate(columns):
        for y in range(size) if turn % 2 else reversed(range(size)):
            for x in (right, right - 1):
                is_finder = (x < 9 and (y < 9 or y >= size - 8)) or (x >= size - 8 and y < 9)
                is_alignment = abs(x - (size - 7)) <= 2 and abs(y - (size - 7)) <= 2
                if not (is_finder or is_alignment or 6 in (x, y)):
                    bits += str(int(((x, y) in dark) != MASKS[mask](x, y)))
    length = int(bits[4:12], 2) if bits.startswith("0100") else 0
    return bytes(int(bits[12 + 8 * n : 20 + 8 * n], 2) for n in range(min(length, len(bits) // 8 - 2)))


def test_sheets_open_over_a_screen_and_the_way_back_leads_through_the_addresses(site: Place) -> None:
    site.expect("404")
    ann = site.visitor().come("Wanderer")
    ann.choose("connect4")
    ann.press("How to play")
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
    ann.page.goto(f"{site.url}/#player=Wanderer&game=qubic")
    chosen = ann.page.get_by_role("combobox", name="Game")
    chosen.wait_for()
    assert chosen.input_value() == "qubic"
    chosen.select_option("gomoku")
    ann.page.wait_for_url("**/#player=Wanderer&game=gomoku")
    ann.page.go_back()
    ann.page.wait_for_url("**/#player=Wanderer&game=qubic")
    answer = ann.page.goto(f"{site.url}/nowhere")
    assert answer.status == 404
    ann.press("To the lobby")
    ann.page.locator("main.lobby").wait_for()


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


def test_the_mistake_of_a_lost_match_is_asked_on_ones_other_devices(place: Place) -> None:
    winner, phone = place.pair()
    for turn, cell in enumerate((0, 1, 4, 2, 8)):
        (winner, phone)[turn % 2].play(cell)
    phone.page.locator(".deck.defeat").wait_for()
    phone.press("Where did I go wrong?")
    phone.page.locator(".deck .learnt", has_text="you had to block at c1").wait_for()
    token = phone.page.evaluate("localStorage.getItem('ttt_net.token')")
    laptop = place.visitor()
    laptop.page.add_init_script(f"localStorage.setItem('ttt_net.token', '{token}')")
    said: list[str] = []
    laptop.page.on("websocket", lambda socket: socket.on("framereceived", lambda text: said.append(str(text))))
    release = laptop.hold("more.js")
    laptop.page.goto(f"{place.url}/#puzzle")
    # The puzzle may arrive before the code of its screen.
    wait_for(lambda: any('"type":"puzzle"' in text for text in said), laptop)
    release()
    laptop.press("Your mistakes (1)")
    laptop.page.locator("main", has_text="you went wrong here. Find a better move.").wait_for()
    laptop.cell(8).click()
    laptop.page.locator(".verdict", has_text="Correct: c1!").wait_for()
    laptop.page.locator("main", has_text="It returns on ").wait_for()
    laptop.press("Puzzle of the day")
    laptop.page.locator("main", has_text="Difficulty").wait_for()
    assert laptop.page.get_by_text("Your mistakes").count() == 0
