import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.fake_server import FakeLink, FakeServer, fake_server
from tests.client.samples import ANN, BEN, ok, played, snapshot, welcome
from tests.games.added import ENTRIES
from tests.patience import PATIENCE_S
from ttt_net.client.bot.engine_process import EngineProcess, Question, answer, knows_game, playable_games
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event
from ttt_net.errors import Code, ConfigurationError
from ttt_net.games import Game
from ttt_net.messages import (
    AbortRequest,
    AddedGame,
    AgreeRequest,
    AnswerRequest,
    AwayInfo,
    Challenged,
    ChallengeOver,
    ClaimRequest,
    DeclineRequest,
    Ended,
    HelloRequest,
    Offered,
    OfferInfo,
    PlayerInfo,
    PlayRequest,
    Presence,
    Refused,
    SeekRequest,
    Snapshot,
    Tookback,
    UnseekRequest,
)
from ttt_net.sdk.bots import Bot, BotPlan, ThinkQueue, Thought, Turn
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Parting, Tally
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit

SEEK = SeekRequest(0, ["tictactoe"])


def opponent_moves_first(**changes: object) -> Snapshot:
    """Return a match of the bot (here the second player) against Ann."""
    whole = snapshot(you=1)
    return replace(whole, players=(ANN, PlayerInfo("alphabeta", "alphabeta")), **changes)


@asynccontextmanager
async def bot_at(server: FakeServer, games: int | None = 1, places: int = 1) -> AsyncIterator[Bot]:
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    dialogue = ClientSession("alphabeta", None, BotProfile("alphabeta", places=places))
    connection = ClientConnection(server.url, dialogue, mailbox.put, FOREVER, lambda token: None)
    engine = EngineProcess("alphabeta", seed=1)
    plan = BotPlan(SEEK, games, move_ms=200, places=places)
    bot = Bot(connection, engine.choose, plan, lambda text: None)
    async with engine.started(lambda text: None), asyncio.TaskGroup() as group:
        playing = group.create_task(bot.play(mailbox))
        yield bot
        playing.cancel()


async def seated(server: FakeServer, **changes: object) -> FakeLink:
    """Let the bot in, hear it seek, and seat it as the second player."""
    link = await server.accepts()
    hello = await link.lets_in()
    assert hello.bot is not None
    seek = await link.hears(SeekRequest)
    await link.tells(ok(seek.id), opponent_moves_first(**changes))
    return link


async def test_a_bot_neither_seeks_nor_takes_a_game_of_a_package_that_it_lacks() -> None:
    plan = BotPlan(SeekRequest(0), 1, 200, knows=lambda game: game != "hex", known=("tictactoe", "connect4"))
    async with fake_server() as server, asyncio.TaskGroup() as group:
        mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        session = ClientSession("max", None, BotProfile("random"))
        connection = ClientConnection(server.url, session, mailbox.put, FOREVER, lambda token: None)

        async def think(turn: Turn) -> Thought:
            raise AssertionError("it is never its turn")

        playing = group.create_task(Bot(connection, think, plan, lambda text: None).play(mailbox))
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        added = [AddedGame("hex", "Hex", "connect your edges"), AddedGame("pente", "Pente", "five, or five pairs")]
        await link.tells(ok(hello.id), replace(welcome(you=PlayerInfo("max", "random")), games=added))
        seek = await link.grants(SeekRequest)
        assert seek.games == ["tictactoe", "connect4", "pente"]
        await link.tells(Challenged(1, ANN, PlayerInfo("max", "random"), "hex", 30_000))
        answer = await link.grants(AnswerRequest)
        assert (answer.accept, answer.reason) == (False, "another_game")
        await link.tells(Challenged(2, ANN, PlayerInfo("max", "random"), "pente", 30_000))
        assert (await link.grants(AnswerRequest)).accept
        playing.cancel()


def test_a_strategy_knows_the_games_of_packages_that_are_installed_here(install: Any) -> None:
    install()
    knows = knows_game("alphabeta")
    assert [knows(game) for game in ("connect4", "mnk:9x9,5", "othello")] == [True, True, False]
    install(*ENTRIES)
    assert [knows(game) for game in ("othello", "nonesuch")] == [True, False]


