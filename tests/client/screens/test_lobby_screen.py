"""The lobby: its rows, its keys, and the screen of somebody who waits for an opponent."""

from dataclasses import replace

import pytest
from msgspec import structs

from tests.client.pressing import SEEK, drawn, keys_of, lobby, pressed
from tests.client.samples import (
    ANN,
    BEN,
    BLITZ,
    BOT,
    CHALLENGED,
    HISTORY,
    LIVE,
    PLAYERS,
    PROFILE,
    SEEKS,
    knowing,
    snapshot,
    welcome,
)
from ttt_net.client import words
from ttt_net.client.act import act, command_for
from ttt_net.client.bot.house import CHARACTERS
from ttt_net.client.display import AnyCommand, Command, Display, Open, Page, Pick, Send, Show, Type
from ttt_net.client.drawing.board import target_at
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens import replay_screen
from ttt_net.client.screens.lobby_screen import featured_watched
from ttt_net.client.screens.offers import free_bots
from ttt_net.client.update import update
from ttt_net.clock import TimeControl
from ttt_net.messages import (
    AcceptRequest,
    AnswerRequest,
    ChallengeAccepted,
    Challenged,
    ChallengeOver,
    ChallengeRequest,
    Ended,
    InvitationReply,
    JoinRequest,
    ListedPlayer,
    LiveList,
    LiveMatch,
    Opponents,
    OutcomeInfo,
    PlayerInfo,
    PlayerList,
    ProfileRequest,
    Refused,
    ReplayReply,
    Request,
    SeekInfo,
    SeekList,
    SeekRequest,
    Snapshot,
    Suggestion,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.sdk.received import Answered, Lost


def test_own_matches_come_first_and_then_what_can_be_answered_accepted_and_watched() -> None:
    display, _ = pressed(lobby(snapshot(), SEEKS, PLAYERS, LIVE, CHALLENGED), "escape")
    assert keys_of(display) == [
        "own:m1", "challenge:5", "seek:7", "player:Cleo", "player:alphabeta", "live:m9"
    ]  # fmt: skip


def test_a_wide_lobby_has_people_at_left_and_matches_at_right_below_a_picture_of_our_own() -> None:
    display, _ = pressed(lobby(snapshot("connect4", [38], opponent=BEN), SEEKS, PLAYERS, LIVE), "escape")
    lines = drawn(display, (120, 40)).split("\n")
    line = next(line for line in lines if "Your matches" in line)
    assert line.index("Your match: Connect Four") > 60, "its picture stands beside the list"
    heading = next(line for line in lines if "Being played" in line)
    assert heading.index("Being played") > 60
    assert sum(line.startswith("> ") for line in lines) == 1
    assert sum("> " in line[60:] and "(you)" not in line for line in lines) == 0, "there is one cursor"
    narrow = drawn(display, (99, 40)).split("\n")
    assert [line.startswith("Being played ─") for line in narrow if "Being played" in line] == [True]
    last = pressed(display, "end")[0]
    row = next(line for line in drawn(last, (120, 40)).split("\n") if "> Ben - " in line)
    assert row.index("> ") > 55, "the cursor goes on in the right column"
    page = draw(display, (120, 40), 0, BOXES)
    listed = next(number for number, line in enumerate(page.plain.split("\n")) if "Gomoku" in line)
    assert target_at(page, 80, listed) == Pick("live:m9")
    board = next(number for number, line in enumerate(page.plain.split("\n")) if "██" in line[70:])
    assert target_at(page, 90, board) == Show("m1"), "a click on the picture opens the match"


def with_picture() -> tuple[Display, tuple[Request, ...]]:
    """Return the lobby in a window that has room for the featured match, and what it requests."""
    return featured_watched(pressed(lobby(SEEKS, PLAYERS, LIVE), "escape")[0], has_room=True)


def test_a_wide_lobby_watches_the_featured_match_as_a_picture() -> None:
    display, requests = with_picture()
    assert requests == (WatchRequest(0, match="m9"),)
    assert featured_watched(display, has_room=True) == (display, ()), "once"
    display = update(display, featured(), 0)
    assert (display.page.screen, display.shown, display.notice) == ("lobby", None, "")
    lines = drawn(display, (120, 40)).split("\n")
    heading = next(number for number, line in enumerate(lines) if "Featured: Connect Four" in line)
    assert "Cleo" in lines[heading + 1]
    page = draw(display, (120, 40), 0, BOXES)
    board = next(number for number, line in enumerate(page.plain.split("\n")) if "██" in line[70:])
    assert target_at(page, 90, board) == Send(WatchRequest(0, match="m9")), "a click on the picture opens the match"
    assert "Featured" not in drawn(display, (80, 24))
    opened, requests = pressed(display, "w")
    assert (opened.page.screen, opened.shown, opened.featured, requests) == ("match", "m9", None, ())
    left, requests = pressed(opened, "escape")
    assert (left.page.screen, requests) == ("lobby", (UnwatchRequest(0, match="m9"),))


def test_a_crowded_lobby_watches_no_match_and_leaves_the_one_it_watched() -> None:
    display = update(with_picture()[0], featured(), 0)
    crowded = update(display, structs.replace(PLAYERS, online=101), 0)
    assert featured_watched(crowded, has_room=True)[1] == (UnwatchRequest(0, match="m9"),)
    few = update(display, structs.replace(PLAYERS, online=100), 0)
    assert featured_watched(few, has_room=True) == (few, ())


def test_the_picture_of_a_finished_match_stays_until_another_one_is_being_played() -> None:
    display = update(with_picture()[0], featured(), 0)
    display = update(display, Ended("m9", 9, 0, 0, "resign"), 0)
    assert (display.notice, featured_watched(display, has_room=True)[1]) == ("", ())
    gone = update(display, LiveList(0, []), 0)
    assert featured_watched(gone, has_room=True) == (gone, ())
    assert "Featured: Connect Four" in drawn(gone, (120, 40))
    other = update(display, LiveList(1, [LiveMatch("m8", "gomoku", (ANN, BOT), 3, 0)]), 0)
    other, requests = featured_watched(other, has_room=True)
    assert requests == (UnwatchRequest(0, match="m9"),)
    assert featured_watched(other, has_room=True)[1] == (WatchRequest(0, match="m8"),)


def test_the_picture_of_an_abandoned_match_goes_when_the_lists_drop_it() -> None:
    display = update(with_picture()[0], featured(), 0)
    unlisted = update(display, LiveList(0, []), 0)
    left, requests = featured_watched(unlisted, has_room=True)
    assert requests == (UnwatchRequest(0, match="m9"),)
    assert "Featured" not in drawn(left, (120, 40))


def test_without_room_or_with_a_match_of_ours_nothing_is_watched_for_a_picture() -> None:
    display = update(with_picture()[0], featured(), 0)
    assert featured_watched(display, has_room=False)[1] == (UnwatchRequest(0, match="m9"),)
    assert featured_watched(lobby(LIVE, snapshot()), has_room=True)[1] == ()
    ours = update(display, snapshot(opponent=BEN), 0)
    assert (ours.shown, ours.featured, ours.world.watching) == ("m1", None, None), "our own match comes first"
    refused = update(display, Answered(WatchRequest(0, match="m9"), Refused(1, "unknown_match", "it is gone")), 0)
    assert (refused.notice, featured_watched(refused, has_room=True)[1]) == ("", ()), "and it is not asked for again"


def test_watching_another_match_ends_the_picture() -> None:
    display = update(with_picture()[0], featured(), 0)
    shown, requests = act(display, Send(WatchRequest(0, match="m8")), SEEK)
    assert requests == (UnwatchRequest(0, match="m9"), WatchRequest(0, match="m8"))
    assert (shown.featured, shown.world.watching, "m9" in shown.world.matches) == (None, "m8", False)


def featured() -> Snapshot:
    """Return the featured match as a watcher receives it."""
    match = snapshot("connect4", [38, 31, 37], opponent=BEN)
    return structs.replace(match, match="m9", you=None, players=(PlayerInfo("Cleo"), BEN))


def test_waiting_people_are_listed_in_one_section_only() -> None:
    assert keys_of(lobby(PLAYERS)) == ["player:Ben", "player:Cleo", "player:alphabeta"]
    assert keys_of(lobby(PLAYERS, SEEKS)) == ["seek:7", "player:Cleo", "player:alphabeta"]


def test_whose_turn_it_is_is_seen_however_much_others_do() -> None:
    busy = PlayerList(
        2, [ListedPlayer("Ann"), ListedPlayer("tactics", "tactics", 1, ["tictactoe", "gomoku", "connect4", "qubic"])]
    )
    display, _ = pressed(lobby(snapshot(opponent=BEN), busy, LIVE), "escape")
    page = draw(display, (80, 24), 0, BOXES).plain
    for said in ("against Ben", "your turn", "Gomoku and 2 more, in 1 match", "move 13"):
        assert said in page, said


def test_a_match_of_ours_is_gone_on_with_and_never_watched() -> None:
    ours = LiveList(2, [LiveMatch("m1", "tictactoe", (ANN, BOT), 3, 0), *LIVE.matches])
    display, _ = pressed(lobby(snapshot(), ours), "escape")
    assert keys_of(display) == ["own:m1", "live:m9"]
    assert pressed(display, "w")[1] == (WatchRequest(0, match="m9"),)
    for asked in (WatchRequest(0, match="m1"), WatchRequest(0, match="m1", code="K7QMX2")):
        shown, requests = act(display, Send(asked), SEEK)
        assert (shown.page.screen, shown.shown, requests) == ("match", "m1", ())
    refused = Answered(WatchRequest(0, match="m1"), Refused(1, "seated", "you play in this match"))
    display = update(replace(display, world=replace(display.world, watching="m1")), refused, 0)
    assert (display.world.watching, keys_of(display)) == (None, ["own:m1", "live:m9"]), "it came after we had asked"


def test_v_opens_the_profile_on_every_row_about_a_player() -> None:
    display, _ = pressed(lobby(snapshot(opponent=BEN)), "escape")
    assert pressed(display, "v")[1] == (ProfileRequest(0, name="Ben"),)
    assert pressed(lobby(CHALLENGED), "v")[1] == (ProfileRequest(0, name="Ben"),)
    assert pressed(lobby(Challenged(6, ANN, BEN, "connect4", 30_000)), "v")[1] == (ProfileRequest(0, name="Ben"),)
    assert pressed(lobby(SEEKS), "v")[1] == (ProfileRequest(0, name="Ben"),)
    assert command_for("v", lobby(LIVE)) is None


def test_the_lobby_says_whose_move_a_match_of_ours_waits_for_instead_of_offering_another() -> None:
    for moves, said in (([38, 31], "Ben waits for your move."), ([38], "Your match continues.")):
        display, _ = pressed(lobby(PLAYERS, snapshot("connect4", moves, opponent=BEN)), "escape")
        assert said in drawn(display)
        assert "p finds an opponent" not in drawn(display)


def test_a_seeker_of_one_game_is_challenged_to_it_by_default() -> None:
    for player, game in (("Ben", "connect4"), ("Cleo", "tictactoe")):
        display = lobby(PlayerList(2, [each for each in PLAYERS.players if each.name == player]))
        assert pressed(display, "c-m", "c-m")[1] == (
            ChallengeRequest(0, name=player, game=game, rated=True, or_casual=True),
        )
        assert pressed(display, "c-m", "5")[1] == (
            ChallengeRequest(0, name=player, game="gomoku", rated=True, or_casual=True),
        )


def test_a_seek_on_the_list_is_accepted_with_one_key() -> None:
    assert pressed(lobby(SEEKS), "c-m")[1] == (AcceptRequest(0, seek=7),)


def test_the_cursor_stays_with_its_row_while_others_come_and_go() -> None:
    display, _ = pressed(lobby(PLAYERS), "down")
    display = update(display, SEEKS, 0)
    page = draw(display, (80, 24), 0, BOXES).plain
    assert "> Cleo" in page
    display = update(display, PlayerList(1, [ListedPlayer("Ben")]), 0)
    assert "> Ben" in draw(display, (80, 24), 0, BOXES).plain, "the nearest when its row is gone"


def test_tab_goes_from_section_to_section() -> None:
    display = lobby(SEEKS, PLAYERS, LIVE)
    rows = []
    for _ in range(4):
        display, _ = pressed(display, "c-i")
        rows.append(display.page.row)
    assert rows == ["player:Cleo", "live:m9", "seek:7", "player:Cleo"]


def test_escape_stops_the_search() -> None:
    display, _ = pressed(lobby(), "p", "1")
    display, requests = pressed(display, "escape")
    assert (display.world.seeking, requests) == (None, (UnseekRequest(0),))
    assert pressed(display, "escape")[1] == ()


def test_a_player_is_challenged_with_two_keys_and_a_bot_only_to_what_it_plays() -> None:
    display, requests = pressed(lobby(PLAYERS), "c-m", "1")
    assert requests == (ChallengeRequest(0, name="Ben", game="tictactoe", rated=True, or_casual=True),)
    bots = PlayerList(1, [ListedPlayer("alphabeta", "alphabeta", 0, ["connect4"])])
    display, _ = pressed(lobby(bots), "c-m")
    assert keys_of(display) == ["game:connect4", "other"]


def test_a_challenge_is_said_counted_down_and_answered() -> None:
    display = lobby(CHALLENGED)
    assert words.notice(display) == "Ben challenges you: Connect Four, 3+2."
    assert "29 s left" in draw(display, (80, 24), 1_000, BOXES).plain
    assert pressed(display, "a")[1] == (AnswerRequest(0, challenge=5, accept=True),)
    assert pressed(display, "d")[1] == (AnswerRequest(0, challenge=5, accept=False),)
    assert pressed(display, "c-m")[1] == (AnswerRequest(0, challenge=5, accept=True),)
    assert keys_of(update(display, ChallengeOver(5, "expired"), 0)) == []
    display, requests = pressed(lobby(), "a")
    assert requests == ()
    assert words.notice(display) == "Nobody challenges you at the moment."


def test_a_challenge_that_was_accepted_is_gone_and_a_match_that_begins_takes_no_other_away() -> None:
    display = lobby(CHALLENGED, Challenged(6, ANN, BEN, "connect4", 30_000))
    for event in (ChallengeAccepted(5), snapshot("connect4")):
        display = update(display, event, 0)
    assert [each.challenge.challenge for each in display.world.lobby.challenges] == [6]


def test_the_end_of_our_challenge_is_shown_and_we_can_withdraw_it() -> None:
    display = lobby(Challenged(6, ANN, BEN, "connect4", 30_000))
    assert pressed(display, "c-m")[1] == (AnswerRequest(0, challenge=6, accept=False),)
    display = update(display, ChallengeOver(6, "later"), 0)
    assert words.notice(display) == "Ben would rather play later."


def test_an_invitation_that_waits_is_found_again_in_the_lobby_until_it_is_too_old() -> None:
    display, _ = pressed(update(lobby(), InvitationReply("K7QMX2", "connect4", 600_000), 1_000), "escape")
    page = draw(display, (80, 24), 61_000, BOXES).plain
    assert "you invited a friend  Connect Four  code K7QMX2, 9 min left" in page
    assert "Enter show code" in page
    assert pressed(display, "c-m")[0].page.screen == "invitation"
    assert "K7QMX2" not in draw(display, (80, 24), 601_000, BOXES).plain
    for match, is_still_good in (
        (snapshot(), True),
        (structs.replace(snapshot(), private=True, code="ABCDEF"), True),
        (structs.replace(snapshot(), private=True, code="K7QMX2"), False),
    ):
        back, _ = pressed(update(display, match, 2_000), "escape")
        assert ("code K7QMX2" in draw(back, (80, 24), 2_000, BOXES).plain) == is_still_good


def test_requests_of_a_page_and_an_invitation_survive_a_reconnect() -> None:
    invited = lobby(PLAYERS, CHALLENGED, InvitationReply("K7QMX2", "connect4", 600_000))
    finished = snapshot("connect4", [38, 31, 37, 30, 36, 29, 35])
    pages: list[tuple[Display, AnyCommand, WorldEvent, str]] = [
        (lobby(PROFILE), Open(Page("profile", about="Ben")), PROFILE, "12 won"),
        (lobby(), Open(Page("history")), HISTORY, "against Ben"),
        (
            lobby(finished),
            replay_screen.STEP_THROUGH.command,
            ReplayReply("m1", 0, [finished.position], 7),
            "Move 0 of 7",
        ),
    ]
    for display, command, told, shown in pages:
        display = update(act(display, command, SEEK)[0], told, 0)
        assert shown in draw(display, (80, 24), 0, BOXES).plain
        for event in (Lost("the connection broke"), welcome()):
            display = update(display, event, 0)
        assert shown in draw(display, (80, 24), 0, BOXES).plain
    again = update(pressed(invited, "escape")[0], welcome(), 0)
    assert keys_of(again) == ["invitation:"], "the lists are told anew, and a challenge has ended"


def test_text_scrolls_where_it_does_not_fit() -> None:
    display = lobby(InvitationReply("K7QMX2", "connect4", 600_000))
    assert "private match" not in draw(display, (40, 12), 0, BOXES).plain
    for _ in range(20):
        display, _ = pressed(display, "down")
    assert "private match" in " ".join(draw(display, (40, 12), 0, BOXES).plain.split())
    for _ in range(20):
        display, _ = pressed(display, "up")
    assert "K 7 Q M X 2" in draw(display, (40, 12), 0, BOXES).plain


def test_the_line_of_keys_says_what_enter_does_with_a_challenge() -> None:
    assert "Enter accept  d decline" in draw(lobby(CHALLENGED), (80, 24), 0, BOXES).plain
    ours = lobby(Challenged(6, ANN, BEN, "connect4", 30_000))
    assert "Enter take back" in draw(ours, (80, 24), 0, BOXES).plain
    elsewhere = lobby(snapshot(), CHALLENGED, SEEKS)
    assert "a accept  d decline" in draw(pressed(elsewhere, "escape")[0], (80, 24), 0, BOXES).plain


def test_a_code_is_typed_and_sent() -> None:
    _, requests = pressed(lobby(), "c", *"k7qmx2", "c-m")
    assert requests == (JoinRequest(0, code="K7QMX2"),)
    display, requests = pressed(lobby(), "c", "k", "escape")
    assert (display.typed, requests) == ("", ())


def test_pasted_text_is_a_code_in_the_lobby_and_ignored_after_a_match() -> None:
    pasted, _ = act(lobby(), Type("BCD234"), SEEK)
    assert "Code or link: BCD234_" in drawn(pasted)
    assert pressed(pasted, "c-m")[1] == (JoinRequest(0, code="BCD234"),)
    assert act(lobby().with_page(Page("history")), Type("b2"), SEEK)[0].typed == ""
    playing = lobby(snapshot(opponent=BEN))
    assert act(playing, Type("b2"), SEEK)[0].typed == "b2"
    over = update(playing, structs.replace(snapshot(opponent=BEN), outcome=OutcomeInfo(0, "resign")), 0)
    assert (over.page.screen, act(over, Type("b2"), SEEK)[0].typed) == ("match", "")


def test_a_match_is_watched_with_one_key_from_anywhere_in_the_lobby() -> None:
    assert pressed(lobby(PLAYERS, LIVE), "w")[1] == (WatchRequest(0, match="m9"),)
    assert pressed(lobby(LIVE), "c-m")[1] == (WatchRequest(0, match="m9"),)


@pytest.mark.parametrize("size", [(24, 8), (40, 12), (80, 24), (200, 60)])
def test_a_long_lobby_fits_every_window_and_shows_the_cursor(size: tuple[int, int]) -> None:
    many = PlayerList(100, [ListedPlayer(f"player {n:03}") for n in range(100)])
    display = lobby(many)
    for _ in range(3):
        display, _ = pressed(display, *["pagedown"] * 3)
        lines = draw(display, size, 0, BOXES).split("\n", allow_blank=True)
        assert len(lines) == size[1]
        assert max(line.cell_len for line in lines) <= size[0]
        assert sum(line.plain.startswith("> ") for line in lines) == 1


CROWD = PlayerList(
    160,
    [
        *(ListedPlayer(f"Player{n:02}", rating=1_900 - n if n % 2 else None) for n in range(30)),
        *(ListedPlayer(f"Busy{n}", "random", 1, [], n, 1, 0) for n in range(1, 4)),
    ],
)


def test_a_long_section_and_busy_bots_are_folded_until_they_are_asked_for() -> None:
    display = lobby(CROWD)
    folded = keys_of(display)
    assert folded == [*(f"player:Player{n:02}" for n in range(8)), "more:player", "more:busy"]
    assert "Players (160)" in drawn(display)
    assert "22 more" in drawn(display)
    assert "3 bots without a free place" in drawn(display)
    whole, _ = pressed(display, "end", "up", "c-m")
    assert [each for each in keys_of(whole) if not each.startswith("player:Player")] == ["more:busy"]
    assert len(keys_of(whole)) == 31
    assert "> Player08" in drawn(whole), "the cursor is on the first that came to light"
    assert keys_of(pressed(whole, "end", "c-m")[0])[-3:] == ["player:Busy1", "player:Busy2", "player:Busy3"]


def test_the_lobby_is_filtered_as_one_types_until_escape() -> None:
    display, _ = pressed(lobby(SEEKS, CROWD, LIVE), "/", "r", "1", "8")
    assert keys_of(display) == ["player:Player18"]
    assert "Only: r18_" in drawn(display)
    chosen, _ = pressed(display, "c-m")
    assert (chosen.page.screen, chosen.page.about) == ("games", "Player18")
    cleared, requests = pressed(display, "escape")
    assert (requests, keys_of(cleared)) == ((), keys_of(lobby(SEEKS, CROWD, LIVE)))
    kept, _ = pressed(lobby(SEEKS, CROWD, LIVE), "/", *"gomoku", "down")
    assert keys_of(kept) == ["live:m9"]
    assert "Only: gomoku (Esc: all)" in drawn(kept)
    assert pressed(kept, "w")[1] == (WatchRequest(0, match="m9"),), "keys are commands again"
    assert keys_of(pressed(kept, "/", "backspace", *"x")[0]) == []
    assert "Nothing in the lobby has gomokx." in drawn(pressed(kept, "/", "backspace", *"x")[0])
    whole, requests = pressed(kept, "escape")
    assert (whole.world.seeking, requests) == (kept.world.seeking, ()), "the search goes on"
    assert len(keys_of(whole)) > 1


def test_the_strongest_come_first_where_that_is_wanted() -> None:
    players = [ListedPlayer("Ann"), ListedPlayer("Ben", rating=1_500), ListedPlayer("Cleo", rating=1_700)]
    seeks = [
        SeekInfo(n, PlayerInfo(f"P{n}", rating=rating), ["connect4"]) for n, rating in enumerate([1_400, None, 1_800])
    ]
    display = lobby(SeekList(3, seeks), PlayerList(3, players))
    usual = keys_of(display)
    strongest, _ = pressed(display, "s")
    assert keys_of(strongest) == ["seek:2", "seek:0", "seek:1", "player:Cleo", "player:Ben"]
    assert "Strongest first (s: as before)" in drawn(strongest)
    assert keys_of(pressed(strongest, "s")[0]) == usual == ["seek:0", "seek:1", "seek:2", "player:Ben", "player:Cleo"]


def test_a_row_that_needs_more_room_than_its_column_has_cuts_nothing_of_another_section() -> None:
    names = (PlayerInfo("A name of twenty on X"), PlayerInfo("A name of twenty on O"))
    seeks = SeekList(1, [SeekInfo(1, BEN, ["connect4+swap"], TimeControl(180_000, 2_000), True, min_rating=1_500)])
    text = drawn(lobby(seeks, LiveList(1, [LiveMatch("m9", "ultimate", names, 12, 3)])))
    assert "Ben  Connect Four with swap  3+2, rated, from 1500" in text


def test_escape_in_the_lobby_goes_back_only_to_where_one_has_been() -> None:
    display, requests = pressed(lobby(), "escape")
    assert (display.is_leaving, requests) == (False, ())
    assert "Esc servers" not in draw(display, (120, 40), 0, BOXES).plain
    display = replace(display, has_server_picker=True, world=replace(display.world, seeking=SEEK))
    display, requests = pressed(display, "escape")
    assert (display.is_leaving, requests) == (False, (UnseekRequest(0),))
    assert "Esc servers" in draw(display, (120, 40), 0, BOXES).plain
    display, _ = pressed(display, "escape")
    assert (display.is_leaving, display.is_going_back) == (True, True)


WON = [4, 0, 2, 1, 6]


def bots(*listed: ListedPlayer, online: int = 2) -> PlayerList:
    return PlayerList(online, [ListedPlayer("Ann"), *listed])


def test_seekers_are_immediately_shown_the_key_for_playing_a_bot() -> None:
    display = update(lobby(), bots(ListedPlayer("alphabeta", "alphabeta", 0, [], level=5, places=4, free=3)), 0)
    display, _ = pressed(display, "p", "t", "t", "6")
    for width in (80, 40):
        page = draw(display, (width, 16), 0, BOXES).plain
        assert "Looking for a person: Connect Four, 3+2, rated or casual ..." in page or width == 40
        assert "Play a bot right away: press b" in page
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


def test_an_idle_lobby_lists_bots_by_level_and_plays_them_by_b_and_by_digits() -> None:
    display = update(lobby(), bots(ROB, TOM, MIA), 0)
    page = drawn(display)
    assert page.index("Mia") < page.index("Tom") < page.index("Rob")
    assert "p finds an opponent, b or 1-8 a bot" in page
    assert pressed(display, "3")[1] == (ChallengeRequest(0, name="Tom", game="tictactoe"),)
    assert pressed(display, "7")[1] == (ChallengeRequest(0, name="Mia", game="tictactoe", level=7),)
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="Mia", game="tictactoe"),)
    assert "1-8" not in drawn(update(lobby(), bots(ROB), 0)).partition("\n\nPlayers")[0]


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


