"""Why there is no link, or no longer one: in words for people, and whether to connect again."""

import socket
import ssl
from dataclasses import dataclass
from http import HTTPStatus

from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, WebSocketException
from websockets.frames import Close

from ttt_net.errors import Advice, Closing
from ttt_net.sdk.events import Farewell, Parting
from ttt_net.text import clean

_LATER = (429, 502, 503, 504)
"""HTTP answers after which it is worth to come again."""
_MAX_SENTENCE = 120


@dataclass(frozen=True, slots=True)
class Disconnect:
    """How a link ended, or why none came about; `advice` is what to do now."""

    reason: str
    advice: Advice = Advice.RETRY
    is_foreign: bool = False
    """Whether something answered that does not speak our language at all, or that is not to hear who we are."""
    parting: Parting = Parting.UNREACHABLE
    """Why we give up, if this stays the matter."""

    @property
    def farewell(self) -> Farewell:
        """The sentence to show if the client does not try again."""
        if self.advice is Advice.GIVE_UP:
            return Farewell(Parting.GIVEN_UP, f"The server closed the connection: {self.reason}.")
        return Farewell(self.parting, self.reason)


BROKEN = Disconnect("the connection broke")


def closed_by(close: Close) -> Disconnect:
    """Return what the server's close frame says."""
    closing = next((known for known in Closing if known == close.code), None)
    if closing is None:
        return Disconnect(f"the server closed the connection with code {close.code}")
    said = clean(close.reason, _MAX_SENTENCE).rstrip(".")  # such as why a host has sent us away, and until when
    return Disconnect(said or closing.meaning, closing.advice)


def distrusted(objection: str) -> Disconnect:
    """Return the loss of a link to a server that is not to hear who we are."""
    return Disconnect(objection, is_foreign=True, parting=Parting.DISTRUSTED)


def unreachable(error: Exception) -> Disconnect:
    """Return what kept a link from coming about, or broke it."""
    match error:
        case InvalidStatus() if error.response.status_code in _LATER:
            return Disconnect(_sentence_of(error) or f"the server is not ready (HTTP {error.response.status_code})")
        case InvalidStatus() if error.response.status_code == HTTPStatus.FORBIDDEN and _sentence_of(error):
            return Disconnect(_sentence_of(error), Advice.GIVE_UP)
        case InvalidStatus() if sentence := _sentence_of(error):
            return Disconnect(f"what answers there is not a ttt_net server; it says: {sentence}", is_foreign=True)
        case InvalidMessage() if isinstance(error.__cause__, EOFError):
            return BROKEN
        case InvalidHandshake():
            return Disconnect("what answers there is not a ttt_net server", is_foreign=True)
        case WebSocketException():
            return BROKEN
        case TimeoutError():
            return Disconnect("nothing answers there")
        case ConnectionRefusedError():
            return Disconnect("nothing listens there")
        case socket.gaierror():
            return Disconnect("no computer of that name is known")
        case ssl.SSLCertVerificationError():
            why = clean(error.verify_message, 80)
            sentence = f"its certificate is not good ({why}); if its host gave you its fingerprint, add it"
            return distrusted(f"{sentence} with --tls-fingerprint")
        case ssl.SSLError():
            return Disconnect("what answers there does not speak TLS as it should")
        case _:
            reason = error.strerror if isinstance(error, OSError) else None
            return Disconnect(clean(reason or "the network failed", 80).lower())


def _sentence_of(error: InvalidStatus) -> str:
    """Return what an HTTP answer says in plain text; empty if it says nothing so."""
    if not error.response.headers.get("Content-Type", "").startswith("text/plain"):
        return ""
    return clean(bytes(error.response.body or b"")[:_MAX_SENTENCE].decode(errors="replace"), _MAX_SENTENCE)
