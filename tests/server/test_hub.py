"""Players come, are known again, wait, and go: over real sockets."""

from pathlib import Path

from tests.server.running import running


async def test_a_new_player_is_welcomed_with_a_token(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.connect()
        welcome = await peer.hello(name="Ann")
        assert welcome["you"] == {"name": "Ann"}
        assert welcome["matches"] == []
        assert len(welcome["token"]) >= 43, "256 bits in base64"


async def test_a_token_brings_the_same_player_back(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await ann.close()
        again = await server.connect()
        welcome = await again.hello(token=ann.token)
        assert welcome["you"] == {"name": "Ann"}
        assert "token" not in welcome
