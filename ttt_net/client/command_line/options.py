"""Read and check all options of the client: whatever is wrong is said in one line before anything starts."""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import ttt_net
from ttt_net.client.command_line.bot import (
    DEFAULT_MOVE_MS,
    EngineOptions,
    add_bot,
    add_engines,
    check_bot,
    engines_given,
    places_of,
)
from ttt_net.client.command_line.inquiry import Inquiry, add_inquiry, inquiry_of
from ttt_net.client.command_line.local import HUMAN, Local, Served, add_hosting, add_local, check_company
from ttt_net.client.command_line.parser import ShortHelp
from ttt_net.client.finding.address import (
    DEFAULT_PORT,
    DEFAULT_URL,
    Address,
    Alone,
    LookOn,
    Together,
    code_of,
    read_address,
    server_at,
)
from ttt_net.clock import TIME_FORM, TimeControl, time_of
from ttt_net.errors import ConfigurationError
from ttt_net.messages import Opponents
from ttt_net.names import RULE
from ttt_net.option_parser import OptionParser
from ttt_net.programs import CLIENT, PLAY
from ttt_net.sdk.trust import Trust, trust_of
from ttt_net.text import clean

DEFAULT_GAME = "tictactoe"


@dataclass(frozen=True, slots=True)
class Options:
    """How a client was started. `game` and `opponents` are None where nothing was said."""

    url: str
    trust: Trust = field(default_factory=Trust)
    is_address_given: bool = True
    """Whether the address was typed, and not the default one."""
    has_server_picker: bool = False
    """Whether the server was chosen from the list of those that there are."""
    name: str | None = None
    join: str | None = None
    """The invitation code of the match to join."""
    is_inviting: bool = False
    inquiry: Inquiry | None = None
    """What is asked instead of playing."""
    local: Local | None = None
    """The match at this keyboard, if it is one."""
    is_hosting: bool = False
    port: int = DEFAULT_PORT
    """The port of the server that is started here, if one is."""
    served: Served | None = None
    """The server that was started here, once it runs."""
    game: str | None = None
    time: TimeControl | None = None
    bot: str | None = None
    engines: EngineOptions | None = None
    """The programs of others that play."""
    games: int | None = None
    opponents: Opponents | None = None
    is_json: bool = False
    is_plain: bool = False
    is_spoken: bool = False
    """Whether a screen reader reads out what is written."""
    is_ascii: bool = False
    is_quiet: bool = False
    seed: int | None = None
    level: int | None = None
    move_ms: int = DEFAULT_MOVE_MS
    pace_ms: int = 0
    """How long a bot waits before each of its moves, so that people can follow."""
    places: int = 1
    """How many matches at once a bot plays, and how many of these places are for people."""
    reserve: int = 0

    @property
    def journal(self) -> str | None:
        """Where the server that was started here keeps its matches, and who its players are."""
        return self.served.journal if self.served is not None else None

    @property
    def server(self) -> str:
        """The server as identities know it: host and port."""
        return server_at(self.url)

    @property
    def command(self) -> str:
        """What to type to come back."""
        if self.is_hosting:
            return f"{PLAY} --host" + f" --port {self.port}" * (self.port != DEFAULT_PORT)
        if self.url == DEFAULT_URL:
            return PLAY
        fingerprint = f" --tls-fingerprint {self.trust.fingerprint}" if self.trust.fingerprint else ""
        insecure = " --insecure" if self.trust.is_insecure else ""
        return f"{PLAY} {self.url.removeprefix('ws://')}{fingerprint}{insecure}"


def parse(arguments: Sequence[str] | None) -> Options:
    """Return the options. Raises `ConfigurationError` if anything is wrong with them."""
    parser = make_parser()
    given = parser.parse_intermixed_args(arguments)
    given.url = None
    if given.words or given.game is not None or given.local:
        from ttt_net.client.command_line import named  # with the rules of all games

        named.sort_words(given)
    if given.help:
        ShortHelp([], "help")(parser, given, None)
    if "version" in vars(given):
        parser.parse_args(["--version"])
    if given.name is not None and not clean(given.name, 80):
        raise ConfigurationError(f"--name: a name is {RULE}")
    check_company(given)
    check_bot(given)
    engines = engines_given(given)
    inquiry = inquiry_of(given)
    game = named.checked_game(given.game) if given.game is not None else None
    url, code = read_address(given.url) if given.url is not None else Address(DEFAULT_URL)
    code = code_of(given.join) if given.join is not None else code
    if code is not None:
        _check_join(given)
    return Options(
        url=url,
        trust=trust_of(url, given.tls_fingerprint, is_insecure=given.insecure),
        is_address_given=given.url is not None,
        name=clean(given.name, 80) if given.name is not None else None,
        join=code,
        is_inviting=given.invite,
        inquiry=inquiry,
        local=named.local_of(given, game or DEFAULT_GAME) if given.local else None,
        is_hosting=given.host,
        port=given.port if given.port is not None else DEFAULT_PORT,
        game=game,
        time=_time(given.time) if given.time is not None else None,
        bot=given.bot,
        engines=engines,
        games=given.games,
        opponents=given.opponents,
        is_json=given.json,
        is_plain=given.plain,
        is_spoken=given.screen_reader,
        is_ascii=given.ascii,
        is_quiet=given.quiet,
        seed=given.seed,
        level=given.level,
        move_ms=given.move_time or DEFAULT_MOVE_MS,
        pace_ms=given.pace or 0,
        places=places_of(given),
        reserve=given.reserve or 0,
    )


