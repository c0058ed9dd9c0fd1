"""Remote agents: what is sent to their servers, and what becomes of the answers."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

import httpx

from parity_tests.core_answers.subject import Subject
from services.abort import AbortController
from services.clock import SystemClock
from services.environment import Environment
from services.ids import CountingIds
from services.net.clients import open_client
from services.session import Session
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.remote import http as http_module
from services.subagents.remote.agents import RemoteAgents
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.results import Conversation, ResultReassembler
from services.subagents.remote_loading import RemoteLoadError
from services.workspace import Workspace

__all__ = ["SUBJECTS"]

_HEADERS: Final = ("content-type", "authorization", "x-api-key", "x-own")
_REASON: Final = re.compile(r"(JSON for agent '[^']*': ).*", re.DOTALL)
"""What the reader of JSON finds wrong is said in its own words."""


def talk(asked: dict[str, Any]) -> Any:
    """The requests of some messages to an agent, and what each brings."""
    return asyncio.run(_Talk(asked).run())


class _Talk:
    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked = asked
        self._answers = list(asked["answers"])
        self._requests: list[Any] = []

    async def run(self) -> Any:
        """Load the agent and send the messages."""
        asked = self._asked
        card = asked.get("card")
        definition = RemoteAgentDefinition(
            name="far",
            description="d",
            card_url=asked.get("url"),
            card_json=card if card is None or isinstance(card, str) else json.dumps(card),
            auth=asked.get("auth"),
        )
        variables = {"KEY": "from-env"}
        client = partial(open_client, transport=httpx.MockTransport(self._answer))
        with (
            tempfile.TemporaryDirectory(prefix="answers-") as folder,
            mock.patch.object(http_module, "open_client", client),
        ):
            session = SimpleNamespace(
                clock=SystemClock(),
                ids=CountingIds(),
                environment=Environment(variables=variables, child_variables=variables),
                workspace=Workspace.at(Path(folder), Path(folder)),
            )
            agents = RemoteAgents(cast("Session", session))
            try:
                try:
                    await agents.load(definition)
                except (RemoteLoadError, RemoteAgentError) as error:
                    return {"requests": self._requests, "load": _REASON.sub(r"\1", str(error))}
                said = [await self._said(agents, definition, text) for text in asked["messages"]]
            finally:
                await agents.close()
        return {"requests": self._requests, "said": said}

    _now = Conversation()

    async def _said(self, agents: RemoteAgents, agent: RemoteAgentDefinition, text: str) -> Any:
        found = ResultReassembler()
        chunks = 0
        error: str | None = None
        try:
            async for chunk in agents.ask(agent, text, self._now, AbortController().signal):
                self._now = self._now.after(chunk)
                found.update(chunk)
                chunks += 1
        except RemoteAgentError as failure:
            error = str(failure)
        now = [self._now.context_id or None, self._now.task_id or None]
        return [chunks, found.text(), found.activity(), now, error]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else {}
        message = (body.get("params") or body).get("message") or body.get("request") or {}
        self._requests.append(
            [
                f"{request.method} {request.url}",
                {key: value for key in _HEADERS if (value := request.headers.get(key))},
                body.get("method"),
                [message.get("contextId") or None, message.get("taskId") or None],
            ]
        )
        if not self._answers:
            raise httpx.ConnectError("no", request=request)
        answer = self._answers.pop(0)
        text = answer["body"].replace('"$ID"', json.dumps(body.get("id")))
        return httpx.Response(
            answer.get("status", 200), headers=answer.get("headers", {}), content=text.encode()
        )


SUBJECTS: Final = (
    Subject("remote_talks.loading", talk),
    Subject("remote_talks.answers", talk),
)
