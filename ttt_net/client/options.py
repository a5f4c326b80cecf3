"""Parse and check all options of the client; any error is reported in one line before anything starts.

A person's preferences are options, too. They are in client.toml in their configuration folder:

    theme = "paper"
    game = "connect4"
    sounds = false

    [keys]
    w = "up"
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
from platformdirs import user_config_path

import ttt_net
from ttt_net.client.address import (
    DEFAULT_PORT,
    DEFAULT_URL,
    HUMAN,
    MAX_LEVEL,
    Address,
    Alone,
    Local,
    LookOn,
    Served,
    Together,
    code_of,
    read_address,
    server_at,
)
from ttt_net.clock import TIME_FORM, Speed, TimeControl, time_of
from ttt_net.command_line import CLIENT, PLAY, OptionParser
from ttt_net.errors import ConfigurationError
from ttt_net.messages import Opponents
from ttt_net.names import RULE
from ttt_net.sdk.trust import Trust, trust_of
from ttt_net.text import clean

PREFERENCES_FILE = "client.toml"
_MAX_PREFERENCES_BYTES = 64 * 1024
THEME_NAMES = ("dark", "light", "contrast", "safe", "paper", "neon")
"""The names of the themes; their colours are loaded later."""
_SPECIAL = {
    **{"enter": "c-m", "tab": "c-i", "space": " ", "escape": "escape"},
    **{name: name for name in ("up", "down", "left", "right", "home", "end", "pageup", "pagedown")},
}
"""Keys that have names instead of characters: their names in this file, and in prompt_toolkit."""
_CONTROL = "ctrl-"


class Preferences(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file; each setting is optional."""

    theme: str | None = None
    """One of `THEME_NAMES`; None: dark or light, depending on the terminal's background."""
    game: str | None = None
    """The game to play if no other is named."""
    sounds: bool = True
    """Whether the bell rings and the window title changes when the player has something to do."""
    keys: dict[str, str] = {}
    """Keys that replace other keys."""


def path_of_preferences() -> Path:
    """Return the path of the file."""
    return user_config_path("ttt_net", appauthor=False) / PREFERENCES_FILE


def load_preferences() -> Preferences:
    """Return the preferences of the file, or the defaults without one. Raises `ConfigurationError` if it is invalid."""
    path = path_of_preferences()
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_PREFERENCES_BYTES + 1)
    except FileNotFoundError:
        return Preferences()
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    return read_preferences(content, path)


def read_preferences(content: bytes, path: Path) -> Preferences:
    """Return the preferences of a file, with prompt_toolkit's names of keys.

    Raises `ConfigurationError` if it is invalid.
    """
    import tomllib  # imported here, because only people with such a file need it

    try:
        if len(content) > _MAX_PREFERENCES_BYTES:
            raise ConfigurationError(f"{path}: more than {_MAX_PREFERENCES_BYTES:,} bytes")
        found = msgspec.convert(tomllib.loads(content.decode()), Preferences)
    except msgspec.ValidationError as error:
        known = ", ".join(Preferences.__struct_fields__)
        raise ConfigurationError(f"{path}: {_in_words(str(error))}; the settings are {known}") from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is not TOML: {error}; docs/client.md has an example") from None
    theme = checked_theme(found.theme, f"{path}: theme") if found.theme is not None else None
    keys = {_checked_key(key, path): _checked_key(meaning, path) for key, meaning in found.keys.items()}
    return msgspec.structs.replace(found, theme=theme, keys=keys)


def checked_theme(name: str, where: str) -> str:
    """Return the name of a theme.

    Raises `ConfigurationError`, naming the place of the setting, if there is no such theme.
    """
    if name.lower() in THEME_NAMES:
        return name.lower()
    raise ConfigurationError(f"{where} {clean(name, 20)!r}: choose {', '.join(THEME_NAMES[:-1])} or {THEME_NAMES[-1]}")


def meant_key(key: str, keys: Mapping[str, str]) -> str:
    """Return the key that a key replaces; the key itself if it replaces none."""
    return keys.get(key, key)


