"""Write docs/configuration.md from the table of settings: `make docs`. A test compares."""

from pathlib import Path

from ttt_net.server.settings.configuration import SETTINGS
from ttt_net.server.settings.setting import METAVARS, Setting, as_toml

PAGE = Path(__file__).parent / "configuration.md"
START = """# Configuration

A server needs none: `python server.py` serves a local network. What is set, is set by a flag, a variable of the
environment or a key of a TOML file, `python server.py --config FILE`; a flag wins over the environment, that over the
file, and that over the default. A key that does not exist or a value that cannot be is refused at the start, in one
line with its place.

```
python server.py --print-config > server.toml   # a commented file with everything that can be set
python server.py check --config server.toml     # what is wrong or risky, and why
python server.py --help                         # what most hosts need; --help-all has every setting
```

`check` exits with 0 if nothing is to be said, 1 if something is risky, 2 if something is wrong; a server does not start
with what is wrong, such as `--public` without encryption.

A RATE is so many at once, and as many again over the period: `20/s`, `10/min`, `5/10s`, `100/h`. A LIST is separated by
commas in a flag or a variable, and an array in the file. A flag without a value switches something
on, and with `--no-` before its name off (`--no-announce`). `--rate X` is short for `--limits-messages 2X/2s`.
"""
HEADINGS = {"": "The server", "tls": "Encryption", "limits": "Limits"}


def page() -> str:
    """Return the page."""
    lines = [START]
    table = None
    for each in SETTINGS:
        if each.table != table:
            table = each.table
            where = f": `[{table}]` in the file" if table else ""
            lines += [
                f"## {HEADINGS.get(table, table.capitalize())}{where}",
                "",
                "| key | flag | variable | default | |",
                "|---|---|---|---|---|",
            ]
        lines.append(_row(each))
        if each is SETTINGS[-1] or SETTINGS[SETTINGS.index(each) + 1].table != table:
            lines.append("")
    return "\n".join(lines)


def _row(one: Setting) -> str:
    key = one.key.rpartition(".")[2]
    values = "\\|".join(one.choices) or METAVARS[one.kind]
    bounds = f" ({one.least:,g} to {one.most:,g})" if one.kind in (int, float) and one.most < 10**9 else ""
    flag = f"`{one.flag} {values}`" if values else f"`{one.flag}`"
    return f"| `{key}` | {flag} | `{one.variable}` | `{as_toml(one.default)}` | {one.help}{bounds} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
