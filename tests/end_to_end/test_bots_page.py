"""The bot that docs/bots.md prints is run, as printed, against a real server."""

import re
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent


def test_the_printed_bot_plays_a_whole_match(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    bot = tmp_path / "bot.py"
    bot.write_text(code, encoding="utf-8")
    command = [sys.executable, str(ROOT / "server.py"), "--port", "0", "--data", str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().removeprefix("listening on ").strip()
            players = [
                subprocess.Popen([sys.executable, bot, url, name], stdout=subprocess.PIPE, text=True)
                for name in ("Ann", "Bob")
            ]
            results = {player.communicate(timeout=PATIENCE_S)[0].strip() for player in players}
        finally:
            server.terminate()
    assert results in ({"won", "lost"}, {"drawn"})
    assert server.returncode == 0