def _checked_key(name: str, path: Path) -> str:
    lower = name.lower()
    if lower in _SPECIAL:
        return _SPECIAL[lower]
    if len(name) == 1 and name.isprintable():
        return name
    if lower.startswith(_CONTROL) and len(name) == len(_CONTROL) + 1 and lower[-1].isalpha():
        return f"c-{lower[-1]}"
    special = ", ".join(_SPECIAL)
    raise ConfigurationError(f"{path}: keys: {clean(name, 20)!r} is no key; write a character, ctrl-x, or {special}")


def _in_words(error: str) -> str:
    """Return msgspec's sentence with the setting first: `sounds: expected bool, got str`."""
    told, _, place = error.partition(" - at `$.")
    said = told.replace("Object contains unknown field", "unknown setting").replace("`", "")
    return f"{place.rstrip('`')}: {said[:1].lower()}{said[1:]}" if place else said


SHORT_HELP = f"""\
Play tic-tac-toe and its family, with people anywhere or with the computer.

  {CLIENT}                        the start menu: find servers, play here
  {CLIENT} 192.168.1.20           join one: host, host:port or wss://...
  {CLIENT} host                   start a server here; friends find it
  {CLIENT} ADDRESS --invite       get a code for a friend, and wait
  {CLIENT} ADDRESS --join CODE    ... who joins with the code you gave them
  {CLIENT} connect4               any of these may name a game, too
  {CLIENT} local                  two at one keyboard, without any server
  {CLIENT} local --o computer --level 4      against the computer, 1 to 8
  {CLIENT} ADDRESS --bot alphabeta           seat a bot for all to play

  --game G         tictactoe (default), connect4, ultimate, mnk:15x15,5 ...
  --time M+S       with a clock: minutes each, seconds for every move; 3+2 or 3
  --name NAME      who you are (default: the name you typed the last time)
  --theme NAME     dark, light, contrast, safe, paper or neon
  --plain          line by line; or --screen-reader, or --json

? shows the keys while you play. --help-all lists every option; docs/client.md
has the rest."""


class ShortHelp(argparse.Action):
    """`--help`, which fits a terminal; `--help-all` prints argparse's full help."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Print it, and exit."""
        print(SHORT_HELP)
        parser.exit()


def whole_number(text: str) -> int:
    """Return a typed whole number. Raises `ArgumentTypeError` if it is none."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{clean(text, 20)!r} is no whole number") from None


Kind = Literal["profile", "history", "leaderboard", "tournament", "rename", "my_data", "forget"]
KINDS: tuple[Kind, ...] = ("profile", "history", "leaderboard", "tournament", "rename", "my_data", "forget")
SPEEDS: tuple[Speed, ...] = ("bullet", "blitz", "rapid", "untimed")
MAX_PAGE = 10_000
MAX_HISTORY_PAGE = 50
"""The highest page of a history; all pages before it are requested too."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question: `about` is a player's name (empty: the asking player), a game, or the new name."""

    kind: Kind
    about: str = ""
    page: int = 1
    speed: Speed = "untimed"
    has_bots: bool = True


def add_inquiry(group: argparse._ArgumentGroup) -> None:
    """Add the flags for questions to a server."""
    group.add_argument("--profile", nargs="?", const="", metavar="NAME", help="who a player is; without NAME, you")
    group.add_argument("--history", nargs="?", const="", metavar="NAME", help="what a player, or you, has played")
    group.add_argument("--leaderboard", metavar="GAME", help="the ratings at a game, the best first")
    group.add_argument(
        "--tournament", nargs="?", const="", metavar="CODE", help="the boards and standings of one; without CODE, all"
    )
    group.add_argument(
        "--page", type=whole_number, metavar="N", help="of --history, --leaderboard and --tournament: which page"
    )
    group.add_argument("--speed", choices=SPEEDS, help="of --leaderboard (default: untimed)")
    group.add_argument("--people", action="store_true", help="of --leaderboard: leave bots out")
    group.add_argument("--rename", metavar="NAME", help="take another name; your matches and ratings stay yours")
    group.add_argument(
        "--my-data", action="store_true", help="print all that the server gives of you, with your matches, as JSON"
    )
    group.add_argument("--forget", action="store_true", help="have your name, token and ratings deleted on the server")


