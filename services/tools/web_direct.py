"""`web_fetch` without a model: fetches one page. A setting turns it on.

Source: core `tools/web-fetch.ts`, `executeExperimental`.
"""

from __future__ import annotations

from typing import Final

from services.abort import AbortSignal
from services.model.errors import error_message
from services.tools.base import failed_as_shown
from services.tools.contract import ToolErrorType, ToolResult
from services.tools.file_kinds import inline_data
from services.tools.html_text import html_to_text
from services.tools.texts import truncate_text, wrap_untrusted
from services.tools.web_access import Page, WebAccess
from services.tools.web_pages import MAX_CONTENT, TRUNCATED, USER_AGENT
from services.tools.web_urls import InvalidUrl, parse_url, raw_github_url
from services.wire import js_json_pretty

__all__ = ["fetch_directly"]

_MAX_FAILURE: Final = 10_000
_ACCEPT: Final = (
    "text/markdown, text/plain;q=0.9, application/json;q=0.9, text/html;q=0.8, "
    "application/pdf;q=0.7, video/*;q=0.7, */*;q=0.5"
)
_TEXTS: Final = ("text/markdown", "text/plain", "application/json")


async def fetch_directly(
    web: WebAccess, given: str, signal: AbortSignal, *, whole: bool
) -> ToolResult:
    """The page at the URL `given`: its text, or the file itself if it is no text.

    With `whole`, long texts are not cut.
    """
    try:
        parsed = parse_url(given)
    except InvalidUrl:
        return failed_as_shown(f'Invalid URL "{given}"', ToolErrorType.INVALID_TOOL_PARAMS)
    url = None if parsed is None else raw_github_url(parsed)
    if url is None or await web.is_blocked(url):
        # Other schemes are blocked too; in upstream the HTTP client refuses them.
        shown = given if url is None else url.href
        fault = f"Access to blocked or private host {shown} is not allowed."
        return failed_as_shown(fault, ToolErrorType.WEB_FETCH_PROCESSING_ERROR)
    try:
        headers = {"Accept": _ACCEPT, "User-Agent": USER_AGENT}
        page = await web.fetch(url.href, headers, signal)
    except Exception as error:  # noqa: BLE001 - the model receives any error
        fault = f"Error during experimental fetch for {url.href}: {error_message(error)}"
        return failed_as_shown(fault, ToolErrorType.WEB_FETCH_FALLBACK_FAILED)
    return _shown(page, url.href, whole=whole)


def _shown(page: Page, url: str, *, whole: bool) -> ToolResult:
    kind = page.content_type
    lower = kind.lower()
    if page.status >= 400:
        text = page.text
        if not whole:
            text = truncate_text(text, _MAX_FAILURE, "\n\n... [Error response truncated] ...")
        return ToolResult(
            llm_content=(
                f"Request failed with status {page.status}\n"
                f"Headers: {js_json_pretty(dict(page.headers))}\nResponse: {text}"
            ),
            return_display=f"Failed to fetch {url} (Status: {page.status})",
        )
    shown = f"Fetched {kind or 'unknown'} content from {url}"
    if any(name in lower for name in _TEXTS):
        text = page.text
    elif "text/html" in lower:
        text = html_to_text(page.text, base_url=url)
        shown = f"Fetched and converted HTML content from {url}"
    elif lower.startswith(("image/", "video/")) or lower == "application/pdf":
        return ToolResult(
            llm_content=inline_data(page.body, kind.split(";")[0]),
            return_display=f"Fetched {kind} from {url}",
        )
    else:
        text = page.text
    if not whole:
        text = truncate_text(text, MAX_CONTENT, TRUNCATED)
    return ToolResult(llm_content=wrap_untrusted(text), return_display=shown)
