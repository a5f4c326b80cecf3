"""Play a whole Swiss on a server that is killed during rounds; the checker knows only the protocol.

`python -m benchmarks.tournament --players 24 --rounds 5 --kills 2` takes about half a minute. The server is a process
that is killed with SIGKILL; the players come back by their tokens and resume. Everything is counted from their
messages: the matches that began, the results in their histories, and the final standings. The exit code is 1 if a
result was lost or counted twice, or if the standings are not what the results say. With `--nodes 3` there are three
servers of a cluster, and the one that directs the tournament is killed.

With `--late 1`, another player enters while round 2 is played; with `--leave 1`, one leaves while round 3 is played.
"""

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from benchmarks.cluster import differing_tables, running
from benchmarks.soak import serving

Message = dict[str, Any]
TEACHER = "Teacher"
_PATIENCE_S = 240.0
_RETRY_S = 0.1
_SETTINGS = (
    "--rate",
    "10000",
    "--limits-matches",
    "10000/s",
    "--limits-writes",
    "10000/s",
    "--limits-work",
    "1000000/s",
)
_LOST = (ConnectionClosed, OSError, InvalidHandshake, InvalidMessage, EOFError)


class Course(NamedTuple):
    """How large the tournament is, and how rough."""

    players: int
    rounds: int
    kills: int
    thought_s: float
    """How long a move takes, on average."""
    late: int = 0
    """How many more players enter while round 2 is played."""
    leave: int = 0
    """How many players leave while round 3 is played."""


class Book:
    """Everything that the players were told about the tournament."""

    def __init__(self) -> None:
        self.code = asyncio.get_running_loop().create_future()
        self.places: dict[str, tuple[int, int]] = {}
        """Round and board of each match that began."""
        self.seats: dict[str, tuple[str, str]] = {}
        self.byes: set[tuple[int, str]] = set()
        """The round and the player of each bye."""
        self.ended: Counter[int] = Counter()
        """Ends that were heard, by round."""
        self.heard_ends: set[str] = set()
        self.something = asyncio.Event()
        """Set whenever an end was heard, or the tournament has changed."""
        self.changed = asyncio.Event()
        """Set whenever the tournament was told."""
        self.told = asyncio.get_running_loop().create_future()
        """The first message about the tournament."""
        self.last: Message = {}
        """The tournament as it was last told."""

    def note(self, message: Message) -> None:
        """Take note of a message."""
        if message["type"] == "snapshot" and "tournament" in message:
            place = message["tournament"]
            self.places[message["match"]] = place["round"], place["board"]
            first, second = (player["name"] for player in message["players"])
            self.seats[message["match"]] = first, second
            if "outcome" in message:
                self._ended(message["match"])
        elif message["type"] == "ended":
            self._ended(message["match"])
        elif message["type"] == "tournament":
            self.last = message
            self.byes |= {(message["round"], each["first"]) for each in message["boards"] if "second" not in each}
            if not self.told.done():
                self.told.set_result(message)
            self.something.set()
            self.changed.set()

    def _ended(self, match: str) -> None:
        if match in self.places and match not in self.heard_ends:
            self.heard_ends.add(match)
            self.ended[self.places[match][0]] += 1
            self.something.set()


