"""Reads three formats of recorded HTTP traffic into `RawExchange`.

- vcrpy: one document, `interactions`; bodies as text, as `!!binary`, or decoded as `parsed_body`;
  in files of old versions the response's status and body lie flat.
- Ruby's VCR: one document, `http_interactions`; methods in lower case.
- httpmock: one document per exchange, `when` and `then`; no host.

The file may come from anywhere: an exchange without a required part becomes a `Lacking` with the
reason.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from harness.http.exchanges import RawExchange
from harness.http.recorded_yaml import MAX_DEPTH
from services.json_values import is_deeper
from services.wire import Json, js_json

__all__ = ["Lacking", "declared_behaviours", "read_exchanges"]

_MAX_BODY = 64 * 1024 * 1024
_MAX_BODIES = 256 * 1024 * 1024
"""The maximum size of all bodies of a file together, decompressed, in bytes."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """An exchange that cannot be read."""

    index: int
    reason: str


class _Lack(Exception):
    """The reason why the current exchange cannot be read."""


def read_exchanges(documents: list[Json]) -> tuple[str, list[RawExchange | Lacking]] | None:
    """Return the format's name and the exchanges in order; `None` for any other document."""
    first = documents[0] if documents else None
    if isinstance(first, Mapping):
        if isinstance(first.get("interactions"), list):
            return "vcrpy", list(_each(first["interactions"], _from_vcr))
        if isinstance(first.get("http_interactions"), list):
            return "ruby-vcr", list(_each(first["http_interactions"], _from_vcr))
        if "when" in first and "then" in first:
            return "httpmock", list(_each(documents, _from_httpmock))
    return None


def declared_behaviours(documents: list[Json]) -> tuple[str, ...]:
    """Return the texts in the first document's list `contract`, if it has one."""
    first = documents[0] if documents else None
    ids = first.get("contract") if isinstance(first, Mapping) else None
    return tuple(each for each in ids if isinstance(each, str)) if isinstance(ids, list) else ()


def _each(
    items: list[Json], read: Callable[[int, Json], RawExchange]
) -> Iterator[RawExchange | Lacking]:
    room = _MAX_BODIES
    for index, item in enumerate(items):
        try:
            if room <= 0:
                raise _Lack(f"the bodies before it come to more than {_MAX_BODIES >> 20} MB")
            exchange = read(index, item)
            room -= len(exchange.body)
            yield exchange
        except _Lack as lack:
            yield Lacking(index, str(lack))


def _from_vcr(index: int, item: Json) -> RawExchange:
    request, response = _mapping(item, "request"), _mapping(item, "response")
    if "status_code" in response:
        status: Json = response["status_code"]
        reason: Json = ""
        body: Json = response.get("content", "")
    else:
        head = _mapping(response, "status")
        status, reason = head.get("code"), head.get("message")
        body = response.get("body")
    return RawExchange(
        index=index,
        method=_text(request, "method").upper(),
        url=_text(request, "uri"),
        request=_request_json(request),
        status=_status(status),
        reason=reason if isinstance(reason, str) else "",
        body=_response_body(response, body),
        headers=_headers(response.get("headers")),
    )


def _from_httpmock(index: int, item: Json) -> RawExchange:
    when, then = _mapping(item, "when"), _mapping(item, "then")
    queries = when.get("query_param") or []
    if not isinstance(queries, list):
        raise _Lack("`query_param` is no list")
    pairs = [(_text(query, "name"), str(query.get("value", ""))) for query in queries]
    path = _text(when, "path")
    return RawExchange(
        index=index,
        method=_text(when, "method").upper(),
        url=f"{path}?{urlencode(pairs)}" if pairs else path,
        request=_request_json(when),
        status=_status(then.get("status")),
        body=_bytes(then.get("body", "")),
    )


def _mapping(owner: Json, key: str) -> Mapping[str, Json]:
    value = owner.get(key) if isinstance(owner, Mapping) else None
    if not isinstance(value, Mapping):
        raise _Lack(f"no `{key}`")
    return value


def _text(owner: Json, key: str) -> str:
    value = owner.get(key) if isinstance(owner, Mapping) else None
    if not isinstance(value, str) or not value:
        raise _Lack(f"no `{key}`")
    return value


def _status(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 100 <= value <= 599:
        raise _Lack("no status")
    return value


def _headers(found: Json) -> dict[str, str]:
    """Return the first value of each header; a recording has texts, or lists of them."""
    headers = {}
    for name, value in found.items() if isinstance(found, Mapping) else ():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(name, str) and isinstance(first, str):
            headers[name.lower()] = first
    return headers


def _request_json(request: Mapping[str, Json]) -> Json:
    if "parsed_body" in request:
        return request["parsed_body"]
    body = request.get("body")
    if isinstance(body, Mapping):
        body = body.get("string")
    try:
        found = json.loads(_bytes(body)) if body else None
    except (ValueError, RecursionError, _Lack):
        return None
    return None if is_deeper(found, MAX_DEPTH) else found


def _response_body(response: Mapping[str, Json], body: Json) -> bytes:
    if isinstance(body, Mapping):
        body = body.get("string", "")
    if not body and "parsed_body" in response:
        parsed = response["parsed_body"]
        return parsed.encode() if isinstance(parsed, str) else _json_bytes(parsed)
    return _bytes(body)


def _json_bytes(value: Json) -> bytes:
    try:
        return js_json(value).encode()
    except (TypeError, ValueError) as error:
        raise _Lack("`parsed_body` is no JSON") from error


def _bytes(body: Json) -> bytes:
    """Return a body as bytes, decompressed even if the recorded headers do not require it."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if not isinstance(body, bytes):
        raise _Lack("the body is neither text nor bytes")
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        unzip = zlib.decompressobj(wbits=31)
        plain = unzip.decompress(body, _MAX_BODY)
    except zlib.error as error:
        raise _Lack("the compressed body is damaged") from error
    if unzip.unconsumed_tail:
        raise _Lack(f"the body is larger than {_MAX_BODY >> 20} MB")
    return plain
