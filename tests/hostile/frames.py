"""Frames that nobody may send, and how the connection ends that sent them."""

import struct

from tests.server.peer import BINARY, CLOSE, CONT, PING, TEXT, client_frame

HUGE = struct.pack("!BBQ", 0x81, 0x80 | 127, 2**62)

FRAMES = [
    ("a binary frame", client_frame(BINARY, b"{}"), 1003),
    ("a binary frame in pieces", client_frame(BINARY, b"{", fin=False), 1003),
    ("a frame without a mask", client_frame(TEXT, b"{}", masked=False), 1002),
    ("a reserved bit", client_frame(TEXT, b"{}", rsv=4), 1002),
    ("a reserved opcode", client_frame(3, b"{}"), 1002),
    ("a reserved control opcode", client_frame(11), 1002),
    ("a long ping", client_frame(PING, bytes(126)), 1002),
    ("a ping in pieces", client_frame(PING, fin=False), 1002),
    ("a continuation of nothing", client_frame(CONT, b"{}"), 1002),
    ("a text within a text", client_frame(TEXT, b"{", fin=False) + client_frame(TEXT, b"}"), 1002),
    ("a close of one byte", client_frame(CLOSE, b"\x03"), 1002),
    ("a close with a code that none may send", client_frame(CLOSE, struct.pack("!H", 1005)), 1002),
    ("a close whose reason is not UTF-8", client_frame(CLOSE, struct.pack("!H", 1000) + b"\xff"), 1007),
    ("a close", client_frame(CLOSE, struct.pack("!H", 1000)), 1000),
    ("a close of 4 bytes within a text", client_frame(TEXT, b"{", fin=False) + client_frame(CLOSE, b"\x03\xe8"), 1002),
    ("a text that is not UTF-8", client_frame(TEXT, b'{"type":"\xff"}'), 1007),
    ("half a letter at the end", client_frame(TEXT, b"\xc3"), 1007),
    ("a surrogate in UTF-8", client_frame(TEXT, b"\xed\xa0\x80"), 1007),
    ("4,097 bytes", client_frame(TEXT, b" " * 4_097), 1009),
    ("4,097 bytes in pieces", client_frame(TEXT, b" " * 4_000, fin=False) + client_frame(CONT, b" " * 97), 1009),
    ("2^62 bytes announced", HUGE, 1009),
    ("2^63 bytes announced", struct.pack("!BBQ", 0x81, 0x80 | 127, 2**63), 1009),
    ("a binary frame and a close", client_frame(BINARY, b"{}") + client_frame(CLOSE, b"\x03\xe8"), None),
    ("bad text and a close", client_frame(TEXT, b"\xff") + client_frame(CLOSE, b"\x03\xe8"), None),
]
