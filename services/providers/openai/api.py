"""OpenAI's SDK behind the model seam. Import it only where the SDK is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import httpx2
import openai

from services.model.tokens import estimate_tokens
from services.providers.calls import own_names
from services.providers.exchange import Asked
from services.providers.openai.answers import ChatReader, read_chat_completion
from services.providers.openai.counting import count_body
from services.providers.openai.refusals import read_chat_refusal, read_chat_stream_error
from services.providers.openai.requests import chat_body
from services.providers.openai.traits import ChatTraits, traits_of
from services.providers.provider import FACTS, Provider
from services.providers.refusals import Refusal
from services.providers.schemas import declarations
from services.providers.sdk_generator import DEADLINES, Events, dumped, in_parameters
from services.providers.shape import items, number
from services.wire import JsonObject

__all__ = ["OpenAIApi"]

_NO_KEY: Final = "none"
"""For servers without keys, as the SDK requires one."""


class OpenAIApi:
    """Chat Completions and embeddings.

    Args:
        http: Sends the requests; `close` closes it.
        key: The key, if the server wants one.
        address: The address of the API; `None`: OpenAI's.
        headers: Sent with each request.
    """

    provider: Final = Provider.OPENAI

    def __init__(
        self,
        http: httpx2.AsyncClient,
        *,
        key: str | None,
        address: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._address = address or FACTS[Provider.OPENAI].address
        self._client = openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=self._address,
            http_client=http,
            default_headers=headers,
            max_retries=0,
            timeout=DEADLINES,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def whole(self, asked: Asked, *, keeps: bool) -> JsonObject:
        """Return a whole answer; the server decides by itself what it keeps."""
        create = self._client.chat.completions.create
        answer = await create(**in_parameters(self._body(asked), create))
        return read_chat_completion(dumped(answer), _names(asked))

    async def events(self, asked: Asked, *, keeps: bool) -> tuple[Events, ChatReader]:
        """Connect, and return the stream with its reader."""
        create = self._client.chat.completions.create
        body = {**self._body(asked), "stream": True, "stream_options": {"include_usage": True}}
        stream: Events = await create(**in_parameters(body, create))
        return stream, ChatReader(_names(asked))

    async def count(self, asked: Asked) -> JsonObject:
        """Count the tokens of a request. Only OpenAI's own servers do; for others it estimates."""
        if self._traits(asked).counts:
            count = self._client.responses.input_tokens.count
            answer = dumped(await count(**in_parameters(count_body(asked), count)))
            return {"totalTokens": number(answer.get("input_tokens")) or 0}
        parts = [part for content in asked.contents for part in content.get("parts") or ()]
        return {"totalTokens": estimate_tokens(parts)}

    async def embed(self, model: str, texts: list[str]) -> JsonObject:
        """Embed the texts, one vector each."""
        answer = await self._client.embeddings.create(
            model=model, input=texts, encoding_format="float"
        )
        vectors = sorted(items(dumped(answer).get("data")), key=lambda each: each.get("index", 0))
        return {"embeddings": [{"values": each.get("embedding") or []} for each in vectors]}

    def refusal(self, error: Exception, now_ms: int) -> tuple[Refusal, bool] | None:
        """Return what an error of the SDK says, and whether it came within a stream."""
        if isinstance(error, openai.APIStatusError):
            headers = error.response.headers
            return read_chat_refusal(error.status_code, headers, error.body, now_ms), False
        if isinstance(error, openai.APIConnectionError | openai.APIResponseValidationError):
            return None
        if isinstance(error, openai.APIError) and error.body is not None:
            return read_chat_stream_error(error.body, now_ms), True
        return None

    def _body(self, asked: Asked) -> dict[str, Any]:
        return chat_body(asked, self._traits(asked))

    def _traits(self, asked: Asked) -> ChatTraits:
        return traits_of(asked.model, self._address)


def _names(asked: Asked) -> Mapping[str, str]:
    return own_names(declarations(asked.config.get("tools")))
