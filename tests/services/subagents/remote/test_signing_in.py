"""Credentials: each kind against a server that wants it, and where their values come from."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from services.clock import VirtualClock
from services.environment import Environment
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.google import GoogleAccount, GoogleCredentialsAuth, GoogleToken
from services.subagents.remote.secrets import Secrets
from services.subagents.remote.values import ValueResolver
from services.workspace import Workspace
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time, text_of

KEY, TOKEN, PASSWORD = "key-4f3c9a1b77", "token-81d02e5c66", "pass-52aa90ff13"
BASIC = {"type": "http", "scheme": "Basic", "username": "ada", "password": PASSWORD}


@pytest.mark.parametrize(
    ("lock", "auth"),
    [
        ("key", {"type": "apiKey", "key": KEY}),
        ("own", {"type": "apiKey", "key": KEY, "name": "X-Own-Key"}),
        ("key", {"type": "apiKey", "key": "$FAR_KEY"}),
        ("key", {"type": "apiKey", "key": f"!echo ' {KEY} '"}),
        ("bearer", {"type": "http", "scheme": "Bearer", "token": TOKEN}),
        ("basic", BASIC),
        ("digest", {"type": "http", "scheme": "Digest", "value": "value-33e1c7d905"}),
    ],
)
@on_virtual_time
async def test_valid_credentials_are_accepted(
    server: Server, opened: Open, lock: str, auth: dict[str, Any]
) -> None:
    definition = agent(card_url=server.card(f"locked.{lock}"), auth=auth)
    async with opened(variables={"FAR_KEY": KEY}) as session:
        result = await session.call(definition, "say welcome")
    assert text_of(result) == "welcome"


@pytest.mark.parametrize(
    ("lock", "auth", "tries"),
    [
        ("key", {"type": "apiKey", "key": "wrong-0b5e77"}, 1),
        ("key", {"type": "apiKey", "key": "!echo wrong-0b5e77"}, 2),
        ("bearer", {"type": "http", "scheme": "Bearer", "token": "wrong-0b5e77"}, 2),
        ("basic", {**BASIC, "password": "wrong-0b5e77"}, 2),
        ("bearer", None, 1),
    ],
)
@on_virtual_time
async def test_wrong_credentials_are_tried_again_only_where_they_can_change(
    server: Server, opened: Open, lock: str, auth: dict[str, Any] | None, tries: int
) -> None:
    before = server.seen()["denied"]
    async with opened() as session:
        result = await session.call(
            agent(card_url=server.card(f"locked.{lock}"), auth=auth), "say never"
        )
    assert "401 Unauthorized" in text_of(result)
    assert "wrong-0b5e77" not in text_of(result)
    assert server.seen()["denied"] - before == tries


@on_virtual_time
async def test_a_key_that_has_changed_is_fetched_anew(
    server: Server, opened: Open, tmp_path: Path
) -> None:
    kept = tmp_path / "key"
    kept.write_text("old-77c1d2")
    definition = agent(
        card_url=server.card("locked.key"),
        auth={"type": "apiKey", "key": f"!cat key; echo {KEY} > key"},
    )
    async with opened() as session:
        result = await session.call(definition, "say renewed")
    assert text_of(result) == "renewed"


@on_virtual_time
async def test_credentials_are_renewed_at_most_twice_in_a_row(server: Server, opened: Open) -> None:
    definition = agent(
        card_url=server.card("locked.bearer"),
        auth={"type": "http", "scheme": "Bearer", "token": "wrong-0b5e77"},
    )
    before = server.seen()["denied"]
    async with opened() as session:
        for _ in range(4):
            await session.call(definition, "say never")
    # Two calls are tried twice, the others once: nothing has let us in since.
    assert server.seen()["denied"] - before == 6


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        (
            {"type": "apiKey", "key": "$MISSING"},
            (
                "Environment variable 'MISSING' is not set or is empty. "
                "Please set it before using this agent."
            ),
        ),
        (
            {"type": "oauth2", "client_id": "c"},
            'OAuth2 authentication for agent "far" needs a person at a browser',
        ),
        ({"type": "openIdConnect"}, "openIdConnect auth provider not yet implemented"),
        ({"type": "magic"}, "Unknown auth type: magic"),
    ],
)
@on_virtual_time
async def test_loading_an_agent_reports_unavailable_credentials(
    server: Server, opened: Open, auth: dict[str, Any], message: str
) -> None:
    async with opened() as session:
        with pytest.raises(RemoteAgentError) as refused:
            await session.agents.load(agent(card_url=server.card("now"), auth=auth))
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("plain", "plain"),
        ("", ""),
        ("$NAME", "of the environment"),
        ("$$NAME", "$NAME"),
        ("!!echo", "!echo"),
        ("!printf ' two words \\n'", "two words"),
        ("!echo $NAME$HOME | wc -c", "1"),
    ],
)
@on_virtual_time
async def test_values_are_literal_or_looked_up(tmp_path: Path, value: str, found: str) -> None:
    assert await resolver(tmp_path).resolve(value) == found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("$EMPTY", "Environment variable 'EMPTY' is not set or is empty."),
        ("!", "Empty command in auth value. Expected format: !command"),
        ("!true", "Command 'true' returned empty output"),
        ("!echo it-is-4711 >&2; exit 3", "Command failed with exit code 3"),
        ("!kill -9 $$", "Command failed with exit code null"),
        ("!sleep 30", "Command 'sleep 30' timed out after 0.2 seconds"),
    ],
)
@on_virtual_time
async def test_values_that_cannot_be_had_say_why(tmp_path: Path, value: str, message: str) -> None:
    with pytest.raises(RemoteAgentError) as refused:
        await resolver(tmp_path, limit_ms=200 if "sleep" in value else 60_000).resolve(value)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def resolver(folder: Path, *, limit_ms: float = 60_000) -> ValueResolver:
    """With variables that children do not have."""
    path = Environment.for_replay(home=str(folder)).child_variables["PATH"]
    return ValueResolver(
        environment=Environment(
            variables={"NAME": "of the environment", "EMPTY": "", "PATH": path},
            child_variables={"PATH": path},
        ),
        workspace=Workspace.at(folder, folder),
        clock=VirtualClock(),
        limit_ms=limit_ms,
    )


class Tokens:
    """Counts who asks for what; tokens end an hour after they were made."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.asked: list[object] = []

    async def identity(self, audience: str) -> GoogleToken:
        return self._token(audience)

    async def access(self, scopes: Sequence[str]) -> GoogleToken:
        return self._token(list(scopes))

    def _token(self, wanted: object) -> GoogleToken:
        self.asked.append(wanted)
        return GoogleToken(f"token {len(self.asked)}", self.clock.now_ms() + 3_600_000)


