"""Every client of this repository stands the scenarios of docs/conformance.json."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.client.fake_server import FakeLink, FakeServer, fake_server
from tests.conformance import clients
from tests.conformance.scenarios import SCENARIOS, TARGET, Step, published
from tests.patience import PATIENCE_S
from tests.server.peer import Peer
from tests.server.running import Server, running

CLIENTS: dict[str, Callable[[str, Path], Any]] = {
    "sdk": clients.sdk,
    "terminal": clients.terminal,
    "house bot": clients.house_bot,
    "bot of docs/bots.md on the sdk": clients.printed_bot("sdk"),
    "bot of docs/bots.md on a socket": clients.printed_bot("websocket"),
    "new bot in node": clients.new_bot("node"),
    "new bot in go": clients.new_bot("go"),
    "new bot in c": clients.new_bot("c"),
}
_BY_THEMSELVES = {"seek", "play"}
"""The actions that a bot does unasked."""
_ALWAYS = [{"type": "ping"}, {"type": "analyse"}]
"""Requests that a client may send at any time."""


def can_act(client: str, steps: list[Step]) -> bool:
    """Tell whether a scenario is for a client: bots only search and play, and one of them does not come back."""
    if "bot" not in client:
        return True
    requests = [step["hears"]["type"] for step in steps if "hears" in step]
    acts = {step["does"] for step in steps if "does" in step}
    if "socket" in client and ("resume" in requests or requests.count("hello") > 1):
        return False
    return acts <= _BY_THEMSELVES and "seek" in acts


class Script:
    """A server that goes through the steps of a scenario with one client."""

    def __init__(self, server: FakeServer, player: clients.Player) -> None:
        self._server, self._player = server, player
        self._link: FakeLink | None = None
        self._ids: dict[str, int] = {}
        self._sought: dict[str, Any] = {}
        self._may: list[Step] = [{"may": each} for each in _ALWAYS]

    async def run(self, steps: list[Step]) -> None:
        """Go through the steps; raises `AssertionError` where the client does something else."""
        for number, step in enumerate(steps):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._take(step)
            except TimeoutError:
                raise AssertionError(f"step {number} does not come: {step}") from None

    async def _take(self, step: Step) -> None:
        match step:
            case {"accepts": _}:
                self._link = await self._server.accepts()
            case {"hears": wanted, "as": name}:
                said = await self._hear(wanted)
                self._ids[name] = said["id"]
                if said["type"] == "seek":
                    self._sought = {key: value for key, value in said.items() if key not in ("type", "id")}
            case {"says": message}:
                if isinstance(number := message.get("id"), str):
                    message = {**message, "id": self._ids[number[1:]]}
                if message["type"] == "welcome" and "seek" in message:
                    message = {**message, "seek": {"seek": 7, "by": message["you"], "games": [], **self._sought}}
                await self._there.sends(json.dumps(message))
            case {"may": _}:
                self._may.append(step)
            case {"does": action, **what}:
                await until(self._player, lambda: self._player.is_welcome)
                self._player.do(action, what)
            case {"loses": _}:
                await self._there.breaks()
            case {"closes": code}:
                await self._there.closes(code)
            case {"quiet_ms": quiet_ms}:
                await self._is_quiet(quiet_ms / 1000)
            case {"knows": facts}:
                if not isinstance(self._player, clients.SelfPlayer):
                    await until(self._player, lambda: knows(self._player, facts))
            case {"told": code}:
                await until(self._player, lambda: was_told(code, self._player))
            case _:
                raise AssertionError(f"no step: {step}")

    @property
    def _there(self) -> FakeLink:
        assert self._link is not None
        return self._link

    async def _hear(self, wanted: Step) -> dict[str, Any]:
        """Return the next request, which is the wanted one; those that may come before it are answered."""
        while True:
            said: dict[str, Any] = json.loads(await self._there.socket.recv())
            if matches(said, wanted):
                return said
            await self._answer(said)

    async def _answer(self, said: dict[str, Any]) -> None:
        allowed = next((each for each in self._may if matches(said, each["may"])), None)
        assert allowed is not None, f"the client says {said}"
        code = allowed.get("refused")
        answer = {"type": "ok", "id": said["id"]}
        if code is not None:
            answer = {"type": "refused", "id": said["id"], "code": code, "message": code}
        await self._there.sends(json.dumps(answer))

    async def _is_quiet(self, quiet_s: float) -> None:
        """Check that for so long the client sends nothing but what it may, and does not connect anew."""
        try:
            async with asyncio.timeout(quiet_s):
                while True:
                    await self._answer(json.loads(await self._there.socket.recv()))
        except TimeoutError:
            return
        except ConnectionClosed:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(quiet_s):
                    await self._server.accepts()


def matches(said: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Tell whether a request has at least the wanted fields; one that is left out is as good as null."""
    return all(said.get(key) == value for key, value in wanted.items())


def knows(player: clients.Player, facts: dict[str, Any]) -> bool:
    """Tell whether the player sees the match so."""
    match = player.known()
    if match is None:
        return False
    seen = {"ply": match.position.ply, "over": match.outcome is not None, "offers": len(match.offers)}
    seen["chat"] = player.chat_lines
    return all(seen[key] == value for key, value in facts.items())


