"""Write docs/protocol.md and the two files of JSON Schema beside it from the code: `make docs`. A test compares them.

The transcript is not typed: a hub with a journal in memory, a clock that ticks by hand and seeded dice plays it.
"""

import asyncio
import inspect
import json
import random
import types
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, cast
from unittest import mock

import msgspec
from msgspec import NODEFAULT, Meta, Struct

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Advice, Closing, Code, Refusal
from ttt_net.games import Reason
from ttt_net.games.catalogue import MAX_SIDE, NAMES, PATTERNS, SWAP, SWAPPABLE
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Failed, Journal
from ttt_net.server.players import Player
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame

HERE = Path(__file__).parent
SHARED: tuple[type[Struct], ...] = (
    wire.PlayerInfo,
    wire.GameInfo,
    wire.AddedGame,
    wire.GeometryInfo,
    wire.PieceInfo,
    wire.Position,
    wire.TargetInfo,
    wire.NoteInfo,
    wire.CounterInfo,
    wire.ClockInfo,
    wire.OfferInfo,
    wire.AwayInfo,
    wire.OutcomeInfo,
    wire.OwnPuzzle,
    wire.OwnMistake,
    wire.RatingChange,
    wire.RuleExample,
    wire.AnalysedMove,
    wire.ExplanationInfo,
    wire.ThreatRow,
    wire.MatchLesson,
    wire.RatingInfo,
    wire.HeadToHead,
    wire.FinishedMatch,
    wire.Leader,
    TimeControl,
    wire.SeekInfo,
    wire.LiveMatch,
    wire.ListedTournament,
    wire.TournamentPlace,
    wire.PlayedTournament,
    wire.TournamentStanding,
    wire.TournamentBoard,
    wire.ListedPlayer,
)
REASONS = {
    Reason.LINE: "a line was completed",
    Reason.DRAW: "the rules say that nobody can win any more, such as a full board",
    Reason.RESIGN: "a player resigned",
    Reason.TIME: "a player's time was used up",
    Reason.ABANDON: "a player left and did not come back",
    Reason.ABORT: "the match was called off before both had moved",
    Reason.AGREEMENT: "both agreed to a draw",
}
EXAMPLE_TOKEN = b"this is an example, not a token."


def main() -> None:
    """Write the files."""
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")


def generated() -> dict[Path, str]:
    """Return the content of each generated file."""
    template = (HERE / "protocol.template.md").read_text(encoding="utf-8")
    parts = {
        "REQUESTS": _section(typing.get_args(wire.AnyRequest)),
        "SERVER_MESSAGES": _section(typing.get_args(wire.AnyServerMessage)),
        "SHARED": _section(SHARED),
        "REFUSALS": "\n".join(f"- `{code}`: {code.meaning}" for code in Code),
        "CLOSINGS": "\n".join(
            f"| {int(each)} | {each.meaning} | {each.advice.partition(':')[0]} |" for each in Closing
        ),
        "ADVICE": "\n".join(
            f"- *{word}*: {rest.strip()}" for word, _, rest in (each.partition(":") for each in Advice)
        ),
        "GAMES": _games(),
        "REASONS": "\n".join(f"- `{reason}`: {meaning}" for reason, meaning in REASONS.items()),
        "GRAVITY": "\n".join(gravity_match()).strip(),
        "TRANSCRIPT": "\n".join(transcript()).strip(),
    }
    for name, text in parts.items():
        template = template.replace(f"<!-- {name} -->", text)
    return {
        HERE / "protocol.md": template,
        HERE / "requests.schema.json": _schema("requests", wire.AnyRequest),
        HERE / "server-messages.schema.json": _schema("server-messages", wire.AnyServerMessage),
        HERE / "asyncapi.json": _asyncapi(),
    }


