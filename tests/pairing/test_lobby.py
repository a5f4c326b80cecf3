import random
from collections.abc import Callable
from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.pairing.objects import count_objects
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.pairing.lobby import CHALLENGE_MS, INVITATION_MS, MAX_CHALLENGES, Challenge, Lobby, Pairing
from ttt_net.pairing.seeks import BANDS, Seek

BLITZ = TimeControl(initial_ms=180_000, increment_ms=2_000)


def person(player: int, *games: str, **options: object) -> Seek:
    return Seek(player, False, games or ("tictactoe",), **options)  # type: ignore[arg-type]


def bot(player: int, *games: str, **options: object) -> Seek:
    return Seek(player, True, games, **options)  # type: ignore[arg-type]


def lobby() -> Lobby:
    return Lobby(random.Random(1))


def players(pairing: Pairing | None) -> set[int]:
    return {pairing.first, pairing.second} if pairing else set()


def test_two_players_with_the_same_wish_are_paired_and_stop_waiting() -> None:
    room = lobby()
    assert room.seek(person(1), 0) is None
    assert players(room.seek(person(2), 0)) == {1, 2}
    assert room.seeks.of(1) is None
    assert room.seeks.of(2) is None


def test_the_longest_waiting_player_is_paired_first() -> None:
    room = lobby()
    room.seek(person(1, "connect4"), 0)
    room.seek(person(2, "tictactoe"), 0)
    room.seek(person(3, "mnk:4x4,3"), 0)
    assert players(room.seek(bot(4), 0)) == {1, 4}


def test_nobody_is_paired_with_themselves() -> None:
    room = lobby()
    room.seek(person(1), 0)
    assert room.seek(person(1), 0) is None


def test_another_game_or_another_clock_is_no_pairing() -> None:
    room = lobby()
    room.seek(person(1, "connect4"), 0)
    room.seek(person(2, time=BLITZ), 0)
    assert room.seek(person(3), 0) is None
    assert players(room.seek(person(4, time=BLITZ), 0)) == {2, 4}


def test_the_first_of_the_waiting_players_games_that_both_like_is_played() -> None:
    room = lobby()
    room.seek(person(1, "connect4", "tictactoe"), 0)
    pairing = room.seek(person(2, "tictactoe", "connect4"), 0)
    assert pairing is not None
    assert pairing.game == "connect4"


def test_two_players_who_accept_any_game_play_tictactoe() -> None:
    room = lobby()
    room.seek(bot(1), 0)
    pairing = room.seek(bot(2), 0)
    assert pairing is not None
    assert pairing.game == "tictactoe"


def test_a_player_who_accepts_any_game_plays_the_game_of_the_other() -> None:
    room = lobby()
    room.seek(bot(1), 0)
    pairing = room.seek(person(2, "mnk:5x5,4"), 0)
    assert pairing is not None
    assert pairing.game == "mnk:5x5,4"


def test_a_bot_that_waits_for_people_is_not_paired_with_a_bot() -> None:
    room = lobby()
    room.seek(bot(1, opponents="people"), 0)
    assert room.seek(bot(2), 0) is None
    assert players(room.seek(person(3), 0)) == {1, 3}


def test_a_person_who_seeks_a_bot_waits_for_one() -> None:
    room = lobby()
    room.seek(person(1, opponents="bots"), 0)
    assert room.seek(person(2, opponents="people"), 0) is None
    assert players(room.seek(bot(3), 0)) == {1, 3}


def test_departed_players_are_not_paired() -> None:
    room = lobby()
    room.seek(person(1), 0)
    assert room.seeks.withdraw(1)
    assert not room.seeks.withdraw(1)
    assert room.seek(person(2), 0) is None


def test_each_side_falls_to_each_player_now_and_then() -> None:
    room, firsts = lobby(), set()
    for _ in range(40):
        room.seek(person(1), 0)
        pairing = room.seek(person(2), 0)
        assert pairing is not None
        firsts.add(pairing.first)
    assert firsts == {1, 2}


