"""What the real clients of an agent send and ask of the machine, behind the adapter."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from google import genai
from google.genai import types

from adapters import agent_runtime
from parity_tests.stage import chunks
from tests.adapters.stage import play, stage


@pytest.mark.parametrize("name", ["parameters_json_schema", "response_json_schema"])
def test_schemas_of_tools_arrive_under_the_names_of_the_api(name: str) -> None:
    schema = {"type": "object", "properties": {}}

    async def ask(text: str) -> AsyncIterator[Any]:
        declared = types.FunctionDeclaration.model_validate({"name": "stock", name: schema})
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
        client = genai.Client(api_key="local")
        yield await client.aio.models.generate_content(model="x", contents=text, config=config)

    async def scene() -> None:
        async with stage(agent_runtime(lambda: ask), chunks("a")) as on:
            await on.say("hi")
            ((found,),) = [each["functionDeclarations"] for each in asked_tools(on)]
            camel = {"p": "parametersJsonSchema", "r": "responseJsonSchema"}[name[0]]
            assert found == {"name": "stock", camel: schema}

    play(scene)


def asked_tools(on: Any) -> list[Any]:
    tools: list[Any] = on.requests[0].request.config["tools"]
    return tools


@pytest.mark.parametrize("client", ["openai", "anthropic"])
def test_headers_about_the_machine_take_no_process_and_no_file_in_a_run(client: str) -> None:
    base = importlib.import_module(f"{client}._base_client")
    used: list[str] = []
    listening = True

    def listen(event: str, arguments: Any) -> None:
        if listening and event in {"open", "subprocess.Popen"}:
            used.append(f"{event} {arguments[0]}")

    agent_runtime(lambda: str).check(None)
    base.platform_headers.cache_clear()
    sys.addaudithook(listen)
    base.platform_headers("1.0", platform=base.get_platform())
    listening = False

    assert used == []
