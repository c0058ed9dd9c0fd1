"""`screen_svg`: a screen as a picture that needs nothing from elsewhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.segment import Segment, Segments
from textual.strip import Strip

__all__ = ["screen_svg"]

_FORMAT: Final = """\
<svg viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" \
height="{terminal_height}"/></clipPath>{lines}</defs>
<rect fill="#121212" x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
<g clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}\
<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
"""Rich's own format has a frame, and fonts of another host."""


def screen_svg(strips: Sequence[Strip], columns: int) -> str:
    """The rows of a screen as SVG."""
    console = Console(
        width=columns,
        height=len(strips),
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        record=True,
        legacy_windows=False,
        safe_box=False,
    )
    line = Segment.line()
    console.print(Segments([part for strip in strips for part in (*strip, line)]), end="")
    return console.export_svg(title="", unique_id="s", code_format=_FORMAT)
