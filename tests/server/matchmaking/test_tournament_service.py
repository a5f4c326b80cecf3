"""Tournaments over the wire: created, entered, played in rounds, corrected, and continued after a restart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.peer import Message, Peer
from tests.server.running import Server, running, until
from ttt_net.matches.analyses import COACH
from ttt_net.server.matchmaking import lobby_feed, match_registry, tournament_service
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.tournaments.director import MAX_REST_S

MINUTE = {"initial_ms": 60_000}


async def organise(peer: Peer, **terms: object) -> str:
    """Make a tournament and return its code."""
    await peer.ok("organise", **({"name": "Friday", "kind": "swiss", "time": MINUTE, "pause_s": 0} | terms))
    return str((await peer.hear("tournament"))["tournament"])


async def players(server: Server, code: str, *names: str) -> list[Peer]:
    peers = [await server.join(name) for name in names]
    for peer in peers:
        await peer.ok("enter", tournament=code)
    return peers


async def seated(*peers: Peer) -> list[Message]:
    """Return the snapshots that players hear as a round begins."""
    return [await peer.hear("snapshot") for peer in peers]


async def give_up(peers: list[Peer], snapshots: list[Message]) -> None:
    """Let the players who move second resign."""
    for peer, snapshot in zip(peers, snapshots, strict=True):
        if snapshot["you"] == 1:
            await peer.ok("resign", match=snapshot["match"])


async def state(peer: Peer, code: str) -> Message:
    """Return the tournament as it stands."""
    await peer.ok("attend", tournament=code)
    told = await peer.hear("tournament")
    await peer.ok("attend", tournament=code, on=False)
    return told


async def stands(peer: Peer, code: str, **fields: object) -> Message:
    """Wait until the tournament stands like that, as one who follows it hears."""
    await peer.ok("attend", tournament=code)
    return await peer.hear("tournament", tournament=code, **fields)


def scores(told: Message) -> dict[str, int]:
    return {row["player"]: row["score"] for row in told["standings"]}


async def test_four_players_play_a_swiss_to_its_end(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=2)
        names = ("Ann", "Bob", "Cid", "Dan")
        peers = await players(server, code, *names)
        await teacher.ok("direct", tournament=code, act="start")
        places, wins = [], dict.fromkeys(names, 0)
        for number in (1, 2):
            snapshots = await seated(*peers)
            for snapshot in snapshots:
                places.append((snapshot["tournament"]["round"], snapshot["tournament"]["board"]))
                wins[snapshot["players"][0]["name"]] += snapshot["you"] == 0
            assert {snapshot["tournament"]["round"] for snapshot in snapshots} == {number}
            await give_up(peers, snapshots)
            server.later(1_000)
        told = await stands(teacher, code, state="over")
        assert told["ended"] == "finished"
        assert scores(told) == {name: 2 * count for name, count in wins.items()}
        assert sorted(places) == [(1, 1), (1, 1), (1, 2), (1, 2), (2, 1), (2, 1), (2, 2), (2, 2)]
        assert [board["result"] for board in told["boards"]] == ["1-0", "1-0"]


async def test_a_restart_in_mid_round_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=2)
        peers = await players(server, code, "Ann", "Bob", "Cid", "Dan")
        tokens = [peer.token for peer in (teacher, *peers)]
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(*peers)
        loser = next(peer for peer, each in zip(peers, snapshots, strict=True) if each["you"] == 1)
        match = next(each["match"] for peer, each in zip(peers, snapshots, strict=True) if peer is loser)
        await loser.ok("resign", match=match)
        before = await state(teacher, code)
    async with running(tmp_path, seed=2) as server:
        back = []
        for token in tokens:
            back.append(await server.connect())
            welcome = await back[-1].hello(token=token)
            assert "tournaments" in welcome["features"]
        teacher, *peers = back
        after = await state(teacher, code)
        assert {**after, "seq": before["seq"]} == before
        for peer in peers:
            live = (await peer.ask("resume", match=match, seq=0))["type"]
            assert live == "ok" or peer is not loser
        open_match = next(board["match"] for board in after["boards"] if board.get("result") is None)
        answers = [(await peer.ask("resume", match=open_match, seq=0))["type"] for peer in peers]
        await peers[answers.index("ok")].ok("resign", match=open_match)
        server.later(1_000)
        told = await stands(teacher, code, round=2)
        assert sum(scores(told).values()) == 4


async def test_the_code_of_a_tournament_is_good_where_that_of_an_invitation_is(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        code = await organise(ann, private=True)
        await bob.ok("join", code=code.lower())
        told = await bob.hear("tournament")
        assert (told["tournament"], [row["player"] for row in told["standings"]]) == (code, ["Bob"])
        await bob.ok("tournaments")
        assert await bob.hear("tournaments") == {"type": "tournaments", "count": 0, "tournaments": []}


async def test_the_code_of_a_private_tournament_opens_its_matches_to_watchers(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher, wall = await server.join("Teacher"), await server.join("Wall")
        code = await organise(teacher, private=True)
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        match = (await seated(*peers))[0]["match"]
        assert (await wall.ask("watch", match=match))["type"] == "refused"
        await wall.ok("watch", match=match, code=code)


async def test_tournaments_are_listed(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        code = await organise(ann, name="Club evening", rounds=3)
        await ann.ok("tournaments")
        (row,) = (await ann.hear("tournaments"))["tournaments"]
        assert row == {
            "tournament": code, "name": "Club evening", "kind": "swiss", "game": "tictactoe", "time": MINUTE,
            "state": "open", "round": 0, "rounds": 3, "players": 0, "organiser": "Ann",
        }  # fmt: skip


async def test_a_subscriber_gets_the_list_of_tournaments_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby_feed, "PERIODS_MS", dict.fromkeys(lobby_feed.PERIODS_MS, 1))
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        await bob.ok("tournaments", on=True)
        assert (await bob.hear("tournaments"))["count"] == 0
        code = await organise(ann)
        assert [row["tournament"] for row in (await bob.hear("tournaments"))["tournaments"]] == [code]
        await ann.ok("enter", tournament=code)
        assert [row["players"] for row in (await bob.hear("tournaments"))["tournaments"]] == [1]
        await bob.ok("tournaments", on=False)
        await organise(ann, name="Another")
        await bob.ok("tournaments")
        assert (await bob.hear("tournaments"))["count"] == 2


async def test_a_late_viewer_gets_the_countdown_of_now(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher, late = await server.join("Teacher"), await server.join("Late")
        code = await organise(teacher, starts_in_s=100)
        first = await stands(teacher, code)
        server.later(50_000)
        assert (await stands(late, code))["starts_in_ms"] <= first["starts_in_ms"] - 50_000


async def test_a_player_who_does_not_appear_loses_by_forfeit_and_is_paired_no_more(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=2, begin_s=20)
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(*peers)
        first = next(peer for peer, each in zip(peers, snapshots, strict=True) if each["you"] == 0)
        room = server.rooms[snapshots[0]["match"]]
        server.later(19_000)
        room.look_at_clock()  # as its timer does
        assert room.match is not None
        assert not room.match.is_over
        server.later(1_500)
        room.look_at_clock()
        ended = await first.hear("ended")
        assert (ended["winner"], ended["reason"]) == (1, "forfeit")
        told = await stands(teacher, code, state="over")
        assert told["ended"] == "nobody"
        assert [row.get("gone", False) for row in told["standings"]] == [False, True]
        assert told["boards"][0]["forfeit"]
        await first.ok("profile")
        profile = await first.hear("profile")
        assert (profile["won"], profile["drawn"], profile["lost"]) == (0, 0, 0)


async def test_a_match_goes_on_while_both_are_away_and_nobody_wins_where_neither_appears(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=1)
        peers = await players(server, code, "Ann", "Bob")
        for peer in peers:
            await peer.close()
        await until(lambda: len(server.sessions) == 1)
        await teacher.ok("direct", tournament=code, act="start")
        told = await stands(teacher, code, round=1)
        room = server.rooms[told["boards"][0]["match"]]
        assert room.match is not None, "it is held from its start, and need not be read"
        server.later(60_500)
        room.look_at_clock()
        told = await teacher.hear("tournament", state="over")
        assert (told["boards"][0]["result"], told["ended"]) == ("0-0", "finished")


async def test_a_match_of_a_tournament_is_played_once_and_to_its_end(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=1)
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(*peers)
        match = snapshots[0]["match"]
        assert await peers[0].refused("abort", match=match) == "not_in_tournament"
        assert await peers[0].refused("offer", match=match, kind="takeback") == "not_in_tournament"
        await give_up(peers, snapshots)
        assert await peers[0].refused("offer", match=match, kind="rematch") == "not_in_tournament"


async def test_a_late_comer_plays_and_a_leaver_does_not(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=3)
        peers = await players(server, code, "Ann", "Bob", "Cid")
        await teacher.ok("direct", tournament=code, act="start")
        told = await stands(teacher, code, round=1)
        (bye,) = (board["first"] for board in told["boards"] if "second" not in board)
        leaver = next(peer for peer in peers if peer.name == bye)
        others = [peer for peer in peers if peer is not leaver]
        await leaver.ok("withdraw", tournament=code)
        (late,) = await players(server, code, "Eve")
        await give_up(others, await seated(*others))
        server.later(1_000)
        told = await teacher.hear("tournament", round=2)
        assert late.name in {name for board in told["boards"] for name in (board["first"], board.get("second"))}
        assert leaver.name not in {name for board in told["boards"] for name in (board["first"], board.get("second"))}


async def test_the_organiser_pauses_corrects_removes_and_ends(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=3, pause_s=None)
        peers = await players(server, code, "Ann", "Bob", "Cid", "Dan")
        assert await peers[0].refused("direct", tournament=code, act="start") == "not_organiser"
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(*peers)
        assert await teacher.refused("direct", tournament=code, act="next") == "match_not_over"
        await give_up(peers, snapshots)
        await teacher.ok("direct", tournament=code, act="correct", round=1, board=1, result="0-1", note="swapped seats")
        told = await state(teacher, code)
        assert (told["boards"][0]["result"], told["boards"][0]["corrected"]) == ("0-1", True)
        await teacher.ok("direct", tournament=code, act="remove", name="Dan")
        assert await peers[3].refused("enter", tournament=code) == "not_welcome"
        assert await teacher.refused("direct", tournament=code, act="add", name="Zoe") == "unknown_player"
        await teacher.ok("direct", tournament=code, act="pause")
        assert (await state(teacher, code))["state"] == "paused"
        await teacher.ok("direct", tournament=code, act="next")
        told = await stands(teacher, code, round=2)
        assert told["state"] == "running"
        await teacher.ok("direct", tournament=code, act="end")
        assert (await stands(teacher, code, state="over"))["ended"] == "ended"
        assert await peers[0].refused("enter", tournament=code) == "tournament_over"


async def test_bounds_of_organisers_players_and_codes(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(tournament_players=2, open_tournaments=2)) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        code = await organise(ann)
        await players(server, code, "Cid", "Dan")
        assert await bob.refused("enter", tournament=code) == "tournament_full"
        assert await bob.refused("organise", name="x", kind="swiss", time=MINUTE, full=3) == "bad_tournament"
        assert await bob.refused("organise", name=" ", kind="swiss", time=MINUTE) == "bad_name"
        assert await bob.refused("organise", name="x", kind="round_robin", rounds=3, time=MINUTE) == "bad_tournament"
        await organise(bob)
        assert await bob.refused("organise", name="x", kind="swiss", time=MINUTE) == "bad_tournament"
        answers = [await bob.refused("enter", tournament="WRONG") for _ in range(11)]
        assert answers[0] == "unknown_tournament"
        assert answers[-1] == "too_fast"
    async with running(tmp_path / "closed", Limits(allow_tournaments=False)) as server:
        ann = await server.join("Ann")
        assert await ann.refused("organise", name="x", kind="swiss", time=MINUTE) == "no_tournaments"


async def test_an_organiser_makes_three_tournaments_in_an_hour_and_has_three_open(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        codes = [await organise(ann, name=f"Evening {number}") for number in range(3)]
        assert await ann.refused("organise", name="x", kind="swiss", time=MINUTE) == "bad_tournament"
        await ann.ok("direct", tournament=codes[0], act="end")
        assert await ann.refused("organise", name="x", kind="swiss", time=MINUTE) == "too_fast"
        await organise(bob)
        server.later(3_600_000)
        await organise(ann)


async def test_the_players_of_one_address_make_as_many_tournaments_as_they_are_people(tmp_path: Path) -> None:
    limits = Limits(tournaments=Rate(1, 3_600.0), players_per_address=2, unmetered=())
    async with running(tmp_path, limits) as server:
        peers = [await server.join(name) for name in ("Ann", "Bob", "Cid")]
        for peer in peers[:2]:
            await organise(peer)
        assert await peers[2].refused("organise", name="x", kind="swiss", time=MINUTE) == "too_fast"


async def test_a_tournament_that_nobody_attends_ends_by_itself(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        codes = [await organise(teacher), await organise(teacher, pause_s=None)]
        peers = await players(server, codes[1], "Ann", "Bob")
        await teacher.ok("direct", tournament=codes[1], act="start")
        await give_up(peers, await seated(*peers))
        await teacher.ok("attend", tournament=codes[1])
        await teacher.hear("tournament", open_boards=0)
        server.later(12 * 3_600_000 - 60_000)
        assert sorted(row["state"] for row in await listed(teacher)) == ["open", "running"]
        server.later(120_000)
        assert [(await stands(teacher, code, state="over"))["ended"] for code in codes] == ["not_started", "nobody"]


async def listed(peer: Peer) -> list[Message]:
    await peer.ok("tournaments")
    rows: list[Message] = (await peer.hear("tournaments"))["tournaments"]
    return rows


async def test_guests_enter_what_is_not_rated(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        rated, casual = await organise(ann, game="connect4", rated=True), await organise(ann)
        guest = await server.connect()
        await guest.hello()
        assert await guest.refused("enter", tournament=rated) == "always_casual"
        await guest.ok("enter", tournament=casual)


async def test_a_large_round_is_paired_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_service, "INLINE", 1)
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=1)
        peers = await players(server, code, "Ann", "Bob", "Cid")
        await teacher.ok("direct", tournament=code, act="start")
        told = await stands(teacher, code, round=1)
        assert len(told["boards"]) == 2
        del peers


async def test_a_process_that_fails_delays_a_round_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tournament_service, "INLINE", 1)
    monkeypatch.setattr("ttt_net.tournaments.swiss.COMMAND", ("false",))
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=1)
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        await seated(*peers)
    assert "gave no round" in caplog.text


async def test_a_tournament_of_long_ago_is_read_from_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournament_service, "MAX_ENDED", 1)
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        codes = [await organise(ann), await organise(ann)]
        for code in codes:
            await ann.ok("direct", tournament=code, act="end")
        server.tick(0)
        assert list(server.hub.tournaments.desks) == codes[1:]
        with server.sends() as sent:
            await ann.ok("attend", tournament=codes[0])
            assert (await ann.hear("tournament", tournament=codes[0], state="over"))["ended"] == "ended"
        assert any(b'"ok"' in each and b'"tournament"' in each for each in sent), "ok and the page share a write"
        assert await ann.refused("attend", tournament="NNNNN") == "unknown_tournament"


async def test_subscribers_of_a_tournament_receive_renames(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann = await server.join("Ann")
        code = await organise(ann)
        (bob,) = await players(server, code, "Bob")
        await ann.ok("attend", tournament=code)
        assert scores(await ann.hear("tournament")) == {"Bob": 0}
        await bob.ok("rename", name="Robert")
        assert scores(await ann.hear("tournament")) == {"Robert": 0}


@pytest.mark.parametrize("is_seating", [False, True])
async def test_a_player_who_is_renamed_and_away_as_a_round_begins_has_the_new_name(
    is_seating: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher)
        ann, bob = await players(server, code, "Ann", "Bob")
        number = next(each for each, session in server.sessions.items() if session.info.name == "Bob")
        journal, registry = server.hub.services.journal, server.hub.registry
        begin, seat = journal.begin_boards, registry.begin_boards

        def renamed_as_it_is_written(
            tournament: str, seq: int, began: Any, starts: Any, done: Callable[[], None], failed: Any
        ) -> None:
            def written() -> None:
                server.hub.accounts.renamed(number, "Robert")
                done()

            begin(tournament, seq, began, starts, written, failed)

        def renamed_while_seated(starts: Any, begin_ms: int) -> None:
            monkeypatch.setattr(match_registry, "OPENED_AT_ONCE", 0)
            seat(starts, begin_ms)
            server.hub.accounts.renamed(number, "Robert")
            monkeypatch.setattr(match_registry, "OPENED_AT_ONCE", 1)

        if is_seating:
            monkeypatch.setattr(registry, "begin_boards", renamed_while_seated)
        else:
            monkeypatch.setattr(journal, "begin_boards", renamed_as_it_is_written)
        await bob.close()
        await until(lambda: number not in server.sessions)
        await teacher.ok("direct", tournament=code, act="start")
        snapshot = await ann.hear("snapshot")
        assert {player["name"] for player in snapshot["players"]} == {"Ann", "Robert"}


async def test_an_arena_seats_free_players_again_after_each_match_until_its_time_is_up(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, name="Saturday", kind="arena", minutes=10)
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        boards = []
        for _ in range(3):
            snapshots = await seated(*peers)
            boards.append(snapshots[0]["tournament"]["board"])
            await peers[0].ok("resign", match=snapshots[0]["match"])
        assert boards == [1, 2, 3]
        told = await stands(teacher, code, open_boards=1)
        assert [(row["player"], row["score"], row.get("streak", 0)) for row in told["standings"]] == [
            ("Bob", 16, 3),
            ("Ann", 0, 0),
        ]
        assert [(board["board"], "result" in board) for board in told["boards"]] == [
            (4, False), (3, True), (2, True), (1, True),
        ]  # fmt: skip
        assert 0 < told["ends_in_ms"] <= 600_000
        (match,) = {each["match"] for each in await seated(*peers)}
        server.later(600_000)
        over = await stands(teacher, code, state="over")
        assert over["ended"] == "finished"
        await peers[0].ok("resign", match=match)
        assert scores(await stands(teacher, code, open_boards=0)) == {"Ann": 0, "Bob": 16}, "it ended too late"


async def test_an_arena_pairs_only_players_who_are_connected_and_free(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, kind="arena")
        ann, bob, cid, dan = await players(server, code, "Ann", "Bob", "Cid", "Dan")
        await dan.close()
        await until(lambda: len(server.sessions) == 4)
        for each in (cid, teacher):
            await each.ok("seek", games=["connect4"])
        other = await cid.hear("snapshot")
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(ann, bob)
        assert {player["name"] for player in snapshots[0]["players"]} == {"Ann", "Bob"}
        assert (await stands(teacher, code))["open_boards"] == 1
        await teacher.ok("resign", match=other["match"])
        await ann.ok("resign", match=snapshots[0]["match"])
        server.later(MAX_REST_S * 1_000)
        again = await cid.hear("snapshot")
        assert again["tournament"]["board"] == 2


async def test_a_tournament_without_chat_lets_players_say_phrases_only(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, chat=False)
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        match = (await seated(*peers))[0]["match"]
        refused = await peers[0].ask("chat", match=match, text="hello")
        assert (refused["code"], "only phrases" in refused["message"]) == ("chat_off", True)
        await peers[0].ok("chat", match=match, phrase="hello")
        other = await organise(teacher)
        await peers[0].ok("resign", match=match)
        for peer in peers:
            await peer.ok("enter", tournament=other)
        await teacher.ok("direct", tournament=other, act="start")
        again = await peers[1].hear("snapshot", tournament={"tournament": other, "round": 1, "board": 1})
        await peers[1].ok("chat", match=again["match"], text="hello")


async def test_at_a_table_the_winner_stays_and_a_restart_keeps_the_queue(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, kind="king")
        peers = await players(server, code, "Ann", "Bob", "Cid", "Dan")
        tokens = [peer.token for peer in (teacher, *peers)]
        await teacher.ok("direct", tournament=code, act="start")
        first = (await seated(*peers[:2]))[0]
        assert [player["name"] for player in first["players"]] == ["Bob", "Ann"]
        await peers[0].ok("resign", match=first["match"])
        second = (await seated(*peers[1:3]))[0]
        assert [player["name"] for player in second["players"]] == ["Cid", "Bob"]
        before = await stands(teacher, code, open_boards=1)
        assert before["waiting"] == ["Dan", "Ann"]
    async with running(tmp_path, seed=2) as server:
        back = [await server.connect() for _ in tokens]
        for peer, token in zip(back, tokens, strict=True):
            await peer.hello(token=token)
        teacher, _, bob, *_ = back
        after = await stands(teacher, code)
        assert (after["waiting"], after["standings"]) == (before["waiting"], before["standings"])
        await bob.ok("resume", match=second["match"], seq=0)
        await bob.ok("resign", match=second["match"])
        told = await stands(teacher, code, seq=after["seq"] + 2)
        assert (told["boards"][0]["first"], told["boards"][0]["second"]) == ("Dan", "Cid")
        assert told["waiting"] == ["Ann", "Bob"]
        assert (await teacher.ask("direct", tournament=code, act="next"))["code"] == "bad_tournament"


async def test_a_profile_lists_the_tournaments_of_a_player_with_their_places(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, rounds=1)
        private = await organise(teacher, rounds=1, private=True, kind="knockout", name="Ours")
        peers = await players(server, code, "Ann", "Bob")
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(*peers)
        await teacher.ok("profile", name="Ann")
        (told,) = (await teacher.hear("profile"))["tournaments"]
        assert (told["place"], told["over"]) == (1, False)
        await give_up(peers, snapshots)
        server.later(1_000)
        await stands(teacher, code, state="over")
        for peer in peers:
            await peer.ok("enter", tournament=private)
        await teacher.ok("direct", tournament=private, act="start")
        await give_up(peers, await seated(*peers))
        server.later(1_000)
        await stands(teacher, private, state="over")
        winner = snapshots[0]["players"][0]["name"]
        for name in ("Ann", "Bob"):
            await teacher.ok("profile", name=name)
            (told,) = (await teacher.hear("profile"))["tournaments"]
            assert told == {
                "tournament": code, "name": "Friday", "kind": "swiss", "game": "tictactoe", "at_ms": told["at_ms"],
                "place": 1 if name == winner else 2, "players": 2,
            }  # fmt: skip
        await peers[0].ok("profile")
        own = (await peers[0].hear("profile"))["tournaments"]
        assert [(each["tournament"], each["name"], each.get("private", False)) for each in own] == [
            (private, "Ours", True), (code, "Friday", False),
        ]  # fmt: skip
        await teacher.ok("profile")
        assert (await teacher.hear("profile"))["tournaments"] == []


async def test_only_guests_enter_an_anonymous_tournament_and_they_keep_their_made_up_names(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        teacher = await server.join("Teacher")
        code = await organise(teacher, anonymous=True, rounds=1)
        assert await teacher.refused("organise", name="A", kind="swiss", time=MINUTE, anonymous=True, rated=True) == (
            "always_casual"
        )
        guests = [await server.connect() for _ in range(2)]
        for guest in guests:
            await guest.hello()
            await guest.ok("enter", tournament=code)
        assert server.hub.tournaments.preview(code.lower(), "192.0.2.1") == tournament_service.TournamentPreview()
        assert (await state(teacher, code))["anonymous"]
        assert await teacher.refused("enter", tournament=code) == "guests_only"
        assert await teacher.refused("join", code=code) == "guests_only"
        assert await guests[0].refused("rename", name="Ann") == "not_in_tournament"
        await teacher.ok("direct", tournament=code, act="start")
        snapshots = await seated(*guests)
        assert all(each["name"].startswith("guest-") for each in snapshots[0]["players"])
        refused = await guests[0].refused("chat", match=snapshots[0]["match"], text="I am Ann")
        assert refused == "chat_off"
        assert (await teacher.ask("direct", tournament=code, act="add", name="Teacher"))["code"] == "unknown_player"
        await give_up(guests, snapshots)
        server.later(1_000)
        await stands(teacher, code, state="over")
        await guests[0].ok("rename", name="Ann")


async def test_a_match_of_a_tournament_against_a_bot_has_no_hints(tmp_path: Path) -> None:
    async with running(tmp_path, coach=COACH) as server:
        ann, mia = await server.join("Ann"), await server.join("Mia", bot="minimax")
        code = await organise(ann, rounds=1)
        for peer in (ann, mia):
            await peer.ok("enter", tournament=code)
        await ann.ok("direct", tournament=code, act="start")
        snapshot = await ann.hear("snapshot")
        assert await ann.refused("hint", match=snapshot["match"]) == "not_in_tournament"


async def test_without_legs_a_pairing_has_two_matches_only_in_uneven_games(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(tournaments=Rate(10, 60.0))) as server:
        for game, kind, legs, wanted in (
            ("tictactoe", "swiss", None, 2),
            ("tictactoe", "swiss", 1, 1),
            ("connect4", "knockout", None, 1),
            ("tictactoe", "king", None, 1),
        ):
            teacher = await server.join(f"{game} {kind}"[:15].replace(" ", "-") + str(legs))
            code = await organise(teacher, game=game, kind=kind, legs=legs)
            assert server.hub.tournaments.find(code).now.terms.legs == wanted
