"""Profiles, histories, rankings and reports: what is asked for, what is shown, what becomes of it."""

from dataclasses import replace

import pytest
from msgspec import structs
from msgspec.structs import replace as replace_reply

from tests.client.pressing import SEEK, done, drawn, keys_of, lobby, pressed, seen
from tests.client.samples import (
    ANN,
    BEN,
    BOT,
    CHALLENGED,
    FINISHED,
    HISTORY,
    LEADERS,
    LIVE,
    PLAYERS,
    PROFILE,
    SEEKS,
    snapshot,
    welcome,
)
from ttt_net.client import words
from ttt_net.client.act import act
from ttt_net.client.display import Open, Page, Send
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import CONSOLE, encodable
from ttt_net.client.lines.typed_lines import command_of
from ttt_net.client.screens.people import THANKS, history_wanted, sparkline
from ttt_net.client.update import update
from ttt_net.errors import Code
from ttt_net.messages import (
    AttendRequest,
    BlockList,
    BlockRequest,
    BlocksRequest,
    ChallengeRequest,
    Ended,
    HeadToHead,
    HistoryReply,
    HistoryRequest,
    LeaderboardRequest,
    MuteRequest,
    Ok,
    PlayedTournament,
    PlayerInfo,
    PlayerRenamed,
    ProfileReply,
    ProfileRequest,
    Rated,
    RatingChange,
    Refused,
    ReportRequest,
    ResumeRequest,
    Sanctioned,
    SeekRequest,
    WatchRequest,
)
from ttt_net.sdk.received import Answered

WON = [4, 0, 2, 1, 6]


def test_a_player_on_the_list_has_a_profile_and_so_have_we() -> None:
    display, requests = pressed(lobby(PLAYERS), "v")
    assert requests == (ProfileRequest(0, name="Ben"),)
    assert "looking it up" in drawn(display)
    display = update(display, PROFILE, 0)
    page = drawn(display)
    for said in ("Ben", "12 won, 1 drawn, 7 lost", "you won 2, drew 0, lost 3", "Connect Four", "1512", "1390?"):
        assert said in page
    deeds = ["history", "challenge", "report"]
    assert keys_of(display) == [*deeds, "rating:connect4:blitz", "rating:gomoku:untimed", "live:m9"]
    assert pressed(display, "down", "c-m", "6")[1] == (
        ChallengeRequest(0, name="Ben", game="connect4", rated=True, or_casual=True),
    )
    assert pressed(display, "end", "c-m")[1] == (WatchRequest(0, match="m9"),)
    assert pressed(lobby(), "o")[1] == (ProfileRequest(0),)
    assert pressed(lobby(SEEKS), "v")[1] == (ProfileRequest(0, name="Ben"),)


def test_the_matches_of_a_profile_are_called_by_who_plays_and_our_own_are_gone_back_to() -> None:
    mine = structs.replace(PROFILE, player=ANN, live=["m1", "m9", "m8"], against=None)
    display = lobby(snapshot(moves=[4], opponent=BEN))
    display = update(update(pressed(display, "escape", "o")[0], LIVE, 0), mine, 0)
    page = drawn(display)
    for said in ("against Ben", "their turn", "Ben - alphabeta [bot]", "A match", "watch it"):
        assert said in page
    assert keys_of(display)[-3:] == ["own:m1", "live:m9", "live:m8"]
    assert pressed(display, "end", "c-m")[1] == (WatchRequest(0, match="m8"),)
    display, requests = pressed(display, "end", "up", "up", "c-m")
    assert (display.page.screen, display.shown, requests) == ("match", "m1", ())


def test_players_without_matches_show_no_zero_counts() -> None:
    new = structs.replace(PROFILE, won=0, drawn=0, lost=0, ratings=[], against=HeadToHead(0, 0, 0), live=[])
    page = drawn(update(pressed(lobby(PLAYERS), "v")[0], new, 0))
    assert "No finished match yet." in page
    assert "0 " not in page.replace("2025-10-09", "")


