"""An `Observation` as a JSON value and back: the key `observation` of a baseline's file.

A request is stored as its difference from the one before. The digests over the contents are not
stored: reading a document computes them, so that changed contents show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from harness.canonical import canonical
from harness.cassette.problems import FormatProblem
from harness.codec import Coded, Unreadable, read, written
from harness.provider.rules import RULES, ProviderFinding
from harness.replay.observation import (
    ChildObservation,
    Observation,
    ObservedRequest,
    RunPaths,
    Thread,
)
from harness.replay.trace import children_of, custom_of, progress_of, retry_record
from services.state import RetryAttempt
from services.wire import Content, Json, JsonObject

__all__ = ["from_document", "to_document"]

_TOKENS: Final = ("inputTokens", "outputTokens", "cachedTokens")
_MEND: Final = "correct the value, or create the file again"

_Count = Annotated[int, Field(ge=0, strict=True)]


def _known_rule(rule: str) -> str:
    if rule not in RULES:
        raise ValueError(f"there is no rule {rule}; write one of {', '.join(RULES)}")
    return rule


_Rule = Annotated[str, AfterValidator(_known_rule)]


class _Part(Coded):
    """A part of the document, which has no keys but its own."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request(_Part):
    method: str
    role: str
    thread: Thread
    model: str
    config: JsonObject
    tools: tuple[str, ...]
    tools_digest: str | None = None
    system_digest: str | None = None
    same_as_previous: _Count
    new_contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding(_Part):
    request: _Count
    rule: _Rule
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call(_Part):
    call: str
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Retry(_Part):
    attempt: _Count
    max_attempts: _Count
    delay_ms: Annotated[float, Field(strict=True)]
    error: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document(_Part):
    events: list[JsonObject]
    transcript: list[Content]
    requests: list[_Request]
    provider: list[_Finding]
    recording: dict[str, list[Any]]
    tool_states: list[_Call]
    retries: list[_Retry]
    side_events: list[JsonObject]
    workspace_changes: dict[str, str | None]
    notes: list[str]
    unused_steps: list[_Count]
    error: str | None = None
    stalled: Annotated[bool, Field(strict=True)] = False
    progress: dict[str, list[JsonObject]] | None = None
    custom: dict[str, list[JsonObject]] = field(default_factory=dict)
    channels: list[str] | None = None
    children: list[ChildObservation] = field(default_factory=list)
    threads: dict[
        Literal["tool_states", "retries", "side_events"], dict[Annotated[int, Field(ge=0)], Thread]
    ] = field(default_factory=dict)


class _MaskedPaths(RunPaths):
    """The paths of an observation that is masked already."""

    def __init__(self) -> None:
        super().__init__(workspace="<WS>", home="<HOME>")

    def mask_text(self, text: str) -> str:
        """Return `text` unchanged."""
        return text

    def mask_json(self, text: str) -> str:
        """Return `text` unchanged."""
        return text


def to_document(seen: Observation) -> JsonObject:
    """Return the compared parts of a complete run as JSON, with the run's own paths."""
    return {
        "events": list(seen.events),
        "transcript": list(seen.transcript),
        "requests": [_request(request) for request in seen.requests],
        # Always there: a document without this key comes from an earlier build.
        "provider": [
            {
                "request": index,
                "rule": finding.rule,
                "path": finding.path,
                "message": finding.message,
            }
            for index, request in enumerate(seen.requests)
            for finding in request.provider
        ],
        "recording": {path: list(lines) for path, lines in seen.recording.items()},
        # A list, as the order of the calls is compared.
        "toolStates": [
            {"call": call, "states": list(states)} for call, states in seen.tool_states.items()
        ],
        **progress_of(seen),
        "retries": [retry_record(retry) for retry in seen.retries],
        "sideEvents": list(seen.side_events),
        "workspaceChanges": dict(seen.workspace_changes),
        **custom_of(seen),
        "notes": list(seen.notes),
        "unusedSteps": list(seen.unused_steps),
        "error": seen.error,
        "stalled": seen.stalled,
        **children_of(seen),
    }


