"""How a tool call is shown. Source: `tool-display-utils.ts`, reference 10."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from agent_protocol.codec import display_content_to_wire
from agent_protocol.events import DiffDisplay, DisplayContent, TextDisplay, ToolDisplay
from services.patches import unified_patch
from services.wire import Json, js_json

__all__ = [
    "Described",
    "display_content",
    "display_to_text",
    "populate_tool_display",
    "render_diff",
]


class Described(Protocol):
    """The part of an invocation that a display needs."""

    def description(self) -> str:
        """A short line for the user that describes the call."""
        ...


def populate_tool_display(
    *,
    name: str,
    invocation: Described | None = None,
    result_display: Json | None = None,
    display_name: str | None = None,
    display: ToolDisplay | None = None,
) -> ToolDisplay:
    """Fill in the missing fields of `display`.

    `result_display` is the tool's result for the user, None when there is none; an empty string is
    a result.
    """
    shown = display or ToolDisplay()
    if shown.name is None:
        shown = replace(shown, name=display_name or name)
    if shown.description is None and invocation is not None:
        shown = replace(shown, description=invocation.description())
    if shown.result is None and result_display is not None:
        shown = replace(shown, result=display_content(result_display))
    return shown


def display_content(result_display: Json) -> DisplayContent:
    """A tool's result in the contract: text, a file's diff, or else its JSON as text."""
    if isinstance(result_display, str):
        return TextDisplay(text=result_display)
    if isinstance(result_display, dict) and {"fileDiff", "newContent"} <= result_display.keys():
        before = result_display.get("originalContent")
        return DiffDisplay(
            path=result_display.get("filePath") or result_display.get("fileName"),
            before_text="" if before is None else before,
            after_text=result_display["newContent"],
        )
    return TextDisplay(text=js_json(result_display))


def display_to_text(display: DisplayContent | None) -> str | None:
    """`display` as text: its text, a patch, or its JSON."""
    match display:
        case None:
            return None
        case TextDisplay():
            return display.text
        case DiffDisplay():
            return render_diff(display)
        case _:
            return js_json(display_content_to_wire(display))


def render_diff(diff: DiffDisplay) -> str:
    """`diff` as a unified patch with three lines of context."""
    return unified_patch(
        diff.path or "file",
        diff.before_text,
        diff.after_text,
        before_label="Original",
        after_label="Modified",
    )
