"""Roles of requests, bans, mutes, backups, and the audit log."""

import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from websockets.asyncio.client import unix_connect
from websockets.exceptions import InvalidStatus

from tests.patience import PATIENCE_S
from tests.server.admin.attended import attended
from tests.server.peer import Peer
from tests.server.running import running, until
from tests.simulation.loop import SimulatedLoop
from ttt_net.clock import TimeControl
from ttt_net.errors import Refusal
from ttt_net.server.admin import moderation as commands
from ttt_net.server.admin import protocol
from ttt_net.server.admin.admin_commands import AdminCommands
from ttt_net.server.admission.sanctions import Sanction
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger, queries
from ttt_net.server.journal.backups import verify
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration

HOST_REQUESTS: dict[str, dict[str, object]] = {
    "announce": {"text": "tea"},
    "appoint": {"name": "Ben"},
    "audit": {},
    "backup": {"file": "/nowhere/copy"},
    "create_tournament": {"name": "Friday", "kind": "swiss", "time": {"initial_ms": 60_000}},
    "direct_tournament": {"code": "BCDFG", "act": "start"},
    "dismiss": {"name": "Anna"},
    "drain": {"in_s": 60},
    "matches": {},
    "moderators": {},
    "stats": {},
    "tournament": {"code": "BCDFG"},
    "tournaments": {},
}
"""The requests that only the host may send, each with the fields of an example."""
MODERATOR_REQUESTS: dict[str, dict[str, object]] = {
    "ban": {"whom": "Eve", "for_s": 60},
    "bans": {},
    "close": {"number": 1},
    "close_all": {"name": "Nobody"},
    "kick": {"name": "Eve"},
    "mute": {"whom": "Eve", "for_s": 60},
    "players": {},
    "report": {"number": 1},
    "reports": {},
    "unban": {"whom": "Eve"},
    "unmute": {"whom": "Eve"},
}
"""The requests that moderators may send, too."""


def test_every_request_declares_its_role() -> None:
    requests = get_args(protocol.AnyAdminRequest)
    assert all("role" in vars(each) for each in requests)
    roles = {msgspec.inspect.type_info(each).tag: each.role for each in requests}  # type: ignore[attr-defined]
    assert roles == dict.fromkeys(HOST_REQUESTS, "host") | dict.fromkeys(MODERATOR_REQUESTS, "moderator")


