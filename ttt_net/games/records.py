"""Match records: a match as a checked value, and as a small readable text. Knows no server, no clock and no file.

::

    Game: tictactoe
    Event: Friday evening
    Date: 2026-11-21
    First: Ann
    Second: Perfect
    Second-bot: minimax
    Time: 180+2
    Result: 1-0
    Reason: line

    1. b2 [2:58.100] {the centre}
    2. a2 [3:00]

A record consists of tags, an empty line, and one move per line: number, move, the time left to the mover after it, and
a comment. Only `Game`, `First` and `Second` are required; `Start` is the starting position, if it is not the usual one.
Reading also accepts several moves per line, moves without numbers, tags in any order and case, and every notation of
moves that `notation` reads.
"""

import datetime
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ttt_net.errors import Code, Refusal
from ttt_net.games.catalogue import find_game
from ttt_net.games.game import Game, Move, Outcome, Reason, reason_of
from ttt_net.games.notation import read_move, read_start, write_move, write_position

S = TypeVar("S")

MAX_TEXT_LENGTH = 80
"""The longest event, name or bot mark."""
MAX_COMMENT_LENGTH = 500
MAX_CLOCK_MS = 100 * 3600 * 1000
"""A hundred hours: more than any clock shows."""

_WITHOUT_WINNER = (Reason.AGREEMENT, Reason.ABORT)
_WITH_OR_WITHOUT = (Reason.ABANDON,)
_IN_A_MATCH = frozenset(Reason) - {Reason.LINE, Reason.DRAW}
"""The reasons of endings outside of the rules."""


@dataclass(frozen=True)
class RecordedPlayer:
    """The player at a side; `bot` is the mark of a bot, None for people."""

    name: str
    bot: str | None = None


@dataclass(frozen=True)
class RecordedMove:
    """A move, the milliseconds left to its mover after it (None: no clock), and a comment."""

    move: Move
    clock_ms: int | None = None
    comment: str = ""


@dataclass(frozen=True)
class TimeLimit:
    """The time control of a recorded match, in milliseconds; `per_move` if each move has the whole initial time."""

    initial_ms: int
    increment_ms: int
    per_move: bool = False


@dataclass(frozen=True)
class Record:
    """A match from the beginning to its latest position; `outcome` is None while it is live.

    The constructor checks it: `Refusal` names the illegal move, the unsuitable text (control characters, braces in a
    comment, too long), or the outcome that contradicts the position.
    """

    game: str
    players: tuple[RecordedPlayer, RecordedPlayer]
    moves: tuple[RecordedMove, ...] = ()
    outcome: Outcome | None = None
    event: str | None = None
    date: datetime.date | None = None
    time: TimeLimit | None = None
    start: str | None = None
    """The position before the first move, as `notation.write_position` writes it; None for the usual one."""

    def __post_init__(self) -> None:
        """Check the fields."""
        _check_text("event", self.event)
        for player in self.players:
            _check_text("name", player.name)
            _check_text("bot mark", player.bot)
        for limit_ms in (self.time.initial_ms, self.time.increment_ms) if self.time else ():
            _check_clock("time", limit_ms)
        if self.time and self.time.per_move and self.time.increment_ms:
            raise Refusal(Code.BAD_NOTATION, "time per move has no increment")
        game = find_game(self.game)
        state = first_position(game, self.start)
        for number, made in enumerate(self.moves, start=1):
            try:
                state = game.result(state, made.move)
            except Refusal as error:
                raise Refusal(Code.BAD_NOTATION, f"move {number}: {error}") from None
            _check_clock(f"move {number}", made.clock_ms)
            _check_comment(number, made.comment)
        _check_outcome(game.outcome(state), self.outcome)

    def positions(self) -> Iterator[Any]:
        """Yield the position before the first move, and the one after each."""
        game = find_game(self.game)
        state = first_position(game, self.start)
        yield state
        for made in self.moves:
            state = game.result(state, made.move)
            yield state


def first_position(game: Game[S], start: str | None) -> S:
    """Return the first position of a match recorded with this `start`. Raises `Refusal` if no match can begin there."""
    if start is None:
        return game.initial
    state = read_start(game, start)
    written = write_position(game, state)
    if start != written:
        raise Refusal(Code.BAD_NOTATION, f"start {start[:40]!r} is written {written[:40]!r}")
    return state


