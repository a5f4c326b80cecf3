"""Where the admin comes in: what is private, what is refused."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from tests.server.admin.attended import attended
from ttt_net.errors import ConfigurationError
from ttt_net.server.admin.listener import (
    ADDRESS_FILE,
    METRICS_TOKEN_FILE,
    SOCKET_FILE,
    TOKEN_FILE,
    AdminListener,
    open_listener,
)


def opened(wanted: str, folder: Path) -> AdminListener:
    listener = open_listener(wanted, folder)
    assert listener is not None
    listener.listening.close()
    return listener


def test_by_default_it_is_a_socket_in_the_folder_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        listener = opened("", tmp_path)
    finally:
        os.umask(before)
    assert listener.address == str(tmp_path / SOCKET_FILE)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {SOCKET_FILE: 0o600, ADDRESS_FILE: 0o600, TOKEN_FILE: 0o600, METRICS_TOKEN_FILE: 0o600}


def test_the_token_stays_the_same_and_is_long(tmp_path: Path) -> None:
    tokens = {opened("", tmp_path).token for _ in range(3)}
    assert len(tokens) == 1
    assert len(tokens.pop()) == 43


def test_a_socket_that_a_killed_server_left_is_no_hindrance(tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / SOCKET_FILE))
    left.close()
    opened("", tmp_path)


def test_a_socket_on_which_another_server_listens_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    with socket.socket(socket.AF_UNIX) as living, socket.socket(socket.AF_UNIX) as crowd:
        living.bind(str(path))
        living.listen(0)
        for _ in ("it answers", "it is too busy to answer"):
            with pytest.raises(ConfigurationError, match="another program listens on"):
                open_listener(str(path), tmp_path)
        living.accept()[0].close()
        crowd.connect(str(path))


def test_a_socket_of_another_kind_is_left_to_the_program_that_has_it(tmp_path: Path) -> None:
    path = tmp_path / "notify"
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as theirs,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one,
    ):
        theirs.bind(str(path))
        with pytest.raises(ConfigurationError, match="another program listens on"):
            open_listener(str(path), tmp_path)
        one.sendto(b"still there", str(path))
        assert theirs.recv(100) == b"still there"


def test_a_socket_of_another_user_is_left_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(path))
        with monkeypatch.context() as system:  # the tests may be run by root, whom nothing is refused
            system.setattr(socket.socket, "connect_ex", lambda *_: errno.EACCES)
            with pytest.raises(ConfigurationError, match=r"cannot listen on .*: Permission denied"):
                open_listener(str(path), tmp_path)
    assert path.exists()


async def test_at_the_end_only_ones_own_socket_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    async with attended(tmp_path, str(path)):
        assert path.exists()
    assert not path.exists()
    async with attended(tmp_path, str(path)):
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
    assert path.exists()
    assert not (tmp_path / ADDRESS_FILE).exists()


def test_a_folder_with_too_long_a_path_gets_a_port_of_the_loopback(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    assert opened("", folder).address.startswith("127.0.0.1:")


def test_off_is_off(tmp_path: Path) -> None:
    assert open_listener("off", tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wanted", ["127.0.0.1:0", "localhost:0", "[::1]:0"])
def test_a_port_of_the_loopback_is_taken(tmp_path: Path, wanted: str) -> None:
    address = opened(wanted, tmp_path).address
    assert int(address.rpartition(":")[2]) > 0
    assert (tmp_path / ADDRESS_FILE).read_text() == address + "\n"


def test_a_port_that_is_taken_is_left_to_who_has_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wanted = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigurationError, match=f"{wanted} is taken.* --admin"):
            open_listener(wanted, tmp_path)


@pytest.mark.parametrize("wanted", ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "example.org:1", "1234", "on", "127.0.0.1:x"])
def test_what_can_be_reached_from_elsewhere_or_makes_no_sense_is_refused(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(ConfigurationError, match="admin: "):
        open_listener(wanted, tmp_path)


def test_a_socket_where_none_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot listen"):
        open_listener(str(tmp_path / "nowhere" / "socket"), tmp_path)
    with pytest.raises(ConfigurationError, match="too long"):
        open_listener("/tmp/" + "x" * 200, tmp_path)


def test_an_address_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).mkdir()
    with pytest.raises(ConfigurationError, match=r"cannot write .*admin\.address"):
        open_listener("127.0.0.1:0", tmp_path)


@pytest.mark.parametrize("content", ["", "short", "\xff" * 40])
def test_a_token_file_without_a_token_has_a_new_one(tmp_path: Path, content: str) -> None:
    """As a power cut may leave one behind that was not synced."""
    (tmp_path / TOKEN_FILE).write_text(content, encoding="latin-1")
    (tmp_path / TOKEN_FILE).chmod(0o600)
    token = opened("", tmp_path).token
    assert len(token) == 43
    assert (tmp_path / TOKEN_FILE).read_text() == f"{token}\n"
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / TOKEN_FILE).write_text("x" * 43)
    (tmp_path / TOKEN_FILE).chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        open_listener("", tmp_path)
