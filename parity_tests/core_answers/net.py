"""The network: what the encodings of an answer decode to."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Final

import httpx

from parity_tests.core_answers.subject import Subject
from services.net.errors import NetError
from services.net.terms import Terms

__all__ = ["SUBJECTS"]


def decoded(asked: dict[str, Any]) -> Any:
    """The bytes of an answer that arrives in pieces, or that it cannot be read."""
    headers = httpx.Headers([("content-encoding", each) for each in asked["codings"]])
    terms = Terms(answer_bytes=1_000_000)
    try:
        decoder = terms.decoder_of("GET", 200, headers)
        found = b"".join(
            piece for data in asked["pieces"] for piece in decoder.pieces(base64.b64decode(data))
        )
    except NetError:
        return {"error": True}
    return {"bytes": len(found), "sha256": hashlib.sha256(found).hexdigest()}


SUBJECTS: Final = (Subject("net.decoded", decoded),)
