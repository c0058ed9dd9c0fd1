"""Code Assist: its requests and answers, and how an account is set up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import httpx

from parity_tests.core_answers.subject import Subject
from services.abort import AbortSignal
from services.clock import Clock
from services.code_assist.errors import CodeAssistError
from services.code_assist.server import CodeAssistServer, events_of
from services.code_assist.setup import project_of, set_up_user
from services.code_assist.wire import count_request, counted, generate_request, generated
from services.interaction.interaction import Interaction
from services.interaction.questions import ValidationIntent, ValidationQuestion
from services.model.errors import FatalAuthenticationError, ModelError, ValidationRequiredError
from services.model.generator import LlmRole, ModelRequest
from services.wire import JsonObject, js_json

__all__ = ["SUBJECTS"]


def _model_request(asked: Any) -> ModelRequest:
    return ModelRequest(
        model=asked["model"],
        contents=asked["contents"],
        config=asked.get("config", {}),
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortSignal(),
    )


class _Server:
    """Gives its answers in order, and notes what it is asked."""

    def __init__(self, answers: list[Any]) -> None:
        self._left = list(answers)
        self.calls: list[Any] = []

    async def call(self, method: str, body: JsonObject) -> JsonObject:
        return self._answer([method, body])

    async def operation(self, name: str) -> JsonObject:
        return self._answer([name])

    def _answer(self, asked: Any) -> JsonObject:
        self.calls.append(asked)
        answer: JsonObject = self._left.pop(0)
        if "status" in answer:
            raise CodeAssistError(answer["status"], js_json(answer["data"]))
        return answer


class _User:
    """Answers with the intents in order; without any there is no handler."""

    def __init__(self, intents: list[str]) -> None:
        self._left = list(intents)
        self.questions: list[Any] = []

    async def ask(self, question: ValidationQuestion) -> ValidationIntent | None:
        if not self._left:
            return None
        self.questions.append([question.link, question.description])
        return ValidationIntent(self._left.pop(0))


class _Clock:
    def now_ms(self) -> int:
        return 0

    async def sleep(self, ms: float) -> None:
        if ms != _POLL_MS:
            raise AssertionError(f"a poll after {ms} ms")


_POLL_MS: Final = 5000


def _set_up(asked: Any) -> Any:
    server, user = _Server(asked["answers"]), _User(asked["intents"])
    project = asked["project"]
    variables = {} if project is None else {"GOOGLE_CLOUD_PROJECT": project}
    try:
        data = asyncio.run(
            set_up_user(
                cast("CodeAssistServer", server),
                project_of(variables),
                cast("Interaction", user),
                cast("Clock", _Clock()),
            )
        )
        result: Any = {
            "projectId": data.project,
            "userTier": data.tier,
            "userTierName": data.tier_name,
        }
    except ModelError as error:
        result = {"refused": _reason(error)}
    return {"calls": server.calls, "questions": user.questions, "result": result}


def _reason(error: ModelError) -> Any:
    """The message, where the core has the same one."""
    if isinstance(error, CodeAssistError) or (
        isinstance(error, FatalAuthenticationError) and str(error).startswith(_OWN_WORDS)
    ):
        return True
    return error.message if isinstance(error, ValidationRequiredError) else str(error)


async def _pieces(texts: list[str]) -> AsyncIterator[bytes]:
    for each in texts:
        yield each.encode()


async def _events_of(texts: list[str]) -> list[JsonObject]:
    return [each async for each in events_of(httpx.Response(200, content=_pieces(texts)))]


_OWN_WORDS: Final = ("Choose another way", "Access to the default Cloud Shell")

SUBJECTS: Final = (
    Subject(
        "code_assist.request",
        lambda asked: generate_request(_model_request(asked), asked["project"], "s"),
    ),
    Subject("code_assist.count_request", lambda asked: count_request(_model_request(asked))),
    Subject("code_assist.generated", generated),
    Subject("code_assist.counted", counted),
    Subject("code_assist.set_up", _set_up),
    Subject("code_assist.events", lambda texts: asyncio.run(_events_of(texts))),
)
