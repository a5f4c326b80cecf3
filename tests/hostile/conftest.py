"""The server under attack runs on both event loops, and may not be at fault while it is attacked."""

import asyncio
from collections.abc import Mapping

import pytest

from tests.server import conftest as of_the_server
from tests.server.conftest import Factory, _no_fault_of_ours_is_logged
from tests.server.encrypted_peer import Authority

__all__ = ["_no_fault_of_ours_is_logged"]


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Factory]:
    if item.path.stem == "test_hostile_server":  # it is the client that is attacked, and it has one loop
        return {"asyncio": asyncio.new_event_loop}
    return of_the_server.pytest_asyncio_loop_factories(item)


@pytest.fixture(scope="session")
def _authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=["TCP", "TLS"])
def authority(request: pytest.FixtureRequest, _authority: Authority) -> Authority | None:
    """Have a test run twice: in clear, and encrypted."""
    return _authority if request.param == "TLS" else None
