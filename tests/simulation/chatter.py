"""Chats of a simulated world: messages of muted players never arrive, and all others arrive once."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.simulation.server import hears
from ttt_net import messages as wire
from ttt_net.server.admission.sanctions import of_player
from ttt_net.server.journal import token_hash

if TYPE_CHECKING:
    from tests.simulation.peer import Peer
    from tests.simulation.stage import Stage


class Chatter:
    """Knows who is muted, as it is written down, and lets everybody speak at last."""

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage
        self.mutes: dict[str, tuple[float, int]] = {}
        """Muted players, as sanctions name them: since when that is known, and until when."""

    def note_mutes(self) -> None:
        """Take note of who is muted by now, as it is written down."""
        rows = self._stage.truth.execute("SELECT whom, until_ms FROM sanctions WHERE act = 'mute'").fetchall()
        before, now_s = self.mutes, self._stage.loop.time()
        self.mutes = {
            whom: (before[whom][0] if before.get(whom, (0, 0))[1] == until_ms else now_s, until_ms)
            for whom, until_ms in rows
        }

    def keys_of(self, token: str | None, address: str) -> list[str]:
        """Return all that a sanction of a player may go by."""
        player = self._stage.player_of(token)
        keys = [f"{address}/32"] if player is None else [f"{address}/32", of_player(player)]
        for server in self._stage.running[:1]:
            sanctions = server.hub.services.sanctions
            keys += [sanctions.key_of_token(token_hash(token))] if token else []
            keys += [sanctions.key_of_address(address) or ""]
        return keys

    def check_heard(self, said_s: float, keys: Sequence[str]) -> None:
        """Check that who was muted before they said a line, and still is, is not heard with it."""
        for key in keys:
            if self._is_muted(key, said_s):
                self.note_mutes()  # it may have been lifted
                since_s = self.mutes.get(key, (0.0, 0))[0]
                is_muted = self._is_muted(key, said_s)
                self._stage.claim(
                    not is_muted, f"{key} is muted since {since_s:.3f}, and was heard with what they said at {said_s}"
                )

    def _is_muted(self, key: str, said_s: float) -> bool:
        since_s, until_ms = self.mutes.get(key, (0.0, 0))
        is_sure = self._stage.clock_set_s < said_s and until_ms > self._stage.now_ms() + self._stage.ahead_ms
        return is_sure and since_s + self._stage.hears_late_s < said_s

    def talk(self) -> None:
        """Let everybody say a line in a match that they hear: it is heard once, by all who hear it as they do."""
        said: dict[str, tuple[Peer, set[str]]] = {}
        for peer in self._stage.peers:
            peer.heard_lines = Counter()
            matches = [match for match in peer.matches if peer.session.is_following(match)]
            if matches and peer.is_welcome:
                match = self._stage.rng.choice(matches)
                request = wire.ChatRequest(0, match=match, text=f"{peer.number} {peer.signed()}")
                hearers = self._hearers_of(peer, match)
                if hearers is not None:
                    assert request.text is not None
                    said[request.text] = peer, hearers
                    peer.say(request)
        self._stage.wait(1.0 + 4 * self._stage.swarm.delay_s)
        for text, (speaker, hearers) in said.items():
            heard = Counter({peer.name: peer.heard_lines[text] for peer in self._stage.peers if peer.heard_lines[text]})
            if speaker.name in heard:  # or it was refused, to one who is muted
                self._stage.claim(
                    heard == Counter(hearers), f"{speaker.name} was heard by {heard}, and not by {hearers}"
                )

    def _hearers_of(self, speaker: "Peer", match: str) -> set[str] | None:
        """Return who is to hear what somebody says in a match; None if they do not hear it themselves."""
        everybody = [hears(server, match) for server in self._stage.running]
        for number in (0, 1):
            hearing = set[str]().union(*(each[number] for each in everybody))
            if speaker.name in hearing:
                return {name for name in hearing if name == speaker.name or not self._has_muted(name, speaker.name)}
        return None

    def _has_muted(self, name: str, speaker: str) -> bool:
        for server in self._stage.running:
            online = server.hub.services.players
            session, other = online.find(name), online.find(speaker)
            if session is not None and not session.is_elsewhere:
                return other is not None and session.has_muted(other.player)
        return False