def test_a_list_without_anything_to_choose_offers_no_choice() -> None:
    display = update(pressed(lobby(), "h")[0], structs.replace(HISTORY, matches=[], before=None), 0)
    assert drawn(display).split("\n")[-1] == "Esc back  q leave  ? keys"


def test_from_a_rating_the_way_leads_to_the_best_at_it_and_back() -> None:
    display = update(pressed(lobby(PLAYERS), "v")[0], PROFILE, 0)
    display, requests = pressed(display, "down", "down", "down", "c-m")
    assert requests == (LeaderboardRequest(0, game="connect4", speed="blitz"),)
    display = update(display, LEADERS, 0)
    assert "Leaderboard: Connect Four, blitz" in drawn(display)
    assert "Your rank: 31" in drawn(display)
    assert pressed(display, "t")[1] == (LeaderboardRequest(0, game="connect4", speed="bullet"),)
    assert pressed(display, "g")[1] == (LeaderboardRequest(0, game="qubic", speed="blitz"),), "the next rated game"
    assert pressed(display, "end", "c-m")[1] == (LeaderboardRequest(0, game="connect4", speed="blitz", page=2),)
    display, _ = pressed(display, "escape")
    assert display.page.screen == "profile"


def test_a_list_that_is_refused_is_empty_and_an_unknown_player_has_no_page() -> None:
    display, (request,) = pressed(lobby(), "l")
    display = update(display, Answered(request, Refused(3, Code.TOO_FAST, "too many questions")), 0)
    assert "Nobody has a rating here yet" in drawn(display)
    display, (request,) = pressed(lobby(PLAYERS), "v")
    display = update(display, Answered(request, Refused(3, Code.UNKNOWN_PLAYER, "nobody is called Ben")), 0)
    assert display.page.screen == "lobby"
    assert words.notice(display) == "Nobody is called Ben."


def test_the_best_are_listed_of_a_game_that_is_rated() -> None:
    seeking = done(lobby(), Send(SeekRequest(0, ["tictactoe"])))[0]
    assert pressed(seeking, "l")[1] == (LeaderboardRequest(0, game="connect4"),)
    seeking = done(lobby(), Send(SeekRequest(0, ["tictactoe", "gomoku"])))[0]
    assert pressed(seeking, "l")[1] == (LeaderboardRequest(0, game="gomoku"),)
    display, (request,) = done(lobby(), Open(Page("leaders", about="tictactoe")))
    display = update(display, Answered(request, Refused(3, Code.ALWAYS_CASUAL, "tictactoe is never rated")), 0)
    assert "This game is never rated." in drawn(display)
    assert "Play a rated match" not in drawn(display)


def test_a_match_of_the_past_is_opened_and_escape_leads_back_to_the_list() -> None:
    display = update(pressed(lobby(), "h")[0], HISTORY, 0)
    assert keys_of(display) == ["match:m5", "match:m4", "older"]
    assert "called off" in drawn(display)
    assert pressed(display, "end", "c-m")[1] == (HistoryRequest(0, name="Ann", before="m4"),)
    display, requests = pressed(display, "c-m")
    assert requests == (ResumeRequest(0, match="m5", seq=0),)
    display = update(display, snapshot(match="m5", moves=WON), 0)
    assert display.page.screen == "match"
    display, _ = pressed(display, "escape")
    assert display.page.screen == "history"
    display = update(display, snapshot(match="m5", moves=WON), 0)
    assert display.page.screen == "history", "a match that we have left comes back only if it is asked for"


def test_a_match_between_others_is_watched_again() -> None:
    other = structs.replace(FINISHED, match="m7", players=(BEN, BOT))
    display = update(pressed(lobby(), "h")[0], structs.replace(HISTORY, player=BEN, matches=[other]), 0)
    assert pressed(display, "c-m")[1] == (WatchRequest(0, match="m7"),)


def test_a_link_is_copied_and_shown() -> None:
    display, _ = pressed(lobby(snapshot(moves=WON)), "y")
    assert display.copied == "http://192.168.1.20:8765/m/m1"
    assert display.copied in words.notice(display)
    display, _ = pressed(lobby(structs.replace(snapshot(moves=WON), code="K7QMX2", private=True)), "y")
    assert display.copied == "http://192.168.1.20:8765/m/m1#K7QMX2"


