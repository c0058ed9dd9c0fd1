"""The confirmation of a tool call: what would happen, and the user's options.

Source: `packages/cli` `ui/components/messages/ToolConfirmationMessage.tsx`, for the options, their
order and their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from agent_protocol.events import DiffDisplay
from services.shell.syntax import has_redirection
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome
from services.wire import js_json
from surfaces.allowed import Allowed
from surfaces.terminal.call_words import CallShown, diff_lines
from surfaces.terminal.dialogs.dialog import ChoiceDialog
from surfaces.terminal.inert import inert, inert_line

__all__ = ["change_of", "confirmation_dialog"]

_PROCEED: Final = "Do you want to proceed?"
_ONCE: Final = ("Allow once", ConfirmationOutcome.PROCEED_ONCE)
_SESSION: Final = ("Allow for this session", ConfirmationOutcome.PROCEED_ALWAYS)
_NO: Final = ("No, suggest changes (esc)", ConfirmationOutcome.CANCEL)
_SAVED: Final = "~/.gemini/policies/auto-saved.toml"


def confirmation_dialog(
    call: CallShown, details: ConfirmationDetails, allowed: Allowed, *, editable: bool = True
) -> ChoiceDialog[ConfirmationOutcome]:
    """The dialog for `call`; Esc refuses it. A change may be edited if it is `editable`."""
    fields = details.fields
    shown = (call.display and call.display.name) or call.name
    described = (call.display and call.display.description) or details.title
    body, question = list(_body(details)), _question(details, inert_line(shown))
    message = fields.get("systemMessage")
    if isinstance(message, str):
        body.insert(0, Text(inert(message)))
    heading = f"? {inert_line(shown)}  {inert_line(described)}"
    if details.type == "info":
        heading = f"Action Required\n\n{heading}"
    return ChoiceDialog(
        heading,
        body,
        question,
        [
            option
            for option in _options(details.type, allowed)
            if editable or option[1] is not ConfirmationOutcome.MODIFY_WITH_EDITOR
        ],
        escape=ConfirmationOutcome.CANCEL,
    )


def change_of(details: ConfirmationDetails | None) -> DiffDisplay | None:
    """The change that an edit asks about."""
    if details is None or details.type != "edit":
        return None
    return DiffDisplay(
        path=str(details.fields.get("filePath") or ""),
        before_text=details.fields.get("originalContent") or "",
        after_text=details.fields.get("newContent") or "",
    )


def _options(kind: str, allowed: Allowed) -> Iterator[tuple[str, ConfirmationOutcome]]:
    save = ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE
    yield _ONCE
    if kind == "mcp" and allowed.session:
        yield "Allow tool for this session", ConfirmationOutcome.PROCEED_ALWAYS_TOOL
        server = "Allow all server tools for this session"
        yield server, ConfirmationOutcome.PROCEED_ALWAYS_SERVER
    elif allowed.session:
        yield _SESSION
    if allowed.session and allowed.for_ever:
        words = {
            "edit": "Allow for this file in all future sessions",
            "exec": "Allow this command for all future sessions",
            "mcp": "Allow tool for all future sessions",
        }
        yield f"{words.get(kind, 'Allow for all future sessions')} {_SAVED}", save
    if kind == "edit":
        yield "Modify with external editor", ConfirmationOutcome.MODIFY_WITH_EDITOR
    yield _NO


def _question(details: ConfirmationDetails, shown: str) -> str:
    fields = details.fields
    match details.type:
        case "edit":
            return "Apply this change?"
        case "exec":
            question = f"Allow execution of [{shown}]?"
            if has_redirection(str(fields.get("command") or "")):
                question += "\nRedirection detected. To auto-accept, press Shift+Tab"
            return question
        case "mcp":
            tool, server = (inert_line(str(fields.get(key))) for key in ("toolName", "serverName"))
            return f'Allow execution of MCP tool "{tool}" from server "{server}"?'
        case _:
            return _PROCEED


def _body(details: ConfirmationDetails) -> Iterator[Text]:
    fields: Mapping[str, Any] = details.fields
    match details.type:
        case "edit":
            change = change_of(details)
            if change is not None:
                yield from diff_lines(change)
        case "exec":
            yield from _text(fields.get("command"))
            for name in fields.get("modifiedBuildFiles") or ():
                yield Text(f"Modified build file: {inert_line(str(name))}", style="yellow")
        case "mcp":
            yield Text(f"MCP Server: {inert_line(str(fields.get('serverName')))}")
            yield Text(f"Tool: {inert_line(str(fields.get('toolName')))}")
            yield from _text(js_json(fields.get("toolArgs") or {}))
        case _:
            yield from _text(fields.get("prompt"))
            urls = [str(url) for url in fields.get("urls") or ()]
            if urls and urls != [fields.get("prompt")]:
                yield Text("URLs to fetch:")
                yield from (Text(f" - {inert_line(url)}") for url in urls)


def _text(value: Any) -> Iterator[Text]:
    yield from (Text(line) for line in inert(str(value or "")).split("\n"))
