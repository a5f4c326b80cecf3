"""The client against a server that lies, floods, drips and draws on the screen: it may end, but never break."""

import asyncio
import copy
import datetime
import functools
import json
import operator
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client.conftest import environment, open_terminal
from tests.client.fake_server import FakeLink, fake_server
from tests.client.real_terminal import Open, end
from tests.client.samples import (
    BEN,
    BLITZ,
    CHALLENGED,
    HISTORY,
    KING,
    LEADERS,
    LIVE,
    OPENED,
    PLAYERS,
    PROFILE,
    RUNNING,
    SEEKS,
    SUGGESTION,
    layered,
    ok,
    played,
    position_after,
    snapshot,
    swapping,
    welcome,
)
from tests.patience import PATIENCE_S
from tests.sdk.linked import Client, client_of
from ttt_net.client import display as commands
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Command, Page
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import ASCII, BOXES
from ttt_net.client.lines.line_renderer import BoardRenderer, ScreenReader
from ttt_net.client.screens.registry import SCREENS
from ttt_net.client.screens.replay_screen import STEP_THROUGH
from ttt_net.errors import Closing, Refusal
from ttt_net.matches.description import describe_puzzle, describe_rules
from ttt_net.messages import (
    MAX_NUMBER,
    Adjourned,
    AnalysedMove,
    AnalysisReply,
    AnyServerMessage,
    AwayInfo,
    BlockList,
    Chatted,
    ClockInfo,
    Ended,
    ExplanationInfo,
    HelloRequest,
    HintReply,
    InvitationReply,
    ListedTournament,
    MatchEvent,
    MatchLesson,
    MistakeList,
    Notice,
    Offered,
    OwnMistake,
    OwnPuzzle,
    PlayerInfo,
    PlayerRenamed,
    Presence,
    PuzzleRequest,
    Rated,
    RatingChange,
    RecordReply,
    Refused,
    Rematched,
    ReplayReply,
    Request,
    Restarting,
    Sanctioned,
    SeekRequest,
    StudyReply,
    ThreatRow,
    Tookback,
    TournamentList,
    WatchRequest,
    decode_request,
    decode_server_message,
    encode,
)
from ttt_net.sdk.bots import Bot, BotPlan, Turn
from ttt_net.sdk.client_connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.playing import Story, think_by
from ttt_net.sdk.received import Farewell, Garbled, Parting, Stop
from ttt_net.sdk.trust import Trust

__all__ = ["environment", "open_terminal"]

