"""An `Observation` as a JSON value and back: what a baseline's file holds under `observation`.

Requests stay differences from the one before, so a document is linear in the conversation. The
running digests over their contents are left out: they follow from the contents, and are worked out
anew whenever a document is read. A file whose contents were changed by hand therefore differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from harness.baseline.masked import MaskedPaths
from harness.canonical import canonical
from harness.cassette.fields import Fields, text_of, whole_of
from harness.cassette.problems import FormatProblem, kind_of
from harness.provider.rules import RULES, ProviderFinding
from harness.replay.child_documents import (
    CHILD_KEYS,
    children_in,
    children_of,
    thread_of,
    threads_in,
)
from harness.replay.observation import Observation, ObservedRequest
from harness.replay.trace import retry_record
from services.state import RetryAttempt
from services.wire import Content, Json, JsonObject

__all__ = ["from_document", "to_document"]

_KEYS: Final = (
    "events",
    "transcript",
    "requests",
    "provider",
    "recording",
    "toolStates",
    "retries",
    "sideEvents",
    "workspaceChanges",
    "notes",
    "unusedSteps",
    "error",
    "stalled",
    *CHILD_KEYS,
)
_REQUEST_KEYS: Final = (
    "method",
    "role",
    "thread",
    "model",
    "config",
    "tools",
    "toolsDigest",
    "systemDigest",
    "sameAsPrevious",
    "newContents",
)
_PROVIDER_KEYS: Final = ("request", "rule", "path", "message")
_RETRY_KEYS: Final = ("attempt", "maxAttempts", "delayMs", "error", "model")
_TOKENS: Final = ("inputTokens", "outputTokens", "cachedTokens")


def to_document(seen: Observation) -> JsonObject:
    """All that is compared of a run, as JSON; paths as the run gave them.

    That it broke or was cut off is left out: such a run is never kept.
    """
    return {
        "events": list(seen.events),
        "transcript": list(seen.transcript),
        "requests": [_request(request) for request in seen.requests],
        # Beside the requests and always there: a document without it was made before it was known.
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
        # A list, not a mapping: in which order the calls appeared is compared.
        "toolStates": [
            {"call": call, "states": list(states)} for call, states in seen.tool_states.items()
        ],
        "retries": [retry_record(retry) for retry in seen.retries],
        "sideEvents": list(seen.side_events),
        "workspaceChanges": dict(seen.workspace_changes),
        "notes": list(seen.notes),
        "unusedSteps": list(seen.unused_steps),
        "error": seen.error,
        "stalled": seen.stalled,
        **children_of(seen),
    }


def _request(request: ObservedRequest) -> JsonObject:
    return {
        "method": request.method,
        "role": request.role,
        "thread": request.thread,
        "model": request.model,
        "config": request.config,
        "tools": list(request.tools),
        "toolsDigest": request.tools_digest,
        "systemDigest": request.system_digest,
        "sameAsPrevious": request.same_as_previous,
        "newContents": list(request.new_contents),
    }


def from_document(
    value: Json, *, name: str, runtime: str, versions: Mapping[str, str], path: str = ""
) -> Observation:
    """The inverse of `to_document`, of a document whose paths are masked.

    In the place of a system instruction stands `sha256:` and its digest: texts that differ are
    distinguished, and there is something to show.

    Args:
        value: The document, from any source.
        name: The cassette's name.
        runtime: The runtime's name.
        versions: What ran.
        path: Where the document stands, for messages.

    Raises:
        FormatProblem: naming the key that does not hold what it should.
    """
    fields = Fields(value, path, _KEYS)
    return Observation(
        name=name,
        runtime=runtime,
        paths=MaskedPaths(),
        versions=versions,
        events=_events(fields),
        transcript=_objects(fields, "transcript"),
        requests=_examined(fields, _requests(fields)),
        recording=_recording(fields),
        tool_states=_tool_states(fields),
        retries=_retries(fields),
        side_events=_objects(fields, "sideEvents"),
        workspace_changes=_workspace(fields),
        notes=_texts(fields, "notes"),
        unused_steps=[
            whole_of(step, f"{fields.at('unusedSteps')}[{index}]")
            for index, step in enumerate(fields.items("unusedSteps", required=True))
        ],
        error=fields.optional_text("error"),
        stalled=fields.flag("stalled"),
        children=children_in(fields),
        threads=threads_in(fields),
    )


def _objects(fields: Fields, key: str) -> list[JsonObject]:
    return [
        _object(item, f"{fields.at(key)}[{index}]")
        for index, item in enumerate(fields.items(key, required=True))
    ]


def _object(value: Json, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise FormatProblem(path, f"must be a mapping, not {kind_of(value)}", "write a mapping")
    return value


def _texts(fields: Fields, key: str) -> list[str]:
    items = fields.items(key, required=True)
    return [text_of(item, f"{fields.at(key)}[{index}]") for index, item in enumerate(items)]


def _mapping(fields: Fields, key: str) -> JsonObject:
    return _object(fields.need(key), fields.at(key))


def _number(value: Json, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatProblem(path, f"must be a number, not {kind_of(value)}", "write a number")
    return value


def _events(fields: Fields) -> list[JsonObject]:
    events = _objects(fields, "events")
    for index, event in enumerate(events):
        for key in _TOKENS:  # they are summed up
            if event.get(key) is not None:
                _number(event[key], f"{fields.at('events')}[{index}].{key}")
    return events


def _requests(fields: Fields) -> list[ObservedRequest]:
    chains: dict[tuple[str, str], list[bytes]] = {}
    return [
        _observed(Fields(item, f"{fields.at('requests')}[{index}]", _REQUEST_KEYS), chains)
        for index, item in enumerate(fields.items("requests", required=True))
    ]


def _observed(fields: Fields, chains: dict[tuple[str, str], list[bytes]]) -> ObservedRequest:
    role, thread = fields.text("role"), thread_of(fields.need("thread"), fields.at("thread"))
    chain = chains.setdefault((role, thread), [b""])
    same = whole_of(fields.need("sameAsPrevious"), fields.at("sameAsPrevious"))
    if same >= len(chain):
        problem = f"is {same}, but the request before had {len(chain) - 1} contents"
        raise FormatProblem(fields.at("sameAsPrevious"), problem, "write how many it shares")
    contents: list[Content] = _objects(fields, "newContents")
    _advance(chain, same, contents)
    system = fields.optional_text("systemDigest")
    return ObservedRequest(
        method=fields.text("method"),
        role=role,
        model=fields.text("model"),
        thread=thread,
        config=_mapping(fields, "config"),
        tools=tuple(_texts(fields, "tools")),
        tools_digest=fields.optional_text("toolsDigest"),
        system_instruction=None if system is None else f"sha256:{system}",
        system_digest=system,
        same_as_previous=same,
        new_contents=tuple(contents),
        digest=chain[-1].hex(),
    )


def _examined(fields: Fields, requests: list[ObservedRequest]) -> list[ObservedRequest]:
    """The requests with what was found of the provider rules."""
    found: dict[int, list[ProviderFinding]] = {}
    for number, item in enumerate(fields.items("provider", required=True)):
        entry = Fields(item, f"{fields.at('provider')}[{number}]", _PROVIDER_KEYS)
        index, rule = whole_of(entry.need("request"), entry.at("request")), entry.text("rule")
        if index >= len(requests):
            problem = f"is {index}, but there are {len(requests)} requests"
            raise FormatProblem(entry.at("request"), problem, "write a request's index")
        if rule not in RULES:
            mend = f"write one of {', '.join(RULES)}"
            raise FormatProblem(entry.at("rule"), f"there is no rule {rule}", mend)
        finding = ProviderFinding(rule=rule, path=entry.text("path"), message=entry.text("message"))
        found.setdefault(index, []).append(finding)
    return [
        replace(request, provider=tuple(found[index])) if index in found else request
        for index, request in enumerate(requests)
    ]


def _advance(chain: list[bytes], same: int, contents: Sequence[Content]) -> None:
    """Continue a lineage's hashes of prefixes, as `RequestLog` makes them."""
    del chain[same + 1 :]
    for content in contents:
        chain.append(hashlib.sha256(chain[-1] + canonical(content).encode()).digest())