def _request(request: ObservedRequest) -> JsonObject:
    names = (each.name for each in fields(_Request))
    return {to_camel(name): written(getattr(request, name)) for name in names}


def from_document(
    value: Json, *, name: str, runtime: str, versions: Mapping[str, str], path: str = ""
) -> Observation:
    """Return the inverse of `to_document`, for a document with masked paths.

    `sha256:` and a digest replace each system instruction.

    Args:
        value: The document, from any source.
        name: The cassette's name.
        runtime: The runtime's name.
        versions: Component to version.
        path: The document's place, for messages.

    Raises:
        FormatProblem: naming the wrong key.
    """
    try:
        document = read(_Document, value)
        _check_tokens(document.events)
        requests = _observed(document)
        calls = _tool_states(document.tool_states)
    except Unreadable as problem:
        place = f"{path}.{problem.place}" if path and problem.place else path or problem.place
        raise FormatProblem(place, problem.problem, _MEND) from problem
    return Observation(
        name=name,
        runtime=runtime,
        paths=_MaskedPaths(),
        versions=versions,
        events=document.events,
        transcript=document.transcript,
        requests=requests,
        recording=document.recording,
        tool_states=calls,
        progress=document.progress,
        retries=[RetryAttempt(**asdict(retry)) for retry in document.retries],
        side_events=document.side_events,
        workspace_changes=document.workspace_changes,
        custom=document.custom,
        channels=None if document.channels is None else frozenset(document.channels),
        notes=document.notes,
        unused_steps=document.unused_steps,
        error=document.error,
        stalled=document.stalled,
        children=document.children,
        threads={str(name): placed for name, placed in document.threads.items()},
    )


def _check_tokens(events: Sequence[JsonObject]) -> None:
    for index, event in enumerate(events):
        for key in _TOKENS:  # they are summed up
            count = event.get(key)
            if isinstance(count, bool) or not isinstance(count, int | float | None):
                raise Unreadable(f"events[{index}].{key}", f"must be a number, not {count!r:.60}")


def _observed(document: _Document) -> list[ObservedRequest]:
    """Return the requests with their digests and their findings of provider rules."""
    found: dict[int, list[ProviderFinding]] = {}
    for number, each in enumerate(document.provider):
        if each.request >= len(document.requests):
            problem = f"is {each.request}, but there are {len(document.requests)} requests"
            raise Unreadable(f"provider[{number}].request", problem)
        finding = ProviderFinding(rule=each.rule, path=each.path, message=each.message)
        found.setdefault(each.request, []).append(finding)
    chains: dict[tuple[str, str], list[bytes]] = {}
    requests: list[ObservedRequest] = []
    for number, request in enumerate(document.requests):
        chain = chains.setdefault((request.role, request.thread), [b""])
        same = request.same_as_previous
        if same >= len(chain):
            problem = f"is {same}, but the request before had {len(chain) - 1} contents"
            raise Unreadable(f"requests[{number}].sameAsPrevious", problem)
        _advance(chain, same, request.new_contents)
        system = request.system_digest
        requests.append(
            ObservedRequest(
                **{each.name: getattr(request, each.name) for each in fields(request)},
                system_instruction=None if system is None else f"sha256:{system}",
                digest=chain[-1].hex(),
                provider=tuple(found.get(number, ())),
            )
        )
    return requests


def _advance(chain: list[bytes], same: int, contents: Sequence[Content]) -> None:
    """Continue a lineage's hashes of prefixes, as `RequestLog` makes them."""
    del chain[same + 1 :]
    for content in contents:
        chain.append(hashlib.sha256(chain[-1] + canonical(content).encode()).digest())


def _tool_states(calls: Sequence[_Call]) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for number, each in enumerate(calls):
        if each.call in found:
            raise Unreadable(f"toolStates[{number}].call", f"{each.call} is there twice")
        found[each.call] = list(each.states)
    return found
