"""System calls of the server's process; tests/end_to_end tests the rest of it."""

import asyncio

import pytest

from ttt_net.server import main
from ttt_net.server.main import loop_factory


def test_without_uvloop_the_loop_is_one_that_can_look_at_a_listening_socket_on_every_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(main, "uvloop", None)
    assert loop_factory() is asyncio.SelectorEventLoop, "the usual one of Windows has no add_reader"
