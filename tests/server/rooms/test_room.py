"""One match at a time: moves, offers, endings, flags, presence and resuming, over real sockets."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.peer import said
from tests.server.running import running, until
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.settings.configuration import Limits, Rate

FAST = Limits(messages=Rate(1_000_000))
TIMED = {"initial_ms": 1_000, "increment_ms": 0}


async def test_a_match_is_played_to_its_line_and_both_receive_the_same_events(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        for ply, (peer, move) in enumerate([(first, 0), (second, 3), (first, 1), (second, 4), (first, 2)]):
            await peer.ok("play", match=match, ply=ply, move=move)
            heard = [await each.hear("played", match=match) for each in (first, second)]
            assert heard[0] == heard[1]
            assert (heard[0]["seq"], heard[0]["ply"], heard[0]["move"]) == (ply + 2, ply + 1, move)
        assert heard[0]["position"] == {
            "ply": 5, "board": "XXXOO....", "to_move": None, "legal": [], "line": [0, 1, 2], "line_by": 0,
            "marks": ["X", "O"],
        }  # fmt: skip
        ended = [await each.hear("ended", match=match) for each in (first, second)]
        assert ended[0] == ended[1]
        assert (ended[0]["winner"], ended[0]["reason"], ended[0]["seq"]) == (0, "line", 7)


async def test_a_draw_is_played_agreed_declined_and_turned_down(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await first.ok("offer", match=match, kind="draw")
        await first.ok("offer", match=match, kind="draw")
        assert (await second.hear("offered"))["side"] == 0
        await second.ok("decline", match=match, kind="draw")
        await first.hear("declined")
        assert await first.refused("offer", match=match, kind="draw") == "turned_down"
        assert await second.refused("decline", match=match, kind="draw") == "no_offer"
        await second.ok("offer", match=match, kind="draw")
        await first.ok("offer", match=match, kind="draw")
        ended = await second.hear("ended")
        assert (ended["winner"], ended["reason"]) == (None, "agreement")


async def test_a_full_board_is_a_draw(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        moves = [0, 4, 8, 1, 7, 6, 2, 5, 3]
        await first.play(match, *[((first, second)[ply % 2], move) for ply, move in enumerate(moves)])
        ended = await second.hear("ended")
        assert (ended["winner"], ended["reason"]) == (None, "draw")


async def test_a_resignation_ends_the_match_for_the_other(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await second.ok("resign", match=match)
        ended = await first.hear("ended")
        assert (ended["winner"], ended["reason"]) == (0, "resign")
        for request in ("resign", "abort"):
            assert await first.refused(request, match=match) == "match_over"
        assert await first.refused("play", match=match, ply=0, move=0) == "match_over"


async def test_a_match_is_aborted_only_before_both_have_moved(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 4))
        await second.ok("abort", match=match)
        ended = await first.hear("ended")
        assert (ended["winner"], ended["reason"]) == (None, "abort")
        first, second, match = await server.pair("Carl", "Dora")
        await first.play(match, (first, 4), (second, 0))
        assert await first.refused("abort", match=match) == "too_late"


async def test_every_bad_request_has_its_own_code_and_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 4))
        before = await second.resume(match)
        assert await second.refused("play", match=match, ply=0, move=0) == "stale_ply"
        assert await second.refused("play", match=match, ply=2, move=0) == "stale_ply"
        assert await first.refused("play", match=match, ply=1, move=0) == "not_your_turn"
        assert await second.refused("play", match=match, ply=1, move=4) == "cell_taken"
        assert await second.refused("play", match=match, ply=1, move=9) == "illegal_move"
        assert await second.refused("play", match=match, ply=1, move=-1) == "bad_message"
        assert await second.refused("play", match="nobody", ply=1, move=0) == "unknown_match"
        assert await second.refused("play", match="x" * 33, ply=1, move=0) == "bad_message"
        assert await second.refused("resume", match="nobody", seq=0) == "unknown_match"
        assert await second.refused("offer", match=match, kind="rematch") == "match_not_over"
        assert await second.refused("decline", match=match, kind="draw") == "no_offer"
        assert await second.resume(match) == before
        assert list(server.rooms) == [match]


async def test_the_same_move_again_is_ok_again_and_made_once(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        requests = [await first.say("play", match=match, ply=0, move=4) for _ in range(5)]
        for request in requests:
            assert (await first.answer(request))["type"] == "ok"
        await second.ok("play", match=match, ply=1, move=0)
        await first.ok("play", match=match, ply=0, move=4)
        assert (await first.resume(match))["moves"] == [4, 0]
        assert await first.refused("play", match=match, ply=0, move=5) == "stale_ply"


async def test_a_stranger_never_changes_a_match_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    async with running(tmp_path, FAST) as server:
        first, second, match = await server.pair()
        stranger = await server.join("Mallory")
        before = await first.resume(match)
        requests: list[tuple[str, dict[str, object]]] = [
            ("play", {"ply": 0, "move": 0}),
            ("resign", {}),
            ("abort", {}),
            ("offer", {"kind": "draw"}),
            ("offer", {"kind": "rematch"}),
            ("decline", {"kind": "draw"}),
            ("resume", {"seq": 0}),
        ]
        for request, fields in requests:
            assert await stranger.refused(request, match=match, **fields) == "not_seated"
        assert await first.resume(match) == before
        with server.stopped_disk():
            mine = await first.say("play", match=match, ply=0, move=4)
            await first.ok("ping")
            for _ in range(100):
                assert await stranger.refused("play", match=match, ply=1, move=0) == "not_seated"
            theirs = await second.say("play", match=match, ply=1, move=0)
        assert (await first.answer(mine))["type"] == (await second.answer(theirs))["type"] == "ok"


async def test_a_stranger_may_not_wake_a_match_that_sleeps_in_the_journal(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        for peer in (first, second):
            await peer.close()
        await server.until_empty()
        stranger = await server.join("Mallory")
        assert await stranger.refused("resume", match=match, seq=0) == "not_seated"
        assert await stranger.refused("resign", match=match) == "not_seated"
        assert server.rooms == {}


async def test_a_rematch_swaps_the_sides_and_is_sent_to_both(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        for _ in range(3):
            await first.ok("resign", match=match)
            await second.hear("ended", match=match)
            await second.ok("offer", match=match, kind="rematch")
            assert (await first.hear("offered", match=match))["kind"] == "rematch"
            await first.ok("offer", match=match, kind="rematch")
            following = (await second.hear("rematched", match=match))["next"]
            snapshots = [await peer.hear("snapshot", match=following) for peer in (first, second)]
            assert [snapshot["you"] for snapshot in snapshots] == [1, 0]
            assert snapshots[0]["previous"] == match
            first, second, match = second, first, following
            await first.play(match, (first, 4), (second, 0))
        assert list(server.rooms) == [match], "the finished ones are let go of"


async def test_the_flag_falls_by_itself(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(time=TIMED)
        await first.play(match, (first, 4), (second, 0))
        ended = [await peer.hear("ended", match=match) for peer in (first, second)]
        assert ended[0] == ended[1]
        assert (ended[0]["winner"], ended[0]["reason"]) == (1, "time")
        assert ended[0]["clock"] == {"remaining_ms": [0, 1_000], "running": None}
        assert await first.refused("play", match=match, ply=2, move=8) == "match_over"


async def test_the_opponent_is_notified_of_dropping_and_returning(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        second.abort()
        gone = await first.hear("presence", match=match, side=1, online=False)
        assert gone["away"]["on_purpose"] is False
        again = await server.connect()
        await again.hello(token=second.token)
        snapshot = await again.resume(match)
        assert snapshot["present"] == [True, True]
        await first.hear("presence", match=match, side=1, online=True)
        await again.close()
        gone = await first.hear("presence", match=match, side=1, online=False)
        assert gone["away"]["on_purpose"] is True


async def test_resuming_sends_the_missed_events_unchanged_and_then_a_snapshot(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await first.play(match, (first, 4), (second, 0))
        second.abort()
        await first.hear("presence", online=False)
        missed: list[dict[str, Any]] = []
        await first.ok("play", match=match, ply=2, move=8)
        missed.append(await first.hear("played", ply=3))
        await first.ok("offer", match=match, kind="draw")
        missed.append(await first.hear("offered"))
        again = await server.connect()
        await again.hello(token=second.token)
        await again.ok("resume", match=match, seq=3)
        for event in missed:
            assert await again.hear(event["type"]) == event
        snapshot = await again.hear("snapshot")
        assert (snapshot["seq"], snapshot["moves"], snapshot["you"]) == (5, [4, 0, 8], 1)
        assert snapshot["offers"] == [{"side": 0, "kind": "draw", "seq": 5}]
        assert not again.heard, "and nothing else"


async def test_a_restart_brings_back_seats_board_offers_and_clock(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(time={"initial_ms": 60_000, "increment_ms": 0})
        await first.play(match, (first, 4), (second, 0), (first, 8))
        told = await second.hear("played", ply=3)
        await first.ok("offer", match=match, kind="draw")
        tokens = first.token, second.token
    async with running(tmp_path) as server:
        server.clock.stand_still()
        first, second = await server.connect(), await server.connect()
        for side, (peer, token) in enumerate(zip((first, second), tokens, strict=True)):
            assert (await peer.hello(token=token))["matches"] == [match]
            snapshot = await peer.resume(match)
            assert (snapshot["you"], snapshot["seq"], snapshot["moves"]) == (side, 5, [4, 0, 8])
            assert snapshot["position"] == told["position"]
            assert snapshot["offers"] == [{"side": 0, "kind": "draw", "seq": 5}]
            assert snapshot["clock"] == told["clock"], "to the millisecond"
        await second.ok("play", match=match, ply=3, move=1)


async def test_a_full_disk_rejects_moves_and_play_continues_when_there_is_room(tmp_path: Path) -> None:
    async with running(tmp_path, FAST) as server:
        first, second, match = await server.pair(games=["mnk:19x19,19"])
        ((pages,),) = await server.execute("PRAGMA page_count")
        await server.execute(f"PRAGMA max_page_count = {pages}")
        made, peers = 0, (first, second)
        while (answer := await peers[made % 2].ask("play", match=match, ply=made, move=made))["type"] == "ok":
            made += 1
        assert answer["code"] == "storage"
        assert answer["retry_after_ms"] > 0
        mover, other = peers[made % 2], peers[1 - made % 2]
        for _ in range(3):
            assert await mover.refused("play", match=match, ply=made, move=made) == "storage"
            assert await other.refused("resign", match=match) == "storage"
        assert (await other.resume(match))["moves"] == list(range(made))
        await server.execute("PRAGMA max_page_count = 1000000")
        await mover.ok("play", match=match, ply=made, move=made)
        assert (await other.resume(match))["moves"] == list(range(made + 1))
        assert not [message for message in other.heard if message["type"] == "ended"]


async def test_a_rematch_whose_players_leave_while_it_is_written_down_is_let_go_of(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        await first.ok("resign", match=match)
        await first.ok("offer", match=match, kind="rematch")
        with server.stopped_disk():
            await second.say("offer", match=match, kind="rematch")
            await second.ok("ping")
            for peer in (first, second):
                peer.abort()
            await until(lambda: not server.connections)
        await server.flushed()
        assert server.rooms == {}


async def test_a_disk_that_cannot_be_written_refuses_and_a_flag_that_fell_meanwhile_falls_later(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(time=TIMED)
        server.clock.stand_still()
        await first.play(match, (first, 4), (second, 0))
        await server.execute("PRAGMA query_only = ON")
        assert await first.refused("play", match=match, ply=2, move=8) == "storage"
        failures = server.ledger.database.failures
        server.clock.go_on()
        await until(lambda: server.ledger.database.failures > failures)
        await server.execute("PRAGMA query_only = OFF")
        ended = await second.hear("ended", match=match)
        assert (ended["winner"], ended["reason"]) == (1, "time")


async def test_seekers_whose_match_cannot_be_journaled_are_notified_and_may_seek_again(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        peers = [await server.join(name) for name in ("Ann", "Bob")]
        await server.execute("PRAGMA query_only = ON")
        for peer in peers:
            await peer.ok("seek")
        assert [await peer.close_code() for peer in peers] == [1011, 1011]
        await server.execute("PRAGMA query_only = OFF")
        again = [await server.connect() for _ in peers]
        for peer, before in zip(again, peers, strict=True):
            assert (await peer.hello(token=before.token))["matches"] == []
        await server.match(again[0], again[1])


async def test_a_match_that_cannot_be_read_is_refused_and_hurts_no_other(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        for peer in (first, second):
            await peer.close()
        await server.until_empty()
        update = "UPDATE facts SET fact = ? WHERE match = (SELECT number FROM matches WHERE id = ?)"
        await server.execute(update, b"{}", match)
        again = await server.connect()
        await again.hello(token=first.token)
        assert await again.refused("resume", match=match, seq=0) == "storage"
        chess = (
            b'{"type":"started","match":"%s","seq":1,"at_ms":0,"game":"chess","players":[{"name":"a"},{"name":"b"}]}'
            % match.encode()
        )
        await server.execute(update, chess, match)
        carl = await server.join("Carl")
        with server.stopped_disk():
            request = await again.say("resume", match=match, seq=0)
            await again.ok("ping")
            unknown = await carl.say("resume", match="nobody", seq=0)
            await carl.ok("ping")
        assert (await again.answer(request))["code"] == "unknown_game"
        assert (await carl.answer(unknown))["code"] == "unknown_match"
        assert server.rooms == {}


async def test_an_adjourned_match_continues_after_a_restart_with_its_clock(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"], time={"initial_ms": 180_000})
        await first.play(match, (first, 3), (second, 4), (first, 5))
        second.abort()
        away = (await first.hear("presence", online=False))["away"]
        assert away["claim_in_ms"] > 0
        assert await first.refused("claim", match=match, kind="adjourn") == "opponent_here"
        server.later(away["claim_in_ms"] + 1)
        await first.ok("claim", match=match, kind="adjourn")
        left_ms = (await first.hear("adjourned"))["clock"]["remaining_ms"]
    async with running(tmp_path) as server:
        back = [await server.connect() for _ in range(2)]
        for peer, before in zip(back, (first, second), strict=True):
            assert (await peer.hello(token=before.token))["matches"] == [match]
        ann, bob = back
        assert (await ann.resume(match))["adjourned"] is True
        server.later(3_600_000)
        server.clock.stand_still()
        snapshot = await bob.resume(match)
        assert snapshot["clock"] == {"remaining_ms": left_ms, "running": 1}
        await bob.ok("play", match=match, ply=3, move=6)
        assert (await ann.hear("played"))["clock"]["running"] == 0


async def test_the_win_can_be_claimed_after_the_grace(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["gomoku"])
        await first.play(match, (first, 3), (second, 4))
        await second.close()
        away = (await first.hear("presence", online=False))["away"]
        assert away["on_purpose"] is True
        server.later(away["claim_in_ms"])
        await first.ok("claim", match=match, kind="win")
        ended = await first.hear("ended")
        assert (ended["winner"], ended["reason"]) == (0, "abandon")


async def test_two_hundred_watchers_keep_no_player_waiting(tmp_path: Path) -> None:
    """None of them reads a byte: what they leave unread is the server's to bound, and the players notice nothing."""
    limits = Limits(max_per_address=1_000, stalled_s=1_000, dead_after_s=1_000)
    async with running(tmp_path, limits) as server:
        first, second, match = await server.pair(games=["gomoku"])
        watchers = []
        for number in range(200):
            watchers.append(await server.raw())
            await watchers[-1].hello(f"Watcher{number}")
            await watchers[-1].send(said("watch", 2, match=match))
        table = server.rooms[match]
        await until(lambda: table.audience.watchers == 200)
        await first.hear("watching", watchers=200)
        for ply in range(100):
            mover, other = (first, second) if ply % 2 == 0 else (second, first)
            await mover.ok("play", match=match, ply=ply, move=11 * ply % 225)  # makes no five
            await other.hear("played", ply=ply + 1)
            if ply == 50:
                for watcher in watchers[:50]:
                    watcher.close()
                await first.hear("watching", watchers=150)
        assert table.audience.watchers <= 150


