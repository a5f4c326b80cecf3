"""Answer programs over plain HTTP: players, ratings, finished matches, and a stream of live ones.

`ROUTES` is the only list of addresses. Requests are dispatched by it, and the OpenAPI file is made from it. Queries
about the past go through the archive like those of players, but without a player. So an answer contains only what the
protocol shows to every guest. Nothing here writes.
"""

import gzip
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal, NamedTuple, cast
from urllib.parse import parse_qsl, unquote

import msgspec
from msgspec import Struct
from websockets.http11 import Request, Response

from ttt_net import messages as wire
from ttt_net.clock import Speed
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game, game_name
from ttt_net.games.catalogue import may_swap, names
from ttt_net.games.rules import is_always_casual, never_rated
from ttt_net.matches.match import MatchData
from ttt_net.server.journal import Asker, PastQuestion, queries
from ttt_net.server.journal.past import MatchPage, PastAnswer
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.players import NOBODY
from ttt_net.server.services import Services
from ttt_net.server.wire.connection import Connection, LaterAnswer
from ttt_net.server.wire.http import (
    Asset,
    UnknownAddress,
    answer_data,
    answer_method,
    method_of,
    refuse_data,
    start_stream,
)

PREFIX = "/api/"
MAX_STREAMS = 100
"""The maximal number of open streams of live matches."""
MAX_STREAMS_OF_ADDRESS = 4
"""The same for one address."""
BEATS_S = 10.0
"""The maximal silence of a stream before an empty line, with which both sides detect a dead connection."""
_MAX_FIELDS = 10
"""The maximal number of parameters in an address; no route has as many."""
_LEVEL = 1
"""The level of gzip, with which 60 KB of matches take 0.5 ms."""
_JSON: Final = "application/json"
_LINES: Final = "application/x-ndjson"


class NoParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """A route without parameters."""


class LeaderboardParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of the ratings at a game and speed; `bots` false leaves bots out, `people` false people."""

    game: wire.GameName
    speed: Speed = "untimed"
    bots: bool = True
    page: wire.Page = 1
    people: bool = True


class PlayerParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """A player, by name."""

    name: wire.ShortText


class MatchParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """A match, by its id."""

    id: wire.MatchId


PageSize = Annotated[int, msgspec.Meta(ge=1, le=100)]
SinceMs = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


class MatchesParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Finished matches in the order of their ends.

    `since_ms` is the earliest end, `most` the size of a page, and `after` the point to continue from: `ended_ms` and
    `match` of the last line, joined by a hyphen.
    """

    game: wire.GameName | None = None
    rated: bool | None = None
    since_ms: SinceMs = 0
    after: wire.ShortText | None = None
    most: PageSize = 100


class PlayersMatchesParameters(MatchesParameters, frozen=True, forbid_unknown_fields=True):
    """The same of one player."""

    name: wire.ShortText = ""


class ListedGame(Struct, frozen=True, omit_defaults=True):
    """A game with a name. With `swap` it can also be played with the pie rule, under its name with `+swap`."""

    name: str
    title: str
    rule: str
    shape: list[int]
    gravity: bool = False
    swap: bool = False
    rated: bool = True


class Route(NamedTuple):
    """One address of the API. Names in braces are parameters, like those of the query."""

    path: str
    does: str
    parameters: type[Struct]
    answer: Any
    """The type of the answer, or of each line of it."""
    kind: Literal["application/json", "application/x-ndjson"]
    act: Callable[["HttpApi", Connection, Request, Any], Response | LaterAnswer]