def google(url: str | None, tokens: Tokens, auth: Mapping[str, Any] = {}) -> GoogleCredentialsAuth:
    return GoogleCredentialsAuth(
        dict(auth), url, tokens=tokens, secrets=Secrets(), clock=tokens.clock
    )


async def test_a_service_of_ones_own_gets_an_identity_and_google_gets_access() -> None:
    tokens = Tokens(VirtualClock())
    await google("https://far-abc.a.run.app/card", tokens).headers()
    await google("https://far.googleapis.com/card", tokens).headers()
    await google("https://far.googleapis.com/", tokens, {"scopes": ["one", "two"]}).headers()
    assert tokens.asked == [
        "far-abc.a.run.app",
        ["https://www.googleapis.com/auth/cloud-platform"],
        ["one", "two"],
    ]


async def test_a_google_token_is_kept_until_five_minutes_before_its_end() -> None:
    clock = VirtualClock()
    provider = google("https://far.googleapis.com/", Tokens(clock))
    first = await provider.headers()
    clock.advance(3_600_000 - 5 * 60_000 - 1)
    assert await provider.headers() == first == {"Authorization": "Bearer token 1"}
    clock.advance(1)
    assert await provider.headers() == {"Authorization": "Bearer token 2"}
    assert await provider.headers_after(401) == {"Authorization": "Bearer token 3"}


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (None, "targetUrl must be provided"),
        ("http://far.googleapis.com/", 'Protocol "http:" is not secure.'),
        ("https://evil.com/", 'Host "evil.com" is not an allowed host'),
        ("https://googleapis.com.evil.com/", "is not an allowed host"),
        ("https://evilrun.app/", "is not an allowed host"),
        ("https://googleapis.com/", "is not an allowed host"),
    ],
)
def test_google_tokens_go_to_google_alone(url: str | None, message: str) -> None:
    with pytest.raises(RemoteAgentError) as refused:
        google(url, Tokens(VirtualClock()))
    assert message in str(refused.value)


async def test_the_account_is_the_one_that_the_environment_names(
    server: Server, tmp_path: Path
) -> None:
    key = tmp_path / "account.json"
    key.write_text(json.dumps(service_account(server.url)))
    environment = Environment(variables={"GOOGLE_APPLICATION_CREDENTIALS": str(key)})
    account = GoogleAccount(environment, tmp_path, VirtualClock())
    access = await account.access(["one"])
    assert access.text == "access-token-of-one"
    assert access.expires_ms is not None
    identity = await account.identity("far.run.app")
    claims = json.loads(base64.urlsafe_b64decode(identity.text.split(".")[1] + "=="))
    assert claims["aud"] == "far.run.app"
    assert identity.expires_ms == claims["exp"] * 1000


async def test_an_account_without_a_token_fails_without_details(
    server: Server, tmp_path: Path
) -> None:
    key = tmp_path / "account.json"
    key.write_text(json.dumps({**service_account(server.url), "token_uri": f"{server.url}/bad/x"}))
    environment = Environment(variables={"GOOGLE_APPLICATION_CREDENTIALS": str(key)})
    account = GoogleAccount(environment, tmp_path, VirtualClock())
    with pytest.raises(RemoteAgentError, match=r"^Failed to get ADC access token: \w+Error$"):
        await account.access(["one"])
    key.write_text("{")
    with pytest.raises(RemoteAgentError, match=r"^Failed to get ADC ID token: \w+Error$"):
        await account.identity("far.run.app")


def service_account(url: str) -> dict[str, str]:
    """A key file whose tokens come from our server."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    return {
        "type": "service_account",
        "client_email": "far@example.com",
        "private_key": text,
        "private_key_id": "1",
        "token_uri": f"{url}/token",
    }
