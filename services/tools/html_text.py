"""HTML as plain text: separate blocks, headings in capitals, marked lists, no wrapped lines.

Source: npm `html-to-text` 9 with the options that core's `web_fetch` passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from services.tools.html_tree import Element, parse_html
from services.wire import js_trim

__all__ = ["html_to_text"]

_MAX_INPUT: Final = 1 << 24
_SPACE: Final = " \t\r\n\f\u200b"
_WORDS: Final = re.compile(f"[^{_SPACE}]+")
_RULE: Final = "-" * 40
# An element → the least numbers of line breaks before and after it.
_BLOCKS: Final = {
    name: breaks
    for names, breaks in (
        ("article aside div footer form header main nav section", (1, 1)),
        ("p table pre blockquote hr h4 h5 h6", (2, 2)),
        ("h1 h2 h3", (3, 2)),
    )
    for name in names.split()
}
_ROMAN: Final = (("I", "V", "X"), ("X", "L", "C"), ("C", "D", "M"), ("M", "", ""))
_SILENT: Final = frozenset({"script", "style", "!"})


def html_to_text(html: str, *, base_url: str | None = None) -> str:
    """The text of `html`, or of its `body` elements if it has any.

    With the page's own URL as `base_url`, the text includes the URLs of links and images.
    """
    document = parse_html(html[:_MAX_INPUT])
    bodies = document.find("body")
    writer = _Writer(base_url)
    writer.walk(list(bodies) if bodies else document.children)
    return writer.block.text


@dataclass(slots=True)
class _Block:
    """A text under construction: finished text, and lines of words after it."""

    leading: int = 1
    is_pre: bool = False
    raw: str = ""
    lines: list[list[str]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    space_pending: bool = False
    breaks_pending: int = 0

    @property
    def text(self) -> str:
        if not self.lines and not self.words:
            return self.raw
        return self.raw + "\n".join(" ".join(line) for line in [*self.lines, self.words])

    def break_line(self, count: int = 1) -> None:
        self.lines.append(self.words)
        self.lines.extend([] for _ in range(count - 1))
        self.words = []

    def add_block(self, text: str, leading: int, trailing: int) -> None:
        before = self.text
        breaks = max(self.breaks_pending, leading)
        self.lines, self.words = [], []
        if before:
            self.raw = before + "\n" * breaks + text
        else:
            self.raw, self.leading = text, breaks
        self.breaks_pending = trailing

    def add_words(self, text: str, transform: Callable[[str], str]) -> None:
        words: list[str] = _WORDS.findall(text)
        apart = self.space_pending or text[0] in _SPACE
        for place, word in enumerate(words):
            if place == 0 and not apart and self.words:
                self.words[-1] += transform(word)
            else:
                self.words.append(transform(word))
        self.space_pending = (self.space_pending and not words) or text[-1] in _SPACE


class _Writer:
    def __init__(self, base_url: str | None) -> None:
        self.block = _Block()
        self._base = base_url
        self._transforms: list[Callable[[str], str]] = []

    def walk(self, nodes: list[Element | str]) -> None:
        for node in nodes:
            if isinstance(node, str):
                self._inline(node)
            elif node.name not in _SILENT:
                self._element(node)

    def _element(self, element: Element) -> None:
        name = element.name
        if name == "br":
            self._line_break()
        elif name == "img":
            self._image(element)
        elif name in ("ul", "ol"):
            self._list(element)
        elif name == "a":
            self._anchor(element)
        elif name in _BLOCKS:
            self._block(element)
        else:
            self.walk(element.children)

    def _block(self, element: Element) -> None:
        name = element.name
        leading, trailing = _BLOCKS[name]
        above = self.block
        self.block = _Block(leading=leading, is_pre=above.is_pre or name == "pre")
        if name == "hr":
            self._inline(_RULE)
        elif re.fullmatch("h[1-6]", name):
            self._transforms.append(str.upper)
            self.walk(element.children)
            self._transforms.pop()
        else:
            self.walk(element.children)
        inner, self.block = self.block, above
        text = inner.text
        if name == "blockquote":
            text = "\n".join(f"> {line}" for line in text.strip("\n").split("\n"))
        above.add_block(text, inner.leading, max(inner.breaks_pending, trailing))

    def _line_break(self) -> None:
        if self.block.is_pre:
            self.block.raw += "\n"
        else:
            self.block.break_line()

    def _inline(self, text: str, *, as_it_is: bool = False) -> None:
        block = self.block
        if block.is_pre:
            block.raw += text
            return
        if not text or (block.breaks_pending and not text.strip(_SPACE)):
            return
        if block.breaks_pending:
            block.break_line(block.breaks_pending)
        block.add_words(text, _unchanged if as_it_is else self._transform)
        block.breaks_pending = 0

    def _transform(self, word: str) -> str:
        for transform in reversed(self._transforms):
            word = transform(word)
        return word

    def _image(self, element: Element) -> None:
        if self._base is None:
            return
        alternative, source = element.attributes.get("alt", ""), element.attributes.get("src", "")
        shown = f"[{source}]" if source else ""
        self._inline(
            f"{alternative} {shown}" if alternative and shown else alternative or shown,
            as_it_is=True,
        )

    def _anchor(self, element: Element) -> None:
        href = element.attributes.get("href", "").removeprefix("mailto:")
        if self._base is None or not href or href.startswith("#"):
            self.walk(element.children)
            return
        if href.startswith("/"):
            href = self._base.rstrip("/") + href
        seen: list[str] = []

        def note(word: str) -> str:
            seen.append(word)
            return word

        self._transforms.append(note)
        self.walk(element.children)
        self._transforms.pop()
        self._inline(f" [{href}]" if seen else href, as_it_is=True)

    def _list(self, element: Element) -> None:
        nested = element.parent_name == "li"
        number = _numbering(element)
        items: list[tuple[Element | str, str]] = []
        for child in element.children:
            if isinstance(child, str):
                if js_trim(child):
                    items.append((child, ""))
            elif child.name == "li":
                prefix = number()
                items.append((child, prefix.lstrip() if nested else prefix))
            else:
                items.append((child, ""))
        if not items:
            return
        width = max(len(prefix) for _, prefix in items)
        above = self.block
        listed = _Block(leading=1 if nested else 2, is_pre=above.is_pre)
        for node, prefix in items:
            self.block = _Block(is_pre=above.is_pre)
            self.walk([node])
            item = self.block
            text = prefix.ljust(width) + item.text.replace("\n", "\n" + " " * width)
            listed.add_block(text, item.leading, max(item.breaks_pending, 1))
        self.block = above
        if listed.text:
            above.add_block(listed.text, listed.leading, 1 if nested else 2)


def _unchanged(word: str) -> str:
    return word


def _numbering(element: Element) -> Callable[[], str]:
    """A function that returns the mark of each item of a list in turn."""
    if element.name == "ul":
        return lambda: " * "
    start = element.attributes.get("start", "").strip()
    count = int(start) - 1 if re.fullmatch(r"[+-]?\d+", start) else 0
    form = element.attributes.get("type", "1")

    def following() -> str:
        nonlocal count
        count += 1
        if form in ("a", "A"):
            shown = _letters(count)
        elif form in ("i", "I"):
            shown = _roman(count)
        else:
            return f" {count}. "
        return f" {shown.upper() if form.isupper() else shown.lower()}. "

    return following


def _letters(number: int) -> str:
    letters = ""
    while number > 0:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return letters


def _roman(number: int) -> str:
    if not 0 <= number < 4000:
        return str(number)
    numeral = ""
    for (one, five, ten), digit in zip(_ROMAN, reversed(str(number)), strict=False):
        value = int(digit)
        if value % 5 == 4:
            part = one + (five if value == 4 else ten)
        else:
            part = five * (value >= 5) + one * (value % 5)
        numeral = part + numeral
    return numeral
