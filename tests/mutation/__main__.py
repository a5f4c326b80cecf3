"""Run mutants: `python -m tests.mutation [--since COMMIT] [--every N [--from K]] [PATH ...]`.

Without arguments it takes every file of `TESTS`; with `--since` only the lines that changed since a commit. A survivor
that `accepted.txt` does not name fails the run, and so does an entry whose mutant is gone or killed by now. With
`--since`, so does a package that has more entries than at that commit.
"""

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.runner import Runner, Verdict, in_child

ROOT = Path(__file__).parent.parent.parent
ACCEPTED = Path(__file__).with_name("accepted.txt")
KINDS = ("equal", "faster", "text", "never", "elsewhere")
"""Why a mutant may survive: it does the same; it only costs time; it changes only words; it cannot happen; a wider test
that the entry names kills it.
"""
TESTS: dict[str, tuple[str, ...]] = {
    "ttt_net/clock.py": ("tests/test_clock.py",),
    "ttt_net/ratings.py": ("tests/test_ratings.py",),
    "ttt_net/pairing": ("tests/pairing",),
    "ttt_net/matches": ("tests/matches",),
    "ttt_net/sdk/__init__.py": ("tests/sdk/test_public_api.py",),
    "ttt_net/sdk/identity.py": ("tests/sdk/test_identity.py",),
    "ttt_net/sdk/trust.py": ("tests/sdk/test_trust.py",),
    "ttt_net/sdk/received.py": ("tests/sdk/test_received.py",),
    "ttt_net/sdk/client_protocol.py": ("tests/sdk/test_client_protocol.py",),
    "ttt_net/sdk/client_session.py": (
        "tests/sdk/test_client_session.py",
        "tests/sdk/test_client_session_machine.py",
    ),
    "ttt_net/sdk/client_connection.py": (
        "tests/sdk/test_client_connection.py",
        "tests/sdk/test_trust.py",
        "tests/sdk/test_client.py",
    ),
    "ttt_net/sdk/client.py": ("tests/sdk/test_client.py",),
    "ttt_net/sdk/playing.py": ("tests/sdk/test_playing.py",),
    "ttt_net/sdk/bots.py": (
        "tests/sdk/test_bots.py",
        "tests/sdk/test_playing.py",
        "tests/client/bot/test_bot.py::test_a_bot_whose_match_of_the_ladder_comes_due_makes_its_seek_anew",
    ),
    "ttt_net/server/admission/client_address.py": ("tests/server/admission/test_client_address.py",),
    "ttt_net/server/admission/rate_limiter.py": ("tests/server/admission/test_rate_limiter.py",),
    "ttt_net/server/admission/sanctions.py": (
        "tests/server/admission/test_sanctions.py",
        "tests/server/admission/test_sanctions_machine.py",
    ),
    "ttt_net/server/admission/connection_limiter.py": (
        "tests/server/admission/test_connection_limiter.py",
        "tests/server/admission/test_connection_limiter_machine.py",
    ),
    "ttt_net/server/admission/fair_shares.py": (
        "tests/server/admission/test_fair_shares.py",
        "tests/server/admission/test_fair_shares_machine.py",
    ),
    "ttt_net/server/admin": (
        "tests/server/admin",
        "tests/commands/test_tournament.py",
        "tests/server/cluster/test_node.py",
    ),
    "ttt_net/server/accounts.py": (
        "tests/server/test_accounts.py",
        "tests/server/test_sessions.py",
        "tests/server/test_hub.py",
        "tests/server/admin/test_moderation.py",
        "tests/server/matchmaking/test_lobby_feed.py",
        "tests/server/rooms/test_blocks.py",
        "tests/server/cluster/test_node.py",
        "tests/server/cluster/test_shared_lobby.py",
    ),
    "ttt_net/server/online_players.py": (
        "tests/server/test_online_players.py",
        "tests/server/test_online_players_machine.py",
        "tests/server/test_accounts.py",
        "tests/server/test_sessions.py",
        "tests/server/test_hub.py",
        "tests/server/admin/test_moderation.py",
        "tests/server/matchmaking/test_lobby_feed.py",
        "tests/server/rooms/test_blocks.py",
        "tests/server/cluster/test_node.py",
        "tests/server/cluster/test_shared_lobby.py",
    ),
    "ttt_net/server/matchmaking/eligibility.py": (
        "tests/server/matchmaking/test_eligibility.py",
        "tests/server/matchmaking/test_eligibility_model.py",
    ),
    "ttt_net/server/matchmaking/listing.py": ("tests/server/matchmaking/test_listing.py",),
    "ttt_net/server/matchmaking/lobby_feed.py": ("tests/server/matchmaking/test_lobby_feed_machine.py",),
    "ttt_net/server/matchmaking/matchmaker.py": (
        "tests/server/matchmaking/test_matchmaker_tables.py",
        "tests/server/matchmaking/test_matchmaker.py",
        "tests/server/matchmaking/test_fairness.py",
        "tests/server/matchmaking/test_eligibility.py",
        "tests/server/test_bounds.py",
        "tests/server/test_matchmaking_machine.py",
    ),
    "ttt_net/server/matchmaking/match_registry.py": ("tests/server/matchmaking/test_match_registry.py",),
    "ttt_net/server/matchmaking/tournament_service.py": ("tests/server/matchmaking/test_tournament_tables.py",),
    "ttt_net/server/rooms/audience.py": (
        "tests/server/rooms/test_audience_tables.py",
        "tests/server/rooms/test_room_tables.py",
        "tests/server/rooms/test_room_time.py",
        "tests/server/rooms/test_room_on_nodes.py",
    ),
    "ttt_net/server/rooms/chat.py": ("tests/server/rooms/test_chat_tables.py",),
    "ttt_net/server/rooms/coach.py": ("tests/server/rooms/test_coach_tables.py",),
    "ttt_net/server/rooms/room.py": (
        "tests/server/rooms/test_room_tables.py",
        "tests/server/rooms/test_room_time.py",
        "tests/server/rooms/test_room_on_nodes.py",
        "tests/server/matchmaking/test_match_registry.py",
        "tests/server/rooms/test_audience_tables.py",
    ),
}
"""The files and packages that are mutated, each with the tests that have to kill its mutants."""
MOST_SINCE = 100
"""Mutants of one change to a package; of more, an even choice is taken."""

