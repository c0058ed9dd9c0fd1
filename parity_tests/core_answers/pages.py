"""Pages of the web: URLs, text, and short texts about files."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.tools.diffs import diff_context, diff_stat
from services.tools.html_text import html_to_text
from services.tools.short_paths import shorten_path
from services.tools.web_urls import normalized, parse_prompt, raw_github_url
from services.wire import JsonObject

__all__ = ["SUBJECTS"]


def _prompt(text: str) -> JsonObject:
    urls, errors = parse_prompt(text)
    shown = [[url.href, normalized(url).href, raw_github_url(url).href] for url in urls]
    return {"urls": shown, "errors": errors}


def _html(asked: tuple[str, str | None]) -> str:
    text, base = asked
    return html_to_text(text, base_url=base)


def _changes(asked: tuple[str, str, str]) -> list[Any]:
    old, proposed, final = asked
    return [diff_stat(old, proposed, final), diff_context(old, final)]


SUBJECTS: Final = (
    Subject("pages.prompt", _prompt),
    Subject("pages.html", _html),
    Subject("pages.changes", _changes),
    Subject("pages.shortened", shorten_path),
)
