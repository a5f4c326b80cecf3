"""The files that a host gives to Prometheus and Grafana: well-formed, about metrics that there are, with what to do."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S
from ttt_net.server.admin import exposition
from ttt_net.server.admin.protocol import Report, Timing
from ttt_net.server.cluster.replicated_ledger import NodeFigures

FOLDER = ROOT / "docs" / "hosting" / "monitoring"
ALERTS, DASHBOARD = FOLDER / "alerts.yaml", FOLDER / "dashboard.json"


@pytest.fixture(scope="module")
def metrics() -> set[str]:
    """Return the name of every metric that a server tells."""
    timing = Timing((0.1,), [1, 1], 1.0)
    report = Report(
        name="x", version="1", up_s=1, unready=None, restart_in_s=None, connections=0, people=0, bots=0, tables=0,
        live=0, queue_bytes=0, jobs=0,
        analyses=0, free_bytes=5_000_000_000, journal_bytes=1_000_000, used_bytes=900_000, cap_bytes=0,
        tasks=0, accepted=0, requests=0, matches=0, moves=0, failures=0, faults=0,
        refusals={"too_fast": 1}, endings={"silent": 1}, move_s=timing, commit_s=timing, lag_s=timing,
        answer_s=timing,
        cluster=NodeFigures("a", 1, True, True, 3, 100, 0, 0.1, 2),
    )  # fmt: skip
    written = exposition.write(report)
    assert written is not None
    return set(re.findall(r"^(\w+)", written[1], re.MULTILINE))


def _metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\b(?:ttt_net|process)_[a-z_]+(?:_total|_bucket|_bytes)?\b", text))


def _queries() -> Iterator[str]:
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def test_alerts_and_dashboard_ask_for_metrics_that_there_are(metrics: set[str]) -> None:
    expressions = re.findall(r"expr: (.*)", ALERTS.read_text(encoding="utf-8"))
    assert len(expressions) == 14
    asked = _metrics_in(" ".join([*expressions, *_queries()]))
    assert asked - metrics == set()
    assert "ttt_net_commit_seconds_bucket" in asked
    of_cluster = {name for name in metrics if name.startswith("ttt_net_cluster_")}
    drawn = _metrics_in(" ".join(_queries()))
    assert of_cluster - drawn == {"ttt_net_cluster_member"}, "an alert asks for it"


def test_each_alert_says_what_to_do() -> None:
    alerts = ALERTS.read_text(encoding="utf-8").split("- alert: ")[1:]
    for alert in alerts:
        assert "summary: " in alert, alert
        assert "action: " in alert, alert


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool checks the rules")
def test_prometheus_takes_the_alerts() -> None:
    checked = subprocess.run(
        ["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "14 rules found" in checked.stdout
