"""The container's files, as far as they can be tried without a container: what they say is true of the program."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S
from ttt_net.server.settings.sources import read_order

FOLDER = ROOT / "docs" / "hosting" / "container"
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (FOLDER / "compose.yaml").read_text(encoding="utf-8")


def test_the_image_contains_existing_files_and_no_others() -> None:
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    ]
    lock = "docs/hosting/requirements.lock"
    assert copied == [lock, "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "ttt_net", "examples/bots"]
    assert all((ROOT / name).exists() for name in copied)
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}
    assert "*" in ignored


def test_a_wheel_can_be_built_of_the_files_in_the_image(tmp_path: Path) -> None:
    source = tmp_path / "src"
    for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE):
        *names, target = line.split()
        for name in names:
            place = source / (target if target != "./" else Path(name).name)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, place)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)]
    built = subprocess.run(build, capture_output=True, text=True, check=False, timeout=10 * PATIENCE_S)
    assert built.returncode == 0, built.stdout + built.stderr


def test_the_image_has_the_engine_in_the_versions_of_the_lock() -> None:
    assert "--require-hashes -r requirements.lock" in DOCKERFILE
    assert "--no-deps '.[host]'" in DOCKERFILE
    assert "\nnumba==" in (ROOT / "docs" / "hosting" / "requirements.lock").read_text(encoding="utf-8")


def test_the_server_in_it_runs_as_a_user_of_its_own_and_is_asked_for_its_health() -> None:
    assert re.search(r"^USER ttt_net$", DOCKERFILE, re.MULTILINE)
    assert "/healthz" in DOCKERFILE
    assert "read_only: true" in COMPOSE
    assert "cap_drop: [ALL]" in COMPOSE


def test_the_server_takes_the_command_lines_of_both_files() -> None:
    started = json.loads(re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])
    assert read_order(started, {"TTT_NET_DATA": "/data"}).configuration.host == "0.0.0.0"
    composed = json.loads(re.findall(r"command: (\[\"--host.*\])", COMPOSE)[0])
    configuration = read_order(composed, {"TTT_NET_DATA": "/data"}).configuration
    assert (configuration.public, configuration.behind_proxy, configuration.announce) == (True, True, False)
    assert configuration.proxies == ("172.30.0.0/24",)
    assert shlex.join(composed).count("--") == 5
