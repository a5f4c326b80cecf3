"""Replies of the port to plain HTTP: the page from memory, and nothing else."""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from datetime import date, timedelta
from email.message import Message
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from tests.server.peer import HANDSHAKE
from tests.server.running import Server, running, until
from ttt_net.games.puzzles import puzzle_of
from ttt_net.matches.description import day_of
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.wire.http import answer_http, find_asset, page_files

ROOT = Path(__file__).parent.parent.parent.parent
BUILT = ROOT / "ttt_net" / "web" / "built"
MAX_FIRST_BYTES = 30_000
"""Of what the first screen needs, compressed."""
MAX_CODE_BYTES = 76_000
"""Of all code and style that one visitor may be sent, compressed, in the language that takes most."""
MAX_TOURNAMENT_BYTES = 8_000
"""The same of what is sent only to somebody who looks at a tournament or puts it on a wall."""


async def answer(server: Server, path: str, *headers: str, method: str = "GET") -> tuple[int, Message, bytes]:
    """Return status, headers and body of one request."""
    return await server.fetch(path, *headers, method=method)


@pytest.mark.parametrize("path", ["/", "/?utm=1", "/j", "/j/ABC234", "/m/k3V9pCD5", "/m/k3V9pCD5-12"])
async def test_the_page_is_at_every_place_of_it(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as server:
        status, headers, body = await answer(server, path)
        assert status == 200
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert headers["Cache-Control"] == "no-cache"
        assert b"<!doctype html>" in body
        assert int(headers["Content-Length"]) == len(body)


@pytest.mark.parametrize(
    "path",
    [
        "/index.html",
        "/j/",
        "/j/A/B",
        "/m/../style.css",
        "/assets/style.css",
        "/assets/0/main.js",
        "//",
        "/%2e%2e/",
        "*",
    ],
)
async def test_other_paths_are_not_found(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as server:
        status, _, body = await answer(server, path)
        assert (status, body) == (404, b"not found\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "get"])
async def test_other_methods_are_not_allowed(tmp_path: Path, method: str) -> None:
    async with running(tmp_path) as server:
        status, headers, _ = await answer(server, "/", method=method)
        assert (status, headers["Allow"]) == (405, "GET, HEAD")


async def test_head_is_answered_as_get_without_the_body(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, got, whole = await answer(server, "/")
        status, headers, body = await answer(server, "/", method="HEAD")
        assert (status, body) == (200, b"")
        assert int(headers["Content-Length"]) == len(whole)
        assert headers["ETag"] == got["ETag"]


async def test_cached_files_are_not_sent_again(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, headers, _ = await answer(server, "/")
        for known in (headers["ETag"], f'"other", {headers["ETag"]}', "*"):
            status, again, body = await answer(server, "/", f"If-None-Match: {known}")
            assert (status, body) == (304, b"")
            assert again["ETag"] == headers["ETag"]
        assert (await answer(server, "/", 'If-None-Match: W/"other"'))[0] == 200


async def test_every_file_that_the_page_names_is_there_and_may_be_kept_for_ever(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, headers, index = await answer(server, "/")
        named = set(re.findall(r'(?:src|href)="(/assets/[^"]+)"', index.decode()))
        assert set(re.findall(r"<([^>]+)>; rel=modulepreload", headers["Link"])) < named
        for path in named:
            status, headers, body = await answer(server, path, "Accept-Encoding: gzip")
            assert status == 200
            assert headers["Content-Encoding"] == "gzip"
            assert "immutable" in headers["Cache-Control"]
            assert gzip.decompress(body) == page_files()[path.rpartition("/")[2]]


@pytest.mark.parametrize(
    ("public_url", "address"), [("", ""), ("wss://play.example.org:8443", "https://play.example.org:8443")]
)
async def test_the_picture_of_a_preview_has_a_whole_address_where_that_is_known(
    tmp_path: Path, public_url: str, address: str
) -> None:
    async with running(tmp_path, configuration=Configuration(public_url=public_url)) as server:
        _, _, index = await answer(server, "/")
        assert f'property="og:image" content="{address}/assets/'.encode() in index


async def test_the_tab_of_a_visitor_has_the_name_that_the_host_gave(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=Configuration(name="Ann & Ben's <games>")) as server:
        for path in ("/", "/j"):
            _, _, index = await answer(server, path)
            assert b"<title>Ann &amp; Ben&#x27;s &lt;games&gt;</title>" in index


async def test_the_page_can_be_installed_and_previewed(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for place, title in (("/", b"Tic-tac-toe and its family"), ("/j", b"You are invited to play")):
            _, _, index = await answer(server, place)
            assert b'property="og:title" content="' + title in index
            for name in (b'property="og:image" content="([^"]+)', b'rel="apple-touch-icon" href="([^"]+)'):
                (path,) = re.findall(name, index)
                status, headers, body = await answer(server, path.decode())
                assert (status, headers["Content-Type"], body[:8]) == (200, "image/png", b"\x89PNG\r\n\x1a\n")
        (path,) = re.findall(r'rel="manifest" href="([^"]+)', index.decode())
        manifest = json.loads((await answer(server, path))[2])
        assert {"name", "short_name", "start_url", "display", "icons"} <= manifest.keys()
        sides = set()
        for icon in manifest["icons"]:
            _, headers, body = await answer(server, path.rpartition("/")[0] + "/" + icon["src"])
            assert headers["Content-Type"] == icon["type"]
            if icon["type"] == "image/png":
                side = int.from_bytes(body[16:20])
                assert icon["sizes"] == f"{side}x{side}"
                sides.add(side)
        assert {192, 512} <= sides, "what browsers ask for before they install a page"


async def test_the_puzzles_of_the_next_days_are_one_small_file_with_their_solutions(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        today = day_of(server.clock())
        status, headers, body = await answer(server, "/puzzles", "Accept-Encoding: gzip")
        assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
        assert len(body) < 6_000
        told = json.loads(gzip.decompress(body))
        days = [puzzle["day"] for puzzle in told["puzzles"]]
        assert days == [(today + timedelta(days=number)).isoformat() for number in range(31)]
        for puzzle in told["puzzles"]:
            meant = puzzle_of(date.fromisoformat(puzzle["day"]))
            assert (puzzle["game"], puzzle["solution"], puzzle["grade"]) == (meant.game, meant.solution, meant.grade)
            assert puzzle["solution"] in puzzle["position"]["legal"]
            assert len(told["games"][puzzle["game"]]["move_cells"]) > puzzle["solution"]
        assert (await answer(server, "/puzzles", f"If-None-Match: {headers['ETag']}"))[0] == 304


async def test_a_browser_that_can_gets_what_was_compressed_beforehand(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, headers, _ = await answer(server, "/")
        (path,) = re.findall(r"<([^>]+/app.js)>", headers["Link"])
        _, headers, body = await answer(server, path, "Accept-Encoding: gzip, deflate, br, zstd")
        assert headers["Content-Encoding"] == "br"
        assert body == page_files()["app.js.br"]
        assert len(body) < len(page_files()["app.js"]) / 2


async def test_a_connection_is_kept_for_the_next_request_and_for_a_match(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        head = await peer.read_head()
        assert b"Connection: keep-alive" in head
        assert await peer.read(3) == b"ok\n"
        assert (await peer.read_head()).startswith(b"HTTP/1.1 200 ")
        await peer.hello("Ann")


async def test_a_connection_ends_after_many_requests(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.send(b"HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 100)
        answers = await peer.read_to_end()
        assert answers.count(b"HTTP/1.1 200 ") == 32
        assert answers.count(b"Connection: keep-alive") == 31
        assert answers.count(b"Connection: close") == 1, "the last answer says that it is the last"


@pytest.mark.parametrize("line", ["Connection: close", "X-Forwarded-For: 203.0.113.9"])
async def test_a_connection_is_closed_on_request_and_behind_a_proxy(tmp_path: Path, line: str) -> None:
    async with running(tmp_path) as server:
        peer = await server.raw()
        await peer.send(f"GET /healthz HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n".encode())
        assert (await peer.read_to_end()).endswith(b"ok\n")


async def test_a_kept_connection_on_which_nothing_more_is_asked_is_closed_and_no_fault(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(handshake_s=60)) as server:
        peer = await server.raw()
        await peer.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        await peer.read_head()
        server.tick(61)
        assert await peer.read_to_end() == b"ok\n"
        assert not server.hub.metrics.endings


async def test_the_page_asks_for_an_invitation_with_its_code_in_no_address(tmp_path: Path) -> None:
    """Addresses are in the logs of proxies and in the histories of browsers on their way."""
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await ann.ok("invite", game="connect4")
        code = (await ann.hear("invitation"))["code"]
        status, headers, body = await answer(server, "/j", f"Invitation: {code}")
        assert (status, headers["Cache-Control"]) == (200, "no-store")
        offered = json.loads(body)
        assert (offered["by"]["name"], offered["game"]) == ("Ann", "connect4")
        for wrong in ("NOPE99", "", "a b", "x" * 33, f"{code}\r\nInvitation: {code}"):
            assert json.loads((await answer(server, "/j", f"Invitation: {wrong}"))[2]) is None
        assert code.encode() not in (await answer(server, f"/j/{code}"))[2], (
            "the page is the same for all, and costs little"
        )


async def test_an_invitation_that_has_expired_while_the_machine_slept_is_not_shown(tmp_path: Path) -> None:
    slept_ms = 0
    async with running(tmp_path, wall_ms=lambda: 1_800_000_000_000 + slept_ms) as server:
        ann = await server.join("Ann")
        await ann.ok("invite", game="connect4")
        asked = ("/j", f"Invitation: {(await ann.hear('invitation'))['code']}")
        assert json.loads((await answer(server, *asked))[2])["game"] == "connect4"
        slept_ms = 3_600_001
        assert json.loads((await answer(server, *asked))[2]) is None


async def test_codes_cannot_be_guessed_by_asking_for_invitations(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=())) as server:
        ann = await server.join("Ann")
        await ann.ok("invite", game="connect4")
        code = (await ann.hear("invitation"))["code"]
        for number in range(40):
            await answer(server, "/j", f"Invitation: NOPE{number}")
        assert json.loads((await answer(server, "/j", f"Invitation: {code}"))[2]) is None


async def test_a_browser_that_cannot_unpack_gets_it_plain(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, headers, body = await answer(server, "/", "Accept-Encoding: gzip;q=0, identity")
        assert headers["Content-Encoding"] is None
        assert body.startswith(b"<!doctype html>")


async def test_the_one_style_sheet_in_the_page_is_the_one_that_its_policy_names(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        _, headers, body = await answer(server, "/")
        styles = re.findall(rb"<style>(.*?)</style>", body, flags=re.DOTALL)
        sources = [f"'sha256-{base64.b64encode(hashlib.sha256(style).digest()).decode()}'" for style in styles]
        assert len(sources) == 1
        assert f"style-src 'self' {sources[0]};" in headers["Content-Security-Policy"]


async def test_readiness_for_balancers_is_on_the_public_port(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await until(lambda: server.hub.unready is None)  # bans and mutes are read first
        status, _, body = await answer(server, "/readyz")
        assert (status, body) == (200, b"ready\n")
    request = Request("/readyz", Headers())
    for closed, ready in ((True, True), (False, False)):
        refused = answer_http(request, is_closed=closed, is_ready=ready)
        assert refused is not None
        assert (refused.status_code, refused.body) == (503, b"not ready\n")


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/nothing"])
async def test_every_answer_has_restrictive_headers(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as server:
        _, headers, _ = await answer(server, path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://play.example", 101), ("http://play.example", 403), ("https://play.example.evil", 403), ("null", 403)],
)
async def test_the_host_may_name_pages_that_connect_too(tmp_path: Path, origin: str, status: int) -> None:
    async with running(tmp_path, configuration=Configuration(origins=("https://play.example",))) as server:
        peer = await server.raw()
        await peer.send(HANDSHAKE[:-2] + f"Origin: {origin}\r\n\r\n".encode())
        assert await peer.status() == status


def test_the_page_is_small() -> None:
    found = page_files()
    index = find_asset("/")
    assert index is not None
    rest = len(index.coded["gzip"])
    assert rest + len(found["app.js.br"]) <= MAX_FIRST_BYTES
    assert rest + len(gzip.compress(found["app.js"])) <= MAX_FIRST_BYTES, "without TLS browsers take no brotli"
    sizes = {name: len(body) for name, body in found.items() if name.endswith(".br")}
    of_tournaments = {name: sizes.pop(name) for name in list(sizes) if name.startswith(("tournament", "cups"))}
    for part, most in ((sizes, MAX_CODE_BYTES), (of_tournaments, MAX_TOURNAMENT_BYTES)):
        languages = Counter[str]()
        for name, size in part.items():
            if match := re.search(r"-(\w\w)\.js\.br$", name):
                languages[match[1]] += size
        assert len(languages) == 6
        assert sum(part.values()) - languages.total() + max(languages.values()) <= most
    for name, body in found.items():
        assert name.endswith(".map") or len(gzip.compress(body)) < Limits().unsent_bytes, (
            f"{name} fits into what may wait for a slow reader"
        )


def test_nothing_in_the_page_makes_markup_of_text_or_asks_a_third_party() -> None:
    for name, body in page_files().items():
        if name.endswith((".js", ".css", ".html")):
            text = body.decode()
            markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
            assert not re.search(markup, text), name
            links = set(re.findall(r"https?://[^\s\"'`)]+", text)) - {"http://www.w3.org/2000/svg"}
            assert not links, name


def test_the_built_page_has_nothing_but_what_is_sent() -> None:
    assert {path.suffix for path in BUILT.iterdir()} == {
        ".html",
        ".css",
        ".js",
        ".svg",
        ".png",
        ".br",
        ".map",
        ".webmanifest",
    }


def handshake(origin: str) -> Request:
    """Return the handshake of a page that came from there, to another node."""
    return Request("/", Headers({"Host": "two.example:8765", "Upgrade": "websocket", "Origin": origin}))


def test_a_page_of_one_node_may_connect_to_all_of_a_cluster_and_no_other_page_may() -> None:
    nodes = ["ws://one.example:8765", "ws://two.example:8765", "ws://x; script-src *", "ftp://three.example"]
    page = answer_http(Request("/", Headers()), nodes=nodes, is_closed=False)
    assert page is not None
    (policy,) = page.headers.get_all("Content-Security-Policy")
    assert policy.endswith("; connect-src 'self' ws://one.example:8765 ws://two.example:8765")
    assert answer_http(handshake("http://one.example:8765"), nodes=nodes, is_closed=False) is None
    for other in ("http://else.example:8765", "https://one.example:8765", "ftp://three.example"):
        refused = answer_http(handshake(other), nodes=nodes, is_closed=False)
        assert refused is not None
        assert refused.status_code == 403
