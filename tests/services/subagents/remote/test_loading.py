"""Cards: where from, which spelling, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.subagents.remote.errors import (
    AgentConnectionError,
    RemoteAgentError,
)
from services.subagents.remote.limits import Limits
from services.subagents.remote_loading import RemoteCard
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time, text_of

QUICK = Limits(card_s=0.3)
BEARER = {"type": "http", "scheme": "Bearer", "token": "token-81d02e5c66"}


@on_virtual_time
async def test_a_card_describes_the_agents_skills(server: Server, opened: Open) -> None:
    async with opened() as session:
        card = await session.agents.load(agent(card_url=server.card("now")))
    assert card == RemoteCard(
        description="The agent now",
        skills=(("sums", "Adds"), ("else", None)),
        required_auth=None,
    )


@on_virtual_time
async def test_an_agent_is_loaded_once(server: Server, opened: Open) -> None:
    definition = agent(card_url=server.card("now"))
    async with opened() as session:
        await session.agents.load(definition)
        with pytest.raises(RemoteAgentError, match="Agent with name 'far' is already loaded"):
            await session.agents.load(definition)
        session.agents.clear()
        await session.agents.load(definition)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("slow", "Fetching the agent card from {url} took longer than 0.3 seconds"),
        ("huge", "The agent card at {url} is larger than 1048576 bytes"),
        ("away", "The agent card at {url} is redirected to another origin"),
        ("circle", "The agent card at {url} is redirected more than 5 times"),
        ("page", "The agent card at {url} is not JSON"),
        ("list", "Agent card is missing."),
        ("gone", "Failed to fetch Agent Card from {url}: 404"),
        ("private", "Failed to fetch Agent Card from {url}: 401"),
    ],
)
@on_virtual_time
async def test_an_invalid_card_is_refused(
    server: Server, opened: Open, kind: str, message: str
) -> None:
    url = server.bad(kind)
    async with opened(limits=QUICK) as session:
        with pytest.raises(RemoteAgentError) as refused:
            await session.agents.load(agent(card_url=url))
    assert str(refused.value).startswith(message.format(url=url))


@on_virtual_time
async def test_a_missing_card_is_reported_in_the_calls_result(server: Server, opened: Open) -> None:
    async with opened() as session:
        for sessions in (False, True):
            result = await session.call(agent(card_url=server.bad("gone")), "x", sessions=sessions)
            assert text_of(result) == (
                "Error calling remote agent: Failed to fetch Agent Card from "
                f"{server.bad('gone')}: 404"
            )


@on_virtual_time
async def test_a_closed_port_has_the_message_of_fetch(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(RemoteAgentError, match=r"^fetch failed$"):
            await session.agents.load(agent(card_url="http://127.0.0.1:9/card"))


@on_virtual_time
async def test_a_redirect_on_the_same_origin_is_followed(server: Server, opened: Open) -> None:
    async with opened() as session:
        card = await session.agents.load(agent(card_url=server.bad("moved")))
    assert card.description == "The agent now"


@on_virtual_time
async def test_credentials_go_to_a_card_only_once_it_asks_for_them(
    server: Server, opened: Open
) -> None:
    async with opened() as session:
        await session.agents.load(agent("open", card_url=server.card("old"), auth=BEARER))
        card = await session.agents.load(agent(card_url=server.bad("private"), auth=BEARER))
    assert card.description == "The agent now"
    cards = server.seen()["cards"]
    assert ["old", False] in cards
    assert ["old", True] not in cards
    assert ["now", True] in cards


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "nonsense", "http://", "http://[::1", "http://h:0/"]
)
@on_virtual_time
async def test_an_invalid_address_is_refused(opened: Open, url: str) -> None:
    async with opened() as session:
        with pytest.raises(RemoteAgentError, match="Invalid URL"):
            await session.agents.load(agent(card_url=url))


@on_virtual_time
async def test_an_address_with_a_password_is_refused_and_not_repeated(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(RemoteAgentError) as refused:
            await session.agents.load(agent(card_url="https://ada:opensesame@example.com/card"))
    assert "opensesame" not in str(refused.value)
    assert "example.com includes credentials" in str(refused.value)


@on_virtual_time
async def test_an_inline_card_that_is_no_json_names_the_agent(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(
            RemoteAgentError, match="Failed to parse inline agent card JSON for agent 'far'"
        ):
            await session.agents.load(agent(card_json="{"))


@pytest.mark.parametrize(
    "card",
    [
        {"url": "$/old/rpc"},
        {"url": "$/now/rpc", "protocolVersion": "1.0"},
        {"supportedInterfaces": [{"url": "$/now/rpc", "protocolBinding": "JSONRPC"}]},
        {"supportedInterfaces": [{"url": "$/now/rpc", "transport": "jsonrpc"}]},
        {
            "url": "$/nowhere",
            "preferredTransport": "GRPC",
            "additionalInterfaces": [{"url": "$/oldrest", "protocolBinding": "HTTP+JSON"}],
        },
        {
            "url": "$/old/rpc",
            "protocolVersion": "0.3.0",
            "additionalInterfaces": [{"url": "$/old/rpc", "transport": "JSONRPC"}],
            "supportedInterfaces": [
                {"url": "$/old/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
                {"url": "$/now/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            ],
        },
        {
            "supportedInterfaces": [
                {"url": "$/rest", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
                {"url": "$/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0.1"},
                {"url": "$/nowhere", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            ]
        },
        {"supportedInterfaces": [7, {"url": "$/rest"}], "url": "$/old/rpc", "skills": "many"},
    ],
)
@on_virtual_time
async def test_every_spelling_of_a_card_leads_to_the_agent(
    server: Server, opened: Open, card: dict[str, Any]
) -> None:
    text = json.dumps(card).replace("$", server.url)
    async with opened() as session:
        result = await session.call(agent(card_json=text), "say here")
    assert text_of(result) == "here"


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (
            {"supportedInterfaces": [{"url": "http://h/", "protocolBinding": "GRPC"}]},
            (
                "Connection failed for inline JSON: No compatible transport found, available "
                "transports: HTTP+JSON,JSONRPC. The card offers GRPC alone, which is not supported "
                "here"
            ),
        ),
        (
            {"name": "nothing"},
            (
                "Connection failed for inline JSON: No compatible transport found, available "
                "transports: HTTP+JSON,JSONRPC"
            ),
        ),
        (
            {"url": "ftp://h/"},
            "Connection failed for inline JSON: Invalid URL: 'ftp://h/'",
        ),
    ],
)
@on_virtual_time
async def test_loading_a_card_without_a_supported_interface_fails(
    opened: Open, card: dict[str, Any], message: str
) -> None:
    async with opened() as session:
        with pytest.raises(AgentConnectionError) as refused:
            await session.agents.load(agent(card_json=json.dumps(card)))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("scheme", "auth", "required"),
    [
        ({"type": "http", "scheme": "bearer"}, BEARER, None),
        ({"type": "http", "scheme": "Basic"}, BEARER, "HTTP Basic (s)"),
        ({"type": "http", "scheme": "Bearer"}, None, "HTTP Bearer (s)"),
        ({"type": "apiKey", "name": "K", "in": "header"}, {"type": "apiKey", "key": "k"}, None),
        ({"httpAuthSecurityScheme": {"scheme": "Bearer"}}, BEARER, "Unknown (s): undefined"),
        ({"type": "oauth2", "flows": {}}, BEARER, "OAuth 2.0 (s)"),
        ({"type": "openIdConnect"}, BEARER, "OpenID Connect (s)"),
        ({"type": "mutualTLS"}, BEARER, "Mutual TLS (s)"),
        ({"type": "magic"}, BEARER, "Unknown (s): magic"),
    ],
)
@on_virtual_time
async def test_a_warning_names_credentials_that_a_card_requires(
    opened: Open, scheme: dict[str, Any], auth: dict[str, Any] | None, required: str | None
) -> None:
    card = {"url": "http://127.0.0.1:9/", "securitySchemes": {"s": scheme}}
    async with opened() as session:
        found = await session.agents.load(agent(card_json=json.dumps(card), auth=auth))
    assert found.required_auth == required


@on_virtual_time
async def test_one_scheme_of_several_is_enough(opened: Open) -> None:
    schemes = {"a": {"type": "mutualTLS"}, "b": {"type": "http", "scheme": "Bearer"}}
    card = {"url": "http://127.0.0.1:9/", "securitySchemes": schemes}
    async with opened() as session:
        with_it = await session.agents.load(agent(card_json=json.dumps(card), auth=BEARER))
        without = await session.agents.load(agent("other", card_json=json.dumps(card)))
    assert with_it.required_auth is None
    assert without.required_auth == "Mutual TLS (a) OR HTTP Bearer (b)"
