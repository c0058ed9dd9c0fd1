"""Responses as JSON, spelled as the published server spells them."""

from __future__ import annotations

import json
from typing import Final

from starlette.responses import Response

from services.wire import Json

__all__ = ["encoded", "json_response"]

_ESCAPED: Final = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters at which httpx, and so a2a-sdk's client, ends a line in the middle of a text."""
_TYPE: Final = "application/json; charset=utf-8"


def encoded(document: Json) -> bytes:
    """The document in UTF-8, without blanks."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for separator, escape in _ESCAPED.items():
        text = text.replace(separator, escape)
    # A lone surrogate, which JavaScript writes as well, is no UTF-8.
    return text.encode("utf-8", "backslashreplace")


def json_response(document: Json, *, status: int = 200) -> Response:
    """The document as a response."""
    return Response(encoded(document), status, headers={"content-type": _TYPE})
