"""`server.py check`: what is wrong keeps a server from starting, what is risky is said with its reason."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.server.encrypted_peer import Authority
from ttt_net.errors import ConfigurationError
from ttt_net.server import check
from ttt_net.server.check import FINE, RISKY, WRONG, faults, refuse_faults, report, risks
from ttt_net.server.settings.configuration import Cluster, Configuration, Limits, Rate, Tls
from ttt_net.server.settings.listening import listen


@pytest.fixture(autouse=True)
def _plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the machine be an ordinary one, whatever this one is."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(check, "local_addresses", lambda: ["192.168.1.5"])
    monkeypatch.setattr(check, "file_limit", lambda: 1_000_000)
    monkeypatch.setattr(check, "memory_bytes", lambda: 64 * 2**30)
    monkeypatch.setattr(check, "MIN_FREE_BYTES", 1)


def of(folder: Path, **settings: object) -> Configuration:
    """Return a configuration with these settings and a free port."""
    return Configuration(data=folder, **{"port": 0, **settings})  # type: ignore[arg-type]


def test_a_server_for_the_local_network_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o700)
    assert report(of(tmp_path)) == FINE
    assert capsys.readouterr().out == "fine: nothing wrong and nothing risky was found\n"
    assert report(of(tmp_path / "not" / "there")) == FINE


def test_a_public_server_without_encryption_is_wrong_and_does_not_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(of(tmp_path, public=True)) == WRONG
    assert capsys.readouterr().out.startswith("wrong: public: strangers' tokens would go over the Internet in clear")
    with pytest.raises(ConfigurationError, match="public: "):
        refuse_faults(of(tmp_path, public=True))
    refuse_faults(of(tmp_path, public=True, behind_proxy=True))
    refuse_faults(of(tmp_path, public=True, tls=Tls(self_signed=True)))


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"limits": Limits(ping_after_s=7.0)}, "would be dropped before being asked"),
        ({"tls": Tls(cert=Path("/nowhere/a"), key=Path("/nowhere/b"))}, "tls.cert: cannot read /nowhere/a"),
        ({"tls": Tls(key=Path("/nowhere/b"))}, "belong together"),
        ({"public_url": "wss://play.example.org"}, "is the example of the documentation"),
    ],
)
def test_faults_of_a_configuration_are_found(tmp_path: Path, settings: dict[str, object], fault: str) -> None:
    assert [fault in line for line in faults(of(tmp_path, **settings))] == [True]


def test_a_certificate_that_has_expired_is_wrong_and_one_that_soon_will_is_risky(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expired = Authority(tmp_path, is_expired=True)
    tls = Tls(cert=expired.cert, key=expired.key)
    assert ["has expired" in line for line in faults(of(tmp_path, tls=tls))] == [True]
    good = Authority(tmp_path)
    good.key.chmod(0o600)
    tmp_path.chmod(0o700)
    assert list(faults(of(tmp_path, tls=tls))) == list(risks(of(tmp_path, tls=tls))) == []
    monkeypatch.setattr(check, "SOON", timedelta(days=200))
    (line,) = risks(of(tmp_path, tls=tls))
    assert "renew it, and send SIGHUP" in line


@pytest.mark.parametrize(
    ("settings", "risk"),
    [
        ({"host": "8.8.8.8"}, "anybody can reach 8.8.8.8, and nothing is encrypted"),
        ({"behind_proxy": True}, "can be reached beside the proxy, in clear"),
        ({"behind_proxy": True, "host": "127.0.0.1", "proxies": ("0.0.0.0/0",)}, "get around every limit of addresses"),
        ({"behind_proxy": True, "host": "127.0.0.1", "proxies": ("::/0",)}, "get around every limit of addresses"),
        ({"public": True, "tls": Tls(self_signed=True)}, "browsers warn of it"),
        (
            {"public": True, "tls": Tls(self_signed=True), "limits": Limits(rated_same_address=True)},
            "one person with many names",
        ),
        (
            {"public": True, "tls": Tls(self_signed=True), "limits": Limits(messages=Rate(5_000))},
            "keep the server busy",
        ),
        ({"public": True, "tls": Tls(self_signed=True), "limits": Limits(unmetered=("10.0.0.0/8",))}, "nothing limits"),
        ({"filtered_words": Path("/nowhere")}, "there is no file /nowhere; nothing is filtered until there is"),
        ({"house_engines": Path("/nowhere")}, "there is no file /nowhere; the house bots play without engines"),
        ({"node": "one"}, "one is one of no cluster, and serves alone"),
        ({"limits": Limits(max_connections=2_000_000)}, "and the system allows 1,000,000 open files"),
        ({"limits": Limits(max_connections=500_000)}, "MB of 68,719 are taken"),
    ],
)
def test_risks_are_reported_with_their_reasons(tmp_path: Path, settings: dict[str, object], risk: str) -> None:
    found = list(risks(of(tmp_path, **settings)))
    assert any(risk in line for line in found), found


def test_a_server_without_the_engine_reports_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "find_spec", lambda _: None)
    assert any("make install-host" in line for line in risks(of(tmp_path)))
    quiet = of(tmp_path, house_bots=False, limits=Limits(analysis_s=0))
    assert not any("install-host" in line for line in risks(quiet))


LEDGER = ("tls://one:4222", "tls://other:4222", "tls://third:4222")


@pytest.mark.parametrize(
    ("cluster", "risk"),
    [
        (Cluster(LEDGER), "cluster.credentials: the log lets in all who can reach it"),
        (Cluster(("nats://one:4222", *LEDGER[1:])), "cluster.ledger: what is written goes to one in clear"),
        (Cluster(LEDGER, replicas=1), "cluster.replicas: fewer than three servers keep the log"),
        (Cluster(("tls://one:1", "tls://one:2", "tls://other:1")), "two servers of the log are on one machine"),
        (Cluster(LEDGER, credentials=Path("a.creds")), "cannot be seen from here: sync_interval: always"),
    ],
)
def test_risks_of_a_cluster_are_reported(tmp_path: Path, cluster: Cluster, risk: str) -> None:
    configuration = of(tmp_path, cluster=cluster, node="a", public_url="wss://a.example.org")
    assert list(faults(configuration)) == []
    assert any(risk in line for line in risks(configuration))


def test_a_node_needs_a_name_and_an_address_of_its_own(tmp_path: Path) -> None:
    lines = list(faults(of(tmp_path, cluster=Cluster(LEDGER))))
    assert [line.partition(":")[0] for line in lines] == ["node", "public_url"]
    assert list(Cluster().risks()) == []


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        found = list(risks(of(tmp_path, host="127.0.0.1", port=taken.getsockname()[1])))
    assert any("is taken, perhaps by a server that runs already" in line for line in found)


def test_files_readable_by_other_users_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path)
    authority.key.chmod(0o644)
    tmp_path.chmod(0o755)
    found = list(risks(of(tmp_path, tls=Tls(cert=authority.cert, key=authority.key))))
    assert any("others on this machine can read" in line for line in found)
    assert any("others on this machine may look into" in line for line in found)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(check, "MIN_FREE_BYTES", 10**18)
    found = list(risks(of(tmp_path)))
    assert any("as root" in line for line in found)
    assert any("MB are free" in line for line in found)


def test_a_check_prints_risky_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o700)
    assert report(of(tmp_path, behind_proxy=True)) == RISKY
    assert capsys.readouterr().out.startswith("risky: host: ")
