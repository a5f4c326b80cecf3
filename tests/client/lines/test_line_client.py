import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.client.fake_server import fake_server
from tests.client.lines.paper import plain_at
from tests.client.pressing import seen
from tests.client.samples import BEN, CHALLENGED, LIVE, PLAYERS, SEEKS, ok, played, snapshot, swapping, welcome
from tests.patience import PATIENCE_S
from ttt_net.client.drawing.glyphs import ASCII
from ttt_net.client.lines.line_renderer import BoardRenderer
from ttt_net.errors import Code
from ttt_net.messages import (
    AgreeRequest,
    AnswerRequest,
    AwayInfo,
    ChallengeOver,
    ChatRequest,
    Chatted,
    ClaimRequest,
    Declined,
    DeclineRequest,
    Ended,
    HelloRequest,
    LobbyRequest,
    MuteRequest,
    Offered,
    OfferRequest,
    PlayerInfo,
    PlayRequest,
    Presence,
    Rated,
    RatingChange,
    Refused,
    ResignRequest,
    ResumeRequest,
    SeekRequest,
    Tookback,
    WatchRequest,
)
from ttt_net.sdk.received import Stop


async def test_a_match_is_printed_line_by_line_and_moves_wait_for_their_turn() -> None:
    async with fake_server() as server, plain_at(server) as (paper, playing):
        paper.type("5", "a3", None)
        link = await server.accepts()
        await link.lets_in()
        await paper.shows("Looking for an opponent: Tic-tac-toe.")
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(opponent=BEN))
        play = await link.hears(PlayRequest)
        assert play.move == 4
        await link.tells(ok(play.id), played("tictactoe", [4]))
        await paper.shows("You played b2.")
        await paper.shows("Ben is to move ...")
        await link.tells(played("tictactoe", [4, 1]))
        await paper.shows("Ben played b3.")
        play = await link.hears(PlayRequest)
        assert (play.ply, play.move) == (2, 0)
        await link.tells(ok(play.id), played("tictactoe", [4, 1, 0]), Ended("m1", 5, 0, winner=0, reason="resign"))
        await paper.shows("You won: Ben resigned.")
        async with asyncio.timeout(PATIENCE_S):
            await playing
    assert not any("\x1b" in line for line in paper.written)


async def test_after_the_last_move_no_line_says_whose_turn_it_is() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.hears(SeekRequest)
        moves = [4, 0, 1, 2, 7]
        await link.tells(snapshot(moves=moves[:-1], opponent=BEN), played("tictactoe", moves))
        await paper.shows("You played b1.")
        await link.tells(Ended("m1", 7, 0, winner=0, reason="line"))
        await paper.shows("You won: you completed a line.")
        assert not any("to move" in line for line in paper.written)


async def test_commands_are_understood_at_any_time_and_nonsense_is_answered() -> None:
    async with fake_server() as server, plain_at(server) as (paper, playing):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("help")
        await paper.shows(BoardRenderer.help)
        paper.type("board")
        await paper.shows("  ---+---+---")
        paper.type("frobnicate", "FROBNICATE")
        for _ in range(2):
            await paper.shows('I don\'t know "frobnicate"; possible: a3, b3, c3, a2, b2, c2, a1, b1, c1')
        paper.type("draw")
        assert (await link.hears(OfferRequest)).kind == "draw"
        await link.tells(Offered("m1", 2, 0, side=1, kind="draw"))
        await paper.shows("Ben offers a draw: type accept or decline.")
        paper.type("resign")
        assert (await link.hears(ResignRequest)).match == "m1"
        await link.tells(Ended("m1", 3, 0, winner=1, reason="resign"))
        await paper.shows("You lost: you resigned.")
        paper.type("rematch")
        assert (await link.hears(OfferRequest)).kind == "rematch"
        paper.mailbox.put_nowait(Stop())
        async with asyncio.timeout(PATIENCE_S):
            await playing


async def test_a_challenge_is_answered_with_a_word() -> None:
    for word, is_accepted in (("accept", True), ("Decline", False)):
        async with fake_server() as server, plain_at(server) as (paper, _):
            link = await server.accepts()
            await link.lets_in()
            await link.hears(SeekRequest)
            paper.type("accept")
            await paper.shows("Nothing waits for your answer.")
            await link.tells(CHALLENGED, replace(CHALLENGED, challenge=6, by=PlayerInfo("Cleo")))
            await paper.shows("Ben challenges you: Connect Four, 3+2.")
            await paper.shows("Type accept to play Ben, or decline.")
            paper.type(word)
            answer = await link.hears(AnswerRequest)
            assert (answer.challenge, answer.accept) == (5, is_accepted)
            await link.tells(ok(answer.id), ChallengeOver(5, "gone"))
            await paper.shows("Type accept to play Cleo, or decline.")