EVIL = (
    "\x1b]0;PWNED\x07\x1b]52;c;UFdORUQ=\x07\x1b[2J\x1b[31m\x9b31m\x85"
    "\u202eDENWP\u2066\u200b\ufeff\n\r\t[bold]PWNED[/]:boom:\x00"
)
"""A title, the clipboard, a cleared screen, colours in seven and eight bits, reversed reading, markup, line ends."""
NUMBERS = (MAX_NUMBER, -MAX_NUMBER, -1, 10**400)
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [
            *(EVIL, EVIL * 50, "", "m1", "mnk:999999x999999,3", "connect4", "X" * 5_000, "line", "win"),
            *(None, True, *NUMBERS, 0, 1, 2, 9, 41, 10**6, 0.5, 1e308),
            *([], {}, [[]], [0], [EVIL], [None, None], list(range(300)), {"name": EVIL}),
        ]
    ),
    st.integers(-5, 70),
    st.text(max_size=30),
)
DAY = datetime.date(2027, 4, 15)
WHY = ExplanationInfo("win", ["b2"], 1, ["a1"], 0, ThreatRow(2, run=True, open=True, cells=[1, 2]), 3)
JUDGED = [AnalysedMove(1, 4, -1, ["b2"], turning=True, score=0.5, more=1, text="?", why=WHY, keeping=["b2"])]
STUDIED = msgspec.structs.replace(snapshot("tictactoe", [4], you=None), match="study-3")
TOLD: list[AnyServerMessage] = [  # the events of a match are its next ones after the first snapshot
    welcome("m1"),
    snapshot("tictactoe", [4, 0]),
    snapshot("connect4", [38, 31]),
    snapshot("ultimate", [0]),
    snapshot("connect4+swap", [38]),
    snapshot("vanishing", [0, 1, 2, 3, 4, 5]),
    snapshot("misere", [0, 3, 1, 4, 2]),
    layered(),
    swapping(),
    played("tictactoe", [4, 0, 8]),
    played("connect4", [38, 31, 37]),
    Ended("m1", 4, 0, 0, "line"),
    Offered("m1", 4, 0, 1, "draw"),
    Rematched("m1", 4, 0, "m1-2"),
    PlayerRenamed("m1", 1, "Benny"),
    SEEKS,
    PLAYERS,
    LIVE,
    CHALLENGED,
    SUGGESTION,
    PROFILE,
    HISTORY,
    LEADERS,
    Chatted("m1", "players", BEN, "hello"),
    InvitationReply("K7QMX2", "connect4", 600_000, BLITZ),
    Presence("m1", 1, online=False, away=AwayInfo(1, on_purpose=True, claim_in_ms=1_000)),
    Tookback("m1", 4, 0, 0, 0, position=position_after("tictactoe", [])),
    Adjourned("m1", 4, 0, 1, ClockInfo((1_000, 2_000), 0)),
    Rated("m1", (RatingChange(1500, 1512), RatingChange(1500, 1488, provisional=True))),
    HintReply("m1", 2, "move", [8], "Take the corner.", WHY),
    AnalysisReply("m1", JUDGED, exact=True, lesson=MatchLesson(1, 0, ["b2"], "Move 1: ...", WHY, ["b2"])),
    StudyReply(3, 20, 0, STUDIED, [position_after("tictactoe", [4][:ply]) for ply in range(2)], JUDGED),
    describe_puzzle(PuzzleRequest(0), DAY),
    MistakeList("2027-04-15", [OwnMistake(OwnPuzzle("tictactoe", [2], [8, 0, 5, 1]), "Take c3.")], 21, 1),
    describe_rules("connect4"),
    describe_rules("ultimate"),
    BlockList(["Ben"], ["Dan"], everybody=True),
    RecordReply("m1", "a record"),
    TournamentList(1, [ListedTournament("BCDFG", "Friday", "swiss", "connect4", BLITZ, "open", 0, 5, 4)]),
    OPENED,
    RUNNING,
    KING,
    Notice("Friday!", 5_000),
    Sanctioned("mute", 5_000, "shouting"),
    Refused(2, "too_fast", "later", 5_000),
    ReplayReply("m1", 0, [position_after("connect4", [38, 31][:ply]) for ply in range(3)], 2),
    Restarting(50),
    ok(1),
    ok(2),
    ok(3),
]
PLAIN: list[Any] = [json.loads(encode(message)) for message in TOLD]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where there is something in a message."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def lie(message: Any, number: int, value: Any) -> Any:
    """Return the message with another value in one place."""
    lying = copy.deepcopy(message)
    path = list(places(lying))
    *above, last = path[number % len(path)]
    holder = lying
    for key in above:
        holder = holder[key]
    if last != "type":
        holder[last] = value
    return lying


class Mute:
    """A connection that only counts what is asked."""

    def __init__(self, dialogue: ClientSession) -> None:
        self._dialogue = dialogue
        self.url = "ws://localhost:8765"
        self.trust = Trust()

    def say(self, request: Request) -> None:
        """Take the request as if it were sent."""
        self._dialogue.say(request)


def check_picture(table: ClientController, now_ms: int) -> None:
    """Draw all that may be drawn, and look for what moves a cursor or hides."""
    for size, glyphs in (((120, 40), BOXES), ((80, 24), BOXES), ((40, 12), ASCII), ((20, 6), ASCII)):
        text = draw(table.display, size, now_ms, glyphs)
        check_text(text.plain)
    for telling in (BoardRenderer(ASCII), ScreenReader()):
        for part in telling.parts(table.display).values():
            check_text(part)
        for question in ("board", "row 2", "lines", "moves", "clock"):
            check_text(telling.answer(question, table.display, now_ms) or "")


def check_text(text: str) -> None:
    assert all(character.isprintable() or character == "\n" for character in text), ascii(text)


LIES = st.lists(
    st.tuples(st.integers(0, len(PLAIN) - 1), st.integers(0, 500), VALUES, st.sampled_from([*Command, *[None] * 20])),
    max_size=10,
)


ABOUT = {"tournament": "BCDFG", "rules": "connect4"}
"""The subjects of pages that show only replies about them."""


