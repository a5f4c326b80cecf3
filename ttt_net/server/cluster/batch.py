"""What nodes put into the log: batches of entries, each marked with who wrote it and what they knew then."""

import hashlib

import msgspec

from ttt_net.server.cluster.entries import AnyLoggedEntry, Author, NodeName


class Batch(msgspec.Struct, frozen=True):
    """What one author gathered while its last batch was under way; applied in one place of the log, or not at all.

    A batch whose number was seen already is a repeat, and ignored.
    """

    node: NodeName
    epoch: int
    number: int
    """1 for the first batch of an author, and one more for each that follows."""
    position: int
    """Up to which place of the log the author had applied all when it gathered this."""
    state: str
    """The running hash of the author after that place: see `next_state`."""
    entries: tuple[AnyLoggedEntry, ...]
    at_ms: int | None = None
    """The time of day on the author's machine."""

    @property
    def author(self) -> Author:
        """Who wrote it."""
        return Author(self.node, self.epoch)


_decoder: msgspec.json.Decoder[Batch] = msgspec.json.Decoder(Batch)


def encode_batch(batch: Batch) -> bytes:
    """Return the batch as JSON, which an operator can read in the log."""
    return msgspec.json.encode(batch)


def decode_batch(data: bytes) -> Batch:
    """Return the batch of that JSON. Raises `msgspec.MsgspecError` if it is none."""
    return _decoder.decode(data)


def next_state(state: str, data: bytes, results: bytes) -> str:
    """Return the running hash after a batch that led to those results: equal on nodes that agree about all so far."""
    return hashlib.blake2b(b"%s %s %s" % (state.encode(), data, results), digest_size=16).hexdigest()
