"""Decodes an answer's content-encoding piece by piece, and counts every byte.

A kilobyte can decode to a gigabyte, and to a gigabyte that decodes to nothing. So a decompressor
returns pieces of limited size, and the bytes of each layer are counted: those that arrive, those
between two encodings, and those that the caller gets.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from services.net.errors import AnswerTooLarge, UnreadableAnswer

__all__ = ["ACCEPTED", "AnswerDecoder"]

ACCEPTED: Final = "gzip, deflate"
"""The value of the `accept-encoding` header of each request."""

_PIECE: Final = 256 * 1024
"""The most bytes that a decompressor returns at once."""
_MOST_CODINGS: Final = 2
_GZIP_MEMBER: Final = b"\x1f\x8b"


class AnswerDecoder:
    """Decodes one answer and counts it.

    Args:
        codings: The values of the answer's `content-encoding` header, in the header's order.
        most: How many bytes each layer may hold; `None`: an event stream without an end, whose
            reader counts.

    Raises:
        UnreadableAnswer: The answer has a coding that the request did not offer, or too many.
    """

    def __init__(self, codings: Sequence[str], most: int | None) -> None:
        names = [name for each in codings if (name := each.strip().lower()) not in ("", "identity")]
        if len(names) > _MOST_CODINGS:
            raise UnreadableAnswer(
                f"the answer has {len(names)} content-encodings, and {_MOST_CODINGS} are read"
            )
        for name in names:
            if name not in ("gzip", "x-gzip", "deflate"):
                raise UnreadableAnswer(
                    f"the answer has the content-encoding {name[:40]!r}, and the request offered "
                    f"{ACCEPTED} only"
                )
        self.encoded = bool(names)
        """Whether the pieces differ from what arrives."""
        self._layers = [_Inflated(name) for name in reversed(names)]
        self._counts = [0] * (len(names) + 1)
        self._most = most

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The decoded pieces of `data`, the next bytes that have arrived.

        Raises:
            AnswerTooLarge: a layer holds too many bytes.
            UnreadableAnswer: `data` is not what the header says.
        """
        return self._through(0, data)

    def _through(self, layer: int, data: bytes) -> Iterator[bytes]:
        self._counts[layer] += len(data)
        if self._most is not None and self._counts[layer] > self._most:
            raise AnswerTooLarge(self._most)
        if layer == len(self._layers):
            yield data
            return
        for piece in self._layers[layer].pieces(data):
            yield from self._through(layer + 1, piece)


class _Inflated:
    """One coding. Data after the last member of a gzip file is ignored, as in browsers."""

    def __init__(self, name: str) -> None:
        self._gzip = name != "deflate"
        self._inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if self._gzip else None
        self._held = b""
        self._ended = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        left = self._held + data
        self._held = b""
        while left and not self._ended:
            if self._inner is None:
                if len(left) < 2:
                    self._held = left
                    return
                self._inner = self._begun(left)
                if self._inner is None:
                    self._ended = True
                    return
            try:
                piece = self._inner.decompress(left, _PIECE)
                # Output can be left over when all input is taken.
                left = self._inner.unconsumed_tail
                if piece:
                    yield piece
                while len(piece) == _PIECE and not left and not self._inner.eof:
                    piece = self._inner.decompress(b"", _PIECE)
                    if piece:
                        yield piece
            except zlib.error as error:
                raise UnreadableAnswer(
                    f"the answer's content-encoding cannot be undone: {error}"
                ) from error
            if self._inner.eof:
                left = self._inner.unused_data
                self._inner = None
                self._ended = not self._gzip

    def _begun(self, data: bytes) -> zlib._Decompress | None:
        """The decompressor for data that begins with `data`; `None` at the end."""
        if self._gzip:
            member = data.startswith(_GZIP_MEMBER)
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if member else None
        # Servers send `deflate` with zlib's header, as its definition says, or without.
        with_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.decompressobj(wbits=zlib.MAX_WBITS if with_header else -zlib.MAX_WBITS)