class HttpApi:
    """Answers the requests; one for each server."""

    def __init__(
        self,
        services: Services,
        registry: MatchRegistry,
        is_closed: Callable[[], bool],
        secured: Callable[[Response], Response],
    ) -> None:
        self._services = services
        self._registry = registry
        self._is_closed = is_closed
        """Whether the server is about to restart, or out of touch with its cluster."""
        self._secured = secured
        """Adds the headers of all answers of this server."""
        self._streams: dict[Connection, LiveStream] = {}

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return len(self._streams)

    def answer(self, connection: Connection, request: Request) -> Response | LaterAnswer:
        """Answer a request whose path begins with `PREFIX`, now or later."""
        shares = self._services.shares
        shares.payer = connection
        try:
            return self._answer(connection, request)
        except Refusal as refusal:
            self._services.metrics.refusals[refusal.code] += 1
            return self._secured(refuse_data(request, refusal))
        finally:
            shares.payer = None

    def _answer(self, connection: Connection, request: Request) -> Response | LaterAnswer:
        if not self._services.configuration.api:
            raise UnknownAddress("this server has no HTTP API")
        self._services.rate_limiter.spend_of_address("api_requests", connection.metered_as)
        wrong = answer_method(request)
        if wrong is not None:
            return self._secured(wrong)
        if self._is_closed():
            raise Refusal(Code.RESTARTING, "the server is about to restart; come back in a moment", 1_000)
        route, parameters = parse_address(request.path)
        return route.act(self, connection, request, parameters)

    # Answers from memory.

    def games(self, connection: Connection, request: Request, _: NoParameters) -> Response:
        """Return the games with a name."""
        return self._data(request, _games(names(), self._services.configuration.games.rated))

    def openapi(self, connection: Connection, request: Request, _: NoParameters) -> Response:
        """Return the OpenAPI file."""
        return self._data(request, _openapi())

    def _data(self, request: Request, found: Asset) -> Response:
        return self._secured(answer_data(request, found, is_closed=self._is_closed()))

    # Answers from the journal.

    def leaderboard(self, connection: Connection, request: Request, said: LeaderboardParameters) -> LaterAnswer:
        """Ask for a page of ratings."""
        game = game_name(said.game)
        if is_always_casual(game, self._services.configuration.games.rated):
            raise Refusal(Code.ALWAYS_CASUAL, never_rated(game))
        asked = wire.LeaderboardRequest(0, game, said.speed, said.bots, said.page, said.people)
        query = queries.LeaderboardQuery(asked, game, NOBODY, self._services.wall_ms())
        return self._ask(connection, request, query, _of_past)

    def player(self, connection: Connection, request: Request, said: PlayerParameters) -> LaterAnswer:
        """Ask for the profile of a player."""
        other = self._services.players.find(said.name)
        online, live = (other.info, self._registry.live_of(other)) if other else (None, [])
        asked = wire.ProfileRequest(0, said.name)
        query = queries.ProfileQuery(asked, NOBODY, online, live, self._services.wall_ms())
        return self._ask(connection, request, query, _of_past)

    def match(self, connection: Connection, request: Request, said: MatchParameters) -> LaterAnswer:
        """Ask for a finished match."""
        return self._ask(connection, request, queries.MatchDataQuery(said.id), _of_match)

    def matches(self, connection: Connection, request: Request, said: MatchesParameters) -> LaterAnswer:
        """Ask for a page of matches, of a player or of all."""
        player = said.name if isinstance(said, PlayersMatchesParameters) else None
        query = queries.MatchesQuery(player, said.game, said.rated, said.since_ms, said.after, said.most)
        return self._ask(connection, request, query, partial(_of_page, request.path))

    def _ask(
        self,
        connection: Connection,
        request: Request,
        query: queries.PastQuery,
        prepare: Callable[[Any], Asset],
    ) -> LaterAnswer:
        archive = self._services.archive

        def done(found: Asset) -> None:
            connection.answer(self._data(request, found))

        def failed(refusal: Refusal) -> None:
            self._services.metrics.refusals[refusal.code] += 1
            connection.answer(self._secured(refuse_data(request, refusal)))

        question = PastQuestion(query, Asker(NOBODY, connection.metered_as), done, failed, prepare)
        archive.ask(question)
        return LaterAnswer(lambda: archive.cancel(question))

    # The stream of live matches.

    def live(self, connection: Connection, request: Request, _: NoParameters) -> Response | LaterAnswer:
        """Begin a stream of the list of live matches, sent now and after every change."""
        head = self._secured(start_stream(_LINES))
        if method_of(request) == "HEAD":
            return head
        held = Counter(each.metered_as for each in self._streams)[connection.metered_as]
        if connection.metered_as is not None and held >= MAX_STREAMS_OF_ADDRESS:
            raise Refusal(Code.BUSY, f"your address has {held} streams open already; close one first", 10_000)
        if len(self._streams) >= MAX_STREAMS:
            raise Refusal(Code.BUSY, f"{len(self._streams)} streams are open already; ask again later", 60_000)
        later = LaterAnswer(partial(self._end, connection))
        stream = self._streams[connection] = LiveStream(connection)
        # the connection has the answer only after this call returns
        self._services.loop.call_soon(stream.begin, head, self._services.feed.encoded("live"))
        return later

    def _end(self, connection: Connection) -> None:
        self._streams.pop(connection, None)

    def tick(self, now_s: float) -> None:
        """Send the list to each stream if it has changed, alternating with other work.

        Call this about once a second.
        """
        if not self._streams:
            return
        line = self._services.feed.encoded("live")
        for connection, stream in self._streams.items():
            if stream.wants(line, now_s) and not self._is_overdrawn(connection):
                connection.in_turn(partial(stream.send, line, now_s))

    def _is_overdrawn(self, connection: Connection) -> bool:
        try:
            self._services.shares.check(connection)
        except Refusal:
            return True
        return False


