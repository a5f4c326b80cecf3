"""The HTTP API: its answers are as its OpenAPI file says, and have what every guest may see."""

import gzip
import json
import re
from collections.abc import Sequence
from email.message import Message
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from tests.server.peer import Peer
from tests.server.rated import rated_match
from tests.server.running import Server, running
from ttt_net.matches.match import MatchData
from ttt_net.server.http_api import ROUTES, openapi
from ttt_net.server.settings.configuration import Configuration, Limits

MOVES_OF_A_WIN = (0, 3, 1, 4, 2)


async def json_of(server: Server, path: str, status: int = 200) -> Any:
    found, headers, body = await server.fetch(path)
    assert found == status, body
    assert headers["Content-Type"] == "application/json"
    return json.loads(body)


async def lines_of(server: Server, path: str) -> list[MatchData]:
    status, headers, body = await server.fetch(path)
    assert status == 200, body
    assert headers["Content-Type"] == "application/x-ndjson"
    return [msgspec.json.decode(line, type=MatchData) for line in body.splitlines()]


async def won(one: Peer, other: Peer, match: str) -> None:
    """Let the first player win."""
    await one.play(match, *((one if number % 2 == 0 else other, move) for number, move in enumerate(MOVES_OF_A_WIN)))
    for peer in (one, other):
        await peer.hear("ended", match=match)


async def some_matches(server: Server, count: int = 1, **seek: object) -> tuple[Peer, Peer, list[str]]:
    """Return two players of that many matches, which are over."""
    one, other = await server.join("Ann"), await server.join("Bob")
    ids = []
    for _ in range(count):
        first, second, match = await server.match(one, other, **seek)
        await won(first, second, match)
        ids.append(match)
        server.clock.offset_ms += 1
    return one, other, ids


def next_page(headers: Message) -> str | None:
    found = re.fullmatch(r'<(.*)>; rel="next"', headers.get("Link", ""))
    return found and found[1]


def test_the_openapi_file_is_valid() -> None:
    from openapi_spec_validator import validate  # it takes a second to load

    validate(openapi())


