"""The table of what requests cost has every one of them, in the benchmark and in docs/security.md."""

from pathlib import Path
from typing import get_args

import pytest

from benchmarks import requests
from benchmarks.requests import CASES, LIMITED_BY
from tests.end_to_end.process import ROOT
from ttt_net import messages as wire

TYPES = {str(kind.__struct_config__.tag) for kind in get_args(wire.AnyRequest)}


def test_every_request_is_measured() -> None:
    assert TYPES - {name.partition(",")[0] for name in CASES} == set()


def test_every_request_that_is_measured_has_its_row_and_names_its_limit() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = page.partition("| request | loop, us")[2].partition("\n\n")[0]
    rows = {line.split("|")[1].strip() for line in table.splitlines()}
    assert set(CASES) - rows == set()
    for line in table.splitlines()[2:]:
        name, loop, writer, reader, refused, limit = (cell.strip() for cell in line.split("|")[1:-1])
        done_us = sum(int(cell.replace(",", "") or 0) for cell in (loop, writer, reader))
        dearest = max(done_us, int(refused.replace(",", "") or 0))
        assert limit or dearest < 20 * 14, f"{name} takes {dearest} us, and nothing limits it"
        assert limit == LIMITED_BY.get(name, ""), "the table was not written anew"


def test_the_tables_of_costs_are_replaced_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    old = "a\n\n| request | old |\n|---|---|\n\nb\n\n| by itself | old |\n|---|---|\n| x |\n"
    page.write_text(old, encoding="utf-8")
    monkeypatch.setattr(requests, "PAGE", page)
    requests.write(["| request | new |", "| by itself | new |"])
    assert page.read_text(encoding="utf-8") == "a\n\n| request | new |\n\nb\n\n| by itself | new |\n"
