"""Loads recorded HTTP traffic and repairs it until vcrpy and google-genai's client accept it.

It repairs bodies stored decoded (`parsed_body`), compressed bodies whose headers no longer
fit, methods in lower case, missing headers, hosts that were not recorded, signatures that were
replaced by placeholders which are no base64, and characters that the client takes for line ends.
The runtimes only stream: a recorded `generateContent` is *translated* to a stream of one event.
Calls of OpenAI's Chat Completions and of Anthropic's Messages, on any host, are translated to the
Gemini API's (`harness.http.other_providers`).

It skips, each with a reason: other hosts, the Interactions API, calls outside of conversations
(files, embeddings, lists of models), streams that are no event streams (called without `alt=sse`),
answers that are no JSON, incomplete exchanges.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qs, urlsplit

from harness.http.events import parse_event_stream, parse_object
from harness.http.exchanges import (
    ExchangeSkipped,
    HttpExchange,
    HttpRecording,
    RawExchange,
    SkippedRecording,
)
from harness.http.formats import Lacking, declared_behaviours, read_exchanges
from harness.http.other_providers import as_gemini
from harness.http.recorded_yaml import load_documents
from services.model.event_stream import event_stream, is_readable
from services.model.replay.steps import StepMethod
from services.wire import Json, JsonObject

__all__ = ["is_the_api", "load_recording", "recording_of"]

_MODEL_PATH = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>\w+)$")
_METHODS: Final = {
    "generateContent": StepMethod.STREAM,
    "streamGenerateContent": StepMethod.STREAM,
    "countTokens": StepMethod.COUNT_TOKENS,
}
_NOT_HTTP: Final = {
    ".responses": "holds answers only, no HTTP: use `parity import`",
    ".json": "holds a single answer, no HTTP exchange",
    ".txt": "holds the chunks of a single answer, no HTTP exchange",
}
_YAML: Final = frozenset({".yaml", ".yml"})
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def load_recording(file: Path) -> HttpRecording | SkippedRecording:
    """Load and repair one file.

    Raises:
        CassetteFormatError: The file is not YAML, or not within bounds.
        OSError: It cannot be read.
    """
    if file.suffix in _NOT_HTTP:
        return SkippedRecording(file=file, reason=_NOT_HTTP[file.suffix])
    return recording_of(load_documents(file), file)


def recording_of(documents: list[Json], file: Path) -> HttpRecording | SkippedRecording:
    """Repair the recording in `documents`, the content of `file`."""
    read = read_exchanges(documents)
    if read is None:
        return SkippedRecording(file=file, reason="is no recording of a known format")
    format_name, raw = read
    exchanges: list[HttpExchange] = []
    reasons: list[str] = []
    for item in raw:
        try:
            exchanges.append(_mended(item))
        except ExchangeSkipped as skip:
            reasons.append(str(skip))
    if any(exchange.method is StepMethod.STREAM for exchange in exchanges):
        skipped = tuple(reasons)
        return HttpRecording(
            file=file,
            format=format_name,
            exchanges=tuple(exchanges),
            contract=declared_behaviours(documents),
            skipped=skipped,
        )
    return SkippedRecording(file=file, reason=_main_reason(reasons), details=tuple(reasons))


def _main_reason(reasons: list[str]) -> str:
    """Return the reason for the whole file, preferably one about a model call."""
    if not reasons:
        return "holds no model call"
    about_calls = [each for each in reasons if not each.startswith(("other host", "not a model"))]
    return (about_calls or reasons)[0]


def _mended(raw: RawExchange | Lacking) -> HttpExchange:
    if isinstance(raw, Lacking):
        raise ExchangeSkipped(f"incomplete exchange: {raw.reason}")
    parts = _split(raw.url)
    translated = as_gemini(raw)
    if translated is not None:
        return translated
    host = parts.hostname or ""
    path = parts.path
    if host and not is_the_api(host):
        raise ExchangeSkipped(f"other host: {host}")
    if path.endswith("/interactions") or "/interactions/" in path:
        raise ExchangeSkipped("Interactions API")
    found = _MODEL_PATH.search(path)
    method = _METHODS.get(found["method"]) if found else None
    if found is None or method is None:
        raise ExchangeSkipped(
            f"not a model call: {found['method'] if found else _collection(path)}"
        )
    if raw.method != "POST":
        raise ExchangeSkipped(f"not a model call: {raw.method}")
    body, chunks = _answer(raw, method, found["method"], streams=_is_sse(parts.query, raw.body))
    return HttpExchange(
        index=raw.index,
        method=method,
        recorded_as=found["method"],
        model=found["model"],
        request=raw.request if isinstance(raw.request, dict) else {},
        status=raw.status,
        reason=raw.reason,
        body=body,
        chunks=tuple(chunks),
    )


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise ExchangeSkipped("incomplete exchange: the address is none") from error


def _collection(path: str) -> str:
    """Return the resource in a path: the word after the API's version."""
    words = re.split(r"/v1(?:beta\d*|alpha)?/", path, maxsplit=1)[-1].strip("/")
    return re.split(r"[/:]", words)[0][:40]


def is_the_api(host: str) -> bool:
    """Return whether the Gemini API, or a stand-in for it on this machine, answers at `host`."""
    return (
        host == "generativelanguage.googleapis.com"
        or host in _LOOPBACK
        or host == "aiplatform.googleapis.com"
        or host.endswith(("-aiplatform.googleapis.com", ".rep.googleapis.com"))
    )


def _is_sse(query: str, body: bytes) -> bool:
    return "sse" in parse_qs(query).get("alt", ()) or body.lstrip().startswith(b"data:")


def _answer(
    raw: RawExchange, method: StepMethod, recorded_as: str, *, streams: bool
) -> tuple[bytes, list[JsonObject]]:
    if raw.status != 200:
        return raw.body, []
    if recorded_as != "streamGenerateContent":
        chunks = [parse_object(raw.body)]
        if method is not StepMethod.STREAM:
            return raw.body, chunks
    elif streams:
        chunks = parse_event_stream(raw.body)
        if not chunks:
            raise ExchangeSkipped("the event stream is empty")
    else:
        raise ExchangeSkipped("the stream is not an event stream (called without alt=sse)")
    mended = [_with_base64_signatures(chunk) for chunk in chunks]
    if recorded_as == "streamGenerateContent" and mended == chunks and is_readable(raw.body):
        return raw.body, chunks
    return event_stream(mended), mended


def _with_base64_signatures(value: Json) -> Json:
    """Copy a value, with signatures that are placeholders encoded as base64."""
    if isinstance(value, list):
        return [_with_base64_signatures(item) for item in value]
    if not isinstance(value, dict):
        return value
    copied = {key: _with_base64_signatures(item) for key, item in value.items()}
    signature = copied.get("thoughtSignature")
    if isinstance(signature, str) and not _is_base64(signature):
        copied["thoughtSignature"] = base64.b64encode(signature.encode()).decode()
    return copied


def _is_base64(text: str) -> bool:
    """Return whether the SDK's strict models accept it as base64."""
    padded = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    padded += "=" * (-len(padded) % 4)
    try:
        decoded = base64.b64decode(padded, validate=True)
    except ValueError:
        return False
    return base64.b64encode(decoded).decode() == padded
