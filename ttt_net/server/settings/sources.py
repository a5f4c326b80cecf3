"""Read the configuration: flags over environment over a TOML file over the defaults."""

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import ttt_net
from ttt_net.command_line import SERVE, SERVER, OptionParser, meant
from ttt_net.errors import ConfigurationError
from ttt_net.server.settings.configuration import METAVARS, SETTINGS, Configuration, Rate, Setting, Value, as_toml
from ttt_net.text import clean

CONFIG_VARIABLE = "TTT_NET_CONFIG"
MAX_FILE_BYTES = 1_000_000
MAX_RATE = 1_000_000
CHECK = "check"
_AS_FLAGS = {"help": "--help", "version": "--version"}
"""Words that act as the flag of the same name."""
NOT_OURS = {CONFIG_VARIABLE, "TTT_NET_HOME", "TTT_NET_MOTION", "TTT_NET_RULES", "TTT_NET_REQUIRE_ALL"}
"""Variables that begin like a setting but are not settings of the server."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The command line: a configuration, and whether to run, print or check it."""

    configuration: Configuration
    is_check: bool = False
    """Whether to report errors and risks instead of serving."""
    is_print: bool = False
    """Whether to print the configuration as a file instead of serving."""
    file: Path | None = None
    """The file that was read, if any."""


def read_order(arguments: Sequence[str], environment: Mapping[str, str]) -> LaunchOptions:
    """Return the options and settings from the command line, the environment and the file that they name.

    Raises `ConfigurationError` with the place if a key is unknown or a value is invalid.
    """
    first = arguments[0] if arguments else ""
    if first in _AS_FLAGS:
        arguments = [_AS_FLAGS[first], *arguments[1:]]
    elif first and not first.startswith("-") and first != CHECK:
        port = f"; a port is given with --port {clean(first, 10)}" if first.isdecimal() else ""
        likely = port or meant(first, (CHECK, *_AS_FLAGS)) or "; it takes check, or options"
        raise ConfigurationError(f"unknown verb {clean(first, 40)}{likely}; see {SERVER} --help")
    is_check = first == CHECK
    given = vars(make_parser().parse_args(arguments[1:] if is_check else arguments))
    file = given["config"] or environment.get(CONFIG_VARIABLE)
    values: dict[str, Value] = {each.key: each.default for each in SETTINGS}
    if file:
        values |= _from_file(Path(file))
    values |= _from_environment(environment)
    values |= _from_flags(given)
    return LaunchOptions(configured(values), is_check, given["print_config"], Path(file) if file else None)


def configured(values: Mapping[str, Value]) -> Configuration:
    """Return the configuration with these values by key."""
    tables: dict[str, dict[str, Any]] = {}
    for each in SETTINGS:
        tables.setdefault(each.table, {})[each.key.rpartition(".")[2]] = values[each.key]
    top = tables.pop("")
    kinds: dict[str, Any] = {each.name: each.type for each in fields(Configuration)}
    return Configuration(**top, **{name: kinds[name](**inner) for name, inner in tables.items()})


def value_of(configuration: Configuration, one: Setting) -> Value:
    """Return the configured value of the setting."""
    value: Any = configuration
    for name in one.key.split("."):
        value = getattr(value, name)
    return value  # type: ignore[no-any-return]


def as_file(configuration: Configuration) -> str:
    """Return the configuration as a commented TOML file; default values are commented out."""
    lines = [
        f"# The configuration of a ttt_net server: {SERVE} --config FILE.",
        "# Flags and environment variables win over it. Lines commented out are defaults.",
    ]
    table = ""
    for each in SETTINGS:
        if each.table != table:
            table = each.table
            lines += ["", f"[{table}]"]
        value = value_of(configuration, each)
        mark = "# " if value == each.default else ""
        lines += ["", f"# {each.help}"]
        if each.shown(value) != as_toml(value):
            lines += ["# Users and passwords are left out here; add them."]
        lines += [f"{mark}{each.key.rpartition('.')[2]} = {each.shown(value)}"]
    return "\n".join(lines) + "\n"


