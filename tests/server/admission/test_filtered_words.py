"""The host's list of words: where it is kept, when it counts, and what it keeps out."""

import os
from pathlib import Path

import pytest

from tests.server.running import running
from ttt_net.server.admission.filtered_words import MAX_BYTES, FilteredWords


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