def _check_text(what: str, text: str | None) -> None:
    if text is not None and (not text.isprintable() or text != text.strip() or not 0 < len(text) <= MAX_TEXT_LENGTH):
        raise Refusal(
            Code.BAD_NOTATION,
            f"{what} {text[:40]!r} cannot be kept; 1 to {MAX_TEXT_LENGTH} printable characters, no spaces around",
        )


def _check_comment(number: int, comment: str) -> None:
    if (
        not comment.isprintable()
        or comment != " ".join(comment.split())
        or len(comment) > MAX_COMMENT_LENGTH
        or "{" in comment
        or "}" in comment
    ):
        raise Refusal(
            Code.BAD_NOTATION,
            f"move {number}: comment {comment[:40]!r} cannot be kept; at most {MAX_COMMENT_LENGTH} printable "
            "characters, no braces, single spaces",
        )


def _check_clock(where: str, clock_ms: int | None) -> None:
    if clock_ms is not None and not 0 <= clock_ms <= MAX_CLOCK_MS:
        raise Refusal(Code.BAD_NOTATION, f"{where}: {clock_ms} ms is out of range; 0 to {MAX_CLOCK_MS}")


def _check_outcome(by_rule: Outcome | None, outcome: Outcome | None) -> None:
    if by_rule is not None and outcome != by_rule:
        found = "none" if outcome is None else f"{result_of(outcome)}, {outcome.reason}"
        raise Refusal(
            Code.BAD_NOTATION,
            f"the moves end the game ({result_of(by_rule)}, {by_rule.reason}); the record says {found}",
        )
    if outcome is None or by_rule is not None:
        return
    if outcome.reason not in _IN_A_MATCH:
        raise Refusal(Code.BAD_NOTATION, f"reason {outcome.reason}, but the moves do not end the game")
    if outcome.reason not in _WITH_OR_WITHOUT and (outcome.winner is None) != (outcome.reason in _WITHOUT_WINNER):
        raise Refusal(Code.BAD_NOTATION, f"result {result_of(outcome)} does not go with reason {outcome.reason}")


def result_of(outcome: Outcome | None) -> str:
    """Return the result as text: `1-0`, `0-1`, `1/2-1/2`, `-` after an abort, `*` while it is live."""
    if outcome is None:
        return "*"
    if outcome.winner is None:
        return "-" if outcome.reason is Reason.ABORT else "1/2-1/2"
    return ("1-0", "0-1")[outcome.winner]


MAX_RECORD_LENGTH = 200_000
"""The longest text that is read as one record."""
_MAX_LINE = 1000
_SHOWN = 40

_TAGS = ("Game", "Event", "Date", "First", "First-bot", "Second", "Second-bot", "Time", "Start", "Result", "Reason")
_TAG = re.compile(r"\s*([A-Za-z][A-Za-z-]{0,19})\s*:(?:\s+(.*?))?\s*")
_TOKEN = re.compile(r"\s*(?:\[([^\]]*)\]|\{([^}]*)\}|([0-9]{1,5})\.(?=\s|$)|([^\s\[\]{}]+))", re.ASCII)
_CLOCK = re.compile(r"(?:([0-9]{1,3}):(?=[0-9]{1,2}:))?(?:([0-9]{1,4}):)?([0-9]{1,6})(?:\.([0-9]{1,3}))?", re.ASCII)
_TIME = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,3}))?\s*\+\s*([0-9]{1,6})(?:\.([0-9]{1,3}))?", re.ASCII)
_TIME_PER_MOVE = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,3}))?\s*/\s*move", re.ASCII)
_RESULTS = {"1-0": 0, "0-1": 1, "1/2-1/2": None, "-": None}
_UNFINISHED = "*"


def write_record(record: Record) -> str:
    """Return the record as text; `read_record` gives an equal record back."""
    first, second = record.players
    game = find_game(record.game)
    return record_text(
        game=record.game,
        event=record.event,
        date=record.date,
        players=((first.name, first.bot), (second.name, second.bot)),
        time=record.time,
        start=record.start,
        result=result_of(record.outcome),
        reason=record.outcome and str(record.outcome.reason),
        moves=((write_move(game, made.move), made.clock_ms, made.comment) for made in record.moves),
    )


