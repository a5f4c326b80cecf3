"""Laws that hold in every world, each written once.

`check` looks while everything is under way, `check_at_rest` once faults have ended and the world has become quiet.
`Peer` checks what a client can see for itself: one reply to each request, no gap in a match.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from tests.server.journal.walk import canonical, know_events
from tests.simulation import tournaments
from tests.simulation.pairings import could_meet, may_play
from ttt_net import messages as wire
from ttt_net.clock import GRACE_MS, TimeControl, speed
from ttt_net.errors import Refusal
from ttt_net.matches.match import Match
from ttt_net.matches.referee import FREE_AFTER_MS
from ttt_net.ratings import Rating, rated
from ttt_net.server.journal import read_match
from ttt_net.server.matchmaking.listing import MOVING_MS
from ttt_net.server.server_clock import MOST_CHARGED_MS

if TYPE_CHECKING:
    from tests.simulation.peer import Peer
    from tests.simulation.server import SimulatedServer
    from tests.simulation.stage import Stage
    from tests.simulation.world import World

LATE_MS = 1_500
"""By how much a flag may fall late."""
_SCORES = {0: 1.0, None: 0.5, 1: 0.0}
LATE_LIST_MS = 15_000
"""How old a list on a screen may be at the most, while everything is well."""
MOST_IN_MEMORY = 400
"""More objects of a kind than a world of six people can need."""


def check(world: "World") -> None:
    """Check what holds at every moment."""
    if world.swarm.has_tournaments:
        tournaments.check(world)
    for server in world.running:
        check_server(world, server)


def check_server(world: "World", server: "SimulatedServer") -> None:
    """Check what holds at every moment in each server."""
    memory_is_never_ahead_of_the_disk(world, server)
    nobody_is_here_twice(world, server)
    nobody_plays_too_much(world, server)
    time_of_play_is_time_awake(world, server)
    the_server_counts_no_fault(world, server)
    memory_is_bounded(world, server)


def check_at_rest(world: "World") -> None:
    """Check what holds when nothing is under way: to be called after `World.settle`."""
    check(world)
    server = world.server
    world.claim(server is not None, "the server is back")
    assert server is not None
    everybody_is_back_and_answered(world)
    check_server_at_rest(world, server)
    tournaments.check_at_rest(world, server)
    who_could_play_is_paired(world, server)
    results_and_ratings_agree(world)
    time_never_goes_back(world)
    clocks_sum_up(world)
    entries_are_all_there_is_to_know(world)


def check_server_at_rest(world: "World", server: "SimulatedServer") -> None:
    """Check what holds in each server when nothing is under way."""
    the_lobby_agrees_with_the_journal(world, server)
    rooms_are_heard_and_flags_fall(world, server)
    clients_show_what_the_server_holds(world, server)
    what_was_decided_is_in_force(world, server)
    blocks_are_those_of_the_journal(world, server)
    progress_with_mistakes_is_kept(world)
    what_was_promised_stands(world, server)
    every_event_has_a_cause(world)
    a_code_leads_to_one_match(world)
    lists_are_those_of_the_server(world, server)
    nobody_who_is_gone_keeps_a_bot(world, server)


# At every moment.


def memory_is_never_ahead_of_the_disk(world: "World", server: "SimulatedServer") -> None:
    """A match in memory has at most the events that are committed."""
    for match_id, room in server.hub.registry.rooms.items():
        if room.match is not None:
            seq = _newest_seq(world, match_id)
            world.claim(room.match.seq <= seq, f"{match_id} is at {room.match.seq} in memory, at {seq} on disk")


def nobody_is_here_twice(world: "World", server: "SimulatedServer") -> None:
    """A player has one session; it knows its rooms, and they know it, and nobody else."""
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
    sessions = hub.services.players.sessions
    world.claim(len(hub.services.players) == len(sessions), "the list of players has each session once")
    for match_id, room in hub.registry.rooms.items():
        audience = room.audience
        for player, session in (*audience.players.items(), *audience.elsewhere.items()):
            world.claim(sessions.get(player) is session, f"somebody hears {match_id} who is gone: {session.info.name}")
        watchers = sum(audience.watches(session) for session in sessions.values())
        world.claim(watchers == audience.watchers_here, f"somebody watches {match_id} who is gone")


def nobody_plays_too_much(world: "World", server: "SimulatedServer") -> None:
    """Nobody plays themselves; nobody has more matches than are allowed, those included that are about to begin.

    Matches of tournaments do not count: a round begins for all.
    """
    directed = {match for (match,) in world.truth.execute("SELECT match FROM pairings")}
    services = server.hub.services
    most = services.limits.max_live_matches + world.more_matches
    for player, session in services.players.sessions.items():
        count = len(session.live - directed) + services.players.starting[player]
        world.claim(count <= most, f"{session.info.name} has {count} matches, of {most} at most")
    for match_id, room in server.hub.registry.rooms.items():
        players = room.seats.players
        world.claim(players is None or players[0] != players[1], f"somebody plays {match_id} against themselves")
    for seek in server.hub.lobby.seeks:
        world.claim(seek.player in services.players.sessions, f"a seek of {seek.player} stands, who is not here")


def time_of_play_is_time_awake(world: "World", server: "SimulatedServer") -> None:
    """Where there are clocks, time of play goes on while the process does, and stands still while it does."""
    if not world.swarm.is_timed or server.is_paused():
        return
    awake_s, stops = world.loop.awake(server.process)
    played_ms = server.hub.services.now_ms()
    if server.played_ms is not None:
        before_ms, (before_s, stops_before) = server.played_ms
        passed_ms, awake_ms = played_ms - before_ms, (awake_s - before_s) * 1000
        most_ms = 2 + (MOST_CHARGED_MS + 50) * (stops - stops_before)
        is_right = abs(passed_ms - awake_ms) <= most_ms
        world.claim(is_right, f"{passed_ms} ms of play went by while the server was awake for {awake_ms:.0f}")
    server.played_ms = played_ms, (awake_s, stops)


def the_server_counts_no_fault(world: "World", server: "SimulatedServer") -> None:
    """Nothing that was asked raised what should not be raised."""
    world.claim(server.hub.metrics.faults == 0, "the server counted a fault of its own")


def memory_is_bounded(world: "World", server: "SimulatedServer") -> None:
    """Memory does not grow with time."""
    hub = server.hub
    world.claim(len(hub.registry.rooms) <= MOST_IN_MEMORY, f"{len(hub.registry.rooms)} rooms")
    world.claim(len(hub.services.connections) <= MOST_IN_MEMORY, f"{len(hub.services.connections)} connections")


# At rest.


def everybody_is_back_and_answered(world: "World") -> None:
    """With faults off, everybody comes back, and every request has had its answer."""
    for peer in world.peers:
        world.claim(peer.is_welcome, f"{peer.name} did not come back")
        world.claim(not peer.talk.asked, f"{peer.name} waits for answers to {list(peer.talk.asked.values())}")


def the_lobby_agrees_with_the_journal(world: "World", server: "SimulatedServer") -> None:
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


def rooms_are_heard_and_flags_fall(world: "World", server: "SimulatedServer") -> None:
    """A room that nobody hears is let go; where somebody waits for it, a flag falls when it is due."""
    for match_id, room in server.hub.registry.rooms.items():
        match = room.match
        is_held = match is not None and match.tournament is not None and not match.is_over
        world.claim(is_held or bool(room.audience), f"nobody hears {match_id}, and it is in memory")
        if match is not None and match.clock is not None and not match.is_over and room.audience.players:
            due_ms = match.clock.flag_at_ms()
            now_ms = server.hub.services.now_ms()
            is_due = due_ms is not None and due_ms < now_ms - LATE_MS
            world.claim(not is_due, f"the flag of {match_id} was due {due_ms}, it is {now_ms}")


def nobody_who_is_gone_keeps_a_bot(world: "World | Stage", server: "SimulatedServer") -> None:
    """A bot that is here waits for an absent opponent no longer than the grace, and a little."""
    now_ms = server.hub.services.now_ms()
    for match_id, room in server.hub.registry.rooms.items():
        match, players = room.match, room.seats.players
        if match is None or players is None or match.is_over or match.is_adjourned:
            continue
        for side, player in enumerate(players):
            if match.players[side].bot is None or player not in room.audience.players:
                continue
            away = match.absences.of(1 - side)
            is_freed = away is None or now_ms - away.went_ms <= GRACE_MS + FREE_AFTER_MS + LATE_MS
            world.claim(is_freed, f"{match_id} keeps the bot {match.players[side].name} for somebody who is gone")
    for match_id, address in server.hub.services.players.bot_places.holders.items():
        held = server.hub.registry.rooms.get(match_id)
        is_live = held is not None and held.match is not None and not held.match.is_over
        world.claim(is_live, f"{address} holds the place of a bot in {match_id}, which nobody plays")


def clients_show_what_the_server_holds(world: "World", server: "SimulatedServer") -> None:
    """The newest event, whose turn it is, the end, who is there and how many watch are on a client's screen as here."""
    for peer in world.peers:
        for match_id, seen in peer.matches.items():
            room = server.hub.registry.rooms.get(match_id)
            if room is None or not _hears(peer.name, room) or not peer.session.is_following(match_id):
                continue
            stored = _match(world, match_id).snapshot(None, (True, True), 0)
            if room.match is not None:  # an adjourned match goes on once both are back, without an event
                stored = replace(stored, adjourned=room.match.is_adjourned)
            shown, held = _belief(seen), _belief(stored)
            world.claim(shown == held, f"{peer.name} shows {shown} of {match_id}, the journal has {held}")
            shown_now, held_now = (seen.present, seen.watchers), (room.seats.present(), room.audience.watchers)
            world.claim(shown_now == held_now, f"{peer.name} shows {shown_now} in {match_id}, there are {held_now}")


