"""`web_fetch`: a model that fetches pages, or else a model that gets the text of fetched pages.

Source: core `tools/web-fetch.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

from services.model.errors import ModelError, error_message
from services.model.parts import response_text
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed_as_shown
from services.tools.citations import grounding, markers, source_list, with_unit_markers
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolErrorType,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.parameters import arguments, string
from services.tools.schema import ParameterSchema
from services.tools.texts import wrap_untrusted
from services.tools.web_access import WebAccess
from services.tools.web_direct import fetch_directly
from services.tools.web_pages import aggregate, escape_xml, page_text
from services.tools.web_urls import (
    InvalidUrl,
    WebUrl,
    normalized,
    parse_prompt,
    parse_url,
    raw_github_url,
)
from services.wire import JsonObject, js_length, js_slice, js_trim

__all__ = ["WebFetchTool"]

logger = logging.getLogger(__name__)

_BLOCKED: Final = "[Blocked Host]"

MOST_URLS: Final = 100
"""The most URLs of one prompt. Their hosts are resolved one after the other."""
_SHOWN_PROMPT: Final = 100
_DIRECT: Final[JsonObject] = arguments(["url"], url=string("The page: a whole URL, http or https."))


class WebFetchTool(DeclarativeTool):
    """Answers questions about pages; with the setting `directWebFetch` it returns one page."""

    name = "web_fetch"
    display_name = "WebFetch"
    kind = ToolKind.FETCH
    description = (
        "Fetch web pages and do with them what you say: summarise, compare, extract. Put up to 20 "
        "whole URLs and your instructions into the prompt."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["prompt"],
        prompt=string(
            "The URLs, each beginning with http:// or https://, and what to do with the "
            "pages: `Summarise https://example.com/a and list the dates in it`."
        ),
    )

    def declaration(self, model: str | None = None) -> JsonObject:
        """The declaration for the kind of fetching in the settings."""
        if not self._is_direct:
            return super().declaration(model)
        return {
            "name": self.name,
            "description": "Fetch one web page. Call it once for each page.",
            "parametersJsonSchema": _DIRECT,
        }

    def check_values(self, params: JsonObject) -> str | None:
        """Check that there are URLs, and that they are valid."""
        if self._is_direct:
            return _direct_fault(params)
        prompt: str = params["prompt"]
        if not js_trim(prompt):
            return (
                "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions."
            )
        urls, faults = parse_prompt(prompt)
        if faults:
            return "Error(s) in prompt URLs:\n- " + "\n- ".join(faults)
        if not urls:
            return (
                "The 'prompt' must contain at least one valid URL (starting with http:// or "
                "https://)."
            )
        if len(urls) > MOST_URLS:
            return f"The 'prompt' contains more than {MOST_URLS} URLs."
        return None

    @property
    def _is_direct(self) -> bool:
        return self.host.settings.direct_web_fetch

    @cached_property
    def _schema(self) -> ParameterSchema:
        return ParameterSchema(_DIRECT if self._is_direct else self.parameters)


def _direct_fault(params: JsonObject) -> str | None:
    if not params["url"]:
        return "The 'url' parameter is required."
    try:
        parse_url(params["url"])
    except InvalidUrl:
        return f'Invalid URL: "{params["url"]}"'
    return None


@WebFetchTool.builds
class _WebFetch(BuiltinInvocation):
    @property
    def _prompt(self) -> str:
        return self.params.get("prompt") or ""

    def description(self) -> str:
        if self.params.get("url"):
            return f"Fetching content from: {self.params['url']}"
        prompt = self._prompt
        if js_length(prompt) > _SHOWN_PROMPT:
            prompt = f"{js_slice(prompt, 0, _SHOWN_PROMPT - 3)}..."
        return f'Processing URLs and instructions from prompt: "{prompt}"'

    @property
    def respects_auto_edit(self) -> bool:
        return True

    def confirmation_details(self) -> ConfirmationDetails | None:
        given: str | None = self.params.get("url")
        if given:
            prompt = f"Fetch {given}"
            urls = [_raw_text(given)]
        else:
            prompt = self._prompt
            urls = [raw_github_url(url).href for url in parse_prompt(prompt)[0]]
        return ConfirmationDetails(
            type="info", title="Confirm Web Fetch", fields={"prompt": prompt, "urls": urls}
        )

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        return {}

    async def execute(self, execution: ToolExecution) -> ToolResult:
        web, settings = self.host.web, self.host.settings
        if web is None:
            fault = "This session has no way to the web."
            return failed_as_shown(fault, ToolErrorType.WEB_FETCH_PROCESSING_ERROR)
        if settings.direct_web_fetch:
            return await fetch_directly(
                web, self.params["url"], execution.signal, whole=settings.context_management
            )
        urls, skipped = await _allowed(web, parse_prompt(self._prompt)[0])
        for reason in skipped:
            if reason.startswith(_BLOCKED):
                self._log_fallback("private_ip_skipped")
        if skipped and not urls:
            fault = f"All requested URLs were skipped: {', '.join(skipped)}"
            return failed_as_shown(fault, ToolErrorType.WEB_FETCH_PROCESSING_ERROR)
        try:
            return await self._read_by_model(web, execution, urls, skipped)
        except Exception as error:  # noqa: BLE001 - after any error of the model we fetch the pages
            logger.warning("the model could not fetch: %s", error_message(error))
            self._log_fallback("primary_failed")
        return await self._read_ourselves(web, execution, urls)

    def _log_fallback(self, reason: str) -> None:
        self.host.state.log(
            "web_fetch_fallback_attempt",
            f"Web fetch fallback attempt. Reason: {reason}",
            {"reason": reason},
        )

    async def _read_by_model(
        self, web: WebAccess, execution: ToolExecution, urls: list[WebUrl], skipped: list[str]
    ) -> ToolResult:
        listed = "\n".join(url.href for url in urls)
        question = (
            "Follow the user's instructions to process the authorized URLs.\n\n"
            f"<user_instructions>\n{escape_xml(self._prompt)}\n</user_instructions>\n\n"
            f"<authorized_urls>\n{listed}\n</authorized_urls>\n"
        )
        response = await web.model.generate_content("web-fetch", question, execution.signal)
        text = response_text(response) or ""
        found = grounding(response)
        chunks: Sequence[Any] = found.get("groundingChunks") or ()
        if not js_trim(text) and not chunks:
            raise ModelError("Primary fetch returned no content")
        text = with_unit_markers(text, markers(found.get("groundingSupports") or ()))
        sources = source_list(
            [chunk for chunk in chunks if isinstance(chunk, (dict, list))], no_uri="Unknown URI"
        )
        if sources:
            text += "\n\nSources:\n" + "\n".join(sources)
        if skipped:
            lines = "\n".join(skipped)
            text = f"[Warning] The following URLs were skipped:\n{lines}\n\n{text}"
        return ToolResult(
            llm_content=wrap_untrusted(text), return_display="Content processed from prompt."
        )

    async def _read_ourselves(
        self, web: WebAccess, execution: ToolExecution, urls: list[WebUrl]
    ) -> ToolResult:
        whole = self.host.settings.context_management
        pages: dict[str, str] = {}
        faults: dict[str, str] = {}
        for url in dict.fromkeys(urls):
            try:
                pages[url.href] = await page_text(web, url, execution.signal, whole=whole)
            except Exception as error:  # noqa: BLE001 - the model receives the error of the page
                faults[url.href] = error_message(error)
        if not pages:
            reasons = ", ".join(f"{url}: {message}" for url, message in faults.items())
            return failed_as_shown(
                f"All fallback fetch attempts failed: {reasons}",
                ToolErrorType.WEB_FETCH_FALLBACK_FAILED,
            )
        content = aggregate([url.href for url in dict.fromkeys(urls)], pages, faults, whole=whole)
        question = (
            "Follow the user's instructions below using the provided webpage content.\n\n"
            f"<user_instructions>\n{escape_xml(self._prompt)}\n</user_instructions>\n\n"
            "I was unable to access the URL(s) directly using the primary fetch tool. Instead, I "
            "have fetched the raw content of the page(s). Please use the following content to "
            "answer the request. Do not attempt to access the URL(s) again.\n\n"
            f"<content>\n{content}\n</content>\n"
        )
        try:
            response = await web.model.generate_content(
                "web-fetch-fallback", question, execution.signal
            )
        except Exception as error:  # noqa: BLE001 - the model receives any error
            return failed_as_shown(
                f"Error during fallback processing: {error_message(error)}",
                ToolErrorType.WEB_FETCH_FALLBACK_FAILED,
            )
        return ToolResult(
            llm_content=wrap_untrusted(response_text(response) or ""),
            return_display=f"Content for {len(urls)} URL(s) processed using fallback fetch.",
        )


async def _allowed(web: WebAccess, urls: list[WebUrl]) -> tuple[list[WebUrl], list[str]]:
    """The pages that may be fetched, each once, and the reasons for skipping the others."""
    kept: list[WebUrl] = []
    skipped: list[str] = []
    for url in dict.fromkeys(map(normalized, urls)):
        if await web.is_blocked(url):
            skipped.append(f"{_BLOCKED} {url.href}")
        elif not web.may_ask(url.host):
            skipped.append(f"[Rate limit exceeded] {url.href}")
        else:
            kept.append(url)
    return kept, skipped


def _raw_text(text: str) -> str:
    try:
        url = parse_url(text)
    except InvalidUrl:
        return text
    if url is None or (raw := raw_github_url(url)) == url:
        return text
    return raw.href
