"""The arrows of docs/developing/architecture.md, read from the imports."""

import ast
import re
import subprocess
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import cast

import pytest

ROOT = Path(__file__).parent.parent / "ttt_net"

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "clock": set(),
    "names": {"errors", "text"},
    "networks": {"text"},
    "command_line": {"errors", "text"},
    "private_files": set(),
    "games": {"errors"},
    "testing": {"errors", "games", "messages"},
    "environments": {"errors", "games"},
    "strategies": {"errors", "games"},
    "messages": {"errors", "clock"},
    "matches": {"errors", "games", "messages", "clock"},
    "pairing": {"errors", "clock"},
    "ratings": set(),
    "tournaments": {"errors", "clock"},
    "server": {
        "errors",
        "text",
        "bootstrap",
        "networks",
        "command_line",
        "games",
        "messages",
        "clock",
        "matches",
        "pairing",
        "ratings",
        "names",
        "private_files",
        "tournaments",
    },
    "sdk": {"errors", "text", "clock", "command_line", "networks", "messages", "private_files"},
    "client": {
        "private_files",
        "names",
        "errors",
        "text",
        "bootstrap",
        "networks",
        "command_line",
        "games",
        "messages",
        "clock",
        "sdk",
    },
    "client.bot": {
        "names",
        "errors",
        "text",
        "command_line",
        "games",
        "messages",
        "clock",
        "sdk",
        "strategies",
        "engines",
    },
    "client.local": {
        *("names", "errors", "text", "command_line", "games", "messages", "clock", "sdk", "private_files"),
        "matches",
    },
    "engines": {"errors", "text", "clock", "command_line", "games", "strategies"},
}
"""The modules of ours that each layer may import; a layer may always import itself."""

INSIDE = {
    "strategies": """
        strategy heuristic vanishing_solver book tactics textbook *
        compiled.machine compiled.kit compiled.lines compiled.fours compiled.shapes compiled.fives
        compiled.connect4_solver compiled.proofs compiled.playouts
        compiled engine connect4 alphabeta mcts sight level analysis
        explanation hints review coaching
    """,
    "engines": "launch settings external",
    "matches": "description match referee analyses",
    "pairing": "seeks lobby",
    "tournaments": "schedules standings swiss tournament director",
    "sdk": "received identity trust client_session client_protocol client_connection client bots playing",
    "server": """
        metrics server_clock settings players
        admission.client_address admission.rate_limiter admission.fair_shares admission.sanctions
        journal cluster wire admission.connection_limiter online_players
        matchmaking.lobby_feed readiness services rooms matchmaking accounts http_api hub check
        logs announcing house_bots maintenance
        admin cluster.node_messages cluster.shared_lobby cluster.node cluster.process
        serving start
    """,
    "client": """
        address remembered server_search named options drawing.themes drawing.glyphs user_io mailbox
        saved_matches world display words
        screens.screen screens.offers screens.tournament_screen screens.lobby_screen screens.people screens.advice
        screens.board_play screens.replay_screen screens.rules_screen screens screens.registry
        update act client_controller drawing terminal lines server_link bot inquire online_play
        local client_main
    """,
}
"""The modules and packages of a layer, each left of those that may import it.

A package stands for those of its modules that are not named, `*` for such modules beside the packages: a new strategy
or screen needs no line here.
"""

PARTS_OF_CLIENT = ("client.bot", "client.local")
"""The packages of the client that import what no other part of it may."""
SHELL = {"server", "sdk", "client", "engines", *PARTS_OF_CLIENT}
EFFECTS = {
    "asyncio", "socket", "ssl", "selectors", "sqlite3", "threading", "multiprocessing", "subprocess", "signal",
    "time", "websockets", "rich", "prompt_toolkit", "platformdirs", "uvloop", "zeroconf", "ifaddr", "segno",
}  # fmt: skip
"""Modules that meet the world: clocks, sockets, files, terminals. Only the shell may import them."""
CLOCK_CALLS = {"now", "today", "utcnow"}
"""Methods of `datetime` that read the clock; a date is a value like any other."""
EXCEPTIONS = {
    ("strategies.strategy", "time"),
    ("strategies.engine", "threading"),
    ("strategies.compiled.kit", "threading"),
    ("games.outside", "time"),
    ("games.outside", "signal"),
    ("games.outside", "threading"),
}
"""Strategies read the monotonic clock in one place, to keep a time limit; a second thread holds compiled searches to
it, and another loads them in the background. Programs say what Ctrl-C does while they load. The
guard of games of other packages holds their rules to a time.
"""
OF_ONE_SIDE = {
    "websockets": {"server", "sdk"},
    "sqlite3": {"server"},
    "segno": {"server"},
    "rich": {"client"},
    "prompt_toolkit": {"client"},
}