def _belief(seen: wire.Snapshot) -> tuple[object, ...]:
    """Return what a player believes of a match: all that is the same for everybody, and does not change by itself."""
    position, offers = seen.position, sorted((each.side, each.kind, each.seq) for each in seen.offers)
    board = (position.board, position.ply, position.to_move, list(position.legal), list(position.line))
    return seen.seq, seen.moves, board, offers, seen.outcome, seen.adjourned, seen.next, seen.last


def every_event_has_a_cause(world: "World") -> None:
    """Each event of a match was asked for by a request that was not refused; offers by those who saw them."""
    for (match_id,) in _all(world, "SELECT id FROM matches"):
        world.causes.check(_match(world, match_id))


def what_was_decided_is_in_force(world: "World", server: "SimulatedServer") -> None:
    """Bans and mutes in memory are those of the journal, who is banned is not here, and each admin had an answer."""
    services = server.hub.services
    query = "SELECT act, whom FROM sanctions WHERE until_ms IS NULL OR until_ms > ?"
    rows = set(_all(world, query, services.wall_ms()))
    held = {(each.act, each.whom) for each in services.sanctions.in_force()}
    sure = set(_all(world, query, world.now_ms() + world.ahead_ms))  # by no clock they have ended
    world.claim(sure <= held <= rows, f"sanctions {held} are in force, the journal has {rows}")
    for session in services.players.sessions.values():
        is_banned = services.sanctions.on("ban", session.subject, session.connection.address)
        world.claim(not is_banned, f"{session.info.name} is banned, and here")
    left = [act for process, _, act in world.unanswered_acts if process == server.process]
    world.claim(not left, f"an admin waits for an answer to {left}")


