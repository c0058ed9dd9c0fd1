"""`GeminiContentGenerator`: the real API, through google-genai.

The SDK takes long to import: import this module only where the real API is used. One call of ours
is one HTTP request: the SDK's retries, function calling and continuation requests are switched
off, because both runtimes have their own.

The SDK changes requests: it sends base64 in the URL alphabet, merges the function declarations of
several tools, and drops unknown fields (logged at debug level). In a response, an unescaped line
separator other than CR and LF breaks its event.

Source: core `core/contentGenerator.ts`; google-genai `models.py`, `_api_client.py`.
"""

from __future__ import annotations

import ssl
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from google import genai
from google.auth.exceptions import GoogleAuthError
from google.genai import errors, types

from services.abort import AbortSignal, until_aborted
from services.clock import Clock
from services.confinement import Refused
from services.model import sdk_json
from services.model.auth import AuthConfig, AuthType
from services.model.errors import ApiError, ModelError, NetworkError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.sdk_stream import SdkStream
from services.model.transport_errors import api_error, network_error, unreadable_answer
from services.net.clients import open_client
from services.net.errors import NetError
from services.net.google import AmbientCredentials
from services.net.terms import Terms
from services.wire import JsonObject

__all__ = ["GeminiContentGenerator"]

_NOT_THE_APIS = {"sdk_http_response", "automatic_function_calling_history", "parsed"}

CONNECT_DEADLINE_S = 10.0
SILENCE_DEADLINE_S = 300.0
"""The longest silence before and between chunks: undici's deadline."""
ANSWER_BYTES = 64 * 1024 * 1024
"""The largest decoded answer. Upstream has no limit; images in base64 take some ten MiB."""

T = TypeVar("T")


@dataclass(slots=True)
class _Exchange:
    """The HTTP exchange of a call, which the SDK does not return."""

    response: httpx.Response | None = None

    @property
    def answering(self) -> bool:
        """Whether the API has begun a successful answer."""
        return self.response is not None and self.response.is_success


_CURRENT: ContextVar[_Exchange | None] = ContextVar("gemini_exchange", default=None)


