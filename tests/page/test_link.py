"""When the link breaks, the server restarts, or the page's later code comes after messages that need it."""

import json
from datetime import UTC, datetime, timedelta

from tests.page.place import Place, Scene, Stage, wait_for
from ttt_net.games import find_game
from ttt_net.games.puzzles import puzzle_of


def test_a_server_that_restarts_in_mid_match_loses_nothing(place: Place) -> None:
    place.expect_broken_links()
    first, second = place.pair()
    first.play(4)
    second.await_turn()
    place.administer("drain", "3600")
    for visitor in (first, second):
        visitor.page.locator(".banner", has_text="The server restarts at").wait_for()
    place.stop()
    for visitor in (first, second):
        visitor.page.locator(".banner", has_text="Reconnecting").wait_for()
    place.start()
    for visitor in (first, second):
        visitor.page.locator(".banner").wait_for(state="detached")
    second.page.reload()
    second.play(0)
    first.page.locator("#cell-0.last").wait_for()
    first.sees(".cell .mark", 2)
    first.page.goto(place.url)
    first.page.get_by_role("button", name="Play on against").click()
    first.play(8)
    second.await_turn()


KEPT = """async () => {
    await navigator.serviceWorker.ready;
    const names = await caches.keys();
    return names.length === 1 && !!(await (await caches.open(names[0])).match("/puzzles"));
}"""
"""Tells whether the service worker is at work and keeps the page and the puzzles."""


def test_the_page_opens_without_a_server_for_two_on_one_device_and_for_puzzles_to_come(place: Place) -> None:
    place.expect_broken_links()
    ann = place.visitor(service_workers="allow").come("Ann")
    wait_for(lambda: bool(ann.page.evaluate(KEPT)), ann)
    place.stop()
    ann.page.reload()
    ann.press("Two on this device")
    for cell in (0, 3, 1, 4, 2):
        ann.cell(cell).click()
    ann.page.locator(".status", has_text="X won").wait_for()
    coming = (datetime.now(UTC).date() + timedelta(days=number) for number in range(20, 30))
    day = next(day for day in coming if puzzle_of(day).game != "wild")  # there a cell has two moves
    puzzle = puzzle_of(day)
    ann.page.goto(f"{place.url}/#puzzle={day}")
    ann.page.locator(".puzzle").wait_for()
    ann.cell(find_game(puzzle.game).move_cells[puzzle.solution]).click()
    ann.page.locator(".verdict.won").wait_for()
    place.start()
    ann.page.goto(place.url)
    ann.page.locator("main.lobby").wait_for()


NOTICE = {"type": "notice", "text": "All was received."}


def test_nothing_that_arrives_before_the_later_code_is_lost(site: Place) -> None:
    ann = site.visitor()
    release = ann.hold("more.js")
    row = {"match": "m1", "game": "tictactoe", "players": [{"name": "Ben"}, {"name": "Cleo"}], "ply": 1, "watchers": 0}
    stage = Stage(ann, {"type": "live", "count": 1, "matches": [row]}, NOTICE)
    stage.open()
    ann.page.locator(".toast", has_text=NOTICE["text"]).wait_for()
    assert stage.of("watch") == []
    release()
    wait_for(lambda: [request["match"] for request in stage.of("watch")] == ["m1"], ann)

    release = ann.hold("more.js")
    offer = {"side": 0, "kind": "draw", "seq": 2}
    declined = {"type": "declined", "match": "tictactoe", "seq": 3, "at_ms": 0, "side": 1, "kind": "draw"}
    Stage(ann, Scene("tictactoe").snapshot(offers=[offer], seq=2), declined, NOTICE).open("/m/tictactoe")
    ann.page.locator(".toast", has_text=NOTICE["text"]).wait_for()
    release()
    ann.page.locator(".toast", has_text="Ben declined the draw.").wait_for()


def test_a_match_that_the_server_took_over_goes_on_though_it_arrives_before_the_later_code(site: Place) -> None:
    ann = site.visitor()
    kept = {"game": "tictactoe", "moves": [4, 0], "level": 3, "isAlone": True, "isRunning": True}
    ann.page.add_init_script(f"sessionStorage.setItem('ttt_net.match', {json.dumps(json.dumps(kept))})")
    release = ann.hold("more.js")
    begun = Scene("tictactoe", (4, 0)).snapshot(
        moves=[], last=None, players=[{"name": "Ann"}, {"name": "R2", "bot": "heuristic"}]
    )
    begun["position"]["ply"] = 0
    stage = Stage(ann, begun, NOTICE)
    stage.open()
    ann.page.locator(".toast", has_text=NOTICE["text"]).wait_for()
    release()
    ann.page.locator(".kept").wait_for()
    ann.play(8)
    wait_for(lambda: [request["move"] for request in stage.of("play")] == [8], ann)
