"""Announce servers that are none, as somebody on the network might who means no good; until the input ends."""

import asyncio
import sys

from zeroconf._dns import DNSPointer
from zeroconf._protocol.outgoing import DNSOutgoing
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from ttt_net.networks import SERVICE

LIARS = 60
NASTY = "\x1b[2J\x1b]0;gotcha\x07\u202eevil\u200b\n" + "A" * 100
_RESPONSE, _PTR, _IN = 0x8400, 12, 1


def info(number: int) -> AsyncServiceInfo:
    properties = {"name": NASTY, "players": "9" * 50, "matches": "-1", "version": "\x1b[31m", "tls": "maybe"}
    return AsyncServiceInfo(
        SERVICE,
        f"liar-{number}.{SERVICE}",
        port=number % 3,
        parsed_addresses=["224.0.0.1", "127.0.0.1", f"10.77.0.{number + 10}"],
        properties=properties,
        server=f"liar-{number}.local.",
    )


async def main() -> None:
    network = AsyncZeroconf()
    await network.zeroconf.async_wait_for_start()
    for number in range(LIARS):
        await network.async_register_service(info(number), cooperating_responders=True)
    for name in ("evil.example.", f"{'x' * 60}.{SERVICE}", SERVICE):
        out = DNSOutgoing(_RESPONSE)
        out.add_answer_at_time(DNSPointer(SERVICE, _PTR, _IN, 4500, name), 0)
        network.zeroconf.async_send(out)
    print("lying", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