def layer_of(module: str) -> str:
    """Return the layer of `ttt_net.<module>`: the first name, or the package of the client that may import more."""
    return next((each for each in PARTS_OF_CLIENT if module.startswith(each)), module.split(".")[0])


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Return every node of a module; most are asked for by several tests."""
    return tuple(ast.walk(ast.parse(source)))


@pytest.fixture(scope="module", autouse=True)
def _forget_nodes() -> Iterator[None]:
    """Let go of a million objects, which every later search for garbage in this process would look at."""
    yield
    nodes.cache_clear()


def imports(source: str) -> Iterator[str]:
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if (ROOT.parent / (node.module or "").replace(".", "/")).is_dir():
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


def calls(source: str) -> Iterator[str]:
    for node in nodes(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def violations(module: str, source: str) -> list[str]:
    layer = layer_of(module)
    found = []
    for name in imports(source):
        top = name.split(".")[0]
        if top == "ttt_net" and "." in name:
            other = layer_of(name.removeprefix("ttt_net."))
            if other.split(".")[0] != layer.split(".")[0] and other not in ALLOWED[layer]:
                found.append(f"{module} imports {name}")
        elif top in EFFECTS and layer not in SHELL and (module, top) not in EXCEPTIONS:
            found.append(f"{module} imports {top}, which only the shell may")
        elif top in OF_ONE_SIDE and layer.split(".")[0] not in OF_ONE_SIDE[top]:
            found.append(f"{module} imports {top}, which is not for this side")
    if layer not in SHELL:
        found += [f"{module} reads the clock with {name}()" for name in calls(source) if name in CLOCK_CALLS]
    return found


def python_files() -> list[Path]:
    """Return the package's own modules, without those that npm installs."""
    return sorted(path for path in ROOT.rglob("*.py") if "node_modules" not in path.parts)


def modules() -> list[tuple[str, Path]]:
    """Every module below a layer; `__main__`, `bootstrap`, `commands` and `laboratory` may import anything."""
    found = []
    for path in python_files():
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name and parts[0] not in {"__main__", "commands", "laboratory", "bootstrap"}:
            found.append((name, path))
    return found


@pytest.mark.parametrize(("module", "path"), modules(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_imports_only_what_stands_to_its_left(module: str, path: Path) -> None:
    assert layer_of(module) in ALLOWED, f"{module} has no place in the plan"
    assert violations(module, path.read_text()) == []


def inversions(module: str, source: str) -> list[str]:
    """Return the imports of a module that point to what stands to its right in its layer."""
    layer, _, place = module.partition(".")
    order = INSIDE[layer].split()

    def rank(name: str) -> int:
        places = [i for i, each in enumerate(order) if each == "*" or f"{name}.".startswith(f"{each}.")]
        assert places, f"{layer}.{name} has no place in INSIDE: name it right of what it imports"
        return max(places, key=lambda i: len(order[i]))

    names = {name.removeprefix(f"ttt_net.{layer}.") for name in imports(source) if name.startswith(f"ttt_net.{layer}.")}
    return sorted(name for name in names if rank(name) > rank(place))


@pytest.mark.parametrize(
    ("module", "path"),
    [(module, path) for module, path in modules() if module.partition(".")[0] in INSIDE and "." in module],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_inside_of_a_layer_imports_point_one_way(module: str, path: Path) -> None:
    assert inversions(module, path.read_text()) == []


def test_a_planted_inversion_is_found() -> None:
    assert inversions("client.display", "from ttt_net.client.act import act") == ["act"]
    assert inversions("server.wire.connection", "from ttt_net.server.online_players import Session") != []
    assert inversions("server.hub", "from ttt_net.server.wire.connection import Connection") == []
    assert inversions("strategies.compiled.playouts", "from ttt_net.strategies.mcts import MonteCarlo") != []
    assert inversions("strategies.compiled.kit", "from ttt_net.strategies.compiled import fours") != []
    assert inversions("strategies.textbook", "from ttt_net.strategies.new import New") == ["new"]
    assert inversions("client.screens.new", "from ttt_net.client.screens.registry import SCREENS") != []
    with pytest.raises(AssertionError, match=r"client\.new has no place in INSIDE"):
        inversions("client.new", "from ttt_net.client.display import Display")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("matches.match", "from ttt_net.pairing.lobby import Lobby"),
        ("matches.match", "import asyncio"),
        ("games.line", "from ttt_net.messages import Position"),
        ("games.line", "def f():\n    import time"),
        ("client.display", "from ttt_net.strategies import find_strategy"),
        ("client.display", "from ttt_net.server import hub"),
        ("client.bot.player", "from ttt_net.laboratory import arena"),
        ("server.hub", "from ttt_net.client import display"),
        ("server.hub", "from rich.text import Text"),
        ("client.connection", "import sqlite3"),
        ("games.record", "import datetime\nd = datetime.date.today()"),
        ("strategies.random", "from ttt_net import messages"),
        ("strategies.random", "import time"),
    ],
)
def test_a_planted_violation_is_found(module: str, source: str) -> None:
    assert len(violations(module, textwrap.dedent(source))) == 1


def every_module() -> dict[str, Path]:
    """Every module of the package by its name, with the verbs and the scripts."""
    found = {}
    for path in python_files():
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def modules_imported(source: str, known: Collection[str]) -> set[str]:
    """Return the modules that a module imports, wherever; `from a import b` is one of `a.b`, if that is one."""
    found = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else node.module for name in whole}
    return found & set(known)