def blocks_are_those_of_the_journal(world: "World", server: "SimulatedServer") -> None:
    """Each connected player has muted and blocked those whom the journal has, without players who were forgotten."""
    living = {player for (player,) in _all(world, "SELECT id FROM players WHERE token_hash IS NOT NULL")}
    kept: dict[int, dict[int | None, bool]] = {}
    for player, other, is_block in _all(world, "SELECT player, other, is_block FROM blocks ORDER BY number"):
        kept.setdefault(player, {})[other] = bool(is_block)
    for session in server.hub.services.players.sessions.values():
        held = {other: each for other, each in session.blocks.items() if other is None or other in living}
        rows = kept.get(session.player, {})
        world.claim(held == rows, f"{session.info.name} has muted or blocked {held}, by the journal {rows}")


def progress_with_mistakes_is_kept(world: "World") -> None:
    """Of each acknowledged mistake of a player there is the most progress that was acknowledged, or more."""
    kept = {
        (player, puzzle): (due, times)
        for player, puzzle, due, times in _all(world, "SELECT player, puzzle, due, times FROM mistakes")
    }
    living = {player for (player,) in _all(world, "SELECT id FROM players WHERE token_hash IS NOT NULL")}
    for (player, puzzle), progress in world.learned.items():
        is_there = kept.get((player, puzzle), ("", -1)) >= progress
        world.claim(player not in living or is_there, f"player {player} has learned {puzzle} less than {progress}")


