"""The page's files, read once and served from memory.

All but index.html live below an address that has the hash of them all in it: so a browser may keep them for ever, and
never mixes the files of two versions.
"""

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES, SWAPPABLE
from ttt_net.games.values import is_always_casual

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_INDEX = "index.html"
_PLACES = re.compile(r"/(?:[jm]/[0-9A-Za-z-]{1,32})?", re.ASCII)
"""Where the page is: the lobby, an invitation by its code, a match by its id."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent, and what else its answer says."""

    kind: str
    body: bytes
    zipped: bytes
    etag: str
    caching: str
    links: str = ""
    """Files that a browser may ask for before it has read this one."""


def find_asset(path: str) -> Asset | None:
    """Return what is at an address without its query, or None."""
    return _assets().get("/" if _PLACES.fullmatch(path) else path)


def page_files() -> dict[str, str]:
    """Return the text of every file of the page by its name."""
    found = {
        file.name: file.read_text(encoding="utf-8")
        for file in files("ttt_net").joinpath("web").iterdir()
        if _ending(file.name) in _KINDS
    }
    return found | {"catalogue.js": _catalogue()}


def _catalogue() -> str:
    """Return the module of what the page lists before it has seen a match: the games that have a name of their own."""
    rows = [
        (game.name, game.title, game.rule, game.shape, game.name in SWAPPABLE, not is_always_casual(game.name))
        for game in map(find_game, NAMES)
    ]
    keys = "name, title, rule, shape, swap, rated"
    listed = json.dumps(rows, ensure_ascii=False)
    return f"export const CATALOGUE = {listed}.map(([{keys}]) => ({{ {keys} }}));\n"


def _ending(name: str) -> str:
    return name.rpartition(".")[2]


@cache
def _assets() -> Mapping[str, Asset]:
    texts = page_files()
    version = _hash("".join(texts[name] for name in sorted(texts)).encode())
    folder = f"/assets/{version}/"
    index = texts.pop(_INDEX).replace("assets/", folder)
    links = ", ".join(f"<{folder}{name}>; rel=modulepreload" for name in sorted(texts) if name.endswith(".js"))
    found = {folder + name: _asset(name, text, "public, max-age=31536000, immutable") for name, text in texts.items()}
    return {"/": _asset(_INDEX, index, "no-cache", links), **found}


def _asset(name: str, text: str, caching: str, links: str = "") -> Asset:
    body = text.encode()
    kind = _KINDS[_ending(name)]
    return Asset(kind, body, gzip.compress(body, mtime=0), f'W/"{_hash(body)}"', caching, links)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]