async def test_a_bot_seeks_rated_matches_with_bots_at_its_interval_and_nobody_else_for_ratings() -> None:
    inbox: asyncio.Queue[Any] = asyncio.Queue()
    said: asyncio.Queue[Any] = asyncio.Queue()
    now_s = 0.0

    class Link:
        async def run(self) -> None:
            await asyncio.get_running_loop().create_future()

        def say(self, request: object) -> None:
            said.put_nowait(request)

    async def think(turn: Turn) -> Thought:
        raise AssertionError("it is never its turn")

    async def plays(number: int, *, rated: bool, opponent: PlayerInfo) -> SeekRequest:
        """Begin and end a match, and return the next seek."""
        match = replace(snapshot(you=1, match=f"m{number}"), players=(opponent, PlayerInfo("max", "sdk")), rated=rated)
        for event in (match, Ended(f"m{number}", 2, 0, winner=1, reason="resign")):
            inbox.put_nowait(event)
        sought = await said.get()
        assert isinstance(sought, SeekRequest)
        return sought

    plan = BotPlan(replace(SEEK, opponents="people"), None, 200, ladder_s=600)
    bot = Bot(Link(), think, plan, lambda text: None, now_ms=lambda: int(now_s * 1000))
    marked = replace(SEEK, rated=True, or_casual=True)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        playing = group.create_task(bot.play(inbox))
        inbox.put_nowait(replace(welcome(you=PlayerInfo("max", "sdk")), features=["or_casual"]))
        assert await said.get() == marked, "the first match of the ladder is due at once"
        assert await plays(1, rated=False, opponent=ANN) == marked, "a casual match with a person is none of the ladder"
        assert await plays(2, rated=True, opponent=PlayerInfo("zoe", "sdk")) == plan.seek
        now_s = 599.9
        assert await plays(3, rated=False, opponent=ANN) == plan.seek
        now_s = 600.0
        assert await plays(4, rated=False, opponent=ANN) == marked
        inbox.put_nowait(replace(welcome(you=PlayerInfo("max", "sdk")), features=[]))
        assert await plays(5, rated=False, opponent=ANN) == plan.seek, "an older server would refuse the mark"
        playing.cancel()


async def test_a_bot_whose_match_of_the_ladder_comes_due_makes_its_seek_anew() -> None:
    inbox: asyncio.Queue[Any] = asyncio.Queue()
    said: asyncio.Queue[Any] = asyncio.Queue()

    class Link:
        async def run(self) -> None:
            await asyncio.get_running_loop().create_future()

        def say(self, request: object) -> None:
            said.put_nowait(request)

    async def think(turn: Turn) -> Thought:
        raise AssertionError("it is never its turn")

    bot = Bot(Link(), think, BotPlan(SEEK, None, 200, ladder_s=0.05), lambda text: None)
    match = replace(snapshot(you=1), players=(PlayerInfo("zoe", "sdk"), PlayerInfo("max", "sdk")), rated=True)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        playing = group.create_task(bot.play(inbox))
        inbox.put_nowait(replace(welcome(you=PlayerInfo("max", "sdk")), features=["or_casual"]))
        await said.get()
        for event in (match, Ended("m1", 2, 0, winner=1, reason="resign")):
            inbox.put_nowait(event)
        assert await said.get() == SEEK
        assert await said.get() == replace(SEEK, rated=True, or_casual=True)
        playing.cancel()


async def test_a_bot_seeks_plays_and_leaves_when_its_games_are_played() -> None:
    async with fake_server() as server, bot_at(server) as bot:
        link = await seated(server)
        await link.tells(played("tictactoe", [0]))
        play = await link.hears(PlayRequest)
        assert (play.ply, play.move) == (1, 4), "the middle is the only answer to a corner"
        await link.tells(ok(play.id), played("tictactoe", [0, 4]), Ended("m1", 4, 0, winner=1, reason="resign"))
        assert await link.is_closed() == 1000
        assert bot.tally == Tally(won=1)


