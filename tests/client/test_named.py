"""Words of the command line, and replies to common mistakes."""

import pytest

from ttt_net import __version__
from ttt_net.__main__ import PROGRAMS, VERBS
from ttt_net.__main__ import main as verbs
from ttt_net.client.address import DEFAULT_URL
from ttt_net.client.options import parse
from ttt_net.clock import TimeControl
from ttt_net.errors import ConfigurationError


@pytest.mark.parametrize(
    ("typed", "game", "url"),
    [
        (["connect4"], "connect4", DEFAULT_URL),
        (["Connect4"], "connect4", DEFAULT_URL),
        (["connect-four"], "connect4", DEFAULT_URL),
        (["Connect Four"], "connect4", DEFAULT_URL),
        (["tic-tac-toe"], "tictactoe", DEFAULT_URL),
        (["mnk:15x15,5"], "mnk:15x15,5", DEFAULT_URL),
        (["gomoku", "127.0.0.1"], "gomoku", "ws://127.0.0.1:8765"),
        (["127.0.0.1", "--plain", "gomoku"], "gomoku", "ws://127.0.0.1:8765"),
        (["--game", "Ultimate", "myhost"], "ultimate", "ws://myhost:8765"),
        (["--game", "a game of tomorrow", "127.0.0.1"], "a game of tomorrow", "ws://127.0.0.1:8765"),
        (["localhost"], None, "ws://localhost:8765"),
        (["conect4:8765"], None, "ws://conect4:8765"),
    ],
)
def test_a_game_may_be_named_as_people_write_it_and_anywhere(typed: list[str], game: str | None, url: str) -> None:
    options = parse(typed)
    assert (options.game, options.url) == (game, url)
    assert options.is_address_given is (url != DEFAULT_URL or "localhost" in typed)


def test_host_and_local_may_be_words() -> None:
    assert parse(["host", "--port", "0"]) == parse(["--host", "--port", "0"])
    local = parse(["local", "Connect4", "--o", "alphabeta"])
    assert local == parse(["--local", "--game", "connect4", "--o", "alphabeta"])
    assert local.local is not None
    assert local.local.game == "connect4"
    for name in ("computer", "Computer"):
        assert parse(["local", "connect4", "--o", name]) == local
    assert local.local.names == ("X", "Computer")


