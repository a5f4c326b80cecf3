"""The journal as the server sees it: each call is a job for the database, and is answered on the event loop."""

import sqlite3
from collections.abc import Callable, Sequence

from ttt_net.errors import Refusal
from ttt_net.messages import Ended, MatchEvent, ServerMessage, Started
from ttt_net.pairing.lobby import Invitation
from ttt_net.server.journal.database import Database, StorageError
from ttt_net.server.journal.invitations import keep_invitation, read_invitations
from ttt_net.server.journal.matches import StoredMatch, append_fact, append_facts, read_match
from ttt_net.server.journal.players import (
    Player,
    PlayerId,
    find_player,
    forget_idle_player,
    note_guest,
    register_player,
    rename_player,
)
from ttt_net.server.journal.rating import Changes

Question = Callable[[sqlite3.Connection], ServerMessage]
"""What is read to answer a question; it raises `Refusal` where there is no answer."""


class Journal:
    """The append-only list of facts of each match. Every call answers through `done`, on the event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(
        self,
        facts: Sequence[MatchEvent],
        done: Callable[[StorageError | Changes | None], None],
        seats: tuple[PlayerId, PlayerId] | None = None,
    ) -> None:
        """Write the facts down, all or none. A fact that is not the next of its match is refused.

        `seats` are needed with the first fact of a match. In the same transaction an invitation is spent with the
        start of its match, and with the end of a rated one the ratings of both change; `done` gets how.
        """
        is_plain = len(facts) == 1 and not isinstance(facts[0], Started | Ended)
        self._database.submit_alike(append_facts, (facts, seats), done, append_fact if is_plain else None)

    def read(self, match: str, done: Callable[[StoredMatch | StorageError | None], None]) -> None:
        """Read a match; None if there is none of that id."""
        self._database.submit(lambda connection: read_match(connection, match), done)

    def register(
        self,
        name: str,
        token: str,
        bot: str | None,
        now_ms: int,
        done: Callable[[Player | Refusal | StorageError], None],
        *,
        is_guest: bool = False,
    ) -> None:
        """Make a new player of that name, known from now on by the token; a bot has a label.

        Whom the token belongs to already is not made again: his client has said the same twice.
        """
        self._database.submit(
            lambda connection: register_player(connection, name, token, bot, now_ms, is_guest=is_guest), done
        )

    def find(
        self, token: str, bot: str | None, now_ms: int, done: Callable[[Player | StorageError | None], None]
    ) -> None:
        """Find the player that the token belongs to, None if it is unknown; a bot comes with its label."""
        self._database.submit(lambda connection: find_player(connection, token, bot, now_ms), done)

    def rename(self, player: PlayerId, name: str, done: Callable[[Refusal | StorageError | None], None]) -> None:
        """Call the player by another name from now on, in all his matches too."""
        self._database.submit(lambda connection: rename_player(connection, player, name), done)

    def forget(self, player: PlayerId, done: Callable[[Refusal | StorageError | None], None]) -> None:
        """Delete the player's name, token and ratings, unless a match of his goes on; only his number is kept."""
        self._database.submit(lambda connection: forget_idle_player(connection, player), done)

    def seen(self, guest: PlayerId, now_ms: int) -> None:
        """Write down that a guest is here, unless that was done a while ago; nobody waits for it."""
        self._database.submit(lambda connection: note_guest(connection, guest, now_ms), lambda _: None)

    def invite(self, invitation: Invitation, now_ms: int, done: Callable[[StorageError | None], None]) -> None:
        """Write an invitation down, in place of the player's last."""
        self._database.submit(lambda connection: keep_invitation(connection, invitation, now_ms), done)

    def invitations(self, now_ms: int, done: Callable[[list[Invitation] | StorageError], None]) -> None:
        """Read the invitations that are good still."""
        self._database.submit(lambda connection: read_invitations(connection, now_ms), done)

    def look_up(self, question: Question, done: Callable[[ServerMessage | Refusal | StorageError], None]) -> None:
        """Let the journal's thread answer a question."""

        def work(connection: sqlite3.Connection) -> ServerMessage | Refusal:
            try:
                return question(connection)
            except Refusal as refusal:
                return refusal

        self._database.submit(work, done)
