"""Programs of others as strategies: two protocols, and all that a program can do wrong."""

import os
import random
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.patience import PATIENCE_S
from ttt_net.engines.external import ENGINE, ExternalEngine, as_word, find_player, settings_of
from ttt_net.engines.settings import EngineSettings
from ttt_net.errors import ConfigurationError, EngineError
from ttt_net.games import Game, find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.notation import read_move
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.strategy import WIN

BRAIN = Path(__file__).with_name("brain.py")
GOMOKU = find_game("gomoku")
SHORT = Limit(ms=200)

TTI = """
import sys
for line in sys.stdin:
    word, *rest = line.split()
    if word == "tti": print({hello!r}, flush=True)
    elif word == "legal": legal = rest
    elif word == "go": print("info", *rest); print("bestmove", {answer}, flush=True)
    elif word == "quit": break
"""


PATIENT: dict[str, Any] = {"start_ms": 1000 * PATIENCE_S, "overtime_ms": 1000 * PATIENCE_S}
"""For engines that answer; only where one hangs, it is to be given up soon."""
OVERTIMES_MS = {"hang": 300, "endless line": 300, "flood": 300, "hang-once": 6000}


def brain(tmp_path: Path, mode: str = "well", **changes: object) -> ExternalEngine:
    command = shlex.join([sys.executable, str(BRAIN), mode, str(tmp_path)])
    times = PATIENT | ({"overtime_ms": OVERTIMES_MS[mode]} if mode in OVERTIMES_MS else {})
    settings = EngineSettings(command, "Brain", "piskvork", log=str(tmp_path / "log"), **times)
    return ExternalEngine(msgspec.structs.replace(settings, **changes), random.Random(1))


def line_engine(tmp_path: Path, answer: str = "legal[0]", hello: str = "id name First\nttiok") -> ExternalEngine:
    path = tmp_path / "engine.py"
    path.write_text(TTI.format(answer=answer, hello=hello), encoding="utf-8")
    settings = EngineSettings(f"{sys.executable} {path}", "Lines", log=str(tmp_path / "log"), **PATIENT)
    return ExternalEngine(settings, random.Random(1))


def said(tmp_path: Path) -> list[str]:
    """Return the conversation as a transcript, without times and paths."""
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    return [re.sub(r"started: .*", "started", line.split(" ", 2)[2]) for line in lines]


def state_after(game: Game[object], moves: str) -> object:
    state = game.initial
    for word in moves.split():
        state = game.result(state, read_move(game, state, word))
    return state


def test_a_brain_gets_the_board_once_and_then_one_move_at_a_time(tmp_path: Path) -> None:
    engine = brain(tmp_path)
    first = engine(GOMOKU, GOMOKU.initial, SHORT)
    assert GOMOKU.move_names[first.move] == "h8"
    engine(GOMOKU, state_after(GOMOKU, "h8 i9"), SHORT)
    engine(GOMOKU, state_after(GOMOKU, "h8"), SHORT)
    engine.close()
    assert said(tmp_path) == [
        "# started",
        "> START 15",
        "< OK",
        "> INFO timeout_match 0",
        "> INFO max_memory 644245094",
        "> INFO time_left 2147483647",
        "> INFO game_type 1",
        "> INFO rule 0",
        "> INFO timeout_turn 200",
        "> BEGIN",
        "< MESSAGE I like this cell",
        "< DEBUG 1,1 is not my move",
        "< 7,7",
        "> INFO timeout_turn 200",
        "> TURN 8,6",
        "< MESSAGE I like this cell",
        "< DEBUG 1,1 is not my move",
        "< 7,5",
        "> INFO timeout_turn 200",
        "> RESTART",
        "< OK",
        "> BOARD",
        "> 7,7,2",
        "> DONE",
        "< MESSAGE I like this cell",
        "< DEBUG 1,1 is not my move",
        "< 6,6",
        "# ended with 0",
    ]


def test_a_brain_plays_on_boards_that_are_not_square_and_says_what_it_cannot_play(tmp_path: Path) -> None:
    engine = brain(tmp_path)
    wide = find_game("mnk:9x6,5")
    assert wide.move_names[engine(wide, wide.initial, SHORT).move] == "e3"
    assert "> RECTSTART 9,6" in said(tmp_path)
    assert engine.objection(find_game("mnk:9x6,5+swap")) is None
    for name in ("tictactoe", "connect4", "connect:9x9,5", "qubic"):
        assert engine.objection(find_game(name)) == "Brain: a Piskvork brain plays five in a row, on a flat board"
    engine.close()


