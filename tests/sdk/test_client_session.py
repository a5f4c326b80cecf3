"""Transcripts: `>>` what the client says, `<<` what it hears."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.samples import ANN, BLITZ, BOT, layered, ok, played, snapshot, welcome
from ttt_net.client.mailbox import WorldEvent
from ttt_net.errors import Code, Refusal
from ttt_net.messages import (
    AcceptRequest,
    Adjourned,
    AnyServerMessage,
    ChallengeRequest,
    ClockInfo,
    Ended,
    HelloRequest,
    HistoryRequest,
    InviteRequest,
    LobbyRequest,
    Notice,
    Offered,
    OfferRequest,
    Ok,
    PingRequest,
    PlayerInfo,
    PlayerList,
    PlayerRenamed,
    PlayRequest,
    ProfileRequest,
    Refused,
    RenameRequest,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekInfo,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.sdk.client_session import (
    MAX_MATCHES,
    MAX_PENDING,
    MAX_RETRY_MS,
    MAX_TRIES,
    MIN_RETRY_MS,
    BotProfile,
    ClientSession,
)
from ttt_net.sdk.received import Answered, Garbled, follow

TICTACTOE = SeekRequest(0, ["tictactoe"])


class Talk:
    """A session with a wire on which everything said is kept."""

    def __init__(self, token: str | None = None) -> None:
        self.session = ClientSession("Ann", token)
        self.said: list[Request] = []
        self.told: list[WorldEvent] = []
        self.tokens: list[str] = []
        self.later: list[tuple[int, Request]] = []
        self.open()

    def open(self) -> None:
        self.said = self.session.opened()

    def lose(self) -> None:
        self.told = list(self.session.closed())

    def be_due(self) -> None:
        """Let the wait of the request that was put off last be over."""
        reaction = self.session.due(self.later[-1][1])
        self.said, self.told = reaction.say, list(reaction.tell)

    def answers(self) -> list[Answered]:
        """Return the answers that were told last."""
        return [event for event in self.told if isinstance(event, Answered)]

    def say(self, request: Request) -> None:
        self.said = self.session.say(request)

    def hear(self, *messages: AnyServerMessage) -> None:
        self.said, self.told = [], []
        for message in messages:
            reaction = self.session.heard(message)
            self.said += reaction.say
            self.told += reaction.tell
            self.later += reaction.later
            self.tokens += [reaction.token] if reaction.token else []

    def let_in(self, *matches: str, token: str | None = None) -> None:
        self.hear(ok(self.said[0].id), welcome(*matches, token=token))


def test_a_new_player_sends_their_name_and_gets_a_token_that_stays_secret() -> None:
    talk = Talk()
    hello = talk.said[0]
    assert isinstance(hello, HelloRequest)
    assert (hello.name, hello.protocols) == ("Ann", [1])
    talk.let_in(token="secret")
    assert talk.tokens == ["secret"], "what the server chose goes before what we proposed"
    assert talk.told == [welcome()]
    talk.lose()
    talk.open()
    again = talk.said[0]
    assert isinstance(again, HelloRequest)
    assert (again.name, again.token) == (None, "secret")


def test_an_unknown_token_is_dropped_and_the_name_is_sent() -> None:
    talk = Talk(token="old")
    talk.hear(Refused(talk.said[0].id, Code.UNKNOWN_TOKEN, "who?"))
    hello = talk.said[0]
    assert isinstance(hello, HelloRequest)
    assert hello.name == "Ann"
    assert hello.token != "old"
    assert talk.told == []


def test_a_new_player_whose_first_welcome_is_lost_repeats_the_hello() -> None:
    talk = Talk()
    first = talk.said[0]
    assert isinstance(first, HelloRequest)
    talk.lose()
    talk.open()
    again = talk.said[0]
    assert isinstance(again, HelloRequest)
    assert (again.name, again.token) == (first.name, first.token)
    talk.let_in()
    assert talk.tokens == [first.token]


def test_a_taken_name_ends_the_talk() -> None:
    talk = Talk()
    refused = Refused(talk.said[0].id, Code.NAME_TAKEN, "taken")
    assert talk.session.heard(refused).rejected == refused


def test_a_server_that_admits_nobody_is_asked_again_after_the_announced_time() -> None:
    talk = Talk()
    talk.hear(Refused(talk.said[0].id, Code.STORAGE, "the disk is full", retry_after_ms=700))
    (wait_ms, hello) = talk.later[0]
    assert wait_ms == 700
    assert isinstance(hello, HelloRequest)
    talk.be_due()
    assert talk.said == [hello]
    talk.lose()
    talk.be_due()
    assert talk.said == [], "that link is gone"


def test_every_request_has_its_own_id_and_its_answer_finds_it() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(PingRequest(0))
    ping = talk.said[0]
    talk.say(TICTACTOE)
    seek = talk.said[0]
    assert ping.id != seek.id
    refused = Refused(seek.id, Code.UNKNOWN_GAME, "no")
    talk.hear(refused, ok(ping.id), ok(ping.id), ok(9999))
    assert talk.told == [Answered(seek, refused), Answered(ping, ok(ping.id))]


@pytest.mark.parametrize("is_lost", [False, True])
def test_too_many_unanswered_requests_are_refused_by_ourselves(*, is_lost: bool) -> None:
    talk = Talk()
    talk.let_in()
    if is_lost:
        talk.lose()
    for _ in range(MAX_PENDING):
        talk.say(PingRequest(0))
    with pytest.raises(Refusal) as refusal:
        talk.say(PingRequest(0))
    assert refusal.value.code is Code.TOO_FAST


def test_a_request_that_was_too_fast_is_sent_again_later() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    seek = talk.said[0]
    talk.hear(Refused(seek.id, Code.TOO_FAST, "slow down", retry_after_ms=400))
    assert talk.later == [(400, seek)]
    assert talk.told == []
    talk.be_due()
    assert talk.said == [seek]
    talk.hear(ok(seek.id))
    assert talk.told == [Answered(seek, ok(seek.id))]
    talk.later.append((400, seek))
    talk.be_due()
    assert (talk.said, talk.told) == ([], []), "what was answered is not sent again"


def test_a_refusal_with_a_long_wait_is_reported_immediately() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(RenameRequest(0, "Anna"))
    rename = talk.said[0]
    refused = Refused(rename.id, Code.TOO_FAST, "ten names an hour", retry_after_ms=MAX_RETRY_MS + 1)
    talk.hear(refused)
    assert talk.later == []
    assert talk.told == [Answered(rename, refused)]
    talk.say(RenameRequest(0, "Anna"))
    talk.hear(Refused(talk.said[0].id, Code.TOO_FAST, "wait", retry_after_ms=MAX_RETRY_MS))
    assert talk.later == [(MAX_RETRY_MS, replace(rename, id=rename.id + 1))]


def test_a_repeatedly_refused_request_is_reported_after_some_tries() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(RenameRequest(0, "Anna"))
    rename = talk.said[0]
    refused = Refused(rename.id, Code.TOO_FAST, "slow down", retry_after_ms=0)
    for _ in range(MAX_TRIES - 1):
        talk.hear(refused)
        assert talk.told == []
        talk.be_due()
        assert talk.said == [rename]
    talk.hear(refused)
    assert talk.told == [Answered(rename, refused)]
    assert {wait_ms for wait_ms, _ in talk.later} == {MIN_RETRY_MS}, "never without a pause"


@pytest.mark.parametrize(
    ("asked", "cancel", "code"),
    [
        (TICTACTOE, UnseekRequest(0), Code.NOT_SEEKING),
        (TICTACTOE, SeekRequest(0, ["connect4"]), Code.NOT_SEEKING),
        (UnseekRequest(0), TICTACTOE, Code.NOT_SEEKING),
        (WatchRequest(0, "m7"), UnwatchRequest(0, "m7"), Code.NOT_WATCHING),
        (WatchRequest(0, "m7"), WatchRequest(0, "m8"), Code.NOT_WATCHING),
        (UnwatchRequest(0, "m7"), WatchRequest(0, "m7"), Code.NOT_WATCHING),
        (LobbyRequest(0, on=True), LobbyRequest(0, on=False), Code.NOT_WATCHING),
    ],
)
@pytest.mark.parametrize("is_late", [True, False])
def test_a_delayed_request_that_was_cancelled_is_not_sent_again(
    asked: Request, cancel: Request, code: Code, *, is_late: bool
) -> None:
    talk = Talk()
    talk.let_in()
    talk.say(asked)
    request = talk.said[0]
    refused = Refused(request.id, Code.TOO_FAST, "slow down", retry_after_ms=400)
    if is_late:
        talk.hear(refused)
        talk.say(cancel)
        talk.be_due()
        (told,) = talk.told
        assert isinstance(told, Answered)
        assert isinstance(told.answer, Refused)
        assert (told.request, told.answer.code) == (request, code)
        assert talk.said == []
    else:
        talk.say(cancel)
        talk.hear(refused)
        assert (talk.told, talk.later) == ([Answered(request, refused)], [])


def test_a_lost_answer_to_an_unrepeatable_request_is_reported() -> None:
    talk = Talk()
    talk.let_in()
    requests: list[Request] = []
    for request in (ChallengeRequest(0, "Ben"), InviteRequest(0), AcceptRequest(0, 7), RenameRequest(0, "Anna")):
        talk.say(request)
        requests += talk.said
    talk.lose()
    assert [told.request for told in talk.answers()] == requests
    assert {getattr(told.answer, "code", None) for told in talk.answers()} == {Code.UNKNOWN_OUTCOME}
    talk.open()
    talk.let_in()
    assert talk.said == []


def test_a_question_whose_answer_was_lost_is_sent_again() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(ProfileRequest(0))
    question = talk.said[0]
    talk.lose()
    assert talk.told == []
    talk.say(HistoryRequest(0))
    talk.open()
    talk.let_in()
    assert [type(request) for request in talk.said] == [ProfileRequest, HistoryRequest]
    assert talk.said[0] == question


@pytest.mark.parametrize("is_restart", [True, False])
def test_a_request_without_a_connection_or_before_a_restart_is_reported_as_refused(*, is_restart: bool) -> None:
    talk = Talk()
    talk.let_in()
    for request in (ChallengeRequest(0, "Ben"), InviteRequest(0), AcceptRequest(0, 7)):
        if is_restart:
            talk.say(request)
            refused = Refused(talk.said[0].id, Code.RESTARTING, "in a moment", retry_after_ms=50)
            talk.hear(refused)
            assert [answered.answer for answered in talk.answers()] == [refused]
        else:
            talk.lose()
            with pytest.raises(Refusal) as raised:
                talk.say(request)
            assert raised.value.code is Code.NO_CONNECTION


def test_a_search_that_was_refused_while_the_lobby_changed_hands_is_sent_again_on_the_same_link() -> None:
    """Found by the simulation of three servers: the session waited for the next link for ever."""
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    seek = talk.said[0]
    talk.hear(Refused(seek.id, Code.RESTARTING, "the lobby is being handed over", retry_after_ms=1_000))
    assert talk.later == [(1_000, seek)]
    talk.be_due()
    assert talk.said == [seek]
    talk.be_due()
    assert talk.said == [], "it is sent once"
    talk.hear(Refused(seek.id, Code.RESTARTING, "in a moment", retry_after_ms=1_000))
    talk.lose()
    talk.be_due()
    assert talk.said == [], "that link is gone"
    talk.open()
    talk.let_in()
    assert talk.said == [seek]


def test_a_search_that_was_refused_for_a_restart_is_sent_again_when_that_is_called_off() -> None:
    """Found by the simulation: the session waited for the next link for ever."""
    talk = Talk()
    talk.let_in()
    first, second = SeekRequest(0, ["connect4"]), TICTACTOE
    for seek in (first, second):
        talk.say(seek)
        talk.hear(Refused(talk.said[0].id, Code.RESTARTING, "in a moment", retry_after_ms=50))
        assert talk.told == []
    talk.hear(Notice("The server restarts in 5 s.", 5_000))
    assert talk.said == []
    talk.hear(Notice("The restart was called off."))
    assert [type(said) for said in talk.said] == [SeekRequest]
    assert talk.said[0] == replace(second, id=talk.said[0].id)
    assert [type(answered.answer) for answered in talk.answers()] == [Refused], "the older one has been replaced"


def test_every_request_of_a_dropped_connection_is_answered_on_the_next_one() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    first = talk.said[0]
    talk.lose()
    talk.say(SeekRequest(0, ["connect4"]))
    talk.open()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=SeekInfo(7, ANN, ["connect4"])))
    assert talk.said == []
    assert [(told.request.games, type(told.answer)) for told in talk.answers()] == [  # type: ignore[attr-defined]
        (["tictactoe"], Refused),
        (["connect4"], Ok),
    ]
    assert talk.answers()[0].request == first
    talk.lose()
    talk.say(UnseekRequest(0))
    talk.open()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=SeekInfo(7, ANN, ["connect4"])))
    assert [type(said) for said in talk.said] == [UnseekRequest]
    assert [type(told.answer) for told in talk.answers()] == [Ok]


def test_a_match_that_cannot_be_resumed_does_not_hold_its_requests_back() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    talk.lose()
    talk.say(ResignRequest(0, "m1"))
    talk.say(ResignRequest(0, "m9"))
    talk.open()
    talk.let_in("m1")
    assert [type(said) for said in talk.said] == [ResumeRequest, ResignRequest]
    resume, other = talk.said
    assert isinstance(other, ResignRequest)
    assert other.match == "m9"
    talk.hear(Refused(resume.id, Code.UNKNOWN_MATCH, "no such match"))
    assert [(type(said), said.match) for said in talk.said] == [(ResignRequest, "m1")]  # type: ignore[attr-defined]


def test_a_repeated_event_is_delivered_once() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    move = played("tictactoe", [4])
    talk.hear(move, move, snapshot(moves=[4]), move)
    assert talk.told == [move, snapshot(moves=[4])]


def test_a_gap_is_closed_before_later_events_are_delivered() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    first, second, third = (played("tictactoe", [4, 0, 8][:n]) for n in (1, 2, 3))
    talk.hear(second, third)
    resume = talk.said[0]
    assert talk.said == [ResumeRequest(resume.id, "m1", seq=1)], "it is asked for once"
    assert talk.told == []
    talk.hear(ok(resume.id), first, second, third, snapshot(moves=[4, 0, 8]))
    assert talk.told[1:] == [first, second, third, snapshot(moves=[4, 0, 8])]


def test_after_a_dropped_connection_unfinished_matches_are_resumed_where_they_were() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot(), played("tictactoe", [4]))
    talk.lose()
    talk.open()
    talk.let_in("m1", "m2")
    assert talk.said == [ResumeRequest(talk.said[0].id, "m1", seq=2), ResumeRequest(talk.said[1].id, "m2", seq=0)]


def test_the_newest_finished_match_is_resumed_too_for_the_sake_of_a_rematch() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot(), Ended("m1", 2, 0, winner=None, reason="abort"))
    assert not talk.session.has_live_match
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == [ResumeRequest(talk.said[0].id, "m1", seq=2)]


def test_an_unanswered_move_is_sent_again_after_the_snapshot_if_the_match_still_stands_there() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    talk.say(PlayRequest(0, match="m1", ply=0, move=4))
    play = talk.said[0]
    talk.lose()
    talk.open()
    talk.let_in("m1")
    resume = talk.said[0]
    talk.hear(ok(resume.id))
    assert talk.said == [], "not before it is known how the match stands"
    talk.hear(snapshot())
    assert talk.said == [play]
    talk.hear(ok(play.id))
    assert talk.told == [Answered(play, ok(play.id))]


def test_an_unanswered_move_that_was_made_is_sent_again_and_answered_ok() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    talk.say(PlayRequest(0, match="m1", ply=0, move=4))
    play = talk.said[0]
    talk.lose()
    talk.open()
    talk.let_in("m1")
    talk.hear(ok(talk.said[0].id), played("tictactoe", [4]), snapshot(moves=[4]))
    assert talk.said == [play], "the server makes it once, and has the answer"


def test_requests_about_a_match_wait_for_the_reconnect() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    talk.lose()
    talk.say(ResignRequest(0, match="m1"))
    assert talk.said == []
    talk.open()
    talk.let_in("m1")
    talk.hear(ok(talk.said[0].id), snapshot())
    assert talk.said == [ResignRequest(talk.said[0].id, match="m1")]


def test_a_request_that_was_put_off_is_sent_once_when_its_match_is_resumed_meanwhile() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    talk.say(ResignRequest(0, match="m1"))
    (resign,) = talk.said
    talk.hear(Refused(resign.id, Code.RESTARTING, "in a moment", retry_after_ms=50), snapshot())
    assert talk.said == [resign]
    talk.be_due()
    assert talk.said == []


def test_a_server_that_restarts_gets_the_refused_move_on_the_next_link() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    talk.say(PlayRequest(0, match="m1", ply=0, move=4))
    play = talk.said[0]
    talk.hear(Refused(play.id, Code.RESTARTING, "in a moment", retry_after_ms=50))
    assert talk.told == []
    talk.lose()
    talk.open()
    talk.let_in("m1")
    talk.hear(snapshot())
    assert talk.said == [play]


def test_a_standing_seek_is_sent_again_and_one_that_led_to_a_match_is_not() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    talk.hear(ok(talk.said[0].id))
    talk.lose()
    talk.open()
    talk.let_in()
    assert [type(said) for said in talk.said] == [SeekRequest]
    talk.hear(snapshot())
    talk.lose()
    talk.open()
    talk.let_in("m1")
    assert [type(said) for said in talk.said] == [ResumeRequest]


def test_a_seek_kept_by_the_server_is_not_sent_again_and_one_of_an_earlier_run_is_withdrawn() -> None:
    kept = SeekInfo(7, ANN, ["tictactoe"])
    talk = Talk()
    talk.let_in()
    talk.say(SeekRequest(0, ["tictactoe"]))
    for standing, is_said in ((kept, False), (replace(kept, rated=True), True), (None, True)):
        talk.lose()
        talk.open()
        talk.hear(ok(talk.said[0].id), replace(welcome(), seek=standing))
        assert [type(request) for request in talk.said] == ([SeekRequest] if is_said else [])
    talk = Talk()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=kept))
    assert [type(request) for request in talk.said] == [UnseekRequest]


@pytest.mark.parametrize(
    ("asked", "standing", "is_said"),
    [
        ((True, True), (True, True), False),
        ((True, True), (False, False), False),  # of a guest, whom nobody rates
        ((True, True), (True, False), True),
        ((True, False), (True, True), True),
        ((True, False), (True, False), False),
        ((True, False), (False, False), True),
        ((False, True), (False, False), False),
        ((False, False), (True, False), True),
    ],
)
def test_a_seek_for_rated_or_casual_is_sent_again_where_another_kind_stands(
    asked: tuple[bool, bool], standing: tuple[bool, bool], is_said: bool
) -> None:
    talk = Talk()
    talk.let_in()
    talk.say(SeekRequest(0, ["connect4"], rated=asked[0], or_casual=asked[1]))
    talk.lose()
    talk.open()
    info = SeekInfo(7, ANN, ["connect4"], rated=standing[0], or_casual=standing[1])
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=info))
    assert [type(request) for request in talk.said] == ([SeekRequest] if is_said else [])


WANTED: dict[str, Any] = {
    "time": BLITZ, "opponents": "people", "level": 3, "min_rating": 1_000, "max_rating": 2_000
}  # fmt: skip
"""Fields that a seek shares with its row in the list."""


@pytest.mark.parametrize(
    ("games", "other"),
    [
        (["connect4"], {}),
        (["gomoku"], {}),
        *[(["connect4"], {field: value}) for field, value in {
            "time": None, "opponents": "bots", "level": 4, "min_rating": 1_001, "max_rating": None,
        }.items()],
    ],
)  # fmt: skip
def test_a_seek_is_sent_again_where_one_stands_that_differs(games: list[str], other: dict[str, Any]) -> None:
    talk = Talk()
    talk.let_in()
    talk.say(SeekRequest(0, ["connect4"], **WANTED))
    talk.lose()
    talk.open()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=SeekInfo(7, ANN, games, **{**WANTED, **other})))
    is_same = games == ["connect4"] and not other
    assert [type(request) for request in talk.said] == ([] if is_same else [SeekRequest])


@pytest.mark.parametrize(
    ("is_resume", "code", "wait_ms", "is_repeated"),
    [
        (False, Code.TOO_FAST, 100, True),
        (False, Code.TOO_FAST, None, False),
        (False, Code.STORAGE, 100, False),
        (False, Code.BUSY, 100, False),
        (True, Code.TOO_FAST, 100, True),
        (True, Code.TOO_FAST, MAX_RETRY_MS + 1, True),
        (True, Code.STORAGE, 100, True),
        (True, Code.STORAGE, None, False),
        (True, Code.UNKNOWN_GAME, 100, False),
    ],
)
def test_only_what_is_refused_for_a_moment_is_repeated_and_a_match_is_resumed_after_any_wait(
    code: Code, wait_ms: int | None, *, is_resume: bool, is_repeated: bool
) -> None:
    talk = Talk()
    talk.let_in(*["m1"] * is_resume)
    if not is_resume:
        talk.say(RenameRequest(0, "Anna"))
    (request,) = talk.said
    talk.hear(Refused(request.id, code, "no", retry_after_ms=wait_ms))
    assert talk.later == ([(wait_ms, request)] if is_repeated else [])
    assert bool(talk.answers()) is not is_repeated


@pytest.mark.parametrize(
    ("token", "code", "wait_ms", "outcome"),
    [
        ("old", Code.UNKNOWN_TOKEN, None, "new"),
        (None, Code.UNKNOWN_TOKEN, None, "end"),
        ("old", Code.NAME_TAKEN, None, "end"),
        ("old", Code.BANNED, 1_000, "end"),
        ("old", Code.TOO_FAST, 1_000, "later"),
        ("old", Code.TOO_FAST, None, "end"),
    ],
)
def test_a_refused_hello_is_repeated_as_somebody_new_or_later_or_ends_the_session(
    token: str | None, code: Code, wait_ms: int | None, outcome: str
) -> None:
    session = ClientSession("Ann", token)
    (hello,) = session.opened()
    reaction = session.heard(Refused(hello.id, code, "no", retry_after_ms=wait_ms))
    assert [type(request) for request in reaction.say] == [HelloRequest] * (outcome == "new")
    assert [wait for wait, _ in reaction.later] == [wait_ms] * (outcome == "later")
    assert (reaction.rejected is not None) == (outcome == "end")


def test_a_seek_that_stands_while_another_is_refused_is_sent_again_and_not_withdrawn() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    (first,) = talk.said
    assert isinstance(first, SeekRequest)
    talk.hear(ok(first.id))
    talk.say(SeekRequest(0, ["connect4"], rated=True, level=1))
    talk.hear(Refused(talk.said[0].id, Code.ALWAYS_CASUAL, "no"))
    for standing, is_said in ((SeekInfo(7, ANN, list(first.games)), False), (None, True)):
        talk.lose()
        talk.open()
        talk.hear(ok(talk.said[0].id), replace(welcome(), seek=standing))
        assert talk.said == ([first] if is_said else [])
    talk.hear(Refused(first.id, Code.TOO_MANY_MATCHES, "no"))
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == []


def test_a_seek_that_led_to_a_match_while_disconnected_is_not_sent_again() -> None:
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    talk.lose()
    talk.open()
    talk.let_in("m7")
    assert talk.said == [ResumeRequest(talk.said[0].id, "m7", seq=0)]


@pytest.mark.parametrize("end", [UnseekRequest(0), None])
def test_a_seek_taken_back_or_refused_is_forgotten(end: Request | None) -> None:
    talk = Talk()
    talk.let_in()
    talk.say(TICTACTOE)
    if end is None:
        talk.hear(Refused(talk.said[0].id, Code.UNKNOWN_GAME, "no"))
    else:
        talk.say(end)
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == []


@pytest.mark.parametrize("is_shown", [True, False])
def test_a_match_that_is_no_longer_watched_is_not_requested_again(*, is_shown: bool) -> None:
    talk = Talk()
    talk.let_in()
    talk.say(WatchRequest(0, match="m7"))
    talk.hear(ok(talk.said[0].id), *([snapshot(you=None, match="m7")] if is_shown else []))
    assert talk.session.is_following("m7") == is_shown
    talk.say(UnwatchRequest(0, match="m7"))
    assert not talk.session.is_following("m7")
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == []


def test_a_seek_that_stood_and_was_taken_back_does_not_stand_again_when_the_next_is_refused() -> None:
    talk = Talk()
    talk.let_in()
    for request in (TICTACTOE, UnseekRequest(0)):
        talk.say(request)
        talk.hear(ok(talk.said[0].id))
    talk.say(SeekRequest(0, ["connect4"], rated=True))
    talk.hear(Refused(talk.said[0].id, Code.ALWAYS_CASUAL, "no"))
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == []


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_seek_whose_answer_comes_after_it_was_taken_back_does_not_stand(*, is_answered: bool) -> None:
    talk = Talk()
    talk.let_in()
    for request in (TICTACTOE, UnseekRequest(0), SeekRequest(0, ["connect4"])):
        talk.say(request)
    (last,) = talk.said
    talk.hear(ok(last.id - 2), *[ok(last.id - 1)] * is_answered)
    if not is_answered:
        talk.lose()
        talk.open()
        talk.let_in()
    talk.hear(Refused(last.id, Code.UNKNOWN_GAME, "no"))
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == []


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_refused_seek_leaves_the_one_before_open_if_the_server_has_kept_it(*, is_kept: bool) -> None:
    standing = SeekInfo(7, ANN, ["tictactoe"])
    talk = Talk()
    talk.say(TICTACTOE)
    talk.open()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=standing))
    assert [type(answered.answer) for answered in talk.answers()] == [Ok]
    talk.lose()
    talk.open()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=standing))
    if not is_kept:
        talk.lose()
    talk.say(SeekRequest(0, ["connect4"]))
    if not is_kept:
        talk.open()
        talk.let_in()
    talk.hear(Refused(talk.said[0].id, Code.UNKNOWN_GAME, "no"))
    talk.lose()
    talk.open()
    talk.hear(ok(talk.said[0].id), replace(welcome(), seek=standing))
    assert [type(request) for request in talk.said] == [UnseekRequest] * (not is_kept)


def test_a_match_that_the_server_does_not_know_is_forgotten() -> None:
    talk = Talk()
    talk.let_in("gone")
    talk.hear(Refused(talk.said[0].id, Code.UNKNOWN_MATCH, "no"))
    talk.lose()
    talk.open()
    talk.let_in()
    assert talk.said == []


def test_offers_are_facts_like_any_other() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(snapshot())
    offered = Offered("m1", 2, 0, side=1, kind="draw")
    talk.hear(offered)
    assert talk.told == [offered]
    talk.say(OfferRequest(0, match="m1", kind="draw"))
    assert [type(said) for said in talk.said] == [OfferRequest]


def test_events_of_an_unknown_match_are_ignored() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(played("tictactoe", [4]))
    assert (talk.said, talk.told) == ([], [])


def test_a_rename_is_delivered_immediately_and_changes_only_its_players_name_in_the_match() -> None:
    talk, match, renamed = Talk(), snapshot(), PlayerRenamed("m1", 1, "Benny")
    talk.let_in()
    talk.hear(match, renamed)
    assert talk.told == [match, renamed]
    after = follow(match, renamed)
    assert [player.name for player in after.players] == [match.players[0].name, "Benny"]
    assert replace(after, players=match.players) == match
    assert follow(match, replace(renamed, side=2)) == match


def test_inconsistent_messages_are_dropped_and_reported() -> None:
    talk = Talk()
    talk.let_in()
    whole = snapshot()
    for broken in (
        replace(whole, game=replace(whole.game, shape=[3, 4])),
        replace(whole, game=replace(whole.game, shape=[])),
        replace(whole, game=replace(whole.game, shape=[-3, -3])),
        replace(whole, game=replace(whole.game, shape=[2**60, 2**60])),
        replace(whole, game=replace(whole.game, move_names=["a"])),
        replace(whole, game=replace(whole.game, move_cells=[9] * 9)),
        replace(whole, position=replace(whole.position, board="")),
        replace(whole, position=replace(whole.position, legal=[9])),
        replace(whole, position=replace(whole.position, line=[-1])),
        replace(whole, position=replace(whole.position, to_move=2)),
        replace(whole, you=7),
        replace(whole, last=-5),
        replace(whole, moves=[12]),
    ):
        talk.hear(broken)
        assert [type(event) for event in talk.told] == [Garbled]
    for broken_event in (
        replace(played("tictactoe", [4]), move=99),
        Ended("m1", 2, 0, None, "abort", ClockInfo((1, 1), running=2)),
        Ended("m1", 2, 0, 2, "line"),
        Adjourned("m1", 2, 0, 0, ClockInfo((1, 1), running=2)),
        Offered("m1", 2, 0, 2, "draw"),
        Offered("m1", 2, 0, -1, "takeback"),
    ):
        talk.hear(whole, broken_event)
        assert [type(event) for event in talk.told] == [type(whole), Garbled]


def test_a_request_that_waits_is_put_off_once_however_often_it_is_refused() -> None:
    talk = Talk()
    hello = talk.said[0].id
    talk.hear(*(Refused(number, Code.TOO_FAST, "wait", 50) for number in range(hello, hello + 100)))
    assert len(talk.later) == 1
    talk.be_due()
    assert [type(request) for request in talk.said] == [HelloRequest]
    talk.hear(*[Refused(talk.said[0].id, Code.TOO_FAST, "wait", 50)] * 100)
    assert len(talk.later) == 2
    talk.be_due()
    talk.let_in("m1")
    talk.hear(*[Refused(talk.said[0].id, Code.STORAGE, "the disk is full", 2**53 - 1)] * 100)
    assert len(talk.later) == 3


def test_only_the_first_welcome_of_a_connection_counts() -> None:
    talk = Talk()
    talk.let_in("m1")
    for _ in range(MAX_PENDING):
        talk.hear(welcome("m1", "m2"))
        assert talk.said == []
        assert [type(event) for event in talk.told] == [Garbled]
    talk.lose()
    talk.open()
    talk.let_in("m1")
    assert [type(request) for request in talk.said] == [ResumeRequest]


def test_matches_beyond_the_limit_are_ignored() -> None:
    talk = Talk()
    talk.let_in(*(f"a{n}" for n in range(500)))
    assert len(talk.said) == MAX_MATCHES
    talk.hear(*(replace(snapshot(), match=f"a{n}") for n in range(500)))
    assert sum(isinstance(event, Garbled) for event in talk.told) == 500 - MAX_MATCHES
    talk.hear(replace(snapshot(), match="a0"))
    assert [type(event) for event in talk.told] == [Snapshot], "a known one is not"


def test_games_of_any_shape_are_taken_in() -> None:
    talk = Talk()
    talk.let_in()
    talk.hear(layered(), PlayerList(1, []))
    assert talk.told == [layered(), PlayerList(1, [])]


def test_a_new_player_proposes_the_token_that_was_chosen_for_them() -> None:
    (hello,) = ClientSession("Ann", None, new_token="chosen").opened()
    assert isinstance(hello, HelloRequest)
    assert hello.token == "chosen"


def test_guests_propose_neither_a_name_nor_a_token() -> None:
    (hello,) = ClientSession(None, None).opened()
    assert isinstance(hello, HelloRequest)
    assert (hello.name, hello.token) == (None, None)


def test_a_refusal_of_what_the_server_could_not_read_is_reported() -> None:
    talk, refused = Talk(), Refused(None, Code.BAD_MESSAGE, "no")
    talk.let_in()
    talk.hear(refused)
    assert talk.told == [refused]


def test_a_refusal_of_an_earlier_request_to_watch_leaves_the_latest() -> None:
    talk = Talk()
    talk.let_in()
    for _ in range(2):
        talk.say(WatchRequest(0, match="m7"))
    (second,) = talk.said
    talk.hear(Refused(second.id - 1, Code.BUSY, "no"), ok(second.id), snapshot(you=None, match="m7"))
    assert talk.session.is_following("m7")


def test_a_visitor_resumes_withdraws_and_keeps_nothing_of_the_player() -> None:
    session = ClientSession("Ann", "secret", is_visiting=True)
    session.heard(snapshot())
    question = ProfileRequest(0)
    assert session.say(question) == []
    (hello,) = session.opened()
    assert isinstance(hello, HelloRequest)
    assert hello.token == "secret"
    standing = replace(welcome("m1", "m2", token="other"), seek=SeekInfo(7, ANN, ["hex"]))
    reaction = session.heard(standing)
    question = replace(question, id=session.last_id - 1)
    assert (reaction.say, reaction.token) == ([question], None)
    assert reaction.tell == [replace(standing, token=None)]
    assert session.heard(ok(question.id)).tell == [Answered(question, ok(question.id))]


def test_a_bot_says_what_it_is_and_how_many_it_plays() -> None:
    hello = ClientSession("alphabeta", None, bot=BotProfile("alphabeta", 3, 4, 1)).opened()[0]
    assert isinstance(hello, HelloRequest)
    assert (hello.bot, hello.level, hello.places, hello.reserved) == ("alphabeta", 3, 4, 1)
    assert PlayerInfo("alphabeta", "alphabeta") == BOT


def test_our_match_stays_ours_even_if_we_watch_it() -> None:
    """Found by the simulation: what was told of it was left out from then on, its end too."""
    talk = Talk("token")
    talk.let_in("m1")
    talk.hear(ok(talk.said[0].id), snapshot())
    talk.say(WatchRequest(0, match="m1"))
    talk.lose()
    talk.open()
    talk.let_in()
    assert [type(request) for request in talk.said] == [ResumeRequest], "not watched, but resumed"
    assert [getattr(answered.answer, "code", None) for answered in talk.answers()] == [Code.NOT_WATCHING]
    talk.say(WatchRequest(0, match="another"))
    talk.hear(Ended("m1", 2, 0, None, "abort"))
    assert talk.told == [Ended("m1", 2, 0, None, "abort")]


def test_a_deleted_player_returns_as_a_new_one_without_the_old_matches() -> None:
    """Found by the simulation: the matches of the player of before were resumed, which is refused for ever."""
    talk = Talk("token")
    talk.let_in("m1")
    talk.hear(ok(talk.said[0].id), snapshot())
    talk.say(ResignRequest(0, match="m1"))
    talk.lose()
    talk.open()
    talk.hear(Refused(talk.said[0].id, Code.UNKNOWN_TOKEN, "unknown"))
    talk.let_in()
    assert talk.said == []
