"""Answer plain HTTP, serve the page's files from memory, and check WebSocket handshakes.

A connection stays open after a response, so that a browser loads the page's few files over one or two. Behind a proxy
it does not, because there each request may come from another address.

`make page` builds the files. The address of all files except index.html contains a hash of all files, so browsers may
cache them forever and never mix the files of two versions. The build compresses them with brotli, which Python lacks.
The server adds the list of its games to index.html.
"""

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from email.utils import formatdate
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
from http import HTTPStatus
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import may_swap, names
from ttt_net.games.line import LineGame
from ttt_net.games.rules import is_always_casual
from ttt_net.matches.description import describe_coming_puzzles
from ttt_net.messages import encode, refused
from ttt_net.networks import is_address

HEALTH, READY = "/healthz", "/readyz"
"""The paths for load balancers: whether the server is alive, and whether to send players here."""
PUZZLES = "/puzzles"
"""The path of the puzzles of the next days, which the page keeps for days without a connection."""
_PUZZLE_DAYS = 31
YEAR_S = 31_536_000
_INVITATIONS = "/j"
"""The path of invitation links. The code follows a `#`, which browsers do not send, so proxies do not log it."""
_CODE = re.compile(r"[0-9A-Za-z]{1,32}", re.ASCII)
_NODE = re.compile(r"wss?://[A-Za-z0-9.:\[\]-]+", re.ASCII)
"""The address of another node, in the form allowed in a header."""
_PLAIN = "text/plain; charset=utf-8"
_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "map": "application/json; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
_BROTLI = "br"
_INDEX = "index.html"
_FIRST = ("app.js",)
"""The files, other than index.html, that the page needs before it can show anything."""
_MORE = {"worker.js": {"Service-Worker-Allowed": "/"}}
"""Additional headers of some files: the service worker is stored in its build's folder but serves every address."""
_CATALOGUE = '<script type="application/json" id="catalogue">[]</script>'
_STYLE_LINK = re.compile(r'<link rel="stylesheet" href="[^"]*">')
_MAP = re.compile(rb"/\*# sourceMappingURL=.*?\*/\s*$")
_TITLE = "<title>ttt_net</title>"
_DESCRIPTION = re.compile(r'(property="og:title" content=")[^"]*')
_PREVIEW_PICTURE = re.compile(r'(property="og:image" content=")(/)')
"""Programs that preview links accept only absolute addresses."""
_PREVIEW = re.compile(r'(property="og:image" content=")[^"]*')
_SMALL_CARD = '<meta name="twitter:card" content="summary">'
_LARGE_CARD = '<meta name="twitter:card" content="summary_large_image">'
"""How large the picture of a preview may be."""
_PLACES = re.compile(r"/(?:j|[jm]/[0-9A-Za-z-]{1,32})?", re.ASCII)
"""The addresses of the page: the lobby, an invitation with its code after a `#` or in the path, a match by its id."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, ready to be sent."""

    kind: str
    body: bytes
    coded: Mapping[str, bytes]
    """The body by content coding, the smallest first."""
    etag: str
    caching: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers of the response."""


def find_asset(path: str, own: "OwnPages | None" = None) -> Asset | None:
    """Return the asset at a path without its query, or None."""
    place = "/j" if path.startswith("/j") else "/"  # link previews do not get the code after the #
    return _assets(own or ANY_PAGE, names()).get(place if _PLACES.fullmatch(path) else path)


@lru_cache(maxsize=1)
def coming_puzzles(today: date) -> Asset:
    """Return the puzzles of the next days as a file."""
    body = msgspec.json.encode(describe_coming_puzzles(today, _PUZZLE_DAYS))
    return make_asset("puzzles.json", body, "public, max-age=3600")


def page_files() -> dict[str, bytes]:
    """Return every file of the built page by its name."""
    built = files("ttt_net").joinpath("web").joinpath("built")
    return {file.name: file.read_bytes() for file in built.iterdir() if _ending(file.name) in {*_KINDS, _BROTLI}}


@cache
def _style() -> str:
    """Return the inline style sheet of index.html, which saves a round trip."""
    return _MAP.sub(b"", page_files()["style.css"]).decode()


@cache
def style_source() -> str:
    """Return the source expression of a content policy for the one inline style sheet."""
    return f"'sha256-{b64encode(sha256(_style().encode()).digest()).decode()}'"


def _catalogue(games: tuple[str, ...], rated: tuple[str, ...]) -> str:
    """Return the named games as JSON, for the page before its first match."""
    listed = [
        {
            "name": game.name,
            "title": game.title,
            "rule": game.rule,
            "shape": game.shape,
            "swap": may_swap(game.name),
            "rated": not is_always_casual(game.name, rated),
            **({"block": game.block} if game.block else {}),
            **_line(game),
        }
        for game in map(find_game, games)
    ]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _line(game: object) -> dict[str, object]:
    """Return the rules of a line game, with which two people play it on one device without a server."""
    if type(game) is not LineGame:
        return {}
    return {"line": {"row": game.k, "gravity": game.gravity, "misere": game.misere}}


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


@cache
def _assets(own: "OwnPages", games: tuple[str, ...]) -> Mapping[str, Asset]:
    found = page_files()
    packed = {name.removesuffix(".br"): found.pop(name) for name in list(found) if _ending(name) == _BROTLI}
    folder = f"/assets/{_hash(b''.join(found[name] for name in sorted(found)))}/"
    index = found.pop(_INDEX).decode().replace("assets/", folder)
    index = _STYLE_LINK.sub(lambda _: f"<style>{_style()}</style>", index)
    index = _PREVIEW_PICTURE.sub(lambda found: found[1] + own.address + found[2], index)
    index = index.replace(_TITLE, f"<title>{escape(own.title)}</title>")
    index = index.replace(_CATALOGUE, _CATALOGUE.replace("[]", _catalogue(games, own.rated)))
    invited = _DESCRIPTION.sub(lambda found: found[1] + "You are invited to play", index)
    links = {"Link": ", ".join(f"<{folder}{name}>; rel=modulepreload" for name in _FIRST)}
    kept = {
        folder + name: _asset(name, body, packed.get(name), "public, max-age=31536000, immutable", _MORE.get(name))
        for name, body in found.items()
    }
    pages = {"/": index, "/j": invited}
    return {at: _asset(_INDEX, text.encode(), None, "no-cache", links) for at, text in pages.items()} | kept


@lru_cache(maxsize=64)
def preview_page(own: "OwnPages", place: str, title: str, picture: str) -> Asset:
    """Return the page at `/` or `/j` with another title for previews, and another picture if there is one."""
    page = _assets(own, names())[place]
    text = _DESCRIPTION.sub(lambda found: found[1] + escape(title), page.body.decode())
    if picture:
        text = _PREVIEW.sub(lambda found: f"{found[1]}{own.address}{escape(picture)}", text)
        text = text.replace(_SMALL_CARD, _LARGE_CARD)
    return make_asset(_INDEX, text.encode(), page.caching, page.headers)


def make_asset(name: str, body: bytes, caching: str, headers: Mapping[str, str] | None = None) -> Asset:
    """Return bytes as a file of that name."""
    return _asset(name, body, None, caching, headers)


def _asset(
    name: str, body: bytes, packed: bytes | None, caching: str, headers: Mapping[str, str] | None = None
) -> Asset:
    coded = {_BROTLI: packed} if packed is not None else {}
    level = 1 if _ending(name) == "map" else 9  # maps are only for developers, and larger than all other files
    coded["gzip"] = gzip.compress(body, level, mtime=0)
    return Asset(_KINDS[_ending(name)], body, coded, f'W/"{_hash(body)}"', caching, headers or {})


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


_CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        f"style-src 'self' {style_source()}",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",  # text never becomes markup, whatever later versions of the page do
    )
)
_SAFE = {
    "Content-Security-Policy": _CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the address of an invitation contains its code
    "Cross-Origin-Resource-Policy": "same-origin",
}


_OPEN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Link, Retry-After",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
"""The headers of API responses: pages of any site may read them, and browsers do not interpret them."""
_STATUS = {
    Code.TOO_FAST: HTTPStatus.TOO_MANY_REQUESTS,
    Code.BUSY: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.RESTARTING: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.STORAGE: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.NOT_PUBLIC: HTTPStatus.FORBIDDEN,
    Code.NOT_FINISHED: HTTPStatus.CONFLICT,
    Code.UNKNOWN_GAME: HTTPStatus.NOT_FOUND,
    Code.ALWAYS_CASUAL: HTTPStatus.NOT_FOUND,
    Code.UNKNOWN_PLAYER: HTTPStatus.NOT_FOUND,
    Code.UNKNOWN_MATCH: HTTPStatus.NOT_FOUND,
}
"""The HTTP status of each refusal by the API; 400 for all others."""


class UnknownAddress(Refusal):
    """A refusal because the address of the HTTP API does not exist."""

    def __init__(self, sentence: str) -> None:
        super().__init__(Code.BAD_MESSAGE, sentence)


class TurnedAway(NamedTuple):
    """The response to a connection that is not admitted."""

    status: int
    """503 if the server is full, 429 if the address is over a limit, 403 if it is banned."""
    sentence: str
    retry_after_s: int


class OwnPages(NamedTuple):
    """The allowed origins of the server's own page."""

    scheme: str
    """`http` or `https`; empty behind a proxy, which knows it."""
    is_any_name: bool
    """Whether any host name is allowed, because TLS or a proxy rejects foreign names."""
    name: str = ""
    """The configured name."""
    address: str = ""
    """The public address, such as `https://play.example.org`; empty if the host has not set it."""
    rated: tuple[str, ...] = ()
    """The games of other packages with rated matches."""
    title: str = "ttt_net"
    """The name of the server for players, which their tabs show."""

    def has(self, host: str) -> bool:
        """Tell whether a browser may have loaded the server's page under a name.

        Anybody can point a name with a dot here, so that their page connects as if it were ours (DNS rebinding). Names
        of local networks, and addresses, are not in public DNS.
        """
        is_local = "." not in host or host.endswith(_LOCAL_ENDINGS) or is_address(host)
        return self.is_any_name or host == self.name or is_local


