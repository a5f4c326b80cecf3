"""`client.py --host`: a server and a client in one go."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.client.conftest import Start, environment, heard_until, start
from tests.patience import PATIENCE_S
from tests.ports import reserved
from ttt_net.__main__ import main as verbs

__all__ = ["environment", "start"]


@pytest.fixture(autouse=True)
def _own_server(environment: dict[str, str], tmp_path: Path) -> None:
    """Keep the journal in a folder of the test, and the network out of it."""
    environment["TTT_NET_DATA"] = str(tmp_path / "data")
    environment["TTT_NET_ANNOUNCE"] = "false"


def test_it_serves_friends_ends_with_its_client_and_keeps_the_match(start: Start) -> None:
    with reserved() as port:
        host = start("--host", "--port", f"{port}", "--plain", "--name", "Ann")
        assert f"listening on ws://127.0.0.1:{port}" in heard_until(host, "Ctrl-C stops the server")
        friend = start(f"127.0.0.1:{port}", "--name", "Ben")
        for client in (host, friend):
            heard_until(client, "Tic-tac-toe: ")
        host.send_signal(signal.SIGTERM)
        assert "Your match stays as it is" in host.communicate(timeout=PATIENCE_S)[0]
        assert host.returncode == 0
        heard_until(friend, "The link is lost")
        again = start("--host", "--port", f"{port}", "--plain", "--name", "Ann")
        heard_until(again, "Your unfinished match continues.")
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


def test_a_journal_in_use_is_reported_in_one_line_with_advice(start: Start) -> None:
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    heard_until(host, "Ctrl-C stops the server")
    other = start("--host", "--port", "0", "--plain", "--name", "Ben")
    out, err = other.communicate(timeout=PATIENCE_S)
    assert (other.returncode, out) == (2, "")
    (line,) = err.splitlines()
    assert "another server is using" in line
    assert line.endswith("choose a folder with the variable TTT_NET_DATA"), "a client has no --data"


def test_guests_read_that_the_host_has_closed_the_server_and_not_that_they_can_claim(start: Start) -> None:
    with reserved() as port:
        host = start("--host", "--port", f"{port}", "--plain", "--name", "Ann")
        assert f"listening on ws://127.0.0.1:{port}" in heard_until(host, "Ctrl-C stops the server")
        friend = start(f"127.0.0.1:{port}", "--name", "Ben", "--plain")
        for client in (host, friend):
            heard_until(client, "Tic-tac-toe: ")
        assert host.stdin is not None
        host.stdin.write("quit\nquit\nwait\n")
        host.stdin.flush()
        told = heard_until(friend, "The link is lost")
        assert "claim" not in told
        assert host.wait(PATIENCE_S) == 0


def test_json_lines_stay_alone_on_standard_output(start: Start) -> None:
    host = start("--host", "--port", "0", "--json", "--name", "Ann")
    assert '"welcome"' in heard_until(host, '"welcome"')
    host.send_signal(signal.SIGTERM)
    out, err = host.communicate(timeout=PATIENCE_S)
    assert all(line.startswith("{") for line in out.splitlines())
    assert "listening on" in err


@pytest.fixture(name="hosted")
def _hosted(start: Start) -> tuple["subprocess.Popen[str]", "subprocess.Popen[str]"]:
    """A host and a friend in a match on their server."""
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    found = re.search(r"listening on ws://127\.0\.0\.1:(\d+)", heard_until(host, "Ctrl-C stops the server"))
    assert found is not None
    friend = start(f"127.0.0.1:{found[1]}", "--name", "Ben")
    for client in (host, friend):
        heard_until(client, "Tic-tac-toe: ")
    return host, friend


def type_line(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def test_a_host_is_asked_before_leaving_others_and_these_read_that_the_server_was_closed(
    hosted: tuple["subprocess.Popen[str]", "subprocess.Popen[str]"],
) -> None:
    host, friend = hosted
    type_line(host, "quit")
    heard_until(host, "1 other person is here; end the server? Type quit again to end it")
    type_line(host, "no")
    type_line(host, "quit")
    heard_until(host, "end the server?")
    type_line(host, "quit")
    heard_until(host, "This ends the match.")
    type_line(host, "wait")
    heard_until(friend, "The host has closed the server; your matches are kept there.")
    assert host.wait(PATIENCE_S) == 0


def test_a_host_may_leave_and_let_the_server_run(
    hosted: tuple["subprocess.Popen[str]", "subprocess.Popen[str]"],
) -> None:
    host, friend = hosted
    type_line(host, "quit")
    heard_until(host, "end the server?")
    type_line(host, "serve")
    heard_until(host, "This ends the match.")
    type_line(host, "wait")
    heard_until(host, "Your server keeps running; Ctrl-C ends it.")
    heard_until(friend, "Ann is away")
    host.send_signal(signal.SIGINT)
    heard_until(friend, "The host has closed the server")
    assert host.wait(PATIENCE_S) == 0


def test_a_host_without_players_is_not_asked(start: Start) -> None:
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    heard_until(host, "Ctrl-C stops the server")
    out, err = host.communicate("quit\n", timeout=PATIENCE_S)
    assert (host.returncode, err) == (0, "")
    assert "end the server" not in out


def test_the_admin_looks_after_the_server_of_a_client_too_and_may_end_it(
    hosted: tuple["subprocess.Popen[str]", "subprocess.Popen[str]"],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    host, friend = hosted
    assert verbs(["admin", "--data", str(tmp_path / "data"), "players"]) == 0
    assert {"Ann", "Ben"} <= set(capsys.readouterr().out.split())
    assert verbs(["admin", "--data", str(tmp_path / "data"), "drain", "0"]) == 0
    heard_until(friend, "The host has closed the server")
    type_line(host, "quit")
    host.communicate("quit\nquit\n", timeout=PATIENCE_S)  # the server is ended or about to: it may be asked about, too
    assert host.returncode == 0


@pytest.mark.parametrize("variable", ["TTT_NET_TLS_SELF_SIGNED", "TTT_NET_PUBLIC"])
def test_public_servers_do_not_serve_unencrypted(start: Start, environment: dict[str, str], variable: str) -> None:
    environment[variable] = "true"
    host = start("--host", "--port", "0", "--plain", "--name", "Ann")
    out, err = host.communicate(timeout=PATIENCE_S)
    assert (host.returncode, out) == (2, "")
    assert "start server.py" in err
