"""What the port answers to plain HTTP, and which WebSocket handshakes it takes. Few words; a page comes later."""

from urllib.parse import urlsplit

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from ttt_net.server.gate import TurnedAway

HEALTH = "/healthz"


def answer_http(request: Request, protocol: ServerProtocol, name: str, *, is_closed: bool) -> Response | None:
    """Answer what is no WebSocket handshake, or one that is not taken; None for a handshake that is.

    A page may connect only to the server that it came from; programs that are not browsers send no Origin.
    """
    if "Upgrade" not in request.headers and request.method == "GET":
        if request.path == HEALTH:
            return protocol.reject(200, "ok\n")
        if request.path == "/":
            return protocol.reject(200, f"{name}: a ttt_net server. Join with: python client.py HOST:PORT\n")
        return protocol.reject(404, "not found\n")
    if _is_foreign(request.headers.get_all("Origin"), request.headers.get_all("Host")):
        return protocol.reject(403, "pages of other sites may not connect\n")
    if is_closed:
        response = protocol.reject(503, "the server is restarting; try again\n")
        response.headers["Retry-After"] = "1"
        return response
    return None


def turn_away(why: TurnedAway, protocol: ServerProtocol) -> Response:
    """Answer one who is over a limit, whatever he asks for."""
    response = protocol.reject(why.status, f"{why.sentence}; try again in {why.retry_after_s} s\n")
    response.headers["Retry-After"] = str(why.retry_after_s)
    return response


def _is_foreign(origins: list[str], hosts: list[str]) -> bool:
    try:
        return bool(origins) and [urlsplit(origin).netloc for origin in origins] != hosts
    except ValueError:
        return True
