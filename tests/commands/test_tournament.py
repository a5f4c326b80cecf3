"""`python -m ttt_net tournament` against a server in this process."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from websockets.exceptions import InvalidStatus

from tests.server.admin.attended import attended
from ttt_net.__main__ import main
from ttt_net.clock import TimeControl
from ttt_net.commands.tournament import page_of, report_of, seconds_until
from ttt_net.messages import TournamentBoard, TournamentKind, TournamentReply, TournamentStanding
from ttt_net.server.admin.protocol import TournamentSheet
from ttt_net.server.settings.configuration import Limits, Rate


class Host:
    """Runs the command as a host would, and returns what it prints."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    async def run(self, *arguments: str) -> str:
        code = await asyncio.to_thread(main, ["tournament", "--data", str(self._folder), *arguments])
        printed = self._capsys.readouterr()
        assert (code, printed.err) == (0, "")
        return printed.out

    async def fail(self, *arguments: str) -> str:
        assert await asyncio.to_thread(main, ["tournament", *arguments, "--data", str(self._folder)]) == 2
        return self._capsys.readouterr().err


@pytest.fixture
def host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Host:
    return Host(tmp_path, capsys)


async def made(host: Host, *options: str) -> str:
    """Make a tournament and return its code."""
    first = (await host.run("create", "Friday", "--time", "3+2", "--legs", "1", *options)).splitlines()[0]
    return first.rpartition("code ")[2]


async def test_a_host_holds_a_tournament_from_its_code_to_the_printed_result(tmp_path: Path, host: Host) -> None:
    async with attended(tmp_path) as each:
        ann, bob = await each.server.join("Ann"), await each.server.join("Bob")
        code = await made(host, "--game", "connect4", "--swiss", "1")
        await ann.ok("join", code=code)
        assert f"{code}  Friday  swiss  connect4  open" in await host.run("list")
        await host.run("add", code, "Bob")
        await host.run("start", code)
        snapshots = {peer: await peer.hear("snapshot") for peer in (ann, bob)}
        assert "not finished: " in await host.run("show", code)
        loser = next(peer for peer, seen in snapshots.items() if seen["you"] == 1)
        winner = bob if loser is ann else ann
        await loser.ok("resign", match=snapshots[loser]["match"])
        assert (await host.run("results", code, "--format", "csv")).splitlines() == [
            "round,board,first,second,result",
            f"1,1,{winner.name},{loser.name},1-0",
        ]
        assert (await host.run("standings", code)).splitlines()[1].split()[:3] == ["1", winner.name, "1"]
        assert (await host.run("standings", code)).splitlines()[2].split() == ["2", loser.name, "0", "0", "1", "0", "0"]
        header = (await host.run("standings", code, "--format", "csv")).splitlines()[0]
        assert header == "place,player,points,buchholz_cut_1,buchholz,direct,wins,state"
        sheet = json.loads(await host.run("standings", code, "--format", "json"))
        assert [row["score"] for row in sheet["tournament"]["standings"]] == [2, 0]
        page = tmp_path / "friday.html"
        assert "open it in a browser" in await host.run("print", code, str(page))
        assert f"<td>{winner.name}</td>" in page.read_text()
        assert "cannot be written: " in await host.fail("print", code, str(tmp_path / "nowhere" / "friday.html"))
        assert (await host.run("results", code, "--format", "trf")).splitlines()[4:] == [
            f"001    1      {winner.name:<66} 1.0    1     2 w 1",
            f"001    2      {loser.name:<66} 0.0    2     1 b 0",
        ]


async def test_a_host_corrects_pauses_and_ends(tmp_path: Path, host: Host) -> None:
    async with attended(tmp_path) as each:
        peers = [await each.server.join(name) for name in ("Ann", "Bob")]
        code = await made(host, "--swiss", "3", "--pause", "hand", "--no-chat")
        for peer in peers:
            await peer.ok("enter", tournament=code)
        assert "3 rounds are many for 2 players: matches may repeat" in await host.run("start", code)
        snapshot = await peers[0].hear("snapshot")
        assert "1 board is still being played" in await host.fail("next", code)
        await peers[0].ok("resign", match=snapshot["match"])
        await host.run("correct", code, "1", "1", "1/2-1/2", "both agreed")
        assert "1/2-1/2 corrected" in await host.run("show", code)
        assert "paused" in await host.run("pause", code)
        ended = await host.run("end", code)
        assert "ended by the organiser" in ended
        assert "are many" not in ended, "advice for a tournament that is still to be played"
        assert "no tournament has that code" in await host.fail("show", "NNNNN")
        async with each.admin() as admin:
            acts = (await admin.ask("audit"))["acts"]
        assert [act["what"] for act in acts if act["act"] == "tournament"] == [
            f"{code} was made: Friday",
            f"{code}: start",
            f"{code}: correct 1 1 1/2-1/2 both agreed",
            f"{code}: pause",
            f"{code}: end",
        ]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--time", "9999", "--knockout"), "is no time"),
        (("--time", "3", "--swiss", "99"), "that tournament cannot be"),
        (("--time", "3", "--knockout", "--pause", "soon"), "is no pause"),
        (("--time", "3"), "is required"),
    ],
)
async def test_terms_that_cannot_be_are_refused_in_a_sentence(
    tmp_path: Path, host: Host, options: tuple[str, ...], complaint: str
) -> None:
    async with attended(tmp_path):
        assert complaint in await host.fail("create", "Friday", *options)


