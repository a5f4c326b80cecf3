"""Words that a host does not want are found as they are disguised, and others are left alone."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.running import running
from ttt_net.names.filtered import MAX_BYTES, MAX_STARS, MAX_WORDS, FilteredWords, WordFilter

LIST = WordFilter(["# a remark", "", "Fool", "crook", "ninny  # mild", "numb*", "*twit*", "дурак", "x"])


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
        "\u03f2rook",
        "\u03f9ROOK",
    ],
)
def test_a_word_is_found(text: str) -> None:
    assert LIST.has(text)


@pytest.mark.parametrize(
    "text", ["", "foolish", "a numeral", "benumb", "f ool", "x", "play on", "5 6 7", "хорошо", "!!!"]
)
def test_innocent_words_are_not_matched(text: str) -> None:
    assert not LIST.has(text)


def test_an_empty_list_finds_nothing_and_a_long_one_is_refused() -> None:
    assert not WordFilter().has("fool")
    assert WordFilter(["w" * 50]).count == 0
    with pytest.raises(ValueError, match="at most 5,000"):
        WordFilter(f"word{number}" for number in range(MAX_WORDS + 1))
    with pytest.raises(ValueError, match="with a star"):
        WordFilter(f"*{chr(97 + number // 26)}{chr(97 + number % 26)}q{number}*" for number in range(7 * MAX_STARS))


@given(st.text(max_size=200))
def test_any_text_is_checked_without_errors(text: str) -> None:
    assert LIST.has(text) in (True, False)
    assert LIST.has(f"{text} fool")


def written(path: Path, text: str, at_s: int) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at_s, at_s))  # a test may write twice within one tick of the file system


def test_a_change_of_the_file_counts_at_the_next_look(tmp_path: Path) -> None:
    path = tmp_path / "words"
    words = FilteredWords(lambda: path)
    assert not words.has("fool")
    written(path, "fool\n", 1)
    words.look()
    assert words.has("FOOL")
    written(path, "ninny\n", 2)
    words.look()
    assert (words.has("fool"), words.has("ninny")) == (False, True)
    path.unlink()
    words.look()
    assert not words.has("ninny")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (MAX_BYTES + 1), b"\n".join(b"w%d" % n for n in range(6_000))])
def test_a_file_that_cannot_be_read_leaves_the_words_as_they_were(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "words"
    written(path, "fool\n", 1)
    words = FilteredWords(lambda: path)
    path.write_bytes(content)
    words.look()
    words.look()
    assert words.has("fool")
    assert sum("stay as they were" in record.message for record in caplog.records) == 1


def test_without_a_file_nothing_is_refused() -> None:
    words = FilteredWords(lambda: None)
    words.check_name("Fool")
    words.check_text("fool")


async def test_neither_names_nor_chat_nor_labels_have_such_a_word(tmp_path: Path) -> None:
    path = tmp_path / "words"
    async with running(tmp_path / "data", word_file=lambda: path) as server:
        first, second, match = await server.pair()
        await first.ok("chat", match=match, text="you fool")
        path.write_text("fool\n*twit*\n", encoding="utf-8")
        server.hub.services.words.look()
        assert await first.refused("chat", match=match, text="you F.O.O.L!") == "filtered"
        await first.ok("chat", match=match, text="well played")
        await first.ok("chat", match=match, phrase="thanks")
        assert [line["text"] for line in second.heard if line["type"] == "chat"][-2:] != ["you F.O.O.L!"]
        assert await first.refused("rename", name="Nitwits") == "bad_name"
        stranger = await server.connect()
        assert await stranger.refused("hello", protocols=[1], name="BigFool") == "bad_name"
        welcome = await stranger.hello(name="Robot", bot="fool", about="a nitwit")
        assert welcome["you"]["bot"] == "bot"
        (session,) = [each for each in server.sessions.values() if each.info.name == "Robot"]
        assert session.about is None