def a_code_leads_to_one_match(world: "World") -> None:
    """No two matches were begun by one invitation; rematches have its code, too."""
    twice = _all(
        world,
        "SELECT value ->> 'code' AS code FROM facts, json_each(events(fact)) WHERE value ->> 'type' = 'started'"
        " AND code IS NOT NULL AND value ->> 'previous' IS NULL GROUP BY code HAVING COUNT(*) > 1",
    )
    world.claim(not twice, f"two matches were begun by each of the invitations {twice}")


def what_was_promised_stands(world: "World", server: "SimulatedServer") -> None:
    """An invitation is good if the journal has it, and no other; names in a room are those of the journal."""
    now_ms = server.hub.services.wall_ms()
    rows = _all(world, "SELECT code FROM invitations WHERE expires_ms > ?", now_ms)
    sure = _all(world, "SELECT code FROM invitations WHERE expires_ms > ?", world.latest_ms())
    for (code,) in sure:
        world.claim(server.hub.lobby.is_code(code, now_ms), f"invitation {code} is in the journal and not good")
    for code in world.codes:
        is_good = server.hub.lobby.is_code(code, now_ms)
        if is_good and server.hub.lobby.offered(code).expires_ms <= world.latest_ms():
            continue  # by the clock of another machine, or by this one before it was set back, it is too old
        world.claim(not is_good or (code,) in rows, f"invitation {code} is good and not in the journal")
    for match_id, room in server.hub.registry.rooms.items():
        if room.match is not None:
            held = [player.name for player in room.match.players]
            kept = [player.name for player in _match(world, match_id).players]
            world.claim(held == kept, f"{held} play {match_id}, by the journal {kept}")


def lists_are_those_of_the_server(world: "World", server: "SimulatedServer") -> None:
    """Subscribers of the lobby have the seeks, people and live matches that the server would list now."""
    for name, shown, listed in differing_lists(world.peers, server):
        world.claim(False, f"{name} is shown {shown}, and it is {listed}")


def differing_lists(peers: "list[Peer]", server: "SimulatedServer") -> Iterator[tuple[str, object, object]]:
    """Yield who is shown another list than the server's, with both."""
    services, listing = server.hub.services, server.hub.listing
    made = (listing.seeks(), listing.players(), _as_shown(listing.live(), server)) if services.feed.readers else ()
    for peer in peers:
        session = services.players.find(peer.name)
        if session is None or session.is_elsewhere or session.player not in services.feed.readers:
            continue
        for listed in made:
            shown: Any = peer.lists.get(type(listed))
            if isinstance(shown, wire.LiveList):
                shown = _as_shown(shown, server)
            if shown != listed:
                yield peer.name, shown, listed


def _as_shown(live: wire.LiveList, server: "SimulatedServer") -> wire.LiveList:
    """Return a list of live matches; without what follows from how long ago they moved, where one has not for long."""
    now_ms = server.hub.services.wall_ms()
    rooms = [room.match for room in server.hub.registry.rooms.values() if room.match is not None]
    if all(now_ms - match.events[-1].at_ms < MOVING_MS - LATE_LIST_MS for match in rooms):
        return live
    bare = sorted((replace(each, featured=False) for each in live.matches), key=lambda each: each.match)
    return wire.LiveList(live.count, bare)


def who_could_play_is_paired(world: "World", server: "SimulatedServer") -> None:
    """No two people stand in the lobby who seek the same match and may both have one more."""
    free = [seek for seek in server.hub.lobby.seeks if may_play(server, seek)]
    for one, other in combinations(free, 2):
        names = [server.hub.services.players.sessions[seek.player].info.name for seek in (one, other)]
        world.claim(not could_meet(server, one, other), f"{names[0]} and {names[1]} seek the same, and wait")