def test_descriptions_of_house_bots_fit_80_columns() -> None:
    told = [
        ListedPlayer(each.name, each.label, 0, [], level=each.level, any_level=True, about=each.about)
        for each in CHARACTERS
    ]
    for clock in ((), ("t", "t")):
        display, _ = pressed(update(lobby(), bots(*told), 0), "p", *clock, "1")
        assert ("3+2" in drawn(display)) is bool(clock)
        for each in CHARACTERS:
            assert each.about in drawn(display)


def test_after_some_seconds_alone_the_offer_names_the_bot_that_the_server_suggests() -> None:
    display, _ = pressed(update(lobby(), bots(MIA, TOM), 0), "p", "1")
    assert "Looking for a person: Tic-tac-toe ..." in drawn(display)
    display = update(display, Suggestion([TOM, MIA]), 0)
    assert "Nobody yet. Press b to play Tic-tac-toe against Tom [bot, level 3]." in drawn(display)
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="Tom"),)
    gone = update(display, bots(MIA), 0)
    assert "Nobody yet. Press b to play Tic-tac-toe against Mia [bot, level 1]." in drawn(gone)


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
    assert "Looking for a person; n stops, b plays" in draw(display, (40, 16), 0, BOXES).plain
    page = drawn(display)
    assert "n stop looking" in page
    stopped, requests = pressed(display, "n")
    assert requests == (UnseekRequest(0),)
    assert "n new game" in drawn(stopped)
    assert "Looking for" not in drawn(stopped)
    assert pressed(display, "b")[1] == (ChallengeRequest(0, name="tactics"),)
    assert "Looking for a person; n stops." in drawn(update(display, bots(), 0))
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


def test_the_accepted_opponents_stay_as_requested() -> None:
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
