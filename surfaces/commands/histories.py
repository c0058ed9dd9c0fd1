"""Conversations as items to show, and as files to share.

Source: `packages/cli` `ui/commands/chatCommand.ts`, `utils/sessionUtils.ts`,
`ui/utils/historyExportUtils.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from services.wire import Content, Json, JsonObject, js_json_pretty
from surfaces.commands.contract import CommandError
from surfaces.commands.results import Item, ItemKind

__all__ = [
    "BEFORE_TALK",
    "as_markdown",
    "content_text",
    "is_own_text",
    "items_of_contents",
    "items_of_recording",
    "items_of_shown",
    "message_text",
    "write_history",
]

BEFORE_TALK: Final = 1
"""The contents of a conversation before anything is said: the environment's context."""
_OWN: Final = ("<session_context>", "<hook_context>")
_KINDS: Final = MappingProxyType({"user": ItemKind.USER, "gemini": ItemKind.AGENT})


def items_of_contents(contents: Iterable[Content]) -> tuple[Item, ...]:
    """The texts of a model-facing history. The caller leaves out the environment's context."""
    items: list[Item] = []
    for content in contents:
        text = content_text(content)
        if text:
            items.append(_item(ItemKind.USER if content.get("role") == "user" else None, text))
    return tuple(items)


def items_of_recording(messages: Iterable[JsonObject]) -> tuple[Item, ...]:
    """The texts of a chat recording's messages, without those that the program wrote."""
    shown = ((_KINDS.get(str(each.get("type"))), message_text(each)) for each in messages)
    return tuple(
        _item(kind, text)
        for kind, text in shown
        if kind is not None and text and not is_own_text(text)
    )


def items_of_shown(shown: Iterable[Json]) -> tuple[Item, ...]:
    """What a surface showed when a checkpoint was saved, as far as it is text.

    The checkpoint may come from outside: an entry that is no message is left out.
    """
    entries = (each for each in shown if isinstance(each, Mapping))
    texts = ((_KINDS.get(str(each.get("type"))), each.get("text")) for each in entries)
    return tuple(_item(kind, text) for kind, text in texts if kind and isinstance(text, str))


def content_text(content: Content) -> str:
    """The text of one content of a model-facing history; empty without any."""
    return "".join(part.get("text") or "" for part in content.get("parts") or ())


def is_own_text(text: str) -> bool:
    """Whether the program wrote a message of the user's role, not the user."""
    return text.lstrip().startswith(_OWN)


def message_text(message: JsonObject) -> str:
    """The text of a recorded message as its user saw it."""
    content = message.get("displayContent") or message.get("content") or ""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else [content]
    return "".join(_text(part) for part in parts)


def _text(part: Any) -> str:
    text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else ""
    return text if isinstance(text, str) else ""


def _item(kind: ItemKind | None, text: str) -> Item:
    if kind is ItemKind.USER:
        return Item(kind=kind, text=text)
    return Item(kind=ItemKind.AGENT, text=text, markdown=True)


def as_markdown(contents: Iterable[Content]) -> str:
    """A model-facing history as a document, with the calls of tools and their responses."""
    return "\n\n---\n\n".join(_section(content) for content in contents)


def _section(content: Content) -> str:
    role = content.get("role") or "model"
    icon = "\U0001f9d1\u200d\U0001f4bb" if role == "user" else "\u2728"
    parts = "".join(_part(part) for part in content.get("parts") or ())
    return f"## {role.upper()} {icon}\n\n{parts}"


def _part(part: Mapping[str, Any]) -> str:
    if part.get("text"):
        return str(part["text"])
    for key, title in (("functionCall", "Tool Command"), ("functionResponse", "Tool Response")):
        if part.get(key):
            return f"**{title}**:\n```json\n{js_json_pretty(part[key])}\n```"
    return ""


def write_history(file: Path, contents: Sequence[Content]) -> None:
    """Write a history to a `.md` or `.json` file, whose folder is made.

    Raises:
        CommandError: the file cannot be written.
    """
    markdown = file.suffix == ".md"
    text = as_markdown(contents) if markdown else js_json_pretty(list(contents))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise CommandError(f"Error sharing conversation: {error}") from error
