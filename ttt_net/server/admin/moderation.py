"""Kick, ban and mute players, settle reports, and keep the list of moderators.

The host may do everything. A moderator has a personal token, of which the journal keeps a hash, and may ban or mute
players for a limited time. The players receive what happened, why, and until when.
"""

import base64
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ttt_net.errors import Closing, Code, Refusal
from ttt_net.messages import ReportReason
from ttt_net.server.admin import protocol
from ttt_net.server.admin.protocol import ReplyTo
from ttt_net.server.admission.sanctions import HOST, Act, Sanction, network_to_ban, of_player, until
from ttt_net.server.journal import token_hash
from ttt_net.server.journal.entries import AppointModerator, AuditNote, CloseReports, DismissModerator
from ttt_net.server.journal.queries import Moderator, PlayerReport
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.services import Services
from ttt_net.text import clean, counted, name_key

log = logging.getLogger(__name__)

MOST_DAYS = 30
"""The longest ban or mute by a moderator, in days; only the host imposes longer ones."""
_DAY_S = 86_400
_TOKEN_BYTES = 32
_MAX_NAME_CELLS = 20
RETRY_S = 5.0
"""The wait before sanctions or moderators that could not be read are read again."""
MAX_REPORTS = 200
"""How many reports are listed."""
_VERBS: dict[Act, str] = {"ban": "banned", "mute": "muted"}
_REASONS: dict[ReportReason, str] = {
    "chat": "what you wrote in the chat",
    "name": "your name",
    "cheating": "cheating",
    "other": "what other players report",
}
"""The default reason shown to a player who is banned or muted for a report."""


class Admin(NamedTuple):
    """The sender of admin requests."""

    name: str
    """`HOST`, or the name of a moderator."""

    @property
    def is_host(self) -> bool:
        """Whether they may do everything."""
        return self.name == HOST


THE_HOST = Admin(HOST)


def _check_time(for_s: int | None, admin: Admin) -> None:
    """Raise `Refusal` if a moderator bans or mutes for good, or for too long."""
    if not admin.is_host and (for_s is None or for_s > MOST_DAYS * _DAY_S):
        raise Refusal(Code.BAD_MESSAGE, f"a moderator must give a duration: --for, at most {MOST_DAYS}d")


class Moderators:
    """The moderators, as in the journal."""

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
            self._services.loop.call_later(RETRY_S, self._read)

        self._services.journal.moderators(done, failed)

    def hear(self, entry: AppointModerator | DismissModerator) -> None:
        """Apply the host's appointments and dismissals from another node of the cluster."""
        if isinstance(entry, AppointModerator):
            self._by_token[entry.token_hash] = Moderator(entry.name, entry.token_hash, entry.note.at_ms)
        else:
            self._remove(entry.name_key)

    def _remove(self, key: str) -> int:
        """Remove a moderator; return how many of their connections were closed."""
        self._by_token = {token: each for token, each in self._by_token.items() if name_key(each.name) != key}
        return self._dismissed(key)

    def find(self, token: str) -> Admin | None:
        """Return the moderator with that token; None if there is none."""
        found = self._by_token.get(token_hash(token))
        return None if found is None else Admin(found.name)

    def rows(self) -> protocol.ModeratorRows:
        """Return the moderators."""
        return protocol.ModeratorRows(
            [protocol.ModeratorRow(each.name, each.since_ms) for each in self._by_token.values()]
        )

    def appoint(self, asked: protocol.AddModerator, answer: protocol.ReplyTo) -> None:
        """Appoint a moderator. Raises `Refusal` if the name is empty or the host's."""
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
        """Dismiss a moderator; their acts stay."""
        name = clean(asked.name, _MAX_NAME_CELLS)

        def done() -> None:
            log.warning("admin: dismiss")
            closed = self._remove(name_key(name))
            also = f"; {counted(closed, 'connection')} closed" if closed else ""
            answer(protocol.Done(f"{name} moderates no more{also}"))

        note = AuditNote(self._services.wall_ms(), "dismiss", name)
        self._services.journal.dismiss(name, note, done, partial(protocol.fail, answer))