class _HelpAll(argparse.Action):
    """Prints the help with all settings, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the help, and exit."""
        make_parser(is_whole=True).print_help()
        parser.exit()


def make_parser(*, is_whole: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the command line. Its help lists all settings, or only the common ones."""
    parser = OptionParser(
        prog=SERVER,
        usage="%(prog)s [check] [--config FILE] [--SETTING VALUE ...]",
        description="Host matches of tic-tac-toe and its family, for people and bots over a network.",
        epilog="Each setting is also an environment variable (--port: TTT_NET_PORT) and a key of the file. Flags win "
        "over the environment, which wins over the file. docs/configuration.md lists all settings. `%(prog)s check` "
        "reports risky and wrong settings: exit code 0 none, 1 risky, 2 wrong.",
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help="show common settings")
    parser.add_argument(
        "--version", action="version", version=f"ttt_net {ttt_net.__version__}", help="print the version"
    )
    parser.add_argument("--help-all", action=_HelpAll, nargs=0, help=f"show all {len(SETTINGS)} settings")
    parser.add_argument("--config", metavar="FILE", help="read settings from a TOML file")
    parser.add_argument("--print-config", action="store_true", help="print the settings as a commented file, and exit")
    tables = dict.fromkeys(each.table for each in SETTINGS)
    groups = {table: parser.add_argument_group(table or "settings") for table in tables}
    for each in SETTINGS:
        _add(groups[each.table], each, is_shown=is_whole or each.is_common)
    text = "short for --limits-messages 2X/2s: messages per second" if is_whole else argparse.SUPPRESS
    groups[""].add_argument("--rate", metavar="X", help=text)
    return parser


def _add(group: argparse._ArgumentGroup, one: Setting, *, is_shown: bool) -> None:
    has_default = not one.is_truth and one.default not in (None, "", ())
    default = f" (default: {as_toml(one.default).strip(chr(34))})" if has_default else ""
    text = (one.help + default).replace("%", "%%") if is_shown else argparse.SUPPRESS
    if one.is_truth:
        group.add_argument(one.flag, dest=one.key, action=argparse.BooleanOptionalAction, help=text)
        return
    metavar = "|".join(one.choices) or METAVARS[one.kind]
    group.add_argument(one.flag, dest=one.key, metavar=metavar, help=text)


def _from_flags(given: Mapping[str, object]) -> Iterator[tuple[str, Value]]:
    if given["rate"] is not None:
        yield "limits.messages", _messages(str(given["rate"]))
    for each in SETTINGS:
        if given[each.key] is not None:
            yield each.key, _read(each, given[each.key], each.flag)


def _messages(text: str) -> Rate:
    try:
        per_s = float(text)
    except ValueError:
        per_s = 0.0
    if not 1 <= per_s <= MAX_RATE:
        raise ConfigurationError(f"--rate {text}: a number of messages per second, 1 to {MAX_RATE:,}")
    return Rate(int(2 * per_s), 2.0)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Value]]:
    known = {each.variable: each for each in SETTINGS}
    for name, text in environment.items():
        if name in known:
            yield known[name].key, _read(known[name], text, name)
        elif name.startswith("TTT_NET_") and name not in NOT_OURS:
            raise ConfigurationError(f"{name}: there is no such setting; {SERVER} --print-config lists them")


def _from_file(path: Path) -> Iterator[tuple[str, Value]]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise ConfigurationError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
        tables = tomllib.loads(content.decode())
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigurationError(f"{path}: {str(error).splitlines()[0]}") from None
    known = {each.key: each for each in SETTINGS}
    for key, given in _flat(tables):
        if key not in known:
            raise ConfigurationError(f"{path}: {key}: there is no such setting; {SERVER} --print-config lists them")
        yield key, _read(known[key], given, f"{path}: {key}")


def _flat(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    names = {each.table for each in SETTINGS}
    for key, given in tables.items():
        if key in names and isinstance(given, dict):
            yield from ((f"{key}.{inner}", value) for inner, value in given.items())
        else:
            yield key, given


def _read(one: Setting, given: object, place: str) -> Value:
    try:
        return one.read(given)
    except ValueError as error:
        raise ConfigurationError(f"{place}: {error}") from None
