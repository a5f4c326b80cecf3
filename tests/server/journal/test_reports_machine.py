"""Reports beside a plain list of them: each stays open until it is closed once, and a closed one never changes."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.server.journal.jobs import committed, register
from ttt_net.errors import Code, Refusal
from ttt_net.messages import ReportReason
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.entries import AuditNote, CloseReport, CloseReports, FileReport
from ttt_net.server.journal.queries import ReportQuery, ReportsQuery

PLAYERS = range(1, 7)
KNOWN = (5, 6)
"""The players who have finished ten matches; the others are newcomers."""
MOST = 6
"""The open reports that there may be in all."""
MOST_OF_ONE = {0: 2, 1: 5}
EVERY_PLAYER = st.sampled_from(PLAYERS)


@dataclass
class Filed:
    """A report, as the model has it."""

    number: int
    at_ms: int
    reporter: int
    reported: int
    match: str | None
    texts: list[str] = field(default_factory=list)
    closed: tuple[int, str, str] | None = None
    """When, by whom and with what finding it was closed."""

    @property
    def weight(self) -> int:
        return int(self.reporter in KNOWN)


class Reports(RuleBasedStateMachine):
    """The reports of a journal, and the list that they are compared with."""

    def __init__(self) -> None:
        super().__init__()
        self.database = Database(None)
        committed(self.database, *(register(f"p{each}") for each in PLAYERS))
        self.database.connection.execute("UPDATE players SET won = 10 WHERE id >= ?", (KNOWN[0],))
        self.model: list[Filed] = []
        self.now_ms = 10

    def teardown(self) -> None:
        self.database.close()

    def open(self) -> list[Filed]:
        return [each for each in self.model if each.closed is None]

    @rule(
        reporter=EVERY_PLAYER,
        reported=EVERY_PLAYER,
        reason=st.sampled_from(["chat", "cheating"]),
        text=st.sampled_from(["", "rude", "very rude"]),
        match=st.sampled_from([None, "m", "n"]),
    )
    def file(self, reporter: int, reported: int, reason: ReportReason, text: str, match: str | None) -> None:
        self.now_ms += 1
        entry = FileReport(self.now_ms, reporter, reported, reason, text, match, (), "", MOST, "network:1")
        (answer,) = committed(self.database, entry)
        key = (reporter, reported, match)
        same = [each for each in self.open() if (each.reporter, each.reported, each.match) == key]
        if same:
            (each,) = same
            each.at_ms = self.now_ms
            if text and text not in each.texts:
                each.texts.append(text)
            assert answer == each.number, "one open report of each two and match"
            return
        new = Filed(len(self.model) + 1, self.now_ms, reporter, reported, match, [text] if text else [])
        is_full = len(self.open()) == MOST
        lighter = [each for each in self.open() if each.weight < new.weight]
        own = sum(each.reporter == reporter for each in self.open())
        if own >= MOST_OF_ONE[new.weight] or (is_full and not lighter):
            assert isinstance(answer, Refusal)
            assert answer.code is Code.TOO_FAST
            return
        if is_full:
            lighter[-1].closed = (self.now_ms, "server", "closed to make room for a report by a player who is")
        assert answer == new.number
        self.model.append(new)

    @rule(number=st.integers(1, 12), by=st.sampled_from(["host", "Anna"]), finding=st.sampled_from(["", "seen"]))
    def close(self, number: int, by: str, finding: str) -> None:
        self.now_ms += 1
        (answer,) = committed(self.database, CloseReport(number, finding, self.note(by)))
        self.closed([each for each in self.open() if each.number == number], answer, (self.now_ms, by, finding))

    @rule(player=EVERY_PLAYER, is_by=st.booleans())
    def close_all(self, player: int, *, is_by: bool) -> None:
        self.now_ms += 1
        (answer,) = committed(self.database, CloseReports(player, is_by, "all", self.note("host")))
        found = [each for each in self.open() if (each.reporter if is_by else each.reported) == player]
        assert not found or answer == [each.number for each in found]
        self.closed(found, answer, (self.now_ms, "host", "all"))

    def closed(self, found: list[Filed], answer: object, outcome: tuple[int, str, str]) -> None:
        assert isinstance(answer, Refusal) == (not found)
        for each in found:
            each.closed = outcome

    def note(self, by: str) -> AuditNote:
        return AuditNote(self.now_ms, "close", "", None, by)

    @invariant()
    def the_journal_has_what_the_list_has(self) -> None:
        (listed,) = committed(self.database, ReportsQuery(False, 100))
        expected = sorted(self.open(), key=lambda each: (-each.weight, each.number))
        assert [each.number for each in listed] == [each.number for each in expected]
        (listed,) = committed(self.database, ReportsQuery(True, 100))
        assert sorted(each.number for each in listed) == [each.number for each in self.model]
        for each in self.model:
            (kept,) = committed(self.database, ReportQuery(each.number))
            assert (kept.at_ms, kept.reporter, kept.reported) == (
                each.at_ms, f"p{each.reporter}", f"p{each.reported}"
            )  # fmt: skip
            assert kept.text == "\n".join(each.texts)
            closed_ms, by, note = each.closed or (None, "", "")
            assert (kept.closed_ms, kept.closed_by) == (closed_ms, by)
            assert kept.note.startswith(note)


Reports.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestReports = Reports.TestCase
