"""Direct a tournament: decide requests of organisers and players, and the next step. Knows no socket and no clock.

Every function returns facts, or raises `Refusal`; nothing changes until they are journaled and applied with
`Tournament.evolve`. Another process may create a pairing, so `boards_of` validates it before it becomes a round.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from ttt_net.errors import Code, Refusal
from ttt_net.tournaments import swiss
from ttt_net.tournaments.schedules import (
    Entrant,
    KnockoutBoard,
    Pair,
    WaitingEntrant,
    arena_pairs,
    first_boards,
    next_boards,
    round_robin,
    third_place,
)
from ttt_net.tournaments.standings import TournamentRow
from ttt_net.tournaments.swiss import Matching, SwissRound, swiss_players
from ttt_net.tournaments.tournament import (
    CONTINUOUS,
    MAX_BOARDS,
    MAX_ROUND_ROBIN,
    RESULTS,
    AnyFact,
    Begun,
    Board,
    BoardsBegan,
    Closed,
    CloseReason,
    Corrected,
    Entered,
    EntrantLeft,
    EntrantReturned,
    Opened,
    PassedOver,
    Player,
    RoundWanted,
    Terms,
    Tournament,
    TournamentKind,
    TournamentPaused,
    TournamentResumed,
)

STALE_MS = 12 * 3_600_000
"""A tournament without events for this long ends automatically, unless a round is being played."""
MAX_CORRECTIONS_NOTE = 80
MAX_REST_S = 5
"""The maximal rest of a player between two matches of a tournament without rounds; less if its pause is shorter."""
PATIENCE_MS = 20_000
"""How long a table waits for a player whose turn it is and who is away; after that, the next one plays."""
MAX_STOOD_MS = 15 * 60_000
"""The maximal time that an arena gets back after its server has stood still."""
ARENA_MINUTES = 60
WITH_SPARE: tuple[TournamentKind, ...] = ("swiss", "round_robin")
"""The kinds in which a spare bot plays while the number of players is odd."""


class Availability(NamedTuple):
    """Whether a player is connected and free to play, and since when, in time of play."""

    is_free: bool
    since_ms: int


class RoundPlan(NamedTuple):
    """The boards of a round: pairs, of which the former moves first, and entrants who advance without play."""

    pairs: Sequence[tuple[Entrant, Entrant]] = ()
    byes: Sequence[Entrant] = ()
    walkovers: Sequence[tuple[Entrant, Entrant]] = ()
    """The entrant who advances, and the one who has left."""
    order: Sequence[int] | None = None
    """The numbers of the boards, pairs first, then walkovers, then byes; None: counted from 1."""


Due = Literal["begin", "pair", "replay", "close"]
"""The next step of a tournament: its start, a round, replayed boards, or its end."""


# Requests.


def opened(terms: Terms, organiser: Player | None, at_ms: int) -> Opened:
    """Return the first fact of a tournament. Raises `Refusal` if its terms are invalid."""
    if terms.kind == "round_robin" and terms.rounds > 2:
        raise Refusal(Code.BAD_TOURNAMENT, "a round robin has one or two cycles")
    if terms.full is not None and terms.full > terms.most:
        raise Refusal(Code.BAD_TOURNAMENT, f"it cannot begin with {terms.full} players if {terms.most} may enter")
    if terms.minutes is not None and terms.kind not in CONTINUOUS:
        raise Refusal(Code.BAD_TOURNAMENT, "only an arena and a king of the table have a length in minutes")
    if terms.legs > 1 and terms.kind in CONTINUOUS:
        raise Refusal(Code.BAD_TOURNAMENT, "only tournaments with rounds have pairings of two matches")
    if terms.spare is not None and terms.kind not in WITH_SPARE:
        raise Refusal(Code.BAD_TOURNAMENT, "only in a Swiss or a round robin a bot plays while the number is odd")
    if terms.anonymous:
        if terms.rated:
            raise Refusal(Code.BAD_TOURNAMENT, "guests have no ratings, so an anonymous tournament cannot be rated")
        terms = msgspec.structs.replace(terms, chat=False)
    if terms.kind == "arena" and terms.minutes is None:
        terms = msgspec.structs.replace(terms, minutes=ARENA_MINUTES)
    return Opened(at_ms, terms, organiser)


def enter(tournament: Tournament, player: Player, at_ms: int) -> list[AnyFact]:
    """Enter a player, after the start as a late-comer, or let them return; do nothing if they are in.

    Raises `Refusal` if they may not.
    """
    _must_be_open(tournament)
    entrant = tournament.entrant_of(player)
    if entrant is not None:
        state = tournament.entrants[entrant]
        if state.is_here:
            return []
        if state.why == "removed":
            raise Refusal(Code.NOT_WELCOME, "the organiser has removed you from that tournament")
        if tournament.terms.kind == "knockout" and tournament.is_begun:
            raise Refusal(Code.TOO_LATE, "you are out of that knockout")
        return [EntrantReturned(at_ms, entrant)]
    if tournament.is_begun and tournament.terms.kind in ("round_robin", "knockout"):
        raise Refusal(Code.TOO_LATE, "that tournament has begun, and its kind takes no late-comers")
    if tournament.is_begun and not tournament.is_continuous and len(tournament.rounds) >= tournament.terms.rounds:
        raise Refusal(Code.TOO_LATE, "the last round of that tournament has begun")
    most = min(tournament.terms.most, MAX_ROUND_ROBIN if tournament.terms.kind == "round_robin" else 1_000)
    if len(tournament.entrants) >= most:
        raise Refusal(Code.TOURNAMENT_FULL, f"that tournament has its {most} players")
    return [Entered(at_ms, len(tournament.entrants) + 1, player)]


def leave(tournament: Tournament, player: Player, at_ms: int) -> list[AnyFact]:
    """Let a player leave; do nothing if they are not in. Their match of the round continues.

    Raises `Refusal` if the tournament is over.
    """
    _must_be_open(tournament)
    entrant = tournament.entrant_of(player)
    if entrant is None or not tournament.entrants[entrant].is_here:
        return []
    return [EntrantLeft(at_ms, entrant)]


def remove(tournament: Tournament, player: Player, at_ms: int) -> list[AnyFact]:
    """Remove a player permanently. Raises `Refusal` if they never entered."""
    _must_be_open(tournament)
    entrant = tournament.entrant_of(player)
    if entrant is None:
        raise Refusal(Code.UNKNOWN_PLAYER, "no player of that name is in the tournament")
    if tournament.entrants[entrant].why == "removed":
        return []
    return [EntrantLeft(at_ms, entrant, "removed")]


def add(tournament: Tournament, player: Player, at_ms: int) -> list[AnyFact]:
    """Add a player for the organiser, even a removed one. Raises `Refusal` if they may not enter."""
    entrant = tournament.entrant_of(player)
    if entrant is not None and tournament.entrants[entrant].why == "removed":
        _must_be_open(tournament)
        return [EntrantReturned(at_ms, entrant)]
    return enter(tournament, player, at_ms)


def start(tournament: Tournament, at_ms: int, spare: Player | None = None) -> list[AnyFact]:
    """Begin the tournament, with a spare bot if the number of players is odd; do nothing if it has begun.

    Raises `Refusal` if it cannot begin.
    """
    _must_be_open(tournament)
    if tournament.is_begun:
        return []
    if len(tournament.present) < 2:
        raise Refusal(Code.BAD_TOURNAMENT, "a tournament needs at least two players")
    return [*seat_spare(tournament, at_ms, spare), Begun(at_ms)]


def seat_spare(tournament: Tournament, at_ms: int, spare: Player | None) -> list[AnyFact]:
    """Let the spare bot enter, or leave again, so that the number of players is even.

    In a round robin it does so only at the start. `spare` is None if there is none, or it is not connected.
    """
    if spare is None or (tournament.is_begun and tournament.terms.kind != "swiss"):
        return []
    entrant = tournament.entrant_of(spare)
    if len(tournament.present) % 2 == 0:
        return []
    if entrant is None:
        is_full = len(tournament.entrants) >= tournament.terms.most
        return [] if is_full else [Entered(at_ms, len(tournament.entrants) + 1, spare)]
    state = tournament.entrants[entrant]
    if state.is_here:
        return [EntrantLeft(at_ms, entrant)]
    return [] if state.why == "removed" else [EntrantReturned(at_ms, entrant)]


def pause(tournament: Tournament, at_ms: int) -> list[AnyFact]:
    """Stop further rounds from beginning. Running matches continue."""
    _must_be_open(tournament)
    return [] if tournament.is_paused else [TournamentPaused(at_ms)]


def resume(tournament: Tournament, at_ms: int) -> list[AnyFact]:
    """Allow rounds to begin again."""
    _must_be_open(tournament)
    return [TournamentResumed(at_ms)] if tournament.is_paused else []


def want_round(tournament: Tournament, at_ms: int) -> list[AnyFact]:
    """Let the next round begin now, even if the tournament is paused. Raises `Refusal` if it cannot begin."""
    _must_be_open(tournament)
    if tournament.is_continuous:
        raise Refusal(Code.BAD_TOURNAMENT, "it has no rounds: matches begin by themselves")
    if not tournament.is_begun:
        raise Refusal(Code.BAD_TOURNAMENT, "the tournament has not begun; start it")
    if not tournament.is_between_rounds:
        count = len(tournament.open_boards())
        raise Refusal(Code.MATCH_NOT_OVER, f"{count} {'board is' if count == 1 else 'boards are'} still being played")
    return [] if tournament.is_round_wanted else [RoundWanted(at_ms)]


def correct(tournament: Tournament, round_number: int, board: int, result: str, note: str, at_ms: int) -> list[AnyFact]:
    """Replace the result of a board, with a note. Raises `Refusal` if that is not allowed.

    This changes scores and future pairings. In a knockout it is rejected once the next round has begun.
    """
    _must_be_open(tournament)
    points = RESULTS.get(result)
    if points is None:
        raise Refusal(Code.BAD_TOURNAMENT, f"a result is one of {', '.join(RESULTS)}")
    if not 1 <= round_number <= len(tournament.rounds) or board not in tournament.rounds[round_number - 1]:
        raise Refusal(Code.BAD_TOURNAMENT, f"there is no board {board} in round {round_number}")
    state = tournament.rounds[round_number - 1][board]
    if state.second is None:
        raise Refusal(Code.BAD_TOURNAMENT, "a bye cannot be corrected")
    if not state.is_settled:
        raise Refusal(Code.MATCH_NOT_OVER, "that match is still being played; correct its result when it has ended")
    if tournament.terms.kind == "knockout":
        if round_number < len(tournament.rounds):
            raise Refusal(Code.TOO_LATE, "the next round of the knockout has begun")
        if points in ((1, 1), (0, 0)):
            raise Refusal(Code.BAD_TOURNAMENT, "one of the two has to go through")
    if state.points == points:
        return []
    return [Corrected(at_ms, round_number, board, points, note[:MAX_CORRECTIONS_NOTE])]


def end(tournament: Tournament, at_ms: int) -> list[AnyFact]:
    """End the tournament early. Running matches continue, and count."""
    return [] if tournament.is_over else [Closed(at_ms, "ended")]


def _must_be_open(tournament: Tournament) -> None:
    if tournament.is_over:
        raise Refusal(Code.TOURNAMENT_OVER, "that tournament is over")


# The next step.


def due(tournament: Tournament, at_ms: int, rested_ms: int) -> Due | None:
    """Return the next step that is due now; None without one.

    `at_ms` is the time of day; `rested_ms` is how long, in time of play, no board has been open.
    """
    terms = tournament.terms
    if tournament.is_over:
        return None
    if not tournament.is_begun:
        return _due_before_start(tournament, at_ms)
    if tournament.is_continuous:
        return _due_without_rounds(tournament, at_ms, rested_ms)
    if not tournament.is_between_rounds:
        return "replay" if tournament.replays() else None
    if is_finished(tournament) or len(tournament.present) < 2:
        return "close"
    if tournament.is_round_wanted:
        return "pair"
    if tournament.is_paused or (terms.pause_s is None and tournament.rounds):
        return "close" if at_ms - tournament.changed_ms >= STALE_MS and rested_ms >= STALE_MS else None
    return "pair" if not tournament.rounds or rested_ms >= 1000 * (terms.pause_s or 0) else None


def _due_before_start(tournament: Tournament, at_ms: int) -> Due | None:
    terms = tournament.terms
    is_full = terms.full is not None and len(tournament.present) >= terms.full
    is_time = terms.starts_ms is not None and at_ms >= terms.starts_ms
    if (is_full or is_time) and len(tournament.present) >= 2 and not tournament.is_paused:
        return "begin"
    since_ms = max(tournament.changed_ms, terms.starts_ms or 0)
    return "close" if at_ms - since_ms >= STALE_MS else None


def _due_without_rounds(tournament: Tournament, at_ms: int, rested_ms: int) -> Due | None:
    is_stale = at_ms - tournament.changed_ms >= STALE_MS and rested_ms >= STALE_MS
    is_full = bool(tournament.rounds) and len(tournament.rounds[0]) >= MAX_BOARDS
    if is_stale or is_full or tournament.left_ms(at_ms) == 0:
        return "close"
    return None if tournament.is_paused else "pair"


def is_finished(tournament: Tournament) -> bool:
    """Tell whether all rounds were played."""
    if tournament.is_continuous or not tournament.rounds or not tournament.is_between_rounds:
        return False
    return len(tournament.rounds) >= tournament.total_rounds


def closed(tournament: Tournament, at_ms: int) -> list[AnyFact]:
    """Return the end of a tournament that is due to close."""
    why: CloseReason = "finished"
    if not tournament.is_begun:
        why = "not_started"
    elif tournament.is_continuous:
        why = "finished"
    elif not is_finished(tournament):
        why = "nobody"
    is_arena = tournament.terms.kind == "arena"
    return [Closed(at_ms, why, tuple(board.board for board in tournament.open_boards()) if is_arena else ())]


def absent(tournament: Tournament, match: str, winner: int | None, reason: str, at_ms: int) -> list[AnyFact]:
    """Return the departures of players who did not appear for a match, so that nobody is paired with them again."""
    found = tournament.board_of(match)
    if found is None or reason != "forfeit" or tournament.is_over:
        return []
    _, board = found
    gone = [each for side, each in enumerate((board.first, board.second)) if side != winner and each is not None]
    return [EntrantLeft(at_ms, each, "absent") for each in gone if tournament.entrants[each].is_here]


# Rounds.


def needs_matching(tournament: Tournament) -> bool:
    """Tell whether pairing the next round needs a search, which belongs in another process."""
    return tournament.terms.kind == "swiss"


def pairing(tournament: Tournament, matching: Matching) -> RoundPlan:
    """Return the next round of a tournament with rounds. Only a Swiss needs `matching`."""
    match tournament.terms.kind:
        case "swiss":
            return swiss_pairing(propose(tournament, matching))
        case "round_robin":
            return _round_robin_pairing(tournament)
        case "knockout":
            return _knockout_pairing(tournament)
        case "arena" | "king":
            raise AssertionError("matches of a tournament without rounds begin one by one")


def propose(tournament: Tournament, matching: Matching) -> SwissRound:
    """Return a proposal for the next round of a Swiss."""
    players = swiss_players(tournament.present, tournament.results(), tournament.offs())
    played = len(tournament.rounds)
    return swiss.pair_round(players, matching, is_last=played + 1 == tournament.total_rounds, rounds_played=played)


def check(tournament: Tournament, proposal: SwissRound) -> None:
    """Validate a proposal from another process. Raises `ValueError` if it breaks a rule."""
    players = swiss_players(tournament.present, tournament.results(), tournament.offs())
    played = len(tournament.rounds)
    is_last = played + 1 == tournament.total_rounds
    found = swiss.broken_laws(players, proposal, is_last=is_last, rounds_played=played)
    if found:
        raise ValueError(f"a bad pairing: {found[0]}")


def swiss_pairing(proposal: SwissRound) -> RoundPlan:
    """Return the round of a proposal."""
    return RoundPlan(proposal.boards, () if proposal.bye is None else (proposal.bye,))


def _round_robin_pairing(tournament: Tournament) -> RoundPlan:
    schedule = round_robin(tournament.seeds, tournament.terms.rounds)[len(tournament.rounds)]
    is_here = {entrant: state.is_here for entrant, state in tournament.entrants.items()}
    pairs = [pair for pair in schedule if is_here[pair[0]] and is_here[pair[1]]]
    alone = [pair if is_here[pair[0]] else (pair[1], pair[0]) for pair in schedule if pair not in pairs]
    return RoundPlan(pairs, (), [pair for pair in alone if is_here[pair[0]]])


def _knockout_pairing(tournament: Tournament) -> RoundPlan:
    boards: list[KnockoutBoard] = []
    third: KnockoutBoard | None = None
    if not tournament.rounds:
        boards = first_boards(tournament.seeds)
    else:
        rounds, winners = tournament.bracket()
        boards = next_boards(rounds[-1], winners[-1])
        third = third_place(rounds[-1], winners[-1])
    pairs, walkovers, byes, order = [], [], [], dict[Entrant, int]()
    is_here = {entrant: state.is_here for entrant, state in tournament.entrants.items()}
    for number, board in enumerate([*boards, *([third] if third else [])], 1):
        order[board.one] = number
        if board.other is None:
            byes.append(board.one)
            continue
        order[board.other] = number
        one, other = (board.one, board.other) if number % 2 else (board.other, board.one)
        if is_here[one] and is_here[other]:
            pairs.append((one, other))
        else:
            walkovers.append((one, other) if is_here[one] else (other, one))
    firsts = [pair[0] for pair in (*pairs, *walkovers)] + byes
    return RoundPlan(pairs, byes, walkovers, [order[first] for first in firsts])


def boards_of(paired: RoundPlan, new_match: Callable[[], str]) -> tuple[Board, ...]:
    """Return the boards of a round, in the order of their numbers; `new_match` creates the ids of its matches."""
    count = len(paired.pairs) + len(paired.walkovers) + len(paired.byes)
    numbers = iter(paired.order if paired.order is not None else range(1, count + 1))
    boards = [Board(next(numbers), first, second, new_match()) for first, second in paired.pairs]
    boards += [Board(next(numbers), first, second) for first, second in paired.walkovers]
    boards += [Board(next(numbers), first) for first in paired.byes]
    return tuple(sorted(boards, key=lambda board: board.board))


def round_of(tournament: Tournament, paired: RoundPlan, new_match: Callable[[], str], at_ms: int) -> BoardsBegan:
    """Return the next round as a fact. Raises `ValueError` if somebody is in it twice, or is not present."""
    boards = boards_of(paired, new_match)
    if tournament.terms.kind == "swiss":
        seats = sorted(each for board in boards for each in (board.first, board.second) if each is not None)
        if seats != sorted(tournament.present):
            raise ValueError("not everybody who is there is in the round once")
    return BoardsBegan(at_ms, len(tournament.rounds) + 1, boards)


# Tournaments without rounds.


def seating(
    tournament: Tournament,
    presence: Mapping[Entrant, Availability],
    rows: Callable[[], Sequence[TournamentRow]],
    new_match: Callable[[], str],
    now_ms: int,
    at_ms: int,
) -> list[AnyFact]:
    """Return the matches that begin now in a tournament without rounds, or the turn of an absent player; often nothing.

    `presence` has all present players without an open board; `now_ms` is in time of play, as is `presence`. `rows` are
    the standings.
    """
    pause_s = tournament.terms.pause_s
    rest_ms = 1_000 * (MAX_REST_S if pause_s is None else min(pause_s, MAX_REST_S))
    free = {
        entrant: each.since_ms
        for entrant, each in presence.items()
        if each.is_free and (now_ms - each.since_ms >= rest_ms or entrant not in tournament.latest)
    }
    if tournament.terms.kind == "king":
        return _king_seating(tournament, presence, free, new_match, now_ms, at_ms)
    if len(free) < 2:
        return []
    ranks = {row.entrant: rank for rank, row in enumerate(rows(), 1)}
    waiting = [
        WaitingEntrant(each, ranks[each], since_ms, _last_opponent(tournament, each), tournament.firsts.get(each, 0))
        for each, since_ms in free.items()
    ]
    count = sum(each.is_free for each in presence.values()) + 2 * len(tournament.open_boards())
    return _alone(tournament, arena_pairs(waiting, count, now_ms), (), new_match, at_ms)


def _last_opponent(tournament: Tournament, entrant: Entrant) -> Entrant | None:
    board = tournament.latest.get(entrant)
    return None if board is None else next(each for each in board.entrants if each != entrant)


def _king_seating(
    tournament: Tournament,
    presence: Mapping[Entrant, Availability],
    free: Collection[Entrant],
    new_match: Callable[[], str],
    now_ms: int,
    at_ms: int,
) -> list[AnyFact]:
    """Return the matches at tables whose players are free; without any, the turn of somebody who is long away."""
    queue = tournament.tables
    after, pairs = queue.started()
    seated = [pair for pair in pairs if pair[0] in free and pair[1] in free]
    if seated:
        playing = {entrant for pair in seated for entrant in pair}
        given_up = [each for each in after.waiting if each not in queue.waiting]  # kings of tables too many
        waiting = [each for each in (*given_up, *queue.waiting) if each not in playing]
        return _alone(tournament, seated, waiting, new_match, at_ms)
    for entrant in (each for challenger, king in pairs for each in (king, challenger)):
        seen = presence.get(entrant)
        if seen is None or seen.is_free or now_ms - seen.since_ms < PATIENCE_MS:
            continue
        if entrant in queue.missed or entrant not in queue.waiting:
            return [EntrantLeft(at_ms, entrant, "absent")]
        return [PassedOver(at_ms, entrant)]
    return []


def _alone(
    tournament: Tournament,
    pairs: Sequence[Pair],
    waiting: Sequence[Entrant],
    new_match: Callable[[], str],
    at_ms: int,
) -> list[AnyFact]:
    first = len(tournament.rounds[0]) + 1 if tournament.rounds else 1
    boards = tuple(Board(number, one, other, new_match()) for number, (one, other) in enumerate(pairs, first))
    return [BoardsBegan(at_ms, 1, boards, tuple(waiting))] if boards else []


def stood_still(tournament: Tournament, at_ms: int) -> list[AnyFact]:
    """Return a pause, now over, for the time in which no server ran, so that an arena does not lose it."""
    if tournament.is_over or tournament.is_paused or tournament.left_ms(at_ms) is None:
        return []
    since_ms = max(tournament.changed_ms, at_ms - MAX_STOOD_MS)
    return [TournamentPaused(since_ms), TournamentResumed(at_ms)] if at_ms > since_ms else []


def replay_of(tournament: Tournament, new_match: Callable[[], str], at_ms: int) -> BoardsBegan:
    """Return the boards of the round that have to be replayed, as a fact."""
    boards = tuple(Board(each.board, each.first, each.second, new_match()) for each in tournament.replays())
    return BoardsBegan(at_ms, len(tournament.rounds), boards)
