"""Write docs/configuration.md from the table of settings: `make docs`. A test compares."""

from pathlib import Path

from ttt_net.server.settings.configuration import SETTINGS, Setting, as_toml

PAGE = Path(__file__).parent / "configuration.md"
START = """# Configuration

A server for a local network needs no settings. Configure it with command-line flags, environment variables, or a TOML
file (`python server.py --config FILE`). Flags win over the environment, and the environment wins over the file.

The setting `public_url` is also the flag `--public-url` and the variable `TTT_NET_PUBLIC_URL`. `max_connections` of
`[limits]` is `--limits-max-connections`. Turn a setting off with a flag such as `--no-announce`.

```
python server.py --print-config > server.toml   # a commented file with every setting
python server.py check --config server.toml     # what is wrong or risky, and why
python server.py --help                         # common settings; --help-all has every setting
```

`check` exits with 0 if all is well, 1 for risky settings, and 2 for wrong ones. A server does not start with wrong
settings, such as unknown keys, values out of range, or `--public` without encryption.

## Changing settings at run time

SIGHUP (`systemctl reload ttt_net`) reads the file and the certificate again. The log says what changed.

- Changes take effect immediately, for existing connections too, which keep only `limits.messages` and the kernel's
  buffers. Settings marked *restart* wait for the next start. Changed rates start from zero.
- Flags and variables win, as at the start. A broken file changes nothing.
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
                "| key | default | |",
                "|---|---|---|",
            ]
        lines.append(_row(each))
        if each is SETTINGS[-1] or SETTINGS[SETTINGS.index(each) + 1].table != table:
            lines.append("")
    return "\n".join(lines)


def _row(one: Setting) -> str:
    key = one.key.rpartition(".")[2]
    bounds = ""
    if one.choices:
        bounds = f" ({', '.join(one.choices)})"
    elif one.kind in (int, float) and one.most < 10**9:
        bounds = f" ({one.least:,} to {one.most:,})"
    elif one.least:
        bounds = f" ({one.least:,} or more)"
    changes = "" if one.is_live else "; *restart*"
    return f"| `{key}` | `{as_toml(one.default)}` | {one.help}{bounds}{changes} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
