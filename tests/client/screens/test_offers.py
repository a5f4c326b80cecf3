"""Choosing a game, a clock and a kind of match, on the screen and by typed words; invitations."""

import asyncio
import json
import re
import socket

import pytest
from msgspec import structs

from tests.client.conftest import RealServer, Start, heard_until
from tests.client.fake_server import fake_server
from tests.client.lines.paper import Paper
from tests.client.pressing import lobby, pressed
from tests.client.samples import BEN, BLITZ, knowing, ok, snapshot, welcome
from tests.patience import PATIENCE_S
from ttt_net.client import words
from ttt_net.client.act import act
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Command, Open, Page, Purpose, Send
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import ASCII, BOXES
from ttt_net.client.lines.line_client import LineClient
from ttt_net.client.lines.line_renderer import BoardRenderer
from ttt_net.client.options import parse
from ttt_net.client.screens.offers import as_understood, by_default, in_terms
from ttt_net.client.screens.registry import screen_of
from ttt_net.client.server_search import shareable
from ttt_net.client.update import update
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, ConfigurationError
from ttt_net.messages import (
    AddedGame,
    ChallengeRequest,
    InvitationReply,
    InviteRequest,
    JoinRequest,
    LeaderboardRequest,
    Refused,
    SeekInfo,
    SeekList,
    SeekRequest,
)
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Parting
from ttt_net.sdk.trust import Trust


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


@pytest.mark.parametrize("terms", ["connect four 3+2 level 5", "level 5 connect4 3+2", "Connect4 LEVEL5 3+2"])
def test_a_level_may_stand_anywhere_among_game_and_clock(terms: str) -> None:
    asked = ChallengeRequest(0, name="Mia", game="connect4", time=TimeControl(180_000, 2_000), level=5)
    assert in_terms(ChallengeRequest(0, name="Mia"), terms) == Send(asked)
    assert in_terms(SeekRequest(0, ["gomoku"]), "level 2") == Send(SeekRequest(0, ["gomoku"], level=2))


def test_invalid_levels_are_reported() -> None:
    assert in_terms(SeekRequest(0), "level 9") == "level 9 is not one of 1 to 8."
    assert in_terms(SeekRequest(0), "level high") == "level high is not one of 1 to 8."


def test_a_game_of_another_package_is_sought_for_ratings_where_the_host_rates_it() -> None:
    games = [AddedGame("othello", "Othello", "a rule", rated=True), AddedGame("hex", "Hex", "a rule")]
    for game in games:
        wish = by_default(SeekRequest(0, [game.name], opponents="people"), games)
        assert (wish.rated, wish.or_casual) == (game.rated, game.rated)
    display = update(lobby(), structs.replace(welcome(), games=games), 0)
    display, _ = act(display, Open(Page("leaders", about="ultimate")), SeekRequest(0))
    assert pressed(display, "g")[1] == (LeaderboardRequest(0, game="othello", speed="untimed"),)


def test_a_server_that_knows_no_or_casual_is_asked_for_a_casual_match() -> None:
    seek = SeekRequest(0, ["connect4"], rated=True, or_casual=True)
    challenge = ChallengeRequest(0, "Ben", "connect4", rated=True, or_casual=True)
    assert as_understood(seek, ["chat"]) == SeekRequest(0, ["connect4"])
    assert as_understood(challenge, ()) == ChallengeRequest(0, "Ben", "connect4")
    for request in (seek, challenge, SeekRequest(0, ["connect4"], rated=True)):
        assert as_understood(request, ["chat", "or_casual"]) == request


def table_at(
    url: str, paper: Paper, opening: JoinRequest | InviteRequest, *, has_lobby: bool = False
) -> ClientController:
    connection = ClientConnection(url, ClientSession("Ann", None), paper.mailbox.put, FOREVER, lambda token: None)
    seek, address = SeekRequest(0, ["tictactoe"]), "example.org:8765"
    return ClientController(connection, seek, address, opening, has_lobby=has_lobby, is_in_lines=has_lobby)


async def test_a_code_is_asked_for_once_and_told_with_what_a_friend_types() -> None:
    paper = Paper()
    async with fake_server() as server:
        controller = table_at(server.url, paper, InviteRequest(0, "connect4"))
        async with asyncio.TaskGroup() as group:
            playing = group.create_task(LineClient(controller, BoardRenderer(ASCII), paper.write).play(paper.mailbox))
            link = await server.accepts()
            await link.lets_in()
            invite = await link.hears(InviteRequest)
            assert invite.game == "connect4"
            await link.tells(ok(invite.id), InvitationReply("BCD234", "connect4", 3_600_000))
            await paper.shows(
                "Your code is BCD234. A friend joins with: python client.py example.org:8765 --join BCD234"
            )
            await link.breaks()
            link = await server.accepts()
            await link.lets_in()
            await link.tells(snapshot(opponent=BEN))  # and neither a seek nor another invitation came before
            await paper.shows("Your turn: place X.")
            playing.cancel()


