"""`ModelBridge`: answers the driver's model requests with the session's content generator.

Every runtime thus has the same model, replayed, strict or generated, and one place observes every
request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final, TypeVar

from runtimes.upstream.connection import Connection
from services.abort import AbortController, AbortError
from services.background import BackgroundTasks
from services.model.errors import ApiError, ModelError, NetworkError
from services.model.generator import ContentGenerator, EmbedRequest, LlmRole, ModelRequest
from services.threads import ThreadPaths
from services.wire import Content, Json, JsonObject

__all__ = ["ModelBridge"]

T = TypeVar("T")

_TURNS: Final = frozenset({LlmRole.MAIN, LlmRole.SUBAGENT})
"""Roles whose streams are turns of a conversation."""


class ModelBridge:
    """Serves one session's requests, each in a task of `tasks`.

    The driver sends only the new contents of a conversation. The bridge keeps the earlier ones as
    the same objects: observers recognise by identity what two requests share.
    """

    def __init__(
        self,
        connection: Connection,
        generator: ContentGenerator,
        threads: ThreadPaths,
        tasks: BackgroundTasks,
        *,
        on_model: Callable[[str], None] = lambda model: None,
    ) -> None:
        """Serve from now on. `on_model` gets the model of each request of the main loop."""
        self._on_model = on_model
        self._connection = connection
        self._generator = generator
        self._threads = threads
        self._tasks = tasks
        self._aborts: dict[int, AbortController] = {}
        self._pulls: dict[int, asyncio.Queue[bool]] = {}
        self._lineages: dict[str, list[Content]] = {}
        self._texts: JsonObject = {}
        connection.handlers.update(
            request=self._on_request,
            pull=lambda message: self._on_pull(message["id"], wanted=True),
            leave=lambda message: self._on_pull(message["id"], wanted=False),
            cancel=self._on_cancel,
        )

    def _on_request(self, message: JsonObject) -> None:
        id_: int = message["id"]
        self._pulls[id_] = asyncio.Queue()
        controller = self._aborts[id_] = AbortController()
        if message.get("aborted"):
            controller.abort()
        method = message["method"]
        if method == "embedContent":
            texts = [str(part) for part in message["contents"]]
            embed = EmbedRequest(model=message["model"], contents=texts, signal=controller.signal)
            self._serve(id_, self._value(id_, self._generator.embed_content(embed)))
            return
        request = self._request(message, controller)
        if method == "generateContentStream":
            self._serve(id_, self._stream(id_, request))
        else:
            ask: Callable[[ModelRequest], Awaitable[JsonObject]] = {
                "generateContent": self._generator.generate_content,
                "countTokens": self._generator.count_tokens,
            }[method]
            self._serve(id_, self._value(id_, ask(request)))

    def _request(self, message: JsonObject, controller: AbortController) -> ModelRequest:
        role = LlmRole(message.get("role") or LlmRole.MAIN)
        if role is LlmRole.MAIN:
            self._on_model(message["model"])
        inside = message.get("insideCall")
        lineage = f"{message.get('role')} {inside or ''}"
        contents = self._lineages.get(lineage, [])[: message["same"]] + message["contents"]
        self._lineages[lineage] = contents
        self._texts.update(message["changed"])
        texts = {key: text for key, text in self._texts.items() if text is not None}
        return ModelRequest(
            model=message["model"],
            contents=contents,
            role=role,
            prompt_id=str(message.get("promptId") or ""),
            signal=controller.signal,
            config={**message["config"], **texts},
            thread=self._threads.of_request(inside, role),
        )

    def _serve(self, id_: int, answering: Any) -> None:
        self._tasks.start(self._guarded(id_, answering), name="upstream request")

    async def _guarded(self, id_: int, answering: Awaitable[None]) -> None:
        try:
            await answering
        except (ModelError, AbortError) as error:
            self._answer(id_, error=error_to_wire(error))
        finally:
            self._aborts.pop(id_, None)
            self._pulls.pop(id_, None)

    async def _value(self, id_: int, asking: Awaitable[JsonObject]) -> None:
        self._answer(id_, value=await self._when_ready(id_, asking))

    async def _when_ready(self, id_: int, asking: Awaitable[T]) -> T:
        """Return the model's answer once the driver has performed the commands sent before it."""
        try:
            answer = await asking
        except ModelError:
            await self._performed(id_)
            raise
        await self._performed(id_)
        return answer

    async def _performed(self, id_: int) -> None:
        """Wait for the driver.

        Raises:
            AbortError: one of the commands was an abort. In one process it precedes any answer.
        """
        await self._pulls[id_].get()
        self._aborts[id_].signal.raise_if_aborted()

    async def _stream(self, id_: int, request: ModelRequest) -> None:
        turn = request.role in _TURNS
        if turn:
            self._threads.turn_begins(request.thread)
        chunks: AsyncGenerator[JsonObject, None]
        chunks = await self._when_ready(id_, self._generator.generate_content_stream(request))
        self._answer(id_)
        async with aclosing(chunks):
            while await self._pulls[id_].get():
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    if turn:
                        self._threads.turn_ended(request.thread)
                    self._answer(id_, end=True)
                    return
                if turn:
                    self._threads.chunk(request.thread, chunk)
                self._answer(id_, chunk=chunk)

    def _answer(self, id_: int, **fields: Json) -> None:
        self._connection.send({"t": "answer", "id": id_, **fields})

    def _on_pull(self, id_: int, *, wanted: bool) -> None:
        if id_ in self._pulls:
            self._pulls[id_].put_nowait(wanted)

    def _on_cancel(self, message: JsonObject) -> None:
        controller = self._aborts.get(message["id"])
        if controller is not None:
            controller.abort()


def error_to_wire(error: ModelError | AbortError) -> JsonObject:
    """The fields for the driver, which makes an error of the SDK or of JavaScript of them."""
    if isinstance(error, ApiError):
        return {"status": error.status, "message": str(error)}
    if isinstance(error, NetworkError):
        fields: JsonObject = {"name": error.name, "message": str(error)}
        if error.code is not None:
            fields["code"] = error.code
        if error.cause is not None:
            fields["cause"] = _cause(error.cause)
        return fields
    return {"name": error.name, "message": str(error)}


def _cause(cause: Any) -> Json:
    if isinstance(cause, NetworkError):
        return error_to_wire(cause)
    if isinstance(cause, BaseException):
        return {"name": type(cause).__name__, "message": str(cause)}
    return dict(cause)
