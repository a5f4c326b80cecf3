"""Screens as plain text, kept in `goldens`; `UPDATE_GOLDENS=1 pytest` writes them anew, to be read before a commit."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.client.drawing.screens import DRAW, FOUR, SCREENS, doing, with_blocks
from tests.client.pressing import SEEK, done, seen
from tests.client.samples import (
    BEN,
    BOT,
    CHALLENGED,
    PLAYERS,
    SEEKS,
    knowing,
    layered,
    position_after,
    snapshot,
    welcome,
)
from ttt_net.client import words
from ttt_net.client.act import act, command_for
from ttt_net.client.display import Begin, Choose, Command, Display, Entry, Overlay, Point, Send, Type
from ttt_net.client.drawing.board import draw_board, target_at, without_targets
from ttt_net.client.drawing.draw import cut, draw, grounded
from ttt_net.client.drawing.glyphs import ASCII, BOXES, CONSOLE, Glyphs, encodable, glyphs_for
from ttt_net.client.drawing.sheet import aim, large_clock, target_of
from ttt_net.client.drawing.themes import DARK, Depth, theme_for
from ttt_net.client.mailbox import Key
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.games.notation import labels_of
from ttt_net.messages import (
    AwayInfo,
    Chatted,
    ClaimRequest,
    ClockInfo,
    LiveList,
    LiveMatch,
    OfferInfo,
    PlayerInfo,
    TournamentPlace,
    WatchRequest,
)
from ttt_net.sdk.received import Lost, Tally

GOLDENS = Path(__file__).parent / "goldens"
THEMED = replace(BOXES, theme=DARK)
LARGE, ROOMY, COMPACT = (120, 40), (80, 24), (40, 12)


OTHER_SIZES = [
    *(("lobby", LARGE), ("start-of-gomoku", LARGE), ("moves-and-chat", COMPACT)),
    *(("lobby", COMPACT), ("profile", COMPACT), ("connect4-clock", COMPACT), ("tournament", COMPACT)),
]
"""Screens at other sizes than the usual one: a roomy list and board, and crowded ones."""


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, ROOMY) for name in SCREENS), *OTHER_SIZES],
    ids=lambda value: value if isinstance(value, str) else f"{value[0]}x{value[1]}",
)
def test_a_screen_is_as_it_was_looked_at_and_found_good(name: str, size: tuple[int, int]) -> None:
    display, glyphs = SCREENS[name]
    page = draw(display, size, 0, glyphs).plain + "\n"
    golden = GOLDENS / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(page, encoding="utf-8")
    assert page == golden.read_text(encoding="utf-8")


def test_a_heading_does_not_colour_the_row_in_the_column_beside_it() -> None:
    live = LiveList(3, [LiveMatch(f"m{n}", "gomoku", (BEN, BOT), n, n, None) for n in range(3)])
    page = draw(seen(CHALLENGED, SEEKS, live), LARGE, 0, THEMED)
    line = next(line for line in page.split("\n") if "Waiting for an opponent" in line.plain)
    assert "Ben - alphabeta" in line.plain
    style = line.get_style_at_offset(Console(), line.plain.index("Gomoku"))
    assert (style.bold, style.color) == (False, None)


def test_no_text_of_a_theme_has_the_colour_of_the_terminal_which_may_be_that_of_the_ground() -> None:
    for name, (display, glyphs) in SCREENS.items():
        if not glyphs.is_ascii:
            page = grounded(draw(display, ROOMY, 0, THEMED), ROOMY, THEMED)
            assert not any("default" in str(span.style) for span in page.spans), name


def test_a_small_window_names_what_a_list_without_a_status_is_of() -> None:
    assert draw(SCREENS["profile"][0], COMPACT, 0, BOXES).plain.split("\n")[0].startswith("Ben")


def test_discs_of_a_console_without_quarter_blocks_do_not_touch() -> None:
    glyphs = replace(CONSOLE, theme=theme_for("dark", Depth.SIXTEEN))
    board = draw_board(seen(snapshot("connect4", FOUR)), 80, 16, glyphs) or []
    assert any("▀▀▀▀" in line.plain for line in board), "the lower half of each second row is free"


def test_a_lobby_with_nobody_in_it_begins_at_the_left_of_a_wide_window() -> None:
    lines = draw(seen(welcome(features=["puzzle"])), LARGE, 0, BOXES).plain.split("\n")
    assert any(line.startswith("> Puzzle of the day") for line in lines)


def test_the_chosen_row_and_the_bars_are_lit_over_the_whole_width() -> None:
    display, _ = SCREENS["leaders"]
    lines = draw(display, ROOMY, 0, THEMED).split("\n", allow_blank=True)
    grounds = [
        {str(span.style).partition("on ")[2] for span in line.spans if "on #" in str(span.style)} for line in lines
    ]
    assert [number for number, each in enumerate(grounds) if each == {DARK.board}] == [0, ROOMY[1] - 1]
    chosen = next(number for number, line in enumerate(lines) if line.plain.startswith("> "))
    assert grounds[chosen] == {DARK.lit}
    assert lines[chosen].cell_len == ROOMY[0]


def test_no_golden_is_left_of_a_screen_that_is_gone() -> None:
    kept = {f"{name}-{ROOMY[0]}x{ROOMY[1]}.txt" for name in SCREENS}
    kept |= {f"{name}-{size[0]}x{size[1]}.txt" for name, size in OTHER_SIZES}
    assert {path.name for path in GOLDENS.iterdir()} == kept


@pytest.mark.parametrize("name", SCREENS)
def test_at_every_size_the_screen_has_as_many_lines_and_none_is_too_wide(name: str) -> None:
    """Each width is tried with every third height, and each height with every third width."""
    display, glyphs = SCREENS[name]
    heights = (1, 5, 7, 8, 10, 12, 15, 16, 20, 24, 40, 60)
    for turn, width in enumerate((1, 10, 23, 24, 30, 39, 40, 60, 79, 80, 133, 200)):
        for height in heights[turn % 3 :: 3]:
            lines = draw(display, (width, height), 0, glyphs).split("\n", allow_blank=True)
            assert len(lines) == height
            assert max(line.cell_len for line in lines) <= width


@pytest.mark.parametrize("name", [name for name in SCREENS if name.endswith("ascii")])
def test_the_ascii_set_draws_nothing_else(name: str) -> None:
    display, glyphs = SCREENS[name]
    display = replace(
        display, world=replace(display.world, matches={key: _in_ascii(display) for key in display.world.matches})
    )
    for size in (ROOMY, COMPACT, (200, 60)):
        assert draw(display, size, 0, glyphs).plain.isascii()


def _in_ascii(display: Display):  # type: ignore[no-untyped-def]  # noqa: ANN202
    assert display.match is not None
    return structs.replace(display.match, game=structs.replace(display.match.game, rule="a rule"))


@pytest.mark.parametrize(
    ("encoding", "is_ascii", "glyphs"),
    [
        ("utf-8", False, BOXES),
        ("utf-8", True, ASCII),
        ("ascii", False, ASCII),
        ("latin-1", False, ASCII),
        ("cp437", False, CONSOLE),
        ("no such encoding", False, ASCII),
        (None, False, ASCII),
    ],
)
def test_the_encoding_decides_what_is_drawn_with(encoding: str | None, is_ascii: bool, glyphs: Glyphs) -> None:
    assert glyphs_for(encoding, is_ascii=is_ascii) is glyphs


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        ("Misère 3×3 名", "utf-8", "Misère 3×3 名"),
        ("Misère 3×3 名", "ascii", "Misere 3x3 ?"),
        ("Misère 3×3 名", "latin-1", "Misère 3×3 ?"),
        ("Misère", None, "Misere"),
        ("Misère", "no such encoding", "??????"),
    ],
)
def test_characters_that_an_encoding_lacks_are_replaced_by_similar_ones(
    text: str, encoding: str | None, shown: str
) -> None:
    assert encodable(text, encoding) == shown


def test_nonsense_about_small_boards_is_left_out() -> None:
    plain = draw(seen(with_blocks("")), ROOMY, 0, BOXES).plain
    for blocks in ("X", "X" * 10, "\x1b" * 9, "." * 9):
        assert draw(seen(with_blocks(blocks)), ROOMY, 0, BOXES).plain == plain


@pytest.mark.parametrize("size", [ROOMY, COMPACT])
def test_the_same_board_reads_the_same_without_colour(size: tuple[int, int]) -> None:
    plain = draw(seen(snapshot(moves=[4, 0])), size, 0, BOXES).plain
    assert plain != draw(seen(snapshot(moves=[0, 4])), size, 0, BOXES).plain, "who is where"
    before = snapshot(moves=[4, 0, 8])
    other = structs.replace(before, last=4)
    assert draw(seen(before), size, 0, BOXES).plain != draw(seen(other), size, 0, BOXES).plain, "which was last"


def test_peers_cannot_reach_the_terminal_through_any_text() -> None:
    evil = "\x1b[2J\x9b31m\x07[bold]\u202e\u200b[/oops]\r\n" * 3
    match = snapshot(opponent=PlayerInfo(evil, evil))
    game = structs.replace(match.game, title=evil, rule=evil, move_names=[evil] * 9)
    position = structs.replace(match.position, board="\x1b\x9b\u202eXO....", marks=(evil, evil))
    match = structs.replace(match, game=game, position=position)
    display = knowing(replace(seen(match), notice=evil), server=evil, trouble=evil)
    for overlay in Overlay:
        page = draw(replace(display, overlay=overlay, choices=(0, 1)), ROOMY, 0, BOXES)
        assert "[bold]" in page.plain or overlay is Overlay.HELP, "markup is text like any other"
        lines = page.plain.split("\n")
        assert len(lines) == 24
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("size", [(200, 60), LARGE, ROOMY, COMPACT], ids=str)
@pytest.mark.parametrize("name", ["start-of-tictactoe", "start-of-connect4", "cube"])
def test_every_cell_and_key_can_be_clicked_where_it_is_seen(name: str, size: tuple[int, int]) -> None:
    display, glyphs = SCREENS[name]
    page = draw(display, size, 0, glyphs)
    lines = page.plain.split("\n")
    aimed = [target_of(span.style) for span in page.spans]
    assert display.match is not None
    cells = {target.cell for target in aimed if isinstance(target, Point)}
    assert cells == set(range(len(display.match.position.board)))
    assert Key("?") in aimed
    row = next(y for y, line in enumerate(lines) if line.endswith("? rules"))
    assert target_at(page, lines[row].index("? rules"), row) == Key("?")
    assert target_at(page, 0, 500) is None
    assert without_targets(page).plain == page.plain


@pytest.mark.parametrize("cursor", [0, 14, 112, 210, 224])
def test_of_a_board_that_does_not_fit_the_part_around_the_cursor_is_shown(cursor: int) -> None:
    page = draw(replace(seen(snapshot("mnk:15x15,5", [112, 113])), cursor=cursor), (24, 9), 0, BOXES)
    aimed = [target_of(span.style) for span in page.spans]
    assert Point(cursor) in aimed
    assert "[" in page.plain
    assert "Part of 15x15" in page.plain


def test_a_click_on_a_wide_letter_counts_its_cells() -> None:
    line = Text("名x")
    aim(line, Key("x"), 1)
    assert [target_at(line, x, 0) for x in range(4)] == [None, None, Key("x"), None]


def test_labels_are_what_the_names_of_the_moves_agree_on() -> None:
    assert labels_of(snapshot().game).columns == ("a", "b", "c")
    assert labels_of(snapshot().game).rows == ("3", "2", "1")
    assert labels_of(snapshot("connect4").game).columns == tuple("1234567")
    assert labels_of(snapshot("connect4").game).rows == ()
    assert labels_of(layered().game).layers == ("1", "2", "3")
    unnamed = structs.replace(snapshot().game, move_names=[f"m{n}!" for n in range(9)])
    assert (labels_of(unnamed).columns, labels_of(unnamed).rows) == ((), ())
    hostile = structs.replace(snapshot("connect4").game, move_names=["\x1b[2J"] * 42)
    assert labels_of(hostile).columns == ()


def test_a_clock_ticks_down_to_tenths() -> None:
    display = seen(snapshot(opponent=BOT, clock=ClockInfo((61_000, 3_600_000), 0)))
    assert "1:01" in draw(display, ROOMY, 999, BOXES).plain.replace("1:00", "1:01")
    assert "0:00.9" in draw(display, ROOMY, 60_100, BOXES).plain
    assert "1:00:00" in draw(display, ROOMY, 0, BOXES).plain


def test_in_a_large_window_both_clocks_have_large_digits_and_ours_is_below() -> None:
    display = seen(snapshot("connect4", opponent=BEN, clock=ClockInfo((175_000, 9_800), 0)))
    page = draw(display, LARGE, 0, BOXES).plain
    theirs, ours = (large_clock(face) for face in ("0:09.8", "2:55"))
    lines = [line[-28:].strip() for line in page.split("\n")]
    first = next(number for number, line in enumerate(lines) if line.endswith(theirs[0].strip()))
    for large, start in ((theirs, first), (ours, first + 5)):
        assert [row.strip() in line for row, line in zip(large, lines[start : start + 3], strict=True)] == [True] * 3
    assert theirs[1].strip() not in draw(display, COMPACT, 0, BOXES).plain
    assert draw(display, LARGE, 0, ASCII).plain.count("2:55") == 1, "in ASCII the small one is enough"


@pytest.mark.parametrize("size", [ROOMY, COMPACT])
def test_marks_are_bright_and_the_walls_around_them_dim(size: tuple[int, int]) -> None:
    display = seen(snapshot("connect4", FOUR[:3]))
    console = Console(width=size[0], color_system="truecolor", force_terminal=True)
    styles = {segment.text.strip(): segment.style for segment in console.render(draw(display, size, 0, BOXES))}
    for mark in "XO":
        style = styles[mark]
        assert style is not None
        assert style.bold
        assert not style.dim


SAVED = "Saved as ttt_net-8nAFhCBs.txt; python -m ttt_net analyse --match ttt_net-8nAFhCBs.txt shows where it turned."


def test_a_long_notice_takes_the_blank_lines_above_it_and_is_cut_with_dots_where_there_are_none() -> None:
    display = replace(seen(snapshot(moves=DRAW)), notice=SAVED)
    lines = draw(display, ROOMY, 0, BOXES).plain.split("\n")
    assert " ".join(lines[-3:-1]) == SAVED
    board = draw(replace(display, notice=""), ROOMY, 0, BOXES).plain.split("\n")
    assert [line for line in lines if "│" in line] == [line for line in board if "│" in line], "the board stays"
    small = draw(display, COMPACT, 0, BOXES).plain.split("\n")
    assert " ".join(small[-5:-1]) == SAVED, "the board is drawn smaller for it"
    assert sum("│" in line for line in small) == 3
    assert draw(display, (24, 8), 0, BOXES).plain.split("\n")[-2].endswith("…")
    lobby = draw(replace(seen(PLAYERS), notice=SAVED), ROOMY, 0, BOXES).plain.split("\n")
    assert " ".join(lobby[-3:-1]) == SAVED
    one_word = draw(replace(display, notice="x" * 100), ROOMY, 0, BOXES).plain.split("\n")
    assert one_word[-3:-1] == ["x" * 80, "x" * 20]


def test_hosts_see_the_command_for_friends_in_any_window() -> None:
    display = knowing(SCREENS["hosting"][0], address="203.0.113.7:8765")
    assert "python client.py 203.0.113.7:8765 --insecure" in " ".join(draw(display, (40, 16), 0, BOXES).plain.split())


def test_both_clocks_are_seen_in_one_line_however_long_the_names() -> None:
    names = (PlayerInfo("alphabeta-13", "alphabeta", 8, 2210), PlayerInfo("Bartholomew-the-3rd"))
    match = structs.replace(snapshot(clock=ClockInfo((178_400, 9_900), 0)), players=names)
    line = draw(seen(match), (40, 12), 0, BOXES).plain.split("\n")[0]
    assert line == "> X alpha [bot]  2:58    O Barth  0:09.9"


def test_however_narrow_a_list_is_the_way_back_is_shown() -> None:
    for name in (
        "games",
        "challenge",
        "invitation",
        "profile",
        "history",
        "leaders",
        "replay",
        "menu-setup",
        "menu-learn",
    ):
        assert "Esc back" in draw(SCREENS[name][0], (40, 12), 0, BOXES).plain.split("\n")[-1], name


def test_however_narrow_a_replay_is_its_keys_are_shown() -> None:
    for width, keys in ((40, "arrows step  Esc back"), (60, "left previous  right next  Esc back")):
        assert draw(SCREENS["replay"][0], (width, 12), 0, BOXES).plain.split("\n")[-1].startswith(keys)


def test_text_above_the_first_selectable_row_is_visible_with_it() -> None:
    page = draw(SCREENS["profile"][0], COMPACT, 0, BOXES).plain
    assert "Online, joined on" in page
    assert "> Matches played" in page


def test_the_results_of_all_matches_are_whole_beside_a_board() -> None:
    display = knowing(seen(snapshot(moves=DRAW)), tally=Tally(won=10, drawn=1, lost=2))
    words = draw(display, ROOMY, 0, BOXES).plain.split()
    assert " ".join(words).count("In all: 10 won, 2 lost,") == 1
    assert "drawn" in words


def test_while_a_move_is_typed_and_while_we_are_asked_the_keys_are_those_that_answer() -> None:
    display = doing(seen(snapshot()), Type("b"))
    assert draw(display, ROOMY, 0, BOXES).plain.split("\n")[-1] == "Enter place  Esc clear"
    display = doing(seen(snapshot()), Command.LEAVE)
    assert draw(display, ROOMY, 0, BOXES).plain.split("\n")[-1] == "y yes  Esc no  w only leave  r only call it off"
    for key in ("y", "Y", "q", "c-m", "w"):
        command = command_for(key, display)
        assert command is not None
        assert doing(display, command).is_leaving
        assert doing(display, command).is_match_kept is (key == "w")
    answer = command_for("x", display)
    assert answer is not None
    assert doing(display, answer).overlay is Overlay.NONE


def test_at_one_keyboard_there_is_no_lobby_to_be_seen_or_opened() -> None:
    display = Display(World(address="this keyboard"), has_lobby=False)
    page = draw(display, ROOMY, 0, BOXES).plain
    assert "Setting up the board" in page
    assert "Lobby" not in page
    assert [command_for(key, display) for key in "picaowhlv"] == [None] * 9
    assert command_for("q", display) is Command.LEAVE


def test_at_one_keyboard_nobody_is_away_looks_on_or_waits_for_a_network() -> None:
    match = structs.replace(snapshot(you=None, present=(True, False)), watchers=1)
    among_others = update(doing(seen(), Send(WatchRequest(0, match="m1"))), match, 0)
    for display, has_others in ((among_others, True), (replace(among_others, has_lobby=False), False)):
        page = draw(replace(display, world=replace(display.world, latency_ms=1)), ROOMY, 0, BOXES).plain
        assert [said in page for said in ("(away)", "1 watching", "1 ms")] == [has_others] * 3


def test_a_sentence_too_long_for_the_line_of_the_status_has_a_second_one_and_then_ends_in_dots() -> None:
    lines = draw(seen(), (30, 20), 0, BOXES).plain.split("\n")
    assert lines[2:4] == ["Welcome, Ann. p finds an", "opponent."]
    lines = draw(seen(), (24, 20), 0, BOXES).plain.split("\n")
    assert lines[2:4] == ["Welcome, Ann. p finds an", "opponent."]
    asked = draw(seen(snapshot("connect4+swap", [36], you=1)), COMPACT, 0, BOXES).plain.split("\n")
    assert asked[1:3] == ["Your turn: place O, or take over X", "(Tab)."]


def test_the_result_stays_above_what_is_wrong_with_the_connection() -> None:
    over = seen(snapshot("connect4", FOUR[:-1]), snapshot("connect4", FOUR), Lost("the connection broke"))
    lines = draw(over, COMPACT, 0, BOXES).plain.split("\n")
    assert lines[1:3] == ["You won: you completed a line.", " Please wait: reconnecting, 0 s"]


def test_nothing_that_needs_the_server_is_offered_after_the_end_while_it_is_gone() -> None:
    over = seen(snapshot("connect4", FOUR), Lost("the connection broke"))
    assert draw(over, ROOMY, 0, BOXES).plain.split("\n")[-1] == "Esc lobby  q leave  ? rules"
    display, requests = done(over, Command.REMATCH)
    assert (display.notice, requests) == ("You can offer a rematch when the server is back.", ())


@pytest.mark.parametrize(("place", "is_away"), [(None, True), (TournamentPlace("BCDFG", 2, 1), False)])
def test_an_opponent_who_leaves_a_finished_match_of_a_tournament_is_not_missed(
    place: TournamentPlace | None, *, is_away: bool
) -> None:
    match = structs.replace(snapshot("connect4", FOUR, opponent=BEN, present=(True, False)), tournament=place)
    assert ("(away)" in draw(seen(match), ROOMY, 0, BOXES).plain) is is_away


def test_players_named_by_their_marks_are_named_once() -> None:
    match = structs.replace(snapshot(), players=(PlayerInfo("X"), PlayerInfo("O", "random")))
    page = draw(seen(match), ROOMY, 0, BOXES).plain
    assert "> X (you)" in page
    assert "  O [bot]" in page


@pytest.mark.parametrize(
    ("game", "claim", "yes"), [("connect4", "c", "d"), ("tictactoe", "C", "d"), ("gomoku", "C", "D")]
)
def test_the_keys_that_are_named_are_those_that_answer(game: str, claim: str, yes: str) -> None:
    away = structs.replace(
        snapshot(game, opponent=BEN, present=(True, False)), away=AwayInfo(1, on_purpose=False, claim_in_ms=0)
    )
    assert f"Ben is away: press {claim} to claim the win." in draw(seen(away), ROOMY, 0, BOXES).plain
    display = seen(snapshot(game, opponent=BEN, offers=[OfferInfo(1, "draw")]))
    assert f"Ben offers a draw: press {yes} to accept, x to decline." in draw(display, ROOMY, 0, BOXES).plain
    assert (command_for(claim, display), command_for(yes, display), command_for("x", display)) == (
        Command.CLAIM,
        Command.DRAW,
        Command.DECLINE,
    )


@pytest.mark.parametrize(("is_rated", "claims"), [(True, 2), (False, 3)])
def test_only_a_casual_match_offers_to_be_adjourned(is_rated: bool, claims: int) -> None:
    away = AwayInfo(1, on_purpose=False, claim_in_ms=0)
    match = structs.replace(
        snapshot(moves=[4, 0, 1, 2], opponent=BEN, present=(True, False)), away=away, rated=is_rated
    )
    display = doing(seen(match), Command.CLAIM)
    page = draw(display, ROOMY, 0, BOXES).plain
    assert "Claim  1: win  2: draw" in page
    assert ("3: adjourn" in page, f"1-{claims} choose" in page) == (not is_rated, True)
    _, requests = act(display, Choose(2), SEEK)
    assert requests == (() if is_rated else (ClaimRequest(0, match="m1", kind="adjourn"),))


def test_watchers_see_that_they_watch_and_only_their_keys() -> None:
    watching = doing(seen(), Send(WatchRequest(0, match="m1")))
    display = update(watching, snapshot("mnk:19x19,5", [180], you=None, opponent=BEN), 0)
    for key in ("c-m", "d", "t", "c", "r", "x", "c-i"):
        command = command_for(key, display)
        assert command is not None
        assert "You are watching" in doing(display, command).notice
    assert "You are watching" in doing(display, Point(3)).notice
    assert command_for("s", display) == Begin(Entry.CHAT), "no move of theirs begins with it"
    assert command_for("b", display) is None
    page = draw(doing(display, Command.HELP, Command.HELP), ROOMY, 0, BOXES).plain
    assert "claim" not in page
    assert "Say something" in page
    assert (
        "Say something"
        not in draw(
            doing(replace(seen(snapshot()), has_lobby=False), Command.HELP, Command.HELP), ROOMY, 0, BOXES
        ).plain
    )


def test_the_list_of_moves_counts_as_the_words_do_and_knows_who_began() -> None:
    page = draw(seen(snapshot(moves=[4, 0, 8])), (80, 24), 0, BOXES)
    assert "1. b2  a3" in page.plain
    assert "3. c1" in page.plain, "the third move, as `Move 3 of 7` has it"
    begun = structs.replace(snapshot(moves=[0]), start="....X....", position=position_after("tictactoe", [4, 0]))
    page = draw(seen(begun), (80, 24), 0, THEMED)
    at = page.plain.index("a3", page.plain.index("Moves"))
    assert Style.parse(DARK.o).color == page.get_style_at_offset(Console(), at).color


def test_a_text_that_is_too_long_is_cut_at_its_semicolon_or_after_a_word() -> None:
    about = "blocks in time, waits for a slip; 520 points above Mia"
    assert cut(about, 40, BOXES).rstrip() == "blocks in time, waits for a slip"
    assert cut(about, 20, BOXES) == "blocks in time…     "
    assert cut("guest-blue-fox", 10, BOXES) == "guest-blu…"
    assert cut(about, 60, BOXES).rstrip() == about


@pytest.mark.parametrize("game", ["connect4", "tictactoe", "tictactoe3d", "ultimate"])
def test_clocks_are_large_in_a_window_of_80_by_24_and_leave_room_for_the_newest_move_and_message(game: str) -> None:
    match = snapshot(game, [38] if game == "connect4" else [0], opponent=BEN, clock=ClockInfo((175_000, 179_000), 0))
    display = update(seen(match), Chatted("m1", "players", BEN, "Good luck!", "good_luck"), 0)
    page = draw(display, ROOMY, 0, BOXES).plain
    for face in ("2:55", "2:59"):
        assert all(line.rstrip() in page for line in large_clock(face)), face
    assert "Good luck!" in page
    newest = words.move_name(match, match.moves[-1])
    assert f"1. {newest}" in page
