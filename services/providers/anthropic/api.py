"""Anthropic's SDK behind the model seam. Import it only where the SDK is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anthropic
import httpx2

from services.model.errors import ApiError
from services.providers.anthropic.answers import MessageReader, read_message
from services.providers.anthropic.refusals import (
    read_messages_refusal,
    read_messages_stream_error,
)
from services.providers.anthropic.requests import messages_body
from services.providers.anthropic.traits import traits_of
from services.providers.calls import own_names
from services.providers.exchange import Asked
from services.providers.provider import FACTS, Provider
from services.providers.refusals import Refusal
from services.providers.schemas import declarations
from services.providers.sdk_generator import DEADLINES, Events, dumped, in_parameters
from services.providers.shape import number
from services.wire import JsonObject

__all__ = ["AnthropicApi"]

_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
"""Keeps the prompt for some minutes, for the next request of the same conversation."""
_NOT_COUNTED: Final = ("max_tokens", "stop_sequences")


class AnthropicApi:
    """Messages and the count of their tokens.

    Args:
        http: Sends the requests; `close` closes it.
        key: The key.
        address: The address of the API; `None`: Anthropic's.
        headers: Sent with each request.
    """

    provider: Final = Provider.ANTHROPIC

    def __init__(
        self,
        http: httpx2.AsyncClient,
        *,
        key: str | None,
        address: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._client = anthropic.AsyncAnthropic(
            # Without a key the SDK would search the machine for one.
            api_key=key or "none",
            base_url=address or FACTS[Provider.ANTHROPIC].address,
            http_client=http,
            default_headers=headers,
            max_retries=0,
            timeout=DEADLINES,
            open_telemetry=False,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def whole(self, asked: Asked, *, keeps: bool) -> JsonObject:
        """Return a whole answer."""
        create = self._client.messages.create
        answer = await create(**in_parameters(_body(asked, keeps=keeps), create))
        return read_message(dumped(answer), _names(asked))

    async def events(self, asked: Asked, *, keeps: bool) -> tuple[Events, MessageReader]:
        """Connect, and return the stream with its reader."""
        create = self._client.messages.create
        body = {**_body(asked, keeps=keeps), "stream": True}
        stream: Events = await create(**in_parameters(body, create))
        return stream, MessageReader(_names(asked))

    async def count(self, asked: Asked) -> JsonObject:
        """Count the tokens of a request, with its system instruction and its tools."""
        count = self._client.messages.count_tokens
        body = _body(asked, keeps=False)
        counted = {name: value for name, value in body.items() if name not in _NOT_COUNTED}
        answer = dumped(await count(**in_parameters(counted, count)))
        return {"totalTokens": number(answer.get("input_tokens")) or 0}

    async def embed(self, model: str, texts: list[str]) -> JsonObject:
        """Refuse: the API has no embeddings.

        Raises:
            ApiError: 501, always.
        """
        message = "Anthropic's API has no embeddings"
        raise ApiError.from_parts(501, message, "UNIMPLEMENTED")

    def refusal(self, error: Exception, now_ms: int) -> tuple[Refusal, bool] | None:
        """Return what an error of the SDK says, and whether it came within a stream."""
        if not isinstance(error, anthropic.APIStatusError):
            return None
        if error.response.is_success:
            return read_messages_stream_error(error.body, now_ms), True
        headers = error.response.headers
        return read_messages_refusal(error.status_code, headers, error.body, now_ms), False


def _body(asked: Asked, *, keeps: bool) -> dict[str, Any]:
    body = messages_body(asked, traits_of(asked.model))
    return {**_CACHED, **body} if keeps else body


def _names(asked: Asked) -> Mapping[str, str]:
    return own_names(declarations(asked.config.get("tools")))