async def test_a_host_holds_an_arena_and_prints_its_standings(tmp_path: Path, host: Host) -> None:
    async with attended(tmp_path) as each:
        peers = [await each.server.join(name) for name in ("Ann", "Bob")]
        code = await made(host, "--game", "connect4", "--arena", "30", "--at", "00:00")
        assert "arena" in await host.run("list")
        for peer in peers:
            await peer.ok("enter", tournament=code)
        await host.run("start", code)
        snapshot = await peers[0].hear("snapshot")
        shown = await host.run("show", code)
        assert "running, 1 match being played, 2 players, 30 min left" in shown
        await peers[0].ok("resign", match=snapshot["match"])
        assert (await host.run("standings", code)).splitlines()[1].split()[:3] == ["1", "Bob", "2"]
        assert await host.run("results", code, "--format", "csv")
        printed = tmp_path / "result.html"
        await host.run("print", code, str(printed))
        assert "Standings" in printed.read_text(encoding="utf-8")
        assert "ended by the organiser" in await host.run("end", code)
        king = await made(host, "--king")
        assert "king of the table, tictactoe" in await host.run("show", king)
        assert "write it like 19:30" in await host.fail("create", "X", "--time", "3", "--king", "--at", "noon")


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time as in Berlin."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process cannot be changed here")
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("now", "text", "hours"),
    [
        ("2026-12-31T22:00+01:00", "23:59:59", 2 - 1 / 60),
        ("2026-12-31T22:00+01:00", "21:30", 23.5),
        ("2026-12-31T22:00+01:00", "22:00", 24),
        ("2026-10-24T20:00+02:00", "09:00", 14),
        ("2027-03-27T20:00+01:00", "09:00", 12),
    ],
    ids=["today", "tomorrow", "now", "the clocks are put back", "the clocks are put forward"],
)
def test_a_time_of_day_is_a_local_one(now: str, text: str, hours: float) -> None:
    assert seconds_until(text, datetime.fromisoformat(now)) == round(hours * 3_600)


async def test_a_class_of_one_address_enters_beyond_the_limits_once_one_of_them_has(tmp_path: Path, host: Host) -> None:
    limits = Limits(unmetered=(), max_per_address=3, registrations=Rate(2, 3_600.0), players_per_address=1)
    async with attended(tmp_path, limits=limits) as each:
        server = each.server
        code = await made(host, "--swiss", "1", "--per-address", "8")
        first, second = await server.join("Ann"), await server.join("Bob")
        third = await server.connect()
        assert await third.refused("hello", protocols=[1], name="Cid") == "too_fast"
        await first.ok("enter", tournament=code)
        server.later(1_000)
        await third.hello(name="Cid")
        others = [await server.join(f"Player {number}") for number in range(4, 9)]
        for peer in (second, third, *others):
            await peer.ok("enter", tournament=code)
        assert ", 8 players" in await host.run("show", code)
        await host.run("end", code)
        server.later(1_000)
        with pytest.raises(InvalidStatus):
            await server.connect()


async def test_a_bot_of_the_hosts_choice_plays_while_the_number_is_odd(tmp_path: Path, host: Host) -> None:
    async with attended(tmp_path) as each:
        assert "no bot called Mia is here now" in await host.fail(
            "create", "Friday", "--time", "3+2", "--swiss", "2", "--spare", "Mia"
        )
        mia = await each.server.join("Mia", bot="beginner")
        ann = await each.server.join("Ann")
        assert "no bot called Ann" in await host.fail(
            "create", "Friday", "--time", "3+2", "--swiss", "2", "--spare", "Ann"
        )
        code = await made(host, "--swiss", "2", "--spare", "mia", "--pause", "hand")
        peers = [ann, await each.server.join("Bob"), await each.server.join("Cid")]
        for peer in peers:
            await peer.ok("enter", tournament=code)
        await host.run("start", code)
        snapshots = {peer: await peer.hear("snapshot") for peer in (*peers, mia)}
        assert {each["tournament"]["board"] for each in snapshots.values()} == {1, 2}
        for peer, snapshot in snapshots.items():
            if snapshot["you"] == 1:
                await peer.ok("resign", match=snapshot["match"])
        await peers[2].ok("withdraw", tournament=code)
        await host.run("next", code)
        for peer in peers[:2]:
            names = {player["name"] for player in (await peer.hear("snapshot"))["players"]}
            assert names == {"Ann", "Bob"}
        assert "Mia" in await host.run("standings", code)


