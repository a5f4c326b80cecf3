"""Search for servers while somebody chooses, and ask line by line."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.patience import PATIENCE_S
from ttt_net.client import server_search
from ttt_net.client.address import DEFAULT_URL, Alone, Go, Host, LookOn, Place, Together
from ttt_net.client.drawing.glyphs import ASCII
from ttt_net.client.lines.line_client import LineMenu
from ttt_net.client.lines.line_renderer import BoardRenderer
from ttt_net.client.local.local_matches import answer_without_match
from ttt_net.client.remembered import Achievements, LocalChoices
from ttt_net.client.server_search import ServerList, ServerSearch

NOTHING_CHOSEN = LocalChoices()


async def test_a_choice_made_while_an_address_is_tried_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    is_trying, may_answer, changed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slowly(host: str, port: int) -> bool:
        is_trying.set()
        await may_answer.wait()
        return True

    async def nothing(report: object) -> None:
        return

    monkeypatch.setattr(server_search, "does_answer", slowly)
    monkeypatch.setattr(server_search, "look_around", nothing)
    monkeypatch.setattr(server_search, "servers_used", tuple)
    async with asyncio.timeout(PATIENCE_S):
        search = ServerSearch(changed.set, NOTHING_CHOSEN)
        async with search.under_way():
            await is_trying.wait()
            search.servers = replace(search.servers, choices=LocalChoices(level=7))
            may_answer.set()
            await changed.wait()
            assert search.servers.choices.level == 7
            assert search.servers.does_answer == {DEFAULT_URL: True}


FOUR = LocalChoices(game="connect4")


def chosen_by(
    answers: list[str], choices: LocalChoices = NOTHING_CHOSEN
) -> tuple[Place | None, LocalChoices, list[str]]:
    """Return where these answers lead in lines, what is remembered, and what was written; all answers are taken."""
    waiting: Iterator[str] = iter(answers)
    written: list[str] = []
    menu = LineMenu(
        lambda question: next(waiting),
        written.append,
        lambda request: answer_without_match(request, 0),
        BoardRenderer(ASCII),
        Achievements(),
    )
    place, after = menu.choose(choices, lambda chosen: ServerList(has_looked=True, choices=chosen))
    assert next(waiting, None) is None
    return place, after, written


@pytest.mark.parametrize(
    ("answers", "place"),
    [
        (["", ""], Alone(4)),
        (["1", "9", "7"], Alone(7)),
        (["1", "Connect Four level 6 second mcts"], Alone(6, "connect4", "mcts", "second")),
        (["1", "conect4", "connect4 lot"], Alone(4, "connect4", "alphabeta", "lot")),
        (["2", ""], Together()),
        (["2", "Ann, Bob"], Together("tictactoe", ("Ann", "Bob"))),
        (["2", "Ann, ann", "qubic"], Together("qubic")),
        (["3", "alphabeta random"], LookOn("tictactoe", ("alphabeta", "random"), ("Ada", "Rob"))),
        (["3", "Max and max"], LookOn("tictactoe", ("mcts", "mcts"), ("Max", "Max 2"))),
        (["4"], Host()),
        (["connect4"], Alone(4, "connect4")),
        (["Qubic 2 second"], Alone(2, "qubic", "alphabeta", "second")),
        (["connect4 9", "q"], None),
        (["help", "?", "quit"], None),
        (["9", "0", "5", "4"], Host()),
        (["x:y", "example.org"], Go("ws://example.org:8765")),
        (["BCD234", "example.org BCD234"], Go("ws://example.org:8765", "BCD234")),
    ],
)
def test_an_answer_is_a_number_an_address_or_a_code_and_then_what_is_to_be_played(
    answers: list[str], place: object
) -> None:
    assert chosen_by(answers)[0] == place


def test_lines_say_what_is_played_and_remember_what_was_chosen() -> None:
    place, after, written = chosen_by(["1", "3"], FOUR)
    assert "1. Play the computer, Connect Four, level 4 of 8, you begin" in written
    assert (place, after) == (Alone(3, "connect4"), LocalChoices(game="connect4", level=3))


def test_the_rules_of_a_game_are_printed_and_the_question_is_repeated() -> None:
    _, _, written = chosen_by(["rules", "rules Qubic", "rules qubick", "4"], FOUR)
    told = "\n".join(written)
    assert "Connect Four. Get four of your marks in a row" in told
    assert "Qubic. " in told
    assert "did you mean qubic?" in told


def test_the_puzzle_of_the_day_is_shown_and_answered_in_the_menu() -> None:
    _, _, written = chosen_by(["solve b2", "6", "puzzle", "solve zz9", "solve solution", "quit"])
    assert written.count("Type puzzle first.") == 1
    assert sum("Puzzle of 1970-01-01" in line for line in written) == 2
    assert any(line.startswith("Type solve and a move, such as ") for line in written)
    assert any(line.startswith("The solution") for line in written)


def test_the_moves_of_strong_bots_are_guessed_in_the_menu_until_the_person_stops() -> None:
    _, _, written = chosen_by(["7", "nowhere", "show", "next", "back", "another", "stop", "quit"])
    (asked, again, *_) = (number for number, line in enumerate(written) if "what did Sophia play?" in line)
    assert any(line.startswith('I don\'t know "nowhere"; possible: ') for line in written[asked:again])
    (shown,) = (line for line in written if line.startswith("Sophia played "))
    assert written.index(shown) > again


def test_help_in_the_menu_tells_what_can_be_typed_and_why_no_server_was_found() -> None:
    _, _, written = chosen_by(["help", "quit"])
    told = " ".join(written[written.index("6. Puzzle of the day, find the one good move") + 1 :])
    for word in ("firewall", "VPN", "subnet", "192.168.1.20", "start a server here", "rules GAME", "quit"):
        assert word in told


@pytest.mark.parametrize("error", [ImportError("no module named zeroconf"), OSError(101, "Network is unreachable")])
async def test_a_network_that_cannot_be_searched_is_reported_without_an_error(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr(server_search, "import_module", fail)
    seen: list[server_search.Sighting] = []
    await server_search.look_around(seen.append)
    (blocked,) = seen
    assert isinstance(blocked, server_search.Blocked)
    assert blocked.reason in str(error)
