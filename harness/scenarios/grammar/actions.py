"""The user's actions: prompts, and actions between and during them."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.agents import Agents
from harness.scenarios.grammar.interactive import Surface
from harness.scenarios.grammar.session_setup import MODES
from harness.scenarios.grammar.texts import prompt_text
from services.wire import Json, JsonObject

__all__ = ["between_sends", "interruption", "send"]

_MODELS: Final = (
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-3-pro-preview",
    "auto-gemini-2.5",
    "gemini-2.5-flash-lite",
)
_REWINDS: Final = {"rewind_only": 4, "revert_only": 4, "rewind_and_revert": 6}
_OTHER_SENDS: Final[tuple[Json, ...]] = (
    {"update": {"title": "t"}},
    {"action": {"type": "clear"}},
    {"update": {"config": {"a": 1}}},
)
"""Payloads that an agent of a session refuses."""
_PIXEL: Final = "iVBORw0KGgo="


def send(choose: Chooser) -> JsonObject:
    """One prompt."""
    kind = choose.option("prompt", {"text": 92, "parts": 3, "shown": 3, "media": 2})
    if kind == "text":
        return {"send": prompt_text(choose)}
    parts: list[Json] = [{"type": "text", "text": prompt_text(choose)}]
    if kind == "media":
        parts.append({"type": "media", "data": _PIXEL, "mimeType": "image/png"})
    else:
        parts.append({"type": "text", "text": choose.among(("second part", ""))})
    message: JsonObject = {"content": parts}
    if kind == "shown":
        message["display_content"] = "shown instead"
    return {"send": message}


def between_sends(choose: Chooser, sent: int, surface: Surface | None = None) -> JsonObject | None:
    """An action before the next prompt, if any, after `sent` prompts."""
    kinds = {
        "nothing": 60,
        "compress": 6,
        "set_model": 5,
        "set_approval_mode": 4,
        "write_file": 3,
        "resume_self": 4,
        "rewind": 4,
        "reset": 2,
    }
    if surface is not None:
        kinds |= {"leave_plan_mode": 5, "hint": 8, "other_send": 3}
        if surface.checkpoints:
            kinds["restore"] = 15
    kind = choose.option("between", kinds)
    if kind == "leave_plan_mode":
        return {kind: {"mode": choose.among([mode for mode in MODES if mode != "plan"])}}
    if kind == "hint":
        return _hint(choose)
    if kind == "restore":
        return {kind: choose.among((0, 1, "no_such_checkpoint"))}
    if kind == "other_send":
        return {"send": choose.among(_OTHER_SENDS)}
    if kind == "set_model":
        return {"set_model": {"model": choose.among(_MODELS)}}
    if kind == "set_approval_mode":
        return {"set_approval_mode": {"mode": choose.among(MODES)}}
    if kind == "write_file":
        path = choose.among(("a.txt", "b.txt", "new.txt"))
        return {"write_file": {"path": path, "text": "changed outside\n"}}
    if kind == "rewind":
        back: JsonObject = {"to": choose.whole(0, sent - 1)}
        if surface is not None:
            back["choice"] = choose.option("rewind_choice", _REWINDS)
        return {"rewind": back}
    return None if kind == "nothing" else {kind: True}


def interruption(
    choose: Chooser, agents: Agents | None = None, surface: Surface | None = None
) -> JsonObject:
    """One entry of `during`."""
    when: JsonObject
    kinds = {"events": 10, "request": 8, "chunk": 6, "type": 4, "tool": 4}
    if agents is not None and agents.beside_each_other:
        # Which agent makes the n-th request is chance.
        kinds = {"events": 10, "type": 4, "tool": 4}
    if surface is not None and choose.draws("steering"):
        kinds["output"] = 3
    kind = choose.option("when", kinds)
    if kind == "events":
        when = {"events": choose.whole(1, 14)}
    elif kind == "request":
        when = {"request": choose.whole(0, 6)}
    elif kind == "chunk":
        when = {"chunk": f"{choose.whole(0, 4)}:{choose.whole(0, 2)}"}
    elif kind == "type":
        types = (
            "tool_request",
            "tool_response",
            "message",
            "usage",
            "agent_start",
            "session_update",
            "tool_update",
            "error",
        )
        when = {"type": choose.among(types)}
    elif kind == "output":
        when = {"output": "run_shell_command"}
    else:
        called = ("invoke_agent",) if agents is not None else ()
        asking = ("ask_user", "exit_plan_mode") if surface is not None else ()
        tools = ("read_file", "run_shell_command", "write_file")
        when = {"tool": choose.among((*called, *tools, *asking))}
    # A prompt during a stream is refused, so it is drawn only where a stream is surely running.
    if kind == "output":
        # An abort would cut off as much of a process's output as it has by chance.
        return {"when": when, "do": _hint(choose)}
    found: JsonObject = {
        "when": when,
        "do": _doing(choose, agents, surface, sends=kind in ("chunk", "tool")),
    }
    if "send" not in found["do"] and choose.chance("delay", 400):
        # More than the clock moves at a request: only waits of both sides take as long.
        found["delay_ms"] = choose.among((40, 700, 6_000, 31_000))
    return found


def _doing(choose: Chooser, agents: Agents | None, surface: Surface | None, *, sends: bool) -> Json:
    if sends and choose.chance("send_meanwhile", 80):
        others = _OTHER_SENDS if surface is not None else ()
        return {"send": choose.among(("one more thing", *others))}
    kinds = {"abort": 20, "mode": 4}
    if agents is not None or surface is not None:
        kinds["hint"] = 15
    kind = choose.option("during", kinds)
    if kind == "hint":
        return _hint(choose)
    if kind == "mode":
        return {"set_approval_mode": {"mode": choose.among(MODES)}}
    return "abort"


def _hint(choose: Chooser) -> JsonObject:
    source = choose.among(("user_steering", "background_completion"))
    return {"hint": {"text": choose.among(("look closer", "  ")), "source": source}}