def _recording(fields: Fields) -> dict[str, Sequence[Any]]:
    found: dict[str, Sequence[Any]] = {}
    for file, lines in _mapping(fields, "recording").items():
        if not isinstance(lines, list):
            problem = f"must be a list, not {kind_of(lines)}"
            raise FormatProblem(f"{fields.at('recording')}.{file}", problem, "write a list")
        found[file] = lines
    return found


def _tool_states(fields: Fields) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for index, item in enumerate(fields.items("toolStates", required=True)):
        entry = Fields(item, f"{fields.at('toolStates')}[{index}]", ("call", "states"))
        call = entry.text("call")
        if call in found:
            raise FormatProblem(entry.at("call"), f"{call} is there twice", "keep one of them")
        found[call] = _texts(entry, "states")
    return found


def _retries(fields: Fields) -> list[RetryAttempt]:
    found = []
    for index, item in enumerate(fields.items("retries", required=True)):
        entry = Fields(item, f"{fields.at('retries')}[{index}]", _RETRY_KEYS)
        found.append(
            RetryAttempt(
                attempt=whole_of(entry.need("attempt"), entry.at("attempt")),
                max_attempts=whole_of(entry.need("maxAttempts"), entry.at("maxAttempts")),
                delay_ms=_number(entry.need("delayMs"), entry.at("delayMs")),
                error=entry.text("error"),
                model=entry.text("model"),
            )
        )
    return found


def _workspace(fields: Fields) -> dict[str, str | None]:
    return {
        file: None if text is None else text_of(text, f"{fields.at('workspaceChanges')}.{file}")
        for file, text in _mapping(fields, "workspaceChanges").items()
    }
