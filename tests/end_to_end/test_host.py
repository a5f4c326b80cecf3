"""`client.py --host`: a server and a client in one go."""

import json
import re
import signal
from pathlib import Path

import pytest

from tests.client.conftest import Start, environment, heard_until, start
from tests.patience import PATIENCE_S

__all__ = ["environment", "start"]


@pytest.fixture(autouse=True)
def _own_server(environment: dict[str, str], tmp_path: Path) -> None:
    """Keep the journal in a folder of the test, and the network out of it."""
    environment["TTT_NET_DATA"] = str(tmp_path / "data")
    environment["TTT_NET_ANNOUNCE"] = "false"


def test_it_serves_friends_ends_with_its_client_and_keeps_the_match(start: Start) -> None:
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    found = re.search(r"listening on ws://127\.0\.0\.1:(\d+)", heard_until(host, "Ctrl-C stops the server"))
    assert found is not None
    address = f"127.0.0.1:{found[1]}"
    friend = start(address, "--name", "Ben")
    for client in (host, friend):
        heard_until(client, "Tic-tac-toe: ")
    host.send_signal(signal.SIGTERM)
    assert "Your match stays as it is" in host.communicate(timeout=PATIENCE_S)[0]
    assert host.returncode == 0
    heard_until(friend, "The link is lost")
    again = start("--host", "--port", found[1], "--plain", "--name", "Ann")
    heard_until(again, "Your unfinished match goes on.")
    heard_until(friend, "Connected again")


def test_the_host_keeps_her_name_when_the_port_is_another(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    def name_of_host() -> str:
        host = start("--host", "--port", "0", "--json", "--name", "Ann")
        welcome = json.loads(heard_until(host, '"type":"welcome"').splitlines()[-1])
        host.communicate("quit\n", timeout=PATIENCE_S)
        return str(welcome["you"]["name"])

    assert [name_of_host(), name_of_host()] == ["Ann", "Ann"]
    environment["TTT_NET_DATA"] = str(tmp_path / "other")
    assert name_of_host() == "Ann", "elsewhere nobody has the name"


def test_a_port_that_is_taken_is_one_line(start: Start) -> None:
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    found = re.search(r"listening on ws://127\.0\.0\.1:(\d+)", heard_until(host, "Ctrl-C stops the server"))
    assert found is not None
    other = start("--host", "--port", found[1], "--plain", "--name", "Ben")
    out, err = other.communicate(timeout=PATIENCE_S)
    assert (other.returncode, out) == (2, "")
    (line,) = err.splitlines()
    assert f"port {found[1]} is taken" in line


def test_a_journal_in_use_is_one_line_that_says_what_helps(start: Start) -> None:
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    heard_until(host, "Ctrl-C stops the server")
    other = start("--host", "--port", "0", "--plain", "--name", "Ben")
    out, err = other.communicate(timeout=PATIENCE_S)
    assert (other.returncode, out) == (2, "")
    (line,) = err.splitlines()
    assert "another server is using" in line
    assert "TTT_NET_DATA" in line, "a client has no --data"


def test_json_lines_stay_alone_on_standard_output(start: Start) -> None:
    host = start("--host", "--port", "0", "--json", "--name", "Ann")
    assert '"welcome"' in heard_until(host, '"welcome"')
    host.send_signal(signal.SIGTERM)
    out, err = host.communicate(timeout=PATIENCE_S)
    assert all(line.startswith("{") for line in out.splitlines())
    assert "listening on" in err


@pytest.mark.parametrize("variable", ["TTT_NET_TLS_SELF_SIGNED", "TTT_NET_PUBLIC"])
def test_what_is_configured_for_strangers_is_not_served_in_clear(
    start: Start, environment: dict[str, str], variable: str
) -> None:
    environment[variable] = "true"
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    out, err = host.communicate(timeout=PATIENCE_S)
    assert (host.returncode, out) == (2, "")
    assert "start server.py" in err