async def test_every_route_answers_by_its_schema(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, (match,) = await some_matches(server)
        await rated_match(server, ann, bob, "k3V9pCD5")
        await ann.ok("resign", match="k3V9pCD5")
        await bob.hear("ended", match="k3V9pCD5")
        described = await json_of(server, "/api/openapi.json")
        paths = {
            "/api/games": "/api/games",
            "/api/leaderboard/{game}": "/api/leaderboard/connect4?bots=false&page=1&speed=blitz",
            "/api/players/{name}": "/api/players/ann",
            "/api/players/{name}/matches": "/api/players/Ann/matches?rated=true&game=connect4",
            "/api/matches": "/api/matches?most=3",
            "/api/matches/{id}": f"/api/matches/{match}",
            "/api/openapi.json": "/api/openapi.json",
        }
        assert {*paths, "/api/live"} == set(described["paths"]) == {route.path for route in ROUTES}
        assert len((await json_of(server, paths["/api/leaderboard/{game}"]))["leaders"]) == 2
        for path, address in paths.items():
            status, headers, body = await server.fetch(address)
            assert status == 200
            (kind, content), *_ = described["paths"][path]["get"]["responses"]["200"]["content"].items()
            assert headers["Content-Type"] == kind
            schema = {**content["schema"], "components": described["components"]}
            for answer in body.splitlines():
                Draft202012Validator(schema).validate(json.loads(answer))


async def test_a_match_is_all_of_it_as_data(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        *_, (match,) = await some_matches(server, time={"initial_ms": 60_000, "increment_ms": 0})
        found = msgspec.convert(await json_of(server, f"/api/matches/{match}"), MatchData)
        assert {player.name for player in found.players} == {"Ann", "Bob"}
        assert (found.match, found.game, found.winner, found.reason) == (match, "tictactoe", 0, "line")
        assert tuple(found.moves) == MOVES_OF_A_WIN
        assert found.written == ["a3", "a2", "b3", "b2", "c3"]
        assert found.times_ms == sorted(found.times_ms)
        assert found.clocks_ms is not None
        assert len(found.clocks_ms) == len(found.times_ms) == 5
        assert found.started_ms + found.times_ms[-1] <= found.ended_ms


async def test_pages_of_matches_list_each_match_once_in_order_and_continue_from_any_line(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, _, ids = await some_matches(server, 7)
        for start in ("/api/matches?most=3&since_ms=0", "/api/players/Bob/matches?most=3&game=tictactoe"):
            found: list[str] = []
            address: str | None = start
            while address is not None:
                _, headers, body = await server.fetch(address)
                found += [json.loads(line)["match"] for line in body.splitlines()]
                address = next_page(headers)
            assert found == ids
        third = (await lines_of(server, "/api/matches"))[2]
        assert [each.match for each in await lines_of(server, f"/api/matches?after={third.cursor}")] == ids[3:]
        assert [each.match for each in await lines_of(server, f"/api/matches?since_ms={third.ended_ms}")] == ids[2:]
        assert await lines_of(server, "/api/matches?rated=true") == []
        assert await lines_of(server, "/api/matches?game=gomoku") == []


async def test_unchanged_lists_are_not_sent_again(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        *_, (match,) = await some_matches(server)
        for path in ("/api/games", "/api/openapi.json", f"/api/matches/{match}", "/api/players/Ann/matches"):
            _, headers, body = await server.fetch(path)
            status, again, nothing = await server.fetch(path, f"If-None-Match: {headers['ETag']}")
            assert (status, nothing, again["ETag"]) == (304, b"", headers["ETag"])
            _, packed, data = await server.fetch(path, "Accept-Encoding: gzip, br")
            assert packed["Content-Encoding"] == "gzip"
            assert gzip.decompress(data) == body


async def test_pages_of_other_sites_may_read_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for path, status in (("/api/games", 200), ("/api/nothing", 404), ("/api/matches/k3V9pCD5", 404)):
            found, headers, _ = await server.fetch(path, "Origin: https://other.example")
            assert (found, headers["Access-Control-Allow-Origin"]) == (status, "*")
            assert headers.get_all("Cross-Origin-Resource-Policy") == ["cross-origin"]
            assert "default-src 'none'" in headers["Content-Security-Policy"]


async def test_browsers_may_send_preflight_requests(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ask = ("Origin: https://other.example", "Access-Control-Request-Method: GET")
        status, headers, body = await server.fetch("/api/games", *ask, method="OPTIONS")
        assert (status, body) == (200, b"")
        assert headers["Access-Control-Allow-Methods"] == "GET, HEAD"
        assert headers["Access-Control-Allow-Headers"] == "If-None-Match"


async def test_a_connection_stays_and_requests_behind_one_another_are_answered_in_order(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await some_matches(server)
        peer = await server.raw()
        names = ("Ann", "Bob", "Ann")
        await peer.send(b"".join(f"GET /api/players/{name} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for name in names))
        for name in names:
            head = await peer.read_head()
            size = int(re.search(rb"Content-Length: (\d+)", head)[1])  # type: ignore[index]
            assert json.loads(await peer.read(size))["player"]["name"] == name


async def test_the_api_shows_only_what_every_guest_may_see(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, (public,) = await some_matches(server)
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
        await bob.ok("join", code=code)
        snapshot = await ann.hear("snapshot")
        private = snapshot["match"]
        shown = await server.fetch("/api/players/Ann")
        assert private.encode() not in shown[2]
        await ann.ok("resign", match=private)
        await bob.hear("ended", match=private)
        assert (await json_of(server, f"/api/matches/{private}", 403))["code"] == "not_public"
        for path in ("/api/matches", "/api/players/Ann/matches"):
            assert [each.match for each in await lines_of(server, path)] == [public]
        await bob.ok("block", name="Ann", on=True)
        assert (await json_of(server, "/api/players/Ann"))["blocked"] is False
        await bob.ok("forget", name="Bob")
        await bob.close_code()
        assert (await json_of(server, "/api/players/Bob", 404))["code"] == "unknown_player"
        assert (await json_of(server, "/api/players/deleted", 404))["code"] == "unknown_player"
        (match,) = await lines_of(server, "/api/players/Ann/matches")
        assert {player.name for player in match.players} == {"Ann", "deleted"}


async def test_a_live_match_is_not_shown_until_it_has_ended(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        *_, match = await server.pair()
        assert (await json_of(server, f"/api/matches/{match}", 409))["code"] == "not_finished"
        assert (await json_of(server, "/api/players/Ann"))["live"] == [match]
        assert await lines_of(server, "/api/matches") == []


async def test_the_stream_of_live_matches_has_a_line_whenever_they_change(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        stream = await server.raw()
        await stream.send(b"GET /api/live HTTP/1.1\r\nHost: a\r\n\r\n")
        head = await stream.read_head()
        assert b" 200 " in head
        assert b"application/x-ndjson" in head
        assert await stream.line() == {"type": "live", "count": 0, "matches": []}
        ann, bob, match = await server.pair()
        server.later(2_000)
        listed = await stream.line()
        assert [each["match"] for each in listed["matches"]] == [match]
        await ann.ok("resign", match=match)
        await bob.hear("ended", match=match)
        server.later(2_000)
        assert (await stream.line())["count"] == 0
        server.tick(60)
        assert await stream.read(1) == b"\n", "an empty line shows that both are there"
        stream.close()


async def test_a_server_without_the_api_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=Configuration(api=False)) as server:
        assert (await json_of(server, "/api/games", 404))["message"] == "this server has no HTTP API"


async def test_an_address_has_so_many_requests(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=())) as server:
        server.clock.stand_still()
        peer = await server.raw()
        for _ in range(2):
            for _ in range(30):
                await peer.send(b"HEAD /api/games HTTP/1.1\r\nHost: a\r\n\r\n")
                assert b" 200 " in await peer.read_head()
            peer = await server.raw()
        status, headers, body = await server.fetch("/api/games")
        assert (status, headers["Retry-After"]) == (429, "1")
        assert json.loads(body)["message"] == "too many api requests: 60/10s for one address (limits.api_requests)"


async def test_the_cost_of_an_answer_is_charged_to_the_address(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=()), cost_s=Costs((0.0, 0.005))) as server:
        await server.fetch("/api/players/Nobody")
        account = server.hub.shares.account_of("127.0.0.1")
        assert account.owed_ms + account.shares[0].used(server.clock()) >= 5


class Costs:
    """A clock that goes forward by each of these in turn."""

    def __init__(self, steps: Sequence[float]) -> None:
        self._steps, self._at, self._now = steps, 0, 0.0

    def __call__(self) -> float:
        self._at += 1
        self._now += self._steps[self._at % len(self._steps)]
        return self._now