def refused(code: Code, ask: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        ask()
    assert caught.value.code is code
    return caught.value


def test_a_match_by_a_challenge_or_a_code_withdraws_the_seeks_of_both_players() -> None:
    room = lobby()
    for player, game in ((1, "connect4"), (2, "tictactoe"), (3, "qubic"), (4, "gomoku")):
        room.seek(person(player, game), 0)
    room.accepted(room.challenge(1, 2, "connect4", None, now_ms=0))
    assert [seek.player for seek in room.seeks] == [3, 4]
    invitation = room.invite(3, "qubic", None, 0)
    room.reinstate([invitation])
    room.joined(invitation, 4)
    assert list(room.seeks) == []


def test_a_challenge_pairs_the_two_once_it_is_accepted() -> None:
    room = lobby()
    challenge = room.challenge(1, 2, "connect4", BLITZ, now_ms=0)
    assert room.challenge_of(challenge.number, 2, now_ms=CHALLENGE_MS - 1) == challenge
    room.answer(challenge)
    pairing = room.accepted(challenge)
    assert players(pairing) == {1, 2}
    assert (pairing.game, pairing.time, pairing.is_private) == ("connect4", BLITZ, False)
    refused(Code.UNKNOWN_CHALLENGE, lambda: room.challenge_of(challenge.number, 2, now_ms=0))


def test_only_the_two_may_answer_a_challenge_and_only_in_time() -> None:
    room = lobby()
    number = room.challenge(1, 2, "tictactoe", None, now_ms=0).number
    refused(Code.UNKNOWN_CHALLENGE, lambda: room.challenge_of(number, 3, now_ms=0))
    refused(Code.UNKNOWN_CHALLENGE, lambda: room.challenge_of(number, 2, now_ms=CHALLENGE_MS))
    assert [each.number for each in room.expired(CHALLENGE_MS)] == [number]
    assert room.expired(CHALLENGE_MS) == []


def test_nobody_challenges_themselves_or_half_the_lobby() -> None:
    room = lobby()
    refused(Code.NOT_YOURSELF, lambda: room.challenge(1, 1, "tictactoe", None, now_ms=0))
    for other in range(2, 2 + MAX_CHALLENGES):
        room.challenge(1, other, "tictactoe", None, now_ms=other)
    again = room.challenge(1, 2, "connect4", None, now_ms=10)
    assert again.game == "connect4"
    refusal = refused(Code.TOO_MANY_CHALLENGES, lambda: room.challenge(1, 99, "tictactoe", None, now_ms=10))
    assert refusal.retry_after_ms == CHALLENGE_MS + 3 - 10


def test_challenges_end_when_their_player_leaves() -> None:
    room = lobby()
    by, to = room.challenge(1, 2, "tictactoe", None, 0), room.challenge(3, 1, "tictactoe", None, 0)
    other = room.challenge(2, 3, "tictactoe", None, 0)
    assert room.leave(1, 0, on_purpose=False) == [by, to]
    assert room.challenge_of(other.number, 3, now_ms=0) == other


def test_an_invitation_works_once_within_an_hour() -> None:
    room = lobby()
    code = invite(room, 1)
    refused(Code.NOT_YOURSELF, lambda: join(room, code, 1, now_ms=0))
    refused(Code.UNKNOWN_CODE, lambda: join(room, "XXXXXX", 2, now_ms=0))
    refused(Code.UNKNOWN_CODE, lambda: join(room, code, 2, now_ms=INVITATION_MS))
    room.leave(1, 0, on_purpose=True)
    pairing = join(room, code.lower(), 2, now_ms=INVITATION_MS - 1)
    assert players(pairing) == {1, 2}
    assert pairing.is_private
    refused(Code.UNKNOWN_CODE, lambda: join(room, code, 3, now_ms=0))


def test_a_new_invitation_replaces_the_last() -> None:
    room = lobby()
    old, new = invite(room, 1), invite(room, 1)
    refused(Code.UNKNOWN_CODE, lambda: join(room, old, 2, now_ms=0))
    assert players(join(room, new, 2, now_ms=0)) == {1, 2}


def test_old_invitations_are_forgotten() -> None:
    room = lobby()
    codes = [invite(room, player) for player in range(100)]
    assert all(room.is_code(code, 0) for code in codes)
    room.expired(INVITATION_MS)
    assert all(room.is_code(code, 0) for code in codes), "the time of play has nothing to do with them"
    room.forget_old(INVITATION_MS)
    assert not any(room.is_code(code, 0) for code in codes), "nor would they be good if the time were set back"


def test_an_invitation_works_once_it_is_written_and_until_its_maker_is_deleted() -> None:
    room = lobby()
    old, other, new = invite(room, 1), invite(room, 2), room.invite(1, "qubic", None, now_ms=0)
    assert room.is_code(old, 0)
    assert not room.is_code(new.code, 0)
    room.reinstate([new])
    assert not room.is_code(old, 0)
    assert room.is_code(new.code, 0)
    room.uninvite(1)
    assert not room.is_code(new.code, 0)
    assert room.is_code(other, 0)


def test_an_invitation_does_not_work_again_after_its_maker_was_deleted() -> None:
    room = lobby()
    code = invite(room, 1)
    invitation = room.invitation(code, 2, now_ms=0)
    room.joined(invitation, 2)
    room.uninvite(1)
    room.unspent(code)
    assert not room.is_code(code, 0)


def test_an_invitation_that_led_to_no_match_works_again_unless_there_is_another() -> None:
    room = lobby()
    code = invite(room, 1)
    invitation = room.invitation(code, 2, now_ms=0)
    room.joined(invitation, 2)
    room.unspent(code)
    assert players(join(room, code, 3, now_ms=0)) == {1, 3}
    other = invite(room, 1)
    room.unspent(code)
    assert not room.is_code(code, 0)
    assert room.is_code(other, 0)


def invite(room: Lobby, player: int) -> str:
    invitation = room.invite(player, "qubic", None, now_ms=0)
    room.reinstate([invitation])
    return invitation.code


def join(room: Lobby, code: str, player: int, now_ms: int) -> Pairing:
    return room.joined(room.invitation(code, player, now_ms), player)


def test_a_seek_is_accepted_by_its_number_once() -> None:
    room = lobby()
    room.seek(person(1, "connect4", time=BLITZ), 0)
    room.seek(person(2), 0)
    first, second = room.seeks
    pairing = room.accept(first.number, 2, is_bot=False)
    assert players(pairing) == {1, 2}
    assert (pairing.game, pairing.time) == ("connect4", BLITZ)
    for seek in (first, second):
        refused(Code.UNKNOWN_SEEK, lambda number=seek.number: room.accept(number, 3, is_bot=False))  # type: ignore[misc]


def test_a_seek_is_accepted_by_players_whom_it_welcomes_and_not_by_its_maker() -> None:
    room = lobby()
    room.seek(person(1, opponents="people"), 0)
    (seek,) = room.seeks
    refused(Code.NOT_WELCOME, lambda: room.accept(seek.number, 2, is_bot=True))
    refused(Code.NOT_YOURSELF, lambda: room.accept(seek.number, 1, is_bot=False))
    assert list(room.seeks) == [seek]


def test_a_new_seek_has_a_new_number() -> None:
    room = lobby()
    numbers = []
    for _ in range(3):
        room.seek(person(1), 0)
        numbers += [seek.number for seek in room.seeks]
    assert len(set(numbers)) == 3


@pytest.mark.parametrize(
    ("one", "other", "is_rated"),
    [
        ({"is_rated": True, "or_casual": True}, {"is_rated": True, "or_casual": True}, True),
        ({"is_rated": True, "or_casual": True}, {"is_rated": True}, True),
        ({"is_rated": True}, {"is_rated": True, "or_casual": True}, True),
        ({"is_rated": True, "or_casual": True}, {}, False),
        ({}, {"is_rated": True, "or_casual": True}, False),
    ],
)
def test_a_match_is_rated_if_both_players_want_that(
    one: dict[str, bool], other: dict[str, bool], is_rated: bool
) -> None:
    room = lobby()
    assert room.seek(person(1, **one), 0) is None
    pairing = room.seek(person(2, **other), 0)
    assert pairing is not None
    assert pairing.is_rated is is_rated


def test_two_players_who_may_not_play_rated_play_casually_if_both_accept_that() -> None:
    room = Lobby(random.Random(1), may_rate=lambda one, other: False)
    assert room.seek(person(1, is_rated=True, or_casual=True), 0) is None
    pairing = room.seek(person(2, is_rated=True, or_casual=True), 0)
    assert pairing is not None
    assert not pairing.is_rated


@pytest.mark.parametrize(("is_rated", "or_casual", "is_casual"), [*product([False, True], repeat=3)])
def test_an_accepted_seek_is_casual_if_it_says_so_or_both_accept_that(
    is_rated: bool, or_casual: bool, is_casual: bool
) -> None:
    room = lobby()
    room.seek(person(1, is_rated=is_rated, or_casual=or_casual), 0)
    (seek,) = room.seeks
    pairing = room.accept(seek.number, 2, is_bot=False, is_casual=is_casual)
    assert pairing.is_rated == (is_rated and not (or_casual and is_casual))


@pytest.mark.parametrize(("one", "other"), [*product(product([False, True], repeat=2), repeat=2)])
def test_a_match_is_casual_where_ratings_are_not_allowed_and_both_accept_that(
    one: tuple[bool, bool], other: tuple[bool, bool]
) -> None:
    asked: list[tuple[int, int]] = []
    room = Lobby(random.Random(1), may_rate=lambda *pair: asked.append(pair) or False)  # type: ignore[func-returns-value]
    room.seek(person(1, is_rated=one[0], or_casual=one[1]), 0)
    pairing = room.seek(person(2, is_rated=other[0], or_casual=other[1]), 0)
    kinds = [{True, False} if is_rated and or_casual else {is_rated} for is_rated, or_casual in (one, other)]
    if not kinds[0] & kinds[1]:
        assert pairing is None
        return
    assert pairing is not None
    both_would = one == other == (True, True)
    assert pairing.is_rated == (one[0] and other[0] and not both_would)
    assert bool(asked) == both_would


@pytest.mark.parametrize(("one", "other"), [*product([None, 3], [None, 5])])
def test_a_bot_plays_at_the_level_that_either_asks_for(one: int | None, other: int | None) -> None:
    room = lobby()
    room.seek(person(1, level=one), 0)
    pairing = room.seek(person(2, level=other), 0)
    assert pairing is not None
    assert pairing.level == (other or one)


def test_a_seek_is_refused_with_the_range_that_it_asks_for_and_accepted_at_both_of_its_ends() -> None:
    def rating(player: int, game: str, time: TimeControl | None) -> int:
        return player

    ranges: list[tuple[dict[str, int], str, list[int]]] = [
        ({"min_rating": 1_400}, "ratings from 1400 only", [1_399]),
        ({"max_rating": 1_600}, "ratings 0 to 1600 only", [1_601]),
        ({"min_rating": 1_400, "max_rating": 1_600}, "ratings 1400 to 1600 only", [1_399, 1_601]),
    ]
    for asked, text, outside in ranges:
        for player in outside:
            room = Lobby(random.Random(1), rating)
            room.seek(person(1, **asked), 0)
            (seek,) = room.seeks
            number = seek.number
            assert text in str(refused(Code.NOT_WELCOME, lambda: room.accept(number, player, is_bot=False)))  # noqa: B023
        for player in asked.values():
            room = Lobby(random.Random(1), rating)
            room.seek(person(1, **asked), 0)
            (seek,) = room.seeks
            assert players(room.accept(seek.number, player, is_bot=False)) == {1, player}


def test_a_seek_without_a_range_asks_for_no_rating_and_welcomes_everybody() -> None:
    room = Lobby(random.Random(1), lambda player, game, time: -1)
    room.seek(bot(1), 0)
    assert players(room.seek(person(2), 0)) == {1, 2}


def test_seeks_are_matched_again_when_a_rating_or_an_obstacle_has_changed() -> None:
    ratings, apart = {1: 1_500, 2: 1_500, 3: 1_500}, {1, 3}
    room = Lobby(
        random.Random(1),
        lambda player, game, time: ratings[player],
        lambda one, other: {one.player, other.player} != apart,
    )
    room.seek(person(1, min_rating=1_550), 0)
    room.seek(person(2, max_rating=1_400), 0)
    ratings[1] = 1_395
    assert room.rated(1) is None
    ratings[2] = 1_560
    assert players(room.rated(2)) == {1, 2}
    room.seek(person(1), 0)
    room.seek(person(3), 0)
    assert room.look_again(3) is None
    apart.clear()
    assert players(room.look_again(3)) == {1, 3}


class Stammering(random.Random):
    """Draws each code twice."""

    def __init__(self) -> None:
        super().__init__(1)
        self.drawn = iter("AABBCC")

    def choices(self, *args: Any, k: int = 1, **more: Any) -> list[Any]:
        return [next(self.drawn)] * k


def test_no_two_invitations_have_the_same_code() -> None:
    room = Lobby(Stammering())
    assert [invite(room, player) for player in (1, 2, 3)] == ["AAAAAA", "BBBBBB", "CCCCCC"]


def test_waiting_and_coming_back_lead_to_pairings() -> None:
    room = Lobby(random.Random(1), lambda player, game, time: player)
    room.seek(person(1_000), 0)
    room.seek(person(1_300), 0)
    assert [players(pairing) for pairing in room.tick(BANDS[1][0])] == [{1_000, 1_300}]
    room.seek(person(1_000), 0)
    room.leave(1_000, 0, on_purpose=False)
    assert room.seek(person(1_001), 0) is None
    assert players(room.returned(1_000)) == {1_000, 1_001}


@pytest.mark.parametrize("side", [0, 1, None])
def test_a_challenge_and_an_invitation_give_the_side_that_was_asked_for(side: Literal[0, 1] | None) -> None:
    room, firsts = lobby(), set()
    for _ in range(40):
        challenge = room.challenge(1, 2, "qubic", None, 0, side=side)
        room.answer(challenge)
        firsts.add(room.accepted(challenge).first)
        made = room.invite(1, "qubic", None, 0, side)
        room.reinstate([made])
        firsts.add(room.joined(made, 2).first)
        room.spent(made.code)
        assert not room.is_being_spent(made.code)
    assert firsts == ({1, 2} if side is None else {1} if side == 0 else {2})


def test_numbers_continue_after_those_of_another_node() -> None:
    room = lobby()
    room.count_on(7)
    room.seek(person(1), 0)
    assert [seek.number for seek in room.seeks] == [8]
    assert room.challenge(1, 2, "qubic", None, 0).number == 8


def test_blocking_ends_the_challenges_between_two_players_and_no_others() -> None:
    room = lobby()
    between = [room.challenge(1, 2, "qubic", None, 0), room.challenge(2, 1, "qubic", None, 0)]
    others = [room.challenge(1, 3, "qubic", None, 0), room.challenge(3, 2, "qubic", None, 0)]
    room.part(1, 2)
    for challenge in between:
        refused(Code.UNKNOWN_CHALLENGE, lambda number=challenge.number: room.challenge_of(number, 1, 0))  # type: ignore[misc]
    for challenge in others:
        assert room.challenge_of(challenge.number, 3, 0) == challenge


PLAYERS = st.integers(0, MAX_CHALLENGES + 1)


class Office(RuleBasedStateMachine):
    """Challenges and invitations beside plain lists of them."""

    def __init__(self) -> None:
        super().__init__()
        self.room = lobby()
        self.settled: list[str] = []
        self.room.settled = self.settled.append
        self.objects = count_objects(self.room)
        self.now_ms = 0
        self.challenges: dict[int, Challenge] = {}
        self.last = 0
        self.good: dict[int, tuple[str, int]] = {}
        """By player, the code of the invitation and until when it is good."""
        self.beginning: dict[str, tuple[int, int]] = {}
        """By code, invitations whose match is about to begin: the player, and until when they would be good."""
        self.codes: list[str] = []

    def by_and_to(self, player: int) -> list[Challenge]:
        return [each for each in self.challenges.values() if player in (each.by, each.to)]

    @rule(by=PLAYERS, to=PLAYERS)
    def challenge(self, by: int, to: int) -> None:
        if by == to:
            refused(Code.NOT_YOURSELF, lambda: self.room.challenge(by, to, "qubic", None, self.now_ms))
            return
        self.challenges = {n: each for n, each in self.challenges.items() if (each.by, each.to) != (by, to)}
        mine = [each.expires_ms for each in self.challenges.values() if each.by == by]
        if len(mine) == MAX_CHALLENGES:
            refusal = refused(Code.TOO_MANY_CHALLENGES, lambda: self.room.challenge(by, to, "qubic", None, self.now_ms))
            assert refusal.retry_after_ms == max(0, min(mine) - self.now_ms)
            return
        made = self.room.challenge(by, to, "qubic", None, self.now_ms)
        assert (made.by, made.to, made.expires_ms) == (by, to, self.now_ms + CHALLENGE_MS)
        assert made.number > self.last, "no number is given twice"
        self.last = made.number
        self.challenges[made.number] = made

    @rule(by=PLAYERS)
    def challenge_everybody(self, by: int) -> None:
        for to in range(MAX_CHALLENGES + 2):
            self.challenge(by, to)

    @rule(back=st.integers(0, 12), player=PLAYERS)
    def answer(self, back: int, player: int) -> None:
        number = max(0, self.last - back)
        challenge = self.challenges.get(number)
        if challenge and player in (challenge.by, challenge.to) and challenge.expires_ms > self.now_ms:
            assert self.room.challenge_of(number, player, self.now_ms) == challenge
            self.room.answer(self.challenges.pop(number))
            assert players(self.room.accepted(challenge)) == {challenge.by, challenge.to}
        else:
            refused(Code.UNKNOWN_CHALLENGE, lambda: self.room.challenge_of(number, player, self.now_ms))

    @rule()
    def expire(self) -> None:
        late = [each for each in self.challenges.values() if each.expires_ms <= self.now_ms]
        assert self.room.expired(self.now_ms) == late
        for each in late:
            del self.challenges[each.number]

    @rule(player=PLAYERS, on_purpose=st.booleans())
    def leave(self, player: int, on_purpose: bool) -> None:
        gone = self.by_and_to(player)
        self.room.seek(person(player, f"game-{player}"), self.now_ms)
        assert self.room.leave(player, self.now_ms, on_purpose=on_purpose) == gone
        assert self.room.seeks.find(self.room.seeks.last_number) is None
        assert (self.room.seeks.of(player) is None) == on_purpose
        for each in gone:
            del self.challenges[each.number]

    @rule(greater=st.integers(-5, 5))
    def hand_over(self, greater: int) -> None:
        """Give the lobby to another node and take it again, which has given numbers up to some other one."""
        before = self.room.last_number
        self.room.hand_over()
        assert self.room.last_number == before
        self.room.count_on(before + greater)
        self.last = before + max(0, greater)
        assert self.room.last_number == self.last
        assert (len(self.room.seeks), [*self.room.seeks.hidden()]) == (0, [])
        self.challenges.clear()

    @rule(player=PLAYERS, is_written=st.booleans())
    def invite(self, player: int, is_written: bool) -> None:
        made = self.room.invite(player, "qubic", None, self.now_ms)
        assert made.code not in self.codes
        assert made.expires_ms == self.now_ms + INVITATION_MS
        self.codes.append(made.code)
        if is_written:
            self.room.reinstate([made])
            self.good[player] = made.code, made.expires_ms

    @rule(back=st.integers(1, 6), player=PLAYERS)
    def join(self, back: int, player: int) -> None:
        code = self.codes[-back] if len(self.codes) >= back else "XXXXXX"
        owner = next((by for by, (mine, _) in self.good.items() if mine == code), None)
        if owner is None or self.good[owner][1] <= self.now_ms:
            refused(Code.UNKNOWN_CODE, lambda: self.room.invitation(code, player, self.now_ms))
        elif owner == player:
            refused(Code.NOT_YOURSELF, lambda: self.room.invitation(code, player, self.now_ms))
        else:
            found = self.room.invitation(code.lower(), player, self.now_ms)
            assert found == self.room.offered(code.lower())
            assert players(self.room.joined(found, player)) == {owner, player}
            self.beginning[code] = owner, self.good.pop(owner)[1]

    @rule(back=st.integers(1, 6), has_begun=st.booleans())
    def settle(self, back: int, has_begun: bool) -> None:
        """Learn whether the match of a code has begun, here or on another node."""
        code = self.codes[-back] if len(self.codes) >= back else "XXXXXX"
        self.settled.clear()
        (self.room.spent if has_begun else self.room.unspent)(code)
        assert self.settled == [code]
        owner, until_ms = self.beginning.pop(code, (None, 0))
        if has_begun:
            self.good = {by: each for by, each in self.good.items() if each[0] != code}
        elif owner is not None:
            self.good.setdefault(owner, (code, until_ms))

    @rule()
    def read_the_journal_again(self) -> None:
        """Reinstate what is written down, among it the invitations whose match is about to begin."""
        known = [self.room.offered(code) for code, _ in self.good.values()]
        pending = [self.room.is_being_spent(code) for code in self.beginning]
        assert all(pending)
        spare = self.room.invite(0, "qubic", None, self.now_ms)
        others = [
            type(spare)(code, by, "qubic", None, until_ms)
            for code, (by, until_ms) in self.beginning.items()
            if by not in self.good
        ]
        self.room.reinstate([*known, *others])

    @rule(player=PLAYERS)
    def forget_a_player(self, player: int) -> None:
        self.room.uninvite(player)
        self.good.pop(player, None)
        self.beginning = {code: each for code, each in self.beginning.items() if each[0] != player}

    @rule()
    def forget_old(self) -> None:
        self.room.forget_old(self.now_ms)
        self.good = {by: each for by, each in self.good.items() if each[1] > self.now_ms}

    @rule(which=st.integers(0, 9), near_ms=st.sampled_from([-1, 0, 1]))
    def time_passes_to_a_deadline(self, which: int, near_ms: int) -> None:
        """Stop just before, at or just after the time when a challenge or an invitation ends."""
        due = [each.expires_ms for each in self.challenges.values()]
        later = sorted({*due, *(until_ms for _, until_ms in self.good.values())})
        if later:
            self.now_ms = max(self.now_ms, later[which % len(later)] + near_ms)

    @invariant()
    def the_codes_are_good_that_the_list_has(self) -> None:
        for code in self.codes:
            is_good = any(code == mine and until_ms > self.now_ms for mine, until_ms in self.good.values())
            assert self.room.is_code(code.lower(), self.now_ms) == is_good
            assert self.room.is_being_spent(code.lower()) == (code in self.beginning)

    def teardown(self) -> None:
        """Check that challenges are forgotten altogether once they are over."""
        assert self.room.expired(1 << 60) == [*self.challenges.values()]
        for player in range(MAX_CHALLENGES + 2):
            self.room.leave(player, self.now_ms, on_purpose=True)
            self.room.uninvite(player)
        self.room.tick(1 << 60)
        self.settled.clear()
        assert count_objects(self.room) == self.objects


Office.TestCase.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
TestOffice = Office.TestCase
