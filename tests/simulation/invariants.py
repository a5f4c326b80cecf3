"""What must hold in every world, each law written once.

`check` looks while everything is under way, `check_at_rest` once faults have ended and the world has become quiet.
What a client can see for itself (one answer to each request, no gap in a match) is checked by `Peer` as it hears it.
"""

from typing import TYPE_CHECKING, Any

from tests.server.journal.walk import canonical
from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.matches.match import Match
from ttt_net.server.journal import read_match

if TYPE_CHECKING:
    from tests.simulation.world import Server, World

LATE_MS = 1_500
"""By how much a flag may fall late."""
MOST_IN_MEMORY = 400
"""More objects of a kind than a world of six people can need."""


def check(world: "World") -> None:
    """Check what holds at every moment."""
    acknowledged_moves_are_in_the_journal(world)
    server = world.server
    if server is not None:
        memory_is_never_ahead_of_the_disk(world, server)
        nobody_is_here_twice(world, server)
        the_server_counts_no_fault(world, server)
        memory_is_bounded(world, server)


def check_at_rest(world: "World") -> None:
    """Check what holds when nothing is under way: to be called after `World.settle`."""
    check(world)
    server = world.server
    world.claim(server is not None, "the server is back")
    assert server is not None
    everybody_is_back_and_answered(world)
    the_lobby_agrees_with_the_journal(world, server)
    rooms_are_heard_and_flags_fall(world, server)
    clients_show_what_the_server_holds(world, server)
    results_and_ratings_agree(world)
    what_was_decided_is_in_force(world, server)
    what_was_promised_stands(world, server)
    time_never_goes_back(world)
    entries_are_all_there_is_to_know(world)


def check_played_out(world: "World") -> None:
    """Check that with faults off every match that its players are in came to an end."""
    for peer in world.peers:
        for match_id, seen in peer.matches.items():
            is_live = seen.you is not None and not seen.is_over
            world.claim(not is_live, f"{match_id} of {peer.name} cannot be played to its end")


# At every moment.


def acknowledged_moves_are_in_the_journal(world: "World") -> None:
    """Every move that a player was told `ok` for is in the journal, at its ply; a take-back may have followed."""
    while world.unchecked_plays:
        match, ply, move = world.unchecked_plays.pop()
        rows = _events(world, match)
        is_there = any(isinstance(event, wire.Played) and (event.ply - 1, event.move) == (ply, move) for event in rows)
        world.claim(is_there, f"move {move} at ply {ply} of {match} was acknowledged and is not in the journal")


def memory_is_never_ahead_of_the_disk(world: "World", server: "Server") -> None:
    """A match in memory has at most the events that are committed."""
    for match_id, room in server.hub.registry.rooms.items():
        if room.match is not None:
            seq = _newest_seq(world, match_id)
            world.claim(room.match.seq <= seq, f"{match_id} is at {room.match.seq} in memory, at {seq} on disk")


def nobody_is_here_twice(world: "World", server: "Server") -> None:
    """A player has one session; it knows its rooms, and they know it."""
    hub = server.hub
    for player, session in hub.services.players.sessions.items():
        world.claim(session.player == player, "a session is kept under its player")
        world.claim(session.connection.session is session, "the connection of a session is its own")
        if session.is_elsewhere:
            continue
        world.claim(
            session.connection in hub.services.connections, f"{session.info.name} has a session and no connection"
        )
        for match_id in session.rooms:
            world.claim(match_id in hub.registry.rooms, f"{session.info.name} is in {match_id}, which is not in memory")
    world.claim(
        len(hub.services.players) == len(hub.services.players.sessions), "the list of players has each session once"
    )


def the_server_counts_no_fault(world: "World", server: "Server") -> None:
    """Nothing that was asked raised what should not be raised."""
    world.claim(server.hub.metrics.faults == 0, "the server counted a fault of its own")


def memory_is_bounded(world: "World", server: "Server") -> None:
    """What is kept in memory does not grow with time."""
    hub = server.hub
    world.claim(len(hub.registry.rooms) <= MOST_IN_MEMORY, f"{len(hub.registry.rooms)} rooms")
    world.claim(len(hub.services.connections) <= MOST_IN_MEMORY, f"{len(hub.services.connections)} connections")


# At rest.


def everybody_is_back_and_answered(world: "World") -> None:
    """With faults off, everybody comes back, and every request has had its answer."""
    for peer in world.peers:
        world.claim(peer.is_welcome, f"{peer.name} did not come back")
        world.claim(not peer.talk.asked, f"{peer.name} waits for answers to {list(peer.talk.asked.values())}")


def the_lobby_agrees_with_the_journal(world: "World", server: "Server") -> None:
    """Sessions hold the names and live matches that the journal has; rooms hold its newest event."""
    for player, session in server.hub.services.players.sessions.items():
        name, is_guest = _one(world, "SELECT name, is_guest FROM players WHERE id = ?", player)
        world.claim(session.info.name == name, f"{session.info.name} is called {name} in the journal")
        world.claim(session.is_guest == bool(is_guest), f"whether {name} is a guest is the same in the journal")
        rows = _all(world, "SELECT id FROM matches WHERE NOT is_over AND ? IN (first, second)", player)
        live = {match for (match,) in rows}
        world.claim(session.live == live, f"{name} plays {live} by the journal, {session.live} in memory")
    world.claim(not server.hub.services.players.starting, "no match is being begun")
    for match_id, room in server.hub.registry.rooms.items():
        if room.match is not None:
            seq = _newest_seq(world, match_id)
            world.claim(room.match.seq == seq, f"{match_id} is at {room.match.seq} in memory, at {seq} on disk")


