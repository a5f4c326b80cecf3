"""Shared by all tests: how they are spread over processes; no skip goes unseen where everything is required.

Hypothesis keeps no stopwatch.
"""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests.forks import pytest_addoption as pytest_addoption
from tests.forks import pytest_configure as pytest_configure
from tests.games.added import examples as examples
from tests.games.added import install as install

R = TypeVar("R", pytest.TestReport, pytest.CollectReport)

REQUIRE_ALL = os.environ.get("TTT_NET_REQUIRE_ALL") == "1"
"""Set by .ci/run: whatever a test needs must be there, so a skip is a failure."""

os.environ.setdefault("TTT_NET_HOUSE_BOTS", "no")  # of servers in processes of their own: who is there is the test's
os.environ["TTT_NET_RULES"] = "off"  # a page that comes by itself only once is tested where it is meant
os.environ["TTT_NET_MOTION"] = "off"  # a picture is looked at as it is in the end

if sys.dont_write_bytecode:  # hundreds of processes are started, and each would compile the whole package anew
    sys.dont_write_bytecode = False
    del os.environ["PYTHONDONTWRITEBYTECODE"]

MEMORY, ROOM = Path("/dev/shm"), 2**31
if hasattr(os, "ST_NOEXEC") and MEMORY.is_dir():  # hundreds of journals are begun, and a disk takes its time for each
    _place = os.statvfs(MEMORY)
    if _place.f_bavail * _place.f_frsize > ROOM and not _place.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

LONGEST = (
    "simulation/test_planted.py",
    "page/test_slow_link.py",
    "page/test_build.py",
    "page/test_layout.py",
    "page/test_match.py",
    "page/test_everyone.py",
    "page/test_link.py",
    "page/test_meeting.py",
    "page/test_hostile.py",
    "page/test_firefox.py",
    "end_to_end/test_cluster.py",
    "server/cluster/test_jetstream.py",
    "client/terminal/test_terminal.py",
    "conformance/test_conformance.py",
    "end_to_end/test_discovery.py",
    "end_to_end/test_new_bot.py",
    "engines/test_external.py",
    "end_to_end/test_hosting.py",
    "client/test_end_to_end.py",
    "end_to_end/test_house_bots.py",
    "benchmarks/test_nats_servers.py",
    "server/rooms/test_coach.py",
    "hostile/test_hostile_server.py",
    "hostile/test_frames.py",
    "end_to_end/test_demo.py",
    "client/test_client_main.py",
    "end_to_end/test_pause.py",
    "end_to_end/test_bots_page.py",
    "client/lines/test_lobby_in_lines.py",
    "end_to_end/test_server_process.py",
    "server/wire/test_connection.py",
    "server/rooms/test_room.py",
    "test_docs.py",
    "client/local/test_local_connection.py",
    "client/bot/test_bot.py",
    "simulation/test_simulation.py",
    "server/cluster/test_ledgers_on_jetstream.py",
    "benchmarks/test_soak.py",
    "server/wire/test_encryption.py",
    "end_to_end/test_encrypted.py",
    "client/drawing/test_draw.py",
    "server/wire/test_frames.py",
    "test_architecture.py",
    "server/admission/test_fair_shares.py",
    "server/matchmaking/test_tournament_service.py",
    "hostile/test_fairness.py",
    "client/screens/test_start_menu.py",
    "benchmarks/test_server.py",
    "client/test_inquire.py",
    "strategies/test_engine.py",
)
"""The files that take longest begin first, so that in the end no process has one alone; most wait for something.
Those of the page come before them, because a process keeps its browser from one to the next. All others follow by name.
"""

settings.register_profile(
    "ttt_net", deadline=None, derandomize=REQUIRE_ALL, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ttt_net")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two for each core: tests wait for half of their time, but each more collects all and has a browser."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of every later search for garbage: some 6,000 tests, and all that they import."""
    gc.disable()
    result = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return result


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    order = {here / file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


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
