"""Two releases on one log: which upgrades can roll, and which are rejected with advice."""

import hashlib
import io
from contextlib import closing
from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace

from tests.server.cluster.logs import WAIT_S
from tests.server.cluster.simulated_nodes import Nodes
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.messages import OwnMistake, OwnPuzzle, PlayerInfo, Started
from ttt_net.server.cluster.log import FORM, Batch, MemoryLog, MemoryStream, as_of_form
from ttt_net.server.cluster.node_messages import AnyNodeMessage
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.snapshots import catch_up
from ttt_net.server.journal.entries import (
    AppendEvents,
    AppendTournament,
    AuditNote,
    BeginBoards,
    CloseReports,
    FileReport,
    KeepMistake,
    PackMatches,
    SetBlock,
)
from ttt_net.server.journal.schema import SCHEMA_VERSION
from ttt_net.server.players import Player
from ttt_net.tournaments.tournament import BoardsBegan, Opened, Terms

SHAPES = {
    1: ("5a09dab1f549f5d6", 9),
    2: ("dbe721e6321e631e", 10),
    3: ("677423c235a06ce5", 11),
    4: ("1dde4b9c0a7ea7d4", 11),
    5: ("1a6c96975941a07e", 12),
    6: ("1a6c96975941a07e", 12),
    7: ("8b3e3d40659b00bd", 13),
    8: ("c63d37bc657cc711", 14),
    9: ("48991d23c293e930", 14),
}
"""The hash of a batch's schema, and the version of the tables, for each form so far."""
SENTENCE = "the log is of form 2, this release knows 1; install the release of the others"
UPGRADING = "the servers are being renewed, and cannot do that yet; try again later"


MESSAGES = {
    1: "490767aba7428dbd",
    2: "490767aba7428dbd",
    3: "490767aba7428dbd",
    4: "50be2817fc052d2c",
    5: "50be2817fc052d2c",
    6: "50be2817fc052d2c",
    7: "50be2817fc052d2c",
    8: "50be2817fc052d2c",
    9: "50be2817fc052d2c",
}
"""The hash of the schema of messages beside the log, for each form so far."""


def shape(kind: object = Batch) -> str:
    """Return a hash of all that a batch, or a message, may have in it, with its documentation left out."""

    def bare(value: object) -> object:
        if isinstance(value, dict):
            return {key: bare(each) for key, each in value.items() if key != "description"}
        return [bare(each) for each in value] if isinstance(value, list) else value

    schema = msgspec.json.encode(bare(msgspec.json.schema(kind)), order="sorted")
    return hashlib.blake2b(schema, digest_size=8).hexdigest()


def test_changes_of_log_entries_increase_the_form() -> None:
    assert SHAPES[FORM] == (shape(), SCHEMA_VERSION), "then FORM is one more, and SHAPES has a line more"


def test_messages_between_nodes_are_those_of_the_form() -> None:
    """A new field with a default changes the hash alone; any other change also counts FORM up."""
    shapes = " ".join(shape(kind) for kind in get_args(AnyNodeMessage))
    known = hashlib.blake2b(shapes.encode(), digest_size=8).hexdigest()
    assert MESSAGES[FORM] == known, "nodes of the last release read the new messages, or FORM is one more"


def test_a_newer_release_takes_part_beside_the_older_and_its_form_waits() -> None:
    nodes = Nodes("a", "c", forms=(1, 1))
    nodes.start("b", 2)
    answers = [nodes.append(node, name) for node, name in zip(nodes.nodes, ("ann", "bob", "cid"), strict=True)]
    nodes.go(1.0)
    assert all(isinstance(answer, Player) for (answer,) in answers)
    assert [node.replica.in_force() for node in nodes.nodes] == [1, 1, 1]
    assert all(node.ledger.is_fresh for node in nodes.nodes)