async def test_a_moderator_is_refused_every_request_of_the_host_and_no_other(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        async with each.admin(await host.done("appoint", name="Anna")) as anna:
            for ask, fields in HOST_REQUESTS.items():
                assert await anna.failed(ask, **fields) == "only the host may do that"
            for ask, fields in MODERATOR_REQUESTS.items():
                assert "only the host" not in (await anna.ask(ask, **fields)).get("text", "")
        assert [act["act"] for act in (await host.ask("audit"))["acts"]] == ["appoint"]
        assert [row["name"] for row in (await host.ask("moderators"))["moderators"]] == ["Anna"]


async def test_a_part_of_a_token_opens_nothing(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        tokens = [each.listener.token, await host.done("appoint", name="Anna")]
        for token in tokens:
            for part in (token[:size] for size in range(len(token))):
                headers = {"Authorization": f"Bearer {part}"}
                with pytest.raises(InvalidStatus, match="401"):
                    await unix_connect(each.listener.address, "ws://admin/", additional_headers=headers)
            async with each.admin(token) as admin:
                await admin.ask("players")
        for token in (each.listener.token, each.listener.metrics_token):
            for part in (token[:size] for size in range(len(token))):
                assert (await each.http("/metrics", f"Authorization: Bearer {part}"))[0] == 401
            assert (await each.http("/metrics", f"Authorization: Bearer {token}"))[0] == 200


async def test_a_banned_player_is_disconnected_and_rejected_under_any_name(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await ann.ok("rename", name="Annika")
        assert await admin.done("ban", whom="annika", reason="swearing", for_s=3_600)
        assert await ann.close_code() == 4005
        again = await each.server.connect()
        answer = await again.ask("hello", protocols=[1], token=ann.token)
        assert answer["code"] == "banned"
        assert answer["message"].endswith("UTC: swearing")
        assert 3_590_000 < answer["retry_after_ms"] <= 3_600_000
        assert each.server.sessions == {}
        await admin.done("unban", whom="ANNIKA")
        await again.hello(token=ann.token)


async def test_a_ban_outlives_a_restart(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("ban", whom="Ann")
        await admin.done("ban", whom="198.51.100.0/24")
    async with attended(tmp_path) as each, each.admin() as admin:
        again = await each.server.connect()
        assert await again.refused("hello", protocols=[1], token=ann.token) == "banned"
        rows = (await admin.ask("bans"))["sanctions"]
        assert {row["whom"] for row in rows} == {"Ann", "198.51.100.0/24"}
        assert all(row["until_ms"] is None for row in rows)


async def test_a_banned_address_is_cut_off_and_turned_away_at_the_handshake(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        assert "1 connection closed" in await admin.done("ban", whom="127.0.0.1", reason="flood", for_s=60)
        assert await ann.close_code() == 4005
        with pytest.raises(InvalidStatus) as turned_away:
            await each.server.connect()
        assert turned_away.value.response.status_code == 403
        body = bytes(turned_away.value.response.body or b"").decode()
        assert body.startswith("you are banned from this server until ")
        await admin.done("unban", whom="127.0.0.1")
        await each.server.join("Bob")


async def test_behind_a_proxy_it_is_the_caller_who_is_banned(tmp_path: Path) -> None:
    configuration = Configuration(behind_proxy=True)
    async with attended(tmp_path, configuration=configuration) as each, each.admin() as admin:
        await admin.done("ban", whom="2001:db8::1")
        for address, status in (("2001:db8::2", 403), ("2001:db8:0:1::1", 200)):
            peer = await each.server.raw()
            await peer.send(f"GET / HTTP/1.1\r\nX-Forwarded-For: {address}\r\n\r\n".encode())
            assert await peer.status() == status


async def test_a_mute_is_kept_with_the_player(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        await each.server.join("Ann")
        await admin.done("mute", whom="Ann", reason="shouting", for_s=60)
        (session,) = each.server.sessions.values()
        assert each.server.hub.services.sanctions.on("mute", session.subject, "")
        assert "no player is called Eve" in await admin.failed("mute", whom="Eve")
        assert await admin.done("unmute", whom="Ann") == "Ann is no longer muted"
        assert each.server.hub.services.sanctions.on("mute", session.subject, "") is None


async def test_a_sanction_goes_by_the_name_that_its_player_has_now(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("mute", whom="Ann", reason="shouting")
        await ann.ok("rename", name="Annika")
        (row,) = (await admin.ask("bans"))["sanctions"]
        assert row["whom"] == "Annika"
        other = await each.server.join("Ann")
        assert "Ann is not muted" in await admin.failed("unmute", whom="Ann")
        await admin.done("mute", whom="Ann")
        await other.close()
    async with attended(tmp_path) as each, each.admin() as admin:
        await each.server.flushed()
        assert {row["whom"] for row in (await admin.ask("bans"))["sanctions"]} == {"Annika", "Ann"}
        assert await admin.done("unmute", whom="ANNIKA") == "Annika is no longer muted"
        assert [row["whom"] for row in (await admin.ask("bans"))["sanctions"]] == ["Ann"]


async def test_a_mute_outlives_forget_under_the_same_token_and_names_nobody(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("mute", whom="Ann", reason="shouting", for_s=600)
        await ann.ok("forget", name="Ann")
        assert await ann.close_code() == 4004
        (row,) = (await admin.ask("bans"))["sanctions"]
        assert row["whom"] == "deleted #1"
        again = await each.server.connect()
        await again.hello(name="Somebody", token=ann.token)
        assert (await again.hear("sanctioned"))["reason"] == "shouting"
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as journal:
        assert not [line for line in journal.iterdump() if "Ann" in line]
    async with attended(tmp_path) as each, each.admin() as admin:
        again = await each.server.connect()
        await again.hello(token=ann.token)
        await again.hear("sanctioned", act="mute")
        assert await admin.done("unmute", whom="#1") == "deleted is no longer muted"
        assert await again.hear("sanctioned", lifted=True)
        assert (await admin.ask("bans"))["sanctions"] == []


async def test_impossible_bans_and_unbans_are_reported(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        assert "no player is called Eve" in await admin.failed("ban", whom="Eve")
        assert "too wide" in await admin.failed("ban", whom="0.0.0.0/0")
        assert "is not banned" in await admin.failed("unban", whom="192.0.2.1")
        assert "is not muted" in await admin.failed("unmute", whom="Eve")
        assert each.server.hub.services.sanctions.in_force() == []


async def test_every_act_is_in_the_audit_log_and_stays_there(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        await each.server.join("Ann")
        await admin.done("announce", text="tea")
        await admin.done("kick", name="Ann", reason="rude")
        await admin.done("ban", whom="Ann", reason="ruder", for_s=60)
        await admin.done("unban", whom="Ann")
        await admin.done("mute", whom="Ann")
        await admin.done("unmute", whom="Ann")
        await admin.done("drain", in_s=60)
        await admin.done("drain", in_s=None)
    async with attended(tmp_path) as each, each.admin() as admin:
        commands = (await admin.ask("audit"))["acts"]
        names = ["announce", "kick", "ban", "unban", "mute", "unmute", "drain", "drain"]
        assert [act["act"] for act in commands] == names
        assert commands[1]["what"] == "Ann: rude"
        assert commands[2]["what"].startswith("Ann until ")
        assert [act["act"] for act in (await admin.ask("audit", last=2))["acts"]] == ["drain", "drain"]


async def test_the_audit_log_calls_a_player_as_they_are_called_now_and_forgets_them(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("mute", whom="Ann", reason="shouting")
        await admin.done("unmute", whom="Ann")
        await admin.done("ban", whom="192.0.2.0/24", reason="floods")
        await ann.ok("rename", name="Anouk")
        assert [act["what"] for act in (await admin.ask("audit"))["acts"]] == [
            "Anouk for good: shouting",
            "Anouk",
            "192.0.2.0/24 for good: floods",
        ]
        await admin.done("kick", name="Anouk", reason="rude")
        again = await each.server.connect()
        await again.hello(token=ann.token)
        await again.ok("forget", name="Anouk")
        assert [act["what"] for act in (await admin.ask("audit"))["acts"]] == [
            "deleted for good: shouting",
            "deleted",
            "192.0.2.0/24 for good: floods",
            "deleted: rude",
        ]
        await again.close_code()
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as journal:
        assert not [line for line in journal.iterdump() if "Ann" in line or "Anouk" in line]


def test_no_tournament_is_made_before_those_of_the_journal_are_read() -> None:
    loop, journal = SimulatedLoop().as_asyncio, Journal(MemoryLedger())
    hub = Hub(build_services(Configuration(name="x"), journal, loop, lambda: 0, random.Random(1)))
    admin = AdminCommands(hub, lambda: None, lambda key: 0)
    with pytest.raises(Refusal, match="has just started"):
        admin.carry_out(protocol.CreateTournament("Friday", "swiss", time=TimeControl(60_000)), lambda reply: None)


async def test_the_server_copies_its_journal_when_asked(tmp_path: Path) -> None:
    async with attended(tmp_path / "data") as each, each.admin() as admin:
        await each.server.pair()
        copy = tmp_path / "copy"
        assert "bytes" in await admin.done("backup", file=str(copy))
        assert verify(copy).matches == 1
        assert "never written over" in await admin.failed("backup", file=str(copy))
        assert "must be a whole one" in await admin.failed("backup", file="copy")
        assert [act["act"] for act in (await admin.ask("audit"))["acts"]] == ["backup"]


async def test_one_backup_is_made_at_a_time_and_is_given_up_when_the_server_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, begun, wanted = threading.Event(), [0], list[bool]()

    def snapshot(journal: Journal, file: Path, is_wanted: Callable[[], bool]) -> int:
        begun[0] += 1
        release.wait(PATIENCE_S)
        wanted.append(is_wanted())
        return 1

    monkeypatch.setattr(Journal, "snapshot", snapshot)
    async with attended(tmp_path) as each, each.admin() as admin:
        for _ in range(2):
            await admin.socket.send('{"ask":"backup","file":"/copy"}')
        assert "another backup is under way" in str(await admin.socket.recv())
        release.set()
        assert "/copy: 1 bytes" in str(await admin.socket.recv())
        release.clear()
        await admin.socket.send('{"ask":"backup","file":"/copy"}')
        await until(lambda: begun[0] == 2)
    release.set()
    await until(lambda: len(wanted) == 2)
    assert wanted == [True, False]


async def test_without_a_disk_a_ban_is_refused_but_a_kick_is_not(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await each.server.execute("PRAGMA query_only = ON")
        assert await admin.failed("ban", whom="Ann")
        assert each.server.hub.services.sanctions.in_force() == []
        await admin.done("kick", name="Ann")
        assert await ann.close_code() == 4005


async def test_a_hello_that_comes_before_anything_else_meets_its_ban(tmp_path: Path) -> None:
    """Bans are read by the journal's thread, before it looks up anybody."""
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("ban", whom="Ann")
    async with running(tmp_path) as server:
        early = await Peer.connect(server.url)
        assert await early.refused("hello", protocols=[1], token=ann.token) == "banned"


async def test_bans_that_could_not_be_read_at_the_start_are_in_force_once_they_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("ban", whom="Ann")
    monkeypatch.setattr(commands, "RETRY_S", 0.0)
    read, is_broken, tries = queries.read_sanctions, True, 0

    def fail(connection: sqlite3.Connection) -> list[Sanction]:
        nonlocal tries
        tries += 1
        if is_broken:
            raise sqlite3.OperationalError("disk I/O error")
        return read(connection)

    monkeypatch.setattr(queries, "read_sanctions", fail)
    async with running(tmp_path) as server:
        early = await server.connect()
        await early.hello(token=ann.token)
        await until(lambda: tries > 2)
        assert server.hub.services.sanctions.are_missing
        is_broken = False
        assert await early.close_code() == 4005
        again = await server.connect()
        assert await again.refused("hello", protocols=[1], token=ann.token) == "banned"


async def test_a_reason_in_wide_letters_fits_into_the_close_frame(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("kick", name="Ann", reason="ж" * 80)
        assert await ann.close_code() == 4005
