"""Both archives are built, contain the files that the docs name, and pass the index's own checks."""

import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from hashlib import sha256
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S

EPOCH = "1790000000"
FORGE = "https://forge.example/them/ttt_net"
RELEASE = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "developing" / "release.py")))
LOCK = ROOT / "docs" / "hosting" / "requirements.lock"


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel and the sdist, newly built."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    told = {**os.environ, "TTT_NET_FORGE": FORGE, "TTT_NET_REF": "v1.2.3", "SOURCE_DATE_EPOCH": EPOCH}
    built = subprocess.run(build, env=told, capture_output=True, text=True, timeout=10 * PATIENCE_S, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def test_an_index_would_take_both(archives: tuple[Path, Path]) -> None:
    check = [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)]
    checked = subprocess.run(check, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_page_of_an_index_has_no_link_that_leads_nowhere(archives: tuple[Path, Path]) -> None:
    """An index shows the README alone: its links and images are addresses, of files that there are."""
    with zipfile.ZipFile(archives[0]) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        told = wheel.read(name).decode()
    links = re.findall(r"\]\(([^)\s]+)\)", told)
    assert len(links) > 10
    assert [link for link in links if not link.startswith(("https:", "http:", "#"))] == []
    named = [re.match(rf"{FORGE}/(?:blob|raw)/v1\.2\.3/([^#]+)", link) for link in links if link.startswith(FORGE)]
    assert all(found and (ROOT / found[1]).is_file() for found in named), links
    assert f"{FORGE}/raw/v1.2.3/docs/demo.svg" in links
    for line in ("Homepage, " + FORGE, f"Issues, {FORGE}/issues", f"Changelog, {FORGE}/blob/v1.2.3/CHANGELOG.md"):
        assert f"\nProject-URL: {line}\n" in told


def test_the_wheel_contains_the_files_of_servers_and_engines(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[0]) as wheel:
        names = set(wheel.namelist())
    built = {f"ttt_net/web/built/{path.name}" for path in (ROOT / "ttt_net" / "web" / "built").iterdir()}
    projects = {
        f"ttt_net/commands/projects/{name}" for name in ("python/bot.py", "node/bot.js", "go/main.go", "c/bot.c")
    }
    assert (
        built | projects | {"ttt_net/strategies/connect4.book", "ttt_net/names/alike.txt", "ttt_net/py.typed"} <= names
    )
    assert not [name for name in names if name.startswith("tests/") or "node_modules" in name]


def test_a_release_is_built_the_same_twice_and_its_files_have_to_agree(
    archives: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTT_NET_FORGE", FORGE)
    monkeypatch.setenv("TTT_NET_REF", "v1.2.3")
    again = RELEASE.build(ROOT, tmp_path / "again", EPOCH)
    built = {path.name: sha256(path.read_bytes()).hexdigest() for path in archives}
    assert RELEASE.differing(built, again) == []
    assert RELEASE.differing(again, {**again, next(iter(again)): "0"}) == [next(iter(again))]

    (tmp_path / "ttt_net").mkdir()
    (tmp_path / "ttt_net" / "__init__.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("## [0.3.0] - Unreleased\n")
    assert len(RELEASE.objections("0.3.0", tmp_path)) == 2
    assert RELEASE.number("0.3.0", tmp_path, "2026-12-01")
    assert RELEASE.objections("0.3.0", tmp_path) == []
    assert not RELEASE.number("0.3.0", tmp_path, "2026-12-02"), "the date stays"
    for heading, faults in (("## [0.3.0] - Unreleased\n", 1), ("## [0.3.0] - 2026-12-01\n", 0)):
        (tmp_path / "CHANGELOG.md").write_text(heading)
        assert len(RELEASE.objections("0.3.0", tmp_path)) == faults
    assert len(RELEASE.objections("v0.3", tmp_path)) == 3

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    git("init", "--initial-branch", "main")
    assert RELEASE.objections_of_git("0.3.0", tmp_path) == ["there are changes that are not committed"]


def test_the_sdist_has_every_file_that_the_docs_name(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    named = {
        (page.parent / link.partition("#")[0]).resolve().relative_to(ROOT).as_posix()
        for page in pages
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:|#", link)
    }
    files = {name for name in named if (ROOT / name).is_file()}
    assert len(files) > 20
    assert files <= names
    assert {"Makefile", "server.py", "client.py", ".ci/run", "tests/conftest.py"} <= names


def test_the_lock_and_the_page_of_licences_name_all_installed_packages() -> None:
    """A dependency that is new has to be locked (`make lock`) and its licence told."""
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)}
    licences = (LOCK.parent / "licences.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.findall(r"--extra (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    needed = chain(project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras))
    wanted = {re.match(r"[\w-]+", each)[0].lower().replace("_", "-") for each in needed}  # type: ignore[index]
    assert {"websockets", "numba", "uvloop"} <= wanted
    assert wanted <= locked
    assert {name for name in locked if f"`{name}`" not in licences} == set()


def test_the_workflow_calls_what_there_is_and_publishes_only_behind_the_environment() -> None:
    """Nobody has run it: the forge is not there. So its commands, files and order are held here."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in jobs.items():
        needed = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        assert set(needed) <= set(jobs), name
        writes = [what for what, how in job.get("permissions", {}).items() if how == "write" and what != "id-token"]
        assert not set(writes) - {"attestations"} or "environment" in job, name
        assert "environment" not in job or job["if"] == "startsWith(github.ref, 'refs/tags/v')", name
    targets = re.findall(r"^([a-z-]+):.*?## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    steps = [step for job in jobs.values() for step in job["steps"]]
    made = " ".join(re.findall(r"^make (.+)$", "\n".join(step.get("run", "") for step in steps), re.MULTILINE)).split()
    assert made == ["lowest", "dist", "sbom", "site"]
    assert set(made) <= set(targets)
    (image,) = [step["with"] for step in steps if "build-push-action" in step.get("uses", "")]
    assert (ROOT / image["file"]).is_file()
    dockerfile = (ROOT / image["file"]).read_text(encoding="utf-8")
    assert f"ARG {image['build-args'].partition('=')[0]}=python:3.13-slim\n" in dockerfile
    assert all(re.search(r"@(v\d+|release/v\d+)$", step["uses"]) for step in steps if "uses" in step)
