"""The transcript: everything that was said and done.

It draws only what is to be seen. A block makes its lines when it comes into view, so the length of
the session costs neither time nor memory beyond its text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from surfaces.terminal.blocks import Block, Notice, Pen

__all__ = ["Transcript"]

_STYLES: Final = ("user", "error", "warning", "frame")
_START: Final = (0, 0)
_MORE: Final = "Page Down for more"

Place = tuple[int, int]
"""A block, and one of its lines."""


class Transcript(Widget):
    """The blocks of a session, the latest at the bottom.

    It shows the end, until the user scrolls up.
    """

    can_focus = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in _STYLES}

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: list[Block] = []
        self._expanded = False
        self._top: Place | None = None
        """The first line that is shown; `None`: the end is."""
        self._page: list[Strip] = []
        self._shown_from: Place = _START
        self._drawn: dict[int, tuple[int, list[Strip]]] = {}
        """The lines of the blocks in view, by the blocks' places, with their revisions."""
        self._pen: Pen | None = None
        self.cleared = 0
        """How often everything was removed."""
        self.heard: Callable[[], object] = lambda: None
        """Called when a block is added or has changed."""
        self._stale = True

    # ------------------------------------------------------------------ blocks

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What was added, oldest first."""
        return tuple(self._blocks)

    def add(self, block: Block) -> None:
        """Add a block at the end."""
        self._blocks.append(block)
        self.redraw()

    def changed(self, block: Block) -> None:
        """Draw `block` anew."""
        block.revision += 1
        self.redraw()

    def redraw(self) -> None:
        """Draw the blocks anew whose revisions have changed."""
        self._stale = True
        self.heard()
        if self.is_attached:
            self.refresh()

    def notice(self, text: str, severity: str = "info") -> None:
        """Add a line about the session."""
        self.add(Notice(text, severity))

    def clear(self) -> None:
        """Remove everything."""
        self.cleared += 1
        self._blocks.clear()
        self._drawn.clear()
        self._top = None
        self.redraw()

    # ------------------------------------------------------------------ the view

    def toggle_expanded(self) -> None:
        """Show long texts whole, or short again."""
        self._expanded = not self._expanded
        self._forget()

    def scroll_pages(self, pages: int) -> None:
        """Go up or down by so many pages; the end is followed again from there."""
        self._draw_page()
        step = max(1, self.size.height - 1)
        top = self._moved(self._shown_from, pages * step)
        self._top = top if self._rows_from(top) >= self.size.height else None
        self.redraw()

    def notify_style_update(self) -> None:
        """Take up the colours of another theme."""
        super().notify_style_update()
        self._forget()

    def render_line(self, y: int) -> Strip:
        """One line of the view."""
        self._draw_page()
        return self._page[y] if y < len(self._page) else self._blank

    def _forget(self) -> None:
        self._drawn.clear()
        self._pen = None
        self.redraw()

    def _draw_page(self) -> None:
        """Bring the view up to date."""
        pen = self._pen
        if pen is None or pen.width != self.size.width:
            self._pen = self._make_pen()
            self._drawn.clear()
            self._stale = True
        if not self._stale and len(self._page) == self.size.height:
            return
        self._stale = False
        height = self.size.height
        if self._top is not None and self._rows_from(self._top) < height:
            self._top = None
        self._shown_from = self._moved(self._end, -height) if self._top is None else self._top
        block, line = self._shown_from
        page: list[Strip] = []
        kept = {}
        while block < len(self._blocks) and len(page) < height + line:
            kept[block] = self._blocks[block].revision, self._strips(block)
            page += kept[block][1]
            block += 1
        self._drawn = kept
        self._page = page[line : line + height]
        self._page += [self._blank] * (height - len(self._page))
        if self._top is not None and height:
            more = Strip([Segment(f"{_MORE:>{self.size.width}}", Style(dim=True))])
            self._page[-1] = more.apply_style(self.rich_style)

    @property
    def _blank(self) -> Strip:
        return Strip.blank(self.size.width, self.rich_style)

    @property
    def _end(self) -> Place:
        return len(self._blocks), 0

    def _moved(self, place: Place, rows: int) -> Place:
        """The place so many lines after `place`, or before; between start and end."""
        block, line = place
        line += rows
        while line < 0 and block > 0:
            block -= 1
            line += len(self._strips(block))
        while block < len(self._blocks) and line >= len(self._strips(block)):
            line -= len(self._strips(block))
            block += 1
        return (block, max(0, line)) if block < len(self._blocks) else self._end

    def _rows_from(self, place: Place) -> int:
        """How many lines there are from `place` on, counted up to the height of the view."""
        block, line = place
        count = -line
        while block < len(self._blocks) and count < self.size.height:
            count += len(self._strips(block))
            block += 1
        return count

    def _strips(self, place: int) -> list[Strip]:
        block = self._blocks[place]
        known = self._drawn.get(place)
        if known is not None and known[0] == block.revision:
            return known[1]
        pen = self._pen or self._make_pen()
        rows = block.rows(pen)
        if rows and not block.joined:
            rows = [[], *rows]
        strips = [Strip(row).crop(0, pen.width).apply_style(pen.base) for row in rows]
        self._drawn[place] = block.revision, strips
        return strips

    def _make_pen(self) -> Pen:
        return Pen(
            console=self.app.console,
            width=self.size.width,
            expanded=self._expanded,
            base=self.rich_style,
            dark=self.app.current_theme.dark,
            styles={
                name: self.get_component_rich_style(f"transcript--{name}", partial=True)
                for name in _STYLES
            },
        )
