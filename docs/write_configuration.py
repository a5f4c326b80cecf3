"""Write docs/configuration.md from the table of settings: `make docs`. A test compares."""

from pathlib import Path

from ttt_net.server.settings.configuration import SETTINGS
from ttt_net.server.settings.setting import METAVARS, Setting, as_toml

PAGE = Path(__file__).parent / "configuration.md"
START = """# Configuration

A server for a local network needs no settings. Configure it with command-line flags, environment variables, or a TOML
file (`python server.py --config FILE`). Flags win over the environment, and the environment wins over the file. The
variable of a flag has its name in capitals: `--public-url` is `TTT_NET_PUBLIC_URL`. Unknown keys and invalid values are
rejected at the start, in one line that names the place.

```
python server.py --print-config > server.toml   # a commented file with every setting
python server.py check --config server.toml     # what is wrong or risky, and why
python server.py --help                         # common settings; --help-all has every setting
```

`check` exits with 0 if all is well, 1 for risky settings, and 2 for wrong ones. A server does not start with wrong
settings, such as `--public` without encryption.

## Changing settings at run time

SIGHUP (`systemctl reload ttt_net`) reads the file and the certificate again.

- Settings marked *yes* take effect immediately, for existing connections too. Connections keep `limits.messages` and
  the kernel's buffers. Changed rates start from zero.
- Settings marked *restart* wait for the next start.
- The log says what changed and what waits. A broken file changes nothing, and the log says why.
- Flags and variables win, as at the start.
- Without a file and a certificate, SIGHUP ends the server. So does closing its terminal, always.
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
                "| key | flag | default | SIGHUP | |",
                "|---|---|---|---|---|",
            ]
        lines.append(_row(each))
        if each is SETTINGS[-1] or SETTINGS[SETTINGS.index(each) + 1].table != table:
            lines.append("")
    return "\n".join(lines)


def _row(one: Setting) -> str:
    key = one.key.rpartition(".")[2]
    values = "\\|".join(one.choices) or METAVARS[one.kind]
    bounds = ""
    if one.kind in (int, float) and one.most < 10**9:
        bounds = f" ({one.least:,} to {one.most:,})"
    elif one.least:
        bounds = f" ({one.least:,} or more)"
    flag = f"`{one.flag} {values}`" if values else f"`{one.flag}`"
    changes = "yes" if one.is_live else "restart"
    return f"| `{key}` | {flag} | `{as_toml(one.default)}` | {changes} | {one.help}{bounds} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
