"""An explanation is told in words and, for programs, as its kind and what the sentence names."""

import pytest

from ttt_net.strategies.explanation import Explanation, ExplanationKind, MarkRow


@pytest.mark.parametrize("kind", ExplanationKind)
def test_every_kind_has_a_sentence_that_names_its_parts(kind: ExplanationKind) -> None:
    told = Explanation(kind, ("a1",), ("b2",), MarkRow(3, is_run=True), 2, instead=4).in_words()
    assert "{" not in told
    assert kind in (ExplanationKind.NOTHING, ExplanationKind.NOTHING_SEEN) or {
        "a1",
        "b2",
        "three in a row",
        "2 moves",
    } & {part for part in ("a1", "b2", "three in a row", "2 moves") if part in told}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (MarkRow(1, is_run=True), "a line with one mark missing"),
        (MarkRow(3, is_run=True), "three in a row"),
        (MarkRow(3, is_run=False), "three in one line"),
        (MarkRow(2, is_run=True, is_open=True), "two in a row with both ends open"),
        (MarkRow(3, is_run=False, is_open=True), "three in one line that is open on both sides"),
    ],
)
def test_a_row_is_described_by_its_marks_gaps_and_ends(row: MarkRow, words: str) -> None:
    told = Explanation(ExplanationKind.UNBLOCKED, ("g8", "k8"), row=row)
    assert told.in_words() == f"you had to block at g8 or k8: they had {words}"


def test_programs_get_a_few_of_many_moves_and_no_empty_fields() -> None:
    many = tuple(f"a{row}" for row in range(1, 8))
    assert Explanation(ExplanationKind.AVOID, many).as_json() == {
        "kind": "avoid",
        "moves": ["a1", "a2", "a3", "a4"],
        "more": 3,
    }
    row = MarkRow(3, is_run=True, cells=(0, 1, 2))
    assert Explanation(ExplanationKind.DRAW_TO_LOSS, ("b2",), row=row, plies=4, is_bound=True).as_json() == {
        "kind": "draw_to_loss",
        "moves": ["b2"],
        "row": {"marks": 3, "run": True, "open": False, "cells": [0, 1, 2]},
        "plies": 4,
        "at_most": True,
    }


def test_nothing_better_known_is_another_move() -> None:
    lost = Explanation(ExplanationKind.LOST, plies=1)
    assert lost.in_words() == "after this they win in 1 move; another move looked better"
