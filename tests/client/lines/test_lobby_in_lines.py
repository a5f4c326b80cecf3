"""The lobby without a screen: transcripts of what is typed, what is written, and what the server hears."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.client.conftest import RealServer
from tests.client.fake_server import FakeLink, fake_server
from tests.client.lines.paper import plain_at
from tests.client.real_terminal import Open, Terminal
from tests.client.samples import (
    ANN,
    BEN,
    CHALLENGED,
    HISTORY,
    LEADERS,
    LIVE,
    OPENED,
    PLAYERS,
    PROFILE,
    RUNNING,
    SEEKS,
    SUGGESTION,
    played,
    snapshot,
)
from tests.patience import PATIENCE_S
from ttt_net.client.screens.registry import HELP
from ttt_net.clock import TIME_FORM, TimeControl
from ttt_net.errors import Code
from ttt_net.messages import (
    AcceptRequest,
    AnswerRequest,
    AttendRequest,
    ChallengeAccepted,
    ChallengeOver,
    ChallengeRequest,
    ChatRequest,
    Ended,
    HistoryRequest,
    InvitationReply,
    InviteRequest,
    JoinRequest,
    LeaderboardRequest,
    ListedPlayer,
    LiveList,
    LiveMatch,
    LobbyRequest,
    Notice,
    PlayerInfo,
    PlayerList,
    PlayRequest,
    ProfileRequest,
    Refused,
    ResignRequest,
    ResumeRequest,
    RulesRequest,
    SeekList,
    SeekRequest,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
)


async def tells_lists(link: FakeLink) -> None:
    """Tell the lists that are asked for, once."""
    assert (await link.grants(LobbyRequest)).on
    await link.tells(SEEKS, PLAYERS, LIVE)
    assert not (await link.grants(LobbyRequest)).on


async def test_the_list_of_players_is_numbered() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        await paper.shows("Meanwhile type who, games, bot, invite, matches or stop; help lists more.")
        paper.type("who")
        await tells_lists(link)
        await paper.shows("Waiting for an opponent:")
        await paper.shows("1. Ben, Connect Four, 3+2")
        await paper.shows("Type a number to play someone who waits, or to challenge a player.")
        paper.type("9", "1")
        await paper.shows("9 chooses nothing; 1 to 3.")
        accept = await link.hears(AcceptRequest)
        assert accept.seek == 7
        await link.tells(Refused(accept.id, Code.UNKNOWN_SEEK, "that seek is gone"))
        await paper.shows("That seek is gone.")


async def test_a_player_of_the_list_is_challenged_to_a_game_of_a_list() -> None:
    async with fake_server() as server, plain_at(server, "who", "3", "6", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await tells_lists(link)
        await paper.shows("3. Cleo, in 2 matches")
        await paper.shows(
            "Challenge Cleo. Clock: none. Match: rated or casual. "
            "Another game, clock or kind: challenge Cleo mnk:7x7,4 3+2 rated."
        )
        await paper.shows("6. Connect Four, marks fall; four in a row wins")
        challenge = await link.grants(ChallengeRequest)
        assert (challenge.name, challenge.game) == ("Cleo", "connect4")


async def test_the_command_who_filters_a_crowd_and_lists_the_strongest_first() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        busy = [ListedPlayer(f"Busy{n}", "random", 1, [], n, 1, 0) for n in range(1, 4)]
        people = [ListedPlayer(f"Player{n:02}", rating=1_500 + n) for n in range(30)]
        crowd = PlayerList(33, [*people, *busy])
        await paper.shows("Meanwhile type who, games, bot, invite, matches or stop; help lists more.")

        async def told() -> None:
            assert (await link.grants(LobbyRequest)).on
            await link.tells(SeekList(0, []), crowd, LiveList(0, []))
            assert not (await link.grants(LobbyRequest)).on

        paper.type("who")
        await told()
        await paper.shows("1. Player00 1500")
        await paper.shows("12 more: type more.")
        paper.type("more")
        await paper.shows("3 bots without a free place")
        paper.type("who player2 strongest")
        await told()
        await paper.shows("1. Player29 1529")
        paper.type("who busy")
        await told()
        await paper.shows("1. Busy1 [bot, level 1], plays any game, in 1 match, no place free")
        paper.type("who nobody")
        await told()
        await paper.shows("Nothing here has nobody.")


async def test_somebody_whose_name_has_spaces_is_challenged_in_quotes_or_as_listed() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("stop", 'challenge "José María" Connect Four')
        await link.grants(UnseekRequest)
        challenge = await link.grants(ChallengeRequest)
        assert (challenge.name, challenge.game) == ("José María", "connect4")
        here = [ListedPlayer("Ann"), ListedPlayer("Ann Lee"), ListedPlayer("Ann Lees")]
        await link.tells(PlayerList(3, here), replace(CHALLENGED, by=ANN, to=BEN, rated=True))
        await paper.shows("You challenge Ben: Connect Four, 3+2, rated. Type stop to take it back.")
        paper.type("challenge ann lee 3+2")
        challenge = await link.grants(ChallengeRequest)
        assert (challenge.name, challenge.time) == ("Ann Lee", TimeControl(180_000, 2_000))


async def test_our_challenge_is_shown_and_withdrawn() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("stop", "challenge", "challenge Ben Connect Four 3+2 rated")
        await link.grants(UnseekRequest)
        await paper.shows("Type challenge and a name; who lists the players here.")
        challenge = await link.grants(ChallengeRequest)
        assert (challenge.name, challenge.game, challenge.rated) == ("Ben", "connect4", True)
        assert challenge.time == TimeControl(180_000, 2_000)
        await link.tells(replace(CHALLENGED, by=ANN, to=BEN, rated=True))
        await paper.shows("You challenge Ben: Connect Four, 3+2, rated. Type stop to take it back.")
        paper.type("stop")
        assert not (await link.grants(AnswerRequest)).accept
        await link.tells(ChallengeOver(5, "generic"))
        await paper.shows("You took your challenge back.")
        paper.type("stop", "challenge Ben")
        await paper.shows("There is nothing to stop; quit leaves.")
        await link.grants(ChallengeRequest)
        await link.tells(replace(CHALLENGED, by=ANN, to=BEN, game="tictactoe", time=None))
        await paper.shows("You challenge Ben: Tic-tac-toe. Type stop to take it back.")
        await link.tells(ChallengeAccepted(5), snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("stop")
        await paper.shows("There is nothing to stop; quit leaves.")


async def test_a_line_for_the_match_waits_until_the_challenge_is_accepted() -> None:
    async with fake_server() as server, plain_at(server, "challenge Ben", "5", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(ChallengeRequest)
        await link.tells(replace(CHALLENGED, by=ANN, to=BEN), ChallengeAccepted(5), Notice("Now it begins."))
        await paper.shows("Now it begins.")
        await link.tells(snapshot(opponent=BEN))
        assert (await link.hears(PlayRequest)).move == 4


async def test_a_challenge_is_accepted_by_the_name_of_its_maker() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        await link.tells(CHALLENGED, replace(CHALLENGED, challenge=6, by=replace(BEN, name="Cleo")))
        await paper.shows("Cleo challenges you: Connect Four, 3+2.")
        paper.type("accept Dan", "accept cleo")
        await paper.shows("Nothing waits for your answer.")
        answer = await link.hears(AnswerRequest)
        assert (answer.challenge, answer.accept) == (6, True)
        await link.tells(Refused(answer.id, Code.UNKNOWN_CHALLENGE, "there is no such challenge"))
        paper.type("decline Ben")
        assert not (await link.grants(AnswerRequest)).accept
        await paper.shows("You declined the challenge of Ben.")


@pytest.mark.parametrize(
    ("typed", "games", "time"),
    [
        ("play Connect Four", "connect4", None),
        ("play 6 5+3", "connect4", TimeControl(300_000, 3_000)),
        ("PLAY mnk:7x7,4 3+2", "mnk:7x7,4", TimeControl(180_000, 2_000)),
        ("play hexcross", "hexcross", None),
    ],
)
async def test_another_game_is_sought_by_its_name_title_or_number(
    typed: str, games: str, time: TimeControl | None
) -> None:
    async with fake_server() as server, plain_at(server, typed, is_typed=False) as (_, _playing):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        assert (seek.games, seek.time, seek.rated) == ([games], time, False), "and nothing was sought before it"


async def test_a_game_is_chosen_from_the_list_of_games_and_a_typing_error_is_reported() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("play conect4", "play connect4 9999+1", "games", "5")
        await paper.shows("there is no game conect4; did you mean connect4? games lists them.")
        await paper.shows(f"9999+1 is not a clock: {TIME_FORM}.")
        assert (await link.grants(SeekRequest)).games == ["gomoku"]
        await paper.shows("Looking for an opponent: Gomoku.")


async def test_a_number_is_a_move_in_a_match_and_chooses_only_with_a_word_before_it() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.tells(snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("who")
        await link.hears(SeekRequest)
        await tells_lists(link)
        await paper.shows("Type choose and a number.")
        paper.type("1")
        play = await link.grants(PlayRequest)
        assert play.move == 0
        await link.tells(played("tictactoe", [0]))
        await paper.shows("You played a3.")
        paper.type("choose 1")
        assert (await link.hears(AcceptRequest)).seek == 7


async def test_a_number_that_was_meant_for_a_list_is_no_move_in_a_match_that_begins_meanwhile() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("who")
        await tells_lists(link)
        await link.tells(snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("2")
        await paper.shows("A match has begun, where 2 is a move; type it again to make it.")
        paper.type("2")
        assert (await link.hears(PlayRequest)).move == 1


async def test_a_match_is_watched_and_left() -> None:
    async with fake_server() as server, plain_at(server, "watch Dan", "watch", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await tells_lists(link)
        await paper.shows("No match of Dan is being played in public.")
        await tells_lists(link)
        watch = await link.grants(WatchRequest)
        assert watch.match == "m9"
        await link.tells(snapshot("gomoku", [112], you=None, match="m9", opponent=BEN))
        await paper.shows("Gomoku: Ann (X) against Ben (O).")
        paper.type("stop", "matches")
        assert (await link.grants(UnwatchRequest)).match == "m9"
        await tells_lists(link)
        await paper.shows("Being played:")
        await paper.shows("1. Ben - alphabeta [bot], Gomoku, move 13, 3+2, 3 watching")


async def test_a_number_after_watch_is_answered_with_how_to_choose_from_a_list() -> None:
    async with fake_server() as server, plain_at(server, "watch 7", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await tells_lists(link)
        await paper.shows("No match of 7 is being played in public. To choose from a list, type only the number.")


@pytest.mark.parametrize(
    ("typed", "is_found"), [("1", False), ("17", True), ("ann", False), ("hann", True), ("guest-b", True)]
)
async def test_a_match_is_watched_by_the_beginning_of_a_name_or_a_whole_number(typed: str, is_found: bool) -> None:
    players = PlayerInfo("Hanna 17"), PlayerInfo("guest-blue-fox")
    live = [LiveMatch("m1", "gomoku", players, ply=3, watchers=0)]
    async with fake_server() as server, plain_at(server, f"watch {typed}", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(LobbyRequest)
        await link.tells(SEEKS, PLAYERS, LiveList(1, live))
        await link.grants(LobbyRequest)
        if is_found:
            assert (await link.hears(WatchRequest)).match == "m1"
        else:
            numbered = " To choose from a list, type only the number." if typed.isdecimal() else ""
            await paper.shows(f"No match of {typed} is being played in public.{numbered}")


async def test_stop_ends_watching_before_seeking_and_says_so() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("watch")
        await tells_lists(link)
        await link.grants(WatchRequest)
        await link.tells(snapshot("gomoku", [112], you=None, match="m9", opponent=BEN))
        await paper.shows("Gomoku: Ann (X) against Ben (O).")
        paper.type("stop")
        await link.grants(UnwatchRequest)
        await paper.shows("You stopped watching.")
        paper.type("stop")
        await link.grants(UnseekRequest)
        await paper.shows("You are in the lobby.")


async def test_stopping_a_search_after_a_match_is_confirmed() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        await link.tells(snapshot(moves=[4, 0], opponent=BEN), Ended("m1", 4, 0, winner=0, reason="resign"))
        await paper.shows("You won: Ben resigned.")
        paper.type("new")
        await link.grants(SeekRequest)
        paper.type("stop")
        await link.grants(UnseekRequest)
        await paper.shows("You stopped looking for an opponent.")


async def test_players_read_why_they_cannot_watch() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.tells(snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("watch")
        await link.hears(SeekRequest)
        await tells_lists(link)
        await paper.shows("You are playing; finish this match first, then watch.")


@pytest.mark.parametrize("word", ["help", "rules", "repeat"])
async def test_a_first_line_that_needs_no_match_starts_no_search(word: str) -> None:
    async with fake_server() as server, plain_at(server, word, None, is_typed=False) as (paper, playing):
        link = await server.accepts()
        await link.lets_in()
        if word == "rules":
            asked = await link.hears(RulesRequest)
            await link.tells(Refused(asked.id, "unknown_game", "unknown game"))
        async with asyncio.timeout(PATIENCE_S):
            await playing
        assert not any(line.startswith("Looking for") for line in paper.written)


async def test_a_program_seeks_nobody_before_its_unfinished_match_is_printed() -> None:
    async with fake_server() as server, plain_at(server, "play connect4", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in("m1")
        await link.grants(ResumeRequest)
        await link.tells(Notice("Welcome back."))
        await paper.shows("Welcome back.")
        await link.tells(snapshot(opponent=BEN))
        await paper.shows("Finish this match first, or leave it.")
        assert not any(line.startswith("Looking for") for line in paper.written)


async def test_friends_meet_by_a_code() -> None:
    async with fake_server() as server, plain_at(server, "invite gomoku", "join bcd234", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        assert (await link.grants(InviteRequest)).game == "gomoku"
        await link.tells(InvitationReply("XYZ789", "gomoku", 3_600_000))
        assert (await link.hears(JoinRequest)).code == "BCD234"
        assert any(line.startswith("Your code is XYZ789. A friend joins with: ") for line in paper.written)


async def test_creating_an_invitation_withdraws_the_seek() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("invite")
        invite = await link.hears(InviteRequest)
        await link.tells(Refused(invite.id, Code.TOO_FAST, "too many invitations"))
        await paper.shows("Too many invitations.")
        paper.type("invite")
        await link.grants(InviteRequest)  # and no end of the search before there is a code
        await link.tells(InvitationReply("XYZ789", "tictactoe", 3_600_000))
        await link.grants(UnseekRequest)
        await paper.shows("You wait for the friend who has your code.")


async def test_no_list_prints_raw_bytes_of_a_peer() -> None:
    evil = "\x1b[2J\x9bEve\u202e\n"
    async with fake_server() as server, plain_at(server, "who", "choose 1", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(LobbyRequest)
        match = replace(LIVE.matches[0], players=(replace(BEN, name=evil), ANN), game=evil)
        await link.tells(SeekList(0, []), PlayerList(1, [replace(PLAYERS.players[2], name=evil)]), LiveList(1, [match]))
        await link.grants(LobbyRequest)
        await paper.shows("Type a number to choose.")
        assert any("Eve" in line for line in paper.written)
        assert all(line.isprintable() for line in paper.written)


async def test_people_and_ratings_are_looked_up() -> None:
    async with fake_server() as server, plain_at(server, "profile Ben", "1", "top", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        assert (await link.grants(ProfileRequest)).name == "Ben"
        await link.tells(PROFILE)
        await paper.shows("Ben.")
        await paper.shows("1. Matches played")
        assert (await link.grants(HistoryRequest)).name == "Ben"
        await link.tells(HISTORY)
        await paper.shows("1. 2026-05-28, won, Connect Four, against Ben, rated")
        top = await link.hears(LeaderboardRequest)
        assert (top.game, top.speed) == ("connect4", "untimed")
        await link.tells(Refused(top.id, Code.TOO_FAST, "later"))
        paper.type("profile Nobody")
        profile = await link.hears(ProfileRequest)
        await link.tells(Refused(profile.id, Code.UNKNOWN_PLAYER, "nobody is called Nobody"))
        await paper.shows("Nobody is called Nobody.")


async def test_older_matches_and_lower_ranks_are_chosen_by_their_number() -> None:
    async with fake_server() as server, plain_at(server, "history", "3", "top", "4", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(HistoryRequest)
        await link.tells(HISTORY)
        await paper.shows("3. Older matches")
        assert (await link.grants(HistoryRequest)).before == "m4"
        await link.tells(replace(HISTORY, matches=HISTORY.matches[:1], before=None))
        await paper.shows("Matches of Ann.")
        await paper.shows("Type a number to choose.")
        await link.grants(LeaderboardRequest)
        await link.tells(LEADERS)
        await paper.shows("Leaderboard: Connect Four, untimed.")
        await paper.shows("4. Next page (2 of 2)")
        assert (await link.grants(LeaderboardRequest)).page == 2
        await link.tells(replace(LEADERS, page=2, leaders=LEADERS.leaders[:1]))
        await paper.shows("1. rank 1, perfect [bot], 2210, 812 matches")


async def test_a_long_list_is_printed_in_pieces() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("who", "more")
        await paper.shows("There is no more.")
        await link.grants(LobbyRequest)
        crowd = [replace(PLAYERS.players[2], name=f"P{number}", seeking=None) for number in range(30)]
        await link.tells(SeekList(0, []), PlayerList(30, crowd), LiveList(0, []))
        await paper.shows("11 more: type more.")
        paper.type("more", "30")
        await paper.shows("30. P29")
        await paper.shows(
            "Challenge P29. Clock: none. Match: rated or casual. "
            "Another game, clock or kind: challenge P29 mnk:7x7,4 3+2 rated."
        )


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("plya", 'I don\'t know "plya". Did you mean play?'),
        ("xyzzy", 'I don\'t know "xyzzy". Type help to see the words that you can type.'),
        ("help", HELP.splitlines()[0]),
        ("join", "Type join and the code that a friend gave you."),
        ("3", "3 chooses nothing; who, games or matches tells a list with numbers."),
        ("b2", "There is no match; play finds you an opponent."),
        ("draw", "There is no match; play finds you an opponent."),
        ("more", "There is no more."),
    ],
)
async def test_any_typed_line_has_an_answer(typed: str, answer: str) -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("stop", typed)
        await paper.shows(
            "Type play to find an opponent, bot to play a bot, or who for the players here; help lists more."
        )
        await paper.shows(answer)


async def test_a_reconnect_does_not_renew_a_stopped_seek() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("stop")
        await link.grants(UnseekRequest)
        await link.breaks()
        await paper.shows("The link is lost; please wait.")
        paper.type("challenge Ben", "who")
        await paper.shows("Not connected to the server; try again when the connection is back.")
        await paper.shows("You will get that when the connection is back.")
        link = await server.accepts()
        await link.lets_in()
        await tells_lists(link)  # what was asked for meanwhile, and no seek
        await paper.shows("Waiting for an opponent:")


async def test_lines_of_a_program_wait_for_the_answers_to_those_before() -> None:
    async with fake_server() as server, plain_at(server, is_typed=False) as (paper, playing):
        paper.type("say Hello Ben", "5", "quit", "no", "resign", "say Bye", "quit", None)
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        await link.tells(snapshot(opponent=BEN))
        assert (await link.grants(ChatRequest)).text == "Hello Ben"
        play = await link.grants(PlayRequest)
        assert not [line for line in paper.written if "quit again" in line], "the move is not made yet"
        await link.tells(played("tictactoe", [4]))
        await paper.shows(
            "This ends the match. Type quit again to leave, wait only to leave "
            "(Ben can claim the win in at most 15 s), anything else to stay."
        )
        assert play.move == 4
        await link.grants(ResignRequest)
        await link.tells(Ended("m1", 3, 0, winner=1, reason="resign"))
        assert (await link.grants(ChatRequest)).text == "Bye"
        async with asyncio.timeout(PATIENCE_S):
            await playing
        assert paper.written[-3:] == [
            "You lost: you resigned.",
            "Type rematch, new or quit; help lists the rest.",
            "Said.",
        ]


async def test_the_end_of_the_input_leaves_a_lobby_where_nothing_is_awaited() -> None:
    async with fake_server() as server, plain_at(server, "who", None, is_typed=False) as (paper, playing):
        link = await server.accepts()
        await link.lets_in()
        await tells_lists(link)
        async with asyncio.timeout(PATIENCE_S):
            await playing
        assert "1. Ben, Connect Four, 3+2" in paper.written


def test_two_people_at_dumb_terminals_meet_without_an_escape_byte(real_server: RealServer, open_terminal: Open) -> None:
    def seated(name: str) -> Terminal:
        terminal = open_terminal(real_server.address, "--name", name, TERM="dumb", columns=120, rows=60)
        terminal.shows("help lists more.")
        terminal.press("stop\r")
        terminal.shows("You are in the lobby")
        return terminal

    cid, ann, ben = seated("Cid"), seated("Ann"), seated("Ben")
    ben.press("who\r")
    ben.shows("1. Ann")
    ben.press("1\r")
    ben.shows("6. Connect Four")
    ben.press("6\r")
    ann.shows("Type accept to play Ben, or decline.")
    ann.press("accept\r")
    for terminal in (ann, ben):
        assert "Connect Four: " in terminal.shows("help lists the rest.")
    cid.press("watch ben\r")
    cid.shows("is to move")
    first, second = (ann, ben) if "Your turn" in ann.picture else (ben, ann)
    first.press("4\r")
    for terminal in (second, cid):
        terminal.shows("played 4.")
    second.press("say Well begun\r")
    first.shows(": Well begun")
    first.press("resign\r")
    for terminal in (ann, ben, cid):
        terminal.shows("The match was called off")
        terminal.press("quit\r")
    for terminal in (ann, ben, cid):
        assert terminal.ends() == 0
        assert b"\x1b" not in terminal.raw


def test_lines_end_between_words_in_a_narrow_terminal(real_server: RealServer, open_terminal: Open) -> None:
    terminal = open_terminal(real_server.address, "--name", "Ann", "--plain", columns=40, rows=60)
    terminal.shows("stop; help lists more.")
    terminal.press("help\r")
    terminal.comes_to(lambda picture: " ".join(HELP.split()) in " ".join(picture.split()), HELP)
    terminal.press("quit\r")
    assert terminal.ends() == 0


async def test_a_restart_is_announced_in_the_words_of_the_server() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.tells(Notice("The server restarts in 30 seconds; your matches are safe.", 30_000))
        await paper.shows("The server restarts in 30 seconds; your matches are safe.")
        await link.tells(Notice("Tea at \x1bfive.", 20_000), Notice("The restart was called off."))
        await paper.shows("Tea at five.")
        await paper.shows("The restart was called off.")
        assert paper.written.count("Tea at five.") == 1


async def test_bots_are_offered_and_never_forced() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        await link.tells(SUGGESTION)
        await paper.shows(
            "Nobody else waits yet. alphabeta [bot, level 5] and 1 more bot would play you: "
            "type bot, bots to choose one, or wait on."
        )
        paper.type("bots")
        await tells_lists(link)
        await paper.shows("Play a bot right away:")
        await paper.shows("1. alphabeta [bot], Tic-tac-toe")
        paper.type("1", "bot gomoku 3+2")
        challenge = await link.grants(ChallengeRequest)
        assert (challenge.name, challenge.game) == ("alphabeta", "tictactoe")
        await tells_lists(link)
        challenge = await link.grants(ChallengeRequest)
        assert (challenge.name, challenge.game, challenge.time) == ("alphabeta", "gomoku", TimeControl(180_000, 2_000))
        paper.type("bot")
        await link.grants(LobbyRequest)
        await link.tells(SeekList(0, []), PlayerList(1, [PLAYERS.players[1]]), LiveList(0, []))
        await paper.shows("No bot is free for Tic-tac-toe now.")


async def test_a_tournament_is_entered_by_its_code_and_reports_changes_that_concern_us() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        paper.type("join bcdfg")
        assert (await link.grants(JoinRequest)).code == "BCDFG"
        await link.tells(OPENED)
        await paper.shows("Friday, code BCDFG, begins when the host says so. You have entered.")
        await link.grants(UnseekRequest)
        assert (await link.grants(AttendRequest)).on
        await link.tells(replace(OPENED, seq=4, players=3))
        done = [replace(RUNNING.boards[0], result="1-0"), *RUNNING.boards[1:]]
        now = replace(RUNNING, boards=done)
        await link.tells(now)
        won = "You won against Ben. You are number 2 of 5 with 1.5 points."
        await paper.shows(f"Friday: round 2 of 5. {won} You wait for other boards; pairings lists them.")
        paper.type("standings")
        assert (await link.grants(AttendRequest)).tournament == "BCDFG"
        await link.tells(now)
        await paper.shows("Friday: Swiss, Connect Four, 3+2. Round 2 of 5: 2 boards still playing.")
        await paper.shows("2. rank 2, Ann (you), 1.5 points, Buchholz-1 1.5, Buchholz 3, direct 0, wins 1")
        assert len([line for line in paper.written if won in line and line.startswith("Friday")]) == 1
        assert not [line for line in paper.written if "3 players" in line]
