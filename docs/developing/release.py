"""Number, date, check, build and checksum a release: `make release VERSION=0.2.0`.

It makes one commit if version and date are not there yet. It publishes nothing, and prints what is left.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUMS = "SHA256SUMS"
VERSION = r"\d+\.\d+\.\d+(rc\d+)?"
LEFT = """
Still to do by a person:

1. Push main, and wait until CI has passed for this commit.
2. Sign the checksums, for example: ssh-keygen -Y sign -n file -f KEY dist/{sums}
3. Tag the commit, signed, and push the tag: git tag --sign v{version} --message "ttt_net {version}" && git push origin v{version}
4. Approve the environment `release` of the workflow, which builds the archives again and publishes them.
5. Compare the published checksums with dist/{sums}, and attach it with its signature to the release.
6. Begin the next version: raise ttt_net.__version__, and add "Unreleased" to CHANGELOG.md.
"""  # noqa: E501 - commands to copy


def number(version: str, root: Path, today: str) -> bool:
    """Write the version into the package and the date into the CHANGELOG; return whether that changed anything."""
    changed = False
    for file, pattern, text in (
        (root / "ttt_net" / "__init__.py", r'^__version__ = ".*"$', f'__version__ = "{version}"'),
        (root / "CHANGELOG.md", rf"^## \[{re.escape(version)}\] - Unreleased$", f"## [{version}] - {today}"),
    ):
        before = file.read_text(encoding="utf-8")
        after = re.sub(pattern, text, before, flags=re.MULTILINE)
        if after != before:
            file.write_text(after, encoding="utf-8")
            changed = True
    return changed


def objections(version: str, root: Path) -> list[str]:
    """Return the reasons why the files in `root` are not this release."""
    found = []
    if not re.fullmatch(VERSION, version):
        found.append(f"{version!r} is no version; write one as 0.2.0 or 0.2.0rc1")
    package = (root / "ttt_net" / "__init__.py").read_text(encoding="utf-8")
    if f'__version__ = "{version}"' not in package:
        found.append(f"ttt_net/__init__.py: __version__ is not {version}")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE):
        found.append(f'CHANGELOG.md has no heading "## [{version}] - " with a date')
    return found


def objections_of_git(version: str, root: Path) -> list[str]:
    """Return the reasons why the repository in `root` cannot be released as it is."""
    found = []
    if _git(root, "status", "--porcelain"):
        found.append("there are changes that are not committed")
    if _git(root, "branch", "--show-current") != "main":
        found.append("this branch is not main")
    if _git(root, "tag", "--list", f"v{version}"):
        found.append(f"there is a tag v{version} already")
    return found


def build(root: Path, folder: Path, epoch: str) -> dict[str, str]:
    """Build wheel and sdist into a folder; return the SHA-256 of each file by its name."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root)]
    built = subprocess.run(  # noqa: S603 - our own command
        command, env={**os.environ, "SOURCE_DATE_EPOCH": epoch}, capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise SystemExit(built.stdout + built.stderr)
    archives = sorted((*folder.glob("*.whl"), *folder.glob("*.tar.gz")))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives}


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the names of the files that two builds have made differently."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - our own command


def main(version: str) -> None:
    """Check and build a release. Exits with the objections, if there are any."""
    found = objections_of_git(version, ROOT)
    if not found and re.fullmatch(VERSION, version) and number(version, ROOT, datetime.now(UTC).date().isoformat()):
        _git(ROOT, "commit", "--all", "--message", f"Release {version}")
    if found := found + objections(version, ROOT):
        raise SystemExit("\n".join((f"{version or 'this'} cannot be released:", *found)))
    epoch = _git(ROOT, "log", "-1", "--format=%ct")
    folder = ROOT / "dist"
    for old in (*folder.glob("*.whl"), *folder.glob("*.tar.gz")):
        old.unlink()
    sums = build(ROOT, folder, epoch)
    with tempfile.TemporaryDirectory() as again:
        if different := differing(sums, build(ROOT, Path(again), epoch)):
            raise SystemExit(f"two builds differ in {', '.join(different)}")
    check = [sys.executable, "-m", "twine", "check", "--strict", *(str(folder / name) for name in sums)]
    subprocess.run(check, check=True)  # noqa: S603 - our own command
    (folder / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), encoding="utf-8")
    print(f"{', '.join(sums)}: two builds were the same, and dist/{SUMS} has their checksums")
    print(LEFT.format(version=version, sums=SUMS))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
