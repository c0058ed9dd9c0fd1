"""The web tools: URLs and addresses."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers.subject import Subject
from services.tools.web_addresses import is_private_address
from services.tools.web_urls import InvalidUrl, parse_url

__all__ = ["SUBJECTS"]


def _url(text: str) -> str | list[str]:
    try:
        url = parse_url(text)
    except InvalidUrl:
        return "invalid"
    return "other" if url is None else [url.href, url.host]


SUBJECTS: Final = (
    Subject("web.address", is_private_address),
    Subject("web.url", _url),
)
