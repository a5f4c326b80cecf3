"""Tests of the server run on asyncio's loop; those of sockets, processes and signals on uvloop's too, if installed."""

import asyncio
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping

import pytest

Factory = Callable[[], asyncio.AbstractEventLoop]


ON_BOTH = {"wire", "process", "hostile", "test_hub", "test_leaks", "test_start", "test_coach"}
"""Folders and files of tests for which it matters which loop runs them."""


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Factory]:
    factories: dict[str, Factory] = {"asyncio": asyncio.new_event_loop}
    if ON_BOTH & {item.path.stem, item.path.parent.name} and importlib.util.find_spec("uvloop"):
        factories["uvloop"] = importlib.import_module("uvloop").new_event_loop
    return factories


@pytest.fixture(autouse=True)
def _no_fault_of_ours_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test during which anything was caught that should not have been raised."""
    yield
    faults = [record for record in caplog.get_records("call") if record.exc_info]
    assert not faults, [(record.getMessage(), record.exc_info) for record in faults]