ANY_PAGE = OwnPages("", is_any_name=True)
_LOCAL_ENDINGS = (".localhost", ".local", ".lan", ".home.arpa", ".internal")


def own_pages(public_url: str, *, is_encrypted: bool, behind_proxy: bool) -> OwnPages:
    """Return the allowed origins of the server's own page for a configuration."""
    url = urlsplit(public_url)
    scheme = {"wss": "https", "ws": "http"}.get(url.scheme, "")
    address = f"{scheme}://{url.netloc}" if scheme else ""
    if behind_proxy:
        return OwnPages(scheme, is_any_name=True, address=address)
    return OwnPages("https" if is_encrypted else "http", is_encrypted, url.hostname or "", address)


def invitation_code(request: Request) -> str | None:
    """Return the code in the page's request about an invitation; None for any other request.

    The code is in a header, because addresses are logged.
    """
    given = request.headers.get_all("Invitation") if request.path == _INVITATIONS else []
    return given[0] if len(given) == 1 and _CODE.fullmatch(given[0]) else None


def answer_http(
    request: Request,
    origins: Collection[str] = (),
    own: OwnPages = ANY_PAGE,
    preview: Struct | None = None,
    *,
    is_closed: bool,
    is_ready: bool = True,
    nodes: Collection[str] = (),
    made: Asset | None = None,
) -> Response | None:
    """Answer a plain request or a rejected handshake; return None for an accepted handshake.

    A page may connect only to its own server, or if its origin is one of `origins`; programs other than browsers send
    no Origin. `preview` is the requested invitation, or None. `nodes` are the addresses of a cluster: a page of one of
    them may connect to all. `made` is what the server has made for this request, in place of a file.
    """
    if len(request.headers.get_all("Host")) > 1:  # which of them a proxy went by is unknown
        return _respond(HTTPStatus.BAD_REQUEST, b"a request has one Host\n")
    addresses = [node for node in nodes if _NODE.fullmatch(node)]
    if "Upgrade" not in request.headers:
        response = _answer_plain(request, preview, own, made, is_closed=is_closed, is_ready=is_ready)
        if addresses:
            del response.headers["Content-Security-Policy"]
            response.headers["Content-Security-Policy"] = f"{_CONTENT_POLICY}; connect-src 'self' {' '.join(addresses)}"
        return response
    origins = {*origins, *(node.replace("ws", "http", 1) for node in addresses)}
    if _is_foreign(request.headers.get_all("Origin"), request.headers.get_all("Host"), origins, own):
        return _respond(HTTPStatus.FORBIDDEN, b"pages of other sites may not connect\n")
    if is_closed:
        return _respond(HTTPStatus.SERVICE_UNAVAILABLE, b"the server is restarting; try again\n", {"Retry-After": "1"})
    return None


