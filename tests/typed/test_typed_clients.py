"""Types of the protocol that others generate from the published files are whole: a client written with them plays.

`npm ci --prefix tests/typed` installs what these tests need; .ci/run does so, and fails if one of them is skipped.
"""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S
from tests.server.running import running

HERE = Path(__file__).parent
TOOLS = HERE / "node_modules"
STRICT = ("--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom")

pytestmark = pytest.mark.long


def done(*command: str | Path, code: int = 0) -> str:
    if shutil.which("node") is None or not TOOLS.is_dir():
        pytest.skip("npm ci --prefix tests/typed installs what this test needs")
    run = subprocess.run(
        ["node", *map(str, command)], capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=HERE
    )
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the generated types and the client."""
    folder = tmp_path_factory.mktemp("typed")
    for name in ("requests", "server-messages"):
        schema = ROOT / "docs" / f"{name}.schema.json"
        done(TOOLS / ".bin" / "json2ts", "-i", schema, "-o", folder / f"{name}.ts")
    shutil.copy(HERE / "client.ts", folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return folder


def compiled(project: Path, name: str, code: int = 0) -> str:
    return done(TOOLS / ".bin" / "tsc", *STRICT, "--outDir", project / "built", project / name, code=code)


def test_no_type_is_lost_on_the_way(project: Path) -> None:
    types = "".join((project / f"{name}.ts").read_text(encoding="utf-8") for name in ("requests", "server-messages"))
    assert "export type Request =" in types
    assert "export type ServerMessage =" in types
    assert re.findall(r"^  \w+\??: (?:never|unknown).*", types, flags=re.MULTILINE) == []


async def test_clients_with_generated_types_play_a_whole_match(project: Path, tmp_path: Path) -> None:
    compiled(project, "client.ts")
    async with running(tmp_path) as server, asyncio.timeout(PATIENCE_S):
        client = ["node", "--experimental-websocket", str(project / "built" / "client.js"), server.url]
        players = [
            await asyncio.create_subprocess_exec(*client, name, stdout=asyncio.subprocess.PIPE)
            for name in ("Ann", "Bob")
        ]
        said = [(await player.communicate())[0].decode() for player in players]
    assert [player.returncode for player in players] == [0, 0], said
    assert all({"Ann", "Bob"} == set(line.split()[-2:]) for line in said), said


WRONG = ('{ type: "play", match: "m1", ply: 0 }', '{ type: "seek", games: "connect4" }', '{ type: "nonesuch" }')


def test_wrong_requests_are_found_by_the_compiler(project: Path) -> None:
    source = (project / "client.ts").read_text(encoding="utf-8")
    first = len(source.splitlines()) + 1
    (project / "wrong.ts").write_text("\n".join((source, *(f"say({wrong});" for wrong in WRONG))), encoding="utf-8")
    found = {
        line.partition(",")[0].rpartition("/")[2]
        for line in compiled(project, "wrong.ts", code=2).splitlines()
        if line[0] != " "
    }
    assert found == {f"wrong.ts({first + number}" for number in range(1, 4)}


def test_the_asyncapi_document_is_valid_and_its_validator_finds_errors(tmp_path: Path) -> None:
    document = json.loads((ROOT / "docs" / "asyncapi.json").read_text(encoding="utf-8"))
    count = len(document["components"]["messages"])
    assert done("asyncapi.mjs", ROOT / "docs" / "asyncapi.json") == f"valid: {count} messages\n"
    document["operations"]["tell"]["action"] = "shout"
    broken = tmp_path / "asyncapi.json"
    broken.write_text(json.dumps(document), encoding="utf-8")
    assert "operations/tell/action" in done("asyncapi.mjs", broken)