_OF_INQUIRIES: dict[str, tuple[tuple[Kind, ...], str]] = {
    "page": (("history", "leaderboard", "tournament"), "--page is for --history, --leaderboard and --tournament"),
    "speed": (("leaderboard",), "--speed and --people are for --leaderboard"),
    "people": (("leaderboard",), "--speed and --people are for --leaderboard"),
}
"""Flags that apply only to some inquiries: these inquiries, and the sentence of the error."""
_OF_PLAY = ("bot", "guest", "join", "invite", "game", "time", "opponents", "local", "host")


def inquiry_of(given: argparse.Namespace) -> Inquiry | None:
    """Return the inquiry, or None. Raises `ConfigurationError` if options exclude each other."""
    asked = [kind for kind in KINDS if getattr(given, kind) not in (None, False)]
    if len(asked) > 1:
        one, other = (each.replace("_", "-") for each in asked[:2])
        raise ConfigurationError(f"--{one} and --{other}: ask one thing at a time")
    for flag, (kinds, sentence) in _OF_INQUIRIES.items():
        if getattr(given, flag) not in (None, False) and not {*asked} & {*kinds}:
            raise ConfigurationError(sentence)
    if not asked:
        return None
    kind = asked[0]
    for flag in _OF_PLAY:
        if getattr(given, flag) not in (None, False) and (flag, kind) != ("local", "history"):  # stored on this machine
            raise ConfigurationError(f"--{kind.replace('_', '-')} asks instead of playing; leave out --{flag}")
    page = given.page if given.page is not None else 1
    most = MAX_HISTORY_PAGE if kind == "history" else MAX_PAGE
    if not 1 <= page <= most:
        raise ConfigurationError(f"--page {page}: 1 to {most}")
    about = getattr(given, kind)
    return Inquiry(kind, about if isinstance(about, str) else "", page, given.speed or "untimed", not given.people)


_PORTS = range(65_536)


def add_hosting(group: argparse._ArgumentGroup, default_port: int) -> None:
    """Add the options of a server that is started here."""
    group.add_argument("--host", action="store_true", help="start a server here, and join it")
    group.add_argument("--port", type=whole_number, metavar="N", help=f"its port (default: {default_port})")


def add_local(group: argparse._ArgumentGroup) -> None:
    """Add the options of a match at this keyboard."""
    group.add_argument("--local", action="store_true", help="play at this keyboard, without any server")
    group.add_argument("--x", metavar="WHO", help="who plays X: human (default), computer, a strategy, engine:COMMAND")
    group.add_argument("--o", metavar="WHO", help="who plays O, likewise")
    group.add_argument("--names", metavar="X,O", help="the names of the two")
    group.add_argument("--start", metavar="POSITION", help="begin from there, such as 'X../.O./..X'")


def _no_company(given: argparse.Namespace, other: str) -> str:
    """Return why an option, or an address, does not go with --local."""
    flag = "an address" if other == "url" else f"--{other.replace('_', '-')}"
    if other == "url" and given.url.isalpha():
        flag = f"there is no game {clean(given.url, 40)}, and {flag}"
    more = "; names are given with --names X,O" if other == "name" else ""
    return f"{flag} does not go with --local, which needs no server{more}"


def check_company(given: argparse.Namespace) -> None:
    """Raise `ConfigurationError` if these options contradict others."""
    strangers = ("url", "bot", "join", "invite", "opponents", "name", "guest", "host", "insecure", "tls_fingerprint")
    wrong = [flag for flag in strangers if getattr(given, flag)]
    if given.local and wrong:
        raise ConfigurationError(_no_company(given, wrong[0]))
    if given.host and (given.url is not None or given.bot is not None or given.join is not None):
        raise ConfigurationError("--host starts a server and joins it; leave out the address, --bot and --join")
    if given.guest and (given.name is not None or given.bot is not None):
        raise ConfigurationError("--guest is for a person without a name; leave out --name and --bot")
    if given.port is not None and not given.host:
        raise ConfigurationError("--port is for a server of your own; add --host, or write host:port")
    if given.port is not None and given.port not in _PORTS:
        raise ConfigurationError(f"--port {given.port}: 0 to 65535")
    for flag in ("x", "o", "start", "names"):
        if getattr(given, flag) is not None and not given.local:
            raise ConfigurationError(f"--{flag} is for a match at this keyboard; add --local")


