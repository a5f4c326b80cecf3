"""Requests of clients and messages of the server: two closed unions of tagged structs, and their JSON.

Requests are in `requests`, the server's messages in `server_messages`, and the parts of both in `types`. A frame is one
JSON object with a `type`. The types are the validators: a value that `decode_request` returns has been checked.
docs/protocol.md is generated from them.
"""

from typing import Any

import msgspec
from msgspec import Struct

from ttt_net.errors import Code, Refusal
from ttt_net.messages.requests import *
from ttt_net.messages.requests import AnyRequest
from ttt_net.messages.server_messages import *
from ttt_net.messages.server_messages import AnyServerMessage, MatchEvent, Refused
from ttt_net.messages.types import *
from ttt_net.messages.types import RequestId

_request_decoder: msgspec.json.Decoder[AnyRequest] = msgspec.json.Decoder(AnyRequest)
_server_message_decoder: msgspec.json.Decoder[AnyServerMessage] = msgspec.json.Decoder(AnyServerMessage)
_event_decoder: msgspec.json.Decoder[MatchEvent] = msgspec.json.Decoder(MatchEvent)
_encoder = msgspec.json.Encoder()

encode = _encoder.encode
"""Write a message as the UTF-8 bytes of one JSON object."""


class _Envelope(Struct):
    id: RequestId | None = None
    type: Any = None


_envelope_decoder = msgspec.json.Decoder(_Envelope)


def decode_request(data: bytes | str) -> AnyRequest:
    """Return the request in a frame, checked. Raises `Refusal` if it is none: BAD_MESSAGE, with the place."""
    try:
        return _request_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(Code.BAD_MESSAGE, str(error)) from None


def request_id(data: bytes | str) -> int | None:
    """Return the `id` of a frame that may be an invalid request, so that its refusal can name the `id`."""
    try:
        return _envelope_decoder.decode(data).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def refused(request: int | None, refusal: Refusal) -> Refused:
    """Return the message for a refusal."""
    return Refused(request, refusal.code.value, str(refusal), refusal.retry_after_ms)


def decode_server_message(data: bytes | str) -> AnyServerMessage:
    """Return the message of the server. Raises `Refusal` if this client does not know it: BAD_MESSAGE."""
    try:
        return _server_message_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(Code.BAD_MESSAGE, str(error)) from None


def decode_event(data: bytes) -> MatchEvent:
    """Return an event from the journal."""
    return _event_decoder.decode(data)