def record_text(
    *,
    game: str,
    event: str | None,
    date: datetime.date | None,
    players: tuple[tuple[str, str | None], tuple[str, str | None]],
    time: TimeLimit | None,
    start: str | None,
    result: str,
    reason: str | None,
    moves: Iterable[tuple[str, int | None, str]],
) -> str:
    """Return the text of a record from its parts: players as name and bot mark, moves as name, clock and comment.

    Nothing is validated, so that matches with unknown rules can be written too.
    """
    (first, first_bot), (second, second_bot) = players
    day, limit = date and date.isoformat(), time and write_time(time)
    values = (game, event, day, first, first_bot, second, second_bot, limit, start, result, reason)
    tags = [f"{tag}: {value}\n" for tag, value in zip(_TAGS, values, strict=True) if value is not None]
    lines = [_move_line(number, *made) for number, made in enumerate(moves, start=1)]
    return "".join((*tags, "\n", *lines)) if lines else "".join(tags)


def _move_line(number: int, name: str, clock_ms: int | None, comment: str) -> str:
    clock = f" [{write_clock(clock_ms)}]" if clock_ms is not None else ""
    said = f" {{{comment}}}" if comment else ""
    return f"{number}. {name}{clock}{said}\n"


def _seconds(ms: int) -> str:
    return f"{ms // 1000}.{ms % 1000:03}".rstrip("0").rstrip(".")