DEFAULT_MOVE_MS = 1000
DEFAULT_PLACES, MAX_PLACES = 4, 20
MAX_MOVE_MS = 600_000
MAX_PACE_MS = 10_000
_OF_STRATEGIES = ("level", "move_time", "seed")
_OF_BOTS = ("places", "reserve", "pace")
_RANGES = {
    "level": (1, MAX_LEVEL, ""),
    "move_time": (1, MAX_MOVE_MS, " milliseconds"),
    "pace": (0, MAX_PACE_MS, " milliseconds"),
}
"""Numeric options: minimum, maximum and unit."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Which external engines play: one by its command, or those of a file."""

    command: str | None = None
    file: str | None = None
    protocol: str | None = None
    log: str | None = None


def add_engines(group: argparse._ArgumentGroup) -> None:
    """Add the options of external engines."""
    group.add_argument("--engine", metavar="COMMAND", help="run an external engine; see docs/engines.md")
    group.add_argument(
        "--protocol", choices=("tti", "piskvork"), help="what it speaks (default: tti; pbrain-*: piskvork)"
    )
    group.add_argument("--engine-log", metavar="FILE", help="log its input and output")
    group.add_argument("--engines", metavar="FILE", help="seat all engines of a TOML file")


def engines_given(given: argparse.Namespace) -> EngineOptions | None:
    """Return the engines to run, if any. Raises `ConfigurationError` if the options contradict each other."""
    if given.engine is None and given.engines is None:
        for flag in ("protocol", "engine_log"):
            if getattr(given, flag) is not None:
                raise ConfigurationError(f"{_written(flag)} is for an engine; add --engine COMMAND")
        return None
    if given.engine is not None and given.engines is not None:
        raise ConfigurationError("--engine is one program, --engines a file of them; choose one")
    flag = "engine" if given.engine is not None else "engines"
    for other in ("bot", "local", "host", "invite", "json"):
        if getattr(given, other):
            raise ConfigurationError(f"--{flag} seats a bot; leave out --{other}")
    if given.engines is not None:
        for other in ("protocol", "engine_log", "name", "opponents", *_OF_STRATEGIES, *_OF_BOTS):
            if getattr(given, other) is not None and other != "seed":
                raise ConfigurationError(f"{_written(other)} is said in the file of --engines, for each engine")
    return EngineOptions(given.engine, given.engines, given.protocol, given.engine_log)


def add_bot(group: argparse._ArgumentGroup) -> None:
    """Add the options of strategies."""
    group.add_argument("--bot", metavar="STRATEGY", help="run a bot with a strategy, such as alphabeta or random")
    group.add_argument("--level", type=whole_number, metavar="N", help="play weaker, as people do, from 1 up to 8")
    group.add_argument("--move-time", type=whole_number, metavar="MS", help="think so long at most (default: 1000)")
    group.add_argument("--pace", type=whole_number, metavar="MS", help="wait so long before each move (default: 0)")
    group.add_argument("--games", type=whole_number, metavar="N", help="leave after N games (default: never)")
    group.add_argument("--places", type=whole_number, metavar="N", help="matches at once (default: 4, with --games 1)")
    group.add_argument("--reserve", type=whole_number, metavar="N", help="of these, for people alone (default: 0)")
    group.add_argument("--seed", type=whole_number, metavar="N", help="make its chances repeatable")


def check_bot(given: argparse.Namespace) -> None:
    """Raise `ConfigurationError` if these options contradict each other or have no effect."""
    for flag, (least, most, unit) in _RANGES.items():
        number = getattr(given, flag)
        if number is not None and not least <= number <= most:
            raise ConfigurationError(f"{_written(flag)} {number}: {least} to {most:,}{unit}")
    _check_owners(given)
    if not 1 <= places_of(given) <= MAX_PLACES:
        raise ConfigurationError(f"--places {given.places}: 1 to {MAX_PLACES} matches at once")
    if not 0 <= (given.reserve or 0) <= places_of(given):
        raise ConfigurationError(f"--reserve {given.reserve}: 0 to {places_of(given)}, which are all of its places")
    if given.bot is not None and given.invite:
        raise ConfigurationError("--invite is for people; leave out --bot")