class Person:
    """One player, who thinks a while about each move, and comes back after each loss of the connection."""

    def __init__(self, name: str, urls: Sequence[str], book: Book, course: Course) -> None:
        self.name = name
        self.is_in = True
        """Whether they enter the tournament when they connect."""
        self.token = ""
        self.socket: ClientConnection | None = None
        self._urls, self._book, self._course = urls, book, course
        self._rng = random.Random(name)
        self._id = 0
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._positions: dict[str, Message] = {}
        self._sides: dict[str, int] = {}
        self.replies: asyncio.Queue[Message] = asyncio.Queue()
        """Messages of other types, as they come."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def live(self) -> None:
        """Play until cancelled."""
        while True:
            with suppress(*_LOST):
                async with connect(self._rng.choice(self._urls), proxy=None, compression=None) as socket:
                    try:
                        await self._enter(socket)
                        async for frame in socket:
                            await self._hear(json.loads(frame))
                    finally:
                        self.socket = None
                        for waiting in self._waiting.values():
                            waiting.cancel()
                        self._waiting.clear()
            await asyncio.sleep(_RETRY_S)

    async def say(self, type: str, **fields: object) -> int:
        """Send a request."""
        assert self.socket is not None
        self._id += 1
        await self.socket.send(json.dumps({"type": type, "id": self._id, **fields}))
        return self._id

    async def ask(self, type: str, **fields: object) -> Message:
        """Send a request until it has an answer, whatever becomes of the connection; return that."""
        while True:
            with suppress(asyncio.CancelledError, AssertionError, *_LOST):
                number = await self.say(type, **fields)
                self._waiting[number] = asyncio.get_running_loop().create_future()
                answer = await self._waiting[number]
                if answer["type"] == "ok" or answer["code"] not in ("too_fast", "restarting", "storage"):
                    return answer
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError
            await asyncio.sleep(_RETRY_S)

    async def _enter(self, socket: ClientConnection) -> None:
        who = {"token": self.token} if self.token else {"name": self.name}
        self._id += 1
        await socket.send(json.dumps({"type": "hello", "id": self._id, "protocols": [1], **who}))
        while (told := json.loads(await socket.recv()))["type"] != "welcome":
            if told["type"] == "refused":
                raise EOFError(told["message"])
        self.token = told.get("token", self.token)
        self.socket = socket
        if self._book.code.done():
            await self.say("enter" if self.is_in else "attend", tournament=self._book.code.result())
        for match in told["matches"]:
            await self.say("resume", match=match, seq=0)

    async def _hear(self, message: Message) -> None:
        self._book.note(message)
        kind = message["type"]
        if kind in ("ok", "refused"):
            waiting = self._waiting.pop(message["id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif kind == "snapshot":
            self._sides[message["match"]] = message["you"]
            self._see(message["match"], message["position"])
        elif kind == "played" and message["match"] in self._sides:
            self._see(message["match"], message["position"])
        else:
            self.replies.put_nowait(message)

    def _see(self, match: str, position: Message) -> None:
        self._positions[match] = position
        if position["to_move"] == self._sides[match]:
            task = asyncio.ensure_future(self._move(match, position))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _move(self, match: str, position: Message) -> None:
        await asyncio.sleep(self._rng.uniform(0, 2 * self._course.thought_s))
        if self._positions[match]["ply"] == position["ply"] and self.socket is not None:
            with suppress(*_LOST):  # it comes back, sees the position again, and moves
                await self.say("play", match=match, ply=position["ply"], move=self._rng.choice(position["legal"]))

    async def reply(self, type: str) -> Message:
        """Return the next message of that type."""
        while (message := await self.replies.get())["type"] != type:
            pass
        return message

    async def history(self) -> dict[str, tuple[int | None, str]]:
        """Return winner and reason of all finished matches."""
        found: dict[str, tuple[int | None, str]] = {}
        before: dict[str, object] = {}
        while True:
            await self.ask("history", **before)
            page = await self.reply("history")
            found |= {row["match"]: (row["winner"], row["reason"]) for row in page["matches"]}
            if page["before"] is None:
                return found
            before = {"before": page["before"]}


class Verdict(NamedTuple):
    """The counts of one run, and its faults."""

    matches: int
    lost: int
    twice: int
    faults: list[str]


def expected(names: list[str], course: Course, round_number: int) -> list[str]:
    """Return the players of a round; the late-comers are the last of `names`, and the first leave."""
    most = len(names) if round_number > 2 else len(names) - course.late
    return names[course.leave if round_number > 3 else 0 : most]


def judge(book: Book, results: dict[str, tuple[int | None, str]], names: list[str], course: Course) -> Verdict:
    """Compare the standings with the results of all matches, counted here."""
    faults = []
    lost = [match for match in book.places if match not in results]
    scores = dict.fromkeys(names, 0)
    met: Counter[frozenset[str]] = Counter()
    boards = Counter(book.places.values())
    for match, (round_number, _) in book.places.items():
        pair = book.seats[match]
        met[frozenset(pair)] += 1
        if match in results:
            winner, reason = results[match]
            points = (1, 1) if winner is None else (2, 0) if winner == 0 else (0, 2)
            for name, each in zip(pair, points, strict=True):
                scores[name] += each
            if reason in ("abort", "forfeit"):
                faults.append(f"match {match} of round {round_number} ended by {reason}")
    for _, name in book.byes:
        scores[name] += 2
    twice = sum(count - 1 for count in boards.values())
    for round_number in range(1, course.rounds + 1):
        seats = [name for match, (each, _) in book.places.items() if each == round_number for name in book.seats[match]]
        seats += [name for each, name in book.byes if each == round_number]
        if sorted(seats) != sorted(expected(names, course, round_number)):
            faults.append(f"round {round_number} has not every player once")
    faults += [f"{' and '.join(sorted(pair))} met {count} times" for pair, count in met.items() if count > 1]
    told = {row["player"]: row["score"] for row in book.last["standings"]}
    if told != scores:
        wrong = {name: (told.get(name), score) for name, score in scores.items() if told.get(name) != score}
        faults.append(f"standings are wrong: {wrong}")
    ordered = [row["score"] for row in book.last["standings"]]
    if ordered != sorted(ordered, reverse=True):
        faults.append("standings are not in order")
    extra = max(0, sum(told.values()) - 2 * (len(book.places) + len(book.byes)))
    return Verdict(len(book.places), len(lost), twice + extra, faults)


class Evening:
    """A tournament with its people, who connect to any of some addresses."""

    def __init__(self, course: Course, urls: Sequence[str], tasks: asyncio.TaskGroup) -> None:
        self.course, self.book, self.killed = course, Book(), 0
        self._names = [f"Player {number}" for number in range(1, course.players + course.late + 1)]
        self._kills = {round(1 + (each + 1) * course.rounds / (course.kills + 1)) for each in range(course.kills)}
        teacher = Person(TEACHER, urls, self.book, course)
        teacher.is_in = False
        self._people = [Person(name, urls, self.book, course) for name in self._names]
        for person in self._people[course.players :]:
            person.is_in = False
        self._living = [tasks.create_task(each.live()) for each in (teacher, *self._people)]
        tasks.create_task(_open(teacher, self._people, course, self.book))

    async def is_to_be_killed(self) -> bool:
        """Wait until a server is to be killed in mid-round; return False once the tournament is over."""
        book, players = self.book, self.course.players
        while book.last.get("state") != "over":
            await book.something.wait()
            book.something.clear()
            newest = max(book.ended, default=0)
            if newest in self._kills and players // 6 <= book.ended[newest] < players // 2:
                self._kills.discard(newest)
                self.killed += 1
                print(f"killed in round {newest} with {book.ended[newest]} boards ended", flush=True)
                return True
        return False

    async def verdict(self) -> Verdict:
        """Let everybody tell their results, and leave; judge the tournament."""
        results: dict[str, tuple[int | None, str]] = {}
        for person in self._people:
            results |= await person.history()
        for task in self._living:
            task.cancel()
        verdict = judge(self.book, results, self._names, self.course)
        if self.killed != self.course.kills:
            verdict.faults.append(f"the server was killed {self.killed} times")
        return verdict


async def play(course: Course, folder: Path) -> Verdict:
    """Run the tournament on one server, with its kills, and judge it."""
    async with asyncio.timeout(_PATIENCE_S), asyncio.TaskGroup() as tasks:
        port, evening = 0, None
        while True:
            async with serving(folder, *_SETTINGS, port=port) as (process, port):
                evening = evening or Evening(course, [f"ws://127.0.0.1:{port}/"], tasks)
                if not await evening.is_to_be_killed():
                    return await evening.verdict()
                process.send_signal(signal.SIGKILL)


async def play_on_nodes(course: Course, folder: Path, nodes: int) -> Verdict:
    """Run the tournament on a cluster whose stewards are killed, and judge it; all nodes must end with equal tables."""
    async with asyncio.timeout(_PATIENCE_S), running(folder, nodes, random.Random(1), _SETTINGS) as cluster:
        async with asyncio.TaskGroup() as tasks:
            evening = Evening(course, [node.url for node in cluster.nodes], tasks)
            while await evening.is_to_be_killed():
                steward = cluster.nodes[(evening.killed - 1) % nodes]  # the next is the oldest that runs
                await steward.end()
                await steward.start()
                await steward.wait_ready()
            verdict = await evening.verdict()
        for node in cluster.nodes:
            await node.end(signal.SIGTERM)
        differing = differing_tables([node.journal for node in cluster.nodes])
        verdict.faults.extend(f"the nodes differ in {name}" for name in differing)
        return verdict


async def _open(teacher: Person, people: list[Person], course: Course, book: Book) -> None:
    """Make the tournament, wait until all have entered, and start it."""
    terms = {"kind": "swiss", "rounds": course.rounds, "time": {"initial_ms": 60_000}, "pause_s": 1}
    answer = await teacher.ask("organise", name="Friday", **terms)
    assert answer["type"] == "ok", answer
    code = (await book.told)["tournament"]
    book.code.set_result(code)
    await teacher.ask("attend", tournament=code)
    for person in people[: course.players]:
        answer = await person.ask("enter", tournament=code)
        assert answer["type"] == "ok", answer
    await teacher.ask("direct", tournament=code, act="start")
    await _in_round(book, 2)
    for person in people[course.players :]:
        person.is_in = True
        assert (await person.ask("enter", tournament=code))["type"] == "ok"
    await _in_round(book, 3)
    for person in people[: course.leave]:
        person.is_in = False
        assert (await person.ask("withdraw", tournament=code))["type"] == "ok"


async def _in_round(book: Book, number: int) -> None:
    while book.last.get("round", 0) < number and book.last.get("state") != "over":
        await book.changed.wait()
        book.changed.clear()


def main() -> int:
    """Run it and print the verdict."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tournament", description=__doc__)
    parser.add_argument("--players", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kills", type=int, default=2, help="how often the server is killed in mid-round")
    parser.add_argument("--thought", type=float, default=0.15, metavar="S", help="mean time of a move")
    parser.add_argument("--nodes", type=int, default=1, help="servers of a cluster, of which the stewards are killed")
    parser.add_argument("--late", type=int, default=0, help="players who enter while round 2 is played")
    parser.add_argument("--leave", type=int, default=0, help="players who leave while round 3 is played")
    args = parser.parse_args()
    course = Course(args.players, args.rounds, args.kills, args.thought, args.late, args.leave)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        verdict = asyncio.run(play(course, place) if args.nodes == 1 else play_on_nodes(course, place, args.nodes))
    for fault in verdict.faults:
        print(fault)
    is_right = not verdict.faults and not verdict.lost and not verdict.twice
    print(
        f"{course.players} players, {course.rounds} rounds, {verdict.matches} matches, {verdict.lost} lost,"
        f" {verdict.twice} counted twice, standings {'right' if is_right else 'wrong'}"
    )
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
