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
    """What is needed of an invocation here."""

    def description(self) -> str:
        """What this call does, in a short line for people."""
        ...


def populate_tool_display(
    *,
    name: str,
    invocation: Described | None = None,
    result_display: Json | None = None,
    display_name: str | None = None,
    display: ToolDisplay | None = None,
) -> ToolDisplay:
    """Fill in what `display`, built earlier, leaves open; what it has, wins.

    `result_display` is what the tool brought back for people, None when it brought nothing; an
    empty string is something.
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
    """A tool's result as the contract shows it: text, a file's diff, or else its JSON as text."""
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
    """`display` for where there is only text: its text, a patch, or its JSON."""
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