def load_sanctions(services: Services) -> None:
    """Read the bans and mutes from the journal and put them in force.

    The journal answers this before any later `hello`. If it cannot be read, banned players may enter until it can: this
    is retried, and then closes their connections. Nobody chats meanwhile.
    """

    def done(found: list[Sanction]) -> None:
        services.sanctions.add(found)
        services.sanctions.are_read, services.sanctions.are_missing = True, False
        close_banned(services)

    def failed(refusal: Refusal) -> None:
        log.error("bans and mutes are not in force: %s", protocol.reason_of(refusal))
        services.sanctions.are_missing = True
        services.loop.call_later(RETRY_S, load_sanctions, services)

    services.journal.sanctions(done, failed)


def put_in_force(services: Services, sanctions: Sequence[Sanction]) -> int:
    """Put written sanctions in force; return how many connected players are banned by them.

    The players concerned are notified or disconnected by their own node.
    """
    muted = held_by(services, "mute")
    services.sanctions.impose(sanctions)
    if any(each.act == "ban" for each in sanctions):
        return close_banned(services)
    for session, mute in held_by(services, "mute").items():
        if muted.get(session) != mute and not session.is_elsewhere:
            session.tell(mute.message(services.wall_ms()))
    return 0


def end_sanction(services: Services, act: Act, whom: str, player: PlayerId | None) -> None:
    """End a deleted sanction, and notify the players it held."""
    held = held_by(services, act)
    services.sanctions.lift(act, whom, player)
    still_held = held_by(services, act)
    for session, sanction in held.items():
        if session not in still_held and not session.is_elsewhere:
            session.tell(sanction.message(services.wall_ms(), lifted=True))


def close_banned(services: Services) -> int:
    """Close the connections of banned players; return how many there were on all nodes of a cluster."""
    held = held_by(services, "ban")
    for session, ban in held.items():
        if not session.is_elsewhere:
            session.tell(ban.message(services.wall_ms()))
            session.connection.close(Closing.KICKED, ban.sentence())
    return len(held)


def held_by(services: Services, act: Act) -> dict[Session, Sanction]:
    """Return the connected players who are banned or muted, and the sanctions."""
    found = {
        session: services.sanctions.on(act, session.subject, session.connection.address)
        for session in services.players.sessions.values()
    }
    return {session: each for session, each in found.items() if each}


class _Wanted(NamedTuple):
    """A requested ban or mute of a player."""

    act: Act
    reason: str
    for_s: int | None
    with_address: bool
    admin: Admin


