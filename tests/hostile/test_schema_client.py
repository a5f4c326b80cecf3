"""A client that has read the schema, and sends each field of each request wrong: one answer each, and it plays on."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import running
from ttt_net.server.settings.configuration import Limits, Rate

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "requests.schema.json").read_text(encoding="utf-8"))
WRONG: tuple[Any, ...] = (
    *(None, True, -1, 2**63, 1.5, "", "x" * 900, "\x00\u202e", []),
    *([[]] * 40, {}, {"x": {"x": {}}}, {"initial_ms": -1}),
)
"""Values of all types, most of them wrong for any field."""


def requests() -> Iterator[dict[str, Any]]:
    """Yield each request of the schema with each of its fields missing, wrong or unknown."""
    for kind in SCHEMA["definitions"].values():
        fields = kind.get("properties", {})
        if "type" not in fields or "id" not in fields:
            continue
        named = {"type": fields["type"]["enum"][0]}
        rest = [name for name in fields if name not in ("type", "id")]
        sound = named | {name: fields[name].get("default", 1) for name in kind["required"] if name in rest}
        for name in rest:
            yield {key: value for key, value in sound.items() if key != name}
            for value in WRONG:
                yield sound | {name: value}


@pytest.mark.parametrize("is_guest", [False, True])
async def test_each_wrong_field_is_answered_once_and_does_no_harm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_guest: bool
) -> None:
    often = Rate(1_000_000)
    limits = Limits(messages=often, matches=often, writes=often, inquiries=often, codes=often, challenges=often)
    wrong = [each for each in requests() if each["type"] != "forget"]
    assert len({each["type"] for each in wrong}) > 35
    async with running(tmp_path, limits) as server:
        peer = await server.connect()
        await peer.hello(**({} if is_guest else {"name": "Ann"}))
        codes = set()
        for request in wrong:
            answer = await peer.ask(**request)
            codes.add(answer.get("code", "ok"))
        assert "bad_message" in codes
        await peer.ok("ping")
        assert [each for each in peer.heard if each["type"] in ("ok", "refused")] == [], "answered once"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