async def test_a_bot_without_an_end_seeks_again_and_accepts_a_rematch_instead() -> None:
    async with fake_server() as server, bot_at(server, games=None):
        link = await seated(server)
        await link.tells(Ended("m1", 2, 0, winner=0, reason="resign"))
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), Offered("m1", 3, 0, side=0, kind="rematch"))
        await link.hears(UnseekRequest)
        answer = await link.hears(AgreeRequest)
        assert (answer.match, answer.offer) == ("m1", 3)
        await link.tells(Refused(answer.id, Code.OPPONENT_GONE, "gone"))
        await link.hears(SeekRequest)


@pytest.mark.parametrize("moves", [[], [0, 4]])
async def test_a_bot_accepts_no_draw_early_in_a_match(moves: list[int]) -> None:
    async with fake_server() as server, bot_at(server):
        link = await seated(server, **(_after(moves) if moves else {}))
        await link.tells(Offered("m1", 2 + len(moves), 0, side=0, kind="draw"))
        assert (await link.hears(DeclineRequest)).kind == "draw"


async def test_a_bot_accepts_a_draw_unless_it_sees_a_win() -> None:
    async with fake_server() as server, bot_at(server):
        link = await seated(server, **_after([0, 4, 8]))
        await link.hears(PlayRequest)
        await link.tells(Offered("m1", 5, 0, side=0, kind="draw"))
        assert (await link.hears(AgreeRequest)).offer == 5
        await link.tells(Ended("m1", 6, 0, winner=None, reason="agreement"))
    async with fake_server() as server, bot_at(server):
        moves = [0, 4, 1, 2, 8]
        link = await seated(server, **_after(moves))
        assert (await link.hears(PlayRequest)).move == 6
        await link.tells(Offered("m1", 7, 0, side=0, kind="draw"))
        declined = await link.hears(DeclineRequest)
        assert (declined.kind, declined.offer) == ("draw", 7)


async def test_a_bot_answers_an_offer_that_a_snapshot_shows_it_once() -> None:
    async with fake_server() as server, bot_at(server):
        link = await seated(server, seq=3, offers=[OfferInfo(0, "takeback", 3)])
        assert (await link.hears(AgreeRequest)).offer == 3
        await link.tells(opponent_moves_first(seq=3, offers=[OfferInfo(0, "takeback", 3)]))
        await link.tells(Offered("m1", 4, 0, side=0, kind="draw"))
        assert (await link.hears(DeclineRequest)).offer == 4


@pytest.mark.parametrize(("value", "is_winning"), [(None, False), (0, False), (49, False), (50, True), (-90, False)])
def test_a_bot_that_is_clearly_ahead_by_its_own_estimate_accepts_no_draw(value: int | None, is_winning: bool) -> None:
    class Estimating:
        name, idea = "estimating", "it says always the same"

        def objection(self, game: Game[Any]) -> str | None:
            return None

        def __call__(self, game: Game[Any], state: Any, limit: Limit = ONE_SECOND) -> Choice:
            return Choice(4, value, (4,), Counts())

    assert answer(Estimating(), Question("tictactoe", [], 10)) == Thought(4, is_winning)


def _after(moves: list[int]) -> dict[str, object]:
    whole = snapshot(moves=moves)
    return {"moves": moves, "position": whole.position, "seq": whole.seq, "last": moves[-1]}


async def test_a_bot_accepts_take_backs_and_thinks_again() -> None:
    async with fake_server() as server, bot_at(server):
        link = await seated(server)
        await link.tells(played("tictactoe", [0]))
        play = await link.hears(PlayRequest)
        await link.tells(ok(play.id), played("tictactoe", [0, 4]), Offered("m1", 4, 0, side=0, kind="takeback"))
        assert (await link.hears(AgreeRequest)).offer == 4
        empty = snapshot().position
        await link.tells(Tookback("m1", 5, 0, side=0, ply=0, position=empty), played("tictactoe", [4], seq=6))
        again = await link.hears(PlayRequest)
        assert again.ply == 1
        assert again.move in (0, 2, 6, 8)


