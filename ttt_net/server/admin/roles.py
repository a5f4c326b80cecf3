"""Two roles: the host may do all; moderators mute, kick, ban for a time, and handle reports.

A moderator is known by a token of their own, of which a hash is kept in the journal.
"""

import base64
import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admission.sanctions import HOST, network_to_ban
from ttt_net.server.journal import token_hash
from ttt_net.server.journal.entries import AppointModerator, AuditNote, DismissModerator
from ttt_net.server.journal.queries import Moderator
from ttt_net.server.services import Services
from ttt_net.text import clean, counted, name_key

log = logging.getLogger(__name__)

MOST_DAYS = 30
"""For how long at most a moderator may ban or mute; for longer, the host."""
_DAY_S = 86_400
_TOKEN_BYTES = 32
_RETRY_S = 5.0
"""When moderators that could not be read are read again."""
_MAX_NAME_CELLS = 20


class Admin(NamedTuple):
    """One who asks for something of the admin's listener."""

    name: str
    """`HOST`, or the name of a moderator."""

    @property
    def is_host(self) -> bool:
        """Whether they may do all."""
        return self.name == HOST


THE_HOST = Admin(HOST)


def check_allowed(admin: Admin, asked: protocol.AnyAdminRequest) -> None:
    """Raise `Refusal` if an admin may not ask for that."""
    if admin.is_host:
        return
    match asked:
        case protocol.Ban() | protocol.MutePlayer():
            if network_to_ban(asked.whom) is not None:
                raise Refusal(Code.BAD_MESSAGE, "only the host bans and mutes networks; name a player, --with-address")
            _check_time(asked.for_s)
        case protocol.SettleReport():
            if asked.act in ("ban", "mute"):
                _check_time(asked.for_s)
        case (
            protocol.Kick()
            | protocol.Unban()
            | protocol.Unmute()
            | protocol.Bans()
            | protocol.ListPlayers()
            | protocol.ListReports()
            | protocol.ShowReport()
        ):
            pass
        case _:
            raise Refusal(Code.BAD_MESSAGE, "only the host may do that")


def _check_time(for_s: int | None) -> None:
    if for_s is None or for_s > MOST_DAYS * _DAY_S:
        raise Refusal(Code.BAD_MESSAGE, f"a moderator says for how long: --for, at most {MOST_DAYS}d")


class Moderators:
    """The moderators, as the journal has them."""

    def __init__(self, services: Services, dismissed: Callable[[str], int]) -> None:
        """Read them; `dismissed` closes the connections of one by the key of their name, and returns how many."""
        self._services = services
        self._dismissed = dismissed
        self._by_token: dict[bytes, Moderator] = {}
        self._read()

    def _read(self) -> None:
        def done(found: list[Moderator]) -> None:
            self._by_token = {each.token_hash: each for each in found}

        def failed(refusal: Refusal) -> None:
            log.error("moderators are not let in: %s", protocol.reason_of(refusal))
            self._services.loop.call_later(_RETRY_S, self._read)

        self._services.journal.moderators(done, failed)

    def hear(self, entry: AppointModerator | DismissModerator) -> None:
        """Take note of what the host has done on another node of the cluster."""
        if isinstance(entry, AppointModerator):
            self._by_token[entry.token_hash] = Moderator(entry.name, entry.token_hash, entry.note.at_ms)
        else:
            self._remove(entry.name_key)

    def _remove(self, key: str) -> int:
        """Let a moderator in no more; return how many connections of theirs were closed."""
        self._by_token = {token: each for token, each in self._by_token.items() if name_key(each.name) != key}
        return self._dismissed(key)

    def find(self, token: str) -> Admin | None:
        """Return the moderator whose token it is; None if it is nobody's."""
        found = self._by_token.get(token_hash(token))
        return None if found is None else Admin(found.name)

    def rows(self) -> protocol.ModeratorRows:
        """Return who moderates."""
        return protocol.ModeratorRows(
            [protocol.ModeratorRow(each.name, each.since_ms) for each in self._by_token.values()]
        )

    def appoint(self, asked: protocol.AddModerator, answer: protocol.ReplyTo) -> None:
        """Let somebody moderate from now on. Raises `Refusal` if the name tells nobody apart."""
        name = clean(asked.name, _MAX_NAME_CELLS)
        if not name or name_key(name) == HOST:
            raise Refusal(Code.BAD_NAME, f"{asked.name!r} cannot be the name of a moderator")
        token = base64.urlsafe_b64encode(self._services.rng.randbytes(_TOKEN_BYTES)).rstrip(b"=").decode()
        now_ms = self._services.wall_ms()

        def done() -> None:
            log.warning("admin: appoint")
            self._by_token[token_hash(token)] = Moderator(name, token_hash(token), now_ms)
            answer(protocol.Done(token))

        note = AuditNote(now_ms, "appoint", name)
        self._services.journal.appoint(name, token, note, done, partial(protocol.fail, answer))

    def dismiss(self, asked: protocol.RemoveModerator, answer: protocol.ReplyTo) -> None:
        """Let a moderator do nothing any more; what they did stays."""
        name = clean(asked.name, _MAX_NAME_CELLS)

        def done() -> None:
            log.warning("admin: dismiss")
            closed = self._remove(name_key(name))
            also = f"; {counted(closed, 'connection')} closed" if closed else ""
            answer(protocol.Done(f"{name} moderates no more{also}"))

        note = AuditNote(self._services.wall_ms(), "dismiss", name)
        self._services.journal.dismiss(name, note, done, partial(protocol.fail, answer))
