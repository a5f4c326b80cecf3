"""Print the lowest versions that pyproject.toml allows, as constraints for pip: `lowest.py EXTRA,EXTRA`."""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BOUND = re.compile(r"([\w-]+)(?:\[([\w,]+)\])?(?:>=([\d.]+))?")


def lowest(project: Mapping[str, object], extras: Sequence[str]) -> dict[str, str]:
    """Return the lower bound of each dependency of a player and of these extras; of two bounds, the higher one."""
    found: dict[str, str] = {}
    for name, bound in _bounds(project, extras):
        found[name] = max(bound, found.get(name, bound), key=lambda version: [*map(int, version.split("."))])
    return found


def _bounds(project: Mapping[str, object], extras: Sequence[str]) -> Iterator[tuple[str, str]]:
    by_extra = project["optional-dependencies"]
    assert isinstance(by_extra, dict)
    wanted = [project["dependencies"], *(by_extra[extra] for extra in extras)]
    for dependency in (each for dependencies in wanted for each in dependencies):
        name, inner, bound = _BOUND.match(dependency).groups()  # type: ignore[union-attr]
        if name == project["name"]:
            yield from _bounds(project, inner.split(","))
        else:
            assert bound, f"{dependency} has no lower bound"
            yield name, bound


if __name__ == "__main__":
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package, version in lowest(described, sys.argv[1].split(",")).items():
        print(f"{package}=={version}")
