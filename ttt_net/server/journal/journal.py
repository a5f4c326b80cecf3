"""The journal as the server sees it: each call is answered later, on the event loop, by one of two callbacks."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from ttt_net.errors import Code, Refusal
from ttt_net.messages import Ended, MatchEvent, ServerMessage, Started
from ttt_net.pairing.lobby import Invitation
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.invitations import keep_invitation, read_invitations
from ttt_net.server.journal.matches import StoredMatch, append_fact, append_facts, read_match
from ttt_net.server.journal.players import (
    find_player,
    forget_idle_player,
    note_guest,
    register_player,
    rename_player,
)
from ttt_net.server.journal.queries import PastQuery, answer
from ttt_net.server.journal.rating import Changes
from ttt_net.server.players import Player, PlayerId

Failed = Callable[[Refusal], None]
"""What is called instead of `done` if nothing has changed: the request was refused, or the disk failed."""


class Journal:
    """The append-only list of events of each match, and the players.

    Every call is answered by `done` or by `failed`, on the event loop, in the order of the calls.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(
        self,
        events: Sequence[MatchEvent],
        done: Callable[[Changes | None], None],
        failed: Failed,
        seats: tuple[PlayerId, PlayerId] | None = None,
    ) -> None:
        """Append events to their matches, all or none. An event that is not the next of its match is refused.

        `seats` are needed with the first event of a match. In the same transaction an invitation is spent with the
        start of its match, and with the end of a rated one the ratings of both change; `done` gets how.
        """
        is_plain = len(events) == 1 and not isinstance(events[0], Started | Ended)
        self._database.submit_alike(
            append_facts, (events, seats), _either(done, failed), append_fact if is_plain else None
        )

    def read(self, match: str, done: Callable[[StoredMatch], None], failed: Failed) -> None:
        """Read a match; an id that no match has is refused with `UNKNOWN_MATCH`."""

        def work(connection: sqlite3.Connection) -> StoredMatch | Refusal:
            found = read_match(connection, match)
            return found or Refusal(Code.UNKNOWN_MATCH, f"there is no match {match}")

        self._submit(work, done, failed)

    def register(
        self,
        name: str,
        token: str,
        bot: str | None,
        now_ms: int,
        done: Callable[[Player], None],
        failed: Failed,
        *,
        is_guest: bool = False,
    ) -> None:
        """Register a new player of that name, known from now on by the token; a bot has a label.

        The player that the token belongs to already is not made again: their client has said the same twice.
        """
        self._submit(
            lambda connection: register_player(connection, name, token, bot, now_ms, is_guest=is_guest), done, failed
        )

    def find(
        self, token: str, bot: str | None, now_ms: int, done: Callable[[Player | None], None], failed: Failed
    ) -> None:
        """Find the player that the token belongs to, None if it is unknown; a bot comes with its label."""
        self._submit(lambda connection: find_player(connection, token, bot, now_ms), done, failed)

    def rename(self, player: PlayerId, name: str, done: Callable[[], None], failed: Failed) -> None:
        """Give the player another name from now on, in all their matches too."""
        self._submit(lambda connection: rename_player(connection, player, name), lambda _: done(), failed)

    def forget(self, player: PlayerId, done: Callable[[], None], failed: Failed) -> None:
        """Delete the player's name, token and ratings, unless a match of theirs goes on; only the number is kept."""
        self._submit(lambda connection: forget_idle_player(connection, player), lambda _: done(), failed)

    def seen(self, guest: PlayerId, now_ms: int) -> None:
        """Note that a guest is here, unless that was done a while ago; nobody waits for it."""
        self._database.submit(lambda connection: note_guest(connection, guest, now_ms), lambda _: None)

    def invite(self, invitation: Invitation, now_ms: int, done: Callable[[], None], failed: Failed) -> None:
        """Keep an invitation, in place of the player's last."""
        self._submit(lambda connection: keep_invitation(connection, invitation, now_ms), lambda _: done(), failed)

    def invitations(self, now_ms: int, done: Callable[[list[Invitation]], None], failed: Failed) -> None:
        """Read the invitations that are good still."""
        self._submit(lambda connection: read_invitations(connection, now_ms), done, failed)

    def ask(self, query: PastQuery, done: Callable[[ServerMessage], None], failed: Failed) -> None:
        """Answer a query about the past."""

        def work(connection: sqlite3.Connection) -> ServerMessage | Refusal:
            try:
                return answer(connection, query)
            except Refusal as refusal:
                return refusal

        self._submit(work, done, failed)

    def _submit(self, work: Callable[[sqlite3.Connection], Any], done: Callable[[Any], None], failed: Failed) -> None:
        self._database.submit(work, _either(done, failed))


def _either(done: Callable[[Any], None], failed: Failed) -> Callable[[Any], None]:
    return lambda result: failed(result) if isinstance(result, Refusal) else done(result)