def test_a_brain_plays_a_match_to_its_end(tmp_path: Path) -> None:
    engine, other, state = brain(tmp_path), find_strategy("tactics", seed=1), GOMOKU.initial
    while not GOMOKU.is_terminal(state):
        player = (engine, other)[GOMOKU.to_move(state)]
        state = GOMOKU.result(state, player(GOMOKU, state, SHORT).move)
    engine.close()
    assert GOMOKU.utility(state, 1) == 1


@pytest.mark.parametrize("mode", ["crash-once", "offboard-once", "hang-once"])
def test_an_engine_that_fails_once_is_started_again_and_shown_the_board(mode: str, tmp_path: Path) -> None:
    engine = brain(tmp_path, mode)
    choice = engine(GOMOKU, state_after(GOMOKU, "h8 i9 g9"), SHORT)
    assert choice.move in GOMOKU.actions(state_after(GOMOKU, "h8 i9 g9"))
    engine.close()
    assert [line for line in said(tmp_path) if line in ("# started", "> BOARD")] == ["# started", "> BOARD"] * 2


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("crash", "ended with 1: out of ideas; started again, it ended with 1: out of ideas"),
        ("hang", "said no move within 500 ms; started again, it said no move within 500 ms"),
        ("offboard", "chose 99,99, which is not free"),
        ("memory", "MemoryError"),
        ("flood", "said "),
        ("endless line", "said no move within 500 ms"),
        ("small", "answers START 15 with ERROR only small boards"),
    ],
)
def test_an_engine_that_fails_twice_gives_up_and_says_why(mode: str, reason: str, tmp_path: Path) -> None:
    engine = brain(tmp_path, mode, memory_mb=200)
    with pytest.raises(EngineError, match=r"^the engine Brain ") as error:
        engine(GOMOKU, GOMOKU.initial, SHORT)
    assert reason in str(error.value)
    assert len(str(error.value)) < 500
    engine.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks the kernel for the state of processes")
def test_an_engine_and_its_children_run_only_while_they_are_asked_and_end_with_it(tmp_path: Path) -> None:
    child = "import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', 'while True: pass'])"
    engine = line_engine(tmp_path, hello="id name Spinner\nttiok")
    path = tmp_path / "engine.py"
    path.write_text(f"{child}\nprint('info', c.pid, flush=True)\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    game = find_game("tictactoe")
    assert engine(game, game.initial, SHORT).move == 0
    pid = int(next(line.split()[2] for line in said(tmp_path) if line.startswith("< info")))
    group = os.getpgid(pid)
    stat = Path(f"/proc/{pid}/stat")
    with Path(f"/proc/{group}/limits").open(encoding="utf-8") as file:
        limits = {line[:26].strip(): line[26:].split()[0] for line in file}
    assert (limits["Max address space"], limits["Max core file size"]) == (str(1024 << 20), "0")
    assert len(os.sched_getaffinity(pid)) == 1
    assert _reaches(stat, "T")
    engine.close()
    assert _reaches(stat, "XZ")


def _reaches(stat: Path, states: str) -> bool:
    """Wait until a process is in one of those states; one that is gone is dead."""
    deadline = os.times().elapsed + PATIENCE_S
    while os.times().elapsed < deadline:
        try:
            if stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] in states:
                return True
        except (FileNotFoundError, ProcessLookupError):
            return "X" in states
        os.sched_yield()
    return False


@pytest.mark.parametrize("name", [*NAMES, "gomoku+swap", "connect:5x4,3", "mnk:19x19,5"])
def test_our_protocol_plays_every_game_to_its_end(name: str, tmp_path: Path) -> None:
    game, engine = find_game(name), line_engine(tmp_path)
    state = game.initial
    rng = random.Random(3)
    for ply in range(60):
        if game.is_terminal(state):
            break
        move = engine(game, state, SHORT).move if ply % 2 else rng.choice(list(game.actions(state)))
        state = game.result(state, move)
    engine.close()
    assert max(map(len, said(tmp_path))) <= 4000


