"""Say how others come to our server: by a command in a terminal, or by a link in a browser."""

import textwrap

from ttt_net.client.display import Display
from ttt_net.client.labels import MAX_CODE, clock_name
from ttt_net.messages import InvitationReply, PlayerList, Snapshot
from ttt_net.networks import is_address, is_private
from ttt_net.programs import PLAY
from ttt_net.text import clean


def company_hint(display: Display, width: int) -> list[str]:
    """Return how to get an opponent when nobody else seeks one, on lines that end between words."""
    seek = display.world.seeking
    if display.world.is_hosting:
        lines = ["Friends on this network join with:", f"{PLAY} {typed_address(display)}"]
    elif seek is not None and display.world.reply(PlayerList) is not None:  # before that, nobody knows who is here
        time = f" --time {clock_name(seek.time)}" if seek.time is not None else ""
        bot = f"{PLAY} {typed_address(display)} --bot alphabeta{time}"
        lines = ["No opponent? Seat a bot from another terminal:", bot]
    else:
        return []
    return [part for line in lines for part in textwrap.wrap(line, width, break_on_hyphens=False)]


def typed_address(display: Display) -> str:
    """Return the server as others type it after what starts a client, with what makes their client trust it."""
    address = display.world.reachable or display.world.address
    if display.world.is_secure:
        fingerprint = display.world.trust.fingerprint
        return f"wss://{address}{f' --tls-fingerprint {fingerprint}' if fingerprint else ''}"
    host = address.rpartition(":")[0]
    is_open = display.world.trust.is_insecure or (is_address(host) and not is_private(host))
    return f"{address} --insecure" if is_open else address


def join_command(display: Display, code: str) -> str:
    """Return what a friend types to accept an invitation."""
    return f"{PLAY} {typed_address(display)} --join {clean(code, MAX_CODE)}"


def invitation(display: Display, told: InvitationReply) -> str:
    """Return the code, and what a friend types with it."""
    return f"Your code is {clean(told.code, MAX_CODE)}. A friend joins with: {join_command(display, told.code)}"


def join_link(display: Display, code: str) -> str:
    """Return where a friend's browser accepts an invitation."""
    return f"{_site(display)}/j#{clean(code, MAX_CODE)}"


def match_link(display: Display, match: Snapshot) -> str:
    """Return where browsers see a match; the link to a private one has its code."""
    code = f"#{clean(match.code, MAX_CODE)}" if match.code else ""
    return f"{_site(display)}/m/{clean(match.match, 32)}{code}"


def _site(display: Display) -> str:
    return f"{'https' if display.world.is_secure else 'http'}://{display.world.reachable or display.world.address}"
