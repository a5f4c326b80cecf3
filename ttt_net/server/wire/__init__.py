"""One peer's socket: what it sends and is sent, encrypted or not, over WebSocket or plain HTTP."""