def refuse_opening(opening: bytes, *, is_long: bool) -> Response:
    """Answer bytes that are not a valid request."""
    line, _, rest = opening.partition(b"\r\n")
    words = line.split(b" ")
    names = {each.partition(b":")[0].strip().lower() for each in rest.split(b"\r\n")}
    if is_long:
        return _respond(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, b"the request is too long\n")
    if b"\n" in line or len(words) != 3 or not words[2].startswith(b"HTTP/"):
        return _respond(HTTPStatus.BAD_REQUEST, b"this is no request of HTTP/1.1; its lines end with CR LF\n")
    if words[2] not in (b"HTTP/1.0", b"HTTP/1.1"):
        return _respond(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, b"only HTTP/1.1\n")
    if words[0] not in (b"GET", b"HEAD"):
        return _respond(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET and HEAD\n", {"Allow": "GET, HEAD"})
    if b"transfer-encoding" in names:
        return _respond(HTTPStatus.LENGTH_REQUIRED, b"requests have no body here\n")
    if b"content-length" in names:
        return _respond(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"requests have no body here\n")
    return _respond(HTTPStatus.BAD_REQUEST, b"a header of the request cannot be read\n")


def turn_away(why: TurnedAway) -> Response:
    """Answer a connection that is over a limit or banned, whatever it requests."""
    if why.status == HTTPStatus.FORBIDDEN:
        return _respond(HTTPStatus.FORBIDDEN, f"{why.sentence}\n".encode())
    text = f"{why.sentence}; try again in {why.retry_after_s} s\n"
    return _respond(HTTPStatus(why.status), text.encode(), {"Retry-After": str(why.retry_after_s)})


def method_of(request: Request) -> str:
    """Return the method. Before version 17, websockets takes nothing but GET, and 400 answers the others."""
    method: str = getattr(request, "method", "GET")
    return method


def _answer_plain(
    request: Request, preview: Struct | None, own: OwnPages, made: Asset | None, *, is_closed: bool, is_ready: bool
) -> Response:
    if method_of(request) not in ("GET", "HEAD"):
        return _respond(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET and HEAD\n", {"Allow": "GET, HEAD"})
    path = request.path.partition("?")[0]
    if path == HEALTH:
        response = _respond(HTTPStatus.OK, b"ok\n", {"Cache-Control": "no-store"})
    elif path == READY:
        status = HTTPStatus.OK if is_ready and not is_closed else HTTPStatus.SERVICE_UNAVAILABLE
        response = _respond(
            status, b"ready\n" if status is HTTPStatus.OK else b"not ready\n", {"Cache-Control": "no-store"}
        )
    elif path == _INVITATIONS and "Invitation" in request.headers:
        kinds = {"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store"}
        response = _respond(HTTPStatus.OK, msgspec.json.encode(preview), kinds)
    elif (asset := made or find_asset(path, own)) is not None:
        response = _serve(request, asset)
    else:
        response = _not_found(request, own)
    return _fitted(request, response, is_closed=is_closed)


def _fitted(request: Request, response: Response, *, is_closed: bool) -> Response:
    """Return the response, without its body for HEAD; the connection stays open if both sides allow it."""
    if method_of(request) == "HEAD":
        response.body = b""
    if not is_closed and _may_stay(request):
        del response.headers["Connection"]
        response.headers["Connection"] = "keep-alive"
    return response


def answer_data(request: Request, found: Asset, *, is_closed: bool) -> Response:
    """Answer a request of the HTTP API with data."""
    return _fitted(request, _opened(_serve(request, found)), is_closed=is_closed)


def refuse_data(request: Request, refusal: Refusal) -> Response:
    """Answer a rejected request of the HTTP API, with a status and a message as in the protocol."""
    status = _STATUS.get(refusal.code, HTTPStatus.BAD_REQUEST)
    if isinstance(refusal, UnknownAddress):
        status = HTTPStatus.NOT_FOUND
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    if refusal.retry_after_ms is not None:
        headers["Retry-After"] = str(-(-refusal.retry_after_ms // 1000))
    response = _opened(_respond(status, encode(refused(None, refusal)), headers))
    return _fitted(request, response, is_closed=status is HTTPStatus.SERVICE_UNAVAILABLE)


def answer_method(request: Request) -> Response | None:
    """Answer an API request that is not a read: a browser's preflight, or a wrong method."""
    if method_of(request) in ("GET", "HEAD"):
        return None
    allowed = {"Allow": "GET, HEAD"}
    if method_of(request) != "OPTIONS" or "Access-Control-Request-Method" not in request.headers:
        return _opened(_respond(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET and HEAD\n", allowed))
    allowed |= {"Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Allow-Headers": "If-None-Match"}
    return _fitted(
        request, _opened(_respond(HTTPStatus.OK, b"", allowed | {"Access-Control-Max-Age": "86400"})), is_closed=False
    )


def start_stream(kind: str) -> Response:
    """Return the head of a streamed response; closing the connection ends it."""
    headers = {"Content-Type": kind, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = _opened(_respond(HTTPStatus.OK, b"", headers))
    del response.headers["Content-Length"]
    return response


def _opened(response: Response) -> Response:
    """Allow pages of every site to read a response."""
    for name, value in _OPEN.items():
        response.headers.pop(name, None)
        response.headers[name] = value
    return response


def _not_found(request: Request, own: "OwnPages") -> Response:
    """Answer a browser with the page, and a program with a line."""
    page = find_asset("/", own)
    if page is None or not any("text/html" in value for value in request.headers.get_all("Accept")):
        return _respond(HTTPStatus.NOT_FOUND, b"not found\n")
    return _respond(HTTPStatus.NOT_FOUND, page.body, {"Content-Type": page.kind, "Cache-Control": "no-cache"})


def _may_stay(request: Request) -> bool:
    said = {word.strip().lower() for value in request.headers.get_all("Connection") for word in value.split(",")}
    protocol = getattr(request, "protocol", "HTTP/1.1")  # as for `method_of`
    return protocol == "HTTP/1.1" and "close" not in said and "X-Forwarded-For" not in request.headers


def _serve(request: Request, asset: Asset) -> Response:
    headers = {"ETag": asset.etag, "Cache-Control": asset.caching, "Vary": "Accept-Encoding"}
    known = {tag.strip() for value in request.headers.get_all("If-None-Match") for tag in value.split(",")}
    if known & {asset.etag, "*"}:
        return _respond(HTTPStatus.NOT_MODIFIED, b"", headers)
    headers["Content-Type"] = asset.kind
    headers |= asset.headers
    accepted = {word.strip() for value in request.headers.get_all("Accept-Encoding") for word in value.split(",")}
    for coding, body in asset.coded.items():
        if coding in accepted:
            return _respond(HTTPStatus.OK, body, headers | {"Content-Encoding": coding})
    return _respond(HTTPStatus.OK, asset.body, headers)


def _respond(status: HTTPStatus, body: bytes, more: dict[str, str] | None = None) -> Response:
    headers = {"Date": formatdate(usegmt=True), "Connection": "close", "Content-Type": _PLAIN} | _SAFE | (more or {})
    if status is not HTTPStatus.NOT_MODIFIED:
        headers["Content-Length"] = str(len(body))
    return Response(status.value, status.phrase, Headers(headers), body)


def _is_foreign(origins: list[str], hosts: list[str], allowed: Collection[str], own: OwnPages) -> bool:
    if not origins or (len(origins) == 1 and origins[0] in allowed):
        return False
    try:
        pages = [urlsplit(origin) for origin in origins]
        return (
            [page.netloc for page in pages] != hosts
            or any(own.scheme not in ("", page.scheme) for page in pages)
            or not all(own.has((page.hostname or "").rstrip(".")) for page in pages)
        )
    except ValueError:
        return True