def write_clock(ms: int) -> str:
    """Return a time as `h:mm:ss.mmm`, without hours or thousandths if they are zero."""
    hours, rest = divmod(ms, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds = f"{rest // 1000:02}" + (f".{rest % 1000:03}" if rest % 1000 else "")
    return f"{hours}:{minutes:02}:{seconds}" if hours else f"{minutes}:{seconds}"


def read_record(text: str) -> Record:
    """Return the one match in `text`. Raises `Refusal` if it is no record, with place and reason."""
    records = read_records(text)
    if len(records) != 1:
        raise Refusal(Code.BAD_NOTATION, f"{len(records)} records, and one was expected")
    return records[0]


def read_records(text: str) -> list[Record]:
    """Return the matches in `text`, in order. Raises `Refusal` if one is no record, with place and reason."""
    records = read_each(text)
    for each in records:
        if isinstance(each, Refusal):
            raise each
    return [each for each in records if isinstance(each, Record)]


def read_each(text: str) -> list[Record | Refusal]:
    """Return the matches in `text`, in order, with a refusal in place of each that is not a record."""
    drafts, records = _split(text), list[Record | Refusal]()
    for number, draft in enumerate(drafts, start=1):
        try:
            records.append(draft.refusal or _read_draft(draft))
        except Refusal as error:
            named = error if len(drafts) == 1 else Refusal(Code.BAD_NOTATION, f"record {number}: {error}")
            records.append(named)
    return records


@dataclass
class _Draft:
    tags: dict[str, str]
    body: list[tuple[int, str]]
    length: int = 0
    refusal: Refusal | None = None
    """The fault in its tags, or None."""


def _split(text: str) -> list[_Draft]:
    """Return the tags and the numbered lines of moves of each record."""
    drafts: list[_Draft] = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = _TAG.fullmatch(line[:_MAX_LINE])
        if found is None and not line.strip():
            continue
        tag = found[1].capitalize() if found else ""
        if not drafts or (found and (drafts[-1].body or tag in drafts[-1].tags)):
            drafts.append(_Draft({}, []))
        draft = drafts[-1]
        draft.length += len(line)
        if draft.length > MAX_RECORD_LENGTH:
            sentence = f"line {number}: a record of more than {MAX_RECORD_LENGTH} characters"
            draft.refusal = draft.refusal or Refusal(Code.BAD_NOTATION, sentence)
        elif not found:
            draft.body.append((number, line))
        else:
            draft.tags[tag] = found[2] or ""
            if tag not in _TAGS:
                sentence = f"line {number}: unknown tag {found[1]!r}; tags are {', '.join(_TAGS)}"
                draft.refusal = draft.refusal or Refusal(Code.BAD_NOTATION, sentence)
    return drafts


def _read_draft(draft: _Draft) -> Record:
    tags = {tag: value for tag, value in draft.tags.items() if value}
    for needed in ("Game", "First", "Second"):
        if needed not in tags:
            sentence = (
                f"there is no tag {needed}; a record begins with lines such as 'Game: tictactoe' and 'First: Ann'"
            )
            raise Refusal(Code.BAD_NOTATION, sentence)
    game = find_game(tags["Game"].lower())
    start = write_position(game, read_start(game, tags["Start"])) if "Start" in tags else None
    moves, outcome = _read_moves(game, first_position(game, start), draft.body)
    return Record(
        game=game.name,
        players=(
            RecordedPlayer(tags["First"], tags.get("First-bot")),
            RecordedPlayer(tags["Second"], tags.get("Second-bot")),
        ),
        moves=tuple(moves),
        outcome=_read_outcome(game, tags, outcome),
        event=tags.get("Event"),
        date=_read_date(tags["Date"]) if "Date" in tags else None,
        time=_read_time(tags["Time"]) if "Time" in tags else None,
        start=start,
    )


def _read_moves(game: Game[S], state: S, body: list[tuple[int, str]]) -> tuple[list[RecordedMove], Outcome | None]:
    moves: list[RecordedMove] = []
    for where, kind, text in _tokens(body):
        if kind == "number" and int(text) != len(moves) + 1:
            raise Refusal(Code.BAD_NOTATION, f"line {where}: number {text} before move {len(moves) + 1}")
        if kind == "move":
            try:
                move = read_move(game, state, text)
            except Refusal as error:
                raise Refusal(Code.BAD_NOTATION, f"move {len(moves) + 1}: {error}") from None
            state = game.result(state, move)
            moves.append(RecordedMove(move))
        elif kind in ("clock", "comment"):
            if not moves:
                raise Refusal(Code.BAD_NOTATION, f"line {where}: a {kind} before the first move")
            if kind == "clock":
                moves[-1] = replace(moves[-1], clock_ms=_read_clock(len(moves), text))
            else:
                comment = " ".join((moves[-1].comment, *text.split())).strip()
                moves[-1] = replace(moves[-1], comment=comment)
    return moves, game.outcome(state)


def _tokens(body: list[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    kinds = ("clock", "comment", "number", "move")
    for where, line in body:
        position = 0
        end = len(line.rstrip())
        while position < end:
            found = _TOKEN.match(line, position)
            if found is None:
                strange = line[position:].strip()[:_SHOWN]
                raise Refusal(Code.BAD_NOTATION, f"line {where}: {strange!r} is not closed or not opened")
            yield where, kinds[(found.lastindex or 1) - 1], found[found.lastindex or 1]
            position = found.end()


def _read_clock(number: int, text: str) -> int:
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise Refusal(Code.BAD_NOTATION, f"move {number}: clock {text[:_SHOWN]!r} does not look like 2:58.100")
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[:3])
    return (hours * 3600 + minutes * 60 + seconds) * 1000 + _thousandths(found[4])


def write_time(time: TimeLimit) -> str:
    """Return a time control as `180+2` or `10/move`, in seconds."""
    initial = _seconds(time.initial_ms)
    return f"{initial}/move" if time.per_move else f"{initial}+{_seconds(time.increment_ms)}"


def _read_time(text: str) -> TimeLimit:
    per_move = _TIME_PER_MOVE.fullmatch(text)
    if per_move is not None:
        return TimeLimit(int(per_move[1]) * 1000 + _thousandths(per_move[2]), 0, per_move=True)
    found = _TIME.fullmatch(text)
    if found is None:
        raise Refusal(Code.BAD_NOTATION, f"time {text[:_SHOWN]!r} does not look like 180+2 or 10/move, in seconds")
    initial_ms = int(found[1]) * 1000 + _thousandths(found[2])
    return TimeLimit(initial_ms, int(found[3]) * 1000 + _thousandths(found[4]))


def _thousandths(digits: str | None) -> int:
    return int((digits or "").ljust(3, "0"))


def _read_date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise Refusal(Code.BAD_NOTATION, f"date {text[:_SHOWN]!r} does not look like 2026-11-21") from None


def _read_outcome(game: Game[Any], tags: dict[str, str], by_rule: Outcome | None) -> Outcome | None:
    """Return the outcome that the tags name; without them, the one that the moves led to."""
    result, word = tags.get("Result"), tags.get("Reason")
    if result is None and word is None:
        return by_rule
    if result == _UNFINISHED and word is None:
        return None
    if result not in _RESULTS:
        raise Refusal(Code.BAD_NOTATION, f"result {result!r}; results are {', '.join(_RESULTS)} and {_UNFINISHED}")
    reasons = (*Reason, *game.face.endings)
    if word is None or word.lower() not in reasons:
        raise Refusal(Code.BAD_NOTATION, f"reason {word!r}; reasons are {', '.join(reasons)}")
    outcome = Outcome(_RESULTS[result], reason_of(word.lower()))
    if result != result_of(outcome):
        raise Refusal(Code.BAD_NOTATION, f"result {result} does not go with reason {outcome.reason}")
    return outcome
