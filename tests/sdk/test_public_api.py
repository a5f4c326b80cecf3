"""The public names, as docs/developing/public-api.txt lists them; `UPDATE_GOLDENS=1 pytest` writes the file anew.

A change here is one that programs of others see: a name or argument that goes is a new major version.
"""

import dataclasses
import enum
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ttt_net import games, sdk

PAGE = Path(__file__).parents[2] / "docs" / "developing" / "public-api.txt"


def taken_by(function: Any) -> str:
    """Return the signature, without the address of a function that is a default."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", str(inspect.signature(function)))


def parts_of(name: str, public: object) -> Iterator[str]:
    """Yield a public name with what it takes, and the public members of a class."""
    if not inspect.isclass(public) or public.__module__ == "builtins":
        yield f"{name}{taken_by(public)}" if inspect.isroutine(public) else name
        return
    bases = ", ".join(base.__name__ for base in public.__bases__)
    yield f"class {name}({bases})"
    if issubclass(public, enum.Enum):
        return  # docs/protocol.md lists the codes, and programs have to expect new ones
    fields = {field.name for field in dataclasses.fields(public)} if dataclasses.is_dataclass(public) else set()
    for member in sorted({*fields, *(each for each in vars(public) if not each.startswith("_"))}):
        value = inspect.getattr_static(public, member, None)
        taken = taken_by(value) if inspect.isfunction(value) else ""
        yield f"{name}.{member}{taken}"


PUBLIC = {"sdk": sdk.PUBLIC, "games": games.__all__, "environments": None, "testing": ("check_game", "count_plays")}
"""The public modules, each with its public names; that of environments needs the extra `learn`."""


def listing(name: str) -> str:
    """Return the lines of one module."""
    module = pytest.importorskip(f"ttt_net.{name}", reason="the extra `learn` is not installed", exc_type=ImportError)
    public = PUBLIC[name] or module.__all__
    parts = (parts_of(f"ttt_net.{name}.{each}", getattr(module, each)) for each in public)
    return "".join(f"{line}\n" for lines in parts for line in lines)


def is_of(line: str, name: str) -> bool:
    return line.removeprefix("class ").startswith(f"ttt_net.{name}.")


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_interface_is_the_one_that_is_listed(name: str) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    if os.environ.get("UPDATE_GOLDENS"):
        kept = {each: "".join(line for line in lines if is_of(line, each)) for each in PUBLIC}
        PAGE.write_text("".join((kept | {name: listing(name)}).values()), encoding="utf-8")
        return
    assert "".join(line for line in lines if is_of(line, name)) == listing(name)
    assert all(any(is_of(line, each) for each in PUBLIC) for line in lines)


def test_every_public_name_is_documented_and_there_is_no_other() -> None:
    assert all(inspect.getdoc(getattr(sdk, name)) for name in sdk.PUBLIC)
    assert set(sdk.PUBLIC) <= set(dir(sdk))
    with pytest.raises(AttributeError, match="has no attribute 'anything'"):
        _ = sdk.anything
