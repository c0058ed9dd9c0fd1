from __future__ import annotations

import gzip
import itertools
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.net.decoding import AnswerDecoder
from services.net.errors import AnswerTooLarge, UnreadableAnswer

MOST = 10_000


def raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-15)
    return made.compress(data) + made.flush()


ENCODERS = {
    "": lambda data: data,
    "identity": lambda data: data,
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": raw_deflate,
    "deflate, gzip": lambda data: gzip.compress(zlib.compress(data)),
}


def decoded(coding: str, pieces: list[bytes], most: int = MOST) -> bytes:
    decoder = AnswerDecoder(coding.split(","), most)
    return b"".join(piece for data in pieces for piece in decoder.pieces(data))


@given(st.sampled_from(sorted(ENCODERS)), st.binary(max_size=400), st.lists(st.integers(0, 450)))
def test_an_answer_cut_anywhere_reads_the_same(coding: str, data: bytes, cuts: list[int]) -> None:
    sent = ENCODERS[coding](data)
    borders = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    pieces = [sent[start:end] for start, end in itertools.pairwise(borders)]
    assert decoded(coding, pieces) == data


@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
def test_the_members_of_a_gzip_answer_are_joined_and_what_follows_is_passed_over(step: int) -> None:
    sent = gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two") + b"\0\0more"
    pieces = [sent[at : at + step] for at in range(0, len(sent), step)]
    assert decoded("gzip", pieces) == b"one two"


def test_an_answer_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    sent = zlib.compress(b"x" * 100, level=0)
    assert decoded("deflate", [sent[:50]]) == b"x" * len(decoded("deflate", [sent[:50]])) != b""


@pytest.mark.parametrize("coding", sorted(ENCODERS))
def test_the_bound_is_exact(coding: str) -> None:
    encode = ENCODERS[coding]
    assert decoded(coding, [encode(bytes(MOST))]) == bytes(MOST)
    with pytest.raises(AnswerTooLarge, match="larger than 10000 bytes"):
        decoded(coding, [encode(bytes(MOST + 1))])


def test_the_bytes_between_two_encodings_count() -> None:
    nothing = gzip.compress(gzip.compress(b"") * 10_000)
    assert len(nothing) < MOST
    with pytest.raises(AnswerTooLarge):
        decoded("gzip, gzip", [nothing])


def test_the_bytes_that_arrive_count_though_they_decode_to_nothing() -> None:
    with pytest.raises(AnswerTooLarge):
        decoded("gzip", [gzip.compress(b"")] * 1000)
    with pytest.raises(AnswerTooLarge):
        decoded("gzip", [gzip.compress(b""), *[b"\0" * 1000] * 11])


def test_a_piece_is_never_large() -> None:
    decoder = AnswerDecoder(["gzip"], 2**25)
    sizes = [len(piece) for piece in decoder.pieces(gzip.compress(bytes(2**25)))]
    assert sum(sizes) == 2**25
    assert max(sizes) <= 2**18


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, br", "gzip" + ", gzip" * 2])
def test_a_coding_that_was_not_offered_is_refused(coding: str) -> None:
    with pytest.raises(UnreadableAnswer):
        AnswerDecoder(coding.split(","), MOST)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_data_in_another_coding_is_refused(coding: str) -> None:
    with pytest.raises(UnreadableAnswer, match="cannot be undone"):
        decoded(coding, [b"\x78\x9c not compressed"])
