"""Registering, renaming, forgetting and playing in any order, against a model of a few dictionaries."""

import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ttt_net.errors import Code, Refusal
from ttt_net.messages import Ended, PlayerInfo, Started
from ttt_net.names import looks
from ttt_net.ratings import Rating, rated
from ttt_net.server.admission.sanctions import Subject
from ttt_net.server.journal import Database, Journal, MemoryLedger, read_match
from ttt_net.server.players import FORGOTTEN, Player

NAMES = ["Ann", "ann", "Bob", "B0b", "Paul", "PAUI", "Cleo", "Сleo", "Dora"]
NOBODY = PlayerInfo("")


class Identities(RuleBasedStateMachine):
    """The model: who has which name and token, who is live in what, and what everybody's rating has to be."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "journal"
        self.open_journal()
        self.names: dict[int, str] = {}
        self.tokens: dict[str, int] = {}
        self.live: dict[str, tuple[int, int, bool]] = {}
        self.over: dict[str, tuple[int, int]] = {}
        self.ratings: dict[int, Rating] = {}
        self.met: defaultdict[int, set[int]] = defaultdict(set)
        self.at_ms = self.given = 0

    def open_journal(self) -> None:
        self.database = Database(self.path)
        self.database.connection.execute("PRAGMA synchronous = OFF")  # no power is cut here
        self.journal = Journal(MemoryLedger(self.database, is_instant=True))

    def asked(self, ask: Callable[..., None], *arguments: Any) -> Any:
        answers: list[Any] = []
        ask(*arguments, lambda *result: answers.extend(result or (None,)), answers.append)
        return answers[0]

    def is_free(self, name: str, player: int | None = None) -> bool:
        others = [other for number, other in self.names.items() if number != player]
        return not any(looks(name) & looks(other) or name.casefold() == other.casefold() for other in others)

    @rule(name=st.sampled_from(NAMES))
    def register(self, name: str) -> None:
        self.given += 1
        token = f"token {self.given}"
        answer = self.asked(self.journal.register, name, token, None, 0)
        if not self.is_free(name):
            assert isinstance(answer, Refusal)
            assert answer.code is Code.NAME_TAKEN
            return
        assert isinstance(answer, Player)
        assert answer.id not in self.names
        self.names[answer.id] = name
        self.tokens[token] = answer.id

    @precondition(lambda self: self.names)
    @rule(name=st.sampled_from(NAMES), data=st.data())
    def rename(self, name: str, data: st.DataObject) -> None:
        player = data.draw(st.sampled_from(sorted(self.names)))
        answer = self.asked(self.journal.rename, player, name)
        assert (answer is None) == self.is_free(name, player)
        if answer is None:
            self.names[player] = name

    @precondition(lambda self: self.names)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        player = data.draw(st.sampled_from(sorted(self.names)))
        answer = self.asked(self.journal.forget, Subject(player, "token:99"))
        if any(player in seats[:2] for seats in self.live.values()):
            assert answer.code is Code.STILL_PLAYING
            return
        assert answer is None
        del self.names[player]
        self.ratings.pop(player, None)
        self.tokens = {token: each for token, each in self.tokens.items() if each != player}

    @precondition(lambda self: len(self.names) > 1)
    @rule(is_rated=st.booleans(), data=st.data())
    def begin(self, data: st.DataObject, *, is_rated: bool) -> None:
        first, second = data.draw(st.permutations(sorted(self.names)))[:2]
        match = f"m{len(self.live) + len(self.over)}"
        started = Started(match=match, seq=1, at_ms=0, game="gomoku", players=(NOBODY, NOBODY), rated=is_rated)
        answers: list[object] = []
        self.journal.append([started], answers.append, answers.append, (first, second))
        assert answers == [None]
        self.live[match] = (first, second, is_rated)

    @precondition(lambda self: self.live)
    @rule(winner=st.sampled_from([0, 1, None]), reason=st.sampled_from(["line", "abort", "agreement"]), data=st.data())
    def end(self, winner: int | None, reason: str, data: st.DataObject) -> None:
        match = data.draw(st.sampled_from(sorted(self.live)))
        first, second, is_rated = self.live.pop(match)
        self.over[match] = (first, second)
        self.at_ms += 1_000
        changes: list[Any] = []
        ended = Ended(match=match, seq=2, at_ms=self.at_ms, winner=winner, reason=reason)
        self.journal.append([ended], changes.append, changes.append)
        if reason != "abort":
            self.met[first].add(second)
            self.met[second].add(first)
        if not is_rated or reason == "abort":
            assert changes == [None]
            return
        score = 0.5 if winner is None else 1.0 - winner
        before = self.ratings.get(first, Rating()), self.ratings.get(second, Rating())
        met = len(self.met[first]), len(self.met[second])
        self.ratings[first], self.ratings[second] = after = rated(*before, score, self.at_ms, met)
        assert changes[0] is not None
        assert [each.after for each in changes[0]] == [each.shown for each in after]

    @rule()
    def restart(self) -> None:
        self.database.close()
        self.open_journal()

    @invariant()
    def every_token_is_its_players(self) -> None:
        for token, player in self.tokens.items():
            found = self.asked(self.journal.find, token, None, self.at_ms)
            assert (found.id, found.name) == (player, self.names[player])
            assert sorted(found.unfinished) == sorted(m for m, seats in self.live.items() if player in seats[:2])
        assert self.asked(self.journal.find, "a token of nobody", None, 0) is None

    @invariant()
    def ratings_are_what_the_rated_results_made_them(self) -> None:
        rows = self.database.connection.execute(
            "SELECT player, rating, deviation, volatility, games, rated_ms FROM ratings"
        )
        assert {player: Rating(*values) for player, *values in rows} == self.ratings

    @invariant()
    def every_match_shows_the_names_of_now(self) -> None:
        for match, seats in [*self.over.items(), *((m, seats[:2]) for m, seats in self.live.items())]:
            record = read_match(self.database.connection, match)
            assert isinstance(record.events[0], Started)
            shown = [player.name for player in record.events[0].players]
            assert shown == [self.names.get(player, FORGOTTEN) for player in seats]

    def teardown(self) -> None:
        if hasattr(self, "database"):
            self.database.close()
            self.folder.cleanup()


Identities.TestCase.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
test_whatever_happens_names_matches_and_ratings_are_as_in_the_model = Identities.TestCase
