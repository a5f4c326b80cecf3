"""A server as a process (system calls, and SIGHUP: live settings change at once), and one inside another program."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.patience import PATIENCE_S
from tests.server.running import Server, running
from ttt_net.server import serving
from ttt_net.server.serving import loop_factory, reload_settings, server_inside
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.settings.sources import read_order


def test_without_uvloop_the_loop_is_one_that_can_look_at_a_listening_socket_on_every_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "uvloop", None)
    assert loop_factory() is asyncio.SelectorEventLoop, "the usual one of Windows has no add_reader"


class File:
    """A file of settings, and how a server reads it again."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "server.toml"

    def write(self, text: str) -> None:
        self._path.write_text(text, encoding="utf-8")

    def read(self, environment: Mapping[str, str] | None = None) -> Configuration:
        return read_order(["--config", str(self._path)], environment or {}).configuration

    def reload(self, server: Server) -> None:
        reload_settings(server.hub, None, self.read)


async def test_live_settings_apply_immediately_to_everybody_connected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = File(tmp_path)
    file.write('name = "test"\n[limits]\nchats = "1/h"\nunmetered = []')
    async with running(tmp_path / "data", file.read().limits, configuration=file.read()) as server:
        server.clock.stand_still()
        ann, _, match = await server.pair()
        await ann.ok("chat", match=match, text="hello")
        assert await ann.refused("chat", match=match, text="hello?") == "too_fast"
        file.write(
            'name = "another"\norigins = ["https://play.example"]\n[limits]\nchats = "3/h"\nunmetered = []\n'
            "max_live_matches = 1\nallow_guests = false"
        )
        file.reload(server)
        for text in ("hello!", "there", "again"):
            await ann.ok("chat", match=match, text=text)
        assert await ann.refused("chat", match=match, text="and again") == "too_fast"
        assert await ann.refused("seek", games=["qubic"]) == "too_many_matches"
        guest = await server.connect()
        assert await guest.refused("hello", protocols=[1]) == "no_guests"
        welcome = await (await server.connect()).hello(name="Cid")
        assert welcome["server"] == "test"
        assert "guests" not in welcome["features"]
        assert server.hub.services.configuration.origins == ("https://play.example",)
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("settings")]
    assert said == [
        'settings: name will be "another" from the next start on, it stays "test"',
        'settings: origins is ["https://play.example"] now, it was []',
        "settings: limits.max_live_matches is 1 now, it was 20",
        "settings: limits.allow_guests is false now, it was true",
        'settings: limits.chats is "3/h" now, it was "1/h"',
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[limits\n", "settings in use stay"),
        ("[limits]\nchats = 'often'", "'often' is no rate"),
        ("[limits]\nchatter = 3", "limits.chatter: there is no such setting"),
        ("[limits]\nchats = '9/h'\nping_after_s = 9.0", "everybody who is silent would be dropped"),
        ("public = true\n[limits]\nchats = '9/h'", "strangers' tokens would go"),
    ],
)
async def test_of_a_file_that_is_broken_nothing_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, complaint: str
) -> None:
    file = File(tmp_path)
    async with running(tmp_path / "data", Limits(chats=Rate(2, 10.0))) as server:
        file.write(text)
        file.reload(server)
        assert server.hub.limits.chats == Rate(2, 10.0)
        await (await server.join("Ann")).ok("ping")
    (said,) = [record.getMessage() for record in caplog.records if "settings" in record.getMessage()]
    assert said.startswith("the settings in use stay: ")
    assert complaint in said


async def test_a_file_that_is_gone_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = File(tmp_path)
    async with running(tmp_path / "data", Limits(chats=Rate(2, 10.0))) as server:
        file.reload(server)
        assert server.hub.limits.chats == Rate(2, 10.0)
    assert "cannot read" in caplog.text


async def test_networks_that_are_not_metered_any_more_are_metered_when_they_come(tmp_path: Path) -> None:
    file = File(tmp_path)
    file.write('name = "test"\n[limits]\nopenings = "2/h"')
    async with running(tmp_path / "data", file.read().limits, configuration=file.read()) as server:
        server.clock.stand_still()
        for name in ("Ann", "Bob", "Cid"):
            await server.join(name)
        file.write('name = "test"\n[limits]\nopenings = "2/h"\nunmetered = []')
        file.reload(server)
        await server.join("Dan")
        await server.join("Eve")
        late = await server.raw()
        await late.send(b"GET / HTTP/1.1\r\n\r\n")
        assert await late.status() == 429


def test_nobody_is_on_a_server_that_has_ended(tmp_path: Path) -> None:
    configuration = Configuration(host="127.0.0.1", port=0, data=tmp_path, announce=False, house_bots=False)
    with (
        server_inside(configuration) as server,
        connect(f"ws://127.0.0.1:{server.where.port}", proxy=None, open_timeout=PATIENCE_S) as link,
    ):
        link.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": "Ann"}))
        assert [json.loads(link.recv())["type"] for _ in range(2)] == ["ok", "welcome"]
        assert server.people() == 1
        server.stop()
        server.wait()
        assert server.people() == 0
