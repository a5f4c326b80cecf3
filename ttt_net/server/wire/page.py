"""Serve the page's files from memory, read once.

They are built by `make page`. All but index.html live below an address that has the hash of them all in it: so a
browser may keep them for ever, and never mixes the files of two versions. Most are compressed beforehand by brotli,
which Python cannot do; what this server alone knows, the games that there are, stands in index.html.
"""

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES, SWAPPABLE
from ttt_net.games.line import LineGame
from ttt_net.games.values import is_always_casual

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "map": "application/json; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
_BROTLI = "br"
_INDEX = "index.html"
_FIRST = ("app.js",)
"""Files that the page needs before it can show anything, besides index.html."""
_CATALOGUE = '<script type="application/json" id="catalogue">[]</script>'
_STYLE_LINK = re.compile(r'<link rel="stylesheet" href="[^"]*">')
_MAP = re.compile(rb"/\*# sourceMappingURL=.*?\*/\s*$")
_DESCRIPTION = re.compile(r'(property="og:title" content=")[^"]*')
_PREVIEW_PICTURE = re.compile(r'(property="og:image" content=")(/)')
"""Programs that preview links take whole addresses alone."""
_PLACES = re.compile(r"/(?:j|[jm]/[0-9A-Za-z-]{1,32})?", re.ASCII)
"""Where the page is: the lobby, an invitation whose code stands behind a `#` or in the path, a match by its id."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent, and what else its answer says."""

    kind: str
    body: bytes
    coded: Mapping[str, bytes]
    """The body by content coding, the smallest first."""
    etag: str
    caching: str
    links: str = ""
    """Files that a browser may ask for before it has read this one."""


def find_asset(path: str, address: str = "") -> Asset | None:
    """Return the asset at a path without its query, or None; `address` is the public one of the server, if known."""
    place = "/j" if path.startswith("/j") else "/"  # previews of a link know no code: it stands behind a #
    return _assets(address).get(place if _PLACES.fullmatch(path) else path)


def page_files() -> dict[str, bytes]:
    """Return every file of the built page by its name."""
    built = files("ttt_net").joinpath("web").joinpath("built")
    return {file.name: file.read_bytes() for file in built.iterdir() if _ending(file.name) in {*_KINDS, _BROTLI}}


@cache
def _style() -> str:
    """Return the style sheet, which stands in index.html: a request for it would cost a round trip before all else."""
    return _MAP.sub(b"", page_files()["style.css"]).decode()


@cache
def style_source() -> str:
    """Return how a content policy names the one style sheet that may stand in the page."""
    return f"'sha256-{b64encode(sha256(_style().encode()).digest()).decode()}'"


def _catalogue() -> str:
    """Return what the page lists before it has seen a match, as JSON: the games that have a name of their own."""
    listed = [
        {
            "name": game.name,
            "title": game.title,
            "rule": game.rule,
            "shape": game.shape,
            "swap": game.name in SWAPPABLE,
            "rated": not is_always_casual(game.name),
            **({"block": game.block} if game.block else {}),
            **_line(game),
        }
        for game in map(find_game, NAMES)
    ]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _line(game: object) -> dict[str, object]:
    """Return the rules of a game of lines, by which two may play it on one device without a server."""
    if type(game) is not LineGame:
        return {}
    return {"line": {"row": game.k, "gravity": game.gravity, "misere": game.misere}}


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


@cache
def _assets(address: str) -> Mapping[str, Asset]:
    found = page_files()
    packed = {name.removesuffix(".br"): found.pop(name) for name in list(found) if _ending(name) == _BROTLI}
    folder = f"/assets/{_hash(b''.join(found[name] for name in sorted(found)))}/"
    index = found.pop(_INDEX).decode().replace("assets/", folder)
    index = _STYLE_LINK.sub(lambda _: f"<style>{_style()}</style>", index)
    index = _PREVIEW_PICTURE.sub(lambda found: found[1] + address + found[2], index)
    index = index.replace(_CATALOGUE, _CATALOGUE.replace("[]", _catalogue()))
    invited = _DESCRIPTION.sub(lambda found: found[1] + "You are invited to a match", index)
    links = ", ".join(f"<{folder}{name}>; rel=modulepreload" for name in _FIRST)
    kept = {
        folder + name: _asset(name, body, packed.get(name), "public, max-age=31536000, immutable")
        for name, body in found.items()
    }
    pages = {"/": index, "/j": invited}
    return {at: _asset(_INDEX, text.encode(), None, "no-cache", links) for at, text in pages.items()} | kept


def _asset(name: str, body: bytes, packed: bytes | None, caching: str, links: str = "") -> Asset:
    coded = {_BROTLI: packed} if packed is not None else {}
    coded["gzip"] = gzip.compress(body, mtime=0)
    return Asset(_KINDS[_ending(name)], body, coded, f'W/"{_hash(body)}"', caching, links)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]
