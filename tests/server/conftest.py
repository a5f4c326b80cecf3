"""Every asynchronous test of the server runs on asyncio's loop, and on uvloop's where that is installed."""

import asyncio
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping

import pytest

Factory = Callable[[], asyncio.AbstractEventLoop]


def pytest_asyncio_loop_factories() -> Mapping[str, Factory]:
    factories: dict[str, Factory] = {"asyncio": asyncio.new_event_loop}
    if importlib.util.find_spec("uvloop"):
        factories["uvloop"] = importlib.import_module("uvloop").new_event_loop
    return factories


@pytest.fixture(autouse=True)
def _no_fault_of_ours_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test during which anything was caught that should not have been raised."""
    yield
    faults = [record for record in caplog.get_records("call") if record.exc_info]
    assert not faults, [(record.getMessage(), record.exc_info) for record in faults]
