import random

from hypothesis import given
from hypothesis import strategies as st

from ttt_net.clock import TimeControl
from ttt_net.lobby import Lobby, Pairing, Seek

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
    assert room.seek(person(1)) is None
    assert players(room.seek(person(2))) == {1, 2}
    assert room.seek_of(1) is None
    assert room.seek_of(2) is None


def test_whoever_waits_longest_is_paired_first() -> None:
    room = lobby()
    room.seek(person(1, "connect4"))
    room.seek(person(2, "tictactoe"))
    room.seek(person(3, "mnk:4x4,3"))
    assert players(room.seek(bot(4))) == {1, 4}


def test_nobody_is_paired_with_himself() -> None:
    room = lobby()
    room.seek(person(1))
    assert room.seek(person(1)) is None


def test_another_game_or_another_clock_is_no_pairing() -> None:
    room = lobby()
    room.seek(person(1, "connect4"))
    room.seek(person(2, time=BLITZ))
    assert room.seek(person(3)) is None
    assert players(room.seek(person(4, time=BLITZ))) == {2, 4}


def test_the_first_of_the_waiting_players_games_that_both_like_is_played() -> None:
    room = lobby()
    room.seek(person(1, "connect4", "tictactoe"))
    pairing = room.seek(person(2, "tictactoe", "connect4"))
    assert pairing is not None
    assert pairing.game == "connect4"


def test_two_who_play_anything_play_tictactoe() -> None:
    room = lobby()
    room.seek(bot(1))
    pairing = room.seek(bot(2))
    assert pairing is not None
    assert pairing.game == "tictactoe"


def test_one_who_plays_anything_plays_what_the_other_names() -> None:
    room = lobby()
    room.seek(bot(1))
    pairing = room.seek(person(2, "mnk:5x5,4"))
    assert pairing is not None
    assert pairing.game == "mnk:5x5,4"


def test_a_bot_that_waits_for_people_is_not_paired_with_a_bot() -> None:
    room = lobby()
    room.seek(bot(1, opponents="people"))
    assert room.seek(bot(2)) is None
    assert players(room.seek(person(3))) == {1, 3}


def test_a_person_who_asks_for_a_bot_waits_for_one() -> None:
    room = lobby()
    room.seek(person(1, opponents="bots"))
    assert room.seek(person(2, opponents="people")) is None
    assert players(room.seek(bot(3))) == {1, 3}


def test_one_who_has_left_is_not_paired() -> None:
    room = lobby()
    room.seek(person(1))
    assert room.withdraw(1)
    assert not room.withdraw(1)
    assert room.seek(person(2)) is None


def test_each_side_falls_to_each_player_now_and_then() -> None:
    room, firsts = lobby(), set()
    for _ in range(40):
        room.seek(person(1))
        pairing = room.seek(person(2))
        assert pairing is not None
        firsts.add(pairing.first)
    assert firsts == {1, 2}


SEEKS = st.builds(
    Seek,
    player=st.integers(0, 7),
    is_bot=st.booleans(),
    games=st.lists(st.sampled_from(["tictactoe", "connect4", "mnk:4x4,4"]), max_size=2, unique=True).map(tuple),
    time=st.sampled_from([None, BLITZ]),
    opponents=st.sampled_from(["any", "people", "bots"]),
)


@given(st.lists(SEEKS | st.integers(0, 7)))
def test_no_sequence_of_seeks_and_departures_breaks_the_lobby(events: list[Seek | int]) -> None:
    room = lobby()
    standing: dict[int, Seek] = {}
    for event in events:
        if isinstance(event, int):
            assert room.withdraw(event) == (event in standing)
            standing.pop(event, None)
            continue
        standing.pop(event.player, None)
        pairing = room.seek(event)
        if pairing is None:
            standing[event.player] = event
            continue
        (other,) = players(pairing) - {event.player}
        waiting = standing.pop(other)
        assert pairing.time == waiting.time == event.time
        for seek, opponent in ((waiting, event), (event, waiting)):
            assert not seek.games or pairing.game in seek.games
            assert seek.opponents == "any" or (seek.opponents == "bots") == opponent.is_bot
    assert {player for player in range(8) if room.seek_of(player)} == set(standing)
