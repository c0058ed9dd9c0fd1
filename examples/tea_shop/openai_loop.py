"""The agent's loop over an API that is compatible with OpenAI's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import openai

from tea_shop.gemini_loop import WAITS_S
from tea_shop.shop import INSTRUCTION, PARAMETERS, TOOLS

MODEL = "gemini-2.5-flash"
"""A compatible server has the same model under this name."""
DECLARED = [
    {
        "type": "function",
        "function": {"name": name, "description": tool.__doc__, "parameters": PARAMETERS[name]},
    }
    for name, tool in TOOLS.items()
]


class OpenAIAgent:
    """One conversation."""

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client
        self._history: list[Any] = [{"role": "system", "content": INSTRUCTION}]

    async def answer(self, text: str) -> AsyncIterator[Any]:
        """Answer a message of the user: yield texts, calls of tools, their results, the tokens."""
        self._history.append({"role": "user", "content": text})
        spent = {"input_tokens": 0, "output_tokens": 0}
        while True:
            said, calls = "", {}
            async for chunk in self._chunks():
                for choice in chunk.choices:
                    if piece := choice.delta.content:
                        said += piece
                        yield piece
                    collect(calls, choice.delta.tool_calls or [])
                if counts := chunk.usage:
                    spent["input_tokens"] += counts.prompt_tokens
                    spent["output_tokens"] += counts.completion_tokens
            answer: dict[str, Any] = {"role": "assistant", "content": said or None}
            if not calls:
                self._history.append(answer)
                yield {"type": "usage", "model": MODEL, **spent}
                return
            self._history.append({**answer, "tool_calls": list(calls.values())})
            for call in calls.values():
                name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
                yield {"type": "tool_request", "name": name, "args": given}
                result = await TOOLS[name](**given)
                yield {"type": "tool_response", "name": name, "result": result}
                self._history.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
                )

    async def _chunks(self) -> AsyncIterator[Any]:
        """Ask the model; try again while it is busy."""
        for seconds in (*WAITS_S, None):
            try:
                stream = await self._client.chat.completions.create(
                    model=MODEL,
                    messages=self._history,
                    tools=DECLARED,
                    stream=True,
                    stream_options={"include_usage": True},
                )
                async with stream:
                    async for chunk in stream:
                        yield chunk
                return
            except openai.InternalServerError:
                if seconds is None:
                    raise
                await asyncio.sleep(seconds)


def collect(calls: dict[int, Any], pieces: list[Any]) -> None:
    """Add pieces of calls to the calls, by index."""
    for piece in pieces:
        call = calls.setdefault(
            piece.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        call["id"] += piece.id or ""
        if piece.function:
            call["function"]["name"] += piece.function.name or ""
            call["function"]["arguments"] += piece.function.arguments or ""