def at_screen(name: str) -> tuple[ClientSession, ClientController]:
    """Return a client whose screen waits for the replies that it shows."""
    session = ClientSession("Ann", None)
    session.opened()
    seek = SeekRequest(0, ["tictactoe"])
    controller = ClientController(cast(ClientConnection, Mute(session)), seek, "localhost:8765", has_lobby=True)
    ended = snapshot("tictactoe", [4, 0, 2, 1, 6]) if name == "replay" else snapshot("tictactoe", [4, 0])
    for message in (welcome(features=["analyse", "study", "puzzle", "hint", "tournaments"]), ended):
        for event in session.heard(message).tell:
            controller.hear(event, 0)
    if name == "replay":
        controller.do(STEP_THROUGH.command)
    else:
        controller.do(commands.Open(Page(name, about=ABOUT.get(name, ""))))
    return session, controller


SEEN = [
    (name, number)
    for name, screen in SCREENS.items()
    for number, message in enumerate(TOLD)
    if isinstance(message, ReplayReply if name == "replay" else screen.replies)
]


@pytest.mark.parametrize("name", dict(SEEN))
def test_every_screen_draws_evil_texts_and_impossible_numbers(name: str) -> None:
    for number in (number for screen, number in SEEN if screen == name):
        told = PLAIN[number]
        for place, path in enumerate(places(told)):
            was = functools.reduce(operator.getitem, path, told)
            is_further = any(isinstance(step, int) and step > 0 for step in path)  # as the first of its list
            if is_further or isinstance(was, dict | list | bool):
                continue
            for value in (EVIL,) if isinstance(was, str) else NUMBERS:
                try:
                    message = decode_server_message(json.dumps(lie(told, place, value)))
                except Refusal:
                    continue
                session, controller = at_screen(name)
                for event in session.heard(message).tell:
                    controller.hear(event, 0)
                check_text(draw(controller.display, (100, 30), 0, BOXES).plain)


SEATED = snapshot("tictactoe", [4, 0])
HAPPENED = [event for event in TOLD if isinstance(event, MatchEvent) and event.seq == SEATED.seq + 1]


@pytest.mark.parametrize("you", [0, None])
@pytest.mark.parametrize("event", HAPPENED, ids=lambda event: type(event).__name__)
def test_the_next_event_of_a_match_is_drawn_or_reported_whatever_its_numbers(
    event: MatchEvent, you: int | None
) -> None:
    told = json.loads(encode(event))
    for place, path in enumerate(places(told)):
        was = functools.reduce(operator.getitem, path, told)
        if path == ("seq",) or isinstance(was, dict | list | bool | str):
            continue
        for value in (2, MAX_NUMBER):
            session, controller = at_screen("match")
            session.say(WatchRequest(0, SEATED.match))
            happened = decode_server_message(json.dumps(lie(told, place, value)))
            for message in (msgspec.structs.replace(SEATED, you=you), happened):
                (seen,) = session.heard(message).tell
                controller.hear(seen, 0)
            check_picture(controller, 0)


@settings(max_examples=50)
@given(LIES)
def test_any_server_message_is_drawn_without_errors_or_side_effects(lies: list[Any]) -> None:
    dialogue = ClientSession("Ann", None)
    dialogue.opened()
    table = ClientController(
        cast(ClientConnection, Mute(dialogue)), SeekRequest(0, ["tictactoe"]), "localhost:8765", has_lobby=True
    )
    for number, (which, where, value, do) in enumerate([(0, 0, None, None), (1, 0, None, None), *lies]):
        told = PLAIN[which] if number < 2 else lie(PLAIN[which], where, value)
        try:
            message = decode_server_message(json.dumps(told))
        except Refusal:
            continue
        for event in dialogue.heard(message).tell:
            table.hear(event, number * 100)
        if do is not None:
            table.do(do)
        check_picture(table, number * 100)