def rooms_are_heard_and_flags_fall(world: "World", server: "Server") -> None:
    """A room that nobody hears is let go; where somebody waits for it, a flag falls when it is due."""
    for match_id, room in server.hub.registry.rooms.items():
        world.claim(bool(room.audience), f"nobody hears {match_id}, and it is in memory")
        match = room.match
        if match is not None and match.clock is not None and not match.is_over and room.audience.players:
            due_ms = match.clock.flag_at_ms()
            is_due = due_ms is not None and due_ms < world.now_ms() - LATE_MS
            world.claim(not is_due, f"the flag of {match_id} was due {due_ms}, it is {world.now_ms()}")


def clients_show_what_the_server_holds(world: "World", server: "Server") -> None:
    """The newest event, whose turn it is and the end of a match are on a client's screen as in the journal."""
    for peer in world.peers:
        for match_id, seen in peer.matches.items():
            room = server.hub.registry.rooms.get(match_id)
            if room is None or not _hears(peer.name, room) or not peer.session.is_following(match_id):
                continue
            stored = _match(world, match_id)
            shown = (seen.seq, seen.is_over, None if seen.is_over else seen.to_move)
            held = (stored.seq, stored.is_over, None if stored.is_over else stored.to_move)
            world.claim(shown == held, f"{peer.name} shows {shown} of {match_id}, the journal has {held}")


def what_was_decided_is_in_force(world: "World", server: "Server") -> None:
    """Bans and mutes in memory are those of the journal, who is banned is not here, and each admin had an answer."""
    services = server.hub.services
    now_ms = world.now_ms()
    rows = _all(world, "SELECT act, whom FROM sanctions WHERE until_ms IS NULL OR until_ms > ?", now_ms)
    held = {(each.act, each.whom) for each in services.sanctions.in_force()}
    world.claim(held == set(rows), f"sanctions {held} are in force, the journal has {set(rows)}")
    for session in services.players.sessions.values():
        is_banned = services.sanctions.on("ban", session.subject, session.connection.address)
        world.claim(not is_banned, f"{session.info.name} is banned, and here")
    left = [act for process, _, act in world.unanswered_acts if process == server.process]
    world.claim(not left, f"an admin waits for an answer to {left}")


def what_was_promised_stands(world: "World", server: "Server") -> None:
    """An invitation is good if the journal has it, and no other; names in a room are those of the journal."""
    now_ms = world.now_ms()
    rows = _all(world, "SELECT code FROM invitations WHERE expires_ms > ?", now_ms)
    for (code,) in rows:
        world.claim(server.hub.lobby.is_code(code, now_ms), f"invitation {code} is in the journal and not good")
    for code in world.codes:
        is_good = server.hub.lobby.is_code(code, now_ms)
        world.claim(not is_good or (code,) in rows, f"invitation {code} is good and not in the journal")
    for match_id, room in server.hub.registry.rooms.items():
        if room.match is not None:
            held = [player.name for player in room.match.players]
            kept = [player.name for player in _match(world, match_id).players]
            world.claim(held == kept, f"{held} play {match_id}, by the journal {kept}")


def results_and_ratings_agree(world: "World") -> None:
    """Each rated match that ended with a result counts once for both; won, drawn and lost are what matches say."""
    rated = _all(
        world,
        "SELECT first, second, winner, reason FROM matches WHERE is_over AND is_rated AND reason NOT IN ('abort')",
    )
    games = sum(2 for _ in rated)
    (counted,) = _one(world, "SELECT coalesce(sum(games), 0) FROM ratings")
    forgotten = _all(world, "SELECT 1 FROM players WHERE token_hash IS NULL")
    if not forgotten and not world.slept_ms:  # old matches are forgotten, and what they led to stays
        world.claim(counted == games, f"{counted} results are in ratings, {games} in rated matches")


def entries_are_all_there_is_to_know(world: "World") -> None:
    """The entries of the journal, applied elsewhere in their order and in other batches, lead to the same tables."""
    world.disk.replicate()
    there, here = canonical(world.disk.replica.connection), canonical(world.disk.connection)
    world.claim(there == here, "the entries lead to other tables elsewhere")


def time_never_goes_back(world: "World") -> None:
    """Within a match, each event is at the moment of the one before, or later; and none is missing."""
    for (match_id,) in _all(world, "SELECT id FROM matches"):
        events = _events(world, match_id)
        world.claim([event.seq for event in events] == list(range(1, len(events) + 1)), f"{match_id} has a gap")
        times = [event.at_ms for event in events]
        world.claim(times == sorted(times), f"time goes back in {match_id}: {times}")
        _match(world, match_id)


def _hears(name: str, room: Any) -> bool:
    return any(session.info.name == name for session in room.audience.players.values())


def _match(world: "World", match_id: str) -> Match:
    return Match.from_events(_events(world, match_id))


def _events(world: "World", match_id: str) -> list[Any]:
    try:
        return list(read_match(world.disk.connection, match_id).events)
    except Refusal:
        return []


def _newest_seq(world: "World", match_id: str) -> int:
    (seq,) = _one(
        world,
        "SELECT coalesce(max(seq), 0) FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?)",
        match_id,
    )
    return int(seq)


def _one(world: "World", query: str, *values: object) -> tuple[Any, ...]:
    row: tuple[Any, ...] = world.disk.connection.execute(query, values).fetchone()
    return row


def _all(world: "World", query: str, *values: object) -> list[tuple[Any, ...]]:
    return world.disk.connection.execute(query, values).fetchall()
