"""What the user does: prompts, and between and during them whatever else a user can do."""

from __future__ import annotations

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.texts import prompt_text
from services.wire import Json, JsonObject

__all__ = ["between_sends", "interruption", "send"]


def send(choose: Chooser) -> JsonObject:
    """One prompt."""
    if choose.chance("rich_prompt", 60):
        parts: list[Json] = [
            {"type": "text", "text": prompt_text(choose)},
            {"type": "text", "text": "second part"},
        ]
        return {"send": {"content": parts, "display_content": "shown instead"}}
    return {"send": prompt_text(choose)}


def between_sends(choose: Chooser) -> JsonObject | None:
    """What is done before the next prompt; mostly nothing."""
    kind = choose.option(
        "between",
        {
            "nothing": 60,
            "compress": 6,
            "set_model": 5,
            "set_approval_mode": 4,
            "write_file": 3,
            "resume_self": 4,
            "reset": 2,
        },
    )
    actions: dict[str, JsonObject | None] = {
        "nothing": None,
        "compress": {"compress": True},
        "write_file": {"write_file": {"path": "a.txt", "text": "changed outside\n"}},
        "resume_self": {"resume_self": True},
        "reset": {"reset": True},
    }
    if kind == "set_model":
        return {"set_model": {"model": choose.among(("gemini-2.5-pro", "gemini-2.5-flash"))}}
    if kind == "set_approval_mode":
        return {"set_approval_mode": {"mode": choose.among(("yolo", "default", "auto_edit"))}}
    return actions[kind]


def interruption(choose: Chooser) -> JsonObject:
    """One entry of `during`."""
    when: JsonObject
    kind = choose.option("when", {"events": 10, "request": 8, "chunk": 6, "type": 4, "tool": 4})
    if kind == "events":
        when = {"events": choose.whole(1, 14)}
    elif kind == "request":
        when = {"request": choose.whole(0, 6)}
    elif kind == "chunk":
        when = {"chunk": f"{choose.whole(0, 4)}:{choose.whole(0, 2)}"}
    elif kind == "type":
        when = {"type": choose.among(("tool_request", "tool_response", "message", "usage"))}
    else:
        when = {"tool": choose.among(("read_file", "run_shell_command", "write_file"))}
    found: JsonObject = {"when": when, "do": _doing(choose)}
    if choose.chance("delay", 400):
        found["delay_ms"] = choose.among((1, 40, 700, 6_000))
    return found


def _doing(choose: Chooser) -> Json:
    kind = choose.option("during", {"abort": 20, "mode": 4})
    if kind == "mode":
        return {"set_approval_mode": {"mode": choose.among(("yolo", "default"))}}
    return "abort"
