"""Print how a tree of Python reads, in numbers: `python docs/developing/house.py [ROOT] [--package NAME] [--worst]`.

ROOT is the root of a clone, of this project or any other, and NAME the folder of its product (here `ttt_net`).
`--worst` also lists the places behind the numbers. Only the standard library is needed. tests/test_docs.py uses
`free_relatives` and `sentences`.
"""

import argparse
import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

FREE_RELATIVE = re.compile(
    r"(?:^|[.!:]\s+|\n\s*[-*]\s+)(?:\*\*)?(?:Who|What|Whoever|Whatever|Whose|Whom)\b[^.?!]*[.!]", re.MULTILINE
)
"""A sentence such as "Who plays may look on": it begins with a relative clause that has no noun. Questions are fine."""
_BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.comprehension, ast.IfExp, ast.Match
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTIONS)
_TYPESCRIPT_IMPORT = re.compile(
    r"""(?:^|\n)\s*(?:import|export)\s[^;"']*?from\s*["'](\.[^"']*)["']|import\s*\(\s*["'](\.[^"']*)["']\s*\)"""
)
_SKIPPED = {"node_modules", "built", ".venv", "build", "dist", ".git"}


@dataclass(frozen=True)
class Module:
    """A source file."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The file, parsed."""
        return ast.parse(self.text)

    @property
    def line_count(self) -> int:
        """Lines of the file, blank ones too."""
        return self.text.count("\n")


