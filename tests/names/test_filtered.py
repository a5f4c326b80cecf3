"""Words that a host does not want are found as they are disguised, and others are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.names.filtered import MAX_STARS, MAX_WORDS, WordFilter

LIST = WordFilter(["# a remark", "", "Fool", "ninny  # mild", "numb*", "*twit*", "дурак", "x"])


@pytest.mark.parametrize(
    "text",
    [
        "fool",
        "you FOOL!",
        "FOOL",
        "F o o l",
        "f.o.o.l",
        "f-o-o-l you",
        "fооl",
        "fool99",
        "BigFool",
        "big_fool_2",
        "föól",
        "ｆｏｏｌ",
        "ninny,ninny",
        "numbskull",
        "Numb",
        "nitwits all",
        "ДУРАК",
        "FООL",
    ],
)
def test_a_word_is_found(text: str) -> None:
    assert LIST.has(text)


@pytest.mark.parametrize(
    "text", ["", "foolish", "a numeral", "benumb", "f ool", "x", "play on", "5 6 7", "хорошо", "!!!"]
)
def test_what_is_no_such_word_is_left_alone(text: str) -> None:
    assert not LIST.has(text)


def test_an_empty_list_finds_nothing_and_a_long_one_is_refused() -> None:
    assert not WordFilter().has("fool")
    assert WordFilter(["w" * 50]).count == 0
    with pytest.raises(ValueError, match="at most 5,000"):
        WordFilter(f"word{number}" for number in range(MAX_WORDS + 1))
    with pytest.raises(ValueError, match="with a star"):
        WordFilter(f"*{chr(97 + number // 26)}{chr(97 + number % 26)}q{number}*" for number in range(7 * MAX_STARS))


@given(st.text(max_size=200))
def test_whatever_is_said_is_looked_at_without_a_fault(text: str) -> None:
    assert LIST.has(text) in (True, False)
    assert LIST.has(f"{text} fool")