def test_changes_of_ratings_are_shown_after_a_rated_match() -> None:
    display = lobby(snapshot("connect4", opponent=BEN), Ended("m1", 2, 0, winner=0, reason="resign"))
    display = update(display, Rated("m1", (RatingChange(1500, 1512), RatingChange(1500, 1488, True))), 0)
    assert "X 1512 (+12)" in drawn(display)
    assert "O 1488? (-12)" in drawn(display)


def test_a_rated_game_is_asked_for_with_one_more_key() -> None:
    _, requests = pressed(lobby(), "p", "r", "6")
    assert requests == (SeekRequest(0, ["connect4"], opponents="people", rated=True),)
    assert "Match: rated or casual" in drawn(pressed(lobby(), "p")[0])
    assert "Match: rated\n" in drawn(pressed(lobby(), "p", "r")[0])
    assert "Match: casual\n" in drawn(pressed(lobby(), "p", "r", "r")[0])
    assert pressed(lobby(), "p", "r", "r", "6")[1] == (SeekRequest(0, ["connect4"], opponents="people"),)


@pytest.mark.parametrize("key", ["v", "h", "l", "o", "p", "i"])
def test_every_page_is_one_key_away_and_escape_leads_back(key: str) -> None:
    display, _ = pressed(lobby(PLAYERS, SEEKS, LIVE, CHALLENGED), "c-i", key)
    assert display.page.screen != "lobby"
    assert pressed(display, "escape")[0].page.screen == "lobby"


def test_a_rating_is_drawn_by_the_matches_that_changed_it_once_they_are_told() -> None:
    display, _ = pressed(lobby(PLAYERS), "v")
    assert history_wanted(display, HISTORY) == ()
    display = update(display, PROFILE, 0)
    assert history_wanted(display, PROFILE) == (HistoryRequest(0, name="Ben"),)
    assert "▁" not in drawn(display)
    ratings = [1500, 1524, 1490]
    matches = [
        structs.replace(FINISHED, match=f"m{number}", players=(ANN, structs.replace(BEN, rating=rating)))
        for number, rating in enumerate(ratings)
    ]
    casual = structs.replace(matches[0], rated=False)
    other = structs.replace(matches[0], game="gomoku", time=None, players=(ANN, BEN))
    told = HistoryReply(PROFILE.player, [*reversed(matches), casual, other], None)
    page = drawn(update(display, told, 0))
    assert sparkline([*ratings, 1512]) == "▃█▁▅"
    assert "▃█▁▅" in page, "1500, 1524, 1490, and 1512 now"
    tall = drawn(update(display, told, 0), (80, 30)).split("\n")
    heading = next(
        number for number, line in enumerate(tall) if "Connect Four, blitz: the last 3 rated matches" in line
    )
    bars = [line for line in tall[heading + 2 :] if any(block in line for block in "▁▂▃▄▅▆▇█")]
    assert (bars[0].split()[0], bars[-1]) == ("1524", "  1490 ████████"), "from the largest to the smallest"
    assert bars[0].index("█") == len("  1524 ") + 2, "the second match is the highest"
    assert "rated matches" not in draw(update(display, told, 0), (80, 30), 0, CONSOLE).plain, "it lacks these blocks"
    assert drawn(update(display, structs.replace(told, player=ANN), 0)) == drawn(display), "of somebody else"


def test_bars_of_numbers_that_are_alike_and_without_a_font_for_them() -> None:
    assert sparkline([1500, 1500]) == "▁▁"
    assert sparkline([1, 8]) == "▁█"
    assert encodable(sparkline([1, 4, 8]), "ascii") == "_.^"


MATCH = snapshot("connect4", [38], opponent=BEN)


def test_one_key_at_the_board_reports_the_opponent_with_the_match() -> None:
    display, requests = pressed(lobby(MATCH), "f")
    assert requests == ()
    assert "Report Ben" in drawn(display)
    assert "last lines of chat" in drawn(display)
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


