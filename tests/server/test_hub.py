"""Players come, are known again, wait, and go: over real sockets."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.peer import CONT, HANDSHAKE, PING, TEXT, client_frame, said
from tests.server.running import running, until
from ttt_net.errors import Closing
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection


async def test_a_new_player_is_welcomed_with_a_token(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.connect()
        welcome = await peer.hello(name="Ann")
        assert welcome["you"] == {"name": "Ann"}
        assert welcome["matches"] == []
        assert len(welcome["token"]) >= 43, "256 bits in base64"


async def test_a_token_brings_the_same_player_back_even_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        token = ann.token
    async with running(tmp_path) as server:
        again = await server.connect()
        welcome = await again.hello(token=token)
        assert welcome["you"] == {"name": "Ann"}
        assert "token" not in welcome


@pytest.mark.parametrize("name", ["Ann", "ann", "ANN ", "Ａｎｎ", "A\u200bnn"])
async def test_a_name_that_looks_the_same_is_taken(tmp_path: Path, name: str) -> None:
    async with running(tmp_path) as server:
        await server.join("Ann")
        other = await server.connect()
        assert await other.refused("hello", protocols=[1], name=name) == "name_taken"
        await other.hello(name="Bob")


@pytest.mark.parametrize(
    ("who", "code"),
    [
        ({"token": "x" * 43}, "unknown_token"),
        ({"token": "' OR 1=1 --"}, "unknown_token"),
        ({"name": "Ben", "token": "x" * 31}, "unknown_token"),
        ({"name": "B", "token": "x" * 43}, "bad_name"),
        ({"token": "\u0000é"}, "unknown_token"),
        ({"name": ""}, "bad_name"),
        ({"name": "\u200b\u202e\x1b"}, "bad_name"),
        ({"name": "Ann", "protocols": [2, 3]}, "bad_protocol"),
        ({"name": "Ann", "protocols": []}, "bad_message"),
        ({"name": 7}, "bad_message"),
        ({"name": "x" * 81}, "bad_message"),
        ({"name": "Ann", "admin": True}, "bad_message"),
    ],
)
async def test_a_bad_hello_is_refused_and_a_good_one_may_follow(
    tmp_path: Path, who: dict[str, object], code: str
) -> None:
    async with running(tmp_path) as server:
        peer = await server.connect()
        assert await peer.refused("hello", **({"protocols": [1]} | who)) == code
        await peer.hello(name="Ann")


async def test_only_one_hello_is_accepted_and_nothing_before_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.connect()
        for request in ("who", "ping", "unseek", "seek"):
            assert await peer.refused(request) == "hello_first"
        first = await peer.say("hello", protocols=[1], name="Ann")
        second = await peer.say("hello", protocols=[1], name="Bob")
        assert (await peer.answer(second))["code"] == "hello_first"
        assert (await peer.answer(first))["type"] == "ok"
        assert await peer.refused("hello", protocols=[1], name="Carl") == "hello_first"
        assert [session.info.name for session in server.sessions.values()] == ["Ann"]


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{", '{"type":"fly","id":1}', '{"id":1}', '{"type":"ping"}', '{"type":"ping","id":-1}',
     '{"type":"ping","id":1e9}', '{"type":"ping","id":"1"}', '{"type":"ping","id":1,"x":2}', "[" * 4_000,
     '{"type":"ping","id":' + "9" * 4_000 + "}", '{"type":["ping"],"id":1}', '{"type":"hello","id":1}'],
)  # fmt: skip
async def test_invalid_requests_are_refused_and_change_nothing(tmp_path: Path, text: str) -> None:
    async with running(tmp_path) as server:
        peer = await server.join("Ann")
        await peer.socket.send(text)
        refused = json.loads(await peer.socket.recv())
        assert (refused["type"], refused["code"]) == ("refused", "bad_message")
        await peer.ok("ping")


async def test_a_token_takes_over_and_the_first_is_closed_with_4001(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 4))
        again = await server.connect()
        assert (await again.hello(token=first.token))["matches"] == [match]
        assert await first.close_code() == 4001
        snapshot = await again.resume(match)
        assert (snapshot["you"], snapshot["moves"]) == (0, [4])
        await again.play(match, (second, 0), (again, 8), ply=1)
        assert len(server.sessions) == 2


async def test_two_hellos_with_one_token_at_once_leave_one_session(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        rivals = [await server.connect() for _ in range(5)]
        asked = server.hub.metrics.requests
        with server.stopped_disk():
            for number, rival in enumerate(rivals, 1):
                await rival.say("hello", protocols=[1], token=ann.token)
                await until(lambda number=number: server.hub.metrics.requests == asked + number)  # type: ignore[misc]
        for replaced in (ann, *rivals[:-1]):
            assert await replaced.close_code() == 4001
        await rivals[-1].ok("ping")
        assert len(server.sessions) == 1


async def test_a_hello_whose_answer_was_lost_can_be_repeated(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, again, other = await server.connect(), await server.connect(), await server.connect()
        who = {"name": "Ann", "token": "t" * 40}
        with server.stopped_disk():
            await first.say("hello", protocols=[1], **who)
            first.abort()
            asked = await again.say("hello", protocols=[1], **who)
        assert (await again.answer(asked))["type"] == "ok"
        welcome = await again.hear("welcome")
        assert welcome["you"] == {"name": "Ann"}
        assert "token" not in welcome, "it is the client's own"
        assert await other.refused("hello", protocols=[1], name="Ann", token="u" * 40) == "name_taken"
    async with running(tmp_path) as server:
        later = await server.connect()
        assert (await later.hello(token="t" * 40))["you"] == {"name": "Ann"}


async def test_a_client_that_leaves_before_the_welcome_leaves_nothing_behind(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peer = await server.connect()
        limits = server.hub.limits
        with server.stopped_disk() as held:
            await peer.say("hello", protocols=[1], name="Ann")
            await until(held.is_set)
            peer.abort()
            server.tick(limits.hello_s + 1)
            server.tick(limits.hello_s + limits.closing_s + 2)
            await until(lambda: not server.connections)
        await server.flushed()
        assert server.sessions == {}


async def test_seekers_are_paired_in_order_and_the_game_is_one_that_both_would_play(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, carl = [await server.join(name) for name in ("Ann", "Bob", "Carl")]
        await ann.ok("seek", games=["connect4"])
        await bob.ok("seek", games=["tictactoe"])
        await carl.ok("seek", games=["tictactoe", "connect4"])
        snapshot = await carl.hear("snapshot")
        assert snapshot["game"]["name"] == "connect4", "Ann has waited longest"
        assert {player["name"] for player in snapshot["players"]} == {"Ann", "Carl"}


async def test_nobody_is_paired_with_themselves_or_with_a_departed_player(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("seek")
        await ann.ok("seek")
        assert server.rooms == {}
        ann.abort()
        await until(lambda: len(server.sessions) == 1)
        await bob.ok("seek")
        await server.flushed()
        assert server.rooms == {}
        await bob.ok("unseek")
        assert await bob.refused("unseek") == "not_seeking"


async def test_a_seek_goes_with_the_token_to_another_connection(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await ann.ok("seek")
        again = await server.connect()
        assert (await again.hello(token=ann.token))["seek"]["games"] == []
        await bob.ok("seek")
        assert (await again.hear("snapshot"))["match"] == (await bob.hear("snapshot"))["match"]


@pytest.mark.parametrize(
    ("seek", "code"),
    [
        ({"games": ["chess"]}, "unknown_game"),
        ({"games": ["mnk:99x99,3"]}, "unknown_game"),
        ({"games": ["mnk:03x3,3' --"]}, "unknown_game"),
        ({"games": ["x"] * 17}, "bad_message"),
        ({"games": "tictactoe"}, "bad_message"),
        ({"time": {"initial_ms": 1}}, "bad_message"),
        ({"time": {"initial_ms": 1_000, "increment_ms": -1}}, "bad_message"),
        ({"opponents": "robots"}, "bad_message"),
    ],
)
async def test_a_bad_seek_is_refused_and_nobody_waits(tmp_path: Path, seek: dict[str, object], code: str) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        assert await ann.refused("seek", **seek) == code
        assert await ann.refused("unseek") == "not_seeking"


async def test_the_command_who_lists_bots_as_bots_and_everybodys_activity(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        robot = await server.join("Robot", bot="alpha\x1bbeta")
        ann, _, _ = await server.pair("Ann", "Bob")
        await robot.ok("seek", games=["connect4"])
        await ann.ok("who")
        players = await ann.hear("players")
        assert players["online"] == 3
        assert players["players"] == [
            {"name": "Ann", "playing": 1},
            {"name": "Bob", "playing": 1},
            {"name": "Robot", "bot": "alphabeta", "seeking": ["connect4"], "places": 1, "free": 1},
        ]


async def test_a_client_that_is_too_fast_is_refused_and_then_closed_with_1008(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(messages=Rate(10, 10.0))) as server:
        server.clock.stand_still()
        peer = await server.raw()
        await peer.hello("Ann")
        await peer.send(b"".join(said("ping", number) for number in range(2, 12)))
        refused = await peer.hear("refused")
        assert (refused["code"], refused["id"]) == ("too_fast", 11)
        assert 0 < refused["retry_after_ms"] <= 2_001
        await peer.send(said("ping", 12) * 30)
        assert await peer.close_code() == 1008


async def test_a_flood_of_pings_or_fragments_is_closed_with_1008(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for flood in (client_frame(PING), client_frame(CONT, fin=False)):
            peer = await server.raw()
            await peer.upgrade()
            await peer.send(client_frame(TEXT, fin=False) + flood * 1_000)
            assert await peer.close_code() == 1008


async def test_a_server_that_is_full_says_so_with_503_and_takes_the_next_when_one_leaves(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(max_connections=2)) as server:
        ann, _ = await server.join("Ann"), await server.join("Bob")
        turned_away = await server.raw()
        await turned_away.send(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert await turned_away.status() == 200, "the host still sees that it lives"
        turned_away.close()
        for opening in (HANDSHAKE, b"GET / HTTP/1.1\r\n\r\n"):
            waiting = await server.raw()
            if opening == HANDSHAKE:
                await waiting.upgrade()  # into the one reserved place
                continue
            await waiting.send(opening)
            head = await waiting.read_head()
            assert head.startswith(b"HTTP/1.1 503 ")
            assert b"Retry-After: 1" in head
        turned_away = await server.raw()
        await turned_away.send(HANDSHAKE)
        assert await turned_away.status() == 503
        server.hang_up()
        await ann.close()
        await until(lambda: len(server.connections) == 1)
        await server.join("Carl")


async def test_a_player_of_an_unfinished_match_comes_back_to_a_full_server_and_nobody_else_does(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Limits(max_connections=40)) as server:
        ann, bob, match = await server.pair()
        other = await server.join("Other")
        other_token = other.token
        ann.abort()
        other.abort()
        await until(lambda: len(server.connections) == 1)
        crowd = [await server.join(f"P{number}") for number in range(39)]
        strangers: tuple[dict[str, Any], ...] = (
            {"name": "New"},
            {},
            {"token": other_token},
            {"token": "x" * 40, "name": "New"},
        )
        for who in strangers:
            stranger = await server.raw()
            await stranger.upgrade()
            await stranger.send(said("hello", protocols=[1], **who))
            assert await stranger.close_code() == Closing.FULL
            stranger.close()
            await until(lambda: len(server.connections) == 40)
        back = await server.connect()
        assert (await back.hello(token=ann.token))["matches"] == [match]
        await back.ok("resume", match=match, seq=0)
        again = await server.connect()
        assert (await again.hello(token=crowd[0].token))["you"]["name"] == "P0", "this takes no further place"
        await bob.ok("ping")


async def test_a_player_with_as_many_matches_as_they_may_have_starts_no_more(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(max_live_matches=2)) as server:
        ann, bob, match = await server.pair()
        await server.match(ann, bob)
        assert await ann.refused("seek") == "too_many_matches"
        await ann.ok("resign", match=match)
        await ann.ok("seek")


async def test_clients_that_connect_during_a_drain_are_asked_to_reconnect(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        early = await server.connect()
        ann = await server.join("Ann")
        half = await server.raw()
        await until(lambda: len(server.connections) == 3)
        server.hub.services.shutdown.drain()
        await half.send(HANDSHAKE)
        assert await half.status() == 503
        assert (await ann.hear("restarting"))["retry_after_ms"] > 0
        assert await ann.refused("seek") == "restarting"
        assert await ann.refused("play", match="none", ply=0, move=0) == "restarting"
        assert await early.refused("hello", protocols=[1], name="Bob") == "restarting"
        server.hub.close_all()
        assert await ann.close_code() == await early.close_code() == 1012


async def test_the_rules_of_a_game_are_sent_on_request(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        await ann.ok("rules", game="connect4")
        page = await ann.hear("rules")
        assert page["title"] == "Connect Four"
        assert page["goal"] == "Get four of your marks in a row: across, up or diagonally."
        assert len(page["tips"]) == 2
        assert page["example"]["moves"] == ["4", "4", "3", "3", "5", "5", "6"]
        assert " 1  .  . [X][X][X][X] ." in page["example"]["rows"]
        assert await ann.refused("rules", game="chess") == "unknown_game"
        await ann.ok("rules", game="mnk:3x1,3")
        assert (await ann.hear("rules"))["example"] is None


async def test_asking_for_rules_has_a_rate_because_a_large_board_takes_a_while_to_make(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(inquiries=Rate(3, 3_600.0))) as server:
        ann = await server.join("Ann")
        for width in range(3, 6):
            await ann.ok("rules", game=f"mnk:{width}x3,3")
        assert await ann.refused("rules", game="mnk:19x19,5") == "too_fast"


async def test_between_looks_at_many_connections_requests_have_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_after: list[Connection] = []
    async with running(tmp_path) as server:
        peers = [await server.raw() for _ in range(60)]
        await until(lambda: len(server.connections) == len(peers))
        await until(lambda: not len(server.hub.turns))
        monkeypatch.setattr(Connection, "tick", lambda connection, _: looked_after.append(connection))
        server.tick(0)
        assert len(looked_after) == 25
        await until(lambda: len(looked_after) >= len(peers))
        assert set(looked_after) == set(server.connections)
