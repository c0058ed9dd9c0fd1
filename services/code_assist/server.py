"""`CodeAssistServer`: the methods of the server, each one HTTP request.

A refused token is renewed once. The published core (0.61.0) asks for retries of its requests, but
its HTTP client repeats no POST.

Source: core `code_assist/server.ts`; google-auth-library (`OAuth2Client.requestAsync`).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing
from typing import Final

import httpx

from services.clock import Clock
from services.code_assist.errors import CodeAssistError
from services.confinement import Refused
from services.json_values import parse_json
from services.model.errors import FatalAuthenticationError, NetworkError, UnauthorizedError
from services.model.transport_errors import network_error
from services.net.addresses import is_encrypted_or_local
from services.net.clients import open_client
from services.net.errors import NetError
from services.net.terms import Terms
from services.sign_in.accounts import Account
from services.wire import JsonObject, js_json

__all__ = ["CodeAssistServer", "events_of", "service_address"]

logger = logging.getLogger(__name__)

_ENDPOINT: Final = "https://cloudcode-pa.googleapis.com"
_VERSION: Final = "v1internal"
_ANSWER_BYTES: Final = 64 * 1024 * 1024
_CONNECT_S: Final = 10.0
_SILENCE_S: Final = 300.0
_UNAUTHORIZED: Final = 401
_DATA: Final = "data: "


def service_address(variables: Mapping[str, str]) -> str:
    """The server's address; `CODE_ASSIST_ENDPOINT` and `CODE_ASSIST_API_VERSION` replace its parts.

    Raises:
        FatalAuthenticationError: that address is neither encrypted nor on this machine.
    """
    endpoint = variables.get("CODE_ASSIST_ENDPOINT") or _ENDPOINT
    if not is_encrypted_or_local(endpoint):
        raise FatalAuthenticationError(
            "CODE_ASSIST_ENDPOINT must be an https:// address or a loopback address, because "
            "tokens are sent there"
        )
    return f"{endpoint.rstrip('/')}/{variables.get('CODE_ASSIST_API_VERSION') or _VERSION}"


class CodeAssistServer:
    """The server, asked with the tokens of one account.

    All methods raise `CodeAssistError` for a refusal, `NetworkError` for a failed connection, and
    `UnauthorizedError` where the account has no valid token.

    Args:
        account: issues the tokens.
        address: see `service_address`.
        headers: sent with each request.
        clock: stands still during a request.
    """

    def __init__(
        self, account: Account, address: str, headers: Mapping[str, str], clock: Clock
    ) -> None:
        self._account = account
        self._address = address
        self._headers = {**headers, "Content-Type": "application/json"}
        self._clock = clock
        terms = Terms(answer_bytes=_ANSWER_BYTES, private=True, follows=True)
        timeout = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S, pool=_CONNECT_S)
        self._http = open_client(terms, timeout=timeout, from_environment=True)

    async def aclose(self) -> None:
        """Close the connections."""
        with self._clock.real_work():
            await self._http.aclose()

    async def call(self, method: str, body: JsonObject) -> JsonObject:
        """Call a method such as `loadCodeAssist`; return its answer."""
        return await self._whole("POST", f"{self._address}:{method}", body)

    async def operation(self, name: str) -> JsonObject:
        """The state of a long-running operation: `{name, done?, response?}`."""
        return await self._whole("GET", f"{self._address}/{name}", None)

    async def connected(self, method: str, body: JsonObject) -> httpx.Response:
        """Call a method that answers with events; return the open response, to be closed."""
        url = f"{self._address}:{method}?alt=sse"
        with self._clock.real_work():
            return await self._sent("POST", url, body)

    async def next_event(self, events: AsyncIterator[JsonObject]) -> JsonObject | None:
        """The next event of `events`; `None` at the end."""
        try:
            with self._clock.real_work():
                return await anext(events, None)
        except httpx.HTTPError as error:
            raise network_error(error, answering=True) from error
        except NetError as error:
            raise NetworkError(f"Code Assist's answer cannot be read: {error}") from error

    async def _whole(self, verb: str, url: str, body: JsonObject | None) -> JsonObject:
        with self._clock.real_work():
            response = await self._sent(verb, url, body)
            try:
                said = parse_json(await response.aread())
            except httpx.HTTPError as error:
                raise network_error(error, answering=True) from error
            except (NetError, ValueError, RecursionError) as error:
                raise NetworkError(f"Code Assist's answer cannot be read: {error}") from error
            finally:
                await response.aclose()
        return said if isinstance(said, dict) else {}

    async def _sent(self, verb: str, url: str, body: JsonObject | None) -> httpx.Response:
        token = await _available(self._account.token())
        response = await self._asked(verb, url, body, token)
        if response.status_code == _UNAUTHORIZED:
            await response.aclose()
            token = await _available(self._account.renewed(token))
            response = await self._asked(verb, url, body, token)
        if response.is_success:
            return response
        try:
            text = (await response.aread()).decode(errors="replace")
        except (httpx.HTTPError, NetError):
            # The status alone decides.
            text = ""
        finally:
            await response.aclose()
        raise CodeAssistError(response.status_code, text)

    async def _asked(
        self, verb: str, url: str, body: JsonObject | None, token: str
    ) -> httpx.Response:
        headers = {**self._headers, "Authorization": f"Bearer {token}"}
        content = None if body is None else js_json(body).encode(errors="replace")
        request = self._http.build_request(verb, url, headers=headers, content=content)
        try:
            return await self._http.send(request, stream=True)
        except httpx.HTTPError as error:
            raise network_error(error, answering=False) from error
        except (NetError, Refused) as error:
            raise NetworkError(f"Code Assist cannot be asked: {error}") from error


async def _available(token: Awaitable[str]) -> str:
    """Await a token of the account; without one, the user must sign in again."""
    try:
        return await token
    except FatalAuthenticationError as error:
        raise UnauthorizedError(str(error)) from error


async def events_of(response: httpx.Response) -> AsyncGenerator[JsonObject, None]:
    """The JSON objects of an event stream; an event that is none is left out and logged."""
    data: list[str] = []
    async with aclosing(_lines(response)) as lines:
        async for line in lines:
            if line.startswith(_DATA):
                data.append(line.removeprefix(_DATA).strip())
            elif line == "" and data:
                try:
                    said = parse_json("\n".join(data))
                except (ValueError, RecursionError):
                    # Its content may be the conversation's.
                    logger.warning("Malformed JSON chunk")
                    said = None
                data = []
                if isinstance(said, dict):
                    yield said


async def _lines(response: httpx.Response) -> AsyncGenerator[str, None]:
    r"""The lines of a response, which end with `\n` or `\r\n` only."""
    rest = b""
    async for piece in response.aiter_bytes():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")
