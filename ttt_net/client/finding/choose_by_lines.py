"""Ask a person line by line where to go, after a search of two seconds."""

from collections.abc import Callable

from ttt_net.client.finding.address import DEFAULT_URL, Alone, Go, Place
from ttt_net.client.finding.server_list import MAX_LEVEL, Destination, ServerList, explanation, read_place
from ttt_net.client.finding.server_search import search_for_a_moment
from ttt_net.errors import ConfigurationError
from ttt_net.text import clean


def choose_by_lines(
    ask: Callable[[str], str],
    write: Callable[[str], None],
    search: Callable[[], ServerList] = search_for_a_moment,
) -> Place:
    """Search for two seconds, print what there is with numbers, and return what was chosen.

    Raises `EOFError`, by `ask`, if there is nobody to answer.
    """
    write("Looking for servers on this network, for two seconds ...")
    servers = search()
    for line in server_lines(servers):
        write(line)
    rows = numbered(servers)
    while True:
        answer = ask("A number, an address or a code, or Enter for 1: ").strip() or "1"
        try:
            if not (answer.isdecimal() and answer.isascii()):
                return read_place(servers, answer)
            if not 1 <= int(answer) <= len(rows):
                raise ConfigurationError(f"{clean(answer, 10)} is none of the numbers, 1 to {len(rows)}")
            row = rows[int(answer) - 1]
            if isinstance(row.does, Alone):
                return Alone(_level(ask, servers.level))
            return row.does or Go(row.url or DEFAULT_URL)
        except ConfigurationError as error:
            write(f"{error}.")


def _level(ask: Callable[[str], str], default: int) -> int:
    while True:
        answer = ask(f"Level, 1 to {MAX_LEVEL} [{default}]: ").strip() or str(default)
        if answer.isdecimal() and answer.isascii() and 1 <= int(answer) <= MAX_LEVEL:
            return int(answer)


def numbered(servers: ServerList) -> list[Destination]:
    """Return the destinations that have a number where there are only lines: all but the one for typing."""
    return [each for each in servers.destinations if each.url is not None or each.does is not None]


def server_lines(servers: ServerList) -> list[str]:
    """Return the list where there are only lines: each destination with the number that chooses it."""
    lines = [] if servers.has_found else explanation(servers)
    for number, each in enumerate(numbered(servers), start=1):
        lines.append(f"{number}. {each.name}, {each.detail.replace('  ', ', ')}")
    return lines
