from __future__ import annotations

import json
from pathlib import Path

import pytest
from google.auth import exceptions

from services.clock import SystemClock
from services.model.auth import AuthConfig, AuthType
from services.model.gemini import GeminiContentGenerator
from services.net.google import GoogleRequest
from tests.security.asking import JSON, prompt
from tests.security.loopback import Answer, Asked, serving
from tests.services.subagents.remote.test_signing_in import service_account


async def test_vertex_without_a_key_signs_in_with_the_account_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}]}
    token = {"access_token": "token-of-the-account", "expires_in": 3600}

    def answer(asked: Asked) -> Answer:
        body = token if asked.path == "/token" else said
        return Answer(json.dumps(body).encode(), headers=JSON)

    async with serving(answer) as server:
        key = tmp_path / "account.json"
        key.write_text(json.dumps(service_account(server.url)))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key))
        auth = AuthConfig(
            type=AuthType.USE_VERTEX_AI,
            vertexai=True,
            project="p",
            location="eu",
            base_url=server.url,
        )
        generator = GeminiContentGenerator(auth, SystemClock())
        for _ in range(2):
            assert await generator.generate_content(prompt()) == said
        await generator.aclose()
    signed_in, *asked = server.asked
    assert signed_in.path == "/token"
    assert [each.headers["authorization"] for each in asked] == ["Bearer token-of-the-account"] * 2


def test_a_token_server_that_is_away_is_the_librarys_own_error() -> None:
    with pytest.raises(exceptions.TransportError):
        GoogleRequest()("http://127.0.0.1:1/token", "POST", body=b"x")