def test_a_profile_lists_tournaments_and_leads_to_them() -> None:
    display, _ = act(lobby(), Open(Page("profile", about="Ben")), SEEK)
    played = [
        PlayedTournament("BCDFG", "Friday", "swiss", "connect4", 1_760_000_000_000, 3, 25),
        PlayedTournament("BCDFH", "Ours", "king", "gomoku", 1_760_000_000_000, 1, 4, over=False, private=True),
    ]
    display = update(display, structs.replace(PROFILE, ratings=[], live=[], tournaments=played), 0)
    shown = drawn(display)
    assert "Friday" in shown
    assert "number 3 of 25" in shown
    assert "number 1 of 4 so far" in shown
    assert "king of the table, Gomoku, private" in shown
    display, requests = pressed(display, "end", "c-m")
    assert requests == (AttendRequest(0, "BCDFH"),)


def test_a_profile_leads_to_a_block_and_back() -> None:
    display, _ = act(lobby(welcome(features=["blocks"])), Open(Page("profile", about="Ben")), SEEK)
    display = update(display, structs.replace(PROFILE, ratings=[], live=[]), 0)
    for on, said, other in ((True, "You have blocked Ben", "Unblock"), (False, "You have unblocked Ben", "Block them")):
        display, requests = pressed(display, "end", "c-m")
        assert requests == (BlockRequest(0, name="Ben", on=on),)
        display = update(display, Answered(requests[0], Ok(7)), 0)
        assert words.notice(display).startswith(said)
        assert other in drawn(display)
    assert "block" not in keys_of(update(pressed(lobby(PLAYERS), "v")[0], PROFILE, 0)), "of an older server"


def test_the_list_of_blocked_players_ends_each_of_them() -> None:
    display = lobby(welcome(features=["blocks"]))
    ours, _ = act(display, Open(Page("profile")), SEEK)
    ours = update(ours, structs.replace(PROFILE, player=ANN, against=None, ratings=[], live=[]), 0)
    display, requests = pressed(ours, "end", "c-m")
    assert requests == (BlocksRequest(0),)
    assert "looking it up" in drawn(display)
    display = update(display, BlockList(["Ben", "Cid"], ["Dan"], everybody=True), 0)
    for key, request in (
        ("blocked:Ben", BlockRequest(0, name="Ben", on=False)),
        ("blocked:Cid", BlockRequest(0, name="Cid", on=False)),
        ("muted:Dan", MuteRequest(0, name="Dan", on=False)),
        ("muted:everybody", MuteRequest(0, name=None, on=False)),
    ):
        assert keys_of(display)[0] == key
        display, requests = pressed(display, "home", "c-m")
        assert requests == (request,)
        display = update(display, Answered(request, Ok(7)), 0)
    assert "Nobody." in drawn(display)


def test_the_opponent_is_blocked_by_their_seat() -> None:
    display, _ = pressed(seen(welcome(features=["seats", "blocks"]), MATCH), "f")
    _, requests = pressed(display, "end", "c-m")
    assert requests == (BlockRequest(0, name="Ben", on=True, match="m1", side=1),)


def test_words_block_and_unblock_where_there_are_only_lines() -> None:
    display = lobby(welcome(features=["blocks"]))
    assert command_of("block Ben B", display, SeekRequest(0)) == Send(BlockRequest(0, name="Ben B", on=True))
    assert command_of("unblock Ben B", display, SeekRequest(0)) == Send(BlockRequest(0, name="Ben B", on=False))
    assert command_of("blocked", display, SeekRequest(0)) == Open(Page("blocks"))
    assert command_of("block", display, SeekRequest(0)) == "Type block and a name."
    assert command_of("block Ben", lobby(), SeekRequest(0)) == "This server has no list of blocked players."


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
            "The host has muted you for 5 min: nobody sees your messages, but you can keep playing. Why: shouting.",
        ),
        (Sanctioned("ban"), "The host has banned you for good: you cannot play on this server."),
        (Sanctioned("mute", 5, lifted=True), "Others can see your messages again."),
    ],
)
def test_the_hosts_decisions_are_shown_with_their_meaning(told: Sanctioned, sentence: str) -> None:
    assert words.notice(update(lobby(MATCH), told, 0)) == sentence