def _schema(direction: str, union: object) -> str:
    """Return the JSON Schema of the messages of one direction, which stands for itself."""
    schema = _as_draft_7(msgspec.json.schema(union, ref_template="#/definitions/{name}"))
    head = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"urn:ttt_net:protocol:{wire.PROTOCOL}:{direction}",
        "title": "".join(map(str.capitalize, direction.removesuffix("s").split("-"))),
        "definitions": schema.pop("$defs"),
    }
    return json.dumps(head | schema, indent=1, sort_keys=True) + "\n"


def _as_draft_7(schema: Any) -> Any:  # noqa: ANN401 - a value of JSON
    """Return the schema as JSON Schema of draft 7, the newest that generators of types understand.

    A tuple is a list of `items` there. Descriptions are as Python 3.13 keeps docstrings: not indented.
    """
    if isinstance(schema, dict):
        whole = {key: _as_draft_7(value) for key, value in schema.items()}
        if "prefixItems" in whole:
            whole |= {"items": whole.pop("prefixItems"), "additionalItems": False}
        if isinstance(whole.get("description"), str):
            whole["description"] = inspect.cleandoc(whole["description"])
        return whole
    return [_as_draft_7(each) for each in schema] if isinstance(schema, list) else schema


def _asyncapi() -> str:
    """Return the protocol as an AsyncAPI document, which describes the server."""
    schemas = {}
    for union in (wire.AnyRequest, wire.AnyServerMessage):
        schemas.update(msgspec.json.schema(union, ref_template="#/components/schemas/{name}")["$defs"])
    requests, told = (_messages(union) for union in (wire.AnyRequest, wire.AnyServerMessage))
    channel = {"$ref": "#/channels/connection"}
    document = {
        "asyncapi": "3.0.0",
        "id": f"urn:ttt_net:protocol:{wire.PROTOCOL}",
        "info": {
            "title": "ttt_net",
            "version": str(wire.PROTOCOL),
            "description": "Tic-tac-toe and its family over WebSockets: a JSON object in each text frame.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {"server": {"host": "localhost:8765", "protocol": "ws", "description": "`wss` where it encrypts."}},
        "channels": {
            "connection": {
                "address": "/",
                "description": "One connection. The first request is `hello`; wait for `welcome` before the next one.",
                "messages": {tag: {"$ref": f"#/components/messages/{tag}"} for tag in (*requests, *told)},
            }
        },
        "operations": {
            "carryOut": {
                "action": "receive",
                "channel": channel,
                "summary": "Every request gets exactly one reply.",
                "messages": [{"$ref": f"#/channels/connection/messages/{tag}"} for tag in requests],
                "reply": {
                    "channel": channel,
                    "messages": [{"$ref": f"#/channels/connection/messages/{tag}"} for tag in ("ok", "refused")],
                },
            },
            "tell": {
                "action": "send",
                "channel": channel,
                "summary": "Events of matches, lists, and what follows from requests.",
                "messages": [{"$ref": f"#/channels/connection/messages/{tag}"} for tag in told],
            },
        },
        "components": {"messages": requests | told, "schemas": _as_draft_7(schemas)},
    }
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _messages(union: object) -> dict[str, dict[str, Any]]:
    """Return the messages of one direction as AsyncAPI has them, by the name of their type."""
    found = {}
    for struct in typing.get_args(union):
        tag = struct.__struct_config__.tag
        summary = inspect.cleandoc(struct.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        found[tag] = {"summary": summary, "payload": {"$ref": f"#/components/schemas/{struct.__name__}"}}
        if "id" in struct.__struct_fields__:
            found[tag]["correlationId"] = {"location": "$message.payload#/id"}
    return found


def _games() -> str:
    """Return what a game may be called, as a list."""
    return "\n".join((
        f"- {_quoted(NAMES)};",
        f"- of any size up to {MAX_SIDE}×{MAX_SIDE} {_quoted(PATTERNS)}: K in a row on W×H, the latter with gravity;",
        f"- {_quoted(SWAPPABLE)}, each also with `{SWAP}` appended: the second player may take over the first move.",
    ))  # fmt: skip


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _section(structs: tuple[type[Struct], ...]) -> str:
    return "\n".join(map(_described, structs))


def _described(struct: type[Struct]) -> str:
    """Return the section of one struct: its docstring and its fields."""
    config = struct.__struct_config__
    name = struct.__name__ if struct in SHARED else config.tag
    lines = [f"### `{name}`", "", inspect.getdoc(struct) or "", ""]
    hints = typing.get_type_hints(struct, include_extras=True)
    if struct in SHARED and config.tag:
        lines.append(f'- `{config.tag_field}`: "{config.tag}"')
    fields = [each for each in msgspec.structs.fields(struct) if each.name not in _understood(struct)]
    kinds: dict[str, list[str]] = {}
    for field in fields:
        kinds.setdefault(_type_of(field, hints[field.name]), []).append(field.name)
    lines += [f"- {_quoted(names)}: {kind}" for kind, names in kinds.items()]
    return "\n".join([*lines, ""] if lines[-1] else lines)


def _understood(struct: type[Struct]) -> tuple[str, ...]:
    """Return the fields that the page describes once for all structs of the kind."""
    if issubclass(struct, wire.Request):
        return ("id",)
    return ("match", "seq", "at_ms") if struct in typing.get_args(wire.MatchEvent) else ()


def _type_of(field: msgspec.structs.FieldInfo, hint: Any) -> str:  # noqa: ANN401 - a type, in any form
    """Return the type of a field, and its default if it is optional."""
    if field.required:
        return _type_text(hint)
    default = field.default_factory() if field.default is NODEFAULT else field.default
    if default is None:
        return f"{' or '.join(_type_text(each) for each in typing.get_args(hint) if each is not type(None))}, optional"
    return f"{_type_text(hint)}, default `{json.dumps(default)}`"


def _type_text(hint: Any) -> str:  # noqa: ANN401 - a type, in any of the forms that typing has for it
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        inner, *metas = arguments
        bounds = "".join(_bounds(meta) for meta in metas if isinstance(meta, Meta))
        kind, of, rest = _type_text(inner).partition(" of ")
        return f"{kind}{bounds}{of}{rest}"
    if origin is Literal:
        return ", ".join(f"`{json.dumps(value)}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type_text, arguments))
    if origin is list:
        return f"list of {_type_text(arguments[0]).replace('string', 'strings').replace('integer', 'integers')}"
    if origin is tuple:
        return f"[{', '.join(map(_type_text, arguments))}]"
    if origin is dict:
        return f"object of {_type_text(arguments[1])}s by name"
    if isinstance(hint, type) and issubclass(hint, Struct):
        return f"[`{hint.__name__}`](#{hint.__name__.lower()})"
    return {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}[hint]


def _bounds(meta: Meta) -> str:
    if meta.ge is not None and meta.le is not None and meta.ge > -wire.MAX_NUMBER:
        return f" ({meta.ge:,}–{meta.le:,})"
    return "" if meta.max_length is None else f" (≤ {meta.max_length})"


class _Wire:
    """A connection that writes down what is sent."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.session: object = None
        self.is_open = True
        self.address = ""
        self.left_on_purpose = False
        self.lag_ms = 0
        self.metered_as = None
        self.account = None
        self.has_said_hello = False
        self.lacks_place = False
        self._name = name
        self._log = log

    def hold(self) -> None:
        """Wait for nothing: each request is answered at once."""

    def meter(self) -> int:
        """Say that no message is one too many."""
        return 0

    def send(self, frames: bytes) -> None:
        """Write down each frame: two bytes of header, or four."""
        while frames:
            start, size = (2, frames[1]) if frames[1] < 126 else (4, int.from_bytes(frames[2:4], "big"))
            self._log.append(f"{self._name} << {frames[start : start + size].decode()}")
            frames = frames[start + size :]

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        """Write down the answer to what was not carried out."""
        self.send(frame(wire.encode(wire.refused(request, refusal))))


class _InstantJournal:
    """A journal that forgets, and answers at once."""

    def __init__(self) -> None:
        self._players = 0

    def charge_to(self, _: object) -> None:
        """Charge nobody."""

    def append(
        self, events: Sequence[wire.MatchEvent], done: Callable[[None], None], failed: Failed, seats: object = None
    ) -> None:
        """Say that the events are kept."""
        done(None)

    def register(
        self,
        name: str,
        token: str,
        bot: str | None,
        now_ms: int,
        done: Callable[[Player], None],
        failed: Failed,
        *,
        is_guest: bool,
    ) -> None:
        """Say that the player is known from now on."""
        self._players += 1
        done(Player(self._players, name, is_guest=is_guest))

    def look(self, read: object, tell: object) -> None:
        """Do nothing: nobody asks about the past."""


class _ExampleDice(random.Random):
    """Seeded numbers, and a token that is shown and good for nothing."""

    def randbytes(self, n: int) -> bytes:
        return EXAMPLE_TOKEN


class _Example:
    """Two players of a hub of their own, and what was written down of their conversation."""

    def __init__(self, seed: int) -> None:
        self.log: list[str] = []
        now = iter(range(1_795_254_000_000, 2**53, 250))
        journal = cast(Journal, _InstantJournal())
        loop = cast(asyncio.AbstractEventLoop, mock.Mock())
        settings, dice = Configuration(name="the lobby"), _ExampleDice(seed)
        self._hub = Hub(build_services(settings, journal, loop, lambda: next(now), dice, engine=["an engine"]))
        self.wires = {name: _Wire(name, self.log) for name in ("Ann", "Bob")}

    def say(self, name: str, said: wire.AnyRequest) -> None:
        """Let a player say something, and write down what follows from it."""
        text = wire.encode(said).decode()
        self.log.extend(("", f"{name} >> {text}"))
        self._hub.received(cast(Connection, self.wires[name]), text)

    def last(self) -> dict[str, Any]:
        """Return the message that was sent last."""
        message: dict[str, Any] = json.loads(self.log[-1].partition("<< ")[2])
        return message

    def begin(self, *games: str) -> tuple[str, list[str]]:
        """Pair both; return the match, and the players by side."""
        self.say("Ann", wire.HelloRequest(1, [1], name="Ann"))
        self.say("Ann", wire.SeekRequest(2, list(games)))
        self.say("Bob", wire.HelloRequest(1, [1], name="Bob", bot="alphabeta"))
        self.say("Bob", wire.SeekRequest(2, [] if games == ("tictactoe",) else list(games)))
        snapshot = self.last()
        return snapshot["match"], [player["name"] for player in snapshot["players"]]


def transcript() -> list[str]:
    """Return a whole match between two clients, line by line."""
    example = _Example(seed=3)
    match, (first, second) = example.begin("tictactoe")
    for ply, move in enumerate([4, 0, 2, 1]):
        example.say((first, second)[ply % 2], wire.PlayRequest(ply + 3, match, ply, move))
    example.say(second, wire.PlayRequest(7, match, 4, 6))
    example.say(first, wire.PlayRequest(7, match, 4, 6))
    example.say(second, wire.OfferRequest(8, match, "rematch", 5))
    example.say(first, wire.AgreeRequest(8, match, example.last()["seq"]))
    return example.log


def gravity_match() -> list[str]:
    """Return a whole match with gravity as one of both, Bob, sees it, line by line."""
    example = _Example(seed=3)
    match, sides = example.begin("connect:4x4,3")
    for ply, move in enumerate([12, 8, 13, 9, 14]):
        example.say(sides[ply % 2], wire.PlayRequest(ply // 2 + 3, match, ply, move))
    of_bob = [line.removeprefix("Bob ") for line in example.log if line.startswith("Bob ")]
    return [line for each in of_bob for line in (("", each) if each.startswith(">>") else (each,))]


if __name__ == "__main__":
    main()
