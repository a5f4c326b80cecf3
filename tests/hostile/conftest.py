"""The server under attack runs on both event loops, and may not be at fault while it is attacked."""

from tests.server.conftest import _no_fault_of_ours_is_logged, pytest_asyncio_loop_factories

__all__ = ["_no_fault_of_ours_is_logged", "pytest_asyncio_loop_factories"]
