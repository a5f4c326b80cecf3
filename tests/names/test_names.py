"""Names that a player may have, those that are refused, and the one that is proposed for something near."""

import contextlib
import sys
import unicodedata
from operator import add

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.names.write_alike import PATH, content, rows
from ttt_net.errors import Code, Refusal
from ttt_net.names import RESERVED, RULE, checked_name, fitting_name, looks, looks_as_written
from ttt_net.text import clean, name_key, width


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Ann", "Ann"),
        ("José María", "José María"),
        ("Jose\u0301 Mari\u0301a", "José María"),
        ("Ægir Þórsdóttir", "Ægir Þórsdóttir"),
        ("Nguyễn Thị Ánh", "Nguyễn Thị Ánh"),
        ("Мария Петрова", "Мария Петрова"),
        ("Ann Lee 2", "Ann Lee 2"),
        (" Ann \u00a0\u2003 Lee\t", "Ann Lee"),
        ("alphabeta-2", "alphabeta-2"),
        ("x_1", "x_1"),
        ("007", "007"),
        ("Zoë", "Zoë"),
        ("Zoe\u0308", "Zoë"),
        ("Ｂｏｂ", "Bob"),
        ("An\u200bn", "Ann"),
        ("Дмитрий", "Дмитрий"),
        ("नमस्ते", "नमस्ते"),
        ("たなかカナ山", "たなかカナ山"),
        ("김李", "김李"),
        ("x" * 20, "x" * 20),
        ("名" * 10, "名" * 10),
    ],
)
def test_a_name_of_one_script_is_taken(typed: str, name: str) -> None:
    assert checked_name(typed) == name
    assert fitting_name(typed) == name


@pytest.mark.parametrize(
    "typed",
    [
        "", " ", "A", "é", "e\u0301", "x" * 21, "名" * 11, "Ann.Lee", "Ann Лee", "Ann Лев", "-Ann", "_x", "😀😀",
        "\u0430nn",        "Ann\u0430", "abγ", "김たな",
        "a\u0663b", "١٢", "𝐀𝐧𝐧\u0430", "⁂⁂", "\u202e\u200b", "ꙮꙮ\U0001f600", "a\u20ddb", "ᚠᚢᚦ",
    ],
)  # fmt: skip
def test_invalid_names_are_rejected_with_the_rule(typed: str) -> None:
    with pytest.raises(Refusal) as caught:
        checked_name(typed)
    assert caught.value.code is Code.BAD_NAME
    assert RULE in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Ann Lee!", "Ann Lee"),
        ("Ann.Lee", "Ann-Lee"),
        ("Ann . Lee", "Ann Lee"),
        (" Mr.  Smith ", "Mr-Smith"),
        ("O'Brien", "OBrien"),
        ("A", "A-1"),
        ("-x-", "x-1"),
        ("Ann!!", "Ann"),
        ("Bob 😀", "Bob"),
        ("x" * 30, "x" * 20),
        ("...", None),
        ("\u0410nn", None),
        ("admin", None),
        ("guest-7", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_found_for_what_somebody_typed(typed: str, name: str | None) -> None:
    assert fitting_name(typed) == name


@given(st.text(max_size=60))
@example("0" * 20 + "\u093a0\u093a\u093a")  # the mark of a letter that has no room is one too many on the letter before
@example("Ze!\u0301nn")  # and here it is written as one with it
def test_any_typed_text_gives_an_allowed_name_or_none(typed: str) -> None:
    name = fitting_name(typed)
    if name is None:
        return
    assert checked_name(name) == name
    assert fitting_name(name) == name
    assert width(name) <= 20
    assert clean(name, 20) == name, "what is told of it is all of it"


@given(st.text(max_size=40))
def test_a_name_is_checked_once_and_for_all(typed: str) -> None:
    try:
        name = checked_name(typed)
    except Refusal:
        return
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["ad min", "A D M I N", "guest 12", "1 bot", "ttt net", "y o u"])
def test_spaces_hide_no_reserved_word(name: str) -> None:
    with pytest.raises(Refusal, match="reserved"):
        checked_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "Mod Anna", "Anna-mod", "ModAnna", "annaMod", "MOD_7", "Mods", "Moderation", "Moderators", "M0derator Bob",
        "Sysadmin", "Moderador Rui", "Modérateur", "модератор", "МОДЕРАТОР", "Модератор Анна", "МодераторАнна",
        "модерация", "Админ", "Администрация", "Адмін", "管理员", "管理員", "管理员小王", "小王版主", "版主", "官方",
        "官方 客服", "站长", "運営です", "운영자", "관리자 김", "مشرف", "المشرف",
    ],
)  # fmt: skip
def test_nobody_has_an_office_in_their_name_in_any_script(name: str) -> None:
    with pytest.raises(Refusal, match="reserved"):
        checked_name(name)


