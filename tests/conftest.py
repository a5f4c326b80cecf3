"""What all tests share: no skip goes unseen where everything is required, and Hypothesis keeps no stopwatch."""

import os
from collections.abc import Generator
from typing import TypeVar

import pytest
from hypothesis import settings

R = TypeVar("R", pytest.TestReport, pytest.CollectReport)

REQUIRE_ALL = os.environ.get("TTT_NET_REQUIRE_ALL") == "1"
"""Set by .ci/run: whatever a test needs must be there, so a skip is a failure."""

os.environ.setdefault("TTT_NET_HOUSE_BOTS", "no")  # of servers in processes of their own: who is there is the test's
os.environ["TTT_NET_RULES"] = "off"  # a page that comes by itself only once is tested where it is meant

settings.register_profile("ttt_net", deadline=None, derandomize=REQUIRE_ALL)
settings.load_profile("ttt_net")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _required(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _required(report)


def _required(report: R) -> R:
    if REQUIRE_ALL and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, but TTT_NET_REQUIRE_ALL is set: {report.longrepr}"
    return report
