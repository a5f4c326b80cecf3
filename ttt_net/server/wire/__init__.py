"""Sockets of peers: bytes in and out, encrypted or not, over WebSocket or plain HTTP."""