async def test_a_busy_bot_claims_the_match_whose_opponent_left_first() -> None:
    async with fake_server() as server, bot_at(server):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        away = opponent_moves_first(present=(False, True))
        await link.tells(away, Presence("m1", side=0, online=False))
        await link.tells(Refused(seek.id, Code.TOO_MANY_MATCHES, "too many", retry_after_ms=1))
        claim = await link.hears(ClaimRequest)
        assert (claim.match, claim.kind) == ("m1", "draw"), "nobody loses a casual match by a bad link"


@pytest.mark.parametrize(("is_rated", "kind"), [(True, "win"), (False, "draw")])
async def test_a_bot_claims_again_when_the_server_extends_the_grace(*, is_rated: bool, kind: str) -> None:
    async with fake_server() as server, bot_at(server):
        link = await seated(server, rated=is_rated)
        await link.tells(Presence("m1", side=0, online=False, away=AwayInfo(0, on_purpose=False, claim_in_ms=1)))
        for _ in range(3):
            claim = await link.hears(ClaimRequest)
            assert (claim.match, claim.kind) == ("m1", kind)
            await link.tells(Refused(claim.id, Code.OPPONENT_HERE, "they may come back", retry_after_ms=1))
        claim = await link.hears(ClaimRequest)
        await link.tells(ok(claim.id))


async def test_a_bot_leaves_a_game_that_it_does_not_know() -> None:
    async with fake_server() as server, bot_at(server):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        unknown = replace(snapshot(), game=replace(snapshot().game, name="a game of tomorrow"))
        await link.tells(ok(seek.id), unknown)
        assert (await link.hears(AbortRequest)).match == "m1"


@pytest.mark.parametrize("code", [Code.UNKNOWN_GAME, Code.ALWAYS_CASUAL])
async def test_a_seek_that_can_never_be_met_ends_the_bot(code: Code) -> None:
    async with fake_server() as server, bot_at(server) as bot:
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(Refused(seek.id, code, "never"))
        await link.is_closed()
        assert bot.farewell is not None
        assert bot.farewell.why is Parting.REJECTED


async def test_an_engine_thinks_without_holding_the_loop() -> None:
    engine = EngineProcess("alphabeta", seed=1)
    await engine.start()
    beats = 0
    async with asyncio.TaskGroup() as group:
        thinking = group.create_task(engine.think(Question("connect4", [], 300)))
        while not thinking.done():
            await asyncio.sleep(0)
            beats += 1
    await engine.stop()
    assert thinking.result().move is not None
    assert beats > 50  # a search on the loop's own thread would leave two or three


async def test_an_engine_thinks_from_the_start_that_the_match_had() -> None:
    engine = EngineProcess("alphabeta", games=["tictactoe"])
    async with asyncio.timeout(PATIENCE_S):
        thought = await engine.think(Question("tictactoe", [5], 1000, "XX./.../OO."))
        wrong = await engine.think(Question("tictactoe", [], 1000, "XXX/OO./..."))
    await engine.stop()
    assert (thought.move, thought.is_winning) == (8, True)
    assert wrong.move is None
    assert "over" in wrong.objection


async def test_an_engine_that_died_is_started_again() -> None:
    engine = EngineProcess("random", seed=1)
    async with asyncio.timeout(PATIENCE_S):
        await engine.start()
        await engine.stop()
        thought = await engine.think(Question("tictactoe", [0, 1, 2, 3], 10))
    await engine.stop()
    assert thought.move in (4, 5, 6, 7, 8)


async def test_the_same_seed_makes_the_same_choices() -> None:
    engines = [EngineProcess("random", seed=7), EngineProcess("random", seed=7)]
    chosen = []
    for engine in engines:
        chosen.append([(await engine.think(Question("connect4", [], 10))).move for _ in range(10)])
        await engine.stop()
    assert chosen[0] == chosen[1]


def test_an_unknown_strategy_is_a_configuration_error() -> None:
    assert playable_games("random") == []
    with pytest.raises(ConfigurationError, match="alphabeta"):
        playable_games("deepblue")
    with pytest.raises(ConfigurationError, match="1 to 8"):
        playable_games("alphabeta", level=9)


