"""Matches are written as text, JSON, CSV and Parquet, from this machine's journal and from a server."""

import asyncio
import csv
import datetime
import io
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from tests.server.running import running
from ttt_net import messages as wire
from ttt_net.__main__ import main
from ttt_net.client.saved_matches import keep_record
from ttt_net.clock import TimeControl
from ttt_net.commands import export
from ttt_net.games.records import read_records
from ttt_net.matches.match import MatchData
from ttt_net.server.journal import JOURNAL_FILE, Database
from ttt_net.server.journal.apply import apply
from ttt_net.server.journal.entries import AppendEvents, RegisterPlayer

DAY_MS = 86_400_000
START_MS = 20_000 * DAY_MS
"""The first match begins then, on 2024-10-04; each other one a day later."""


def fill(folder: Path) -> None:
    """Write four matches: of Ann and Bob, with a clock, rated, of a game that is not installed, and of Ann and Cem."""
    with closing(Database(folder / JOURNAL_FILE)) as database:
        connection = database.connection
        for number, name in enumerate(("Ann", "Bob", "Cem")):
            apply(connection, RegisterPlayer(name, name.lower(), (), b"%d" % number, 0))
        kinds = (
            ("aaaaaaaa", "tictactoe", (1, 2), TimeControl(60_000, 0), False),
            ("bbbbbbbb", "connect4", (2, 1), None, True),
            ("cccccccc", "marbles", (1, 2), None, False),
            ("dddddddd", "tictactoe", (3, 1), None, False),
        )
        for day, (match, game, seats, time, is_rated) in enumerate(kinds):
            at_ms = START_MS + day * DAY_MS
            infos = tuple(wire.PlayerInfo(("Ann", "Bob", "Cem")[seat - 1]) for seat in seats)
            clock = wire.ClockInfo((59_000, 60_000), None) if time else None
            events: list[wire.MatchEvent] = [
                wire.Started(match=match, seq=1, at_ms=at_ms, game=game, players=infos, time=time, rated=is_rated),  # type: ignore[arg-type]
                wire.Played(match=match, seq=2, at_ms=at_ms + 700, side=0, ply=1, move=4, clock=clock),
                wire.Ended(match=match, seq=3, at_ms=at_ms + 900, winner=1, reason="resign"),
            ]
            apply(connection, AppendEvents(tuple(events), seats))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a server with four finished matches, on a machine at whose keyboard nobody played."""
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "client"))
    fill(tmp_path)
    return tmp_path


def exported(data: Path, *arguments: str) -> str:
    target = data / "out"
    assert main(["export", "--all", "--data", str(data), "--to", str(target), *arguments]) == 0
    return target.read_text()


def ids(data: Path, *arguments: str) -> list[str]:
    return [json.loads(line)["match"] for line in exported(data, "--format", "json", *arguments).splitlines()]


def test_every_match_is_a_line_of_json_that_reads_back(data: Path) -> None:
    lines = exported(data, "--format", "json").splitlines()
    first, rated, *_ = (msgspec.json.decode(line, type=MatchData) for line in lines)
    assert (first.match, first.moves, first.written, first.times_ms) == ("aaaaaaaa", [4], ["b2"], [700])
    assert (first.clocks_ms, first.time, first.winner, first.reason) == ([59_000], TimeControl(60_000, 0), 1, "resign")
    assert (rated.rated, rated.clocks_ms, [player.name for player in rated.players]) == (True, None, ["Bob", "Ann"])


def test_a_match_of_a_game_that_is_not_installed_shows_its_moves_and_stops_nothing(data: Path) -> None:
    marbles = next(
        match
        for match in map(json.loads, exported(data, "--format", "json").splitlines())
        if match["game"] == "marbles"
    )
    assert marbles["moves"] == [4]
    assert "written" not in marbles
    assert "Game: marbles\n" in exported(data)
    assert exported(data, "--game", "marbles").endswith("\n\n1. 4\n")


def test_text_is_records_that_read_back(data: Path) -> None:
    records = read_records(exported(data, "--game", "tictactoe"))
    assert [record.event for record in records] == ["aaaaaaaa", "dddddddd"]
    assert records[0].moves[0].clock_ms == 59_000


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--game", "tictactoe"], ["aaaaaaaa", "dddddddd"]),
        (["--player", "BOB"], ["aaaaaaaa", "bbbbbbbb", "cccccccc"]),
        (["--player", "Nobody"], []),
        (["--rated"], ["bbbbbbbb"]),
        (["--no-rated"], ["aaaaaaaa", "cccccccc", "dddddddd"]),
        (["--since", "2024-10-06"], ["cccccccc", "dddddddd"]),
        (["--since", "2024-10-05", "--player", "Ann", "--no-rated"], ["cccccccc", "dddddddd"]),
    ],
)
def test_filters_leave_the_others_out(data: Path, arguments: list[str], found: list[str]) -> None:
    assert ids(data, *arguments) == found


def test_a_table_has_a_row_for_each_match(data: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(data, "--format", "csv"))))
    assert len(rows) == 4
    assert (
        rows[0] | {"match": "aaaaaaaa", "started": "2024-10-04T00:00:00.000Z", "winner": "1", "time": "60+0"} == rows[0]
    )
    assert (rows[0]["moves"], rows[0]["written"], rows[0]["times_ms"], rows[0]["clocks_ms"]) == (
        "4",
        "b2",
        "700",
        "59000",
    )
    assert (rows[1]["rated"], rows[2]["written"]) == ("true", "")


def test_parquet_has_lists_and_times_as_such(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet  # it takes a second to load

    monkeypatch.setattr(export, "BATCH", 3)
    target = data / "matches.parquet"
    assert main(["export", "--all", "--data", str(data), "--format", "parquet", "--to", str(target)]) == 0
    rows = parquet.read_table(target).to_pylist()
    assert [row["match"] for row in rows] == ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"]
    assert rows[0]["started"] == datetime.datetime(2024, 10, 4, tzinfo=datetime.UTC)
    assert (rows[0]["moves"], rows[0]["clocks_ms"], rows[1]["clocks_ms"]) == ([4], [59_000], None)
    assert parquet.ParquetFile(target).num_row_groups == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--format", "parquet"], "--format parquet writes a file; name it with --to"),
        (["--since", "yesterday"], "--since yesterday does not look like 2026-11-24"),
        (["--after", "1-a"], "--after needs --server"),
        (["--server", "localhost:1"], "name files or matches to export, or --all, or --server"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line_with_exit_2(
    data: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--all", "--data", str(data), *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"ttt_net: {sentence}")


def test_without_its_library_parquet_says_what_to_install(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(export, "find_spec", lambda _: None)
    assert main(["export", "--all", "--data", str(data), "--format", "parquet", "--to", str(data / "out")]) == 2
    assert "pip install 'ttt_net[data]'" in capsys.readouterr().err


def test_a_record_without_times_is_exported_as_text_alone(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "one.txt").write_text("Game: tictactoe\nFirst: Ann\nSecond: Bob\n\n1. b2\n")
    target = data / "out.json"
    assert main(["export", str(data / "one.txt"), "--format", "json", "--to", str(target)]) == 2
    assert "export it with --format text" in capsys.readouterr().err
    assert not list(data.glob("out.json*")), "no half of a file stays"


def test_a_table_of_this_machine_leaves_out_what_has_no_times_and_says_so(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_record("Game: connect4\nEvent: atthekey\nFirst: Mia\nSecond: Leo\nResult: *\n\n1. d\n")
    assert len(ids(data)) == 4
    assert capsys.readouterr().err.startswith("1 match of this keyboard has no times of moves")
    assert exported(data).count("Game: ") == 5


# From a server.


async def from_server(url: str, target: Path, *arguments: str) -> int:
    return await asyncio.to_thread(main, ["export", "--server", url, "--to", str(target), *arguments])


async def test_the_matches_of_a_server_are_those_of_its_journal(data: Path) -> None:
    target = data / "out"
    async with running(data) as server:
        for form in ("json", "csv", "text"):
            assert await from_server(server.url, target, "--format", form) == 0
            assert target.read_text() == await asyncio.to_thread(exported, data, "--format", form)
            target.unlink(missing_ok=True)
        remote = ["--format", "json", "--player", "Bob", "--no-rated", "--since", "2024-10-05", "--game", "marbles"]
        assert await from_server(server.url, target, *remote) == 0
        assert [json.loads(line)["match"] for line in target.read_text().splitlines()] == ["cccccccc"]
        cursor = f"{START_MS + DAY_MS + 900}-bbbbbbbb"
        assert await from_server(server.url, target, "--format", "json", "--after", cursor) == 0
        assert [json.loads(line)["match"] for line in target.read_text().splitlines()] == ["cccccccc", "dddddddd"]


async def test_a_player_whom_a_server_does_not_know_is_one_line(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(data) as server:
        assert await from_server(server.url, data / "out", "--player", "Zoe") == 2
        assert f"ttt_net: 127.0.0.1:{server.port}: no player here has that name" in capsys.readouterr().err


GOOD = (
    b'{"match":"a","game":"x","players":[{"name":"A"},{"name":"B"}],"started_ms":1,"ended_ms":2,"winner":null,'
    b'"reason":"draw","moves":[],"times_ms":[]}\n'
)
NEXT = '</api/matches?after=2-a>; rel="next"'


class Liar:
    """A server of HTTP that answers as a test says, in turn; the last answer again and again."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.asked: list[str] = []
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                liar.asked.append(self.path)
                status, headers, body = liar.answers.pop(0) if len(liar.answers) > 1 else liar.answers[0]
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"ws://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def liar() -> Iterator[Liar]:
    lying = Liar()
    thread = threading.Thread(target=lying.http.serve_forever, args=(0.01,))
    thread.start()
    yield lying
    lying.http.shutdown()
    thread.join()
    lying.http.server_close()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of an export, which take no time."""
    found: list[float] = []
    monkeypatch.setattr("ttt_net.commands.export.time.sleep", found.append)
    return found


def test_an_export_waits_as_long_as_it_is_asked_to_and_goes_on(
    liar: Liar, waits: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    liar.answers = [
        (200, {"Link": NEXT}, GOOD),
        (429, {"Retry-After": "7"}, b"{}"),
        (503, {"Retry-After": "9999"}, b"{}"),
        (200, {}, GOOD.replace(b'"a"', b'"b"')),
    ]
    assert main(["export", "--server", liar.address, "--format", "json"]) == 0
    assert capsys.readouterr().out.count("\n") == 2
    assert waits == [7, export.MOST_WAIT_S]
    assert liar.asked == ["/api/matches"] + ["/api/matches?after=2-a"] * 3


@pytest.mark.parametrize(
    ("headers", "body", "sentence"),
    [
        ({}, b"nonsense\n", "sends what is no match"),
        ({}, GOOD.replace(b'"A"', b'"\\u001b[2J"'), "sends what is no match"),
        ({}, GOOD.replace(b'"moves":[]', b'"moves":[1,2]'), "sends what is no match"),
        ({}, GOOD.replace(b'"winner":null', b'"winner":2'), "sends what is no match"),
        ({}, GOOD.replace(b'"ended_ms":2', b'"ended_ms":253402300800000'), "sends what is no match"),
        ({}, GOOD.replace(b"[]", b"[100001]"), "sends what is no match"),
        (
            {},
            GOOD.replace(b'"moves":[],"times_ms":[]', b'"moves":[1],"times_ms":[253402300800000]'),
            "sends what is no match",
        ),
        ({"Content-Encoding": "gzip"}, GOOD, "sends what cannot be unpacked"),
        ({"Link": NEXT}, b"", "sends pages without an end"),
        ({"Link": NEXT.replace("2-a", "1-a")}, GOOD + GOOD.replace(b'"ended_ms":2', b'"ended_ms":1'), "in no order"),
        ({}, b" " * 2_000, "sends a page of more than"),
    ],
)
def test_a_server_that_lies_ends_the_export_with_one_line(
    liar: Liar,
    headers: dict[str, str],
    body: bytes,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(export, "MAX_PAGE_BYTES", 1_500)
    liar.answers = [(200, headers, body)]
    assert main(["export", "--server", liar.address, "--format", "json"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


@pytest.mark.parametrize("form", ["text", "csv", "parquet"])
def test_every_format_has_room_for_the_largest_numbers_of_a_server(form: str, liar: Liar, tmp_path: Path) -> None:
    largest = GOOD.replace(b'"moves":[],"times_ms":[]', b'"moves":[100000],"times_ms":[253402300799999]')
    liar.answers = [(200, {}, largest.replace(b'"ended_ms":2', b'"ended_ms":253402300799999'))]
    assert main(["export", "--server", liar.address, "--format", form, "--to", str(tmp_path / "file")]) == 0


def test_names_and_moves_of_a_server_are_never_formulas_in_a_spreadsheet(
    liar: Liar, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = b'"moves":[0],"times_ms":[3],"written":["=2+2"]'
    liar.answers = [(200, {}, GOOD.replace(b'"A"', b'"=1+1"').replace(b'"moves":[],"times_ms":[]', moved))]
    assert main(["export", "--server", liar.address, "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["first"], row["written"], row["moves"]) == ("'=1+1", "'=2+2", "0")


def test_a_server_without_the_api_is_one_line(liar: Liar, capsys: pytest.CaptureFixture[str]) -> None:
    liar.answers = [(404, {}, b"not found\n")]
    assert main(["export", "--server", liar.address]) == 2
    assert "status 404; it has no HTTP API" in capsys.readouterr().err


def test_a_server_that_is_gone_is_one_line_that_says_where_to_go_on(
    liar: Liar, waits: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    liar.answers = [(200, {"Link": NEXT}, GOOD), (200, {"Content-Length": "5", "Connection": "close"}, b"")]
    assert main(["export", "--server", liar.address, "--format", "json"]) == 2
    assert "1 match was read, go on with --after 2-a" in capsys.readouterr().err
    assert waits == [1, 2, 4, 8, 16]