def against_computer(options: Options, place: Alone, rng: random.Random) -> Options:
    """Return the options of a match against the computer at this keyboard, for one who has chosen it from a menu."""
    is_first = rng.random() < 1 / 2 if place.order == "lot" else place.order == "first"
    players = (HUMAN, place.strategy) if is_first else (place.strategy, HUMAN)
    return replace(_at_this_keyboard(options, place.game, players), level=place.level)


def two_here(options: Options, place: Together) -> Options:
    """Return the options of a match of two people at this keyboard."""
    return _at_this_keyboard(options, place.game, (HUMAN, HUMAN), place.names)


def looking_on(options: Options, place: LookOn) -> Options:
    """Return the options of a match of two strategies at this keyboard."""
    return _at_this_keyboard(options, place.game, place.strategies, place.names)


def _at_this_keyboard(
    options: Options, game: str, players: tuple[str, str], names: tuple[str, str] | None = None
) -> Options:
    from ttt_net.client.command_line import named

    return replace(options, local=named.match_here(game, players, names))


def _check_join(given: argparse.Namespace) -> None:
    """Raise `ConfigurationError` for what an invitation has settled, or what goes elsewhere."""
    if given.invite:
        raise ConfigurationError("--join takes an invitation up, --invite makes one; choose one of them")
    if given.bot is not None:
        raise ConfigurationError("an invitation is for people; leave out --bot")
    for flag in ("game", "time", "opponents"):
        if getattr(given, flag) is not None:
            raise ConfigurationError(f"the invitation says what is played; leave out --{flag}")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all options of a client."""
    parser = OptionParser(
        prog=CLIENT,
        add_help=False,
        usage="%(prog)s [ADDRESS] [GAME] [OPTION ...]",
        description="Play tic-tac-toe and its family over the network.",
        epilog="docs/client.md tells more, with every key.",
    )
    where = "host, host:port, ws://... or wss://... (default: look for one)"
    parser.add_argument("words", nargs="*", metavar="ADDRESS", help=f"{where}; or a game; host, local, help or version")
    parser.add_argument("-h", "--help", nargs=0, action=ShortHelp, default=False, help="what most people need")
    version = f"ttt_net {ttt_net.__version__}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    parser.add_argument("--help-all", action="help", help="all of this")
    play = parser.add_argument_group("to play")
    play.add_argument("--name", help="who you are (default: the name you typed the last time)")
    play.add_argument("--game", help="tictactoe, connect4, mnk:15x15,5 (default: tictactoe; a bot: any)")
    play.add_argument("--time", metavar="M+S", help="a clock: minutes each, and seconds for every move, as 3+2 or 3")
    play.add_argument(
        "--opponents",
        choices=("any", "people", "bots"),
        help="who is paired with you (default: people; bots are offered)",
    )
    play.add_argument("--invite", action="store_true", help="print an invitation code, and wait for who joins")
    play.add_argument("--join", metavar="CODE", help="join the private match that a friend's invitation code is for")
    add_hosting(parser.add_argument_group("a server of your own"), DEFAULT_PORT)
    add_local(parser.add_argument_group("without a server"))
    add_bot(parser.add_argument_group("to seat a bot, or with --local to play one"))
    add_engines(parser.add_argument_group("to seat a program of your own, as a bot"))
    add_inquiry(parser.add_argument_group("instead of playing"))
    _add_looks(parser.add_argument_group("how it looks"))
    trust = parser.add_argument_group("encryption")
    trust.add_argument("--tls-fingerprint", metavar="HEX", help="trust a wss:// server by its certificate's SHA-256")
    trust.add_argument("--insecure", action="store_true", help="speak in clear to a server beyond the local network")
    return parser


def _add_looks(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--plain", action="store_true", help="line by line, without a full screen")
    group.add_argument("--screen-reader", action="store_true", help="short sentences, and the board in words")
    group.add_argument("--json", action="store_true", help="write what is heard as JSON lines, then a summary")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument("--quiet", action="store_true", help="no bell and no title when it becomes your turn")


def _time(text: str) -> TimeControl:
    time = time_of(text)
    if time is None:
        raise ConfigurationError(f"--time {clean(text, 20)}: {TIME_FORM}")
    return time