def test_our_protocol_sends_the_position_the_moves_and_the_time(tmp_path: Path) -> None:
    game, engine = find_game("connect4"), line_engine(tmp_path, "'2 loss 3'")
    choice = engine(game, state_after(game, "4 3 4"), Limit(ms=1500, depth=4))
    assert (choice.move, choice.value) == (find_game("connect4").moves_by_name["2"][-1], 3 - WIN)
    engine.close()
    assert said(tmp_path)[1:] == [
        "> tti 1",
        "< id name First",
        "< ttiok",
        "> newgame",
        "> position connect4 ......./......./......./......./...X.../..OX...",
        "> legal 4 3 1 2 5 6 7",
        "> go O movetime 1500 depth 4",
        "< info O movetime 1500 depth 4",
        "< bestmove 2 loss 3",
        "# ended with 0",
    ]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("a1 draw", 0),
        ("a1 win 3", WIN - 3),
        ("a1 -12", -12),
        ("a1 win -3", None),
        ("a1 win 99999999999999999999", None),
        ("a1 win 00000199999999999999", None),
        ("a1 999999999", None),
        ("a1 perhaps", None),
    ],
)
def test_an_engines_evaluation_of_a_move_is_a_value_or_nothing(answer: str, value: int | None, tmp_path: Path) -> None:
    engine, game = line_engine(tmp_path, repr(answer)), find_game("tictactoe")
    assert engine(game, game.initial, SHORT).value == value
    engine.close()


def test_an_engine_names_the_games_it_plays(tmp_path: Path) -> None:
    engine = line_engine(tmp_path, hello="games mnk gomoku+swap\nttiok")
    wanted = {"mnk:7x7,4": None, "gomoku+swap": None, "qubic": "Lines: it does not play qubic"}
    assert {name: engine.objection(find_game(name)) for name in wanted} == wanted
    engine.close()


def test_a_brain_started_with_our_protocol_gets_a_hint(tmp_path: Path) -> None:
    engine = brain(tmp_path, protocol="tti")
    with pytest.raises(ConfigurationError, match="Then say --protocol piskvork"):
        engine.objection(GOMOKU)


def test_an_engine_that_cannot_be_started_is_a_sentence() -> None:
    engine = find_player("engine:./no/such/program --fast")
    with pytest.raises(ConfigurationError, match=r"cannot start \./no/such/program: No such file or directory"):
        engine.objection(GOMOKU)


def test_a_first_move_that_may_be_taken_over_is_chosen_for_a_brain(tmp_path: Path) -> None:
    game, engine = find_game("mnk:7x7,5+swap"), brain(tmp_path)
    begun = engine(game, game.initial, SHORT).move
    answered = engine(game, game.result(game.initial, begun), SHORT).move
    assert not (tmp_path / "tries").exists()
    swapped = game.result(game.result(game.initial, begun), answered)
    assert engine(game, swapped, SHORT).move in game.actions(swapped)
    assert (tmp_path / "tries").exists()
    engine.close()


def test_openings_are_followed_without_asking(tmp_path: Path) -> None:
    engine = brain(tmp_path, "crash", openings=["gomoku: h8 i9 g9", "gomoku: h8 h9 a1"])
    state, played = GOMOKU.initial, []
    for _ in range(3):
        played.append(engine(GOMOKU, state, SHORT).move)
        state = GOMOKU.result(state, played[-1])
    assert [GOMOKU.move_names[move] for move in played] in (["h8", "i9", "g9"], ["h8", "h9", "a1"])
    with pytest.raises(EngineError):
        engine(GOMOKU, state, SHORT)
    engine.close()


def test_an_engine_and_its_settings_are_written_as_one_word() -> None:
    settings = EngineSettings("python3 bot.py", "Bo", games=["gomoku"])
    assert as_word(settings).startswith(ENGINE)
    assert settings_of(as_word(settings)) == settings
    assert settings_of("engine:./pbrain-x --y") == EngineSettings("./pbrain-x --y")
    assert (EngineSettings("wine ./pbrain-x.exe").title, EngineSettings("./pbrain-x").speaks) == ("x", "piskvork")
    for wrong in ("engine:", 'engine:"', 'engine:{"command": "x", "memory_mb": 1}'):
        with pytest.raises(ConfigurationError, match=r"^engine: "):
            settings_of(wrong)
