"""Finds the tools that agents declare to their model, and makes a call of one for an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.replay.models import ReplayedModel, scripted_model
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from runtimes.registry import check_runtime
from services.clock import VirtualClock
from services.model.generator import ModelRequest
from services.model.replay.generator import ObservedRequest
from services.wire import Json, JsonObject

__all__ = ["Asked", "asked_once", "example_arguments", "example_cassette"]

_SECONDS: Final = 30.0
"""Real seconds that an agent has for the answer to one message."""
_DEEPEST: Final = 4
_SCHEMAS: Final = ("parametersJsonSchema", "parameters_json_schema", "parameters")
"""The keys for a function's schema. google-genai writes the second, as it gets it."""


class Asked:
    """What an agent did with one message that its model answers with a text."""

    def __init__(self, seen: Observation, tools: Mapping[str, JsonObject]) -> None:
        self.seen = seen
        self.tools = tools
        """The functions that its first request declares: name → JSON schema of the arguments."""


def example_cassette(name: str, document: Mapping[str, Any]) -> Cassette:
    """Build a cassette from its `script` and `model`; further keys replace the usual ones."""
    tree = {"cassette": 1, "name": name, "session": {"model": "gemini-2.5-flash"}, **document}
    return build_cassette(tree, Path(f"{name}.yaml"))


def asked_once(runtime: str, model: str = "gemini-2.5-flash") -> Asked:
    """Send a message to the agent of a runtime, and return what it did.

    Raises:
        UnknownRuntime, RuntimeUnavailable, ReplayFailure: as for `run_cassette`.
    """
    check_runtime(runtime)
    tools: dict[str, JsonObject] = {}

    def source(
        cassette: Cassette, clock: VirtualClock, on_request: Any, on_chunk: Any
    ) -> ReplayedModel:
        def note(observed: ObservedRequest) -> None:
            if isinstance(observed.request, ModelRequest):
                tools.update(_declared(observed.request.config.get("tools")))
            on_request(observed)

        return scripted_model(cassette, clock, note, on_chunk)

    steps: list[Json] = [{"text": "Hello.", "repeat": 20}]
    document = {"session": {"model": model}, "script": [{"send": "Hello"}], "model": steps}
    cassette = example_cassette("first/hello", document)
    return Asked(run_cassette(cassette, runtime, deadline_s=_SECONDS, model=source), tools)


def _declared(tools: Any) -> Mapping[str, JsonObject]:
    found: dict[str, JsonObject] = {}
    for tool in tools if isinstance(tools, Sequence) else ():
        for each in tool.get("functionDeclarations") or ():
            schemas = (each[key] for key in _SCHEMAS if isinstance(each.get(key), Mapping))
            found[str(each.get("name"))] = _plain(next(schemas, {}))
    return found


def _plain(schema: Any) -> Any:
    """Return a schema with the types of JSON Schema, as Gemini's are in capital letters.

    A `title` that is a text goes: ADK makes titles of names.
    """
    if isinstance(schema, Mapping):
        return {
            key: value.lower() if key == "type" and isinstance(value, str) else _plain(value)
            for key, value in schema.items()
            if key != "title" or not isinstance(value, str)
        }
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema


def example_arguments(schema: Mapping[str, Any]) -> JsonObject:
    """Return arguments that fit a tool's schema, as far as types, choices and properties say."""
    value = _example({"type": "object", **schema}, _DEEPEST)
    return value if isinstance(value, dict) else {}


def _example(schema: Mapping[str, Any], deep: int) -> Json:
    for key in ("default", "example"):
        if schema.get(key) is not None:
            given: Json = schema[key]
            return given
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        chosen: Json = choices[0]
        return chosen
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" and deep:
        names = schema.get("properties") or {}
        wanted = schema.get("required", list(names))
        return {name: _example(each, deep - 1) for name, each in names.items() if name in wanted}
    if kind == "array" and deep:
        return [_example(schema.get("items") or {}, deep - 1)]
    plain: dict[Any, Json] = {
        "integer": 1,
        "number": 1.5,
        "boolean": True,
        "object": {},
        "array": [],
    }
    return plain.get(kind, "example")
