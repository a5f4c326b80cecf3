"""A rated match between two who are here."""

import asyncio

from tests.server.peer import Peer
from tests.server.running import Server
from ttt_net.clock import TimeControl
from ttt_net.messages import PlayerInfo, Started


async def rated_match(server: Server, first: Peer, second: Peer, match: str, game: str = "connect4") -> None:
    """Let a rated match begin between two who are here."""
    ids = {session.info.name: session.player for session in server.sessions.values()}
    players = (PlayerInfo(first.name), PlayerInfo(second.name))
    started = Started(
        match=match, seq=1, at_ms=0, game=game, players=players, time=TimeControl(180_000, 2_000), rated=True
    )
    written = asyncio.Event()
    server.hub.services.journal.append(
        [started], lambda _: written.set(), lambda _: None, (ids[first.name], ids[second.name])
    )
    await written.wait()
    for peer in (first, second):
        snapshot = await peer.resume(match)
        assert snapshot["rated"]
