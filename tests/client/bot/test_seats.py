"""Engines as bots: whose challenges they take, and what the command line makes of one."""

import pytest

from ttt_net.client.bot.seats import ChallengeFilter, engine_of, games_of
from ttt_net.client.options import parse
from ttt_net.clock import TimeControl
from ttt_net.errors import ConfigurationError
from ttt_net.messages import Challenged, DeclineReason, PlayerInfo

FILTER = ChallengeFilter(
    60_000, 900_000, untimed=False, rated=True, lowest=1000, highest=2000, never=frozenset({"mal"})
)


@pytest.mark.parametrize(
    ("by", "time", "rated", "reason"),
    [
        (PlayerInfo("Ann", rating=1500), TimeControl(180_000, 2_000), True, None),
        (PlayerInfo("Ann"), TimeControl(180_000), True, None),
        (PlayerInfo("Ann", rating=2001), TimeControl(180_000), True, "generic"),
        (PlayerInfo("Ann", rating=999), TimeControl(180_000), True, "generic"),
        (PlayerInfo("MAL"), TimeControl(180_000), True, "generic"),
        (PlayerInfo("Ann"), TimeControl(180_000), False, "generic"),
        (PlayerInfo("Ann"), None, True, "another_time"),
        (PlayerInfo("Ann"), TimeControl(30_000), True, "another_time"),
        (PlayerInfo("Ann"), TimeControl(900_000, 1_000), True, "another_time"),
        (PlayerInfo("Ann"), TimeControl(10_000, per_move=True), True, None),
    ],
)
def test_an_engine_takes_the_challenges_that_its_file_wants(
    by: PlayerInfo, time: TimeControl | None, rated: bool, reason: DeclineReason | None
) -> None:
    challenged = Challenged(1, by, PlayerInfo("Pela", "Pela"), "gomoku", 30_000, time, rated)
    assert FILTER.objection(challenged) == reason


def test_a_bot_takes_every_challenge_if_nothing_is_said() -> None:
    challenged = Challenged(1, PlayerInfo("Ann"), PlayerInfo("Pela", "Pela"), "gomoku", 30_000)
    assert ChallengeFilter().objection(challenged) is None


def test_an_engine_of_the_command_line_has_its_seat() -> None:
    engines = parse(["--engine", "./pbrain-x", "--engine-log", "x.log", "--places", "2"]).engines
    assert engines is not None
    assert engines.command is not None
    engine = engine_of(engines.command, {"places": 2, "opponents": "any", "level": None}, name=None, log=engines.log)
    assert (engine.title, engine.speaks, engine.seat.places, engine.log) == ("x", "piskvork", 2, "x.log")
    with pytest.raises(ConfigurationError, match="--engine: No closing quotation"):
        engine_of("'", {})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--engine x --bot random", "--engine seats a bot; leave out --bot"),
        ("--engine x --engines y", "choose one"),
        ("--engines y --level 3", "--level is said in the file of --engines"),
        ("--protocol tti", "--protocol is for an engine; add --engine COMMAND"),
        ("--engine x --local", "leave out --local"),
    ],
)
def test_options_of_engines_that_do_not_fit_are_refused(line: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        parse(line.split())


def test_an_engine_that_plays_none_of_the_wanted_games_is_rejected_before_it_is_seated() -> None:
    brain = engine_of("cat", {}, name="Cat", protocol="piskvork", games=["tictactoe", "qubic"])
    with pytest.raises(ConfigurationError, match="Cat: a Piskvork brain plays five in a row"):
        games_of(brain, None)
    with pytest.raises(ConfigurationError, match="Cat is not to play gomoku"):
        games_of(brain, "gomoku")
    wide = engine_of("cat", {}, protocol="piskvork", games=["mnk:19x19,5", "tictactoe"])
    assert games_of(wide, None) == ["mnk:19x19,5"]
    assert games_of(engine_of("cat", {}, protocol="piskvork"), None) == ["gomoku"]