@pytest.mark.parametrize("opening", [InviteRequest(0, "connect4"), JoinRequest(0, "BCD234")])
async def test_a_player_who_joins_a_friend_sees_nothing_else_first(
    opening: JoinRequest | InviteRequest,
) -> None:
    paper = Paper()
    async with fake_server() as server, asyncio.TaskGroup() as group:
        controller = table_at(server.url, paper, opening, has_lobby=True)
        playing = group.create_task(LineClient(controller, BoardRenderer(ASCII), paper.write).play(paper.mailbox))
        link = await server.accepts()
        await link.lets_in()
        await link.grants(type(opening))
        if isinstance(opening, InviteRequest):
            await link.tells(InvitationReply("BCD234", "connect4", 3_600_000))
            await paper.shows("You wait for the friend who has your code.")
            assert any(line.startswith("Your code is BCD234.") for line in paper.written)
        await link.tells(snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        assert not any("nobody" in line for line in paper.written)
        playing.cancel()


async def test_a_code_that_is_refused_ends_the_client() -> None:
    paper = Paper()
    async with fake_server() as server, asyncio.TaskGroup() as group:
        controller = table_at(server.url, paper, JoinRequest(0, "BCD234"))
        playing = group.create_task(LineClient(controller, BoardRenderer(ASCII), paper.write).play(paper.mailbox))
        link = await server.accepts()
        await link.lets_in()
        join = await link.hears(JoinRequest)
        await link.tells(Refused(join.id, Code.UNKNOWN_CODE.value, "no invitation has that code"))
        async with asyncio.timeout(PATIENCE_S):
            await playing
        assert controller.display.world.farewell is not None
        assert controller.display.world.farewell.why is Parting.REJECTED


def test_a_friend_joins_with_the_code_that_was_printed(real_server: RealServer, start: Start) -> None:
    host = start(real_server.address, "--invite", "--name", "Ann", "--game", "connect4")
    line = heard_until(host, "--join")
    found = re.search(r"--join ([A-Z0-9]{6})", line)
    assert found is not None
    friend = start(real_server.address, "--join", found[1].lower(), "--name", "Ben")
    assert "Connect Four" in heard_until(host, "Connect Four")
    assert "Connect Four" in heard_until(friend, "Connect Four")


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_code_that_nobody_gave_ends_with_exit_code_4(real_server: RealServer, start: Start, more: list[str]) -> None:
    friend = start(real_server.address, "--join", "ZZZZZZ", "--name", "Ben", *more)
    out, err = friend.communicate(timeout=PATIENCE_S)
    assert friend.returncode == 4
    assert "no invitation has that code" in err
    if more:
        assert json.loads(out.splitlines()[-1])["type"] == "summary"


@pytest.mark.parametrize(
    "arguments", [["--join", "x"], ["--join", "BCD234", "--invite"], ["--bot", "random", "--invite"], ["--join"]]
)
def test_invalid_input_is_rejected_in_one_line(arguments: list[str]) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "trust", "typed"),
    [
        ("ws://192.168.1.20:8765", Trust(), "192.168.1.20:8765"),
        ("ws://[fe80::1]:8765", Trust(), "[fe80::1]:8765"),
        ("ws://203.0.113.7:8765", Trust(), "203.0.113.7:8765 --insecure"),
        ("ws://play.example.org:8765", Trust(), "play.example.org:8765"),
        ("ws://play.example.org:8765", Trust(is_insecure=True), "play.example.org:8765 --insecure"),
        ("wss://play.example.org:443", Trust(), "wss://play.example.org:443"),
        ("wss://10.0.0.7:8765", Trust("ab" * 32), f"wss://10.0.0.7:8765 --tls-fingerprint {'ab' * 32}"),
    ],
)
def test_friends_get_the_option_for_trusting_the_server(url: str, trust: Trust, typed: str) -> None:
    paper = Paper()
    connection = ClientConnection(
        url, ClientSession("Ann", None), paper.mailbox.put, FOREVER, lambda token: None, trust=trust
    )
    controller = ClientController(connection, SeekRequest(0), url.partition("//")[2], InviteRequest(0, "connect4"))
    controller.hear(InvitationReply("BCD234", "connect4", 3_600_000), 0)
    line = f"python client.py {typed} --join BCD234"
    assert words.notice(controller.display) == f"Your code is BCD234. A friend joins with: {line}"
    scheme = "https" if url.startswith("wss") else "http"
    assert words.join_link(controller.display, "BCD234") == f"{scheme}://{controller.display.world.address}/j#BCD234"


def test_an_address_on_this_machine_is_told_as_others_can_use_it() -> None:
    assert shareable("example.org:8765") == "example.org:8765"
    with socket.create_server(("", 0)) as listening:
        port = listening.getsockname()[1]
        host, _, same = shareable(f"localhost:{port}").rpartition(":")
        assert (host == "localhost", same) == (False, str(port))


def test_a_server_that_only_this_machine_can_reach_keeps_its_address_and_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        assert shareable(address) == address
    hint = words.company_hint(knowing(lobby(), address=address, is_hosting=True), 80)
    assert hint[0] == "Only this machine can join with:"
    hint = words.company_hint(knowing(lobby(), address="192.168.1.20:8765", is_hosting=True), 80)
    assert hint[0] == "Friends on this network join with:"


def test_an_invitation_shows_its_code_and_the_line_to_type() -> None:
    _, requests = pressed(lobby(), "i", "6")
    assert requests == (InviteRequest(0, game="connect4"),)
    display = lobby(InvitationReply("K7QMX2", "connect4", 600_000))
    assert display.page.screen == "invitation"
    page = draw(display, (80, 24), 0, BOXES).plain
    assert "K 7 Q M X 2 ─" in page
    assert "python client.py 192.168.1.20:8765 --join K7QMX2" in page
    assert pressed(display, "escape")[0].page.screen == "lobby"


def test_an_invitation_is_not_rated_and_no_key_says_so() -> None:
    assert "r rated" in draw(pressed(lobby(), "p")[0], (80, 24), 0, BOXES).plain
    assert "r rated" not in draw(pressed(lobby(), "i")[0], (80, 24), 0, BOXES).plain
