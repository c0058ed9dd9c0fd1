"""Fetches pages as text for a model, converted and cut to the limit of a request.

Source: core `tools/web-fetch.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from services.abort import AbortSignal
from services.model.errors import ModelError
from services.tools.html_text import html_to_text
from services.tools.texts import truncate_text
from services.tools.web_access import Page, WebAccess
from services.tools.web_urls import WebUrl, raw_github_url
from services.wire import js_length

__all__ = [
    "MAX_CONTENT",
    "TRUNCATED",
    "USER_AGENT",
    "aggregate",
    "escape_xml",
    "page_text",
]

MAX_CONTENT: Final = 250_000
"""The most UTF-16 units of page text in one request."""
TRUNCATED: Final = "\n\n... [Content truncated due to size limit] ..."
USER_AGENT: Final = (
    "Mozilla/5.0 (compatible; Google-Gemini-CLI/1.0; +https://github.com/google-gemini/gemini-cli)"
)
_ENTITIES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}
)


class _HttpFailure(ModelError):
    """A response with an error status, which decides whether the request is retried."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"Request failed with status code {status} {reason}")
        self.status = status


def escape_xml(text: str) -> str:
    """`text` with the special characters of XML as entities."""
    return text.translate(_ENTITIES)


async def page_text(web: WebAccess, url: WebUrl, signal: AbortSignal, *, whole: bool) -> str:
    """The text of the page at `url`, with HTML converted to text.

    A file shown on GitHub is fetched in its raw form. With `whole`, the text is not cut.

    Raises:
        ModelError: the page cannot be fetched, or its host is blocked.
        AbortError: `signal` was aborted.
    """
    url = raw_github_url(url)
    if await web.is_blocked(url):
        raise ModelError(f"Access to blocked or private host {url.href} is not allowed.")
    page = await web.fetch(url.href, {"User-Agent": USER_AGENT}, signal, failed=_failure)
    text = page.text
    if "text/html" in page.content_type.lower() or not page.content_type:
        text = html_to_text(text)
    return text if whole else truncate_text(text, MAX_CONTENT, TRUNCATED)


def _failure(page: Page) -> Exception | None:
    return None if 200 <= page.status < 300 else _HttpFailure(page.status, page.reason)


def aggregate(
    urls: Sequence[str], pages: Mapping[str, str], faults: Mapping[str, str], *, whole: bool
) -> str:
    """All pages in order, each in a `source` element, with an error instead of a missing page.

    Unless `whole`, the pages share the limit: longer pages get the room that shorter ones leave.
    """
    shown = dict(pages)
    if not whole:
        room, left = MAX_CONTENT, len(pages)
        for url in sorted(pages, key=lambda each: js_length(pages[each])):
            share = min(js_length(pages[url]), room // left)
            shown[url] = truncate_text(pages[url], share, TRUNCATED)
            room -= js_length(shown[url])
            left -= 1
    elements: list[str] = []
    for url in urls:
        content = shown.get(url)
        if content is None:
            content = f"Error: {faults.get(url) or 'Unknown error'}"
        elements.append(f'<source url="{escape_xml(url)}">\n{escape_xml(content)}\n</source>')
    return "\n".join(elements)