def results_and_ratings_agree(world: "World") -> None:
    """Ratings, and what players have won, drawn and lost, are what follows from the matches in the order of their ends.

    Not where some were forgotten: of old matches and players, what they led to stays. Nor where the order is lost.
    """
    if world.slept_ms or _all(world, "SELECT 1 FROM players WHERE token_hash IS NULL"):
        return
    if _all(world, "SELECT 1 FROM matches AS one, matches AS other WHERE one.is_packed AND other.is_rated LIMIT 1"):
        return
    ends = _all(
        world,
        "SELECT first, second, winner, is_rated, game, time, ended_ms FROM matches JOIN facts ON facts.match = number,"
        " json_each(events(fact)) WHERE value ->> 'type' = 'ended' AND reason NOT IN ('abort', 'forfeit')"
        " ORDER BY facts.id",
    )
    ratings: dict[tuple[int, str, str], Rating] = {}
    tallies: dict[int, list[int]] = {}
    met: defaultdict[int, set[int]] = defaultdict(set)
    for first, second, winner, is_rated, game, time, ended_ms in ends:
        met[first].add(second)
        met[second].add(first)
        for player, side in ((first, 0), (second, 1)):
            tally = tallies.setdefault(player, [0, 0, 0])
            tally[1 if winner is None else 0 if winner == side else 2] += 1
        if is_rated:
            pace = speed(None if time is None else msgspec.json.decode(time, type=TimeControl))
            keys = (first, game, pace), (second, game, pace)
            before = [ratings.get(key, Rating()) for key in keys]
            known = len(met[first]), len(met[second])
            ratings.update(zip(keys, rated(before[0], before[1], _SCORES[winner], ended_ms, known), strict=True))
    rows = _all(world, "SELECT player, game, speed, rating, deviation, volatility, games, rated_ms FROM ratings")
    kept = {(player, game, pace): Rating(*rating) for player, game, pace, *rating in rows}
    world.claim(kept == ratings, f"the ratings are {kept}, and {ratings} by the matches")
    counted = {player: list(tally) for player, *tally in _all(world, "SELECT id, won, drawn, lost FROM players")}
    for player, tally in counted.items():
        results = tallies.get(player, [0, 0, 0])
        world.claim(tally == results, f"player {player} has {tally} results, and {results} by the matches")


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


def clocks_sum_up(world: "World") -> None:
    """An event costs the side whose time runs at most what has passed, the other nothing, and gives what it should."""
    for match_id, time in _all(world, "SELECT id, time FROM matches WHERE time IS NOT NULL"):
        control = msgspec.json.decode(time, type=TimeControl)
        before, since_ms = wire.ClockInfo((control.initial_ms, control.initial_ms), None), 0
        for event in _events(world, match_id):
            info = getattr(event, "clock", None)
            if info is None:
                continue
            for side in (0, 1):
                runs = before.running == side
                is_press = runs and isinstance(event, wire.Played) and event.side == side
                given_ms = control.increment_ms + event.refunded_ms if is_press else 0
                spent_ms = before.remaining_ms[side] + given_ms - info.remaining_ms[side]
                most_ms = event.at_ms - since_ms + LATE_MS if runs else 0
                is_right = 0 <= spent_ms <= most_ms or (world.clock_set_s >= 0 and spent_ms >= 0 and runs)
                world.claim(is_right, f"event {event.seq} of {match_id} cost side {side} {spent_ms} of {most_ms} ms")
            if isinstance(event, wire.Adjourned):  # the clock runs on, without an event, once both are back
                info = replace(info, running=before.running)
            before, since_ms = info, event.at_ms


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
    know_events(world.disk.connection)
    row: tuple[Any, ...] = world.disk.connection.execute(query, values).fetchone()
    return row


def _all(world: "World", query: str, *values: object) -> list[tuple[Any, ...]]:
    know_events(world.disk.connection)
    return world.disk.connection.execute(query, values).fetchall()