async def test_one_word_accepts_whatever_stands_on_offer_and_one_declines_it() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(moves=[4, 0], opponent=BEN), CHALLENGED)
        await link.tells(Offered("m1", 4, 0, side=1, kind="takeback"))
        await paper.shows("Ben asks to take a move back: type accept or decline.")
        paper.type("accept")
        assert (await link.hears(AgreeRequest)).offer == 4
        paper.type("decline")
        assert (await link.hears(DeclineRequest)).offer == 4
        await link.tells(Declined("m1", 5, 0, side=0, kind="takeback"), Chatted("m1", "players", BEN, "All right"))
        await paper.shows("Ben: All right")
        paper.type("accept")
        assert (await link.hears(AnswerRequest)).accept


async def test_words_of_ones_own_are_said_whole_and_the_opponent_is_muted() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        paper.type("say hello")
        await paper.shows("Type say and your words, while there is a match.")
        await link.tells(ok(seek.id), snapshot(moves=[4, 0], opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("say Hello, Ben! b2 was a slip of mine, it was meant to be a1")
        said = await link.hears(ChatRequest)
        assert said.text == "Hello, Ben! b2 was a slip of mine, it was meant to be a1"
        await link.tells(ok(said.id))
        await paper.shows("Said.")
        await link.tells(Chatted("m1", "players", BEN, "Never mind"))
        await paper.shows("Ben: Never mind")
        paper.type("mute")
        assert (await link.hears(MuteRequest)).name == "Ben"


@pytest.mark.parametrize(
    ("may_write", "told"), [(True, "Type say and your words, or one"), (False, "Type say and one")]
)
async def test_a_phrase_is_sent_by_its_words_and_say_alone_lists_all_phrases(told: str, *, may_write: bool) -> None:
    phrases = f"{told} of these: hello, good luck, well played, good game, thanks, sorry, oops, one moment."
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(ok(hello.id), replace(welcome(), chat=may_write))
        await link.hears(SeekRequest)
        await link.tells(snapshot(moves=[4, 0], opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("say Good luck!", "say")
        said = await link.grants(ChatRequest)
        assert (said.text, said.phrase) == (None, "good_luck")
        await paper.shows(phrases)
        paper.type("say that was luck")
        if may_write:
            assert (await link.hears(ChatRequest)).text == "that was luck"
        else:
            await paper.shows(phrases)
        await link.tells(Chatted("m1", "players", BEN, "Thank you!", "thanks"))
        await paper.shows("Ben: Thank you!")


async def test_a_move_typed_too_early_holds_nothing_up_where_a_person_types() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(moves=[4], opponent=BEN))
        await paper.shows("Ben is to move ...")
        paper.type("c1", "say take your time")
        await paper.shows("It is not your turn; c1 waits for it.")
        assert (await link.hears(ChatRequest)).text == "take your time"
        await link.tells(played("tictactoe", [4, 0]))
        assert (await link.hears(PlayRequest)).move == 8


@pytest.mark.parametrize("word", ["quit", "q", "Exit", "leave", "bye"])
async def test_the_words_for_leaving_are_easy_to_find(word: str) -> None:
    async with fake_server() as server, plain_at(server) as (paper, playing):
        link = await server.accepts()
        await link.lets_in()
        await link.hears(SeekRequest)
        paper.type(word)
        async with asyncio.timeout(PATIENCE_S):
            await playing


async def test_anything_but_leaving_stays() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(moves=[4, 0], opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("quit", "no", "quit", "help", "c1")
        assert (await link.hears(PlayRequest)).move == 8
        assert not [line for line in paper.written if "no move" in line]


async def test_leaving_a_live_match_asks_once() -> None:
    async with fake_server() as server, plain_at(server) as (paper, playing):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(moves=[4, 0], opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("quit")
        await paper.shows(
            "This ends the match. Type quit again to leave, wait only to leave "
            "(Ben can claim the win in at most 15 s), anything else to stay."
        )
        paper.type("quit")
        await link.hears(ResignRequest)
        await link.tells(Ended("m1", 4, 0, winner=1, reason="resign"))
        async with asyncio.timeout(PATIENCE_S):
            await playing


async def test_an_unfinished_match_continues_and_no_other_is_sought_unless_it_is_gone() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in("m1")
        resume = await link.hears(ResumeRequest)
        await link.tells(ok(resume.id), snapshot(moves=[4, 0], opponent=BEN))
        await paper.shows("Your unfinished match continues.")
        paper.type("c1")
        assert (await link.hears(PlayRequest)).move == 8
    async with fake_server() as server, plain_at(server) as (_, _playing):
        link = await server.accepts()
        await link.lets_in("m1")
        resume = await link.hears(ResumeRequest)
        await link.tells(Refused(resume.id, Code.UNKNOWN_MATCH, "it ended long ago"))
        await link.hears(SeekRequest)


async def test_an_absent_opponent_can_be_claimed_against() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in("m1")
        await link.tells(snapshot(moves=[4, 0], opponent=BEN))
        away = AwayInfo(side=1, on_purpose=False, claim_in_ms=9_500)
        await link.tells(Presence("m1", side=1, online=False, away=away))
        await paper.shows("Ben is away: in 10 s, type claim to claim the win.")
        paper.type("adjourn")
        await link.hears(ResumeRequest)
        assert (await link.hears(ClaimRequest)).kind == "adjourn"


async def test_whose_turn_it_is_stands_under_a_board_from_which_moves_were_taken_back() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in("m1")
        match = snapshot(moves=[4, 0, 2, 1], opponent=BEN)
        await link.tells(match)
        await paper.shows("Your turn: place X.")
        before = snapshot(moves=[4, 0], opponent=BEN).position
        await link.tells(Tookback("m1", match.seq + 1, 0, side=0, ply=2, position=before))
        await paper.shows("Your turn: place X.")


async def test_a_rated_match_is_claimed_but_not_adjourned() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in("m1")
        await link.tells(replace(snapshot(moves=[4, 0, 1, 7], opponent=BEN), rated=True))
        away = AwayInfo(side=1, on_purpose=False, claim_in_ms=9_500)
        await link.tells(Presence("m1", side=1, online=False, away=away))
        await paper.shows("Ben is away: in 10 s, type claim to claim the win.")
        paper.type("adjourn")
        await paper.shows("A rated match is not adjourned; claim the win or a draw, or wait.")
        paper.type("claim draw")
        await link.hears(ResumeRequest)
        assert (await link.hears(ClaimRequest)).kind == "draw"


async def test_a_move_with_a_name_of_its_own_is_typed_like_any_other() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), swapping())
        await paper.shows("Your turn: place X.")
        paper.type("1", "info", "swap")
        await paper.shows("Which? Type Xa1 or Oa1.")
        await paper.shows("No move was made yet.")
        assert (await link.hears(PlayRequest)).move == 4


async def test_after_a_match_the_score_and_the_ratings_are_printed() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        begun = replace(snapshot(moves=[4, 0], opponent=BEN), score=(1.0, 0.0), rated=True, watchers=2)
        await link.tells(ok(seek.id), begun)
        await paper.shows("Your turn: place X.")
        paper.type("info")
        await paper.shows("Score X 1 : 0 O. Rated. 2 watching. Moves so far: 1. b2, 2. a3.")
        await link.tells(Ended("m1", 4, 0, winner=0, reason="resign"))
        await paper.shows("You won: Ben resigned.")
        await paper.shows("Score X 2 : 0 O.")
        await link.tells(Rated("m1", (RatingChange(1500, 1512), RatingChange(1490, 1478, provisional=True))))
        await paper.shows("Score X 2 : 0 O. Ratings: X 1512 (+12), O 1478? (-12).")


async def test_a_player_of_two_matches_sees_where_it_is_their_turn_and_can_switch() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in("m1", "m2")
        await link.tells(snapshot(moves=[4], opponent=BEN), snapshot(opponent=replace(BEN, name="Cleo"), match="m2"))
        await paper.shows("It is your turn against Cleo, too: new goes there.")
        for word in ("play", "play connect4"):
            paper.type(word)
            await paper.shows("Finish this match first, or leave it.")
        assert "Tic-tac-toe: Ann (X) against Cleo (O)." not in paper.written
        paper.type("new")
        await paper.shows("Tic-tac-toe: Ann (X) against Cleo (O).")
        await paper.shows("Your turn: place X.")


async def test_a_watcher_who_mutes_receives_no_chat() -> None:
    async with fake_server() as server, plain_at(server, "watch", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(LobbyRequest)
        await link.tells(SEEKS, PLAYERS, LIVE)
        await link.grants(LobbyRequest)
        await link.grants(WatchRequest)
        await link.tells(snapshot("gomoku", you=None, match="m9"), Chatted("m9", "watchers", BEN, "Well"))
        await paper.shows("Ben: Well")
        paper.type("mute")
        assert (await link.hears(MuteRequest)).name is None
        await paper.shows("Chat is muted. Mute again to unmute it.")


@pytest.mark.parametrize(("name", "cells"), [("\x1b[2J\x9bEve\u202e", range(9)), ("swap", [-1] * 9)])
def test_the_help_on_moving_shows_no_raw_name_and_needs_no_cell(name: str, cells: Sequence[int]) -> None:
    match = snapshot()
    lying = replace(match, game=replace(match.game, move_names=[name] * 9, move_cells=[*cells]))
    told = BoardRenderer(ASCII).parts(seen(lying))["next"]
    assert told.isprintable()
    assert "; help lists the rest." in told


async def test_no_byte_of_a_peer_reaches_the_paper_raw() -> None:
    evil = PlayerInfo("\x1b[2J\x9bEve\u202e", "\x07")
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot(opponent=evil))
        await paper.shows("Your turn: place X.")
        assert all(line.isprintable() for line in paper.written)


@pytest.mark.parametrize(
    ("game", "example"),
    [("tictactoe", "5 or b2"), ("connect4", "4"), ("ultimate", "5:b2"), ("gomoku", "h8"), ("wild", "Ob2")],
)
def test_the_help_on_moving_shows_a_move_of_the_game(game: str, example: str) -> None:
    told = BoardRenderer(ASCII).parts(seen(snapshot(game)))["next"]
    assert told == f"Type a move, such as {example}; help lists the rest."
