"""Each fault that is put into the server, or into a client, on purpose is found.

The search begins at a seed that is drawn from the name of the fault, so nobody has chosen one that finds it: the number
of worlds it takes is a fair sample of how rarely the fault is found. `python -m tests.simulation.planted` prints them.
"""

import pytest

from tests.simulation import planted
from tests.simulation.planted import (
    MOST_SEEDS,
    PLANTED,
    PLANTED_AMONG_LEDGERS,
    PLANTED_AMONG_NODES,
    first_seed,
    main,
    seeds_until_found,
)

RARELY_FOUND = {
    "a ban that is not put in force",
    "a batch that is not repeated",
    "a block that challenges do not heed",
    "a block that pairings do not heed",
    "a board that is settled before its end",
    "a client that asks on as another player",
    "a client that closes no gap",
    "a client that does not notice a dead link",
    "a client that keeps an offer after a move",
    "a clock of a tournament that halts while nobody is here",
    "a clock that runs while the server stands still",
    "a draw of an arena that counts nothing",
    "a fence left out: what a lost node writes counts",
    "a flag that every node lets fall",
    "a flag that never falls",
    "a forget that sheds a mute",
    "a form in force as soon as one node knows it",
    "a former steward that keeps its seeks",
    "a leaver at a table who stays in its queue",
    "a leaver who is paired",
    "a line of chat that other nodes do not hear",
    "a list of the lobby that is not told anew",
    "a lobby that every node keeps",
    "a lost node that goes on as if nothing were",
    "a lost wake-up",
    "a match about to begin that is not counted",
    "a match of a tournament that nobody holds",
    "a move that is made and refused",
    "a mute of a seat that goes by the name",
    "a mute that is not looked at",
    "a mute that other nodes do not hear of",
    "a new steward that directs nothing",
    "a node that does not notice what a power cut took",
    "a node that is not told that it missed what was trimmed",
    "a number of a match told twice",
    "a paused node that answers as if it had not been",
    "a presence that is not told",
    "a range of ratings that nobody heeds",
    "a rating applied twice",
    "a rematch that could be avoided",
    "a report of a seat that goes by the name",
    "a report that is acknowledged and lost",
    "a request that nobody answers",
    "a result that its tournament does not hear of",
    "a result that other nodes do not count",
    "a room that forgets its match when a write is overtaken",
    "a room that is never let go",
    "a round that other nodes do not seat",
    "a seek that is acknowledged and lost",
    "a session taken for that of somebody else",
    "a session that hears on after it was replaced",
    "a session that stays after its connection",
    "a snapshot that is not brought up to date",
    "a stale ok: nothing is held",
    "a tail that begins one late",
    "a tournament that a restart forgets",
    "a tournament that is ahead of its journal",
    "a tournament that is not told anew",
    "an acceptance taken for an offer",
    "an early leaver whose results count",
    "an epoch that is not checked",
    "an event of another node that is not told",
    "an event told to nobody",
    "an invitation that a restart forgets",
    "an invitation that ends by the time of play",
    "an offer that is made though a move came first",
    "an unknown outcome taken for a failure",
    "an unknown outcome that is told as a refusal",
    "an upgrade that keeps no copy",
    "an upgrade that loses invitations",
    "facts of a tournament that are numbered anew",
    "facts of a tournament that other nodes do not hear",
    "one token connected to two nodes",
    "players of a lost node who stay",
    "progress with a mistake that goes back",
    "watchers of other nodes who are not counted",
}
"""Faults that took more than 0.5 s of CPU when they were last measured. Only the long tests look for these."""
ALL = (*PLANTED, *PLANTED_AMONG_LEDGERS, *PLANTED_AMONG_NODES)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in RARELY_FOUND else []) for name in ALL]
)
def test_a_planted_fault_is_found(name: str) -> None:
    assert seeds_until_found(name) is not None, f"{name} is not found within {MOST_SEEDS} seeds"


def test_the_table_lists_all_planted_faults_and_what_is_not_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, tuple[int, str] | None] = dict.fromkeys(ALL, (3, "InvariantError: a lost move"))
    monkeypatch.setattr(planted, "seeds_until_found", found.get)
    assert main() == 0
    assert capsys.readouterr().out.splitlines()[2:] == [f"| {name} | 3 | a lost move |" for name in ALL]
    found[ALL[1]] = None
    assert main() == 1
    assert capsys.readouterr().out.splitlines()[3] == f"| {ALL[1]} | 0 | NOT FOUND |"


def test_each_search_begins_at_a_seed_of_its_own_that_nobody_has_chosen() -> None:
    assert set(ALL) >= RARELY_FOUND
    assert len({first_seed(name) for name in ALL}) == len(ALL)