class BotSide:
    """A connection of a bot, which checks what is sent."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def run(self) -> None:
        """Stay for as long as the bot plays."""
        await asyncio.get_running_loop().create_future()

    def say(self, request: Request) -> None:
        """Take a request that a server could read."""
        decode_request(encode(request))
        self._session.say(request)


async def look_at_all(turn: Turn) -> int:
    """Choose a move after a look at everything that a bot may look at."""
    assert len(turn.names) == len(turn.legal) > 0
    assert all(len(row) == turn.position.width for row in turn.position.rows)
    assert turn.columns == [] or turn.game.has_gravity
    return turn.move_named(turn.names[0])


async def lied_to(lies: list[Any]) -> list[str]:
    """Play as a bot of the SDK where a server lies; return the lines that the bot writes."""
    session = ClientSession("deep", None, BotProfile("sdk"))
    session.opened()
    inbox: asyncio.Queue[object] = asyncio.Queue()
    lines: list[str] = []
    plan = BotPlan(SeekRequest(0, ["tictactoe"]), None, 1, places=3, ladder_s=600)
    think = partial(think_by, look_at_all, lines.append)
    bot = Bot(BotSide(session), think, plan, lines.append, noticed=Story(lines.append).notice)
    playing = asyncio.ensure_future(bot.play(inbox))
    truth = [PLAIN[0] | {"you": {"name": "deep", "bot": "sdk"}}, PLAIN[1]]
    for number, (which, where, value, _) in enumerate([(0, 0, None, None), (1, 0, None, None), *lies]):
        told = truth[number] if number < 2 else lie(PLAIN[which], where, value)
        try:
            message = decode_server_message(json.dumps(told))
        except Refusal:
            continue
        for event in session.heard(message).tell:
            inbox.put_nowait(event)
        for _turn in range(5):  # of the loop, in which the bot thinks
            await asyncio.sleep(0)
    inbox.put_nowait(Stop())
    async with asyncio.timeout(PATIENCE_S):
        await playing
    return lines


@settings(max_examples=100)
@given(LIES)
def test_a_bot_plays_on_whatever_a_server_says_and_writes_nothing_that_has_effects(lies: list[Any]) -> None:
    for line in asyncio.run(lied_to(lies)):
        check_text(line)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_frame_is_read_or_refused(frame: bytes) -> None:
    try:
        decode_server_message(frame)
    except Refusal as refusal:
        check_text(str(refusal))


Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answers(*pieces: bytes, pause_s: float = 0.0, times: int = 1) -> Behaviour:
    """Return a server that waits for an opening and then sends these pieces."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        key = next((line for line in head.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key: ")), b"")
        for _ in range(times):
            for piece in pieces:
                writer.write(piece.replace(b"ACCEPT", accept(key.partition(b": ")[2])))
                await writer.drain()
                await asyncio.sleep(pause_s)

    return behave


def accept(key: bytes) -> bytes:
    """Return the answer to the key of an opening."""
    from websockets.utils import accept_key

    return accept_key(key.decode()).encode()


