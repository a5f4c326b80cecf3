from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from benchmarks.nats_servers import NatsServers, nats_server
from tests.server.cluster.logs import BACKENDS, WAIT_S, Cluster
from ttt_net.server.cluster import jetstream


@pytest.fixture(scope="session")
def nats_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServers]:
    """Three servers of NATS that are one cluster, for all tests; who kills some starts their own."""
    if nats_server() is None:
        pytest.skip("nats-server is not installed")
    servers = NatsServers(tmp_path_factory.mktemp("nats"))
    try:
        servers.start()
        yield servers
    finally:
        servers.close()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[NatsServers]:
    """Three servers that a test may kill."""
    if nats_server() is None:
        pytest.skip("nats-server is not installed")
    made = NatsServers(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a machine that has much else to do be no unknown outcome, where no server dies."""
    for name in ("PATIENCE_S", "STALL_S"):
        monkeypatch.setattr(jetstream, name, WAIT_S)


@pytest.fixture(params=BACKENDS)
async def cluster(request: pytest.FixtureRequest, patient: None) -> AsyncIterator[Cluster]:
    made = BACKENDS[request.param](request)
    yield made
    await made.end()