Range = tuple[str, int, int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants and print the survivors; return 0 if the ledger has them all, and nothing else."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    known = ", ".join(TESTS)
    parser.add_argument("paths", nargs="*", metavar="PATH", help=f"packages or modules of {known}")
    parser.add_argument("--since", metavar="COMMIT", help="only lines that changed since this commit")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth mutant")
    parser.add_argument(
        "--from", type=int, default=0, dest="first", metavar="K", help="of these, begin after K mutants"
    )
    args = parser.parse_args(arguments)
    unknown = [path for path in args.paths if not tests_of(path)]
    if unknown:
        parser.error(f"not mutated: {', '.join(unknown)}; there are {known}")
    changed = None if args.since is None else changed_lines(args.since)
    verdicts: list[Verdict] = []
    is_sound = True
    for package in args.paths or TESTS:
        found = [mutant for path in files_of(package) for mutant in mutants_of(path)]
        if changed is not None:
            found = [mutant for mutant in found if is_touched(mutant, changed)]
            found = found[:: 1 + len(found) // MOST_SINCE]
        found = found[args.first :: args.every]
        if found:
            print(f"{package}:", flush=True)
            here, sound = run(found, tests_of(package))
            verdicts += here
            is_sound = is_sound and sound
    problems = judge(
        verdicts, read_ledger(ACCEPTED), is_whole=not (args.paths or args.since or args.every > 1 or args.first)
    )
    if args.since is not None:
        problems += grown(ledger_at(args.since), ACCEPTED.read_text(encoding="utf-8"))
    killed = sum(verdict.fate == "killed" for verdict in verdicts)
    print("\n".join(problems))
    print(f"{len(verdicts)} mutants, {killed} killed, {len(problems)} to look at")
    return 0 if is_sound and not problems else 1


def run(mutants: Sequence[Mutant], tests: Iterable[str]) -> tuple[list[Verdict], bool]:
    """Return the verdict on each mutant, and whether the tests pass without one."""

    def session() -> tuple[list[tuple[str, str]], bool, list[str]]:
        runner = Runner(mutants, lambda line: print(f"  {line}", file=sys.stderr, flush=True))
        options = ["-qq", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--no-summary"]
        options += ["-k", "not uvloop"]  # the same tests on another event loop kill the same mutants
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main([*options, *tests], plugins=[runner])
        return [verdict[1:] for verdict in runner.verdicts], runner.is_sound, sorted(runner.failing)

    fates, is_sound, failing = in_child(session, is_quiet=False)  # pytest imports what it collects once in a process
    if not is_sound or failing:
        print(f"  the tests do not pass without a mutant: {', '.join(failing) or 'the control failed'}")
    verdicts = [Verdict(mutant, *fate) for mutant, fate in zip(mutants, fates, strict=False)]
    return verdicts, is_sound and not failing


def tests_of(path: str) -> tuple[str, ...]:
    """Return the tests for a package or a module of one; none if it is not mutated."""
    return next(
        (tests for package, tests in TESTS.items() if path == package or path.startswith(f"{package}/")),
        (),
    )


def files_of(package: str) -> list[str]:
    """Return the Python files of a package, or the one file, as paths from the root of the repository."""
    place = ROOT / package
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [file.relative_to(ROOT).as_posix() for file in files]


def changed_lines(commit: str) -> list[Range]:
    """Return the lines of today that differ from a commit: path, first and last line."""
    command = ["git", "diff", "--unified=0", "--no-color", commit, "--", "ttt_net"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found, path = [], ""
    for line in told.splitlines():
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                found.append((path, first, first + count - 1))
    return found


def is_touched(mutant: Mutant, changed: Iterable[Range]) -> bool:
    """Tell whether a mutant changes one of these lines."""
    return any(mutant.path == path and first <= mutant.end and mutant.line <= last for path, first, last in changed)


def read_ledger(path: Path) -> dict[str, str]:
    """Return the accepted mutants, by key: the kind and the reason. Raises `ValueError` if a line has neither."""
    ledger = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        key, found, reason = line.rpartition(" | ")
        if not found or reason.split(":")[0] not in KINDS:
            raise ValueError(f"{path.name}: {line!r} needs `KEY | KIND: reason`, with a kind of {', '.join(KINDS)}")
        ledger[key] = reason
    return ledger


def sections(text: str) -> dict[str, int]:
    """Return the packages of a ledger, which its headings name, each with the number of its accepted mutants."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            package = line.removeprefix("## ")
            found[package] = 0
        elif line and not line.startswith("#") and found:
            found[package] += 1
    return found


def ledger_at(commit: str) -> str:
    """Return the ledger as it was at a commit; empty if there was none."""
    path = ACCEPTED.relative_to(ROOT).as_posix()
    shown = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=ROOT, capture_output=True, text=True, check=False)
    return shown.stdout


def grown(before: str, now: str) -> list[str]:
    """Return a line for each package with more accepted mutants than before; a new package may have any number."""
    then = sections(before)
    return [
        f"the ledger only shrinks, but {package} has {count} accepted mutants, which were {then[package]}: "
        "kill one more, or write the code without it"
        for package, count in sections(now).items()
        if count > then.get(package, count)
    ]


def judge(verdicts: Iterable[Verdict], ledger: dict[str, str], *, is_whole: bool) -> list[str]:
    """Return a line for each mutant that lives and is not accepted, and for each entry that is no longer true."""
    fates = {verdict.mutant.key: verdict.fate for verdict in verdicts}
    problems = [f"{fate}: {key}" for key, fate in fates.items() if fate != "killed" and key not in ledger]
    problems += [f"accepted, but killed: {key}" for key in ledger if fates.get(key) == "killed"]
    if is_whole:
        problems += [f"accepted, but gone: {key}" for key in ledger if key not in fates]
    return problems


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # state machines choose by it what they try
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.mutation", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    sys.exit(main())
