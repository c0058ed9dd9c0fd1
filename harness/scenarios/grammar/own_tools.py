"""Scenarios for agents with tools of their own: plain turns, failures of the model, aborts, resets.

Nothing in them needs a setting, a file or a tool of the product. The model calls the tools that
both agents have (`RuntimeTraits.tools`), with arguments drawn from their schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.chunks import chunk
from harness.scenarios.grammar.model_faults import fault
from harness.scenarios.grammar.texts import answer_text, cut, prompt_text, thought_text
from services.wire import Json, JsonObject

__all__ = ["own_scenario"]

_MODEL: Final = "gemini-2.5-flash"
_TAIL: Final = 12
_DEEPEST: Final = 3
_TEXTS: Final = ("tea", "", "naïve café", "a" * 300, "0", '{"x": 1}', "two\nlines")
_NUMBERS: Final = (1, 0, -1, 2.5, 1_000_000)
_FINISHES: Final = {"STOP": 60, "MAX_TOKENS": 4, "SAFETY": 2, "MALFORMED_FUNCTION_CALL": 2}
_MOMENTS: Final = {"request": 4, "chunk": 4, "events": 6}


def own_scenario(choose: Chooser, name: str, tools: Mapping[str, JsonObject]) -> JsonObject:
    """A cassette as JSON, under `name`, for agents with these tools: name → JSON schema."""
    script: list[Json] = []
    steps: list[JsonObject] = []
    for index in range(1 + sum(1 for _ in choose.times("send", 4, 550))):
        if index and choose.option("between", {"nothing": 20, "reset": 2}) == "reset":
            script.append({"reset": True})
        script.append({"send": prompt_text(choose)})
        steps += _conversation(choose, tools)
    found: JsonObject = {
        "cassette": 1,
        "name": name,
        "provenance": {"kind": "generated"},
        "session": {"model": _MODEL},
        "script": script,
    }
    during = [_abort(choose) for _ in choose.times("interruption", 2, 120)]
    if during:
        found["during"] = during
    found["model"] = [*steps, {"text": "Nothing more to say.", "repeat": _TAIL}]
    return found


def _conversation(choose: Chooser, tools: Mapping[str, JsonObject]) -> list[JsonObject]:
    """The steps of one prompt: rounds of calls, then an answer; failures before any of them."""
    steps: list[JsonObject] = []
    for _ in choose.times("round", 4, 550) if tools else ():
        steps += [fault(choose) for _ in choose.times("fault", 3, 120)]
        steps.append(_answer(choose, _calls(choose, tools)))
    steps += [fault(choose) for _ in choose.times("fault", 3, 120)]
    steps.append(_answer(choose, []))
    return steps


def _answer(choose: Chooser, calls: list[JsonObject]) -> JsonObject:
    """A step that answers with text, calls, or both."""
    parts: list[JsonObject] = []
    if choose.chance("thought", 200):
        parts += [{"text": each, "thought": True} for each in cut(choose, thought_text(choose))]
    if not calls or choose.chance("text_before_calls", 250):
        parts += [{"text": each} for each in cut(choose, answer_text(choose))]
    if choose.chance("calls_apart", 300):
        chunks = [chunk([part]) for part in [*parts, *calls]]
    else:
        chunks = [*(chunk([part]) for part in parts), *([chunk(calls)] if calls else [])]
    chunks[-1]["candidates"][0]["finishReason"] = choose.option("finish", _FINISHES)
    if choose.chance("usage", 700):
        counts = {"promptTokenCount": choose.among((10, 2_000)), "candidatesTokenCount": 5}
        chunks[-1]["usageMetadata"] = {**counts, "totalTokenCount": sum(counts.values())}
    step: JsonObject = {"stream": chunks}
    if choose.chance("slow_model", 50):
        step["delay_ms"] = choose.among((1, 250, 5000))
    return step


def _calls(choose: Chooser, tools: Mapping[str, JsonObject]) -> list[JsonObject]:
    count = 1 + sum(1 for _ in choose.times("parallel_call", 3, 350))
    return [{"functionCall": _call(choose, tools)} for _ in range(count)]


def _call(choose: Chooser, tools: Mapping[str, JsonObject]) -> JsonObject:
    kind = choose.option("own_call", {"valid": 60, "lacking": 3, "unknown": 2})
    if kind == "unknown":
        return {"name": "no_such_tool", "args": {}}
    name = choose.among(sorted(tools))
    args = _value(choose, {"type": "object", **tools[name]}, _DEEPEST)
    if kind == "lacking" and isinstance(args, dict) and args:
        del args[next(iter(args))]
    return {"name": name, "args": args}


def _value(choose: Chooser, schema: Mapping[str, Any], deep: int) -> Json:
    """A value that a JSON schema describes, as far as its type, properties and choices say."""
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        chosen: Json = choose.among(schema["enum"])
        return chosen
    kind = schema.get("type")
    kind = str(kind[0] if isinstance(kind, list) and kind else kind).lower()
    if kind == "object" and deep:
        return _object(choose, schema, deep - 1)
    if kind == "array" and deep:
        items = schema.get("items") or {"type": "string"}
        return [_value(choose, items, deep - 1) for _ in choose.times("own_item", 3, 600)]
    if kind == "boolean":
        return choose.among((True, False))
    if kind in ("integer", "number"):
        return choose.among([each for each in _NUMBERS if kind == "number" or each == int(each)])
    return {} if kind == "object" else [] if kind == "array" else choose.among(_TEXTS)


def _object(choose: Chooser, schema: Mapping[str, Any], deep: int) -> JsonObject:
    required = schema.get("required")
    names = schema.get("properties") or {}
    wanted = list(names) if required is None else list(required)
    return {
        name: _value(choose, each, deep)
        for name, each in names.items()
        if name in wanted or choose.chance("own_optional", 500)
    }


def _abort(choose: Chooser) -> JsonObject:
    moment = choose.option("own_moment", _MOMENTS)
    if moment == "events":
        return {"when": {"events": choose.whole(2, 8)}, "do": "abort"}
    if moment == "chunk":
        return {"when": {"chunk": f"{choose.whole(0, 2)}:{choose.whole(0, 2)}"}, "do": "abort"}
    return {"when": {"request": choose.whole(0, 3)}, "do": "abort"}
