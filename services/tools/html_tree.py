"""Parses HTML into a tree of elements and texts, as leniently as upstream's parser.

Source: npm `htmlparser2`: which start tags end which open elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Final

__all__ = ["Element", "parse_html"]

_TABLE: Final = """
tr: tr th td
th: th
td: thead th td
tbody tfoot: thead tbody
body: head link script
li: li
option: option
optgroup: optgroup option
dd dt: dd dt
rt rp: rt rp
select input output button datalist textarea: input option optgroup select button datalist textarea
p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption: p
figure footer form header hr main nav ol pre section table ul: p
"""
_ENDED_BY: Final = {
    name: frozenset(ended.split())
    for names, _, ended in (line.partition(":") for line in _TABLE.split("\n") if line)
    for name in names.split()
}
"""A start tag → the open elements that it ends."""
_VOID_NAMES: Final = (
    "area base basefont br col command embed frame hr img input isindex keygen link meta param "
    "source track wbr"
)
_VOID: Final = frozenset(_VOID_NAMES.split())
_UNFINISHED: Final = re.compile(r"<[A-Za-z/!?][^>]*\Z")
"""An incomplete tag at the end of the text."""
_DEEPEST: Final = 200
"""Deeper elements are added to the parent at this depth, as pages can be nested without limit."""


@dataclass(slots=True)
class Element:
    """One element; the document has an empty name, and a comment has the name `!`."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)
    parent_name: str = ""

    def find(self, name: str) -> list[Element]:
        """The outermost elements called `name`, in order."""
        found: list[Element] = []
        for child in self.children:
            if isinstance(child, Element):
                found += [child] if child.name == name else child.find(name)
        return found


def parse_html(text: str) -> Element:
    """The tree of `text`. Scripts and styles are left out."""
    builder = _Builder()
    builder.feed(_UNFINISHED.sub("", text))
    builder.close()
    if builder.cdata_elem == "title":
        builder.handle_data(builder.rawdata)
    return builder.document


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.document = Element("")
        self._open = [self.document]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        ended = _ENDED_BY.get(tag, frozenset[str]())
        while len(self._open) > 1 and self._open[-1].name in ended:
            self._open.pop()
        above = self._open[-1]
        attributes = {name: value or "" for name, value in reversed(attrs)}
        element = Element(tag, attributes, parent_name=above.name)
        above.children.append(element)
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(element)
            if tag == "title":
                self.set_cdata_mode(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # As in HTML, the slash has no meaning.
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].name == tag:
                del self._open[place:]
                return
        if tag == "br":
            self._open[-1].children.append(Element("br", parent_name=self._open[-1].name))
        elif tag == "p":
            self.handle_starttag("p", [])
            self._open.pop()

    def handle_comment(self, data: str) -> None:
        self._open[-1].children.append(Element("!"))

    def handle_data(self, data: str) -> None:
        if self._open[-1].name in ("script", "style"):
            return
        if self.cdata_elem == "title":
            data = unescape(data)
        children = self._open[-1].children
        if children and isinstance(last := children[-1], str):
            children[-1] = last + data
        else:
            children.append(data)
