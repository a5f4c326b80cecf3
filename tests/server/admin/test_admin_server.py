"""Admins may do this, and nobody else may."""

import asyncio
import errno
import json
import os
import re
import socket
import stat
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from websockets.asyncio.client import connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

import ttt_net
from tests.patience import PATIENCE_S
from tests.server.admin.attended import attended
from tests.server.running import running, until
from ttt_net.errors import Closing, Code, ConfigurationError
from ttt_net.server.admin import admin_server, exposition
from ttt_net.server.admin.admin_commands import AdminCommands
from ttt_net.server.admin.admin_server import (
    ADDRESS_FILE,
    LIMITS,
    METRICS_TOKEN_FILE,
    SOCKET_FILE,
    TOKEN_FILE,
    AdminListener,
    attending,
    open_listener,
)
from ttt_net.server.metrics import ENDINGS
from ttt_net.server.readiness import DiskUsage


@pytest.fixture(params=["", "127.0.0.1:0"], ids=["unix", "loopback"])
def wanted(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_the_figures_are_those_of_the_moment(tmp_path: Path, wanted: str) -> None:
    usage: list[DiskUsage] = []
    async with attended(tmp_path, wanted, measure=lambda: usage[0] if usage else None) as each, each.admin() as admin:
        before = await admin.ask("stats")
        assert (before["people"], before["live"], before["moves"], before["unready"]) == (0, 0, 0, None)
        first, second, match = await each.server.pair()
        await each.server.join("Deep", bot="alphabeta")
        await first.play(match, (first, 0), (second, 1))
        usage.append(DiskUsage(70, 30))
        each.server.hub.services.disk.look()  # as every second
        after = await admin.ask("stats")
        assert (after["free_bytes"], after["journal_bytes"]) == (70, 30)
        assert (after["people"], after["bots"], after["connections"], after["live"]) == (2, 1, 3, 1)
        assert (after["moves"], sum(after["move_s"]["counts"]), after["matches"]) == (2, 2, 1)
        each.server.clock.offset_ms += 3_600_000
        assert 3_600 <= (await admin.ask("stats"))["up_s"] - before["up_s"] < 7_200
        assert AdminCommands(each.server.hub, each.stopped.set, lambda key: 0).report().up_s < 3_600


async def test_players_and_matches_are_listed_private_ones_too(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann, bob = [await each.server.join(name) for name in ("Ann", "Bob")]
        await ann.ok("invite")
        await bob.ok("join", code=(await ann.hear("invitation"))["code"])
        match = (await ann.hear("snapshot"))["match"]
        players = await admin.ask("players")
        assert [row["name"] for row in players["players"]] == ["Ann", "Bob"]
        assert {row["address"] for row in players["players"]} == {"127.0.0.1"}
        assert players["players"][0]["matches"] == [match]
        (row,) = (await admin.ask("matches"))["matches"]
        assert (row["match"], row["is_private"], row["present"]) == (match, True, [True, True])
        assert 0 <= players["players"][0]["connected_s"] < PATIENCE_S
        bob.abort()
        await until(lambda: len(each.server.sessions) == 1)
        (row,) = (await admin.ask("matches"))["matches"]
        assert sorted(row["present"]) == [False, True]
        each.server.hub.registry.room("unread")
        await ann.ok("resign", match=match)
        assert set(each.server.rooms) == {match, "unread"}
        assert await admin.ask("matches") == {"answer": "matchrows", "count": 0, "matches": []}


async def test_a_player_is_kicked_with_a_reason_and_asked_not_to_reconnect(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        assert "nobody called Eve" in await admin.failed("kick", name="Eve")
        assert "Ann" in await admin.done("kick", name="ANN", reason="swearing\x1b[2J")
        assert await ann.close_code() == 4005
        assert ann.socket.close_reason == "the host has sent you away: swearing[2J"
        assert each.server.hub.metrics.endings == {"kicked": 1}


async def test_announcements_reach_everybody_without_control_characters(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        peers = [await each.server.join(name) for name in ("Ann", "Bob")]
        await each.server.join("Zed", bot="random")
        assert await admin.done("announce", text="tea at \x1bfive") == "told 2 people"
        for peer in peers:
            assert await peer.hear("notice") == {"type": "notice", "text": "tea at five"}
        assert await admin.failed("announce", text="\x1b")


async def test_a_drain_counts_down_begins_no_match_and_ends_the_server(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        first, second, match = await each.server.pair()
        await admin.done("drain", in_s=1)
        notice = await first.hear("notice")
        assert notice["restart_in_ms"] == 1000
        assert await first.refused("seek", games=["tictactoe"]) == "restarting"
        assert await first.refused("invite") == "restarting"
        await first.ok("play", match=match, ply=0, move=4)
        late = await each.server.join("Late")
        assert (await late.hear("notice"))["restart_in_ms"] <= 1000
        assert await late.refused("seek") == "restarting"
        figures = await admin.ask("stats")
        assert figures["unready"] == "the server is about to restart"
        assert 0 <= figures["restart_in_s"] <= 1
        assert (await each.http("/readyz"))[0] == 503
        await second.hear("played", match=match)
        await each.stopped.wait()


async def test_a_player_who_connects_during_a_countdown_gets_the_rest_of_it(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("drain", in_s=50)
        assert (await ann.hear("notice"))["restart_in_ms"] == 50_000
        each.server.clock.offset_ms += 15_000
        late = await each.server.join("Late")
        notice = await late.hear("notice")
        assert notice["restart_in_ms"] <= 35_000
        seconds = int(re.findall(r"\d+", notice["text"])[0])
        assert seconds == round(notice["restart_in_ms"] / 1000)
        refused = await late.ask("seek", games=["tictactoe"])
        assert refused["code"] == "restarting"
        assert refused["retry_after_ms"] <= 35_050


async def test_no_rematch_begins_while_a_drain_is_counted_down(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        first, second, match = await each.server.pair()
        await first.ok("resign", match=match)
        await second.hear("ended")
        await first.ok("offer", match=match, kind="rematch")
        await admin.done("drain", in_s=60)
        assert await second.refused("offer", match=match, kind="rematch") == "restarting"


async def test_a_drain_that_is_called_off_lets_matches_begin_and_sends_the_idle_round(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        first, _, match = await each.server.pair()
        idle = await each.server.join("Idle")
        assert await admin.failed("drain", in_s=None)
        await admin.done("drain", in_s=60)
        assert await idle.refused("seek") == "restarting"
        await admin.done("drain", in_s=None)
        assert await idle.close_code() == 1012
        await first.ok("play", match=match, ply=0, move=4)
        await each.server.pair("Cid", "Dan")
        assert (await admin.ask("stats"))["restart_in_s"] is None
        assert not each.stopped.is_set()


async def test_the_countdown_is_repeated_as_it_runs_out(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        ann = await each.server.join("Ann")
        await admin.done("drain", in_s=6)
        assert [(await ann.hear("notice"))["restart_in_ms"] for _ in range(2)] == [6000, 5000]
        await admin.done("drain", in_s=0)
        await each.stopped.wait()


async def test_an_end_at_once_is_answered_before_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.server.readiness.LAST_WORD_S", 3_600.0)
    async with attended(tmp_path) as each, each.admin() as admin:
        await admin.done("drain", in_s=0)
        assert not each.stopped.is_set()
        assert (await admin.ask("stats"))["unready"] == "the server is about to restart"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"ask":"nonsense"}', '{"ask":"kick"}', '{"ask":"stats","more":1}', "[" * 4_000]
)
async def test_invalid_questions_are_answered_and_change_nothing(tmp_path: Path, text: str) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        await admin.socket.send(text)
        assert "is not allowed: " in str(await admin.socket.recv())
        assert (await admin.ask("stats"))["answer"] == "report"


@pytest.mark.parametrize("token", [None, "", "wrong", "x" * 1_000, "\xff"])
async def test_without_the_token_nothing_but_health_is_answered(tmp_path: Path, token: str | None, wanted: str) -> None:
    async with attended(tmp_path, wanted) as each:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if wanted:
            connecting = connect(f"ws://{each.listener.address}/", additional_headers=headers, proxy=None)
        else:
            connecting = unix_connect(each.listener.address, "ws://admin/", additional_headers=headers)
        with pytest.raises(InvalidStatus, match="401"):
            await connecting
        lines = [f"{name}: {value}" for name, value in headers.items()]
        assert (await each.http("/metrics", *lines))[0] == 401
        assert (await each.http("/", *lines))[0] == 401
        assert await each.http("/healthz", *lines) == (200, "ok\n")
        assert await each.http("/readyz", *lines) == (200, "ready\n")


@pytest.mark.parametrize("wanted", ["", "127.0.0.1:0"])
async def test_the_token_for_metrics_opens_nothing_else(tmp_path: Path, wanted: str) -> None:
    async with attended(tmp_path, wanted) as each:
        token = (tmp_path / METRICS_TOKEN_FILE).read_text().strip()
        assert len(token) == 43
        assert token != each.listener.token
        line = f"Authorization: Bearer {token}"
        assert (await each.http("/metrics", line))[0] == 200
        assert (await each.http("/metrics", line, "Origin: http://localhost"))[0] == 401
        for path in ("/", "/stats", "/metrics/", "/nonsense"):
            assert (await each.http(path, line))[0] == 401
        headers = {"Authorization": f"Bearer {token}"}
        for path in ("/", "/metrics"):
            if wanted:
                connecting = connect(f"ws://{each.listener.address}{path}", additional_headers=headers, proxy=None)
            else:
                connecting = unix_connect(each.listener.address, f"ws://admin{path}", additional_headers=headers)
            with pytest.raises(InvalidStatus, match="401"):
                await connecting


async def test_browsers_pages_are_rejected_even_with_the_token(tmp_path: Path) -> None:
    async with attended(tmp_path) as each:
        assert (await each.http("/metrics", each.authorization, "Origin: http://localhost"))[0] == 401
        assert (await each.http("/metrics", each.authorization, each.authorization))[0] == 401
        assert (await each.http("/metrics", f"Authorization: {each.listener.token}"))[0] == 401
        assert (await each.http("/nonsense", each.authorization))[0] == 404


@pytest.mark.parametrize("path", ["/metrics", "/stats", "/admin", "/kick", "/drain"])
async def test_the_public_port_serves_none_of_it(tmp_path: Path, path: str) -> None:
    async with attended(tmp_path) as each:
        peer = await each.server.raw()
        await peer.send(f"GET {path} HTTP/1.1\r\n{each.authorization}\r\n\r\n".encode())
        assert await peer.status() == 404


@pytest.mark.parametrize("ask", ["stats", "players", "matches", "kick", "announce", "drain"])
async def test_players_cannot_send_requests_of_admins(tmp_path: Path, ask: str) -> None:
    async with attended(tmp_path) as each:
        ann = await each.server.join("Ann")
        assert await ann.refused(ask if ask not in ("players", "matches") else "stats") == "bad_message"
        await ann.socket.send(f'{{"ask":"{ask}"}}')
        assert (await ann.hear("refused"))["code"] == "bad_message"


async def test_metrics_are_read_by_prometheus_own_parser(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    async with attended(tmp_path) as each:
        first, second, match = await each.server.pair()
        await first.play(match, (first, 0), (second, 1))
        assert await first.refused("play", match=match, ply=0, move=8) == "stale_ply"
        await first.ok("leaderboard", game="connect4", speed="blitz")
        status, text = await each.http("/metrics", each.authorization)
        assert status == 200
        samples = {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in parser.text_string_to_metric_families(text)
            for sample in family.samples
        }
        assert samples[("ttt_net_moves_total",)] == 2
        assert samples[("ttt_net_connections",)] == 2
        assert samples[("ttt_net_sessions", ("kind", "person"))] == 2
        assert samples[("ttt_net_live_matches",)] == 1
        assert samples[("ttt_net_refusals_total", ("code", "stale_ply"))] == 1
        assert samples[("ttt_net_move_seconds_bucket", ("le", "+Inf"))] == 2
        assert samples[("ttt_net_commit_seconds_count",)] >= 4
        assert samples[("ttt_net_ready",)] == 1
        assert samples[("ttt_net_questions",)] == samples[("ttt_net_questions_refused_total",)] == 0
        assert samples[("ttt_net_answer_seconds_count",)] == 1
        assert samples[("ttt_net_info", ("version", ttt_net.__version__))] == 1
        assert samples[("ttt_net_sessions", ("kind", "bot"))] == 0
        assert "ttt_net_disk_free_bytes" not in text, "nobody has measured it"
        assert "ttt_net_cluster" not in text
        assert match not in text
        assert "Ann" not in text


async def test_labelled_counters_start_at_zero(tmp_path: Path) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    async with attended(tmp_path) as each:
        _, text = await each.http("/metrics", each.authorization)
        counted = {
            (family.name, *sample.labels.values()): sample.value
            for family in parser.text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name in ("ttt_net_refusals_total", "ttt_net_connections_ended_total")
        }
    assert counted == dict.fromkeys(
        [("ttt_net_refusals", code.value) for code in Code] + [("ttt_net_connections_ended", each) for each in ENDINGS],
        0.0,
    )


async def test_metrics_have_their_type_and_name_the_missing_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip("prometheus_client")
    async with attended(tmp_path) as each:
        head, _, _ = await each.asked("/metrics", each.authorization)
        assert [line for line in head.splitlines() if line.lower().startswith("content-type:")] == [
            f"Content-Type: {library.CONTENT_TYPE_LATEST}"
        ]
        monkeypatch.setattr(exposition, "CollectorRegistry", None)
        status, text = await each.http("/metrics", each.authorization)
        assert (status, "ttt_net[metrics]" in text) == (501, True)


async def test_no_reply_to_an_admin_contains_a_token(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        first, second, _ = await each.server.pair()
        await admin.done("kick", name=second.name)
        told = [str(await admin.ask(ask)) for ask in ("stats", "players", "matches", "bans", "audit")]
        for path in ("/metrics", "/readyz", "/healthz", "/nonsense"):
            told.append((await each.http(path, each.authorization))[1])
        for token in (first.token, second.token, each.listener.token):
            assert len(token) == 43
            assert token not in "".join(told)


async def test_a_disk_that_refuses_makes_the_server_unready_until_it_works_again(tmp_path: Path) -> None:
    async with attended(tmp_path) as each:
        first, _, match = await each.server.pair()
        await each.server.execute("PRAGMA query_only = ON")
        assert await first.refused("play", match=match, ply=0, move=4) == "storage"
        assert await each.http("/readyz") == (503, "the disk refuses to be written\n")
        await each.server.execute("PRAGMA query_only = OFF")
        await each.http("/readyz")
        await each.server.flushed()
        assert await each.http("/readyz") == (200, "ready\n")


async def test_a_disk_that_hangs_makes_the_server_unready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.server.journal.ledger.SLOW_S", 0.0)
    async with attended(tmp_path) as each:
        with each.server.stopped_disk() as held:
            flushing = asyncio.ensure_future(each.server.flushed())
            await until(held.is_set)
            status, body = await each.http("/readyz")
            assert (status, "has not answered" in body) == (503, True)
        await flushing
        await until(lambda: each.server.ledger.health().trouble is None)


async def test_an_admin_who_does_not_read_delays_neither_the_shutdown_nor_other_admins(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as other, each.admin() as deaf:
        deaf.socket.transport.pause_reading()
        for _ in range(50):
            await deaf.socket.send('{"ask":"stats"}')
        assert (await other.ask("stats"))["answer"] == "report"
        deaf.socket.transport.abort()


async def test_more_admins_than_there_is_room_for_are_turned_away(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, AsyncExitStack() as stack:
        admins = [await stack.enter_async_context(each.admin()) for _ in range(LIMITS.max_connections)]
        with pytest.raises((InvalidHandshake, OSError)):
            await stack.enter_async_context(each.admin())
        for admin in admins:
            assert (await admin.ask("moderators"))["moderators"] == []
        await admins[0].socket.close()
        is_in = False
        while not is_in:  # the server may notice the end of that connection after its client
            with suppress(InvalidHandshake, OSError):
                await stack.enter_async_context(each.admin())
                is_in = True


async def test_an_admin_who_sends_too_much_is_refused(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as admin:
        each.server.clock.stand_still()
        for _ in range(LIMITS.messages.count + 1):
            await admin.socket.send('{"ask":"moderators"}')
        answers = [json.loads(await admin.socket.recv()) for _ in range(LIMITS.messages.count + 1)]
        assert [number for number, answer in enumerate(answers) if answer.get("text") == "too fast"] == [
            LIMITS.messages.count
        ]


async def test_an_idle_admin_is_disconnected_and_one_who_has_sent_a_request_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_server, "TICK_S", 0.01)
    monkeypatch.setattr(admin_server, "LIMITS", replace(LIMITS, hello_s=0.2))
    async with attended(tmp_path) as each, each.admin() as busy:
        assert (await busy.ask("moderators"))["moderators"] == []
        async with each.admin() as idle:
            with pytest.raises(ConnectionClosed):
                await idle.socket.recv()
        assert (await busy.ask("moderators"))["moderators"] == []


async def test_admins_learn_that_the_server_ends(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        async with attended(tmp_path) as each:
            admin = await stack.enter_async_context(each.admin())
            await admin.ask("moderators")
        await admin.socket.wait_closed()
        assert admin.socket.close_code == Closing.RESTART


def opened(wanted: str, folder: Path) -> AdminListener:
    listener = open_listener(wanted, folder)
    assert listener is not None
    listener.listening.close()
    return listener


def test_by_default_it_is_a_socket_in_the_folder_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        listener = opened("", tmp_path)
    finally:
        assert os.umask(before) == 0
    assert listener.address == str(tmp_path / SOCKET_FILE)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {SOCKET_FILE: 0o600, ADDRESS_FILE: 0o600, TOKEN_FILE: 0o600, METRICS_TOKEN_FILE: 0o600}


def test_the_token_stays_the_same_and_is_long(tmp_path: Path) -> None:
    tokens = {opened("", tmp_path).token for _ in range(3)}
    assert len(tokens) == 1
    assert len(tokens.pop()) == 43


def test_an_admin_may_connect_as_soon_as_the_address_is_written(tmp_path: Path) -> None:
    listener = open_listener("", tmp_path)
    assert listener is not None
    with listener.listening, socket.socket(socket.AF_UNIX) as admin:
        admin.connect(listener.address)


def test_a_socket_that_a_killed_server_left_is_no_hindrance(tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / SOCKET_FILE))
    left.close()
    opened("", tmp_path)


def test_a_socket_on_which_another_server_listens_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    with socket.socket(socket.AF_UNIX) as living, socket.socket(socket.AF_UNIX) as crowd:
        living.bind(str(path))
        living.listen(0)
        for _ in ("it answers", "it is too busy to answer"):
            with pytest.raises(ConfigurationError, match="another program listens on"):
                open_listener(str(path), tmp_path)
        living.accept()[0].close()
        crowd.connect(str(path))


def test_a_socket_of_another_kind_is_left_to_the_program_that_has_it(tmp_path: Path) -> None:
    path = tmp_path / "notify"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as theirs,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one,
    ):
        theirs.bind(str(path))
        with pytest.raises(ConfigurationError, match="another program listens on"):
            open_listener(str(path), tmp_path)
        one.sendto(b"still there", str(path))
        assert theirs.recv(100) == b"still there"


def test_a_socket_of_another_user_is_left_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(path))
        with monkeypatch.context() as system:  # the tests may be run by root, whom nothing is refused
            system.setattr(socket.socket, "connect_ex", lambda *_: errno.EACCES)
            with pytest.raises(ConfigurationError, match=r"cannot listen on .*: Permission denied"):
                open_listener(str(path), tmp_path)
    assert path.exists()


async def test_at_the_end_only_ones_own_socket_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    async with attended(tmp_path, str(path)):
        assert path.exists()
    assert not path.exists()
    async with attended(tmp_path, str(path)):
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
    assert path.exists()
    assert not (tmp_path / ADDRESS_FILE).exists()


@pytest.mark.parametrize(("size", "is_socket"), [(100, True), (101, False)])
def test_a_folder_with_too_long_a_path_gets_a_port_of_the_loopback(size: int, is_socket: bool) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place) / ("x" * (size - len(f"{place}//{SOCKET_FILE}")))
        folder.mkdir()
        assert len(str(folder / SOCKET_FILE)) == size
        assert opened("", folder).address.startswith(str(folder) if is_socket else "127.0.0.1:")


async def test_without_a_listener_there_are_no_admins(tmp_path: Path) -> None:
    async with running(tmp_path) as server, attending(None, server.hub, lambda: None):
        assert not (tmp_path / ADDRESS_FILE).exists()


def test_a_token_that_cannot_be_read_is_a_complaint(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).mkdir(mode=0o700)
    with pytest.raises(ConfigurationError, match="cannot use"):
        open_listener("", tmp_path)


async def test_a_pause_of_the_server_itself_counts_against_no_admin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_server, "TICK_S", 0.01)
    monkeypatch.setattr(admin_server, "LIMITS", replace(LIMITS, hello_s=0.3))
    async with attended(tmp_path) as each, each.admin() as admin:
        time.sleep(0.5)  # noqa: ASYNC251 - the whole process stands still
        for _ in range(3):
            await asyncio.sleep(0.01)
        assert (await admin.ask("moderators"))["moderators"] == []


def test_off_is_off(tmp_path: Path) -> None:
    assert open_listener("off", tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wanted", ["127.0.0.1:0", "localhost:0", "[::1]:0"])
def test_a_port_of_the_loopback_is_taken(tmp_path: Path, wanted: str) -> None:
    address = opened(wanted, tmp_path).address
    assert int(address.rpartition(":")[2]) > 0
    assert (tmp_path / ADDRESS_FILE).read_text() == address + "\n"


def test_a_port_in_use_is_left_alone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wanted = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigurationError, match=f"{wanted} is taken.* --admin"):
            open_listener(wanted, tmp_path)


@pytest.mark.parametrize("wanted", ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "example.org:1", "1234", "on", "127.0.0.1:x"])
def test_public_or_invalid_addresses_are_rejected(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(ConfigurationError, match="admin: "):
        open_listener(wanted, tmp_path)


def test_a_socket_where_none_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot listen"):
        open_listener(str(tmp_path / "nowhere" / "socket"), tmp_path)
    with pytest.raises(ConfigurationError, match="too long"):
        open_listener("/tmp/" + "x" * 200, tmp_path)


def test_an_address_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).mkdir()
    with pytest.raises(ConfigurationError, match=r"cannot write .*admin\.address"):
        open_listener("127.0.0.1:0", tmp_path)


@pytest.mark.parametrize("content", ["", "short", "\xff" * 40])
def test_a_token_file_without_a_token_has_a_new_one(tmp_path: Path, content: str) -> None:
    """As a power cut may leave one behind that was not synced."""
    (tmp_path / TOKEN_FILE).write_text(content, encoding="latin-1")
    (tmp_path / TOKEN_FILE).chmod(0o600)
    token = opened("", tmp_path).token
    assert len(token) == 43
    assert (tmp_path / TOKEN_FILE).read_text() == f"{token}\n"
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).write_text("x" * 43)
    (tmp_path / TOKEN_FILE).chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        open_listener("", tmp_path)