def cycle_in(imported: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of import cycles: those that cannot be put in order, from neither side."""
    left = {module: set(others) - {module} for module, others in imported.items()}
    while True:
        used = set().union(*left.values())
        done = {module for module, others in left.items() if not others & left.keys() or module not in used}
        if not done:
            return sorted(left)
        left = {module: others - done for module, others in left.items() if module not in done}


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = every_module()
    found = cycle_in({name: modules_imported(path.read_text(), known) for name, path in known.items()})
    assert found == []


def test_a_planted_cycle_is_found_even_where_a_function_imports() -> None:
    sources = {
        "t.a": "def f():\n    from t.b import g",
        "t.b": "import t.c",
        "t.c": "from t import a",
        "t.d": "import t.a",
    }
    imported = {name: modules_imported(source, sources) for name, source in sources.items()}
    assert cycle_in(imported) == ["t.a", "t.b", "t.c"]
    assert cycle_in(imported | {"t.c": set()}) == []


def test_the_name_of_a_class_is_unique_in_the_tree() -> None:
    names = Counter(
        node.name
        for path in every_module().values()
        for node in cast(ast.Module, nodes(path.read_text())[0]).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in names.items() if count > 1} == set()


LAZY = {
    "ttt_net.client.options": "a reader of TOML, where there is a file; the rules of all games, where one was named",
    "ttt_net.client.server_search": "a library for networks that lead nowhere else",
    "ttt_net.commands.export": "an optional library",
    "ttt_net.commands.journal_files": "an optional library",
    "ttt_net.commands.play": "the server, for --host",
    "ttt_net.server.serving": "a cluster, whose library is optional",
    "ttt_net.server.start": "the server, once it listens",
    "ttt_net.server.admin.admin_server": "an optional library",
    "ttt_net.server.announcing": "a library for terminals",
    "ttt_net.server.settings.listening": "libraries for what is announced, and for self-signed certificates",
    "ttt_net.server.wire.previews": "an optional library",
    "ttt_net.sdk.trust": "a library for what is encrypted",
    "ttt_net.text": "tables for what is not ASCII",
    "ttt_net.games.catalogue": "the search for games of other packages",
}
"""The modules whose functions import, and what: nothing else waits for it."""


def lazy_imports(source: str) -> list[str]:
    """Return the import statements inside functions."""
    if not re.search(r"^\s+(from|import) ", source, re.MULTILINE):
        return []  # as in nearly all, and to walk through every function takes long
    functions = [node for node in nodes(source) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [
        ast.unparse(node)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def test_functions_import_at_the_named_boundaries_alone() -> None:
    found = {name for name, path in every_module().items() if lazy_imports(path.read_text())}
    assert found == set(LAZY)


def test_a_planted_import_in_a_function_is_found() -> None:
    assert lazy_imports("import a\nclass B:\n    async def c(self):\n        from d import e") == ["from d import e"]


PEOPLE = re.compile(r"\b(?:he|his|him|himself|whoever)\b", re.IGNORECASE)


def test_people_are_they() -> None:
    """In code, and in the names of tests."""
    assert {name: found for name, path in every_module().items() if (found := PEOPLE.findall(path.read_text()))} == {}
    tests = (
        name for path in Path(__file__).parent.rglob("test_*.py") for name in re.findall(r"def (\w+)", path.read_text())
    )
    assert [name for name in tests if PEOPLE.search(name.replace("_", " "))] == []


NO_TERM = re.compile(r"\b(?:what is|whoever|of the moment)\b", re.IGNORECASE)
RIDDLE = re.compile(r"(?:What|How|Which|Whom?|Where)\b")
"""How the heading of a module begins that names no verb."""


def docstrings_of(source: str, kinds: tuple[type[ast.AST], ...]) -> list[str]:
    found = (ast.get_docstring(node) for node in nodes(source) if isinstance(node, kinds))  # type: ignore[arg-type]
    return [each for each in found if each]


def vague_first_lines(source: str) -> list[str]:
    """Return the first lines of docstrings that say "what is sought" where there is a term, as "the seek"."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first_lines = [each.partition("\n")[0] for each in docstrings_of(source, documented)]
    headings = [each.partition("\n")[0] for each in docstrings_of(source, (ast.Module,))]
    return [line for line in first_lines if NO_TERM.search(line)] + [line for line in headings if RIDDLE.match(line)]


def test_first_lines_of_docstrings_have_terms() -> None:
    found = {name: vague_first_lines(path.read_text()) for name, path in every_module().items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_planted_vague_first_line_is_found() -> None:
    assert vague_first_lines('def f():\n    """Return what is sought."""') == ["Return what is sought."]
    assert vague_first_lines('def f():\n    """Return the seek.\n\n    And what is with it."""') == []
    assert vague_first_lines('"""How a seek is found."""\nclass A:\n    """How it is held."""') == [
        "How a seek is found."
    ]


def loose_raises(source: str) -> list[str]:
    """Return the sentences of docstrings that begin with "Raises `X`" and tell no condition."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = (" ".join(each.split()) for each in docstrings_of(source, documented))
    told = (sentence for text in texts for sentence in re.findall(r"Raises `.*?(?:\. |\.?$)", text))
    return [sentence for sentence in told if not re.search(r"\b(?:if|unless)\b", sentence)]


def test_docstrings_name_errors_in_fixed_words() -> None:
    found = {name: loose_raises(path.read_text()) for name, path in every_module().items()}
    assert {name: sentences for name, sentences in found.items() if sentences} == {}


def test_a_planted_loose_raise_is_found() -> None:
    assert loose_raises('def f():\n    """Return it. Raises `Refusal`."""') == ["Raises `Refusal`."]
    assert loose_raises('def f():\n    """Return it. Raises `Refusal` if\n    it is none."""') == []


CHANCE_AND_TIME = {"time", "random", "secrets", "uuid", "asyncio"}
GIVEN = {"Random", "SystemRandom"}
"""Classes of `random` whose instances are passed."""
AT_THE_EDGE = {
    "strategies.strategy",
    "server.serving",
    "server.admin.admin_commands",
    "server.admin.admin_server",
    "server.admission.connection_limiter",
    "server.cluster.jetstream",
    "server.cluster.jetstream_connection",
    "server.cluster.process",
    "server.cluster.snapshots",
    "server.journal.ledger",
    "server.house_bots",
    "server.announcing",
    "server.logs",
    "server.rooms.coach",
    "server.server_clock",
}
"""Modules that start tasks, threads and processes, and read clocks; what they call gets time and dice as arguments."""


def chances(source: str) -> list[str]:
    """Return the calls by which a module would read a clock, draw a number or ask for an event loop of its own."""
    return [
        f"{node.func.value.id}.{node.func.attr}"
        for node in nodes(source)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in CHANCE_AND_TIME
        and node.func.attr not in GIVEN
    ]


def test_the_core_gets_its_time_its_loop_and_its_dice_as_arguments() -> None:
    core = [
        (module, path)
        for module, path in modules()
        if layer_of(module) not in {"client", "engines", "sdk", *PARTS_OF_CLIENT} and module not in AT_THE_EDGE
    ]
    found = {module: chances(path.read_text()) for module, path in core}
    assert {module: calls for module, calls in found.items() if calls} == {
        "server.hub": ["asyncio.Event"],
        "games.outside": ["time.thread_time"] * 2,  # the rules of a stranger are held to their time
    }


def test_only_two_modules_know_nats() -> None:
    knowing = [module for module, path in modules() if re.search(r"^\s*(from|import) nats\b", path.read_text(), re.M)]
    assert knowing == [f"server.cluster.jetstream{part}" for part in ("", "_connection")]


def test_a_planted_clock_loop_or_die_is_found() -> None:
    source = "now = time.monotonic()\nrandom.choice('ab')\nloop = asyncio.get_running_loop()\nrng = random.Random(1)\n"
    assert chances(source) == ["time.monotonic", "random.choice", "asyncio.get_running_loop"]
    for name in CHANCE_AND_TIME:
        assert f"from {name} import" not in "".join(path.read_text() for _, path in modules()), "only whole modules"


def test_the_files_to_touch_are_there() -> None:
    page = (ROOT.parent / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## To add something, touch")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([\w/]+(?:\.py|\.ts|/))`", table))
    assert len(named) > 10
    assert {path for path in named if not (ROOT / path).exists() and not (ROOT.parent / path).exists()} == set()


@pytest.mark.parametrize(
    ("request_type", "service"),
    [
        ("MuteRequest", "server/rooms/chat.py"),
        ("ForgetRequest", "server/accounts.py"),
        ("AnswerRequest", "server/matchmaking/matchmaker.py"),
        ("DeclineRequest", "matches/referee.py"),
    ],
)
def test_a_request_touches_the_messages_and_its_service(request_type: str, service: str) -> None:
    """Where it costs more than a ping, `server/hub.py` names it, too."""
    files = (path for layer in ("messages", "matches", "server") for path in (ROOT / layer).rglob("*.py"))
    named = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if re.search(rf"\b{request_type}\b", path.read_text(encoding="utf-8"))
    }
    assert named - {"server/hub.py"} == {"messages/requests.py", service}


def test_only_the_room_sends_events_and_only_after_they_are_journaled() -> None:
    """At one keyboard nobody else is told, and no journal waits."""
    callers = [module for module, path in modules() if ".told(" in path.read_text()]
    assert callers == ["client.local.local_matches", "matches.match", "server.rooms.room"]


def own_private_names(source: str) -> set[str]:
    """Return the private names that a module defines itself: functions, attributes, constants."""
    found = set()
    for node in nodes(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {name for name in found if re.match("_[a-zA-Z]", name)}


def private_names_used(source: str) -> set[str]:
    """Return the private names that a module takes from others: of objects, by import, and by `setattr`."""
    found = set()
    for node in nodes(source):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name):
                found.add(name)
            case ast.ImportFrom(names=aliases):
                found |= {alias.name for alias in aliases}
            case ast.Call(func=ast.Attribute(attr="setattr"), args=[_, ast.Constant(value=str(name)), *_]):
                found.add(name)
    return {name for name in found if re.match("_[a-zA-Z]", name)} - own_private_names(source)


def test_no_test_uses_a_private_name_of_the_product() -> None:
    """Those who test use what those who call use; so a private name may change, and no test with it."""
    private = set[str]().union(*(own_private_names(path.read_text()) for path in every_module().values()))
    tests = {str(path): path.read_text() for path in Path(__file__).parent.rglob("*.py")}
    suspects = {name: text for name, text in tests.items() if private & set(re.findall(r"\b_[a-zA-Z]\w*", text))}
    used = {name: private_names_used(text) & private for name, text in suspects.items()}
    found = {name: names for name, names in used.items() if names}
    assert found == {}


def test_a_planted_use_of_a_private_name_is_found() -> None:
    source = "from a import _b, c\nx._d = x._e\nmonkeypatch.setattr(x, '_f', 1)\nself._g._h()\ny._d, c._i"
    assert private_names_used(source) == {"_b", "_e", "_f", "_h", "_i"}
    assert own_private_names("class A:\n    _b = 1\n    def _c(self): self._d = 1") == {"_b", "_c", "_d"}


def test_no_test_imports_from_another_file_of_tests() -> None:
    files = Path(__file__).parent.rglob("*.py")
    found = {
        str(path): re.findall(r"^from tests\S*\.test_\w+ import", path.read_text(), re.MULTILINE) for path in files
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_top_level_has_only_known_files() -> None:
    """A test that writes into the folder it runs in leaves files that are soon committed."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT.parent, capture_output=True, text=True, check=True).stdout
    files = {"server.py", "client.py", "pyproject.toml", "hatch_build.py", "Makefile", "LICENSE", ".gitignore"}
    files |= {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", ".gitattributes"}
    folders = {"ttt_net", "tests", "benchmarks", "docs", "examples", ".ci", ".github"}
    assert {line.partition("/")[0] for line in listed.splitlines()} == files | folders


def numbered_places(source: str) -> list[str]:
    """Return SQL statements with places such as ?1, to which Python 3.14 binds no sequence."""
    if not re.search(r"\?[1-9]", source):
        return []
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return [text for text in texts if isinstance(text, str) and re.search(r"\b[A-Z]{3,}\b.*\?[1-9]", text, re.DOTALL)]


def test_statements_have_places_that_python_3_14_fills() -> None:
    found = {path.name: places for path in python_files() if (places := numbered_places(path.read_text()))}
    assert found == {}
    assert numbered_places('db.execute("SELECT name FROM players WHERE number = ?1", (1,))') != []
