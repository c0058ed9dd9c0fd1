"""The A2A library's transports, changed where upstream's client differs.

The overridden methods are private; `test_against_core.py` and the runs beside the published core
test that the overrides still take effect.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any, Final

import httpx
from a2a.client.client import ClientCallContext
from a2a.client.transports.base import ClientTransport
from a2a.client.transports.jsonrpc import JsonRpcTransport
from a2a.client.transports.rest import RestTransport
from a2a.client.transports.tenant_decorator import TenantTransportDecorator
from a2a.compat.v0_3.jsonrpc_transport import CompatJsonRpcTransport
from a2a.compat.v0_3.rest_transport import CompatRestTransport
from a2a.types.a2a_pb2 import AgentCard, StreamResponse

from services.subagents.remote.cards import CardInterface
from services.subagents.remote.refusals import Refusal

__all__ = ["transport_for"]

_WORD: Final = re.compile("_([a-z])")


class _JsonRpc(JsonRpcTransport):
    def _create_jsonrpc_error(self, error_dict: dict[str, Any]) -> Exception:
        return Refusal(error_dict)


class _OldJsonRpc(CompatJsonRpcTransport):
    def _create_jsonrpc_error(self, error_dict: dict[str, Any]) -> Exception:
        return Refusal(error_dict)


class _OldRest(CompatRestTransport):
    """Sends requests in JSON's spelling.

    The library sends protobuf's names (`request`, `message_id`), which not all servers read.
    """

    async def _execute_request(
        self,
        method: str,
        path: str,
        context: ClientCallContext | None = None,
        *,
        json: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        return await super()._execute_request(
            method, path, context, json=_spelled(path, json), params=params
        )

    async def _send_stream_request(
        self,
        method: str,
        path: str,
        context: ClientCallContext | None = None,
        *,
        json: dict[str, Any] | None = None,
    ) -> AsyncGenerator[StreamResponse]:
        answer = super()._send_stream_request(method, path, context, json=_spelled(path, json))
        try:
            async for each in answer:
                yield each
        finally:
            await answer.aclose()


def transport_for(interface: CardInterface, http: httpx.AsyncClient) -> ClientTransport:
    """Return the transport of `interface` over `http`, which the caller closes."""
    # The constructors need a card, which these requests do not use.
    card = AgentCard()
    rest = interface.binding == "HTTP+JSON"
    transport: ClientTransport
    if interface.legacy:
        kind = _OldRest if rest else _OldJsonRpc
        return kind(http, card, interface.url, is_shared_httpx=True)
    if rest:
        transport = RestTransport(http, card, interface.url, is_shared_httpx=True)
    else:
        transport = _JsonRpc(http, card, interface.url, is_shared_httpx=True)
    if interface.tenant:
        transport = TenantTransportDecorator(transport, interface.tenant)
    return transport


def _spelled(path: str, request: dict[str, Any] | None) -> dict[str, Any] | None:
    if request is None or "/message:" not in path:
        return request
    found: dict[str, Any] = _camel({"message": request["request"], **request})
    del found["request"]
    return found


def _camel(value: Any) -> Any:
    """Return `value` with every key in JSON's spelling; all keys are the protocol's."""
    if isinstance(value, dict):
        return {_WORD.sub(lambda at: at[1].upper(), key): _camel(value[key]) for key in value}
    return [_camel(each) for each in value] if isinstance(value, list) else value
