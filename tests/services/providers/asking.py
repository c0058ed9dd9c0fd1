"""Generators over the real SDKs whose network answers from steps, or with any bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2

from services.abort import AbortController, AbortSignal
from services.model.generator import LlmRole, ModelRequest
from services.providers.opening import open_provider
from services.providers.provider import Provider
from services.providers.sdk_generator import SdkContentGenerator
from services.providers.wire.steps import PassingTime, answering
from services.providers.wire.transport import WireTransport
from services.wire import Content, JsonObject

HELLO: Content = {"role": "user", "parts": [{"text": "hello"}]}


def asked(
    *contents: Content, signal: AbortSignal | None = None, model: str = "m", **config: Any
) -> ModelRequest:
    """A request of the main agent."""
    return ModelRequest(
        model=model,
        contents=contents or (HELLO,),
        role=LlmRole.MAIN,
        prompt_id="p########0",
        signal=signal or AbortController().signal,
        config=config,
    )


async def read(
    generator: SdkContentGenerator, request: ModelRequest | None = None
) -> list[JsonObject]:
    """Read a whole stream."""
    async with aclosing(await generator.generate_content_stream(request or asked())) as stream:
        return [chunk async for chunk in stream]


@asynccontextmanager
async def over(
    provider: Provider, transport: httpx2.AsyncBaseTransport
) -> AsyncIterator[SdkContentGenerator]:
    """A generator over the provider's SDK, whose network is `transport`."""
    http = httpx2.AsyncClient(transport=transport)
    generator = open_provider(
        provider, PassingTime(), key="secret", address="http://localhost:1/v1", http=http
    )
    try:
        yield generator
    finally:
        await generator.aclose()


def steps(*given: JsonObject) -> WireTransport:
    """A network that answers with the steps of a cassette."""
    return answering(list(given))


class Recorded(httpx2.AsyncBaseTransport):
    """A network that gives one answer, and keeps the requests."""

    def __init__(self, answer: Callable[[httpx2.Request], httpx2.Response]) -> None:
        self.requests: list[httpx2.Request] = []
        self._answer = answer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer."""
        self.requests.append(request)
        return self._answer(request)