def _check_owners(given: argparse.Namespace) -> None:
    """Raise `ConfigurationError` for an option of strategies, bots or series that no other option can use."""
    is_bot = any(each is not None for each in (given.bot, given.engine, given.engines))
    has_strategy = is_bot or any(who not in (None, HUMAN) for who in (given.x, given.o))
    for flag in _OF_STRATEGIES:
        if getattr(given, flag) is not None and not has_strategy:
            either = "--bot STRATEGY, or --local with --o STRATEGY"
            more = "--o computer, or --o STRATEGY" if given.local else either
            raise ConfigurationError(f"{_written(flag)} is for strategies; add {more}")
    for flag in _OF_BOTS:
        if getattr(given, flag) is not None and not is_bot:
            raise ConfigurationError(f"{_written(flag)} is for bots; add --bot STRATEGY")
    if given.games is not None and not is_bot and not given.local:
        raise ConfigurationError("--games is for bots and matches at this keyboard; add --bot STRATEGY or --local")
    if given.games is not None and given.games < 1:
        raise ConfigurationError(f"--games {given.games}: at least 1")


def places_of(given: argparse.Namespace) -> int:
    """Return how many simultaneous matches a bot plays: more than one only if it stays on the server."""
    if given.places is not None:
        return int(given.places)
    return DEFAULT_PLACES if given.games is None else 1


def _written(flag: str) -> str:
    return f"--{flag.replace('_', '-')}"


DEFAULT_GAME = "tictactoe"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a client. `game` and `opponents` are None if not given."""

    url: str
    trust: Trust = field(default_factory=Trust)
    is_address_given: bool = True
    """Whether the address was typed; otherwise it is the default one."""
    has_server_picker: bool = False
    """Whether the server was chosen from the list of servers."""
    name: str | None = None
    is_guest: bool = False
    """Whether the server makes up the name."""
    join: str | None = None
    """The invitation code of the match to join."""
    is_inviting: bool = False
    inquiry: Inquiry | None = None
    """The question to ask instead of playing."""
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
    """The external engines that play."""
    games: int | None = None
    opponents: Opponents | None = None
    is_json: bool = False
    is_plain: bool = False
    is_spoken: bool = False
    """Whether a screen reader reads the output aloud."""
    is_ascii: bool = False
    is_quiet: bool = False
    theme: str | None = None
    """The name of the theme; None: dark or light, depending on the terminal's background."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys that replace other keys."""
    usual_game: str = DEFAULT_GAME
    """The game to play if no other is named."""
    seed: int | None = None
    level: int | None = None
    move_ms: int = DEFAULT_MOVE_MS
    pace_ms: int = 0
    """How long a bot waits before each of its moves, so that people can follow."""
    places: int = 1
    """How many simultaneous matches a bot plays, and how many of these places are reserved for people."""
    reserve: int = 0

    @property
    def journal(self) -> str | None:
        """Where the server that was started here stores its matches and its players."""
        return self.served.journal if self.served is not None else None

    @property
    def server(self) -> str:
        """The server as named in identities: host and port."""
        return server_at(self.url)

    @property
    def command(self) -> str:
        """The command that reconnects to this place."""
        if self.is_hosting:
            return f"{PLAY} --host" + f" --port {self.port}" * (self.port != DEFAULT_PORT)
        if self.url == DEFAULT_URL:
            return PLAY
        fingerprint = f" --tls-fingerprint {self.trust.fingerprint}" if self.trust.fingerprint else ""
        insecure = " --insecure" if self.trust.is_insecure else ""
        return f"{PLAY} {self.url.removeprefix('ws://')}{fingerprint}{insecure}"


