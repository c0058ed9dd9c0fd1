"""The model of a run over a provider: the run's own model behind the provider's SDK.

`openai:adk` is adk over OpenAI's SDK. The SDK's network is the model of the run, which answers in
the provider's wire format (`services.providers.wire`). `harness/http/carried.py` removes from a
cassette what that format cannot carry.

The SDK of a provider cannot send who asks (role and thread), so the request of the runtime waits
while the SDK sends it, and is what the run's model gets. The comparison sees the requests of the
runtimes; what travels in the provider's format is checked by the tests of `services.providers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Final

import httpx
import httpx2

from harness.cassette.format import Cassette
from harness.replay.client import Unplayable
from harness.replay.gemini_client import local_client
from harness.replay.models import ModelSource, ReplayedModel
from services.clock import VirtualClock
from services.model.gemini import GeminiContentGenerator
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.replay.generator import ReplayNote
from services.model.replay.matching import ObservedRequest
from services.model.replay.steps import StepMethod
from services.providers.dialect import WireCall
from services.providers.opening import open_provider
from services.providers.provider import Provider
from services.providers.sdk_generator import SdkContentGenerator
from services.providers.wire.server import WireServer
from services.providers.wire.transport import WireTransport
from services.wire import JsonObject

__all__ = ["over_provider"]

_GEMINI: Final = "https://generativelanguage.googleapis.com"
_ASKED: Final[ContextVar[ModelRequest | None]] = ContextVar("wired_request", default=None)


def over_provider(source: ModelSource, name: str, cassette: Cassette) -> ModelSource:
    """Return a source of models that are asked through the SDK of a provider.

    Raises:
        Unplayable: the provider cannot give the answers of the cassette.
    """
    provider = Provider(name)
    reason = next(_refusals(cassette, provider), None)
    if reason is not None:
        raise Unplayable(f"SDK of {name}", reason)

    def wired(
        cassette: Cassette,
        clock: VirtualClock,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> _WiredModel:
        return _WiredModel(source(cassette, clock, on_request, on_chunk), provider, clock)

    return wired


def _refusals(cassette: Cassette, provider: Provider) -> Iterator[str]:
    """Yield why a session over `provider` cannot have the answers of `cassette`, as sentences."""
    for step in cassette.steps if provider is not Provider.GEMINI else ():
        if step.role is LlmRole.UTILITY_TOOL:
            yield f"{provider} has no counterpart of the web tools of the Gemini API"
        if step.method is StepMethod.EMBED and provider is Provider.ANTHROPIC:
            yield "anthropic has no embeddings"


class _WiredModel:
    """A replayed model behind the SDK of a provider; see the module."""

    def __init__(self, inner: ReplayedModel, provider: Provider, clock: VirtualClock) -> None:
        self._inner = inner
        server = WireServer(
            inner,
            clock=clock,
            described=_described,
            streams_only=False,
            complete=False,
            waiting=clock.no_real_work,
        )
        self._sdk = _sdk(provider, WireTransport(server), clock)

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """Requests that matched no step."""
        return self._inner.notes

    def unused_steps(self) -> list[int]:
        """Indices of the steps that no request used, ascending."""
        return self._inner.unused_steps()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Request a whole response."""
        _ASKED.set(request)
        return await self._sdk.generate_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Request a stream of chunks."""
        _ASKED.set(request)
        return await self._sdk.generate_content_stream(request)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Request a token count."""
        _ASKED.set(request)
        return await self._sdk.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Request embeddings."""
        return await self._sdk.embed_content(request)


def _described(call: WireCall) -> ModelRequest:
    request = _ASKED.get()
    assert request is not None, f"a request for {call.asked.model} that no runtime made"
    return request


def _sdk(
    provider: Provider, network: WireTransport, clock: VirtualClock
) -> SdkContentGenerator | GeminiContentGenerator:
    if provider is Provider.GEMINI:
        return local_client(_GEMINI, clock, httpx.AsyncClient(transport=network))
    http = httpx2.AsyncClient(transport=network)
    return open_provider(provider, clock, key="local", http=http)