@pytest.mark.parametrize("typed", [["--version"], ["connect4", "--version"], ["version"], ["help"], ["-h"]])
def test_version_and_help_end_at_once(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(typed)
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.startswith(("ttt_net ", "Play tic-tac-toe"))


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [("analize", "did you mean analyse?"), ("pley", "did you mean play?"), ("zzz", "see python -m ttt_net --help")],
)
def test_a_verb_that_there_is_not_is_answered_with_the_one_that_was_meant(
    typed: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verbs([typed, "connect4"]) == 2
    assert capsys.readouterr().err == f"ttt_net: unknown verb {typed}; {sentence}\n"


def test_help_is_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    for asked, told in (
        ([], "usage: python -m ttt_net"),
        (["help"], "usage: python -m ttt_net"),
        (["help", "replay"], "usage: python -m ttt_net replay"),
    ):
        with pytest.raises(SystemExit):
            verbs(asked)
        assert capsys.readouterr().out.startswith(told)


@pytest.mark.parametrize("verb", [*PROGRAMS, *VERBS])
def test_every_verb_has_help_and_a_version_however_they_are_asked_for(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for asked in (["help", verb], [verb, "help"], [verb, "--help"]):
        with pytest.raises(SystemExit) as ended:
            verbs(asked)
        assert ended.value.code in (0, None)
        assert verb in capsys.readouterr().out or verb in PROGRAMS
    for asked in ([verb, "version"], [verb, "--version"]):
        with pytest.raises(SystemExit):
            verbs(asked)
        assert capsys.readouterr().out == f"ttt_net {__version__}\n"


def test_help_is_there_for_a_word_behind_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        verbs(["help", "admin", "kick"])
    assert capsys.readouterr().out.startswith("usage: python -m ttt_net admin kick")


MISTAKES_WITH_VERBS = {
    ("replay", "--nubmer", "3", "x"): "ttt_net: there is no option --nubmer; did you mean --number; "
    "see python -m ttt_net --help",
    ("replay",): "ttt_net: the following arguments are required: FILE|ID; see python -m ttt_net replay --help",
    ("admin", "kik", "x"): "ttt_net: ACT: there is no kik; did you mean kick; see python -m ttt_net admin --help",
    ("completion", "tcsh"): "ttt_net: shell: there is no tcsh; there are: bash, zsh, fish; "
    "see python -m ttt_net completion --help",
    ("games", "conect4"): "ttt_net: unknown game 'conect4'; did you mean connect4? there are: ",
    ("arena", "alphbeta", "tactics"): "ttt_net: unknown strategy 'alphbeta'; did you mean alphabeta? there are: ",
    ("analyse", "--strategy", "mtcs", "--moves", "b2"): "ttt_net: unknown strategy 'mtcs'; did you mean mcts? ",
    ("serve", "chekc"): "server.py: unknown verb chekc; did you mean check; see server.py --help",
    ("serve", "9000"): "server.py: unknown verb 9000; a port is given with --port 9000; see server.py --help",
    ("serve", "now"): "server.py: unknown verb now; it takes check, or options; see server.py --help",
    ("admin", "stats", "--data", "x"): "ttt_net: --data is in the wrong place; write it directly after the verb; "
    "see python -m ttt_net --help",
    ("serve", "--prot", "9000"): "server.py: there is no option --prot; did you mean --port; see server.py --help",
    ("verison",): "ttt_net: unknown verb verison; did you mean version?",
}
"""The commonest mistakes with verbs, and how the sentence begins that each is answered with."""


@pytest.mark.parametrize(("typed", "sentence"), MISTAKES_WITH_VERBS.items(), ids=" ".join)
def test_a_mistake_with_a_verb_is_one_sentence_too(
    typed: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verbs(list(typed)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(sentence)
    assert told.err.count("\n") == 1


def test_minutes_alone_are_a_clock() -> None:
    assert parse(["127.0.0.1", "--time", "3"]).time == TimeControl(180_000, 0)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        (["connect4"], ("X", "O")),
        (["connect4", "--o", "computer"], ("X", "Computer")),
        (["--game", "connect4+swap"], ("Player 1", "Player 2")),
        (["--game", "wild"], ("Player 1", "Player 2")),
        (["--game", "connect4+swap", "--o", "computer"], ("You", "Computer")),
        (["--game", "gomoku+swap", "--x", "computer", "--o", "human"], ("Computer", "You")),
    ],
)
def test_players_whose_mark_may_change_are_not_called_by_it(typed: list[str], names: tuple[str, str]) -> None:
    local = parse(["local", *typed]).local
    assert local is not None
    assert local.names == names


MISTAKES = {
    ("conect4",): "conect4: did you mean connect4? A computer of that name is conect4:8765",
    ("tictactow",): "tictactow: did you mean tictactoe? A computer of that name is tictactow:8765",
    ("hosst",): "hosst: did you mean host? A computer of that name is hosst:8765",
    ("locall",): "locall: did you mean local? A computer of that name is locall:8765",
    ("connect4", "gomoku"): "gomoku: there can be only one game",
    ("connect4", "--game", "gomoku"): "connect4: there can be only one game",
    ("10.0.0.1", "10.0.0.2"): "10.0.0.2: there can be only one address",
    ("--game", "conect4"): "--game: there is no game conect4; did you mean connect4?",
    ("--gmae", "connect4"): "there is no option --gmae; did you mean --game; see client.py --help",
    ("--bots",): "there is no option --bots; did you mean --bot; see client.py --help",
    ("--time", "three"): "--time three: minutes+seconds, as 3+2 or 3; up to 180 minutes and 60 seconds",
    ("--time", "3:00"): "--time 3:00: minutes+seconds, as 3+2 or 3; up to 180 minutes and 60 seconds",
    ("--port", "9000"): "--port is for a server of your own; add --host, or write host:port",
    ("host", "10.0.0.1"): "--host starts a server and joins it; leave out the address, --bot and --join",
    ("local", "chess"): "there is no game chess, and an address does not go with --local, which needs no server",
    ("local", "10.0.0.1"): "an address does not go with --local, which needs no server",
    ("local", "--name", "Ann"): "--name does not go with --local, which needs no server; names are given with "
    "--names X,O",
    ("--o", "alphabeta"): "--o is for a match at this keyboard; add --local",
    ("--level", "3"): "--level is for strategies; add --bot STRATEGY, or --local with --o STRATEGY",
    ("--level", "high", "--bot", "mcts"): "--level: 'high' is no whole number; see client.py --help",
    ("--join", "hello"): "'hello' is no invitation code; one looks like BCD234",
    ("--bot",): "--bot: expected one argument; see client.py --help",
    ("local", "--games", "none"): "--games: 'none' is no whole number; see client.py --help",
    ("--screenreader",): "there is no option --screenreader; did you mean --screen-reader; see client.py --help",
    ("host", "--port", "80000"): "--port 80000: 0 to 65535",
    ("host:port",): "'host:port' is no address; write host, host:port, ws://host:port or wss://host:port",
}
"""The commonest mistakes, and the sentence that each is answered with."""


@pytest.mark.parametrize(("typed", "sentence"), MISTAKES.items(), ids=" ".join)
def test_a_mistake_is_answered_with_what_to_do(typed: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(list(typed))
    assert str(error.value) == sentence


@pytest.mark.usefixtures("examples")
@pytest.mark.parametrize(("word", "game"), [("othello", "othello"), ("Hex 7×7", "hex"), ("hex+swap", "hex+swap")])
def test_a_game_of_another_package_is_named_like_any_other(word: str, game: str) -> None:
    assert parse([word]).game == game
