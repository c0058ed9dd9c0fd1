"""The files of a project whose tests call models: `parity.toml`, agents, tests."""

from __future__ import annotations

from typing import Final

__all__ = ["AGENTS", "PLAIN", "PROJECT", "TESTS"]

PROJECT: Final = """
parity = 1
control = "first"
candidate = "second"
corpus = ["corpus"]
code = ["recorded_shop.py"]
[runtimes]
first = "recorded_shop:first"
second = "recorded_shop:second"
[env]
SHOP_LOGIN = "local"
PROVIDER = "http://localhost:1"
"""
AGENTS: Final = """
import os

import anthropic
import openai
from google import genai

from parity.adapters import agent_runtime

ADDRESS, KEY = os.environ["PROVIDER"], os.environ["SHOP_LOGIN"]

async def over_openai(text):
    client = openai.AsyncOpenAI(api_key=KEY, base_url=ADDRESS + "/v1")
    messages = [{"role": "system", "content": "Sell."}, {"role": "user", "content": text}]
    tool = {"type": "function", "function": {"name": "stock", "parameters": {"type": "object"}}}
    answer = await client.chat.completions.create(model="m", messages=messages, tools=[tool])
    said = answer.choices[0].message
    if said.tool_calls:
        messages.append(said.model_dump(exclude_none=True))
        call = said.tool_calls[0].id
        messages.append({"role": "tool", "tool_call_id": call, "content": "3"})
        stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
        async for chunk in stream:
            for choice in chunk.choices:
                yield choice.delta.content or ""
    else:
        yield said.content

async def over_anthropic(text):
    client = anthropic.AsyncAnthropic(api_key=KEY, base_url=ADDRESS)
    messages = [{"role": "user", "content": text}]
    answer = await client.messages.create(model="m", max_tokens=99, messages=messages)
    yield answer.content[0].text

async def over_gemini(text):
    options = {"base_url": ADDRESS}
    client = genai.Client(api_key=KEY, vertexai=False, http_options=options)
    answer = await client.aio.models.generate_content(model="m", contents=text)
    yield answer.text

first = second = agent_runtime(lambda: over_openai)
"""
TESTS: Final = """
import asyncio
import pytest
from recorded_shop import over_anthropic, over_gemini, over_openai

def said(agent):
    async def all_of_it():
        return "".join([piece async for piece in agent("Have you got tea?")])
    return asyncio.run(all_of_it())

@pytest.mark.parametrize("kind", ["whole"])
def test_anthropic(kind):
    assert "Tea." in said(over_anthropic)

def test_gemini():
    assert "Tea." in said(over_gemini)

def test_openai():
    assert "Tea." in said(over_openai)
"""
PLAIN: Final = """
import os, sys
import httpx

def post(path, text):
    key = {"authorization": "Bearer " + os.environ["SHOP_LOGIN"]}
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]}
    with httpx.Client(base_url=os.environ["PROVIDER"], headers=key) as client:
        assert client.post(path, json=asked).text

def test_chat():
    post("/v1/chat/completions", "Have you got tea?")

def test_spelled():
    post("/v1/chat/completions", "Spell the key.")

def test_other():
    post("/mail", "Have you got tea?")
    assert not {"harness", "services", "parity"} & set(sys.modules)
"""