ROUNDS = [
    [
        TournamentBoard(1, "Ann", "Bob", "m1", "1-0"),
        TournamentBoard(2, "Cid", "Dan", "m2", "1/2-1/2"),
        TournamentBoard(3, "<b>Eve", None, None, None),
    ],
    [
        TournamentBoard(1, "Cid", "Ann", "m3", "1-0", forfeit=True),
        TournamentBoard(2, "<b>Eve", "Dan", "m4", None),
    ],
]


def sheet(kind: TournamentKind = "swiss") -> TournamentSheet:
    scores = {"Cid": 3, "Ann": 2, "<b>Eve": 2, "Dan": 1, "Bob": 0}
    table = [TournamentStanding(place, name, score, [1.5]) for place, (name, score) in enumerate(scores.items(), 1)]
    told = TournamentReply(
        tournament="BCDFG", seq=9, name="Friday & Co", kind=kind, game="connect4", time=TimeControl(60_000),
        state="running", round=2, rounds=2, players=5, page=1, pages=1, tie_breaks=["buchholz"],
        standings=table, boards=ROUNDS[-1], open_boards=1,
    )  # fmt: skip
    return TournamentSheet(told, ROUNDS)


def rows(page: str, heading: str) -> list[list[str]]:
    part = page.partition(f"<h2>{heading}</h2>")[2].partition("</table>")[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in part.split("<tr>")[2:]]


def test_a_page_has_pairings_by_name_and_by_board_standings_and_a_cross_table() -> None:
    page = page_of(sheet())
    assert "<title>Friday &amp; Co</title>" in page
    assert "<p>Swiss, Connect Four, 5 players, round 2 of 2</p>" in page
    assert rows(page, "Round 2 by name")[:2] == [["&lt;b&gt;Eve", "2", "first", "Dan"], ["Ann", "1", "second", "Cid"]]
    assert rows(page, "Round 2 by board")[0] == ["1", "Cid", "Ann", "1-0"]
    assert rows(page, "Standings")[0] == ["1", "Cid", "1.5", "1.5", ""]
    assert rows(page, "Cross table") == [
        ["1", "Cid", "4f½", "2f+", "1.5"],
        ["2", "Ann", "5f1", "1s−", "1"],
        ["3", "&lt;b&gt;Eve", "bye", "4f", "1"],
        ["4", "Dan", "1s½", "3s", "0.5"],
        ["5", "Bob", "2s0", "–", "0"],
    ]
    assert "@media print" in page
    assert "<b>Eve" not in page


def test_a_game_that_only_the_server_has_is_named_on_the_page_as_the_server_names_it() -> None:
    known = sheet()
    page = page_of(TournamentSheet(replace(known.tournament, game="hex-of-ours"), known.rounds))
    assert "<p>Swiss, hex-of-ours, 5 players," in page


def test_the_page_of_a_knockout_has_its_bracket_with_the_winners_in_bold() -> None:
    page = page_of(sheet("knockout"))
    assert "<p><b>Ann</b><br>Bob</p>" in page
    assert "<p><b>&lt;b&gt;Eve</b><br>bye</p>" in page
    assert "Cross table" not in page


def test_the_page_of_a_tournament_of_guests_has_a_list_to_write_their_names_into() -> None:
    named = sheet()
    guests = TournamentSheet(replace(named.tournament, anonymous=True), named.rounds)
    assert "Who is who" not in page_of(named)
    assert [row[0] for row in rows(page_of(guests), "Who is who")] == ["&lt;b&gt;Eve", "Ann", "Bob", "Cid", "Dan"]
    assert {row[1] for row in rows(page_of(guests), "Who is who")} == {"_" * 30}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("Cid", "   4 w =     2 w +"),
        ("Ann", "   5 w 1     1 b -"),
        ("<b>Eve", "0000 - U     4 w  "),
        ("Dan", "   1 b =     3 b  "),
        ("Bob", "   2 b 0  0000 - Z"),
    ],
)
def test_a_report_has_its_fields_in_the_columns_of_trf16(name: str, columns: str) -> None:
    report = report_of(sheet())
    assert {"012 Friday & Co", "062 5", "XXR 2"} <= set(report.splitlines())
    (line,) = (each for each in report.splitlines() if each[14:47].rstrip() == name)
    assert (line[:3], line[91:]) == ("001", columns)
    assert float(line[80:84]) == {"Cid": 1.5, "Ann": 1, "<b>Eve": 1, "Dan": 0.5, "Bob": 0}[name]
    assert line[4:8] == line[85:89]
