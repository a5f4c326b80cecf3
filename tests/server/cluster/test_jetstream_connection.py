"""The facts that `cluster check` collects about the servers of a log, and its judgement of them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from benchmarks.nats_servers import NatsServers, nats_server
from tests.ports import reserved
from tests.server.cluster.logs import WAIT_S
from ttt_net.__main__ import main
from ttt_net.server.check import RISKY, WRONG
from ttt_net.server.cluster import jetstream_connection
from ttt_net.server.cluster.jetstream import open_log
from ttt_net.server.cluster.jetstream_connection import (
    AccountFacts,
    Group,
    Inspection,
    JetStreamAddress,
    LogCopy,
    LogFacts,
    ServerFacts,
    findings,
    inspect,
)

NOW = datetime(2026, 11, 27, tzinfo=UTC)
ADDRESS = JetStreamAddress(("tls://one:4222", "tls://two:4222", "tls://three:4222"))
SERVER = ServerFacts("tls://one:4222", None, "2.14.0", True, 1.0, NOW + timedelta(days=100))
GOOD = msgspec.json.decode(
    b'{"config":{"num_replicas":3},"cluster":{"leader":"one",'
    b'"replicas":[{"name":"two","current":true},{"name":"three","current":true}]}}',
    type=LogFacts,
)


def judged(found: Inspection, address: JetStreamAddress = ADDRESS) -> list[tuple[str, str]]:
    return [(weight, line) for weight, line in findings(found, address, NOW)]


def test_three_healthy_servers_with_a_log_or_without_one_yet_are_fine() -> None:
    assert judged(Inspection([SERVER], GOOD, AccountFacts(), skew_ms=20)) == []
    missing = msgspec.json.decode(b'{"error":{"code":404}}', type=LogFacts)
    assert judged(Inspection([SERVER], missing, AccountFacts())) == []


@pytest.mark.parametrize(
    ("facts", "weight", "word"),
    [
        (ServerFacts("tls://one:4222", "refused"), "wrong", "one:4222: refused"),
        (SERVER._replace(has_jetstream=False), "wrong", "JetStream is off"),
        (SERVER._replace(version="2.11.9-RC.1"), "risky", "cannot sync each write"),
        (SERVER._replace(certificate_ends=NOW + timedelta(days=13)), "risky", "ends on 2026-12-10"),
    ],
)
def test_a_server_that_cannot_be_relied_upon_is_named(facts: ServerFacts, weight: str, word: str) -> None:
    ((judged_as, line),) = judged(Inspection([facts, SERVER], GOOD))
    assert judged_as == weight
    assert word in line


@pytest.mark.parametrize(
    ("log", "weight", "word"),
    [
        (LogFacts(cluster=Group("", [])), "wrong", "has no leader"),
        (b'{"error":{"code":503,"description":"JetStream is not available"}}', "wrong", "not available"),
        (LogFacts(cluster=Group("one", [LogCopy("two", offline=True)])), "risky", "two is not there"),
        (LogFacts(cluster=Group("one", [LogCopy("two", current=False)])), "risky", "two does not have all"),
    ],
)
def test_a_log_without_its_copies_is_told(log: LogFacts | bytes, weight: str, word: str) -> None:
    found = msgspec.json.decode(log, type=LogFacts) if isinstance(log, bytes) else log
    ((judged_as, line),) = judged(Inspection([SERVER], found))
    assert judged_as == weight
    assert word in line


@pytest.mark.parametrize(
    ("skew_ms", "weights"),
    [(1_000, []), (-1_001, ["risky"]), (30_000, ["risky"]), (30_001, ["wrong"])],
)
def test_clocks_that_differ_are_told(skew_ms: int, weights: list[str]) -> None:
    assert [weight for weight, _ in judged(Inspection([SERVER], GOOD, skew_ms=skew_ms))] == weights


def test_a_store_that_is_almost_full_and_too_few_servers_are_risks() -> None:
    full = msgspec.json.decode(b'{"storage":81,"limits":{"max_storage":100}}', type=AccountFacts)
    assert [weight for weight, _ in judged(Inspection([SERVER], GOOD, full))] == ["risky"]
    assert [weight for weight, _ in judged(Inspection([SERVER], GOOD), ADDRESS._replace(replicas=2))] == ["risky"]
    two = ADDRESS._replace(servers=ADDRESS.servers[:2])
    assert [weight for weight, _ in judged(Inspection([SERVER], GOOD), two)] == ["risky"]


async def test_a_server_tells_about_itself_and_the_log_and_strangers_get_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if nats_server() is None:
        pytest.skip("nats-server or openssl is not installed")
    servers = NatsServers(tmp_path, 1)
    try:
        servers.start()
        before = await inspect(servers.address)
        assert before.log is not None
        assert before.log.is_missing
        async with open_log(servers.address, "a", WAIT_S):
            pass
        found = await inspect(servers.address)
        (facts,) = found.servers
        assert (facts.trouble, facts.version, facts.has_jetstream) == (None, servers.version, True)
        assert facts.certificate_ends is not None
        assert facts.certificate_ends > datetime.now(UTC) + timedelta(days=3_000)
        assert "SECRET" not in facts.server
        assert found.log is not None
        assert found.log.cluster.leader == "n0"
        assert found.skew_ms is not None
        assert abs(found.skew_ms) < jetstream_connection.NOTED_SKEW_MS
        wrong = [url.replace("SECRET", "WRONG") for url in servers.urls]
        await fails(monkeypatch, servers.address._replace(servers=tuple(wrong)), "Authorization")
        await fails(monkeypatch, servers.address._replace(authority=None), "CERTIFICATE_VERIFY_FAILED")
    finally:
        servers.close()


async def fails(monkeypatch: pytest.MonkeyPatch, address: JetStreamAddress, trouble: str) -> None:
    """Ask until the server has answered: the library tries again to the end of the time, and that should be short."""
    for answer_s in (0.5, 5.0, WAIT_S):
        monkeypatch.setattr(jetstream_connection, "ANSWER_S", answer_s)
        (found,) = (await inspect(address)).servers
        if trouble in (found.trouble or ""):
            return
    raise AssertionError(found.trouble)


def test_the_verb_prints_what_it_found_and_returns_how_bad_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jetstream_connection, "ANSWER_S", 0.5)
    with reserved() as port:
        status = main(["cluster", "check", "--ledger", f"nats://127.0.0.1:{port}", "--data", str(tmp_path)])
    assert status == WRONG
    printed = capsys.readouterr().out
    assert f"wrong: nats://127.0.0.1:{port}: " in printed
    assert "risky: fewer than three servers" in printed

    async def healthy(address: JetStreamAddress) -> Inspection:
        return Inspection([SERVER], GOOD, AccountFacts(), skew_ms=-3)

    monkeypatch.setattr(jetstream_connection, "inspect", healthy)
    (tmp_path / "journal.sqlite").write_bytes(b"")
    assert main(["cluster", "check", "--ledger", ",".join(ADDRESS.servers), "--data", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "tls://one:4222: nats-server 2.14.0, answers after 1 ms, certificate until 2027-03-07" in printed
    assert "3 of 3 servers have all of it, one leads" in printed
    assert "clock: that of the leader is -3 ms from ours" in printed
    assert "fine: nothing wrong" in printed
    monkeypatch.setattr(jetstream_connection, "findings", lambda *_: iter([("risky", "so so")]))
    assert main(["cluster", "check", "--ledger", ",".join(ADDRESS.servers), "--data", str(tmp_path)]) == RISKY