def test_new_entries_are_refused_or_written_in_the_old_form_until_the_new_form_is_in_force() -> None:
    report = FileReport(1, 1, 2, "chat", "", None, (), "", 10, "network:1")
    closing = CloseReports(2, is_by=False, text="", note=AuditNote(1, "close", ""))
    block = SetBlock(1, 2, "block", on=True, most=9)
    assert as_of_form(report, 1) == FileReport(1, 1, 2, "chat", "", None, (), "", 10, None)
    assert as_of_form(report, 2) is report
    started = Started("m", 1, 0, "hex", (PlayerInfo(""), PlayerInfo("")), rules=2)
    beginning = AppendEvents((started,), (1, 2))
    for form in (1, 2):
        assert as_of_form(beginning, form) == AppendEvents((replace(started, rules=1),), (1, 2))
    assert as_of_form(beginning, 3) is beginning
    boards = BeginBoards("BCDFG", 2, BoardsBegan(0, 1, ()), (beginning,))
    with pytest.raises(Refusal, match=UPGRADING):
        as_of_form(boards, 3)
    assert as_of_form(boards, 4) is boards
    terms = Terms("Friday", "swiss", "connect4", TimeControl(60_000))
    usual = AppendTournament("BCDFG", 1, (Opened(0, terms),))
    assert as_of_form(usual, 4) is usual
    for field, value in {"anonymous": True, "per_address": 30, "spare": "Mia"}.items():
        newest = AppendTournament("BCDFG", 1, (Opened(0, replace(terms, **{field: value})),))
        assert as_of_form(newest, 5) is newest
        with pytest.raises(Refusal, match=UPGRADING):
            as_of_form(newest, 4)
    packing = PackMatches(1, 20)
    assert as_of_form(packing, 7) is packing
    with pytest.raises(Refusal, match=UPGRADING):
        as_of_form(packing, 6)
    learning = KeepMistake(1, OwnMistake(OwnPuzzle("tictactoe", [4])), 9)
    assert as_of_form(learning, 8) is learning
    with pytest.raises(Refusal, match=UPGRADING):
        as_of_form(learning, 7)
    nodes = Nodes("a", "c", forms=(1, 1))
    newer = nodes.start("b", 2)
    for name in ("ann", "bob"):
        nodes.append(newer, name)
    nodes.go(1.0)

    def asked(entry: SetBlock | CloseReports) -> object:
        answers: list[object] = []
        with nodes.loop.acting_as(1 + nodes.nodes.index(newer)):
            newer.ledger.append(entry, answers.append, answers.append)
        nodes.go(1.0)
        return answers[0]

    for entry in (closing, block):
        refusal = asked(entry)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, str(refusal)) == (Code.RESTARTING, UPGRADING)
    for older in nodes.nodes[:2]:
        older.ledger.leave()
        nodes.go(1.0)
        nodes.start(older.ledger.node, 2)
    assert asked(block) == {2: True}


def test_one_node_after_the_other_becomes_a_newer_release_and_then_none_goes_back() -> None:
    nodes = Nodes("a", "b", forms=(1, 1))
    a, b = nodes.nodes
    a.ledger.leave()
    nodes.go(1.0)
    newer = nodes.start("a", 2)
    assert newer.ledger.is_fresh
    assert b.ledger.is_fresh
    b.ledger.leave()
    nodes.go(1.0)
    assert newer.replica.in_force() == 1, "b may come back as it was"
    assert nodes.start("b", 2).ledger.is_fresh
    assert newer.replica.in_force() == 2
    older = nodes.start("c", 1)
    assert older.ledger.trouble() == SENTENCE
    assert not older.ledger.is_member
    assert newer.ledger.is_fresh


def test_a_node_that_missed_an_upgrade_of_all_others_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = Nodes("a", "b", forms=(1, 1))
    a, b = nodes.nodes
    nodes.cut(b)
    a.ledger.leave()
    nodes.go(3.0)
    newer = nodes.start("a", 2)
    nodes.go(3.0)
    assert newer.replica.in_force() == 1
    nodes.mend(b)
    nodes.go(3.0)
    assert b.ledger.is_fresh, "it was lost for a moment, and may come back"
    nodes.cut(b)
    nodes.go(5.0)
    monkeypatch.setattr("ttt_net.server.cluster.replica.AWHILE", 2)
    nodes.start("c", 2)
    assert newer.replica.in_force() == 2
    nodes.mend(b)
    nodes.go(3.0)
    assert b.ledger.trouble() == SENTENCE
    assert newer.ledger.is_fresh


async def test_a_snapshot_of_a_newer_release_is_not_taken_by_an_older() -> None:
    nodes = Nodes("a", forms=(2,))
    (a,) = nodes.nodes
    image = io.BytesIO()
    a.replica.write_to(image)
    stream = MemoryStream()
    stream.snapshot = a.replica.position, image.getvalue()
    log = MemoryLog(stream, nodes.loop.call_soon)
    log.get_snapshot = lambda into, done: (into.write(stream.snapshot[1]), done(stream.snapshot[0]))  # type: ignore
    with (
        closing(Replica(None, 1)) as older,
        pytest.raises(
            ConfigurationError, match="the snapshot is of a newer release; install the release of the others"
        ),
    ):
        await catch_up(log, older, WAIT_S)