UPGRADE = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: ACCEPT\r\n\r\n"
)
BAD_SERVERS = {
    "says nothing and goes": answers(),
    "rubbish": answers(b"\xff\x00" * 500),
    "rubbish without end": answers(b"\xff" * 65_536, times=100),
    "a line without end": answers(b"HTTP/1.1 " + b"A" * 65_536, times=100),
    "headers without end": answers(b"HTTP/1.1 101 Switching Protocols\r\n", b"X: y\r\n" * 10_000, times=3),
    "another protocol": answers(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "a page": answers(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "an endless body": answers(b"HTTP/1.1 503 No\r\nContent-Type: text/plain\r\n\r\n", b"x" * 65_536, times=200),
    "a redirect to itself": answers(b"HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
    "a redirect to a file": answers(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
    "a wrong accept": answers(UPGRADE.replace(b"ACCEPT", b"AAAA")),
    "compression that nobody offered": answers(
        UPGRADE.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
    ),
    "a masked frame": answers(UPGRADE, b"\x81\x82\0\0\0\0{}"),
    "reserved bits": answers(UPGRADE, b"\xc1\x02{}"),
    "2^62 bytes": answers(UPGRADE, b"\x81\x7f" + (2**62).to_bytes(8, "big")),
    "2 MB in one frame": answers(UPGRADE, b"\x81\x7f" + (2**21).to_bytes(8, "big"), b"x" * 65_536, times=1),
    "fragments without end": answers(
        UPGRADE, b"\x01\x7e\xff\xff" + b"x" * 65_535, *[b"\x00\x7e\xff\xff" + b"x" * 65_535] * 40
    ),
    "no UTF-8": answers(UPGRADE, b"\x81\x02\xff\xff"),
    "a broken close": answers(UPGRADE, b"\x88\x01\x03"),
    "a close that means nothing": answers(UPGRADE, b"\x88\x02\x0f\xa0"),
    "pings without end": answers(UPGRADE, b"\x89\x00" * 1_000, times=30),
    "binary frames": answers(UPGRADE, b"\x82\x02{}" * 1_000),
    "silence after the opening": answers(UPGRADE, pause_s=30.0),
    "drops by the second": answers(*[UPGRADE[n : n + 1] for n in range(40)], pause_s=0.5),
}


@pytest.mark.parametrize("behaviour", BAD_SERVERS.values(), ids=BAD_SERVERS.keys())
async def test_a_server_with_another_protocol_ends_the_client_with_one_sentence(behaviour: Behaviour) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await behaviour(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**20)
    try:
        client = Client(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", ReconnectLimits(0, 0), "secret")
        async with asyncio.timeout(PATIENCE_S):
            await client.connection.run()
            farewell = await client.comes_to(Farewell)
        assert farewell.why in (Parting.UNREACHABLE, Parting.GIVEN_UP)
        check_text(farewell.sentence)
        assert farewell.sentence
    finally:
        server.close()


async def test_a_flood_of_events_of_unknown_matches_is_bounded() -> None:
    """The client stores a bounded part of matches, whatever a server sends."""
    dialogue = ClientSession("Ann", None)
    dialogue.opened()
    dialogue.heard(welcome())
    for number in range(2_000):
        dialogue.heard(msgspec.structs.replace(snapshot("tictactoe", [4]), match=f"m{number}"))
    assert sum(dialogue.is_following(f"m{number}") for number in range(2_000)) <= 64


@pytest.mark.parametrize("reason", ["", EVIL])
@pytest.mark.parametrize("closing", list(Closing), ids=lambda closing: closing.name)
async def test_every_way_to_be_sent_away_is_understood_and_its_reason_cleaned(closing: Closing, reason: str) -> None:
    async with fake_server() as server, client_of(server, ReconnectLimits(0, 0)) as client:
        link = await server.accepts()
        await link.lets_in()
        await link.closes(closing, reason)
        farewell = await client.comes_to(Farewell)
        check_text(farewell.sentence)


async def test_the_reason_of_a_refusal_is_cleaned() -> None:
    async with fake_server() as server, client_of(server, ReconnectLimits(0, 0)) as client:
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.sends(json.dumps({"type": "refused", "id": hello.id, "code": "bad_name", "message": EVIL}))
        farewell = await client.comes_to(Farewell)
        assert farewell.why is Parting.REJECTED
        check_text(farewell.sentence)


async def test_a_thousand_invalid_messages_are_reported_and_the_client_continues() -> None:
    async with fake_server() as server, client_of(server) as client:
        link = await server.accepts()
        await link.lets_in()
        for number in range(1_000):
            await nonsense(link, number)
        await link.tells(snapshot("tictactoe", [4]))
        while isinstance(event := await client.hears(object), Garbled) or not hasattr(event, "position"):
            if isinstance(event, Garbled):
                check_text(event.reason)
        assert not hasattr(event, "why")


async def nonsense(link: FakeLink, number: int) -> None:
    told: list[str | bytes] = [
        b"\x00" * 9,
        "{",
        "[]",
        f'{{"type":"{"x" * number}"}}',
        '{"type":"played"}',
        json.dumps({"type": EVIL}),
    ]
    await link.sends(told[number % len(told)])


def test_no_text_of_a_server_controls_the_terminal(open_terminal: Open) -> None:
    evil = PlayerInfo(EVIL, bot=EVIL)

    async def serve(opened: asyncio.Future[int]) -> None:
        async with fake_server() as server:
            opened.set_result(server.port)
            link = await server.accepts()
            hello = await link.hears(HelloRequest)
            await link.tells(ok(hello.id), msgspec.structs.replace(welcome("m1"), server=EVIL))
            match = snapshot("tictactoe", [4], opponent=evil)
            await link.tells(match, Chatted("m1", "players", evil, EVIL), CHALLENGED)
            await link.sends(json.dumps({"type": "refused", "id": None, "code": "storage", "message": EVIL}))
            await link.sends(json.dumps({"type": "played", "match": EVIL, "side": EVIL}))
            await link.tells(msgspec.structs.replace(match, match="m2"), Restarting(50))
            await asyncio.wait_for(link.socket.wait_closed(), PATIENCE_S)

    async def run() -> bytes:
        opened: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(serve(opened))
            terminal = open_terminal(f"127.0.0.1:{await opened}", "--name", "Ann")
            await asyncio.to_thread(terminal.shows, "PWNED")  # the letters of it, as a name
            end(terminal.child)
            serving.cancel()
        return terminal.raw

    raw = asyncio.run(run())
    for effect in (
        b"\x1b]0;PWNED",
        b"\x1b]52",
        b"\x1b[31m\xc2\x9b",
        b"\xc2\x9b31m",
        "\u202e".encode(),
        "\u2066".encode(),
    ):
        assert effect not in raw
