"""Parsers of untrusted bytes, each as a function of bytes that may raise nothing."""

import contextlib
from collections.abc import Callable

from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.games.records import read_record
from ttt_net.matches import referee
from ttt_net.matches.match import Match
from ttt_net.names import fitting_name
from ttt_net.networks import read_announcement
from ttt_net.server.admission.client_address import UNKNOWN, caller_of, network_of, networks
from ttt_net.text import clean

PROXIES = networks(["10.0.0.1"])


def decode(data: bytes) -> None:
    """Read a request, and what a server says."""
    wire.request_id(data)
    for read in (wire.decode_request, wire.decode_server_message):
        with contextlib.suppress(Refusal):
            read(data)


def decide(data: bytes) -> None:
    """Let bytes choose sides, moves and times of a match; each event must be one that can be written and read."""
    match = Match(wire.Started("m", 1, 0, "tictactoe", (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))))
    now_ms = 0
    for byte in data[:64]:
        now_ms += byte
        side, what, move = byte & 1, byte >> 1 & 7, byte >> 4
        others: dict[int, referee.Command] = {
            5: wire.ResignRequest(1, "m"),
            6: wire.OfferRequest(1, "m", ("draw", "takeback", "rematch")[move % 3]),
            7: wire.DeclineRequest(1, "m", ("draw", "takeback", "rematch")[move % 3]),
        }
        command = others.get(what, wire.PlayRequest(1, "m", match.position().ply, move))
        try:
            events = referee.decide(match, side, command, now_ms)
        except Refusal:
            continue
        for event in events:
            assert wire.decode_event(wire.encode(event)) == event
            if not isinstance(event, wire.Started):  # which is the first of the next match
                match.evolve(event)


def text(data: bytes) -> None:
    """Clean a text, and find a name for it."""
    given = data.decode(errors="replace")
    for cells in (1, 20, 200):
        cleaned = clean(given, cells)
        assert clean(cleaned, cells) == cleaned
        assert all(character.isprintable() for character in cleaned)
    fitting_name(given)


def places(data: bytes) -> None:
    """Read an address, and what a proxy or a network says."""
    given = data.decode(errors="replace")
    network_of(given)
    assert caller_of("192.0.2.1", [given], PROXIES) == "192.0.2.1"
    caller_of("10.0.0.1", [given], PROXIES)
    assert caller_of("10.0.0.1", [given, "not an address"], PROXIES) == UNKNOWN
    read_announcement(8765, [given], {b"name": data, b"players": data, b"version": data})


def record(data: bytes) -> None:
    """Read a record of a match."""
    with contextlib.suppress(Refusal):
        read_record(data.decode(errors="replace"))


TARGETS: dict[str, Callable[[bytes], None]] = {each.__name__: each for each in (decode, decide, text, places, record)}
