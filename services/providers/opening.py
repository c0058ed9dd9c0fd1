"""Opens a generator over the SDK of a provider."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from services.clock import Clock
from services.net.provider_clients import open_provider_client
from services.providers.provider import Provider
from services.providers.sdk_generator import DEADLINES, TERMS, ProviderApi, SdkContentGenerator

__all__ = ["open_provider"]


def open_provider(
    provider: Provider,
    clock: Clock,
    *,
    key: str | None,
    address: str | None = None,
    headers: Mapping[str, str] | None = None,
    http: httpx2.AsyncClient | None = None,
) -> SdkContentGenerator:
    """Return a generator that asks a provider other than Gemini; the caller closes it.

    Args:
        provider: OpenAI or Anthropic, whose SDK is installed (`missing_package`).
        clock: Virtual time does not advance during a request.
        key: The key; `None` for a server without one.
        address: Replaces the address of the provider's API.
        headers: Sent with each request.
        http: Sends the requests, in place of the network.
    """
    http = http or open_provider_client(TERMS, timeout=DEADLINES)
    api: ProviderApi
    if provider is Provider.OPENAI:
        from services.providers.openai.api import OpenAIApi

        api = OpenAIApi(http, key=key, address=address, headers=headers)
    else:
        from services.providers.anthropic.api import AnthropicApi

        api = AnthropicApi(http, key=key, address=address, headers=headers)
    return SdkContentGenerator(api, clock)
