"""Define a setting of the server: name, default, bounds, help, and the conversion of its values."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

_PERIODS = {"s": 1.0, "min": 60.0, "h": 3_600.0}
_WRITTEN = re.compile(r"(\d{1,9})/(\d{0,4})(s|min|h)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rate:
    """A burst of `count` actions, and the same number again per period."""

    count: int
    period_s: float = 1.0

    @classmethod
    def of(cls, text: str) -> "Rate":
        """Return the rate of a text such as `20/s`, `10/min` or `5/10s`. Raises `ValueError` if the text is invalid."""
        found = _WRITTEN.fullmatch(text.strip())
        if not found or int(found[1]) == 0 or found[2] == "0":
            raise ValueError(f"{text!r} is no rate; write 20/s, 10/min, 5/10s or 100/h")
        return cls(int(found[1]), int(found[2] or 1) * _PERIODS[found[3]])

    @property
    def per_s(self) -> float:
        """The number per second."""
        return self.count / self.period_s

    def __str__(self) -> str:
        """Return the text that `of` reads."""
        for unit, seconds in reversed(_PERIODS.items()):
            if self.period_s % seconds == 0:
                periods = int(self.period_s / seconds)
                return f"{self.count}/{periods if periods > 1 else ''}{unit}"
        return f"{self.count}/{self.period_s:g}s"


Value = bool | int | float | str | Path | Rate | tuple[str, ...] | None
T = TypeVar("T")
_ENTRY = "ttt_net"
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
METAVARS: dict[object, str] = {
    bool: "",
    bool | None: "",
    int: "N",
    float: "X",
    str: "TEXT",
    Path | None: "PATH",
    Rate: "RATE",
    tuple[str, ...]: "LIST",
}
"""The possible types of a setting, and the placeholder for a value of each."""


def setting(
    default: T,
    help: str,
    *,
    least: float = 0,
    most: float = 10**9,
    choices: tuple[str, ...] = (),
    check: Callable[[str], object] | None = None,
    shown: Callable[[str], str] | None = None,
    is_common: bool = False,
    is_live: bool = True,
) -> T:
    """Return a field of a frozen dataclass that is a setting, with bounds for numbers and choices for words.

    `check` is called with each word of a list, or with a text; it rejects the value with `ValueError`. `shown` returns
    such a word for printing, without secrets. Help lists common settings first. Live settings are read whenever they
    are needed, so they can change while the server runs.
    """
    entry = {
        "help": help,
        "least": least,
        "most": most,
        "choices": choices,
        "check": check,
        "hide": shown,
        "is_common": is_common,
        "is_live": is_live,
    }
    return field(default=default, metadata={_ENTRY: entry})


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. Its key is `port`, or `limits.max_connections` for one in a table; other names follow from it."""

    key: str
    kind: Any
    default: Value
    help: str
    least: float
    most: float
    choices: tuple[str, ...]
    check: Callable[[str], object] | None
    hide: Callable[[str], str] | None
    """Returns a word of the value for printing, without secrets; None if nothing in it can be secret."""
    is_common: bool
    """Whether it is one of the few settings that most hosts need; `--help` lists only these."""
    is_live: bool
    """Whether SIGHUP changes it; otherwise it takes effect at the next start."""

    @property
    def is_truth(self) -> bool:
        """Whether it is true or false; if None is allowed, it stands for a default that depends on other settings."""
        return self.kind in (bool, bool | None)

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.key.replace(".", "-").replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "TTT_NET_" + self.key.replace(".", "_").upper()

    @property
    def table(self) -> str:
        """The table of the file that it is in; empty for the first."""
        return self.key.rpartition(".")[0]

    def shown(self, value: Value) -> str:
        """Return a value in TOML, without secrets."""
        return as_toml(tuple(map(self.hide, value)) if self.hide and isinstance(value, tuple) else value)

    def read(self, given: object) -> Value:
        """Return the value of a text or a TOML file. Raises `ValueError`, with the allowed values, if it is invalid."""
        if self.kind == bool | None and given == "":
            return None
        if self.is_truth:
            return _truth(given)
        if self.kind is int or self.kind is float:
            return self._number(given)
        if self.kind == tuple[str, ...]:
            words = _words(given)
            if self.check:
                for word in words:
                    self.check(word)
            return words
        if not isinstance(given, str):
            raise ValueError(f"{given!r} is no text; write it in quotation marks")
        if any(ord(character) < 32 for character in given):
            raise ValueError(f"{given!r} has control characters")
        if self.kind is Rate:
            return Rate.of(given)
        if self.kind == Path | None:
            return Path(given).expanduser() if given else None
        if self.choices and given not in self.choices:
            raise ValueError(f"{given!r} is none of {', '.join(self.choices)}")
        if self.check and given:
            self.check(given)
        return given

    def _number(self, given: object) -> int | float:
        wanted = "whole number" if self.kind is int else "number"
        try:
            if isinstance(given, bool) or not isinstance(given, (int, float, str)):
                raise TypeError
            if self.kind is int and isinstance(given, float):
                raise TypeError
            number: int | float = int(given) if self.kind is int else float(given)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{given!r} is no {wanted}") from None
        if math.isnan(number) or not self.least <= number <= self.most:
            raise ValueError(f"{given} is out of range; {self.least:,g} to {int(self.most):,}")
        return number


def settings_of(kind: type, table: str = "") -> Iterator[Setting]:
    """Yield the settings of a dataclass, those of the dataclasses in it after its own; their names are the tables."""
    assert is_dataclass(kind)
    inner = []
    for each in fields(kind):
        if _ENTRY in each.metadata:
            yield Setting(table + each.name, each.type, cast(Value, each.default), **each.metadata[_ENTRY])
        else:
            inner.append(each)
    for each in inner:
        yield from settings_of(cast(type, each.type), f"{each.name}.")


def as_toml(value: Value) -> str:
    """Return the value in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple():
            return f"[{', '.join(map(_quoted, value))}]"
        case None:
            return '""'
        case _:
            return _quoted(str(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _truth(given: object) -> bool:
    truth = given if isinstance(given, bool) else _TRUTHS.get(given.lower()) if isinstance(given, str) else None
    if truth is None:
        raise ValueError(f"{given!r} is neither true nor false")
    return truth


def _words(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return tuple(word.strip() for word in given.split(",") if word.strip())
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        return tuple(given)
    raise ValueError(f"{given!r} is no list of texts")
