"""The table of what requests cost has every one of them, in the benchmark and in docs/security.md."""

import re
from typing import get_args

from benchmarks.requests import CASES
from tests.end_to_end.process import ROOT
from ttt_net import messages as wire

TYPES = {str(kind.__struct_config__.tag) for kind in get_args(wire.AnyRequest)}


def test_every_request_is_measured() -> None:
    assert TYPES - {name.partition(",")[0] for name in CASES} == set()


def test_every_request_that_is_measured_has_its_row_and_says_what_holds_it() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = page.partition("| request | done, us")[2].partition("\n\n")[0]
    rows = {line.split("|")[1].strip() for line in table.splitlines()}
    assert set(CASES) - rows == set()
    for line in table.splitlines()[2:]:
        name, done, _, refused, _, held = (cell.strip() for cell in line.split("|")[1:-1])
        dearest = max(
            (int(figure.replace(",", "")) for figure in re.findall(r"[\d,]{3,}", done + " " + refused)), default=0
        )
        assert held or dearest < 20 * 14, f"{name} takes {dearest} us, and nothing holds it"
