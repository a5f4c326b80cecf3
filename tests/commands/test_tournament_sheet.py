"""The page of a tournament for the printer, and the report in TRF16, in the columns of FIDE's Handbook (C.04 A)."""

import re

import pytest
from msgspec.structs import replace

from ttt_net.clock import TimeControl
from ttt_net.commands.tournament_sheet import page_of, report_of
from ttt_net.messages import TournamentBoard, TournamentKind, TournamentReply, TournamentStanding
from ttt_net.server.admin.protocol import TournamentSheet

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
