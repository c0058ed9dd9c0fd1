"""`google_web_search`: a model that searches, and its answer with markers of its sources.

Source: core `tools/web-search.ts`.
"""

from __future__ import annotations

from typing import ClassVar

from services.model.errors import ModelError, error_message, is_cancellation
from services.model.parts import response_text
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.citations import grounding, markers, source_list, with_byte_markers
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.parameters import arguments, string
from services.wire import JsonObject, js_trim

__all__ = ["WebSearchTool"]


class WebSearchTool(DeclarativeTool):
    """Searches the web with Google, through the model's API."""

    name = "google_web_search"
    display_name = "GoogleSearch"
    kind = ToolKind.SEARCH
    description = "Search the web with Google. You get an answer to the query, with its sources."
    parameters: ClassVar[JsonObject] = arguments(["query"], query=string("What to search for."))

    def check_values(self, params: JsonObject) -> str | None:
        """Check that the query is not empty."""
        return None if js_trim(params["query"]) else "The 'query' parameter cannot be empty."


@WebSearchTool.builds
class _WebSearch(BuiltinInvocation):
    def description(self) -> str:
        return f'Searching the web for: "{self.params["query"]}"'

    async def execute(self, execution: ToolExecution) -> ToolResult:
        query: str = self.params["query"]
        web = self.host.web
        try:
            if web is None:
                raise ModelError("This session has no model to search with.")
            response = await web.model.generate_content("web-search", query, execution.signal)
        except Exception as error:  # noqa: BLE001 - the model receives any error
            if is_cancellation(error):
                return ToolResult(
                    llm_content="Web search was cancelled.", return_display="Search cancelled."
                )
            fault = f'Error during web search for query "{query}": {error_message(error)}'
            return failed(
                fault,
                ToolErrorType.WEB_SEARCH_FAILED,
                display="Error performing web search.",
                llm=f"Error: {fault}",
            )
        text = response_text(response)
        if not text or not js_trim(text):
            return ToolResult(
                llm_content=f'No search results or information found for query: "{query}"',
                return_display="No information found.",
            )
        return ToolResult(
            llm_content=f'Web search results for "{query}":\n\n{_with_sources(text, response)}',
            return_display=f'Search results for "{query}" returned.',
        )


def _with_sources(text: str, response: JsonObject) -> str:
    found = grounding(response)
    chunks = found.get("groundingChunks")
    if not chunks:
        return text
    text = with_byte_markers(text, markers(found.get("groundingSupports") or ()))
    sources = "\n".join(source_list(chunks, no_uri="No URI"))
    return f"{text}\n\nSources:\n{sources}"
