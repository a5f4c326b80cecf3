"""The docs are true and readable: generated pages are up to date, links work, sentences are plain."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft7Validator

from ttt_net.__main__ import VERBS
from ttt_net.errors import Advice, Closing, Code
from ttt_net.messages import PROTOCOL
from ttt_net.server.cluster.log import FORM
from ttt_net.server.journal.schema import OLDEST, SCHEMA_VERSION
from ttt_net.server.settings.configuration import SETTINGS

ROOT = Path(__file__).parent.parent
MOST_WORDS = 35


def load(path: Path) -> ModuleType:
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # one script of docs may import another
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


HOUSE = load(ROOT / "docs" / "developing" / "house.py")
LOWEST = load(ROOT / "docs" / "developing" / "lowest.py")


@pytest.mark.parametrize(
    "name", ["protocol.md", "requests.schema.json", "server-messages.schema.json", "asyncapi.json"]
)
def test_the_generated_pages_are_as_make_docs_writes_them(name: str) -> None:
    generated = load(ROOT / "docs" / "write_protocol.py").generated()
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generated[ROOT / "docs" / name]


def test_the_types_of_the_page_are_as_make_docs_writes_them() -> None:
    page = load(ROOT / "docs" / "write_page_types.py")
    assert page.TARGET.read_text(encoding="utf-8") == page.types()


def test_the_page_of_settings_is_as_make_docs_writes_it() -> None:
    page = load(ROOT / "docs" / "write_configuration.py")
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == page.page()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("client.svg", "Your turn"),
        ("lobby.svg", "Being played"),
        ("tournament.svg", "Standings"),
        ("king.svg", "Next at the table"),
    ],
)
def test_the_pictures_of_the_client_show_it_as_it_is(name: str, words: str) -> None:
    """The words of the pictures; their shapes may change with a release of rich."""
    drawn = load(ROOT / "docs" / "write_picture.py").pictures()[name]
    kept = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert re.findall(r">([^<>]+)</text>", kept) == re.findall(r">([^<>]+)</text>", drawn)
    assert words in kept
    assert "http" not in kept.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")


def test_contact_sheets_show_every_game_in_every_kind_of_terminal() -> None:
    picture = load(ROOT / "docs" / "write_picture.py")
    displays = [picture.after(name, 3) for name in ("connect4", "ultimate")]
    drawn = {name: picture.sheet_of(displays, (120, 40), *each) for name, each in picture.CAPABILITIES.items()}
    assert len(set(drawn.values())) == len(drawn) == 11
    for sheet in drawn.values():
        assert "Connect Four" in sheet
        assert "Ultimate tic-tac-toe" in sheet
    assert set(picture.NAMES) >= {"connect4", "ultimate", "gomoku", "qubic"}


def test_the_film_of_the_demo_shows_it_as_it_is_and_weighs_little() -> None:
    drawn = load(ROOT / "docs" / "write_film.py").film()
    kept = (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")
    assert re.findall(r">([^<>]+)</text>", kept) == re.findall(r">([^<>]+)</text>", drawn)
    for words in (
        "The plug is pulled",
        "all 6 moves are there, nothing is lost",
        "0 moves lost",
        "python client.py --host",
    ):
        assert words in kept
    assert len(kept) < 160_000
    assert "prefers-reduced-motion" in kept


def pages() -> list[Path]:
    return HOUSE.pages_of(ROOT)  # type: ignore[no-any-return]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=named)
def test_pages_are_in_plain_english(page: Path) -> None:
    """No sentence begins with a free "Who ..." or "What ...", and none has more than 35 words."""
    prose = HOUSE.prose_of(page.read_text(encoding="utf-8"))
    too_long = [each for each in HOUSE.sentences(prose) if len(each.split()) > MOST_WORDS]
    assert HOUSE.free_relatives(prose) + too_long == []


def test_the_site_has_every_page_and_moves_its_links() -> None:
    site = load(ROOT / "docs" / "write_site.py")
    _, _, *sections = site.navigation()
    named = {
        place for section in sections for entries in section.values() for entry in entries for place in entry.values()
    }
    wanted = {page.relative_to(ROOT).as_posix() for page in pages() if not page.name.endswith(".template.md")}
    assert {site.place_of(path) for path in wanted} <= named | {"index.md", "contents.md"}
    text, outside = site.with_links("[a](../CONTRIBUTING.md#x) [b](security.md) [c](https://a.b/c.md)", "docs/api.md")
    assert (text, outside) == ("[a](CONTRIBUTING.md#x) [b](security.md) [c](https://a.b/c.md)", {"CONTRIBUTING.md"})
    text, outside = site.with_links("[d](docs/developing/testing.md) [e](docs/index.md)", "README.md")
    assert (text, outside) == ("[d](developing/testing.md) [e](contents.md)", set())


def test_the_page_of_versions_has_those_of_the_program() -> None:
    told = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"| protocol | {PROTOCOL} |" in told
    assert f"| journal | schema {SCHEMA_VERSION} |" in told
    assert f"schemas {OLDEST} to {SCHEMA_VERSION - 1} are upgraded" in told
    assert f"| log of a cluster | form {FORM} |" in told
    assert f"| Python | {project['requires-python'].removeprefix('>=')} to" in told
    bounds = LOWEST.lowest(project, ["player"]), LOWEST.lowest(project, ["host"])
    assert f"needs websockets\n{bounds[0]['websockets']}" in told
    assert f"asks for {bounds[1]['websockets']}." in told


def test_lower_bounds_are_those_of_the_extras_too() -> None:
    project = {
        "name": "us",
        "dependencies": ["a>=1.9", "b_c>=2"],
        "optional-dependencies": {"x": ["us[y,z]", "a>=1.10"], "y": ["d[e]>=3; platform_system != 'Windows'"], "z": []},
    }
    assert LOWEST.lowest(project, ["z"]) == {"a": "1.9", "b_c": "2"}
    assert LOWEST.lowest(project, ["x"]) == {"a": "1.10", "b_c": "2", "d": "3"}


@pytest.mark.parametrize("extra", ["player", "host", "learn", "cluster"])
def test_extras_named_after_people_are_there_and_told(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extra in project["optional-dependencies"]
    assert f"| `ttt_net[{extra}]`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_index_links_to_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    links = re.findall(r"\]\(([^)\s#]+)", index.read_text(encoding="utf-8"))
    linked = {(index.parent / link).resolve() for link in links}
    assert [named(page) for page in pages() if page not in {index, ROOT / "README.md", *linked}] == []


def suspects(folder: str) -> list[Any]:
    """Return the modules that have such a word at all; to parse all of them takes seconds."""
    return [each for each in HOUSE.read_modules(ROOT / folder) if re.search(r"\b(?:Who|What)", each.text)]


def test_docstrings_and_messages_do_not_begin_with_free_relatives() -> None:
    """Messages are those of the product; tests quote its labels, such as "What follows: c3."."""
    texts = [(each, text) for each in suspects("ttt_net") for text in HOUSE.messages(each.tree)]
    for folder in ("ttt_net", "benchmarks", "docs", "tests"):
        texts += [(each, text) for each in suspects(folder) for text in HOUSE.docstrings(each.tree)]
    found = [(named(module.path), sentence) for module, text in texts for sentence in HOUSE.free_relatives(text)]
    assert found == []


def test_free_relatives_and_long_sentences_are_found() -> None:
    page = (
        "# Who is who\n\nA player waits. Who waits\nmeets others.\n\n- What it says.\n- What is it? People who wait.\n"
    )
    assert HOUSE.free_relatives(HOUSE.prose_of(page)) == ["Who waits meets others.", "What it says."]
    listed = "One two `three four`:\n\n- [five](six.md) seven. Eight\n  nine.\n\n| ten |\n|---|\n| eleven |\n"
    assert HOUSE.sentences(HOUSE.prose_of(listed)) == ["One two `code`:", "five seven.", "Eight nine."]


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_link_in_the_docs_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = page.parent / target if target else page
        assert file.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, link


def test_the_architecture_names_every_module_of_the_core_and_every_package_and_no_other_file() -> None:
    page = (ROOT / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
    package = ROOT / "ttt_net"
    shared = (package, package / "matches", package / "server", package / "client")
    modules = {path.name for folder in shared for path in folder.glob("*.py")} - {"__init__.py"}
    folders = [path.parent for path in package.rglob("__init__.py") if path.parent != package]
    named = set(re.findall(r"[\w/]+(?:\.py|/)(?![\w/])", page))
    assert {name for name in modules if name not in named} == set()
    assert {f"{folder.name}/" for folder in folders if not any(f"{folder.name}/" in each for each in named)} == set()
    files = [path.as_posix() for path in (*ROOT.glob("*.py"), *package.rglob("*.py"), *ROOT.glob("tests/**/*.py"))]
    assert {name for name in named if name.endswith(".py") and not any(f.endswith(f"/{name}") for f in files)} == set()


def test_the_architecture_names_every_verb() -> None:
    page = (ROOT / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
    told = page.partition("  commands/ ")[2].partition("\n  errors.py")[0]
    assert [verb for verb in VERBS if not re.search(rf"\b{verb}\b", told)] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(each for some in project["optional-dependencies"].values() for each in some)]
    names = {re.split(r"[^\w-]", each)[0] for each in wanted} - {"ttt_net"}
    page = (ROOT / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
    reasons = page.partition("## Dependencies, and why")[2]
    assert {name for name in names if f"`{name}`" not in reasons and f"`{name}[" not in reasons} == set()


def test_each_test_and_option_of_the_table_of_threats_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| \d", line)]
    assert [row[0] for row in rows] == [f"| {number}" for number in range(1, len(rows) + 1)]
    assert len(rows) >= 27
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", page)
    assert len(named) > 40
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"
    options = {option for row in rows for option in re.findall(r"`([\w.]+)`", row[3])}
    assert options <= {each.key for each in SETTINGS}


def sources() -> str:
    paths = [path for path in (ROOT / "ttt_net").rglob("*.py") if path.name != "errors.py"]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def test_the_installation_tells_what_it_installs_and_how_to_install_less() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\n.venv/installed:")[2].partition("\n\n")[0]
    told = [line for line in recipe.splitlines() if line.startswith("\t@echo")]
    assert "compiled engine" in told[0]
    assert "make install-player" in told[1]
    assert "make install-host" in told[1]


@pytest.mark.parametrize(("target", "package"), [("install-player", "."), ("demo", "."), ("install-host", "'.[host]'")])
def test_players_and_hosts_install_what_they_need_and_no_more(target: str, package: str, tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    steps = subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"--editable (\S+)", steps) == [package]
    assert ("ttt_net compile" in steps) == ("host" in package)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras["host"][0] == "ttt_net[engine,fast,metrics,tls,previews]"


def test_every_refusal_code_is_given_somewhere() -> None:
    text = sources()
    assert [code for code in Code if f"Code.{code.name}" not in text] == []


def test_the_page_gives_up_where_the_protocol_says_so() -> None:
    script = (ROOT / "ttt_net" / "web" / "src" / "link.ts").read_text(encoding="utf-8")
    codes = re.search(r"GIVE_UP = \[([\d, ]+)\]", script)
    assert codes is not None
    wanted = {each for each in Closing if each.advice in (Advice.GIVE_UP, Advice.REPLACED)} - {Closing.DONE}
    assert set(map(int, codes[1].split(","))) == wanted


def test_every_close_code_of_our_own_is_sent_somewhere() -> None:
    text = sources()
    by_the_library = {Closing.DONE, Closing.BROKEN_FRAME, Closing.TOO_BIG}
    assert [each for each in Closing if each not in by_the_library and f"Closing.{each.name}" not in text] == []


def test_no_modules_of_the_page_import_each_other_in_a_circle() -> None:
    assert HOUSE.circles(HOUSE.typescript_imports(ROOT / "ttt_net" / "web" / "src")) == []


@pytest.mark.parametrize(
    "back",
    [
        'import type { One } from "./one.js";',
        'export const one = () => import("./one.js");',
        'export * from "./one.js";',
    ],
)
def test_a_circle_of_imports_of_types_or_of_code_that_is_fetched_later_is_found(tmp_path: Path, back: str) -> None:
    (tmp_path / "one.ts").write_text(
        'import { two } from "./two.js";\nexport type One = typeof two;\n', encoding="utf-8"
    )
    (tmp_path / "two.ts").write_text(f"{back}\nexport const two = 2;\n", encoding="utf-8")
    assert HOUSE.circles(HOUSE.typescript_imports(tmp_path)) == [["one.ts", "two.ts"]]


SCHEMAS = {
    direction: json.loads((ROOT / "docs" / f"{direction}.schema.json").read_text(encoding="utf-8"))
    for direction in ("requests", "server-messages")
}


def test_the_schemas_stand_for_themselves_and_take_every_line_of_the_printed_match() -> None:
    validators = {direction: Draft7Validator(schema) for direction, schema in SCHEMAS.items()}
    for schema in SCHEMAS.values():
        Draft7Validator.check_schema(schema)
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(?:\w+ )?(>>|<<) (\{.*\})$", page, flags=re.MULTILINE)
    assert len(lines) > 40
    for arrow, line in lines:
        direction = "requests" if arrow == ">>" else "server-messages"
        assert [error.message for error in validators[direction].iter_errors(json.loads(line))] == [], line
    assert not validators["requests"].is_valid({"type": "play", "id": 1, "match": "m", "ply": -1, "move": 4})
    assert not validators["requests"].is_valid({"type": "nonesuch", "id": 1})
