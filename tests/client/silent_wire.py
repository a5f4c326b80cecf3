"""A wire between a client and a server that can go silent: no byte passes, and nobody is told."""

import contextlib
import selectors
import socket
import threading


class SilentWire:
    """A proxy in a thread of its own. While it is silent it takes connections and bytes, and passes none on."""

    def __init__(self, target_port: int) -> None:
        self._target = ("127.0.0.1", target_port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._is_silent = threading.Event()
        self._is_over = threading.Event()
        self._partner: dict[socket.socket, socket.socket] = {}
        self._held: dict[socket.socket, bytes] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def cut(self) -> None:
        """Pass nothing on from now."""
        self._is_silent.set()

    def mend(self) -> None:
        """Pass on what was held, and all that comes."""
        self._is_silent.clear()

    def close(self) -> None:
        """End the thread and close all sockets."""
        self._is_over.set()
        self._thread.join()
        for each in [self._listening, *self._partner]:
            each.close()
        self._selector.close()

    def _carry(self) -> None:
        while not self._is_over.is_set():
            for key, _ in self._selector.select(timeout=0.02):
                source = key.fileobj
                assert isinstance(source, socket.socket)
                if source is self._listening:
                    self._join()
                else:
                    self._hold(source)
            if not self._is_silent.is_set():
                for target, data in list(self._held.items()):
                    self._pass_on(target, data)

    def _join(self) -> None:
        client, _ = self._listening.accept()
        server = socket.create_connection(self._target)
        for one, other in ((client, server), (server, client)):
            self._partner[one] = other
            self._held[other] = b""
            self._selector.register(one, selectors.EVENT_READ)

    def _hold(self, source: socket.socket) -> None:
        try:
            data = source.recv(65_536)
        except OSError:
            data = b""
        if data:
            self._held[self._partner[source]] += data
        else:
            self._leave(source)
            if not self._is_silent.is_set():
                self._leave(self._partner[source])  # or its number would still be known when another socket gets it
                self._partner[source].close()

    def _leave(self, one: socket.socket) -> None:
        with contextlib.suppress(KeyError, ValueError):  # both ends may have ended at once
            self._selector.unregister(one)

    def _pass_on(self, target: socket.socket, data: bytes) -> None:
        with contextlib.suppress(OSError):  # that end is gone; the other finds out by itself
            target.sendall(data)
        self._held[target] = b""