async def test_a_finished_match_is_watched_again_without_the_disk_of_the_moves(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob, match = await server.pair()
        await ann.ok("resign", match=match)
        for peer in (ann, bob):
            await peer.hear("ended")
            await peer.close()
        await until(lambda: match not in server.rooms)
        cleo = await server.join("Cleo")
        with server.stopped_disk():
            await cleo.ok("watch", match=match)
            assert (await cleo.hear("snapshot"))["outcome"]["reason"] == "resign"


async def test_a_rename_in_mid_match_is_sent_to_players_and_watchers_after_its_answer(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair()
        eve = await server.join("Eve")
        await eve.ok("watch", match=match)
        await eve.hear("snapshot")
        renaming = await second.say("rename", name="Renamed")
        assert (await second.answer(renaming))["type"] == "ok"
        assert not [told for told in second.heard if told["type"] == "playerrenamed"]
        for peer in (first, second, eve):
            told = await peer.hear("playerrenamed")
            assert told == {"type": "playerrenamed", "match": match, "side": 1, "name": "Renamed"}
        await first.ok("play", match=match, ply=0, move=4)
        assert (await second.hear("played"))["seq"] == 2


async def test_a_rename_touches_the_rooms_of_the_player_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[str] = []
    rename = MatchRoom.rename

    def noted(room: MatchRoom, player: int, name: str) -> None:
        touched.append(room.id)
        rename(room, player, name)

    monkeypatch.setattr(MatchRoom, "rename", noted)
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        *_, first = await server.match(ann, bob)
        cleo, _, second = await server.pair("Cleo", "Dan")
        await server.pair("Eve", "Flo")
        *_, third = await server.match(ann, cleo)
        await ann.ok("watch", match=second)
        await ann.ok("rename", name="Anna")
        assert sorted(touched) == sorted([first, third])


async def test_a_rematch_that_is_being_written_down_takes_a_place_of_the_bot(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        bot, ann = await server.join("Robo", bot="random", places=1), await server.join("Ann")
        _, _, match = await server.match(bot, ann)
        await ann.ok("resign", match=match)
        await bot.hear("ended")
        await bot.ok("seek", games=["tictactoe"])
        await bot.ok("offer", match=match, kind="rematch")
        cay = await server.join("Cay")
        with server.stopped_disk():
            await ann.say("offer", match=match, kind="rematch")
            await until(lambda: server.rooms[match].is_busy)
            await cay.ok("seek", games=["tictactoe"])
            assert await bot.refused("seek", games=["tictactoe"]) == "too_many_matches"
        await bot.hear("snapshot", previous=match)
        await server.flushed()
        assert server.sessions[server.player_of("Robo")].live == {f"{match}-2"}
