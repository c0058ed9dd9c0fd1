"""Read a trace document back into an `Observation`, so that two traces can be compared like runs.

The inverse of `harness.replay.trace`. A trace lacks parts of the observation: declarations of tools
and some keys of a request's config. Traces come from other machines and revisions, so reading is
bounded, checks the keys, and ignores unknown keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from harness.baseline.document import from_document
from harness.canonical import printable
from harness.cassette.document import parse_document, read_text
from harness.cassette.problems import FormatProblem
from harness.codec import Coded, Unreadable, read
from harness.errors import HarnessError
from harness.prefixes import shared_prefix
from harness.replay.observation import Observation, Screen
from harness.replay.trace import CHILD_KEYS
from harness.sides import engines_of
from runtimes.contract import UnusableRuntime
from runtimes.registry import UnknownRuntime, runtime_traits
from services.wire import Content, Json, JsonObject

__all__ = ["TraceFormatError", "parse_trace", "read_trace"]

_AS_IT_IS: Final = (
    "events",
    "transcript",
    "progress",
    "recording",
    "retries",
    "sideEvents",
    "workspaceChanges",
    "custom",
    "channels",
    "notes",
    "unusedSteps",
    "error",
    *CHILD_KEYS,
)
"""Keys that an observation's document has alike; `from_document` checks them."""
_MEND: Final = "create it again with `parity trace`"


class TraceFormatError(HarnessError):
    """The file `file` is not a trace document."""

    def __init__(self, file: Path | str, key: str, problem: str, mend: str = _MEND) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(printable(f"trace {where}: {problem}; {mend}"))
        self.file = file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding(Coded):
    rule: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request(Coded):
    contents: list[Any]
    method: Any
    role: str
    thread: str = "main"
    model: Any
    config: Any
    tools: Any
    system_instruction: Any = None
    provider: list[_Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace(Coded):
    name: str
    runtime: str
    versions: dict[str, str]
    requests: list[_Request]
    tool_states: dict[str, Any]
    screens: list[tuple[str, ...]] = field(default_factory=list)
    wire: list[JsonObject] = field(default_factory=list)


def read_trace(file: Path) -> Observation:
    """Return the observation in a trace's file.

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
    """Return the observation in a trace; `where` is for messages.

    Raises:
        TraceFormatError: it is no trace; naming the key.
    """
    try:
        return _observation(parse_document(text, strict_json=True))
    except FormatProblem as error:
        raise TraceFormatError(where, error.key, error.problem) from error
    except Unreadable as error:
        raise TraceFormatError(where, error.place, error.problem) from error
    except ValueError as error:  # a whole number with more digits than Python accepts
        raise TraceFormatError(where, "", f"is not JSON: {error}") from error


def _observation(value: Any) -> Observation:
    trace = read(_Trace, value)
    document: JsonObject = {key: value[key] for key in _AS_IT_IS if key in value}
    document["requests"] = _requests(trace.requests)
    document["provider"] = [
        {"request": index, **each.to_json()}
        for index, request in enumerate(trace.requests)
        for each in request.provider
    ]
    document["toolStates"] = [
        {"call": call, "states": states} for call, states in trace.tool_states.items()
    ]
    seen = from_document(document, name=trace.name, runtime=trace.runtime, versions=trace.versions)
    screens = [Screen(lines=lines) for lines in trace.screens]
    return replace(seen, words=_words(trace.runtime), screens=screens, wire=trace.wire)


def _requests(requests: list[_Request]) -> list[Json]:
    """Return the requests as differences from the one before."""
    latest: dict[tuple[str, str], list[Content]] = {}
    found: list[Json] = []
    for request in requests:
        lineage = (request.role, request.thread)
        same = shared_prefix(latest.get(lineage, []), request.contents)
        latest[lineage] = request.contents
        document: JsonObject = request.to_json()
        del document["contents"], document["provider"]
        document["systemDigest"] = document.pop("systemInstruction")
        found.append({**document, "sameAsPrevious": same, "newContents": request.contents[same:]})
    return found


def _words(runtime: str) -> str:
    """Whose prompts the runtime uses: between engines with words of their own less is compared."""
    try:
        return runtime_traits(engines_of(runtime)[0]).words
    except (UnknownRuntime, UnusableRuntime):  # another project's runtime, which is not loaded here
        return runtime
