"""Sockets that a service manager hands over, each to a process of its own: the descriptor has to be number 3."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net.errors import ConfigurationError
from ttt_net.server.settings.listening import inherited, listen

HANDED_OVER = """
import os, sys
from ttt_net.errors import ConfigurationError
from ttt_net.server.settings.listening import inherited
os.dup2(int(sys.argv[1]), 3)
environment = {"LISTEN_FDS": sys.argv[2], "LISTEN_PID": str(os.getpid()), "OTHER": "stays"}
try:
    with inherited(environment) as listening:
        print(listening.getsockname()[1], os.get_inheritable(listening.fileno()), environment)
except ConfigurationError as error:
    print(error)
"""


def handed_over(descriptor: int, count: str = "1") -> str:
    """Return what a process says that is handed a descriptor."""
    command = [sys.executable, "-c", HANDED_OVER, str(descriptor), count]
    run = subprocess.run(
        command, pass_fds=(descriptor,), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_a_listening_socket_is_inherited_but_not_passed_to_children() -> None:
    with listen("127.0.0.1", 0) as port:
        assert handed_over(port.fileno()) == f"{port.getsockname()[1]} False {{'OTHER': 'stays'}}"


@pytest.mark.parametrize("count", ["0", "2", ""])
def test_another_number_of_sockets_than_one_is_refused(count: str) -> None:
    with listen("127.0.0.1", 0) as port:
        assert handed_over(port.fileno(), count).endswith("sockets; one is served")


def test_sockets_that_do_not_listen_are_rejected() -> None:
    with socket.socket() as silent, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        for each in (silent, datagrams):
            assert handed_over(each.fileno()).endswith("listens to no TCP port")
    with Path(os.devnull).open("rb") as file:
        assert "no socket" in handed_over(file.fileno())


@pytest.mark.parametrize("process", ["", "1", "me"])
def test_sockets_for_another_process_are_ignored(process: str) -> None:
    assert inherited({"LISTEN_PID": process, "LISTEN_FDS": "1"}) is None
    assert inherited({}) is None


def test_a_foreign_address_is_rejected_with_advice() -> None:
    said = "cannot listen on 198.51.100.7:0: this machine has no address 198.51.100.7; name one of its own with --host"
    with pytest.raises(ConfigurationError, match=said):
        listen("198.51.100.7", 0)


@pytest.mark.parametrize("host", ["nowhere.invalid", "a..b", "x" * 64])
def test_a_name_without_an_address_is_rejected_with_advice(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = socket.getaddrinfo

    def refuse(name: str, *rest: int, **flags: int) -> object:
        if name == "nowhere.invalid":  # so that nobody is asked
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(name, *rest, **flags)

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(ConfigurationError, match="there is no address of that name; name one of this machine's own"):
        listen(host, 0)


def test_a_privileged_port_is_rejected_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)  # the tests may be run by root, whom nothing is refused
    with pytest.raises(ConfigurationError, match="this user may not use ports below 1024; choose another, and let a"):
        listen("127.0.0.1", 443)
