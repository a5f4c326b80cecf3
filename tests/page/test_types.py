"""The modules are checked by the TypeScript compiler, with the types in their comments."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net.server.wire.page import page_files

COMPILER = Path(__file__).parent / "node_modules" / ".bin" / "tsc"
OPTIONS = "--noEmit --allowJs --checkJs --strict false --target es2022 --module es2022 --moduleResolution bundler"


def test_the_types_of_the_modules_hold(tmp_path: Path) -> None:
    if not COMPILER.exists() or shutil.which("node") is None:
        pytest.skip("needs the TypeScript compiler: npm install --prefix tests/page")
    for name, text in page_files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [str(COMPILER), *OPTIONS.split(), "--lib", "es2022,dom,dom.iterable", str(tmp_path / "main.js")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False, cwd=tmp_path)
    assert done.stdout == ""
    assert done.returncode == 0