async def test_a_bot_waits_in_an_adjourned_match_until_its_opponent_is_back() -> None:
    async with fake_server() as server, bot_at(server) as bot:
        link = await seated(
            server, present=(False, True), adjourned=True, position=played("tictactoe", [0, 4, 8]).position
        )
        await link.hears(SeekRequest)
        await link.tells(Offered("m1", 2, 0, side=0, kind="draw"))
        answer = await link.hears(AgreeRequest)
        assert bot.asked == {}, "a move would be refused while the other is away"
        await link.tells(ok(answer.id), Presence("m1", 0, online=True))
        play = await link.hears(PlayRequest)
        assert play.match == "m1"


async def test_endless_moves_and_take_backs_do_not_fill_the_memory_of_a_bot() -> None:
    async with fake_server() as server, bot_at(server) as bot:
        link = await seated(server)
        for round_ in range(100):
            seq = 2 + 2 * round_
            move = replace(played("tictactoe", [0]), seq=seq)
            empty = snapshot(you=1).position
            await link.tells(move, Tookback("m1", seq + 1, 0, side=0, ply=0, position=empty))
        await link.tells(replace(played("tictactoe", [0]), seq=202))
        play = await link.hears(PlayRequest)
        assert play.ply == 1
        assert len(bot.queue) <= 1


def challenge(number: int, by: PlayerInfo = BEN, game: str = "tictactoe") -> Challenged:
    return Challenged(number, by, PlayerInfo("alphabeta", "alphabeta"), game, 30_000)


async def test_a_bot_plays_as_many_as_it_has_places_and_seeks_while_one_is_free() -> None:
    async with fake_server() as server, bot_at(server, games=None, places=2):
        link = await seated(server)
        again = await link.hears(SeekRequest)
        await link.tells(ok(again.id), challenge(7))
        answer = await link.hears(AnswerRequest)
        assert (answer.challenge, answer.accept) == (7, True)
        await link.tells(ok(answer.id), challenge(8))
        late = await link.hears(AnswerRequest)
        assert (late.accept, late.reason) == (False, "later"), "the place is taken, although the match is not there yet"
        await link.tells(ok(late.id), opponent_moves_first(match="m2"))
        await link.tells(replace(played("tictactoe", [0]), match="m2"), played("tictactoe", [0]))
        assert {(await link.hears(PlayRequest)).match for _ in range(2)} == {"m1", "m2"}
        await link.tells(Ended("m1", 3, 0, winner=0, reason="resign"))
        await link.hears(SeekRequest)


async def test_a_bot_says_why_a_challenge_is_not_for_it_and_forgets_one_that_is_over() -> None:
    people_only = replace(SEEK, opponents="people")
    assert BotPlan(people_only, None, 100).objection(challenge(1, by=PlayerInfo("Zed", "random"))) == "no_bots"
    assert BotPlan(SEEK, None, 100).objection(challenge(1, game="qubic")) == "another_game"
    assert BotPlan(SeekRequest(0), None, 100).objection(challenge(1)) is None
    async with fake_server() as server, bot_at(server, games=None):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), challenge(1))
        await link.tells(ok((await link.hears(AnswerRequest)).id), ChallengeOver(1, "gone"), challenge(2))
        assert (await link.hears(AnswerRequest)).accept


async def test_a_bot_with_a_number_of_games_to_play_begins_no_more_than_those() -> None:
    async with fake_server() as server, bot_at(server, games=2, places=4):
        link = await seated(server)
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), opponent_moves_first(match="m2"), challenge(1))
        assert (await link.hears(AnswerRequest)).reason == "later"


async def test_the_match_with_the_least_time_left_is_thought_about_first() -> None:
    queue = ThinkQueue()
    for name in ("untimed", "slow", "fast", "slow"):
        queue.add(name)
    left_ms = {"untimed": math.inf, "slow": 9_000.0, "fast": 500.0}
    assert [await queue.next(lambda name: left_ms[name]) for _ in range(3)] == ["fast", "slow", "untimed"]
    assert len(queue) == 0


async def test_the_more_matches_wait_the_shorter_each_is_thought_about() -> None:
    async with fake_server() as server, bot_at(server, games=None, places=4) as bot:
        await seated(server)
        match = opponent_moves_first()
        assert bot.budget_ms(match) == 200
        for name in ("a", "b", "c"):
            bot.queue.add(name)
        assert bot.budget_ms(match) == 50