def parse(arguments: Sequence[str] | None) -> Options:
    """Return the options. Raises `ConfigurationError` if any are wrong."""
    given = _given(arguments)
    if given.game is not None or given.local:
        from ttt_net.client import named
    engines = engines_given(given)
    inquiry = inquiry_of(given)
    preferences = load_preferences() if given.bot is None and engines is None else Preferences()
    usual = _usual_game(preferences)
    game = named.checked_game(given.game) if given.game is not None else None
    url, code = read_address(given.url) if given.url is not None else Address(DEFAULT_URL)
    code = code_of(given.join) if given.join is not None else code
    if code is not None:
        _check_join(given, code)
    return Options(
        url=url,
        trust=trust_of(url, given.tls_fingerprint, is_insecure=given.insecure),
        is_address_given=given.url is not None,
        name=clean(given.name, 80) if given.name is not None else None,
        is_guest=given.guest,
        join=code,
        is_inviting=given.invite,
        inquiry=inquiry,
        local=named.local_of(given, game or usual) if given.local else None,
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
        is_quiet=given.quiet or not preferences.sounds,
        theme=checked_theme(given.theme, "--theme") if given.theme is not None else preferences.theme,
        keys=preferences.keys,
        usual_game=usual,
        seed=given.seed,
        level=given.level,
        move_ms=given.move_time or DEFAULT_MOVE_MS,
        pace_ms=given.pace or 0,
        places=places_of(given),
        reserve=given.reserve or 0,
    )


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments after checking that they fit together. Exits after printing help or the version."""
    parser = make_parser()
    given = parser.parse_intermixed_args(arguments)
    given.url = None
    if given.words or given.game is not None or given.local:
        from ttt_net.client import named

        named.sort_words(given)
    if given.help:
        ShortHelp([], "help")(parser, given, None)
    if "version" in vars(given):
        parser.parse_args(["--version"])
    if given.name is not None and not clean(given.name, 80):
        raise ConfigurationError(f"--name: a name is {RULE}")
    check_company(given)
    check_bot(given)
    return given


def _usual_game(preferences: Preferences) -> str:
    """Return the game that a person plays if they name no other."""
    if preferences.game is None:
        return DEFAULT_GAME
    from ttt_net.client import named

    try:
        return named.checked_game(preferences.game)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path_of_preferences()}: {error}") from None


def against_computer(options: Options, place: Alone, rng: random.Random) -> Options:
    """Return the options of a match against the computer at this keyboard, chosen from a menu."""
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
    from ttt_net.client import named

    return replace(options, local=named.match_here(game, players, names))


TOURNAMENT_CODE = 5
"""The letters of a tournament's code; an invitation has six."""


def _check_join(given: argparse.Namespace, code: str) -> None:
    """Raise `ConfigurationError` for options that a code determines, or that lead elsewhere."""
    if given.invite:
        raise ConfigurationError("--join takes an invitation up, --invite makes one; choose one of them")
    is_bot = given.bot is not None or given.engine is not None or given.engines is not None
    if is_bot and len(code) != TOURNAMENT_CODE:
        raise ConfigurationError("an invitation is for people; a bot joins by the code of a tournament")
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
    play.add_argument("--guest", action="store_true", help="play as a guest, under a name that the server makes up")
    play.add_argument("--game", help="tictactoe, connect4, mnk:15x15,5 (default: tictactoe; a bot: any)")
    play.add_argument("--time", metavar="M+S", help="a clock: minutes each, and seconds for every move, as 3+2 or 3")
    play.add_argument(
        "--opponents",
        choices=("any", "people", "bots"),
        help="who is paired with you (default: people; bots are offered)",
    )
    play.add_argument("--invite", action="store_true", help="print an invitation code, and wait for who joins")
    play.add_argument("--join", metavar="CODE", help="join the match or tournament of a code; bots: a tournament")
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
    group.add_argument("--json", action="store_true", help="write events as JSON lines, then a summary")
    group.add_argument("--theme", metavar="NAME", help=f"the colours: {', '.join(THEME_NAMES)}")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument("--quiet", action="store_true", help="no bell and no title when it becomes your turn")


def _time(text: str) -> TimeControl:
    time = time_of(text)
    if time is None:
        raise ConfigurationError(f"--time {clean(text, 20)}: {TIME_FORM}")
    return time
