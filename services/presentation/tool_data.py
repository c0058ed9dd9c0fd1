"""The `data` of a `tool_response` event. Source: `content-utils.ts`, reference 9.3."""

from __future__ import annotations

from typing import Any

from services.scheduler.calls import ToolCallResponse

__all__ = ["response_data"]


def response_data(response: ToolCallResponse) -> dict[str, Any] | None:
    """The event's `data`: the response's own, then `errorType`, `outputFile`, `contentLength`.

    Later keys win. `contentLength` counts UTF-16 units, and 0 is kept. None when there is nothing.
    """
    data: dict[str, Any] = dict(response.data or {})
    if response.error_type:
        data["errorType"] = str(response.error_type)
    if response.output_file:
        data["outputFile"] = response.output_file
    if response.content_length is not None:
        data["contentLength"] = response.content_length
    return data or None
