"""Why there is no link, or no longer one: in words for people, and whether to connect again."""

import socket
import ssl
from dataclasses import dataclass
from http import HTTPStatus

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus, WebSocketException

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
        """What there is to say where nobody tries again."""
        if self.advice is Advice.GIVE_UP:
            return Farewell(Parting.GIVEN_UP, f"The server closed the connection: {self.reason}.")
        return Farewell(self.parting, self.reason)


def closed_by(closed: ConnectionClosed) -> Disconnect:
    """Return what a link is lost by that stood."""
    if closed.rcvd is None or closed.rcvd_then_sent is False:
        return Disconnect("the connection broke")
    closing = next((known for known in Closing if known == closed.rcvd.code), None)
    if closing is None:
        return Disconnect(f"the server closed the connection with code {closed.rcvd.code}")
    said = clean(closed.rcvd.reason, _MAX_SENTENCE).rstrip(".")  # such as why a host has sent us away, and until when
    return Disconnect(said or closing.meaning, closing.advice)


def distrusted(objection: str) -> Disconnect:
    """Return the loss of a link to a server that is not to hear who we are."""
    return Disconnect(objection, is_foreign=True, parting=Parting.DISTRUSTED)


def unreachable(error: OSError | WebSocketException) -> Disconnect:
    """Return what kept a link from coming about, or broke it."""
    match error:
        case InvalidStatus() if error.response.status_code in _LATER:
            return Disconnect(_sentence_of(error) or f"the server is not ready (HTTP {error.response.status_code})")
        case InvalidStatus() if error.response.status_code == HTTPStatus.FORBIDDEN and _sentence_of(error):
            return Disconnect(_sentence_of(error), Advice.GIVE_UP)
        case InvalidStatus() if sentence := _sentence_of(error):
            return Disconnect(f"what answers there is not a ttt_net server; it says: {sentence}", is_foreign=True)
        case InvalidMessage() if isinstance(error.__cause__, EOFError):
            return Disconnect("the connection broke")
        case InvalidHandshake():
            return Disconnect("what answers there is not a ttt_net server", is_foreign=True)
        case WebSocketException():
            return Disconnect("the connection broke")
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
            return Disconnect(clean(error.strerror or "the network failed", 80).lower())


def _sentence_of(error: InvalidStatus) -> str:
    """Return what an HTTP answer says in plain text; empty if it says nothing so."""
    if not error.response.headers.get("Content-Type", "").startswith("text/plain"):
        return ""
    return clean(bytes(error.response.body or b"")[:_MAX_SENTENCE].decode(errors="replace"), _MAX_SENTENCE)