class ModerationCommands:
    """Carries out the requests about players; each answers once, or raises `Refusal` and changes nothing."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._journal = services.journal

    def kick(self, asked: protocol.Kick, admin: Admin) -> protocol.Done:
        """Close a player's connection."""
        key = name_key(asked.name)
        sessions = self._services.players.sessions.values()
        session = next((each for each in sessions if name_key(each.info.name) == key), None)
        if session is None:
            raise Refusal(Code.UNKNOWN_PLAYER, f"nobody called {asked.name} is connected")
        reason = clean(asked.reason, 80)
        session.connection.close(Closing.KICKED, f"the host has sent you away{': ' if reason else ''}{reason}")
        log.warning("admin: kick")
        note = AuditNote(self._services.wall_ms(), "kick", f": {reason}", session.player, admin.name)
        self._journal.note(note)
        return protocol.Done(f"{session.info.name} was sent away")

    # Bans and mutes.

    def impose(self, asked: protocol.Ban | protocol.MutePlayer, admin: Admin, answer: ReplyTo) -> None:
        """Ban or mute a player, with their address if requested, or a network."""
        act: Act = "ban" if isinstance(asked, protocol.Ban) else "mute"
        wanted = _Wanted(act, asked.reason, asked.for_s, asked.with_address, admin)
        network = network_to_ban(asked.whom)
        if network is not None and not admin.is_host:
            raise Refusal(Code.BAD_MESSAGE, "only the host bans and mutes networks; name a player, --with-address")
        _check_time(asked.for_s, admin)
        if network is None:
            done = partial(self._impose_on_player, wanted, answer, lambda text: answer(protocol.Done(text)))
            self._journal.player_named(asked.whom.removeprefix("name:"), done, partial(protocol.fail, answer))
        elif asked.with_address:
            raise Refusal(Code.BAD_MESSAGE, "--with-address goes with the name of a player; this is an address")
        else:
            sanction = self._sanction(wanted, network, network, None)
            self._impose(wanted, [sanction], answer, lambda text: answer(protocol.Done(text)))

    def _impose_on_player(
        self, wanted: _Wanted, answer: ReplyTo, then: Callable[[str], None], player: tuple[PlayerId, str]
    ) -> None:
        """Impose a sanction on a player. `then` gets a sentence that confirms it, `answer` the reason for a failure."""
        number, name = player
        own = self._sanction(wanted, of_player(number), name, number)

        def with_address(key: str | None) -> None:
            if key is None:
                sentence = f"no address is known for {name}; leave out --with-address"
                answer(protocol.Failed(sentence))
            else:
                self._impose(wanted, [own, own._replace(whom=key)], answer, then)

        online = self._services.players.get(number)
        if not wanted.with_address:
            self._impose(wanted, [own], answer, then)
        elif online is None:
            self._journal.reported_address(number, with_address, partial(protocol.fail, answer))
        elif online.connection.metered_as is None:
            sentence = f"{name} comes from an address that many may share (limits.unmetered); leave out --with-address"
            answer(protocol.Failed(sentence))
        else:
            with_address(self._services.sanctions.key_of_address(online.connection.address))

    def _sanction(self, wanted: _Wanted, whom: str, shown: str, player: PlayerId | None) -> Sanction:
        now_ms = self._services.wall_ms()
        until_ms = None if wanted.for_s is None else now_ms + wanted.for_s * 1000
        reason = clean(wanted.reason, 80)
        return Sanction(wanted.act, whom, shown, reason, now_ms, until_ms, player, wanted.admin.name)

    def _impose(self, wanted: _Wanted, sanctions: list[Sanction], answer: ReplyTo, then: Callable[[str], None]) -> None:
        """Store the sanctions and their note in one transaction, then put them in force and notify the players."""
        first, services = sanctions[0], self._services
        if not wanted.admin.is_host and self._is_hosts(first):
            answer(protocol.Failed(f"the host has {_VERBS[first.act]} {first.shown} already"))
            return
        also = " with their address" if len(sanctions) > 1 else ""
        rest = f"{also} {until(first.until_ms)}: {first.reason}"
        note = _note_about(first, first.since_ms, first.act, rest, wanted.admin)

        def done() -> None:
            log.warning("admin: %s", first.act)  # the audit log names the player
            closed = put_in_force(services, sanctions)
            told = f"; {counted(closed, 'connection')} closed" if closed else ""
            then(f"{first.shown} is {_VERBS[first.act]}{also} {until(first.until_ms)}{told}")

        self._journal.impose(sanctions, note, done, partial(protocol.fail, answer))

    def _is_hosts(self, wanted: Sanction) -> bool:
        """Tell whether the host has already imposed such a sanction, which moderators cannot change."""
        return any(
            (each.act, each.player, each.by) == (wanted.act, wanted.player, HOST)
            for each in self._services.sanctions.in_force()
        )

    def lift(self, asked: protocol.Unban | protocol.Unmute, admin: Admin, answer: ReplyTo) -> None:
        """End a ban or mute. Raises `Refusal` if there is none, or if a moderator may not end it."""
        act: Act = "ban" if isinstance(asked, protocol.Unban) else "mute"
        found = self._found(act, asked.whom)
        if found is None:
            raise Refusal(Code.UNKNOWN_PLAYER, f"{asked.whom} is not {_VERBS[act]}; bans lists who is")
        if not admin.is_host and found.by == HOST:
            raise Refusal(Code.BAD_MESSAGE, f"the host has {_VERBS[act]} {found.shown}; only the host ends that")
        services = self._services
        note = _note_about(found, services.wall_ms(), f"un{act}", "", admin)

        def done() -> None:
            log.warning("admin: %s", note.act)
            end_sanction(services, act, found.whom, found.player)
            answer(protocol.Done(f"{found.shown} is no longer {_VERBS[act]}"))

        self._journal.lift(found, note, done, partial(protocol.fail, answer))

    def _found(self, act: Act, whom: str) -> Sanction | None:
        """Return the sanction of a network, of a player by name, or of a deleted player by a number after `#`."""
        name = whom.removeprefix("name:")
        number = int(name[1:]) if name.startswith("#") and name[1:].isdecimal() else None
        network = network_to_ban(whom)
        key = name_key(name)
        for each in self._services.sanctions.in_force():
            is_it = (
                each.whom == network
                if network
                else each.player == number
                if number is not None
                else name_key(each.shown) == key
            )
            if each.act == act and is_it:
                return each
        return None

    def bans(self, admin: Admin) -> protocol.SanctionRows:
        """Return the bans and mutes; moderators see no addresses."""
        return protocol.SanctionRows([_row(each, admin) for each in self._services.sanctions.in_force()])

    # Reports.

    def reports(self, asked: protocol.ListReports, answer: ReplyTo) -> None:
        """Answer with the reports, the open ones first."""

        def done(found: list[PlayerReport]) -> None:
            answer(protocol.PlayerReportRows([_report_row(each) for each in found]))

        self._journal.reports(done, partial(protocol.fail, answer), has_closed=asked.closed, most=MAX_REPORTS)

    def show(self, asked: protocol.ShowReport, admin: Admin, answer: ReplyTo) -> None:
        """Reply with one report and its chat, and note who has read it."""

        def done(found: PlayerReport) -> None:
            what = f": report {found.number}"
            note = AuditNote(self._services.wall_ms(), "read", what, found.player, admin.name)
            self._journal.note(note)
            lines = [protocol.SpokenRow(*each) for each in found.lines]
            rows = [_row(each, admin) for each in self._services.sanctions.in_force() if each.player == found.player]
            answer(protocol.PlayerReportDetail(_report_row(found), lines, rows))

        self._journal.read_report(asked.number, done, partial(protocol.fail, answer))

    def close(self, asked: protocol.SettleReport, admin: Admin, answer: ReplyTo) -> None:
        """Impose the sanction on the player, if there is one, then close the report with the finding."""
        if asked.act in ("ban", "mute"):
            _check_time(asked.for_s, admin)

        def done(found: PlayerReport) -> None:
            if found.closed_ms is not None:
                answer(protocol.Failed(f"report {found.number} was closed by {found.closed_by} already"))
            elif asked.act is None:
                self._close(asked, admin, found, answer, "")
            elif asked.act == "kick":
                try:
                    kicked = self.kick(protocol.Kick(found.reported, asked.reason or _REASONS[found.reason]), admin)
                except Refusal as refusal:
                    protocol.fail(answer, refusal)
                else:
                    self._close(asked, admin, found, answer, kicked.text)
            else:
                reason = asked.reason or _REASONS[found.reason]
                wanted = _Wanted(asked.act, reason, asked.for_s, asked.with_address, admin)
                then = partial(self._close, asked, admin, found, answer)
                self._impose_on_player(wanted, answer, then, (found.player, found.reported))

        self._journal.read_report(asked.number, done, partial(protocol.fail, answer))

    def close_all(self, asked: protocol.SettleReports, admin: Admin, answer: ReplyTo) -> None:
        """Close all open reports of a player, or by one, with the finding."""
        text = clean(asked.text, 200)

        def found(player: tuple[PlayerId, str]) -> None:
            number, name = player
            what = f": all open reports {'by' if asked.by else 'of'} them{', ' if text else ''}{text}"
            note = AuditNote(self._services.wall_ms(), "close", what, number, admin.name)

            def done(numbers: list[int]) -> None:
                log.warning("admin: close")
                answer(protocol.Done(f"{counted(len(numbers), 'report')} {'by' if asked.by else 'of'} {name} closed"))

            entry = CloseReports(number, asked.by, text, note)
            self._journal.close_reports(entry, done, partial(protocol.fail, answer))

        self._journal.player_named(asked.name.removeprefix("name:"), found, partial(protocol.fail, answer))

    def _close(
        self, asked: protocol.SettleReport, admin: Admin, found: PlayerReport, answer: ReplyTo, did: str
    ) -> None:
        text = clean(asked.text, 200)
        what = f": report {found.number}{', ' if text else ''}{text}"
        note = AuditNote(self._services.wall_ms(), "close", what, found.player, admin.name)

        def done() -> None:
            log.warning("admin: close")
            answer(protocol.Done(f"{did}{'; ' if did else ''}report {found.number} is closed"))

        self._journal.close_report(found.number, text, note, done, partial(protocol.fail, answer))


def _note_about(sanction: Sanction, at_ms: int, act: str, rest: str, admin: Admin) -> AuditNote:
    """Return a note that names a network, but not a player: they may be forgotten."""
    what = rest if sanction.player else f"{sanction.shown}{rest}"
    return AuditNote(at_ms, act, what, sanction.player, admin.name)


def _row(each: Sanction, admin: Admin) -> protocol.SanctionRow:
    whom = each.title if admin.is_host or each.player is not None else "a network"
    return protocol.SanctionRow(each.act, whom, each.reason, each.since_ms, each.until_ms, each.by)


def _report_row(report: PlayerReport) -> protocol.PlayerReportRow:
    return msgspec.convert(report._asdict(), protocol.PlayerReportRow)
