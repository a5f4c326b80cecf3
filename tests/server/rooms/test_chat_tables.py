"""Chat, mutes and reports over a hub without sockets: who hears whom, and what is written."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest

from tests.server.house import Caller, House
from ttt_net import messages as wire
from ttt_net.server.journal.entries import FileReport
from ttt_net.server.rooms.chat import PHRASES
from ttt_net.server.settings.configuration import Rate

OFTEN = dict.fromkeys(("matches", "challenges", "chats", "blocks", "reports"), Rate(1_000_000))


class Hall(House):
    """Ann and Bob play, Eve and Fay watch, and Gus is elsewhere in the hall."""

    def __init__(self, words: Path | None = None, **limits: Any) -> None:
        super().__init__(words, **{**OFTEN, **limits})
        places = ("192.0.1.7", "192.0.5.7", "192.0.3.7", "192.0.4.7", "192.0.6.7")
        names = ("Ann", "Bob", "Eve", "Fay", "Gus")
        links = [self.hello(self.caller(place), name=name) for place, name in zip(places, names, strict=True)]
        self.deliver()
        self.ann, self.bob, self.eve, self.fay, self.gus = self.links = links
        self.ask(self.ann, wire.ChallengeRequest(9, "Bob"))
        self.ask(self.bob, wire.AnswerRequest(9, self.bob.numbers()[-1], True))
        self.deliver()
        self.match = [each.match for each in self.ann.heard if isinstance(each, wire.Snapshot)][-1]
        you = [each.you for each in self.ann.heard if isinstance(each, wire.Snapshot)][-1]
        self.side: Literal[0, 1] = 1 if you else 0
        self.other_side: Literal[0, 1] = 0 if you else 1
        for watcher in (self.eve, self.fay):
            self.ask(watcher, wire.WatchRequest(9, self.match))
        self.settle()
        for link in links:
            link.take()

    def settle(self) -> None:
        self.deliver()
        self.loop.run_until(self.loop.time() + 2.0, 100_000)

    def say(self, link: Caller, text: str | None = "hi", phrase: Any = None, match: str | None = None) -> str | None:
        """Say something; return the code of the refusal, if any."""
        link.heard.clear()
        self.ask(link, wire.ChatRequest(9, match or self.match, text, phrase))
        self.settle()
        refused = [str(each.code) for each in link.heard if isinstance(each, wire.Refused)]
        assert bool(refused) != any(isinstance(each, wire.Ok) for each in link.heard)
        return refused[0] if refused else None

    def heard(self) -> dict[str, list[str]]:
        """Return the texts that each has heard since the last call, by name."""
        told = {}
        for link in self.links:
            texts = [each.text for each in link.heard if isinstance(each, wire.Chatted)]
            if texts:
                told[link.known_as.info.name] = texts
            link.heard.clear()
        return told

    def answer(self, link: Caller) -> list[str]:
        """Return `ok` or the codes of refusals since the last call."""
        told, link.heard = link.heard, []
        answers = [each for each in told if isinstance(each, wire.Ok | wire.Refused)]
        return ["ok" if isinstance(each, wire.Ok) else str(each.code) for each in answers]

    def reports(self) -> list[FileReport]:
        return [entry for entry in self.ledger.entries if isinstance(entry, FileReport)]


@pytest.fixture
def hall() -> Hall:
    return Hall()


def test_players_hear_players_and_watchers_hear_watchers(hall: Hall) -> None:
    for speaker, hearers in ((hall.ann, {"Ann", "Bob"}), (hall.bob, {"Ann", "Bob"}), (hall.eve, {"Eve", "Fay"})):
        assert hall.say(speaker, "hello") is None
        assert hall.heard() == {name: ["hello"] for name in hearers}
    hall.ask(hall.fay, wire.UnwatchRequest(9, hall.match))
    assert hall.say(hall.eve, "alone") is None
    assert hall.heard() == {"Eve": ["alone"]}
    assert hall.say(hall.fay) == "not_watching"
    assert hall.say(hall.gus) == "not_watching"
    assert hall.say(hall.ann, match="nowhere") == "not_watching"
    assert hall.heard() == {}


def test_a_message_names_its_author_its_room_and_its_phrase(hall: Hall) -> None:
    hall.say(hall.ann, "hello")
    hall.say(hall.eve, None, "good_game")
    (said,) = [each for each in hall.bob.heard if isinstance(each, wire.Chatted)]
    assert (said.match, said.room, said.by.name, said.text, said.phrase) == (
        hall.match,
        "players",
        "Ann",
        "hello",
        None,
    )
    (said,) = [each for each in hall.fay.heard if isinstance(each, wire.Chatted)]
    assert (said.room, said.by.name, said.text, said.phrase) == ("watchers", "Eve", PHRASES["good_game"], "good_game")


def test_those_who_have_muted_somebody_do_not_hear_them(hall: Hall) -> None:
    hall.ask(hall.ann, wire.MuteRequest(9, "Bob", True))
    hall.ask(hall.eve, wire.MuteRequest(9, None, True))
    hall.settle()
    hall.heard()
    assert [hall.say(link) for link in (hall.bob, hall.fay)] == [None, None]
    assert hall.heard() == {"Bob": ["hi"], "Fay": ["hi"]}
    assert [hall.say(link) for link in (hall.ann, hall.eve)] == [None, None]
    assert hall.heard() == {"Ann": ["hi"], "Bob": ["hi"], "Eve": ["hi"], "Fay": ["hi"]}, "they hear themselves"
    hall.ask(hall.ann, wire.MuteRequest(9, "Bob", False))
    hall.settle()
    hall.say(hall.bob)
    assert "Ann" in hall.heard()


@pytest.mark.parametrize(
    ("allow_chat", "text", "phrase", "code"),
    [
        (True, "hi", None, None),
        (True, None, "hello", None),
        (True, "hi", "hello", "bad_message"),
        (True, None, None, "bad_message"),
        (True, "\u200b", None, "bad_message"),
        (True, "", None, "bad_message"),
        (False, "hi", None, "chat_off"),
        (False, None, "hello", None),
        (False, None, None, "bad_message"),
    ],
)
def test_a_text_or_a_phrase_is_said_where_the_host_allows_it(
    allow_chat: bool, text: str | None, phrase: str | None, code: str | None
) -> None:
    hall = Hall(allow_chat=allow_chat)
    assert hall.say(hall.ann, text, phrase) == code
    expected = PHRASES["hello"] if phrase else text
    assert hall.heard() == ({} if code else {"Ann": [expected], "Bob": [expected]})


def test_only_phrases_are_said_in_the_matches_of_a_quiet_tournament(hall: Hall) -> None:
    room = hall.hub.registry.rooms[hall.match]
    assert room.match is not None
    hall.hub.chat.is_quiet = lambda tournament: tournament == "QUIET"
    for code, answer in (("QUIET", "chat_off"), ("LOUDS", None)):
        room.match.tournament = cast(Any, SimpleNamespace(tournament=code))
        assert hall.say(hall.ann) == answer
        assert hall.say(hall.ann, None, "hello") is None


def test_a_mute_by_the_host_and_missing_sanctions_keep_people_silent(
    hall: Hall,
) -> None:
    number = hall.ann.known_as.player
    hall.impose("mute", f"player:{number}", player=number)
    assert [hall.say(link) for link in (hall.ann, hall.bob)] == ["muted", None]
    hall.services.sanctions.lift("mute", f"player:{number}", number)
    assert hall.say(hall.ann) is None
    hall.services.sanctions.are_missing = True
    assert hall.say(hall.ann) == "storage"


def test_a_player_talks_at_a_limited_rate_and_only_good_messages_count() -> None:
    hall = Hall(chats=Rate(2, 60.0))
    assert [hall.say(hall.ann, text, phrase) for text, phrase in ((None, None), ("a", "hello"))] == ["bad_message"] * 2
    assert hall.say(hall.ann, match="nowhere") == "not_watching"
    assert [hall.say(hall.ann) for _ in range(3)] == [None, None, "too_fast"]
    assert hall.say(hall.bob) is None


@pytest.mark.parametrize(("left", "accepted"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_watchers_share_a_rate_of_deliveries_that_players_do_not_touch(hall: Hall, left: int, accepted: int) -> None:
    hall.hub.chat.deliveries.take(hall.now_ms, 5_000 - left)
    codes = [hall.say(link) for link in (hall.eve, hall.fay, hall.eve, hall.fay)]  # each to two watchers
    assert codes == [None] * accepted + ["too_fast"] * (4 - accepted)
    assert hall.say(hall.ann) is None
    hall.now_ms += 1_000
    assert hall.say(hall.eve) is None


def test_messages_are_passed_on_to_other_nodes_and_heard_from_them(hall: Hall) -> None:
    passed: list[tuple[int, wire.Chatted]] = []
    hall.hub.chat.pass_on = lambda player, said: passed.append((player, said))
    hall.say(hall.ann, "hello")
    hall.say(hall.gus, "nobody hears it")
    ((player, said),) = passed
    assert (player, said.text) == (hall.ann.known_as.player, "hello")
    hall.heard()
    hall.hub.chat.hear(hall.gus.known_as.player, wire.Chatted(hall.match, "watchers", wire.PlayerInfo("Gus"), "hey"))
    hall.hub.chat.hear(hall.gus.known_as.player, wire.Chatted("nowhere", "watchers", wire.PlayerInfo("Gus"), "hey"))
    hall.settle()
    assert hall.heard() == {"Eve": ["hey"], "Fay": ["hey"]}
    assert len(passed) == 1, "what came from another node is not passed on"


def test_a_report_has_who_said_what_and_from_where(hall: Hall) -> None:
    hall.say(hall.bob, "you fool")
    hall.say(hall.eve, "boo")
    sanctions = hall.services.sanctions
    requests: tuple[tuple[Caller, wire.ReportRequest, list[str], str], ...] = (
        (hall.ann, wire.ReportRequest(9, "Bob", "other", hall.match, "he \u200bswears"), ["you fool"], ""),
        (hall.fay, wire.ReportRequest(9, "Eve", "other", hall.match), ["boo"], "192.0.3.7"),
        (hall.gus, wire.ReportRequest(9, "Eve", "other"), [], "192.0.3.7"),
        (hall.ann, wire.ReportRequest(9, "anything", "other", hall.match, side=hall.other_side), ["you fool"], ""),
    )
    for link, request, lines, address in requests:
        link.heard.clear()
        hall.ask(link, request)
        hall.settle()
        assert isinstance(link.heard[0], wire.Ok), link.heard
        report = hall.reports()[-1]
        assert [line.text for line in report.lines] == lines
        assert report.reporter == link.known_as.player
        assert report.address == (sanctions.key_of_address(address) if address else "")
        assert report.network == sanctions.key_of_network(link.place)
    assert [report.text for report in hall.reports()] == ["he swears", "", "", ""]
    reported = [report.reported for report in hall.reports()]
    bob, eve = hall.bob.known_as.player, hall.eve.known_as.player
    assert reported == [bob, eve, eve, bob]
    hall.ask(hall.bob, wire.ReportRequest(9, "Ann", "other"))
    hall.settle()
    assert hall.reports()[-1].network == "", "many share it"


def test_nobody_reports_themselves_or_a_match_that_they_do_not_hear(hall: Hall) -> None:
    for link, request, code in (
        (hall.ann, wire.ReportRequest(9, "ann", "other"), "bad_message"),
        (hall.ann, wire.ReportRequest(9, "x", "other", hall.match, side=hall.side), "bad_message"),
        (hall.gus, wire.ReportRequest(9, "Bob", "other", hall.match), "not_watching"),
        (hall.gus, wire.ReportRequest(9, "Bob", "other", "nowhere"), "not_watching"),
        (hall.ann, wire.ReportRequest(9, "Nobody", "other"), "unknown_player"),
    ):
        link.heard.clear()
        hall.ask(link, request)
        hall.settle()
        assert [str(each.code) for each in link.heard if isinstance(each, wire.Refused)] == [code]
    assert hall.reports() == []


@pytest.mark.parametrize("act", [wire.MuteRequest, wire.BlockRequest])
def test_a_player_in_a_seat_is_muted_by_those_who_hear_the_match(hall: Hall, act: Any) -> None:
    bob_sits = hall.other_side
    for link, match, side, code in (
        (hall.ann, hall.match, bob_sits, None),
        (hall.eve, hall.match, bob_sits, None),
        (hall.gus, hall.match, bob_sits, "not_watching"),
        (hall.gus, "nowhere", bob_sits, "not_watching"),
        (hall.ann, None, bob_sits, "not_watching"),
        (hall.ann, hall.match, hall.side, "bad_message"),
    ):
        link.heard.clear()
        hall.ask(link, act(9, "x", True, match, side))
        hall.settle()
        assert [str(each.code) for each in link.heard if isinstance(each, wire.Refused)] == ([code] if code else [])
    bob = hall.bob.known_as.player
    is_block = act is wire.BlockRequest
    assert [link.known_as.blocks for link in hall.links] == [{bob: is_block}, {}, {bob: is_block}, {}, {}]


@pytest.mark.parametrize(
    ("act", "name", "on", "is_between"),
    [
        (wire.BlockRequest, "Bob", True, True),
        (wire.BlockRequest, "Bob", False, False),
        (wire.MuteRequest, "Bob", True, False),
        (wire.MuteRequest, "Bob", False, False),
        (wire.MuteRequest, None, True, False),
        (wire.MuteRequest, None, False, False),
    ],
)
@pytest.mark.parametrize("is_written", [True, False])
def test_two_players_are_apart_from_the_moment_one_asks_for_a_block(
    hall: Hall, act: Any, name: str | None, on: bool, is_between: bool, is_written: bool
) -> None:
    ann, bob = hall.ann.known_as.player, hall.bob.known_as.player
    pair = ann, bob if name else None
    parted: list[tuple[int, int | None]] = []
    hall.hub.chat.parted = lambda player, other: parted.append((player, other))
    if not is_written:
        hall.ledger.database.connection.execute("ALTER TABLE blocks RENAME TO gone")
    for asked in (1, 2):
        hall.ask(hall.ann, act(9, name, on))
        assert hall.services.players.blocking == (Counter({pair: asked}) if is_between else Counter())
        assert parted == [pair] * (asked if is_between else 0)
    assert hall.answer(hall.ann) == []
    hall.settle()
    assert hall.answer(hall.ann) == ["ok" if is_written else "storage"] * 2
    assert hall.services.players.blocking == Counter()
    assert parted == [pair] * (4 if is_between else 2)
    blocks = {} if not (on and is_written) else {bob if name else None: act is wire.BlockRequest}
    assert hall.ann.known_as.blocks == blocks


def test_a_player_who_is_away_is_blocked_by_name(hall: Hall) -> None:
    bob = hall.bob.known_as.player
    hall.leave(hall.bob)
    for name, answer in (("bob", "ok"), ("Nobody", "unknown_player"), ("Ann", "bad_message")):
        hall.ask(hall.ann, wire.BlockRequest(9, name, True))
        hall.settle()
        assert hall.answer(hall.ann) == [answer]
    assert hall.ann.known_as.blocks == {bob: True}


def test_a_list_of_blocks_that_another_node_changed_is_used_where_its_player_is(hall: Hall) -> None:
    parted: list[tuple[int, int | None]] = []
    hall.hub.chat.parted = lambda player, other: parted.append((player, other))
    ann, bob = hall.ann.known_as.player, hall.bob.known_as.player
    hall.hub.chat.blocks_changed(ann, bob, {bob: True})
    hall.hub.chat.blocks_changed(999, bob, {bob: True})
    assert hall.ann.known_as.blocks == {bob: True}
    assert parted == [(ann, bob), (999, bob)]


@pytest.mark.parametrize(("kind", "act"), [("reports", wire.ReportRequest), ("blocks", wire.BlockRequest)])
def test_a_player_reports_and_blocks_at_a_limited_rate(kind: str, act: Any) -> None:
    limits: Any = {kind: Rate(2, 60.0)}
    hall, told = Hall(**limits), []
    for name in ("Bob", "Eve", "Fay"):
        hall.ask(hall.ann, act(9, name, *([True] if act is wire.BlockRequest else [])))
        hall.settle()
        told += [each for each in hall.ann.heard if isinstance(each, wire.Ok | wire.Refused)]
        hall.ann.heard.clear()
    assert [isinstance(each, wire.Ok) for each in told] == [True, True, False]
    assert isinstance(told[-1], wire.Refused)
    assert told[-1].message.endswith(f"(limits.{kind})")


def test_players_talk_while_their_match_is_read_again(hall: Hall) -> None:
    hall.ledger.database.connection.execute("PRAGMA query_only = ON")
    for link, side in ((hall.ann, hall.side), (hall.bob, hall.other_side)):
        if side == 0:
            hall.ask(link, wire.PlayRequest(9, hall.match, 0, 4))
    hall.deliver()
    assert hall.hub.registry.rooms[hall.match].match is None
    assert hall.say(hall.ann) is None


def test_a_report_has_no_address_of_a_player_who_is_away_or_whose_address_is_unknown(hall: Hall) -> None:
    hall.leave(hall.fay)
    hall.eve.address = ""
    for name in ("Fay", "Eve"):
        hall.ask(hall.ann, wire.ReportRequest(9, name))
        hall.settle()
        assert hall.answer(hall.ann) == ["ok"]
        assert hall.reports()[-1].address == ""


def test_words_that_the_host_does_not_want_are_not_said_and_phrases_are(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("badger\nhello\n")
    hall = Hall(tmp_path / "words")
    assert [hall.say(hall.ann, text) for text in ("a badger", "hi")] == ["filtered", None]
    assert hall.say(hall.ann, None, "hello") is None
