import random
from collections.abc import Callable

import pytest

from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.pairing.lobby import CHALLENGE_MS, INVITATION_MS, MAX_CHALLENGES, Lobby, Pairing
from ttt_net.pairing.seeks import Seek

BLITZ = TimeControl(initial_ms=180_000, increment_ms=2_000)


def person(player: int, *games: str, **options: object) -> Seek:
    return Seek(player, False, games or ("tictactoe",), **options)  # type: ignore[arg-type]


def bot(player: int, *games: str, **options: object) -> Seek:
    return Seek(player, True, games, **options)  # type: ignore[arg-type]


def lobby() -> Lobby:
    return Lobby(random.Random(1))


def players(pairing: Pairing | None) -> set[int]:
    return {pairing.first, pairing.second} if pairing else set()


def test_two_who_wait_for_the_same_are_paired_and_wait_no_longer() -> None:
    room = lobby()
    assert room.seek(person(1), 0) is None
    assert players(room.seek(person(2), 0)) == {1, 2}
    assert room.seeks.of(1) is None
    assert room.seeks.of(2) is None


def test_who_waits_longest_is_paired_first() -> None:
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


def test_two_who_play_anything_play_tictactoe() -> None:
    room = lobby()
    room.seek(bot(1), 0)
    pairing = room.seek(bot(2), 0)
    assert pairing is not None
    assert pairing.game == "tictactoe"


def test_one_who_plays_anything_plays_what_the_other_names() -> None:
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


def test_a_person_who_asks_for_a_bot_waits_for_one() -> None:
    room = lobby()
    room.seek(person(1, opponents="bots"), 0)
    assert room.seek(person(2, opponents="people"), 0) is None
    assert players(room.seek(bot(3), 0)) == {1, 3}


def test_one_who_has_left_is_not_paired() -> None:
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


def test_the_challenges_of_one_who_leaves_are_gone() -> None:
    room = lobby()
    by, to = room.challenge(1, 2, "tictactoe", None, 0), room.challenge(3, 1, "tictactoe", None, 0)
    other = room.challenge(2, 3, "tictactoe", None, 0)
    assert room.leave(1, 0, on_purpose=False) == [by, to]
    assert room.challenge_of(other.number, 3, now_ms=0) == other


def test_an_invitation_is_good_for_one_friend_within_an_hour() -> None:
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


def test_a_new_invitation_takes_the_place_of_the_last() -> None:
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


def test_an_invitation_is_good_once_it_is_written_down_and_until_its_maker_is_forgotten() -> None:
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


def test_an_invitation_of_one_who_was_forgotten_meanwhile_is_not_good_again() -> None:
    room = lobby()
    code = invite(room, 1)
    invitation = room.invitation(code, 2, now_ms=0)
    room.joined(invitation, 2)
    room.uninvite(1)
    room.unspent(code)
    assert not room.is_code(code, 0)


def test_an_invitation_that_led_to_no_match_is_good_again_unless_there_is_another() -> None:
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


def test_a_seek_is_accepted_by_those_whom_it_welcomes_and_not_by_its_maker() -> None:
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
def test_a_match_is_rated_where_both_would_have_that(
    one: dict[str, bool], other: dict[str, bool], is_rated: bool
) -> None:
    room = lobby()
    assert room.seek(person(1, **one), 0) is None
    pairing = room.seek(person(2, **other), 0)
    assert pairing is not None
    assert pairing.is_rated is is_rated


def test_two_who_may_not_play_for_ratings_play_casually_if_both_would() -> None:
    room = Lobby(random.Random(1), may_rate=lambda one, other: False)
    assert room.seek(person(1, is_rated=True, or_casual=True), 0) is None
    pairing = room.seek(person(2, is_rated=True, or_casual=True), 0)
    assert pairing is not None
    assert not pairing.is_rated
