"""A tool's screen: the lines and styles of a terminal as upstream's JSON, drawn here.

Source: core `utils/terminalSerializer.ts` (`AnsiOutput`), `packages/cli`
`ui/components/AnsiOutput.tsx`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.color import Color, ColorParseError
from rich.style import Style
from rich.text import Text

from services.wire import Json
from surfaces.terminal.inert import inert

__all__ = ["ansi_lines"]

_FLAGS: Final[Mapping[str, str]] = {
    "bold": "bold",
    "italic": "italic",
    "underline": "underline",
    "dim": "dim",
    "inverse": "reverse",
}


def ansi_lines(value: Json) -> list[Text] | None:
    """The lines of a screen, a list of tokens each; `None` if `value` is no screen."""
    if not isinstance(value, list) or not all(isinstance(line, list) for line in value):
        return None
    return [_line(line) for line in value]


def _line(tokens: list[Any]) -> Text:
    line = Text()
    for token in tokens:
        if isinstance(token, Mapping):
            text = inert(str(token.get("text") or "")).replace("\n", " ")
            line.append(text, _style(token))
    line.rstrip()
    return line


def _style(token: Mapping[str, Any]) -> Style:
    flags: dict[str, Any] = {ours: True for theirs, ours in _FLAGS.items() if token.get(theirs)}
    return Style(color=_color(token.get("fg")), bgcolor=_color(token.get("bg")), **flags)


def _color(name: object) -> Color | None:
    """The colour that a token names, `#rrggbb`; an unknown one is the terminal's own."""
    if not isinstance(name, str) or not name.startswith("#"):
        return None
    try:
        return Color.parse(name)
    except ColorParseError:
        return None
