"""The runner of mutants tells killed ones from survivors, and the ledger is complete and true."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.__main__ import (
    ACCEPTED,
    ROOT,
    TESTS,
    files_of,
    grown,
    is_touched,
    judge,
    read_ledger,
    sections,
)
from tests.mutation.mutants import mutants_of
from tests.mutation.runner import Verdict
from tests.patience import PATIENCE_S

TOY = """
import logging

log = logging.getLogger("toy")


def clamp(value, low, high):
    if value < low:
        return low
    return high if value > high else value


def wait(is_due, event):
    if not is_due:
        event.wait()


def unused(value):
    return value + 1


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, items):
        self.count += sum(1 for item in items if item)
        assert self.count >= 0
        log.info("counted")
        return self.count


class Loud(Counter):
    def __init__(self):
        super().__init__()
"""
TOY_TESTS = """
import os
import subprocess
import threading

from toy import Counter, Loud, clamp, wait


def test_wait():
    wait(True, threading.Event())


def test_clamp():
    assert [clamp(n, 2, 4) for n in (1, 3, 5)] == [2, 3, 4]


def test_counter():
    assert Counter().add([1, 2]) == 2
    assert Loud().count == 0


def test_that_fails_by_itself():
    assert False


def test_that_hangs_by_itself():
    threading.Event().wait()


def test_that_leaves_a_process():
    if os.fork() == 0:
        threading.Event().wait()


def test_that_leaves_a_program_in_its_own_session():
    subprocess.Popen(["sleep", "300"], start_new_session=True, pass_fds=[int(os.environ["HELD"])])
"""
ROOT_FINDERS = {"ttt_net/ratings.py"}
"""Of their mutants more are accepted, because any bracket leads to the same root."""
RUN = """
import json, sys
from tests.mutation import runner
from tests.mutation.__main__ import run
from tests.mutation.mutants import mutants_of
runner.IDLE_S = 2
verdicts, is_sound = run(list(mutants_of("toy.py")), sys.argv[1:])
print(json.dumps([sorted((v.fate, v.mutant.key.partition(" ")[2], v.killer) for v in verdicts), is_sound]))
"""


def test_mutants_are_killed_survive_or_are_unreached(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TOY_TESTS)
    reader, held = os.pipe()
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin", "HELD": str(held)}
    run = subprocess.run(
        [sys.executable, "-c", RUN, "test_toy.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False, pass_fds=[held],
    )  # fmt: skip
    os.close(held)
    assert run.returncode == 0, run.stderr
    assert select.select([reader], [], [], PATIENCE_S)[0], "no program that holds the pipe is left"
    os.close(reader)
    told = run.stdout
    failing = "test_toy.py::test_that_fails_by_itself, test_toy.py::test_that_hangs_by_itself"
    assert f"the tests do not pass without a mutant: {failing}\n" in told
    assert '["killed", "clamp condition: if value < low -> if True", "test_toy.py::test_clamp"]' in told
    assert '["killed", "wait condition: if not is_due -> if True", ""]' in told, "it hangs"
    assert '["killed", "Loud.__init__ no-statement: super().__init__() -> super", "test_toy.py::test_counter"]' in told
    assert '["survivor", "clamp compare: value < low -> value <= low", ""]' in told, "the same value either way"
    assert '["survivor", "Counter.add no-filter: for item in items if item -> for item in items", ""]' in told
    assert '["unreached", "unused arithmetic: value + 1 -> value - 1", ""]' in told
    assert "assert" not in told.replace("test_", ""), "assertions are not mutated"
    assert "log" not in told, "nor is the log"


def test_the_ledger_names_mutants_that_exist_and_a_kind_for_each() -> None:
    ledger = read_ledger(ACCEPTED)
    paths = {key.partition(" ")[0] for key in ledger}
    keys = {mutant.key for path in paths for mutant in mutants_of(path)}
    assert set(ledger) - keys == set()


@pytest.mark.parametrize("package", [package for package in TESTS if package not in ROOT_FINDERS])
def test_fewer_than_a_tenth_of_the_mutants_of_a_package_are_accepted(package: str) -> None:
    mutants = [mutant.key for path in files_of(package) for mutant in mutants_of(path)]
    assert 10 * len(set(mutants) & set(read_ledger(ACCEPTED))) < len(mutants)


def test_the_ledger_has_a_section_for_each_gated_package_with_its_own_entries_only() -> None:
    text = ACCEPTED.read_text(encoding="utf-8")
    assert list(sections(text)) == list(TESTS)
    package = ""
    for line in text.splitlines():
        if line.startswith("## "):
            package = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            path = line.partition(" ")[0]
            assert path == package or path.startswith(f"{package}/"), line
    assert all((ROOT / test.partition("::")[0]).exists() for tests in TESTS.values() for test in tests)


def test_a_package_that_has_more_accepted_mutants_than_before_is_a_problem() -> None:
    before = "# remarks\n## a\na.py f | equal: x\n\n## b\n"
    assert grown(before, before) == []
    assert grown(before, "## a\n## b\n## new\nnew.py f | equal: x\n") == []
    (problem,) = grown(before, "## a\na.py f | equal: x\n## b\nb.py f | equal: x\n")
    assert "b has 1 accepted mutants, which were 0" in problem
    assert grown("a.py f | equal: x\n", before) == [], "a ledger without sections says nothing"


def test_a_line_of_the_ledger_without_a_known_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.txt").write_text("# remarks\n\na.py f compare: a -> b | tired: because\n")
    with pytest.raises(ValueError, match="tired"):
        read_ledger(tmp_path / "ledger.txt")


def test_survivors_that_are_not_accepted_and_entries_that_are_killed_or_gone_are_problems(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text("def f(a):\n    return a == 1\n")
    equal, number = mutants_of(str(tmp_path / "toy.py"))
    verdicts = [Verdict(equal, "survivor", ""), Verdict(number, "killed", "test")]
    assert judge(verdicts, {}, is_whole=True) == [f"survivor: {equal.key}"]
    assert judge(verdicts, {equal.key: "equal: x"}, is_whole=True) == []
    ledger = {equal.key: "equal: x", number.key: "equal: x", "gone": "equal: x"}
    assert judge(verdicts, ledger, is_whole=True) == [
        f"accepted, but killed: {number.key}",
        "accepted, but gone: gone",
    ]
    assert judge(verdicts, ledger, is_whole=False) == [f"accepted, but killed: {number.key}"]


def test_only_mutants_on_changed_lines_are_taken_since_a_commit(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text("def f(a):\n    return a + 1\n\n\ndef g(a):\n    return a + 1\n")
    first, second = mutants_of(str(tmp_path / "toy.py"))
    changed = [(first.path, 4, 6)]
    assert [is_touched(each, changed) for each in (first, second)] == [False, True]
