"""Figures come with the machine that they were measured on, and `make bench` measures all of performance.md."""

import platform
import re
from pathlib import Path

from benchmarks.meter import describe_machine

ROOT = Path(__file__).parent.parent.parent


def test_the_machine_its_load_and_the_versions_are_named() -> None:
    described = describe_machine()
    for part in (platform.python_version(), platform.release(), "load ", "SQLite ", "msgspec "):
        assert part in described


def test_every_benchmark_of_the_page_is_run_by_make_bench() -> None:
    page = (ROOT / "docs" / "developing" / "performance.md").read_text()
    recipe = (ROOT / "Makefile").read_text().partition("BENCHMARKS := ")[2].partition("\n\n")[0]
    named = set(re.findall(r"python -m benchmarks\.(\w+)", page))
    assert len(named) > 10
    assert named <= set(re.findall(r"\w+", recipe))
