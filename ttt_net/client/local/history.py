"""List the matches that were played at this keyboard, from the file that keeps them."""

import json

from ttt_net.client.records import records_file
from ttt_net.errors import ConfigurationError
from ttt_net.games.records import Record, read_each, result_of
from ttt_net.programs import VERBS
from ttt_net.text import clean, counted, name_key

PAGE = 20
_MAX_NAME_CELLS = 20


def lines_of(name: str, page: int, *, is_json: bool) -> list[str]:
    """Return a page of the list, the newest match first, each with the number that chooses it for `replay local`.

    With a name, only the matches of a player who is called so. Raises `ConfigurationError` if the file cannot be read.
    """
    kept = [(number, each) for number, each in enumerate(_kept(), start=1) if isinstance(each, Record)]
    matches = [(number, each) for number, each in kept if not name or _plays(name, each)]
    shown = matches[::-1][PAGE * (page - 1) : PAGE * page]
    if is_json:
        return [json.dumps(_as_json(number, record), separators=(",", ":")) for number, record in shown]
    if not shown:
        return ["There is no such match." if kept else "No match was played to its end at this keyboard yet."]
    pages = -(-len(matches) // PAGE)
    last = f"{VERBS} replay local --number N steps through one of them; this is page {page} of {pages}."
    return [*(_line(number, record) for number, record in shown), last]


def _plays(name: str, record: Record) -> bool:
    return name_key(name) in (name_key(player.name) for player in record.players)


def _kept() -> list[object]:
    try:
        return [*read_each(records_file().read_text(encoding="utf-8", errors="replace"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigurationError(f"cannot read {records_file()}: {error.strerror}") from None


def _line(number: int, record: Record) -> str:
    first, second = (clean(player.name, _MAX_NAME_CELLS) for player in record.players)
    date = record.date.isoformat() if record.date is not None else "-"
    reason = f" ({record.outcome.reason})" if record.outcome is not None else ""
    result = f"{first} {result_of(record.outcome)} {second}{reason}"
    return f"{number:>4}  {date}  {record.game}: {result}, {counted(len(record.moves), 'move')}"


def _as_json(number: int, record: Record) -> dict[str, object]:
    return {
        "type": "local",
        "number": number,
        "date": record.date and record.date.isoformat(),
        "game": record.game,
        "players": [player.name for player in record.players],
        "result": result_of(record.outcome),
        "reason": record.outcome and record.outcome.reason.value,
        "plies": len(record.moves),
    }
