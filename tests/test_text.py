import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcswidth

from ttt_net.text import as_cell, clean, counted, name_key


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("Ann", "Ann"),
        ("  Ann \t\n Lee  ", "Ann Lee"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\u202eb\u200bc\u2066d", "abcd"),
        ("\x9b31mC1", "31mC1"),
        ("e\u0301", "é"),
        ("z" + "\u0335" * 40, "z\u0335\u0335"),
        ("\u0301x", "x"),
        ("\u3164\u115f\u2800", ""),
        ("日本語", "日本語"),
        ("a\ufe0f\U000e0101b", "ab"),
        ("\ue000\U0010ffff", ""),
        ("[bold]", "[bold]"),
    ],
)
def test_only_visible_text_is_kept(given_text: str, cleaned: str) -> None:
    assert clean(given_text, 20) == cleaned


def test_width_is_counted_in_cells_and_not_in_characters() -> None:
    assert clean("日本語日本語", 5) == "日本"
    assert clean("abcdefgh", 5) == "abcde"


@given(st.text(), st.integers(1, 40))
@example("0\u0982", 1)
def test_cleaned_text_fits_and_stays_as_it_is_when_cleaned_again(text: str, cells: int) -> None:
    once = clean(text, cells)
    assert clean(once, cells) == once
    assert 0 <= wcswidth(once) <= cells
    assert unicodedata.is_normalized("NFC", once)


def test_no_code_point_leaves_a_control_format_or_private_character() -> None:
    for start in range(0, sys.maxunicode + 1, 64):
        text = "".join(chr(number) for number in range(start, start + 64))
        for character in clean(text, 400):
            assert unicodedata.category(character)[0] != "C"
            assert unicodedata.category(character) not in {"Zl", "Zp"}


def test_a_huge_text_costs_no_more_than_what_can_be_kept_of_it() -> None:
    assert clean("x" * 10_000_000, 20) == "x" * 20


def test_one_is_counted_as_one() -> None:
    assert [counted(number, "fact") for number in (0, 1, 2_000)] == ["0 facts", "1 fact", "2,000 facts"]
    assert [counted(number, "person", "people") for number in (1, 2)] == ["1 person", "2 people"]


def test_names_that_people_would_take_for_the_same_share_a_key() -> None:
    assert name_key("Ann") == name_key("ANN") == name_key("Ａｎｎ")
    assert name_key("Ann") != name_key("Bob")


def test_a_text_is_never_a_formula_in_a_spreadsheet() -> None:
    assert [*map(as_cell, ("=1+1", "+1", "-", "@x", "Ann", "1-0", ""))] == [
        "'=1+1",
        "'+1",
        "'-",
        "'@x",
        "Ann",
        "1-0",
        "",
    ]
