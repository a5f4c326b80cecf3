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

**Changing settings while it runs.** SIGHUP (`systemctl reload ttt_net`) reads the file again, and the certificate. What
the tables mark with *yes* holds from then on, for who is connected too, but for `limits.messages` and the kernel's
buffers, which a connection keeps; rates that changed begin to count anew. What they mark with *restart* waits for the
next start. The log says what changed and what waits. A file that is broken, or says what a server must not start with,
changes nothing: the log says why, and the settings in use stay. Flags and variables win as they did at the start.
Without a file and without a certificate SIGHUP ends the server, and so does the closing of its terminal, always.
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
                "| key | flag | variable | default | SIGHUP | |",
                "|---|---|---|---|---|---|",
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
    changes = "yes" if one.is_live else "restart"
    return f"| `{key}` | {flag} | `{one.variable}` | `{as_toml(one.default)}` | {changes} | {one.help}{bounds} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
