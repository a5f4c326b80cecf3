"""Sanctions that follow a person, reports of players, and moderators."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.server.admin.attended import Admin, Attended, attended
from tests.server.peer import Peer
from tests.server.running import until
from ttt_net.server.admin import moderation
from ttt_net.server.journal import queries
from ttt_net.server.settings.configuration import Limits, Rate

METERED = Limits(unmetered=())
"""The loopback is an address like others."""
WEEK_S = 7 * 86_400


async def chatting(each: Attended) -> tuple[Peer, Peer, str]:
    """Return two players who have said something to one another, and their match."""
    first, second, match = await each.server.pair()
    await first.ok("chat", match=match, text="you are a fool")
    await second.ok("chat", match=match, text="please stop")
    return first, second, match


async def moderator(host: Admin, name: str = "Anna") -> str:
    return await host.done("appoint", name=name)


# Sanctions.


async def test_a_ban_with_the_address_also_holds_for_a_new_player_from_there(tmp_path: Path) -> None:
    async with attended(tmp_path, limits=METERED) as each, each.admin() as host:
        ann = await each.server.join("Ann")
        said = await host.done("ban", whom="Ann", reason="rude", for_s=WEEK_S, with_address=True)
        assert said.startswith("Ann is banned with their address until ")
        assert await ann.close_code() == 4005
        with pytest.raises(InvalidStatus) as turned_away:
            await each.server.connect()
        assert turned_away.value.response.status_code == 403
        assert {row["whom"] for row in (await host.ask("bans"))["sanctions"]} == {"Ann", "address of Ann #1"}
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as journal:
        assert not [line for line in journal.iterdump() if "127.0.0.1" in line]
    async with attended(tmp_path, limits=METERED) as each, each.admin() as host:
        with pytest.raises(InvalidStatus):
            await each.server.connect()
        await host.done("unban", whom="Ann")
        assert (await host.ask("bans"))["sanctions"] == []
        await each.server.join("Bob")


async def test_a_mute_with_the_address_outlives_forget_and_a_new_name(tmp_path: Path) -> None:
    async with attended(tmp_path, limits=METERED) as each, each.admin() as host:
        first, second, match = await each.server.pair()
        number = each.server.player_of(first.name)
        await host.done("mute", whom=first.name, for_s=600, with_address=True)
        told = await first.hear("sanctioned")
        assert (told["act"], 590_000 < told["ends_in_ms"] <= 600_000) == ("mute", True)
        await first.ok("resign", match=match)
        await first.ok("forget", name=first.name)
        again = await each.server.join("Again")
        await again.hear("sanctioned", act="mute")
        await again.ok("challenge", name=second.name)
        challenge = (await second.hear("challenged"))["challenge"]
        await second.ok("answer", challenge=challenge, accept=True)
        match = (await again.hear("snapshot"))["match"]
        assert await again.refused("chat", match=match, text="here I am") == "muted"
        await host.done("unmute", whom=f"#{number}")
        assert (await again.hear("sanctioned"))["lifted"] is True
        await again.ok("chat", match=match, text="sorry")


async def test_an_address_that_many_share_is_not_banned_by_a_name(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        ann = await each.server.join("Ann")
        assert "limits.unmetered" in await host.failed("ban", whom="Ann", with_address=True)
        await ann.ok("ping")
        await ann.close()
        await until(lambda: not each.server.sessions)
        await each.server.flushed()
        assert "no address is known" in await host.failed("ban", whom="Ann", with_address=True)
        assert "goes with the name" in await host.failed("ban", whom="192.0.2.1", with_address=True)
        assert (await host.ask("bans"))["sanctions"] == []


async def test_a_network_is_muted_and_its_players_are_notified(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        first, second, match = await each.server.pair()
        await host.done("mute", whom="127.0.0.0/8", reason="noise", for_s=60)
        for peer in (first, second):
            assert (await peer.hear("sanctioned"))["reason"] == "noise"
            assert await peer.refused("chat", match=match, phrase="hello") == "muted"
        assert "is no longer muted" in await host.done("unmute", whom="127.0.0.0/8")
        await first.ok("chat", match=match, phrase="hello")


async def test_two_players_banned_with_one_address_may_enter_only_when_both_bans_end(tmp_path: Path) -> None:
    async with attended(tmp_path, limits=METERED) as each, each.admin() as host:
        await each.server.join("Ann")
        await each.server.join("Bob")
        for name in ("Ann", "Bob"):
            await host.ask("mute", whom=name, with_address=True)
        await host.done("unmute", whom="Bob")
        carl = await each.server.join("Carl")
        await carl.hear("sanctioned", act="mute")
        await host.done("unmute", whom="Ann")
        assert (await carl.hear("sanctioned"))["lifted"] is True


async def test_a_banned_deleted_player_is_rejected_with_the_same_token(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        ann = await each.server.join("Ann")
        await ann.say("forget", name="Ann")
        await host.ask("ban", whom="Ann", reason="rude")  # before or after it is written down
        await ann.close_code()
        again = await each.server.connect()
        answer = await again.ask("hello", protocols=[1], token=ann.token, name="Anew")
        rows = (await host.ask("bans"))["sanctions"]
        assert (answer["type"], len(rows)) in (("refused", 1), ("ok", 0))


async def test_a_sanction_that_ends_leaves_those_of_another_kind_and_of_others(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        ann, bob = await each.server.join("Ann"), await each.server.join("Bob")
        for name, reason in (("Ann", "loud"), ("Ann", "rude"), ("Bob", "rude")):  # the same one again is not told
            assert await host.done("mute", whom=name, reason=reason) == f"{name} is muted for good"
        await host.done("unmute", whom="Bob")
        await bob.hear("sanctioned")
        assert (await bob.hear("sanctioned"))["lifted"] is True
        await host.done("ban", whom="Ann")
        assert [await ann.hear("sanctioned", act=act) for act in ("mute", "mute", "ban")]
        assert await ann.close_code() == 4005
        assert [told for told in ann.heard if told["type"] == "sanctioned"] == []
        await host.done("unmute", whom="Ann")
        for whom in ("#x", "#", "#99", "Eve"):
            assert "is not banned" in await host.failed("unban", whom=whom)
    async with attended(tmp_path) as each, each.admin() as host:
        assert [(row["act"], row["whom"]) for row in (await host.ask("bans"))["sanctions"]] == [("ban", "Ann")]


async def test_a_player_whose_name_is_a_number_is_found_by_it(tmp_path: Path) -> None:
    async with attended(tmp_path, limits=Limits(free_names=True)) as each, each.admin() as host:
        await each.server.join("Ann")
        await each.server.join("31")
        for name in ("31", "Ann"):
            await host.done("mute", whom=name)
        assert await host.done("unmute", whom="31") == "31 is no longer muted"
        assert [row["whom"] for row in (await host.ask("bans"))["sanctions"]] == ["Ann"]


# Reports.


@pytest.mark.parametrize(("reason", "said"), [("", "your name"), ("enough", "enough")])
async def test_a_report_is_closed_with_a_kick_or_a_mute_for_its_reason(tmp_path: Path, reason: str, said: str) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        rude, other = await each.server.join("Rude"), await each.server.join("Other")
        for number in (1, 2, 3):
            await other.ok("report", name="Rude", reason="name")
            await host.done("mute", whom="Other")
            if number == 1:
                await host.done("close", number=1, act="mute", reason=reason)
                assert (await rude.hear("sanctioned"))["reason"] == said
            elif number == 2:
                detail = await host.ask("report", number=2)
                assert [row["whom"] for row in detail["sanctions"]] == ["Rude"]
                text = await host.done("close", number=2, act="kick", reason=reason)
                assert text == "Rude was sent away; report 2 is closed"
                assert await rude.close_code() == 4005
                assert rude.socket.close_reason == f"the host has sent you away: {said}"
            else:
                assert "nobody called Rude" in await host.failed("close", number=3, act="kick")
                assert [row["number"] for row in (await host.ask("reports"))["reports"]] == [3]


async def test_a_report_comes_with_the_last_lines_and_names_follow_their_players(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        rude, other, match = await chatting(each)
        await other.ok("report", name=rude.name, match=match, reason="chat", text="see  for\nyourself")
        (row,) = (await host.ask("reports"))["reports"]
        assert (row["reported"], row["reporter"], row["reason"]) == (rude.name, other.name, "chat")
        assert row["text"] == "see for yourself"
        detail = await host.ask("report", number=row["number"])
        said = [(line["name"], line["text"]) for line in detail["lines"]]
        assert said == [(rude.name, "you are a fool"), (other.name, "please stop")]
        await rude.ok("resign", match=match)
        await rude.ok("forget", name=rude.name)
        detail = await host.ask("report", number=row["number"])
        assert detail["report"]["reported"] == "deleted"
        assert detail["lines"][0]["name"] == "deleted"
        await host.done("close", number=row["number"], text="gone")
        assert (await host.ask("reports"))["reports"] == []
        (closed,) = (await host.ask("reports", closed=True))["reports"]
        assert (closed["closed_by"], closed["note"]) == ("host", "gone")
        assert "closed by host already" in await host.failed("close", number=row["number"])


async def test_impossible_reports_are_refused(tmp_path: Path) -> None:
    async with attended(tmp_path, limits=Limits(reports=Rate(4, 3_600.0))) as each, each.admin() as host:
        first, second, match = await each.server.pair()
        eve = await each.server.join("Eve")
        assert await eve.refused("report", name=first.name, match=match) == "not_watching"
        assert await eve.refused("report", name="Nobody") == "unknown_player"
        assert await eve.refused("report", name="Eve") == "bad_message"
        await eve.ok("report", name=first.name, reason="name")
        await eve.ok("report", name=first.name, reason="cheating")
        assert await eve.refused("report", name=second.name) == "too_fast"
        (row,) = (await host.ask("reports"))["reports"]
        assert row["reason"] == "cheating"
        assert "there is no report 9" in await host.failed("report", number=9)


async def test_reports_of_watchers_attach_the_watchers_chat(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        rude, _, match = await chatting(each)
        eve = await each.server.join("Eve")
        await eve.ok("watch", match=match)
        await eve.ok("chat", match=match, text="nice")
        await eve.ok("report", name=rude.name, match=match)
        detail = await host.ask("report", number=1)
        assert [line["text"] for line in detail["lines"]] == ["nice"]


async def test_a_report_is_closed_with_a_ban_of_one_who_has_left_with_the_address_of_then(tmp_path: Path) -> None:
    async with attended(tmp_path, limits=METERED) as each, each.admin() as host:
        rude, other, match = await chatting(each)
        await other.ok("report", name=rude.name, match=match, reason="chat")
        await rude.close()
        await until(lambda: len(each.server.sessions) == 1)
        await each.server.flushed()
        said = await host.done("close", number=1, text="seen", act="ban", for_s=WEEK_S, with_address=True)
        assert said.startswith(f"{rude.name} is banned with their address until ")
        assert said.endswith("report 1 is closed")
        with pytest.raises(InvalidStatus) as turned_away:
            await each.server.connect()
        body = bytes(turned_away.value.response.body or b"").decode()
        assert "what you wrote in the chat" in body


async def test_open_reports_of_a_player_or_by_one_are_closed_together(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        rude, other, eve = [await each.server.join(name) for name in ("Rude", "Other", "Eve")]
        for reporter in (other, eve):
            await reporter.ok("report", name="Rude")
        await eve.ok("report", name="Other")
        async with each.admin(await moderator(host)) as anna:
            assert await anna.done("close_all", name="rude", text="seen") == "2 reports of Rude closed"
            assert await anna.done("close_all", name="Eve", by=True) == "1 report by Eve closed"
            assert "no open report by" in await anna.failed("close_all", name="Eve", by=True)
            assert "no player is called" in await anna.failed("close_all", name="Nobody")
        rows = (await host.ask("reports", closed=True))["reports"]
        assert {(row["number"], row["closed_by"], row["note"]) for row in rows} == {
            (1, "Anna", "seen"), (2, "Anna", "seen"), (3, "Anna", ""),
        }  # fmt: skip
        acts = [act["what"] for act in (await host.ask("audit"))["acts"] if act["act"] == "close"]
        assert acts == ["Rude: all open reports of them, seen", "Eve: all open reports by them"]
        await rude.ok("ping")


async def test_reports_that_count_most_are_listed_first(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        first, second, _ = await each.server.pair()
        eve = await each.server.join("Eve")
        await eve.ok("report", name=first.name)
        await second.ok("report", name=first.name)
        rows = (await host.ask("reports"))["reports"]
        assert [(row["reporter"], row["weight"]) for row in rows] == [(second.name, 1), ("Eve", 0)]


# Moderators.


async def test_a_moderator_mutes_kicks_bans_for_a_time_and_sees_reports(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        rude, other, match = await chatting(each)
        await other.ok("report", name=rude.name, match=match, reason="chat")
        async with each.admin(await moderator(host)) as anna:
            assert len((await anna.ask("reports"))["reports"]) == 1
            assert len((await anna.ask("report", number=1))["lines"]) == 2
            await anna.done("mute", whom=rude.name, for_s=30 * 86_400)
            await rude.hear("sanctioned")
            await anna.done("close", number=1, act="ban", for_s=WEEK_S)
            assert await rude.close_code() == 4005
            await anna.done("unban", whom=rude.name)
            await anna.done("kick", name=other.name)
            acts = (await host.ask("audit"))["acts"]
        assert [(act["by"], act["act"]) for act in acts] == [
            ("host", "appoint"),
            ("Anna", "read"),
            ("Anna", "mute"),
            ("Anna", "ban"),
            ("Anna", "close"),
            ("Anna", "unban"),
            ("Anna", "kick"),
        ]


@pytest.mark.parametrize(
    ("ask", "fields"),
    [
        ("ban", {"whom": "Ann"}),
        ("ban", {"whom": "Ann", "for_s": 30 * 86_400 + 1}),
        ("ban", {"whom": "192.0.2.0/24", "for_s": 60}),
        ("mute", {"whom": "Ann"}),
        ("close", {"number": 1, "act": "ban"}),
    ],
)
async def test_a_moderator_sanctions_no_network_and_nobody_for_longer_than_a_month(
    tmp_path: Path, ask: str, fields: dict[str, object]
) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        await each.server.join("Ann")
        await (await each.server.join("Eve")).ok("report", name="Ann")
        async with each.admin(await moderator(host)) as anna:
            assert await anna.failed(ask, **fields)
            assert [act["act"] for act in (await host.ask("audit"))["acts"]] == ["appoint"]
            assert (await host.ask("bans"))["sanctions"] == []
            await anna.done("close", number=1)


async def test_a_moderator_neither_ends_nor_shortens_what_the_host_has_decided_and_sees_no_address(
    tmp_path: Path,
) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        ann = await each.server.join("Ann")
        await host.done("mute", whom="Ann")
        await host.done("ban", whom="192.0.2.0/24")
        async with each.admin(await moderator(host)) as anna:
            assert "the host has muted Ann" in await anna.failed("mute", whom="Ann", for_s=1)
            assert "only the host ends that" in await anna.failed("unmute", whom="Ann")
            assert {row["whom"] for row in (await anna.ask("bans"))["sanctions"]} == {"Ann", "a network"}
            assert [row["address"] for row in (await anna.ask("players"))["players"]] == [""]
        assert (await host.ask("players"))["players"][0]["address"] == "127.0.0.1"
        await ann.hear("sanctioned")


async def test_a_moderator_who_is_removed_is_out_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        token, ben = await moderator(host), await moderator(host, "Ben")
        assert "is a moderator already" in await host.failed("appoint", name="ANNA")
        for name in ("host", " ", "\x1b"):
            assert "cannot be the name" in await host.failed("appoint", name=name)
        assert [row["name"] for row in (await host.ask("moderators"))["moderators"]] == ["Anna", "Ben"]
        async with each.admin(token) as anna:
            _, idle = await asyncio.open_unix_connection(each.listener.address)  # it has shown no token yet
            assert await host.done("dismiss", name="anna") == "anna moderates no more; 1 connection closed"
            idle.close()
            with pytest.raises(ConnectionClosed):
                await anna.ask("reports")
        assert "no moderator is called" in await host.failed("dismiss", name="anna")
    async with attended(tmp_path) as each:
        async with each.admin() as host:
            await host.done("appoint", name="Cid")
            assert await host.done("dismiss", name="Cid") == "Cid moderates no more"
        async with each.admin(ben) as moderating:
            assert (await moderating.ask("reports"))["reports"] == []
        with pytest.raises(InvalidStatus) as turned_away:
            async with each.admin(token):
                pass
        assert turned_away.value.response.status_code == 401
        status, _ = await each.http("/metrics", f"Authorization: Bearer {ben}")
        assert status == 401
    with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as journal:
        assert not [line for line in journal.iterdump() if ben in line]


async def test_moderators_who_could_not_be_read_at_the_start_are_let_in_once_they_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        token = await moderator(host)
    monkeypatch.setattr(moderation, "RETRY_S", 0.0)
    read, tries = queries.read_moderators, 0

    def fail_twice(connection: sqlite3.Connection) -> list[queries.Moderator]:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise sqlite3.OperationalError("disk I/O error")
        return read(connection)

    monkeypatch.setattr(queries, "read_moderators", fail_twice)
    async with attended(tmp_path) as each:
        await until(lambda: tries == 3)
        await each.server.flushed()
        async with each.admin(token) as anna:
            assert (await anna.ask("reports"))["reports"] == []


async def test_a_report_concerns_the_player_of_the_seat_after_a_rename(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        first, second, match = await each.server.pair()
        freed = second.name
        await second.ok("rename", name="Renamed")
        await each.server.join(freed)
        await first.ok("report", name=freed, match=match, side=1, reason="chat")
        (row,) = (await host.ask("reports"))["reports"]
        assert row["reported"] == "Renamed"
        assert await second.refused("report", name=freed, match=match, side=1) == "bad_message", "oneself"


async def test_a_further_report_adds_to_the_first(tmp_path: Path) -> None:
    async with attended(tmp_path) as each, each.admin() as host:
        first, second, match = await each.server.pair()
        for number in range(2):
            await second.ok("chat", match=match, text=f"line {number}")
            await first.hear("chat")
            await first.ok("report", name=second.name, match=match, text=f"text {number}")
        each.server.hub.registry.rooms[match].said.clear()  # as after a restart
        await first.ok("report", name=second.name, match=match)
        detail = await host.ask("report", number=1)
        assert detail["report"]["text"] == "text 0\ntext 1"
        assert [line["text"] for line in detail["lines"]] == ["line 0", "line 1"]
