"""The web tools: URLs, addresses and HTML."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.tools.html_text import html_to_text
from services.tools.web_addresses import is_private_address
from services.tools.web_urls import (
    InvalidUrl,
    normalized,
    parse_prompt,
    parse_url,
    raw_github_url,
)
from services.wire import JsonObject

__all__ = ["SUBJECTS"]


def _prompt(text: str) -> JsonObject:
    urls, faults = parse_prompt(text)
    return {
        "validUrls": [url.href for url in urls],
        "errors": faults,
        "pages": [[normalized(url).href, raw_github_url(url).href] for url in urls],
    }


def _url(text: str) -> str | list[str]:
    try:
        url = parse_url(text)
    except InvalidUrl:
        return "invalid"
    return "other" if url is None else [url.href, url.host]


def _html(asked: list[Any]) -> str:
    text, base = asked
    return html_to_text(text, base_url=base)


SUBJECTS: Final = (
    Subject("web.address", is_private_address),
    Subject("web.html", _html),
    Subject("web.prompt", _prompt),
    Subject("web.url", _url),
)