def was_told(code: str, player: clients.Player) -> bool:
    """Tell whether the player was told of a refusal: by its code, or in words where there is a screen."""
    words = "before the server answered" if code == "unknown_outcome" else code
    return any(code in each.lower() or words in each for each in player.told)


async def until(player: clients.Player, holds: Callable[[], bool]) -> None:
    """Let the client go on until it holds."""
    while not holds():
        player.changed.clear()
        await player.changed.wait()


CASES = [(client, name) for client in CLIENTS for name, (_, steps) in SCENARIOS.items() if can_act(client, steps)]


@pytest.mark.parametrize("client", [client for client in CLIENTS if "new" not in client])
async def test_every_client_passes_every_scenario_that_it_can_play(client: str, tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as group:  # they wait for most of the time
        for number, name in enumerate(name for each, name in CASES if each == client):
            (tmp_path / f"{number}").mkdir()
            group.create_task(passes(client, name, tmp_path / f"{number}"))


@pytest.mark.parametrize(("client", "name"), [case for case in CASES if "new" in case[0]])
async def test_every_new_bot_passes_every_scenario_that_it_can_play(client: str, name: str, tmp_path: Path) -> None:
    await passes(client, name, tmp_path)


async def passes(client: str, name: str, folder: Path) -> None:
    """Go through a scenario with a client."""
    try:
        async with fake_server() as server, CLIENTS[client](server.url, folder) as player:
            await Script(server, player).run(SCENARIOS[name][1])
    except BaseException as error:
        error.add_note(f"in the scenario: {name}")
        raise


def test_every_client_stands_some_scenarios() -> None:
    counts = {client: sum(each == client for each, _ in CASES) for client in CLIENTS}
    assert counts["sdk"] == counts["terminal"] == len(SCENARIOS) >= 24
    assert counts["house bot"] >= counts["bot of docs/bots.md on the sdk"] >= 14
    assert counts["new bot in node"] == counts["new bot in go"] == counts["new bot in c"] >= 14
    assert counts["bot of docs/bots.md on a socket"] >= 6


def test_the_published_table_is_this_one() -> None:
    assert TARGET.read_text(encoding="utf-8") == published(), "python -m tests.conformance.scenarios writes it"


OWN = {"token", "match", "at_ms", "server", "features", "id"}
"""Fields that differ from server to server and from match to match."""


def comparable(message: Any) -> dict[str, Any]:
    """Return a message without what each server chooses anew."""
    return {key: value for key, value in message.items() if key not in OWN}


def printed_match() -> list[tuple[str, dict[str, Any]]]:
    """Return the lines of the match that the page on the protocol begins with, in order."""
    page = (TARGET.parent / "protocol.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^## One whole match\n.*?```\n(.*?)```", page, flags=re.DOTALL | re.MULTILINE)
    return [(line[:2], json.loads(line[3:])) for line in block.splitlines() if line]


async def begun(server: Server) -> tuple[Peer, Peer, str, list[dict[str, Any]]]:
    """Say what Bob says until he has the first move; return both, the match and the messages that he received."""
    hello, seek = (message for arrow, message in printed_match() if message["type"] in ("hello", "seek"))
    ann, bob = await server.join("Ann"), await server.connect()
    requests = [await bob.say(**{key: value for key, value in hello.items() if key != "id"})]
    greeting = [await bob.answer(requests[0]), await bob.hear("welcome")]
    while True:
        await ann.ok("seek", games=seek["games"])
        sought = await bob.ask("seek", games=seek["games"])
        shown = await bob.hear("snapshot")
        if shown["you"] == 0:
            return ann, bob, shown["match"], [*greeting, sought, shown]
        await ann.ok("resign", match=shown["match"])
        await bob.hear("ended")


async def test_the_first_match_of_the_page_is_as_a_server_plays_it(tmp_path: Path) -> None:
    lines = printed_match()
    async with running(tmp_path) as server:
        ann, bob, match, heard = await begun(server)
        moves = [message for arrow, message in lines if message["type"] in ("play", "played")]
        for each in moves:
            if each["type"] == "play":
                heard.append(await bob.ask("play", match=match, ply=each["ply"], move=each["move"]))
            else:
                if each["side"] == 1:
                    await ann.ok("play", match=match, ply=each["ply"] - 1, move=each["move"])
                heard.append(await bob.hear("played"))
        heard.append(await bob.hear("ended"))
    printed = [comparable(message) for arrow, message in lines if arrow == "<<"]
    assert [comparable(message) for message in heard] == printed


async def test_a_request_that_follows_hello_at_once_is_carried_out_after_the_welcome(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        bob = await server.connect()
        hello = await bob.say("hello", protocols=[1], name="Bob")
        seek = await bob.say("seek")
        assert (await bob.answer(hello))["type"] == "ok"
        assert (await bob.hear("welcome"))["you"]["name"] == "Bob"
        assert (await bob.answer(seek))["type"] == "ok"


async def test_a_request_that_follows_a_refused_hello_is_refused_too(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        bob = await server.connect()
        hello = await bob.say("hello", protocols=[1], token="nobody has it, nobody at all")
        seek = await bob.say("seek")
        assert [(await bob.answer(each))["code"] for each in (hello, seek)] == ["unknown_token", "hello_first"]
        await bob.hello(name="Bob")
