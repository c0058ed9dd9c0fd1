"""The agent as it was: a loop over google-genai's client, written by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google import genai
from google.genai import errors, types

from tea_shop.shop import INSTRUCTION, PARAMETERS, TOOLS

MODEL = "gemini-2.5-flash"
WAITS_S = (1, 2)
"""Seconds to wait before each further attempt, when the model is busy."""


class GeminiAgent:
    """One conversation."""

    def __init__(self, client: genai.Client) -> None:
        self._client = client
        self._history: list[types.Content] = []
        declared = [
            types.FunctionDeclaration(
                name=name, description=tool.__doc__, parameters_json_schema=PARAMETERS[name]
            )
            for name, tool in TOOLS.items()
        ]
        self._config = types.GenerateContentConfig(
            system_instruction=INSTRUCTION, tools=[types.Tool(function_declarations=declared)]
        )

    async def answer(self, text: str) -> AsyncIterator[Any]:
        """Answer a message of the user: yield texts, calls of tools, their results, the tokens."""
        self._history.append(types.Content(role="user", parts=[types.Part(text=text)]))
        spent = {"input_tokens": 0, "output_tokens": 0}
        while True:
            parts: list[types.Part] = []
            async for chunk in self._chunks():
                for part in (chunk.candidates[0].content.parts or []) if chunk.candidates else []:
                    parts.append(part)
                    if part.text:
                        yield {"type": "thought" if part.thought else "text", "text": part.text}
                if counts := chunk.usage_metadata:
                    spent["input_tokens"] += counts.prompt_token_count or 0
                    spent["output_tokens"] += counts.candidates_token_count or 0
            self._history.append(types.Content(role="model", parts=joined(parts)))
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                yield {"type": "usage", "model": MODEL, **spent}
                return
            results = []
            for call in calls:
                yield {"type": "tool_request", "name": call.name, "args": call.args}
                result = await TOOLS[call.name](**call.args)
                yield {"type": "tool_response", "name": call.name, "result": result}
                results.append(types.Part.from_function_response(name=call.name, response=result))
            self._history.append(types.Content(role="user", parts=results))

    async def _chunks(self) -> AsyncIterator[types.GenerateContentResponse]:
        """Ask the model; try again while it is busy."""
        for seconds in (*WAITS_S, None):
            try:
                stream = await self._client.aio.models.generate_content_stream(
                    model=MODEL, contents=self._history, config=self._config
                )
                async for chunk in stream:
                    yield chunk
                return
            except errors.ServerError:
                if seconds is None:
                    raise
                await asyncio.sleep(seconds)


def joined(parts: list[types.Part]) -> list[types.Part]:
    """Join the pieces of a text."""
    found: list[types.Part] = []
    for part in parts:
        last = found[-1] if found else None
        if part.text and last and last.text and bool(part.thought) == bool(last.thought):
            last.text += part.text
        else:
            found.append(part.model_copy())
    return found
