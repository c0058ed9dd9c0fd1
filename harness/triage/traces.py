"""A trace document back into an `Observation`, so that two of them can be compared like two runs.

The inverse of `harness.replay.trace`, as far as a trace holds what was observed: tools' whole
declarations, and keys of a request's config that a trace leaves out, are not compared. Traces come
from other machines and other revisions: reading them is bounded, what is there is checked, and
keys that this build does not know are passed over.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.baseline.document import from_document
from harness.canonical import printable
from harness.cassette.document import parse_document, read_text
from harness.cassette.fields import Fields, text_of
from harness.cassette.problems import FormatProblem, kind_of
from harness.errors import HarnessError
from harness.prefixes import shared_prefix
from harness.replay.observation import Observation
from harness.replay.trace import CHILD_KEYS
from harness.sides import engines_of
from services.wire import Content, Json, JsonObject

__all__ = ["TraceFormatError", "parse_trace", "read_trace"]

_KEYS: Final = (
    "name",
    "runtime",
    "versions",
    "events",
    "transcript",
    "requests",
    "recording",
    "toolStates",
    "retries",
    "sideEvents",
    "workspaceChanges",
    "notes",
    "unusedSteps",
    "error",
    *CHILD_KEYS,
)
_REQUEST_KEYS: Final = (
    "method",
    "role",
    "model",
    "contents",
    "config",
    "tools",
    "thread",
    "systemInstruction",
    "provider",
)
_AS_IT_IS: Final = (
    "events",
    "transcript",
    "recording",
    "retries",
    "sideEvents",
    "workspaceChanges",
    "notes",
    "unusedSteps",
)
_MEND: Final = "make it anew with `parity trace`"


class TraceFormatError(HarnessError):
    """A file is no trace document. `file` is which."""

    def __init__(self, file: Path | str, key: str, problem: str, mend: str = _MEND) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(printable(f"trace {where}: {problem}; {mend}"))
        self.file = file


def read_trace(file: Path) -> Observation:
    """What the trace in `file` says was observed.

    Raises:
        TraceFormatError: the file cannot be read, or is no trace; naming the key.
    """
    try:
        text = read_text(file)
    except OSError as error:
        mend = "check the path"
        raise TraceFormatError(file, "", f"cannot be read: {error.strerror}", mend) from error
    except FormatProblem as error:
        raise TraceFormatError(file, "", error.problem) from error
    return parse_trace(text, file)


def parse_trace(text: str, where: Path | str) -> Observation:
    """What a trace says was observed; `where` is for messages.

    Raises:
        TraceFormatError: it is no trace; naming the key.
    """
    try:
        return _observation(parse_document(text, strict_json=True))
    except FormatProblem as error:
        raise TraceFormatError(where, error.key, error.problem) from error
    except ValueError as error:  # a whole number of more digits than Python takes
        raise TraceFormatError(where, "", f"is not JSON: {error}") from error


def _observation(value: Json) -> Observation:
    fields = _known(value, "", _KEYS)
    document = {key: fields.need(key) for key in _AS_IT_IS}
    requests, findings = _requests(fields)
    document |= {
        "requests": requests,
        "provider": findings,
        "toolStates": _tool_states(fields),
        "error": fields.raw("error"),
        **{key: fields.need(key) for key in CHILD_KEYS if key in fields},
    }
    runtime = fields.text("runtime")
    versions = {
        name: text_of(each, f"versions.{name}") for name, each in fields.mapping("versions").items()
    }
    seen = from_document(document, name=fields.text("name"), runtime=runtime, versions=versions)
    return replace(seen, words=_words(runtime))


def _known(value: Json, path: str, keys: tuple[str, ...]) -> Fields:
    """The known keys of a mapping; others are what another build has to say."""
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key in keys}
    return Fields(value, path, keys)


def _requests(fields: Fields) -> tuple[list[Json], list[Json]]:
    """The requests as differences from the one before, and what was found in them."""
    latest: dict[tuple[str, str], list[Content]] = {}
    requests: list[Json] = []
    findings: list[Json] = []
    for index, item in enumerate(fields.items("requests", required=True)):
        entry = _known(item, f"requests[{index}]", _REQUEST_KEYS)
        contents: list[Any] = entry.items("contents", required=True)
        lineage = (entry.text("role"), entry.text("thread", "main"))
        same = shared_prefix(latest.get(lineage, []), contents)
        latest[lineage] = contents
        requests.append(_request(entry, same, contents))
        findings += [{"request": index, **each} for each in _findings(entry)]
    return requests, findings


def _request(entry: Fields, same: int, contents: list[Any]) -> JsonObject:
    return {
        "method": entry.need("method"),
        "role": entry.need("role"),
        "thread": entry.text("thread", "main"),
        "model": entry.need("model"),
        "config": entry.need("config"),
        "tools": entry.need("tools"),
        "systemDigest": entry.raw("systemInstruction"),
        "sameAsPrevious": same,
        "newContents": contents[same:],
    }


def _findings(entry: Fields) -> list[JsonObject]:
    found = []
    for number, item in enumerate(entry.items("provider")):
        each = _known(item, f"{entry.at('provider')}[{number}]", ("rule", "path", "message"))
        found.append({key: each.need(key) for key in ("rule", "path", "message")})
    return found


def _tool_states(fields: Fields) -> list[Json]:
    states = fields.need("toolStates")
    if not isinstance(states, dict):
        problem = f"must be a mapping, not {kind_of(states)}"
        raise FormatProblem("toolStates", problem, _MEND)
    return [{"call": call, "states": each} for call, each in states.items()]


def _words(runtime: str) -> str:
    """Whose prompts the runtime uses: between engines with words of their own less is compared."""
    from runtimes.contract import UnusableRuntime
    from runtimes.registry import UnknownRuntime, runtime_traits

    try:
        return runtime_traits(engines_of(runtime)[0]).words
    except (UnknownRuntime, UnusableRuntime):  # a third party's, which cannot be asked here
        return runtime
