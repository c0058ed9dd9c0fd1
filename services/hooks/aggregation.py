"""Merges the outputs of several hooks into one, by the event's rule.

Source: core `hooks/hookAggregator.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.hooks.events import HookEvent
from services.hooks.outputs import HookFields
from services.hooks.values import HookOutputError, has, mapping, spread
from services.wire import Json, js_json, js_text, js_truthy

__all__ = ["merge_outputs"]

_ANY_MAY_FORBID: Final = frozenset(
    {
        HookEvent.BEFORE_TOOL,
        HookEvent.AFTER_TOOL,
        HookEvent.BEFORE_AGENT,
        HookEvent.AFTER_AGENT,
        HookEvent.SESSION_START,
    }
)
_LATER_WINS: Final = frozenset({HookEvent.BEFORE_MODEL, HookEvent.AFTER_MODEL})


def merge_outputs(outputs: Sequence[HookFields], event: HookEvent) -> HookFields | None:
    """Merge outputs; None without any.

    Raises:
        HookOutputError: an output has a shape that upstream cannot read either.
    """
    if not outputs:
        return None
    if event in _ANY_MAY_FORBID:
        return _any_may_forbid(outputs)
    if event in _LATER_WINS:
        return _later_wins(outputs)
    if event is HookEvent.BEFORE_TOOL_SELECTION:
        return _tool_selection(outputs)
    merged: HookFields = {}
    for output in outputs:
        merged.update(output)
    return merged


def _any_may_forbid(outputs: Sequence[HookFields]) -> HookFields:
    merged: HookFields = {"continue": True, "suppressOutput": False}
    texts: dict[str, list[str]] = {"stopReason": [], "reason": [], "systemMessage": []}
    contexts: list[str] = []
    specific: HookFields = {}
    for output in outputs:
        if output.get("continue") is False:
            merged["continue"] = False
        decision = output.get("decision")
        if decision in ("block", "deny") or (
            decision == "ask" and merged.get("decision") not in ("block", "deny")
        ):
            merged["decision"] = decision
        for key, said in texts.items():
            if js_truthy(output.get(key)) and (
                key != "stopReason" or output.get("continue") is False
            ):
                said.append(js_text(output[key]))
        if js_truthy(output.get("suppressOutput")):
            merged["suppressOutput"] = True
        own: Json = output.get("hookSpecificOutput")
        if js_truthy(own):
            specific |= _specific(own)
            if has(own, "additionalContext") and isinstance(own["additionalContext"], str):
                contexts.append(own["additionalContext"])
    if "decision" not in merged and merged["continue"]:
        merged["decision"] = "allow"
    merged.update({key: "\n".join(said) for key, said in texts.items() if said})
    if contexts:
        specific["additionalContext"] = "\n".join(contexts)
    merged["hookSpecificOutput"] = specific
    return merged


def _specific(own: Json) -> HookFields:
    """An output's own fields; `clearContext` is true or absent."""
    fields = spread(own)
    if fields.get("clearContext") is not True:
        fields.pop("clearContext", None)
    return fields


def _later_wins(outputs: Sequence[HookFields]) -> HookFields:
    merged: HookFields = {}
    for output in outputs:
        merged = {
            **merged,
            **output,
            "hookSpecificOutput": {
                **spread(merged.get("hookSpecificOutput")),
                **spread(output.get("hookSpecificOutput")),
            },
        }
    return merged


def _tool_selection(outputs: Sequence[HookFields]) -> HookFields:
    """Only tool choices count: NONE beats ANY beats AUTO, and names add up."""
    modes: list[Json] = []
    names: dict[str, Json] = {}
    for output in outputs:
        choice = mapping(output.get("hookSpecificOutput")).get("toolConfig")
        if not choice:
            continue
        chosen = mapping(choice)
        modes.append(chosen.get("mode"))
        allowed = chosen.get("allowedFunctionNames")
        if not js_truthy(allowed):
            continue
        if not isinstance(allowed, (list, str)):
            raise HookOutputError("allowedFunctionNames must be a list")
        names.update({js_json(name): name for name in allowed})
    mode = next((mode for mode in ("NONE", "ANY") if mode in modes), "AUTO")
    in_order = sorted(names.values(), key=_utf16) if mode != "NONE" else []
    return {
        "hookSpecificOutput": {
            "hookEventName": "BeforeToolSelection",
            "toolConfig": {"mode": mode, "allowedFunctionNames": in_order},
        }
    }


def _utf16(name: Json) -> bytes:
    return js_text(name).encode("utf-16-be", "surrogatepass")
