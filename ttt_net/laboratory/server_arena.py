"""Hold an arena on a server: a round robin with clocks and watchers; its players are bots in other processes."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from typing import NamedTuple

from ttt_net.clock import TimeControl
from ttt_net.command_line import beside_us
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.messages import AttendRequest, DirectRequest, OrganiseRequest, TournamentReply
from ttt_net.sdk.client import Client, DisconnectedError, connect

MAX_ROUNDS = 2
"""The cycles of a round robin on a server."""
_PLAY = (sys.executable, "-m", "ttt_net", "play")
_END_S = 10.0


class ArenaSeat(NamedTuple):
    """A bot as the client starts it: its listed name, and the options that choose it."""

    name: str
    options: tuple[str, ...]


def hold(
    address: str, url: str, seats: Sequence[ArenaSeat], game: str, time: TimeControl, rounds: int
) -> TournamentReply:
    """Make a tournament at the address, seat the bots, and return its final state.

    Raises `ConfigurationError` if the server refuses it, or if a bot leaves early.
    """
    try:
        return asyncio.run(_hold(address, url, seats, game, time, rounds))
    except DisconnectedError as error:
        raise ConfigurationError(f"{address}: {error}") from None
    except Refusal as refusal:
        raise ConfigurationError(f"{address} refuses: {refusal}") from None


async def _hold(
    address: str, url: str, seats: Sequence[ArenaSeat], game: str, time: TimeControl, rounds: int
) -> TournamentReply:
    async with connect(url) as client:
        terms = OrganiseRequest(
            0, f"Arena of {len(seats)}", "round_robin", time, game, rounds, pause_s=0, full=len(seats), legs=2
        )
        told = await client.ask_for(terms, TournamentReply)
        print(f"tournament {told.tournament} on {address}: watch it in a terminal or on the page", file=sys.stderr)
        bots: list[Process] = []
        try:
            for seat in seats:
                words = (*_PLAY, address, *seat.options, "--join", told.tournament)
                bot = await asyncio.create_subprocess_exec(
                    *words, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, env=beside_us(os.environ)
                )
                bots.append(bot)
            return await _played(client, told.tournament, seats, bots)
        finally:
            await _end(bots)


async def _played(client: Client, code: str, seats: Sequence[ArenaSeat], bots: Sequence[Process]) -> TournamentReply:
    """Return the tournament once it is over. If a bot leaves before, end it."""
    over = asyncio.ensure_future(_over(client, code))
    ends = [asyncio.ensure_future(_left_early(seat, bot)) for seat, bot in zip(seats, bots, strict=True)]
    try:
        done, _ = await asyncio.wait([over, *ends], return_when=asyncio.FIRST_COMPLETED)
        if over not in done and (failed := [end for end in done if end.result() is not None]):
            await client.ask(DirectRequest(0, code, "end"))
            raise ConfigurationError(str(failed[0].result()))
        return await over
    finally:
        for each in (over, *ends):
            each.cancel()
        await asyncio.gather(over, *ends, return_exceptions=True)


async def _over(client: Client, code: str) -> TournamentReply:
    await client.ask(AttendRequest(0, code))
    async for event in client:
        if isinstance(event, TournamentReply) and event.state == "over":
            return event
    raise AssertionError("the events of a client do not end")


async def _left_early(seat: ArenaSeat, bot: Process) -> str | None:
    """Return why a bot left; None if its tournament was over."""
    _, said = await bot.communicate()
    if bot.returncode == 0:
        return None
    lines = said.decode(errors="replace").strip().splitlines()
    return f"{seat.name} has left: {lines[-1] if lines else f'exit status {bot.returncode}'}"


async def _end(bots: Sequence[Process]) -> None:
    """Wait until the bots have left by themselves; end those that have not."""
    for bot in bots:
        try:
            await asyncio.wait_for(bot.wait(), _END_S)
        except TimeoutError:
            bot.kill()
            await bot.wait()
