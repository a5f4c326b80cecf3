"""`python -m ttt_net admin` against a server in this process."""

import asyncio
import io
import json
import re
from pathlib import Path

import pytest

from tests.server.admin.attended import attended
from ttt_net.__main__ import main
from ttt_net.commands.admin import as_text, draw, reached, watch
from ttt_net.server.admin import protocol
from ttt_net.server.cluster.replicated_ledger import NodeFigures


class Shell:
    """Runs the command as a person would, and returns what it prints."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    async def run(self, *arguments: str, before: tuple[str, ...] = ()) -> str:
        code = await asyncio.to_thread(main, ["admin", "--data", str(self._folder), *before, *arguments])
        printed = self._capsys.readouterr()
        assert (code, printed.err) == (0, "")
        return printed.out

    async def fail(self, *arguments: str, before: tuple[str, ...] = ()) -> str:
        assert await asyncio.to_thread(main, ["admin", "--data", str(self._folder), *before, *arguments]) == 2
        (line,) = self._capsys.readouterr().err.splitlines()
        return line


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


@pytest.mark.parametrize("wanted", ["", "127.0.0.1:0"], ids=["unix", "loopback"])
async def test_a_host_sees_who_is_here_and_what_is_played(tmp_path: Path, shell: Shell, wanted: str) -> None:
    async with attended(tmp_path, wanted) as each:
        first, second, match = await each.server.pair()
        await first.play(match, (first, 0), (second, 1))
        stats = await shell.run("stats")
        assert "2: 2 people, 0 bots" in stats
        assert "1 live of 1 in memory" in stats
        assert "state        ready" in stats
        heading, ann, bob = (await shell.run("players")).splitlines()
        assert heading.split()[:3] == ["name", "bot", "address"]
        assert ann.split()[0] == "Ann"
        assert bob.split()[0] == "Bob"
        assert match in (await shell.run("matches")).splitlines()[1]
        assert json.loads(await shell.run("--json", "matches"))["matches"][0]["match"] == match


async def test_a_host_announces_kicks_and_drains(tmp_path: Path, shell: Shell) -> None:
    async with attended(tmp_path) as each:
        ann, bob = [await each.server.join(name) for name in ("Ann", "Bob")]
        await each.server.join("Zed", bot="random")
        assert await shell.run("announce", "tea at five") == "told 2 people\n"
        assert (await ann.hear("notice"))["text"] == "tea at five"
        assert await shell.run("kick", "bob", "no manners") == "Bob was sent away\n"
        assert await bob.close_code() == 4005
        assert await shell.run("drain", "90") == "the server ends in 90 seconds\n"
        assert "restarts in" in await shell.run("stats")
        assert await shell.run("drain", "--cancel") == "the restart was called off\n"
        await shell.run("drain", "0")
        await each.stopped.wait()


async def test_a_host_bans_mutes_and_reads_what_was_done(tmp_path: Path, shell: Shell) -> None:
    async with attended(tmp_path) as each:
        await each.server.join("Ann")
        assert (await shell.run("mute", "Ann", "shouting", "--for", "2h")).startswith("Ann is muted until ")
        assert (await shell.run("ban", "192.0.2.7")) == "192.0.2.7/32 is banned for good\n"
        heading, newest, older = (await shell.run("bans")).splitlines()
        assert heading.split() == ["act", "whom", "since", "until", "by", "reason"]
        assert newest.split()[:2] == ["ban", "192.0.2.7/32"]
        assert older.split()[-1] == "shouting"
        assert await shell.run("unmute", "Ann") == "Ann is no longer muted\n"
        assert await shell.run("unban", "192.0.2.7") == "192.0.2.7/32 is no longer banned\n"
        assert [line.split()[3] for line in (await shell.run("audit")).splitlines()[1:]] == [
            "mute", "ban", "unmute", "unban",
        ]  # fmt: skip
        assert (await shell.run("audit", "1")).splitlines()[1].split()[3] == "unban"


@pytest.mark.parametrize("stretch", ["5", "m", "0h", "-1d", "1w", "1.5h"])
def test_a_time_that_is_none_is_refused(stretch: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["admin", "ban", "Ann", f"--for={stretch}"]) == 2
    assert "is no time such as" in capsys.readouterr().err


async def test_impossible_orders_are_reported_in_one_line(tmp_path: Path, shell: Shell) -> None:
    assert "no server runs in" in await shell.fail("stats")
    async with attended(tmp_path) as each:
        assert "nobody called Eve" in await shell.fail("kick", "Eve")
        assert "in_s is not allowed: Expected" in await shell.fail("drain", "-5")
        (tmp_path / "admin.token").write_text("something-else-that-is-long-enough\n")
        assert "does not accept this token" in await shell.fail("stats")
        assert each.server.sessions == {}
        for secret in (b"long enough, but\nof two lines", b"\xff\x00" * 20):
            (tmp_path / "admin.token").write_bytes(secret)
            said = await shell.fail("stats")
            assert "admin.token holds no token" in said
            assert "two lines" not in said
    assert "no server runs in" in await shell.fail("stats")
    (tmp_path / "admin.address").write_text(str(tmp_path / "admin.sock"))
    (tmp_path / "admin.token").write_text("something-else-that-is-long-enough\n")
    assert "no server answers" in await shell.fail("stats")


async def test_top_writes_a_line_for_each_look_into_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_net.commands.admin._EVERY_S", 0.0)
    async with attended(tmp_path) as each:
        first, second, match = await each.server.pair()
        await first.play(match, (first, 0), (second, 1))
        output = io.StringIO()

        def look_twice() -> int:
            with reached(tmp_path) as line:
                return watch(line.ask, output, 2)

        assert await asyncio.to_thread(look_twice) == 0
        lines = output.getvalue().splitlines()
        assert len(lines) == 2
        assert all(line.startswith("ready; 2 people, 0 bots, 1 live, ") for line in lines)


def test_top_draws_hostile_names_as_text_and_no_more_rows_than_fit() -> None:
    from rich.console import Console

    timing = protocol.Timing((1.0,), [1, 0], 0.5)
    report = protocol.Report(
        name="[bold]lobby\x1b[2J", version="1", up_s=7_300.0, unready=None, restart_in_s=None, connections=2, people=1,
        bots=1, tables=1, live=1, queue_bytes=0, jobs=0,
        analyses=0, free_bytes=5_000_000_000, journal_bytes=1_000_000, used_bytes=900_000, cap_bytes=0,
        tasks=5, accepted=2, requests=3, matches=1, moves=10,
        failures=0, faults=0, refusals={"stale_ply": 1}, endings={}, move_s=timing, commit_s=timing, lag_s=timing,
    )  # fmt: skip
    row = protocol.MatchRow(
        "k3V9aaaa", "tictactoe", ("[red]Ann", "Bob\x1b]0;x\x07"), (True, True), 3, 0, is_private=False
    )
    output = io.StringIO()
    console = Console(file=output, width=80, height=24, force_terminal=False)
    console.print(draw(report, None, protocol.MatchRows(50, [row] * 50), 24))
    drawn = output.getvalue()
    assert "[bold]lobby[2J" in drawn
    assert "[red]Ann - Bob]0;x" in drawn
    assert "\x1b" not in drawn
    assert drawn.count("k3V9aaaa") == 14
    assert "moves/s      0; half within 1000 ms" in drawn.replace("moves/s      1;", "moves/s      0;")
    assert "up 2 hours" in drawn


def test_a_host_sees_how_a_node_stands_in_its_cluster() -> None:
    from rich.console import Console

    timing = protocol.Timing((1.0,), [1, 0], 0.5)
    report = protocol.Report(
        name="lobby", version="1", up_s=1.0, unready=None, restart_in_s=None, connections=0, people=0, bots=0, tables=0,
        live=0, queue_bytes=0, jobs=0, analyses=0, free_bytes=0, journal_bytes=0, used_bytes=0, cap_bytes=0,
        tasks=0, accepted=0, requests=0, matches=0, moves=0, failures=0, faults=0,
        refusals={}, endings={}, move_s=timing, commit_s=timing, lag_s=timing,
        cluster=NodeFigures("one", 2, True, True, 3, 1_234_567, 4, 0.25, 5),
    )  # fmt: skip
    row = protocol.MatchRow("k3V9aaaa", "tictactoe", ("Ann", "Bob"), (True, True), 3, 0, is_private=False)
    output = io.StringIO()
    Console(file=output, width=80).print(draw(report, None, protocol.MatchRows(50, [row] * 50), 24))
    for shown in (output.getvalue(), as_text(report)):
        assert re.search(r"cluster +one, steward; 3 members; epoch 2\b", shown)
        assert re.search(r"log +place 1,234,567, 4 behind; contact 0\.2 s ago; 5 refused", shown)
    assert output.getvalue().count("k3V9aaaa") == 12


async def test_a_moderator_looks_after_a_report_from_their_own_token(tmp_path: Path, shell: Shell) -> None:
    async with attended(tmp_path) as each:
        rude, other, match = await each.server.pair()
        await rude.ok("chat", match=match, text="you are a fool")
        await other.ok("report", name=rude.name, match=match, reason="chat", text="see for yourself")
        token = tmp_path / "anna.token"
        token.write_text(await shell.run("moderators", "add", "Anna"))
        as_anna = ("--token-file", str(token), "--at", each.listener.address)
        assert (await shell.run("moderators")).splitlines()[1].startswith("Anna ")
        heading, row = (await shell.run("reports", before=as_anna)).splitlines()
        assert heading.split() == ["report", "made", "player", "for", "by", "text", "weight", "state"]
        assert row.split()[-1] == "open"
        shown = await shell.run("reports", "show", "1", before=as_anna)
        assert f"{rude.name}: you are a fool" in shown
        assert "only the host" in await shell.fail("stats", before=as_anna)
        said = await shell.run("reports", "close", "1", "warned", "--mute", "--for", "5m", before=as_anna)
        assert said.startswith(f"{rude.name} is muted until ")
        assert (await rude.hear("sanctioned"))["reason"] == "what you wrote in the chat"
        assert "closed by Anna" in await shell.run("reports", "--all")
        assert "closed by Anna, " in await shell.run("reports", "show", "1")
        assert "no open report of" in await shell.fail("reports", "close-all", rude.name, "seen", before=as_anna)
        assert "no open report by" in await shell.fail("reports", "close-all", rude.name, "--by", before=as_anna)
        assert await shell.run("moderators", "remove", "Anna") == "Anna moderates no more\n"
        assert "does not accept this token" in await shell.fail("reports", before=as_anna)
