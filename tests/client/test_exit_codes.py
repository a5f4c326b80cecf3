"""0 fine, 2 started wrongly, 3 the network, 4 refused: however a client is run, and with a sentence why."""

import socket

import pytest

from tests.client.conftest import RealServer, Start
from tests.patience import PATIENCE_S

WAYS = [["--plain"], ["--json"], ["--screen-reader"]]


def ended(start: Start, *arguments: str, typed: str = "") -> tuple[int, str]:
    client = start(*arguments)
    _, err = client.communicate(typed, timeout=PATIENCE_S)
    return client.returncode, err


@pytest.mark.parametrize("way", WAYS)
def test_0_when_all_is_well(start: Start, way: list[str]) -> None:
    assert ended(start, "--local", *way, typed="5\n1\n9\n2\n8\n3\n") == (0, "")


@pytest.mark.parametrize("way", [*WAYS, ["--bot", "deepblue"]])
def test_2_when_it_was_started_wrongly(start: Start, way: list[str]) -> None:
    code, err = ended(start, "example.org", *way, *([] if "--bot" in way else ["--time", "soon"]))
    assert code == 2
    assert len(err.splitlines()) == 1


def test_2_says_nothing_but_what_is_wrong_with_a_bot_that_goes_nowhere_yet(start: Start) -> None:
    code, err = ended(start, "--bot", "deepblue")
    assert code == 2
    assert err.startswith("client.py: unknown strategy 'deepblue'; there are: ")
    assert len(err.splitlines()) == 1


def test_3_when_nobody_answers(start: Start) -> None:
    with socket.socket() as shut:
        shut.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{shut.getsockname()[1]}"
        clients = [start(address, "--name", "Ann", *way) for way in [*WAYS, ["--bot", "random", "--games", "1"]]]
        for client in clients:  # each of them tries for some seconds
            _, err = client.communicate("", timeout=PATIENCE_S)
            assert client.returncode == 3
            assert "cannot reach" in err


@pytest.mark.parametrize("way", [*WAYS, ["--bot", "random", "--games", "1"]])
def test_4_when_the_server_says_no(real_server: RealServer, start: Start, way: list[str]) -> None:
    code, err = ended(start, real_server.address, "--name", "Ann", "--game", "chess", *way)
    assert code == 4
    assert "unknown game" in err