@pytest.mark.parametrize(
    "name", ["Modest", "Modular Man", "Stafford", "Square Root", "Adminka2", "McModest", "Модест", "小王", "Commodore"]
)
def test_names_that_only_contain_such_letters_are_taken(name: str) -> None:
    assert checked_name(name) == name


def test_nobody_is_called_like_a_reserved_word_however_it_is_written() -> None:
    """Every word with any one of its letters, and with all of them, put in another's shape; and in capitals."""
    alike: dict[str, set[str]] = {}
    for row in rows():
        if all(len(each) == 1 and not unicodedata.category(each).startswith("M") for each in row):
            for each in row:
                alike.setdefault(each, set()).update(row)
    tried = 0
    for word in RESERVED:
        for written in (word, word.upper(), word.title()):
            forms = {written}
            for place, letter in enumerate(written):
                forms |= {written[:place] + other + written[place + 1 :] for other in alike.get(letter, ())}
                forms |= {written.replace(letter, other) for other in alike.get(letter, ())}
            for form in [each + more for each in forms for more in ("", "7", "-12", "_")] + [f"1{written}"]:
                tried += 1
                with pytest.raises(Refusal):
                    checked_name(form)
    assert tried > 5_000


@pytest.mark.parametrize(
    "name", ["8" * 20, "1" * 20, "0123456789" * 2, "ali" + "1" * 17, "\ufdfa" * 80, "e\u0301\u0302" * 26]
)
def test_no_name_takes_long_to_check(name: str) -> None:
    """Once 20 digits were looked at in 441 parts, which took some milliseconds; counted are calls."""
    checked_or_refused("Ann")  # reads the tables
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        checked_or_refused(name)
    finally:
        sys.setprofile(None)
    assert calls < 6_000


def checked_or_refused(name: str) -> None:
    with contextlib.suppress(Refusal):
        checked_name(name)


@pytest.mark.parametrize("digits", ["1", "00", "10", "11111"])
def test_digits_around_a_word_may_be_letters_of_it(digits: str) -> None:
    for name in (f"a{digits[0]}l", f"{digits}all{digits}", f"{digits}mod", f"root{digits}", "a11", "n0ne", "0wner"):
        if name != "a0l":
            with pytest.raises(Refusal):
                checked_name(name)
    assert checked_name(f"x{digits}all{digits}x") == f"x{digits}all{digits}x"
    assert checked_name(digits * 2) == digits * 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paul", "PAUL"), ("paul", "PAUI"), ("paul", "pau1"), ("Bob", "B0b"), ("modern", "modem"), ("сосо", "coco"),
        ("НОВ", "HOB"), ("Ian", "lan"), ("раса", "paca"), ("Οο", "oo"),
        ("AnnLee", "Ann Lee"), ("A nn Lee", "ann lee"), ("Αnn", "Ann"), ("ann", "ａｎｎ".upper()),
    ],
)  # fmt: skip
def test_names_that_people_confuse_have_a_look_in_common(one: str, other: str) -> None:
    assert looks(one) & looks(other) or name_key(one) == name_key(other)


@given(st.text(st.characters(codec="ascii"), max_size=30))
def test_ascii_text_looks_the_same_beside_letters_of_another_script(text: str) -> None:
    beside = looks_as_written(text + "\u0416")
    assert beside == tuple(map(add, looks_as_written(text), looks_as_written("\u0416")))


@given(st.text("0123456789", min_size=2, max_size=20))
def test_digits_alone_are_no_reserved_word(name: str) -> None:
    assert checked_name(name) == name


def test_a_lunate_sigma_is_kept_among_greek_letters_and_elsewhere_looks_like_c() -> None:
    assert checked_name("\u03f2\u03bf\u03f2") == "ςος"
    assert checked_name("\u03f9\u039f\u03a6\u0399\u0391") == "ΣΟΦΙΑ"
    for lunate, other in [("\u03f2\u03bf\u03f2\u03bf", "coco"), ("\u03f9\u039f\u03f9\u039f", "СОСО")]:  # fmt: skip
        assert looks(lunate) & looks(other), "where a host allows any name, it is shown as it was typed"


@pytest.mark.parametrize(
    ("one", "other"), [("Ann", "Anna"), ("ali", "all"), ("Bob", "Rob"), ("Zoe", "Zoë"), ("alphabeta", "alphabeta-2")]
)
def test_names_that_nobody_confuses_have_none(one: str, other: str) -> None:
    assert not looks(one) & looks(other)


@given(st.text(max_size=20))
def test_case_makes_no_other_name(name: str) -> None:
    assert looks(name) & looks(name.casefold())


def test_the_table_is_as_its_writer_writes_it() -> None:
    assert PATH.read_text(encoding="ascii") == content()


def test_the_classes_of_letters_have_no_member_in_common() -> None:
    members = [each for row in rows() for each in row if all(len(other) == 1 for other in row)]
    assert len(members) == len(set(members)) > 800
