"""Write the statistics in the text format of Prometheus, with `prometheus-client` if it is installed."""

from collections.abc import Iterator, Mapping
from typing import Any

from ttt_net.errors import Code
from ttt_net.server.admin.protocol import Report, Timing
from ttt_net.server.cluster.replicated_ledger import NodeFigures
from ttt_net.server.metrics import ENDINGS

try:
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
except ImportError:  # the extra `metrics`
    CollectorRegistry = None


def write(report: Report) -> tuple[str, str] | None:
    """Return the type of the content, and the report as text; None without `prometheus-client`."""
    if CollectorRegistry is None:
        return None
    registry: Any = CollectorRegistry()
    registry.register(_Collector(report))
    ProcessCollector(registry=registry)
    return CONTENT_TYPE_LATEST, generate_latest(registry).decode()


class _Collector:
    """A collector for `prometheus-client` with a fixed set of metrics."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def collect(self) -> Iterator[Any]:
        """Yield every metric; the names of counters get their `_total` from the library."""
        report = self._report
        info = GaugeMetricFamily("ttt_net_info", "Constant 1; what runs is in the labels.", labels=["version"])
        info.add_metric([report.version], 1)
        yield info
        for name, value, help in (
            ("up_seconds", report.up_s, "Since the start of the server."),
            ("ready", report.unready is None, "1 if new players are accepted: /readyz returns 200."),
            ("connections", report.connections, "Open connections."),
            ("tables", report.tables, "Matches in memory: live ones, and finished ones with an audience."),
            ("live_matches", report.live, "Live matches in memory."),
            ("queue_bytes", report.queue_bytes, "Bytes in our memory that clients have not read yet, in all."),
            ("tasks", report.tasks, "Tasks of the event loop, always about as many."),
            ("journal_waiting_jobs", report.jobs, "Entries that wait for the disk."),
            ("questions", report.questions, "Questions about the past that wait, with the one under way."),
            ("analyses", report.analyses, "Matches that wait to be analysed, with the one that is."),
            ("disk_free_bytes", report.free_bytes, "Free bytes on the disk of the journal."),
            ("journal_bytes", report.journal_bytes, "The files of the journal."),
            ("journal_used_bytes", report.used_bytes, "Used bytes of these; the rest is reused before they grow."),
            ("journal_cap_bytes", report.cap_bytes, "Size limit of these; 0: none."),
        ):
            if value is not None:
                yield GaugeMetricFamily(f"ttt_net_{name}", help, value=value)
        sessions = GaugeMetricFamily("ttt_net_sessions", "Players who are connected.", labels=["kind"])
        sessions.add_metric(["person"], report.people)
        sessions.add_metric(["bot"], report.bots)
        yield sessions
        for name, value, help in (
            ("connections_accepted", report.accepted, "Connections since the start."),
            ("requests", report.requests, "Messages from clients, good or bad."),
            ("matches", report.matches, "Matches that were begun."),
            ("moves", report.moves, "Moves that were acknowledged."),
            ("journal_failures", report.failures, "Jobs that the disk or a fault of ours made fail."),
            ("questions_refused", report.questions_refused, "Questions about the past that were refused as too many."),
            ("faults", report.faults, "Exceptions that should not have been raised; each is in the log."),
        ):
            yield CounterMetricFamily(f"ttt_net_{name}", help, value=value)
        if report.cluster is not None:
            yield from _of_cluster(report.cluster)
        refusals = dict.fromkeys(Code, 0) | report.refusals
        yield _by_label("refusals", "code", refusals, "Requests that were refused, by the code.")
        endings = dict.fromkeys(ENDINGS, 0) | report.endings
        yield _by_label("connections_ended", "reason", endings, "Connections that the server ended, by reason.")
        for name, timing, help in (
            ("move_seconds", report.move_s, "Seconds from receiving a move to sending it, including the commit."),
            (
                "commit_seconds",
                report.commit_s,
                "Transactions of the journal, each with one job or many; in a cluster, the way to its log and back.",
            ),
            ("event_loop_lag_seconds", report.lag_s, "By how much the event loop was late."),
            ("answer_seconds", report.answer_s, "CPU time of answers to questions about the past, on their thread."),
        ):
            assert timing is not None, "only older servers leave it out"
            yield HistogramMetricFamily(f"ttt_net_{name}", help, buckets=_buckets(timing), sum_value=timing.total)


def _of_cluster(figures: NodeFigures) -> Iterator[Any]:
    for name, value, help in (
        ("epoch", figures.epoch, "How often this node has begun a life in the cluster."),
        ("member", figures.is_member, "1 while the others take this node for one of them."),
        ("steward", figures.is_steward, "1 on the node that keeps the lobby."),
        ("members", figures.members, "Nodes that may write, as far as this one knows."),
        ("position", figures.position, "Up to which place of the log this node has applied all."),
        ("lag", figures.lag, "Places of the log that this node knows of and has not applied."),
        ("silence_seconds", figures.silence_s, "For how long this node has had no proof of contact with the log."),
    ):
        yield GaugeMetricFamily(f"ttt_net_cluster_{name}", help, value=value)
    yield CounterMetricFamily(
        "ttt_net_cluster_refused", "Entries of this node that others came before, or that came too late.",
        value=figures.refused,
    )  # fmt: skip


def _by_label(name: str, label: str, counts: Mapping[str, int], help: str) -> Any:  # noqa: ANN401 - a type of an extra
    """Return a counter with a sample for every label: Prometheus computes no rate for a label that appears later."""
    family = CounterMetricFamily(f"ttt_net_{name}", help, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _buckets(timing: Timing) -> list[tuple[str, float]]:
    """Return the cumulative buckets of Prometheus: each counts all values up to its bound."""
    count, buckets = 0, []
    for bound, more in zip([*map(repr, timing.bounds), "+Inf"], timing.counts, strict=True):
        count += more
        buckets.append((bound, float(count)))
    return buckets