class LiveStream:
    """One reader of live matches, with the last list sent."""

    __slots__ = ("_connection", "_last", "_sent_s")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last = b""
        self._sent_s = 0.0

    def begin(self, head: Response, line: bytes) -> None:
        """Send the head and the first line."""
        self._connection.stream(head)
        self.send(line, self._sent_s)

    def wants(self, line: bytes, now_s: float) -> bool:
        """Tell whether to send this line, or an empty one. Slow readers are skipped."""
        return not self._connection.is_behind and (line != self._last or now_s - self._sent_s > BEATS_S)

    def send(self, line: bytes, now_s: float) -> None:
        """Send the line if it is new, or an empty one."""
        self._sent_s = now_s
        is_new, self._last = line != self._last, line
        self._connection.send_more(line + b"\n" if is_new else b"\n")


def asset_of(data: bytes, kind: str, links: str = "") -> Asset:
    """Return data ready to be sent, with its hash."""
    etag = f'W/"{sha256(data + links.encode()).hexdigest()[:16]}"'
    return Asset(
        kind, data, {"gzip": gzip.compress(data, _LEVEL, mtime=0)}, etag, "no-cache", {"Link": links} if links else {}
    )


def _of_past(found: PastAnswer) -> Asset:
    return asset_of(found.data, _JSON)


def _of_match(found: MatchData) -> Asset:
    return asset_of(wire.encode(found), _JSON)


def _of_page(address: str, found: MatchPage) -> Asset:
    lines = b"".join(wire.encode(match) + b"\n" for match in found.matches)
    return asset_of(lines, _LINES, f'<{_next_address(address, found.after)}>; rel="next"' if found.after else "")


def _next_address(address: str, after: str) -> str:
    path, _, query = address.partition("?")
    kept = [field for field in query.split("&") if field and field.partition("=")[0] != "after"]
    return f"{path}?{'&'.join((*kept, f'after={after}'))}"


@cache
def _games(games: tuple[str, ...], rated: tuple[str, ...]) -> Asset:
    return asset_of(wire.encode(list(_listed_games(games, rated))), _JSON)


def _listed_games(games: tuple[str, ...], rated: tuple[str, ...]) -> Iterator[ListedGame]:
    for game in map(find_game, games):
        is_rated = not is_always_casual(game.name, rated)
        yield ListedGame(
            game.name, game.title, game.rule, list(game.shape), game.gravity, may_swap(game.name), is_rated
        )


ROUTES: tuple[Route, ...] = (
    Route("/api/games", "List the games", NoParameters, list[ListedGame], _JSON, HttpApi.games),
    Route(
        "/api/leaderboard/{game}",
        "List the ratings at a game and speed, the best first, 20 on a page",
        LeaderboardParameters,
        wire.LeaderboardReply,
        _JSON,
        HttpApi.leaderboard,
    ),
    Route(
        "/api/players/{name}",
        "Show a player's results, ratings and live matches",
        PlayerParameters,
        wire.ProfileReply,
        _JSON,
        HttpApi.player,
    ),
    Route(
        "/api/players/{name}/matches",
        "List a player's finished public matches in the order of their ends, one a line",
        PlayersMatchesParameters,
        MatchData,
        _LINES,
        HttpApi.matches,
    ),
    Route(
        "/api/matches",
        "List all finished public matches in the order of their ends, one a line",
        MatchesParameters,
        MatchData,
        _LINES,
        HttpApi.matches,
    ),
    Route("/api/matches/{id}", "Show a finished public match", MatchParameters, MatchData, _JSON, HttpApi.match),
    Route(
        "/api/live",
        "Follow the list of live public matches: a line whenever it has changed, an empty one after 10 quiet seconds",
        NoParameters,
        wire.LiveList,
        _LINES,
        HttpApi.live,
    ),
    Route("/api/openapi.json", "Describe this API", NoParameters, dict[str, Any], _JSON, HttpApi.openapi),
)


