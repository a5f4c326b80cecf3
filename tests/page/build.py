"""Where the sources of the page are, and how its tools are run."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S

WEB = ROOT / "ttt_net" / "web"
MODULES = WEB / "node_modules"


def node(*words: str | Path, folder: Path = WEB) -> subprocess.CompletedProcess[str]:
    """Run a tool of the page in its folder, or in another, if the tools are there."""
    if shutil.which("node") is None or not MODULES.exists():
        pytest.skip("needs node and what builds the page: npm ci --prefix ttt_net/web")
    command = ["node", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=4 * PATIENCE_S, check=False)
