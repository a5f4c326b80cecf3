"""A rated match between two connected players."""

import asyncio

from tests.server.peer import Peer
from tests.server.running import Server
from ttt_net.clock import TimeControl
from ttt_net.matches.referee import RATED_PLIES
from ttt_net.messages import PlayerInfo, Started


async def rated_match(
    server: Server, first: Peer, second: Peer, match: str, game: str = "connect4", plies: int = RATED_PLIES
) -> None:
    """Let two players begin a rated match and make as many moves: by default those after which its result counts."""
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
    await open_rated(first, second, match, snapshot["position"]["legal"], plies)


async def open_rated(first: Peer, second: Peer, match: str, legal: list[int], plies: int = RATED_PLIES) -> None:
    """Make the first moves of a match, each another of the moves that are legal at the beginning."""
    for ply in range(plies):
        await (first, second)[ply % 2].ok("play", match=match, ply=ply, move=legal[ply])
        for peer in (first, second):
            await peer.hear("played", match=match, ply=ply + 1)