def main() -> None:
    """Print the table for the tree that the command line names."""
    parser = argparse.ArgumentParser(description="Print how a tree of Python reads, in numbers.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[2], help="root of a clone")
    parser.add_argument("--package", default="ttt_net", help="folder of the product, from the root (ttt_net)")
    parser.add_argument("--worst", action="store_true", help="also list the places behind the numbers")
    arguments = parser.parse_args()
    for title, value, places in rows(arguments.root, arguments.package):
        print(f"| {title} | {value} |")
        if arguments.worst:
            print("".join(f"    {place}\n" for place in places), end="")


def rows(root: Path, package: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each row of the table: its title, its value and the places behind it, worst first."""
    modules = read_modules(root / package)
    count, lines = len(modules), sum(each.line_count for each in modules)
    imports = sum(map(import_lines, modules))
    names = Counter(each.path.name for each in modules if not each.path.name.startswith("__"))
    repeated = [f"{name}: {times}" for name, times in names.most_common() if times > 1]
    inner = [place for each in modules for place in imports_in_functions(each, root)]
    complex_functions = sorted((row for each in modules for row in complexities(each, root)), reverse=True)
    spoken = [(each.path.relative_to(root), text) for each in modules for text in docstrings(each.tree)]
    pages = pages_of(root)
    prose = [(page.relative_to(root), prose_of(page.read_text(encoding="utf-8"))) for page in pages]
    counted = [page for page in pages if page.name != "CHANGELOG.md"]
    words = Counter({page.relative_to(root): len(page.read_text(encoding="utf-8").split()) for page in counted})
    free_docs = [f"{path}: {text}" for path, page in prose for text in free_relatives(page)]
    free_docstrings = [f"{path}: {text}" for path, doc in spoken for text in free_relatives(doc)]
    too_long = [f"{path}: {text}" for path, page in prose for text in sentences(page) if len(text.split()) > 35]
    python = circles(python_imports(modules, root))
    typescript = circles(typescript_imports(root))

    yield "product modules / lines", f"{count} / {lines:,}", _largest(modules, root)
    yield "mean module, import lines", f"{lines / count:.0f}, {100 * imports / lines:.1f} %", []
    yield "file names that occur more than once", f"{len(repeated)} names", repeated
    yield "imports in functions", str(len(inner)), inner
    highest = complex_functions[0][0] if complex_functions else 0
    yield "highest complexity of a function", str(highest), [f"{n}: {place}" for n, place in complex_functions[:12]]
    yield "free relatives in docs", str(len(free_docs)), free_docs
    yield "free relatives in docstrings", str(len(free_docstrings)), free_docstrings
    yield "sentences over 35 words in docs", str(len(too_long)), too_long
    longest = f"{words.most_common(1)[0][0]} {max(words.values()):,}" if words else ""
    yield (
        "docs, words; longest page",
        f"{words.total():,}; {longest}",
        [f"{n:,} {page}" for page, n in words.most_common()],
    )
    yield (
        "import circles, Python / TypeScript",
        f"{len(python)} / {len(typescript)}",
        [*map(" ".join, python + typescript)],
    )


def pages_of(root: Path) -> list[Path]:
    """Return every page in Markdown of the root and of docs/, without the templates of generated pages."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    return sorted(page for page in pages if not page.name.endswith(".template.md"))


def read_modules(folder: Path) -> list[Module]:
    """Return every module below the folder."""
    paths = [path for path in sorted(folder.rglob("*.py")) if not _SKIPPED & set(path.relative_to(folder).parts)]
    return [Module(path, path.read_text(encoding="utf-8")) for path in paths]


def _largest(modules: list[Module], root: Path) -> list[str]:
    by_size = sorted(modules, key=lambda each: -each.line_count)
    return [f"{each.line_count} {each.path.relative_to(root)}" for each in by_size[:12]]


def import_lines(module: Module) -> int:
    """Return how many lines of the module are imports."""
    found = [node for node in ast.walk(module.tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def imports_in_functions(module: Module, root: Path) -> list[str]:
    """Return where functions of the module import something."""
    lines = {
        node.lineno
        for function in ast.walk(module.tree)
        if isinstance(function, _FUNCTIONS)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return [f"{module.path.relative_to(root)}:{line}" for line in sorted(lines)]


def complexities(module: Module, root: Path) -> Iterator[tuple[int, str]]:
    """Yield the complexity of each function with its place; functions that numba compiles are left out."""
    if "numba" in {each.split(".")[0] for each in _imported_names(module.tree)}:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, _FUNCTIONS):
            yield complexity(node), f"{module.path.relative_to(root)}:{node.lineno} {node.name}"


def complexity(function: ast.AST) -> int:
    """Return the branches of a function and one; a `match` counts once, however many cases it has."""
    nodes = list(ast.walk(function))
    words = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + words + sum(isinstance(node, _BRANCHES) for node in nodes)


def docstrings(tree: ast.AST) -> list[str]:
    """Return the docstrings of the module, its classes, functions and documented attributes."""
    return [inspect.cleandoc(str(node.value)) for node in _documentation(tree)]


def messages(tree: ast.AST) -> list[str]:
    """Return the other strings of the module as sentences: help texts, errors and words on screens."""
    known = set(map(id, _documentation(tree)))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in known]
    return [f"{node.value.rstrip()}." for node in nodes if isinstance(node.value, str)]


def _documentation(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body:
            continue
        documented = [body[0]] if isinstance(node, _DOCUMENTED) else []
        documented += [after for before, after in pairwise(body) if isinstance(before, ast.Assign | ast.AnnAssign)]
        for each in documented:
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                yield each.value


def free_relatives(text: str) -> list[str]:
    """Return the sentences of the text that begin with a free relative, cut to 100 characters."""
    return [" ".join(found.group(0).lstrip(".!:-* \n").split())[:100] for found in FREE_RELATIVE.finditer(text)]


def prose_of(page: str) -> str:
    """Return the prose of a page in Markdown: without code, tables, headings, images and addresses of links."""
    page = re.sub(r"^ *```.*?^ *```", "\n", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"^ *\|.*$|^#.*$|^<.*>$", "\n", page, flags=re.MULTILINE)
    page = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", page)
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    return re.sub(r"`[^`]*`", "`code`", page)


def sentences(prose: str) -> list[str]:
    """Return the sentences of what `prose_of` returned; an item of a list ends one."""
    blocks = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s+", prose, flags=re.MULTILINE)
    return [each for block in blocks for each in re.split(r"(?<=[.!?])[*)\"]*\s+", " ".join(block.split())) if each]


def python_imports(modules: list[Module], root: Path) -> dict[str, set[str]]:
    """Return which modules each module imports, for types too, but not in functions."""
    names = {_name_of(each.path, root): each for each in modules}
    graph = {}
    for name, module in names.items():
        package = name if module.path.name == "__init__.py" else name.rpartition(".")[0]
        found = set()
        for each in _imported_names(module.tree, package):
            while each and each not in names:
                each = each.rpartition(".")[0]
            found.add(each)
        graph[name] = found - {name, ""}
    return graph


def _name_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_names(tree: ast.Module, package: str = "") -> Iterator[str]:
    """Yield the dotted names that the module imports outside its functions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif not isinstance(node, _FUNCTIONS):
            waiting += ast.iter_child_nodes(node)


def typescript_imports(root: Path) -> dict[str, set[str]]:
    """Return which files of TypeScript each file imports, for types too."""
    files = [path for path in root.rglob("*.ts") if not _SKIPPED & set(path.relative_to(root).parts)]
    graph = {}
    for path in files:
        found = {a or b for a, b in _TYPESCRIPT_IMPORT.findall(path.read_text(encoding="utf-8"))}
        targets = {(path.parent / each).resolve() for each in found}
        wanted = {target.with_name(target.name.removesuffix(".js").removesuffix(".ts") + ".ts") for target in targets}
        graph[str(path.relative_to(root))] = {
            str(other.relative_to(root)) for other in files if other.resolve() in wanted and other != path
        }
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of names that import one another, largest first."""
    reached = {name: _reachable(name, graph.__getitem__) for name in graph}
    groups = {tuple(sorted(other for other in seen if name in reached[other])) for name, seen in reached.items()}
    return sorted((list(group) for group in groups if len(group) > 1), key=len, reverse=True)


def _reachable(start: str, neighbours: Callable[[str], set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for each in neighbours(waiting.pop()) - seen:
            seen.add(each)
            waiting.append(each)
    return seen


if __name__ == "__main__":
    main()