class GeminiContentGenerator:
    """Calls the Gemini API, Vertex AI or a gateway.

    Args:
        auth: The sign-in; see `services.model.auth.auth_from_environment`.
        clock: Virtual time does not advance during a request.
        http_client: Sends the requests and gets two event hooks; the caller closes it. None: the
            generator makes its own.
    """

    def __init__(
        self,
        auth: AuthConfig,
        clock: Clock,
        *,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        # The SDK warns on the terminal about each enum value that is newer than itself.
        warnings.filterwarnings("ignore", message=".* is not a valid ", module="google.genai")
        self._clock = clock
        self._owned = http_client is None
        if http_client is None:
            # The SDK's own client would take the key and the prompt wherever a redirect leads.
            terms = Terms(answer_bytes=ANSWER_BYTES, private=True, follows=True)
            http_client = open_client(terms, timeout=None, from_environment=True)
        self._http = http_client
        hooks = http_client.event_hooks
        http_client.event_hooks = {
            "request": [*hooks.get("request", ()), _set_deadlines],
            "response": [*hooks.get("response", ()), _note_response],
        }
        # The SDK would read the certificates for two clients that never connect. This trusts none.
        unused = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        options = types.HttpOptions(
            httpx_async_client=http_client,
            headers=_headers(auth),
            client_args={"verify": unused},
            async_client_args={"ssl": unused},
            base_url=auth.base_url,
            api_version=auth.api_version,
        )
        self._client = genai.Client(
            vertexai=auth.vertexai,
            # The SDK looks into the process' environment for a key when it is given none.
            api_key=auth.api_key or (None if auth.vertexai else "none"),
            project=auth.project,
            location=auth.location,
            credentials=_credentials(auth),
            http_options=options,
        )
        self._models = self._client.aio.models

    async def aclose(self) -> None:
        """Close the connections that this generator opened."""
        if self._owned:
            with self._clock.real_work():
                await self._http.aclose()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Send a request and return the whole response."""
        contents, config = _contents(request), _config(request)

        async def ask() -> Any:
            return await self._models.generate_content(
                model=request.model, contents=contents, config=config
            )

        response = await self._call(ask, request.signal, _Exchange())
        return sdk_json.dumped(response, exclude=_NOT_THE_APIS)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect and read the first chunk, because the SDK connects when it is read."""
        contents, config = _contents(request), _config(request)
        # The SDK's type does not say that it is a generator.
        chunks: Any = await self._models.generate_content_stream(
            model=request.model, contents=contents, config=config
        )
        exchange = _Exchange()

        async def pull() -> JsonObject | None:
            chunk = await self._call(lambda: _next(chunks), request.signal, exchange)
            return None if chunk is None else sdk_json.dumped(chunk, exclude=_NOT_THE_APIS)

        async def close() -> None:
            with self._clock.real_work():
                # The SDK's generators are nested: closing the outer one leaves the connection
                # to the garbage collector.
                if exchange.response is not None:
                    await exchange.response.aclose()
                await chunks.aclose()

        stream = SdkStream(pull, close)
        try:
            stream.head = await pull()
        except ModelError as error:
            if not exchange.answering:
                await stream.aclose()
                raise
            stream.head = error
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Count the tokens of the request's contents."""
        contents = _contents(request)

        async def ask() -> Any:
            return await self._models.count_tokens(model=request.model, contents=contents)

        response = await self._call(ask, request.signal, _Exchange())
        return sdk_json.dumped(response, exclude=_NOT_THE_APIS)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embed the texts, one vector each."""

        async def ask() -> Any:
            return await self._models.embed_content(
                model=request.model, contents=list(request.contents)
            )

        response = await self._call(ask, request.signal, _Exchange())
        return sdk_json.dumped(response, exclude=_NOT_THE_APIS)

    async def _call(
        self,
        ask: Callable[[], Coroutine[Any, Any, T]],
        signal: AbortSignal,
        exchange: _Exchange,
    ) -> T:
        with self._clock.real_work(), _translated(exchange):
            token = _CURRENT.set(exchange)
            try:
                return await until_aborted(ask(), signal)
            finally:
                _CURRENT.reset(token)


async def _next(chunks: AsyncIterator[Any]) -> Any:
    return await anext(chunks, None)


async def _note_response(response: httpx.Response) -> None:
    exchange = _CURRENT.get()
    if exchange is not None:
        exchange.response = response


async def _set_deadlines(request: httpx.Request) -> None:
    """Set deadlines, because the SDK sets none and a silent peer would block a session."""
    request.extensions["timeout"] = {
        "connect": CONNECT_DEADLINE_S,
        "pool": CONNECT_DEADLINE_S,
        "read": SILENCE_DEADLINE_S,
        "write": SILENCE_DEADLINE_S,
    }


def _credentials(auth: AuthConfig) -> Any:
    """Return credentials for Vertex AI without a key; the SDK's own search opens connections."""
    if not auth.vertexai or auth.api_key:
        return None
    return AmbientCredentials()


def _headers(auth: AuthConfig) -> dict[str, str]:
    headers = dict(auth.headers)
    if auth.type is AuthType.GATEWAY and not auth.api_key:
        headers["x-goog-api-key"] = ""
    return headers


def _contents(request: ModelRequest) -> list[Any]:
    return [
        sdk_json.parse_leniently(types.Content, sdk_json.content_with_bytes(content))
        for content in request.contents
    ]


def _config(request: ModelRequest) -> Any:
    config = dict(request.config)
    instruction = config.get("systemInstruction")
    if isinstance(instruction, dict):
        decoded = sdk_json.content_with_bytes(instruction)
        config["systemInstruction"] = sdk_json.parse_leniently(types.Content, decoded)
    parsed = sdk_json.parse_leniently(types.GenerateContentConfig, config)
    parsed.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)
    if "automatic_continuation" in types.GenerateContentConfig.model_fields:
        parsed.automatic_continuation = False
    return parsed


@contextmanager
def _translated(exchange: _Exchange) -> Iterator[None]:
    """Raise the seam's errors for the SDK's, httpx's and google-auth's."""
    try:
        yield
    except errors.APIError as error:
        body, grpc = error.details, error.status
        raise api_error(error.code, grpc, body, answering=exchange.answering) from error
    except httpx.HTTPError as error:
        raise network_error(error, answering=exchange.answering) from error
    except (NetError, Refused) as error:
        raise NetworkError(f"The model cannot be asked: {error}") from error
    except GoogleAuthError as error:
        raise ApiError.from_parts(401, str(error), "UNAUTHENTICATED") from error
    except errors.UnknownApiResponseError as error:
        raise unreadable_answer(error) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if exchange.answering:
            # The SDK reads answers without checking their shape.
            raise NetworkError(f"exception parsing stream chunk: {error}", cause=error) from error
        raise ApiError.from_parts(400, str(error), "INVALID_ARGUMENT") from error
