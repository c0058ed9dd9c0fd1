"""Cassettes from upstream's recorded `.responses` files.

Such a file holds answers only. The import adds the user's side: one `send` for each stream that
ends without a call, where the recorded program must have returned to its user.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.cassette.document import MAX_BYTES, read_text
from harness.cassette.format import FORMAT_VERSIONS, Phase
from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.errors import CassetteFormatError, CassetteNotFound
from services.model.replay.responses import (
    RecordedResponse,
    ResponsesFormatError,
    parse_responses,
)
from services.model.replay.steps import StepMethod
from services.wire import JsonObject

__all__ = ["DEFAULT_MODEL", "ImportOptions", "import_responses"]

DEFAULT_MODEL: Final = "gemini-2.5-flash"
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._+@=-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What the file lacks. `family` is the first part of the cassette's name."""

    model: str = DEFAULT_MODEL
    approval_mode: str = "default"
    interactive: bool = False
    phase: Phase = "A"
    family: str = "imported"
    name: str | None = None
    """The whole name, instead of family and the file's name."""
    source: str | None = None
    """Where the recording comes from; the file's name when absent."""
    licence: str | None = None


def import_responses(path: Path, options: ImportOptions | None = None) -> JsonObject:
    """The document of a cassette for a recorded file; it belongs at `<root>/<its name>.yaml`.

    Raises:
        CassetteNotFound: it cannot be read.
        CassetteFormatError: a line is not a recorded response, or no cassette can hold it.
    """
    chosen = options or ImportOptions()
    responses = _read(path)
    stem = path.name.removesuffix(".responses")
    name = chosen.name or f"{chosen.family}/{_NOT_IN_NAMES.sub('_', stem).lstrip('.') or 'file'}"
    sends = sum(1 for recorded in responses if _hands_back(recorded))
    session: JsonObject = {"model": chosen.model}
    if chosen.approval_mode != "default":
        session["approval_mode"] = chosen.approval_mode
    if chosen.interactive:
        session["interactive"] = True
    provenance = {"kind": "imported", "source": chosen.source or path.name}
    if chosen.licence is not None:
        provenance["licence"] = chosen.licence
    document: JsonObject = {
        "cassette": FORMAT_VERSIONS[-1],
        "name": name,
        "note": f"imported from {path.name}: {len(responses)} recorded answers",
        "phase": chosen.phase,
        "provenance": provenance,
        "session": session,
        "script": [{"send": f"(imported {number})"} for number in range(1, sends + 1)],
        "match": "by_role",
        "model": [_step(recorded) for recorded in responses],
    }
    try:
        build_cassette(document, Path(f"{name}.yaml"))
    except FormatProblem as refused:
        raise refused.in_file(path) from refused
    return document


def _read(path: Path) -> tuple[RecordedResponse, ...]:
    try:
        return parse_responses(read_text(path, MAX_BYTES))
    except FormatProblem as refused:
        mend = "name a recording in UTF-8, and split the recording where it is too large"
        raise CassetteFormatError(path, "", refused.problem, mend) from refused
    except OSError as error:
        reason = error.strerror or str(error)
        raise CassetteNotFound(path, "", f"cannot be read: {reason}", "check the path") from error
    except ResponsesFormatError as error:
        mend = 'each line is {"method": …, "response": …}'
        raise CassetteFormatError(path, f"line {error.line}", error.problem, mend) from error


def _hands_back(recorded: RecordedResponse) -> bool:
    if recorded.method is not StepMethod.STREAM:
        return False
    parts = (
        part
        for chunk in recorded.response
        for candidate in chunk.get("candidates") or ()
        for part in (candidate.get("content") or {}).get("parts") or ()
    )
    return not any("functionCall" in part for part in parts)


def _step(recorded: RecordedResponse) -> JsonObject:
    if recorded.method is StepMethod.STREAM:
        return {"stream": recorded.response}
    if recorded.method is StepMethod.COUNT_TOKENS:
        return {"count_tokens": recorded.response}
    if recorded.method is StepMethod.EMBED:
        return {"generate": recorded.response, "method": recorded.method.value}
    return {"generate": recorded.response}
