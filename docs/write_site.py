"""Build the documentation as a site: `python docs/write_site.py FOLDER`, strictly, so that a broken link fails.

The pages are those of docs/, in the order of docs/index.md, with README.md as the first one and a page for each public
module. The site needs no server and nothing from other hosts: open FOLDER/index.html.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from posixpath import normpath, relpath
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MODULES = ("ttt_net.sdk", "ttt_net.games", "ttt_net.testing", "ttt_net.environments")
"""The public modules; docs/developing/public-api.txt lists their names."""
PUBLIC = re.compile(r"^(?:class )?(ttt_net\.\w+)\.(\w+)(?:\(.*)?$", re.MULTILINE)
WORKER = ROOT / "ttt_net/web/node_modules/iframe-worker/shim/index.js"
"""A worker in a frame: without it, a page in a folder cannot search."""
CONTENTS = "contents.md"
"""The name of docs/index.md on the site, whose first page is README.md."""
LINK = re.compile(r"(\]\()([^)#\s]+)([^)]*\))")
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
ENTRY = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")

CONFIG: dict[str, Any] = {
    "site_name": "ttt_net",
    "site_description": "Tic-tac-toe and its family, played over a network by people and bots",
    "docs_dir": "pages",
    "use_directory_urls": False,  # so that it works from a folder
    "theme": {
        "name": "material",
        "font": False,  # nothing is fetched from other hosts
        "features": ["navigation.sections", "navigation.top", "content.code.copy", "search.highlight"],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {scheme})",
                "scheme": name,
                "primary": "indigo",
                "toggle": {"icon": f"material/weather-{icon}", "name": f"Switch to the {other} scheme"},
            }
            for scheme, name, icon, other in (
                ("light", "default", "sunny", "dark"),
                ("dark", "slate", "night", "light"),
            )
        ],
    },
    "markdown_extensions": [
        "tables",
        "pymdownx.superfences",
        "pymdownx.highlight",
        {"toc": {"permalink": True, "slugify": "SLUGIFY"}},
    ],
    "plugins": [
        "search",
        "offline",
        {
            "mkdocstrings": {
                "handlers": {
                    "python": {
                        "paths": [str(ROOT)],
                        "options": {
                            "show_source": False,
                            "show_root_heading": True,
                            "show_bases": False,
                            "show_root_full_path": False,
                            "filters": ["!^_"],
                            "members_order": "alphabetical",
                            "heading_level": 2,
                        },
                    }
                }
            }
        },
    ],
    "extra": {"polyfills": ["assets/iframe-worker.js"]},
    "validation": {"links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn"}},
}
_SLUGIFY = '"SLUGIFY"', "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"
"""Headings get the anchors that code forges give them, which the pages link to."""


def place_of(path: str) -> str:
    """Return where a file of the repository stands on the site."""
    if path == "README.md":
        return "index.md"
    if path == "docs/index.md":
        return CONTENTS
    return path.removeprefix("docs/").removeprefix(".github/")


def with_links(text: str, path: str) -> tuple[str, set[str]]:
    """Return the text of a page with its links as they are on the site, and the files outside docs that it links to."""
    outside = set()

    def moved(link: re.Match[str]) -> str:
        target = link[2]
        if ":" in target:
            return link[0]
        meant = normpath(f"{Path(path).parent.as_posix()}/{target}")
        if not meant.startswith("docs/"):
            outside.add(meant)
        return f"{link[1]}{relpath(place_of(meant), Path(place_of(path)).parent.as_posix() or '.')}{link[3]}"

    return LINK.sub(moved, text), outside


def stage(pages: Path) -> None:
    """Copy all pages, with what they show and link to, into a folder."""
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "*.template.md", "__pycache__", "index.md"))
    waiting = ["README.md", "docs/index.md", *(f"docs/{each.relative_to(DOCS)}" for each in DOCS.rglob("*.md"))]
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done or path.endswith(".template.md"):
            continue
        done.add(path)
        file = pages / place_of(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            continue
        if path.endswith(".md"):
            text, outside = with_links((ROOT / path).read_text(encoding="utf-8"), path)
            file.write_text(text, encoding="utf-8")
            waiting += outside
        else:
            shutil.copyfile(ROOT / path, file)
    for module in MODULES:
        page = pages / "reference" / f"{module}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(reference(module), encoding="utf-8")
    (pages / "assets").mkdir(exist_ok=True)
    shutil.copyfile(WORKER, pages / "assets" / "iframe-worker.js")


def reference(module: str) -> str:
    """Return the page of a public module: its docstring, then each public name as its home defines it."""
    loaded = import_module(module)
    listed = (DOCS / "developing" / "public-api.txt").read_text(encoding="utf-8")
    parts = [f"# {module}", cleandoc(loaded.__doc__ or "")]
    for where, name in PUBLIC.findall(listed):
        if where == module:
            home = getattr(getattr(loaded, name), "__module__", None) or module
            parts.append(f"::: {home if home.startswith('ttt_net') else module}.{name}")
    return "\n\n".join(parts) + "\n"


def navigation() -> list[dict[str, Any]]:
    """Return the sections and pages of docs/index.md, in its order, with the public modules after the reference."""
    _, *parts = SECTION.split((DOCS / "index.md").read_text(encoding="utf-8"))
    sections: list[dict[str, Any]] = [{"ttt_net": "index.md"}, {"All pages": CONTENTS}]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        entries = [
            {name: place_of(normpath(f"docs/{target}"))} for name, target in ENTRY.findall(" ".join(body.split()))
        ]
        if title == "Reference":
            entries += [{module: f"reference/{module}.md"} for module in MODULES]
        sections.append({title: entries})
    return sections


def main(folder: str) -> int:
    """Build the site into a folder; return the exit status of the builder."""
    if not WORKER.exists():
        print("the site needs a package of npm: npm ci --prefix ttt_net/web", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as work:
        stage(Path(work) / "pages")
        config = json.dumps(CONFIG | {"site_dir": str(Path(folder).resolve()), "nav": navigation()})
        file = Path(work) / "mkdocs.yml"
        file.write_text(config.replace(*_SLUGIFY), encoding="utf-8")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", str(file)]
        return subprocess.run(command, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}).returncode  # noqa: S603 - our own command


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
