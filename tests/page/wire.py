"""A wire between a browser and the server that can be cut, and mended."""

import contextlib
import selectors
import socket
import threading

from tests.patience import PATIENCE_S


class Wire:
    """Relays bytes of any number of connections from a port of its own to another; `cut` drops them all."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._is_cut = self._is_over = False
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Drop all connections, and refuse new ones."""
        self._tell(b"c")

    def mend(self) -> None:
        """Let connections through again."""
        self._tell(b"m")

    def close(self) -> None:
        """End it."""
        self._tell(b"e")
        self._thread.join(timeout=PATIENCE_S)
        for end in (self._listening, self._wake, self._woken):
            end.close()

    def _tell(self, word: bytes) -> None:
        self._wake.send(word)

    def _relay(self) -> None:
        with self._selector:
            while not self._is_over:
                for key, _ in self._selector.select():
                    if key.fileobj is self._woken:
                        self._obey(self._woken.recv(1))
                    elif key.fileobj is self._listening:
                        self._accept()
                    elif self._selector.get_map().get(key.fd) is key:  # else it was dropped in this round
                        self._pass_on(key)
            self._drop_all()

    def _obey(self, word: bytes) -> None:
        self._is_cut, self._is_over = word == b"c", word == b"e"
        if self._is_cut:
            self._drop_all()

    def _accept(self) -> None:
        near, _ = self._listening.accept()
        far = None
        with contextlib.suppress(OSError):
            far = None if self._is_cut else socket.create_connection(self._target)
        if far is None:
            near.close()
            return
        self._selector.register(near, selectors.EVENT_READ, far)
        self._selector.register(far, selectors.EVENT_READ, near)

    def _pass_on(self, key: selectors.SelectorKey) -> None:
        end: socket.socket = key.fileobj  # type: ignore[assignment]
        try:
            data = end.recv(65_536)
            key.data.sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(end)
            self._drop(key.data)

    def _drop(self, end: socket.socket) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(end)
        end.close()

    def _drop_all(self) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                self._drop(key.fileobj)  # type: ignore[arg-type]