def parse_address(address: str) -> tuple[Route, Struct]:
    """Return the route of an address, and its validated parameters. Raises `Refusal` if the address is invalid."""
    path, _, query = address.partition("?")
    try:
        words = [unquote(word, errors="strict") for word in path.split("/")]
        fields = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise Refusal(Code.BAD_MESSAGE, "the address is not percent-encoded UTF-8, or too long") from None
    for route in ROUTES:
        found = _matched(route.path.split("/"), words)
        if found is None:
            continue
        given = dict(fields)
        if len(given) < len(fields) or not found.keys().isdisjoint(given):
            raise Refusal(Code.BAD_MESSAGE, "a parameter occurs twice")
        try:
            return route, msgspec.convert(given | found, route.parameters, strict=False)
        except msgspec.ValidationError as error:
            raise Refusal(Code.BAD_MESSAGE, str(error)) from None
    raise UnknownAddress(f"there is no such address; {PREFIX}openapi.json lists all")


def _matched(pattern: Sequence[str], words: Sequence[str]) -> dict[str, str] | None:
    """Return the parameters in a path; None if it belongs to another route."""
    if len(pattern) != len(words):
        return None
    found = {}
    for part, word in zip(pattern, words, strict=True):
        if part.startswith("{"):
            found[part[1:-1]] = word
        elif part != word:
            return None
    return found


@cache
def _openapi() -> Asset:
    return asset_of(msgspec.json.encode(openapi()), _JSON)


_REFUSALS = {
    HTTPStatus.BAD_REQUEST: "A parameter is wrong",
    HTTPStatus.FORBIDDEN: "The match is private",
    HTTPStatus.NOT_FOUND: "No such address, player, game or match",
    HTTPStatus.CONFLICT: "The match is still being played",
    HTTPStatus.TOO_MANY_REQUESTS: "Your address asks too much; come back after `Retry-After` seconds",
    HTTPStatus.SERVICE_UNAVAILABLE: "The server is busy or restarts; come back after `Retry-After` seconds",
}


def openapi() -> dict[str, Any]:
    """Return the description of the API in OpenAPI 3.1."""
    types = [*(route.answer for route in ROUTES), wire.Refused]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    refusals = {
        str(status.value): {"description": does, "content": {_JSON: {"schema": schemas[-1]}}}
        for status, does in _REFUSALS.items()
    }
    paths = {
        route.path: {"get": _operation(route, schema, refusals)}
        for route, schema in zip(ROUTES, schemas[:-1], strict=True)
    }
    about = "Everything that a guest may see on this server, as data. It changes nothing, and asks for no key."
    return {
        "openapi": "3.1.0",
        "info": {"title": "ttt_net", "version": str(wire.PROTOCOL), "description": about},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(route: Route, schema: Mapping[str, Any], refusals: Mapping[str, Any]) -> dict[str, Any]:
    description = "One JSON object a line." if route.kind == _LINES else "The answer."
    return {
        "operationId": cast(Any, route.act).__name__ + ("_of_player" if "{name}/" in route.path else ""),
        "summary": route.does,
        "parameters": list(_parameters(route)),
        "responses": {
            "200": {"description": description, "content": {route.kind: {"schema": schema}}},
            "304": {"description": "Nothing has changed since the answer with the `ETag` in `If-None-Match`"},
            **refusals,
        },
    }


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    (_,), components = msgspec.json.schema_components([route.parameters], ref_template="{name}")
    described = components[route.parameters.__name__]
    for name, schema in described["properties"].items():
        is_in_path = f"{{{name}}}" in route.path
        yield {"name": name, "in": "path" if is_in_path else "query", "required": is_in_path, "schema": schema}
