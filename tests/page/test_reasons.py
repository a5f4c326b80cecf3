"""Reasons are told in the language of the page, and what a match is played for is chosen."""

from tests.page.place import Place, lie


def test_a_lesson_is_told_in_the_language_of_the_page(place: Place) -> None:
    first, second = place.pair()
    first.page.evaluate("localStorage.setItem('ttt_net.language', 'fr')")
    first.page.reload()
    for turn, cell in enumerate((0, 8, 1, 5, 4, 2)):
        (first, second)[turn % 2].play(cell)
    first.page.locator(".deck.defeat").wait_for()
    first.page.get_by_role("button", name="Où me suis-je trompé").click()
    told = "Coup 5, b2 : vous pouviez gagner tout de suite avec c3."
    first.page.locator(".learnt", has_text=told).wait_for()


def test_between_people_a_match_is_rated_where_both_like_it(place: Place) -> None:
    for visitor in place.pair("connect4"):
        visitor.page.locator("h1", has_text="rated").wait_for()


def test_who_likes_no_ratings_plays_a_casual_match_with_one_who_likes_either(place: Place) -> None:
    ann = place.visitor().prefer("connect4").come("Ann")
    ann.press("Find an opponent")
    ann.page.get_by_role("status").get_by_text("rated or casual").wait_for()
    bob = place.visitor().prefer("connect4").come("Bob")
    bob.page.locator(".entry", has_text="Ann").get_by_text("rated or casual").wait_for()
    bob.page.get_by_role("radio", name="Casual").check()
    bob.press("Find an opponent")
    for visitor in (ann, bob):
        visitor.page.locator("main.match h1", has_text="no clock").wait_for()
        assert "rated" not in visitor.page.locator("h1").inner_text()


def test_a_bot_beside_who_waits_has_its_name_on_one_line(place: Place) -> None:
    bot = {"name": "Tom", "bot": "casual player", "level": 3, "any_level": True, "free": True, "seeking": ["connect4"]}
    ann = place.visitor()
    ann.page.route_web_socket("**", lambda route: lie(route, [{"type": "players", "players": [bot], "online": 1}]))
    ann.prefer("connect4").come("Ann")
    ann.press("Find an opponent")
    ann.page.locator(".waiting .entry").wait_for()
    name, play = (ann.page.locator(f".waiting .entry {each}").bounding_box() for each in (".what", "button"))
    assert name is not None
    assert play is not None
    assert name["height"] < 64
    assert play["width"] < name["width"]
