"""How the tests of this folder ask the model, and servers that behave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

from services.abort import AbortController
from services.clock import SystemClock
from services.model.auth import AuthConfig, AuthType
from services.model.gemini import GeminiContentGenerator
from services.model.generator import LlmRole, ModelRequest
from tests.security.loopback import Answer, Asked

JSON: Final = {"content-type": "application/json"}
KEY: Final = "key-4f3c9a1b77"
PROMPT: Final = "the secret prompt"


@asynccontextmanager
async def model(url: str) -> AsyncIterator[GeminiContentGenerator]:
    auth = AuthConfig(type=AuthType.USE_GEMINI, api_key=KEY, base_url=url)
    generator = GeminiContentGenerator(auth, SystemClock())
    try:
        yield generator
    finally:
        await generator.aclose()


def prompt() -> ModelRequest:
    return ModelRequest(
        model="gemini-2.5-flash",
        contents=[{"role": "user", "parts": [{"text": PROMPT}]}],
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortController().signal,
        config={},
    )


async def whole(generator: GeminiContentGenerator) -> None:
    await generator.generate_content(prompt())


async def streamed(generator: GeminiContentGenerator) -> None:
    stream = await generator.generate_content_stream(prompt())
    async with aclosing(stream):
        async for _ in stream:
            pass


def mcp_server(call: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """A server with one tool, `only`, whose calls are answered by `call`."""
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "n", "version": "1"},
        },
        "tools/list": {
            "tools": [{"name": "only", "description": "", "inputSchema": {"type": "object"}}]
        },
    }

    def answer(asked: Asked) -> Answer:
        if asked.method != "POST":
            return Answer(status=405)
        message = asked.json()
        if message.get("method") == "tools/call":
            return call(asked)
        if "id" not in message:
            return Answer(status=202)
        result = results.get(message["method"], {})
        return Answer(json_rpc(message["id"], result), headers=JSON)

    return answer


def json_rpc(number: Any, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def card(url: str, **more: Any) -> dict[str, Any]:
    return {"name": "a", "description": "", "version": "1", "url": url, "skills": [], **more}
