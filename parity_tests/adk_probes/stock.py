"""A probe's run under google-adk as it ships: `LlmAgent`, `Runner`, `InMemorySessionService`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

from google.adk.agents._streaming_mode import StreamingMode
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps.app import App
from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
from google.adk.events.event import Event
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic import PrivateAttr

from harness.replay.unfinished import unfinished_work
from parity_tests.adk_probes.clients import Reader
from parity_tests.adk_probes.probe import OVER, Again, Answer, Operation, Probe, Seen, notes_of
from parity_tests.adk_probes.watching import Counting, json_of, merged, shown_event, watched_runners
from runtimes.adk.tool_round import ToolError
from services.tools.contract import ToolErrorType
from services.wire import Content, JsonObject

__all__ = ["ErrorsAreAnswers", "Ground", "run_stock"]

AGENT = "gemini_cli_agent"
APP = "gemini_cli"
USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the product makes of a request, so that a stock agent can be given the same."""

    instruction: str
    config: JsonObject
    """Of generation."""
    declarations: Sequence[JsonObject]


class ErrorsAreAnswers(BasePlugin):
    """Answers the model with a tool's error, as the product's scheduler does, and keeps its id.

    It comes after the probe's plugins: without it the first failing tool ends a stock run.
    """

    def __init__(self) -> None:
        super().__init__("errors_are_answers")
        self.ids: list[str | None] = []
        """Of the calls that failed."""

    async def on_tool_error_callback(
        self, *, tool_context: ToolContext, error: Exception, **_: Any
    ) -> dict[str, Any]:
        """The error as the tool's response."""
        self.ids.append(tool_context.function_call_id)
        return {"error": str(error)}


class StockTool(BaseTool):
    """A tool with the product's declaration. `read_file` reads the probe's files."""

    def __init__(self, declaration: JsonObject, files: dict[str, str]) -> None:
        super().__init__(name=declaration["name"], description=declaration["description"])
        self._declared = declaration
        self._files = files

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._declared["parametersJsonSchema"],
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """The file's content.

        Raises:
            ToolError: there is no such file; as the product's tool reports it to plugins.
        """
        name = args["file_path"]
        if name not in self._files:
            raise ToolError(f"File not found: <RUN>/ws/{name}", ToolErrorType.FILE_NOT_FOUND)
        return {"output": self._files[name]}


class ScriptedLlm(BaseLlm):
    """A model that answers from a script, as ADK asks of a `BaseLlm`: deltas, then the whole."""

    _answers: list[Answer] = PrivateAttr(default_factory=list)
    _requests: list[JsonObject] = PrivateAttr(default_factory=list)

    @property
    def capabilities(self) -> LlmCapabilities:
        """None that ADK acts on."""
        return LlmCapabilities()

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next answer of the script."""
        config = json_of(llm_request.config)
        contents = json_of(llm_request.contents)
        self._requests.append({"model": llm_request.model, "contents": contents, **config})
        answer = self._answers.pop(0) if self._answers else OVER
        while isinstance(answer, Again):
            answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        for response in _responses(answer, llm_request.model):
            yield response


def _responses(chunks: Sequence[JsonObject], model: str | None) -> Iterator[LlmResponse]:
    """One partial response per part; the last one has what ends the answer, as google-adk's has."""
    whole: list[types.Part] = []
    ending: dict[str, Any] = {}
    for chunk in chunks:
        (candidate,) = chunk["candidates"]
        parts = candidate["content"]["parts"]
        for index, part in enumerate(parts, start=1):
            delta = types.Part.model_validate(part)
            if index == len(parts) and "finishReason" in candidate:
                finish = types.FinishReason(candidate["finishReason"])
                usage = chunk.get("usageMetadata")
                ending = {"finish_reason": finish, "usage_metadata": usage}
            content = types.Content(role="model", parts=[delta])
            yield LlmResponse(content=content, partial=True, **ending)
            joins = delta.text and whole and whole[-1].text and whole[-1].thought == delta.thought
            if joins:
                whole[-1] = types.Part(text=f"{whole[-1].text}{delta.text}", thought=delta.thought)
            else:
                whole.append(types.Part.model_validate(part))
    content = types.Content(role="model", parts=whole)
    yield LlmResponse(content=content, partial=False, model_version=model, **ending)


class StockAgent(LlmAgent):
    """An `LlmAgent` whose flow a caller can arrange, the only way that ADK has for it."""

    _arrange: list[Callable[[BaseLlmFlow], None]] = PrivateAttr(default_factory=list)

    @property
    def _llm_flow(self) -> BaseLlmFlow:
        flow = SingleFlow()
        for arrange in self._arrange:
            arrange(flow)
        return flow


def run_stock(
    probe: Probe,
    ground: Ground,
    histories: Sequence[Sequence[Content]],
    *,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> tuple[Seen, int]:
    """Run `probe` under stock ADK.

    Args:
        probe: What to run.
        ground: The product's part of a request.
        histories: For each operation of the probe, the history that the runtime went on with.
        loop_factory: Makes the event loop of the run; by default asyncio's own.

    Returns:
        What was seen, and how many errors of tools became answers.
    """
    with (
        asyncio.Runner(loop_factory=loop_factory) as runner,
        unfinished_work(runner.get_loop()) as left,
    ):
        seen, answered = runner.run(_run(probe, ground, list(histories)))
        seen.unfinished = [*left.sentences, *_running(runner.get_loop())]
        return seen, answered


def _running(loop: asyncio.AbstractEventLoop) -> list[str]:
    return [f"a task still runs {task.get_coro()}" for task in asyncio.all_tasks(loop)]


async def _run(
    probe: Probe, ground: Ground, histories: list[Sequence[Content]]
) -> tuple[Seen, int]:
    seen, counting, plugins, printed = Seen(), Counting(), probe.plugins(), StringIO()
    answers = ErrorsAreAnswers()
    yielded: list[JsonObject] = []
    model = ScriptedLlm(model=probe.model)
    model._answers.extend(probe.script)
    files = {"a.txt": "alpha\n", **probe.files}
    agent = StockAgent(
        name=AGENT,
        model=model,
        instruction=lambda _: ground.instruction,
        tools=[StockTool(declaration, files) for declaration in ground.declarations],
        generate_content_config=types.GenerateContentConfig.model_validate(ground.config),
    )
    if probe.arrange_flow is not None:
        agent._arrange.append(probe.arrange_flow)
    sessions = InMemorySessionService()
    first = [counting] if probe.counted else []
    app = App(name=APP, root_agent=agent, plugins=[*first, *plugins, answers])
    runner = Runner(app=app, session_service=sessions, artifact_service=InMemoryArtifactService())
    session = await sessions.create_session(app_name=APP, user_id=USER)
    reader = Reader(probe.model, answers.ids)

    def note(event: Event) -> None:
        yielded.append(shown_event(event))

    async with watched_runners(note, seen.state, seen.session):
        with redirect_stdout(printed):
            for message in probe.messages:
                if isinstance(message, Operation):
                    if message.rewinds_to is not None:
                        await _rewind(runner, session, message.rewinds_to)
                    if message.forgets:
                        session = await sessions.create_session(app_name=APP, user_id=USER)
                    session = await _reseeded(sessions, session, histories.pop(0))
                    continue
                await _send(runner, session, message, reader)
    await runner.close()
    seen.requests = model._requests
    seen.events = merged(yielded)
    seen.asked = counting.asked
    seen.result = reader.items
    seen.callbacks = counting.counts
    seen.notes = notes_of(probe, plugins, printed.getvalue())
    return seen, len(answers.ids)


async def _rewind(runner: Runner, session: Session, to: int) -> None:
    found = await runner.session_service.get_session(
        app_name=APP, user_id=USER, session_id=session.id
    )
    assert found is not None
    messages = [event for event in found.events if event.author == USER]
    await runner.rewind_async(
        user_id=USER,
        session_id=session.id,
        rewind_before_invocation_id=messages[to].invocation_id,
    )


async def _reseeded(
    sessions: InMemorySessionService, session: Session, history: Sequence[Content]
) -> Session:
    """A session of the same state with the events of `history`."""
    before = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
    assert before is not None
    after = await sessions.create_session(app_name=APP, user_id=USER, state=before.state)
    for content in history:
        author = AGENT if content["role"] == "model" else USER
        responds = any("functionResponse" in part for part in content["parts"])
        await sessions.append_event(
            after,
            Event(author=AGENT if responds else author, content=types.Content(**content)),
        )
    return after


async def _send(
    runner: Runner, session: Session, message: str | Sequence[JsonObject], reader: Reader
) -> None:
    """Send one message, and read its events.

    A tool failed if it raised. ADK has no other sign of it: an `error` may be a tool's result.
    """
    parts = [{"text": message}] if isinstance(message, str) else message
    content = types.Content(role="user", parts=[types.Part.model_validate(part) for part in parts])
    try:
        async for event in runner.run_async(
            user_id=USER,
            session_id=session.id,
            new_message=content,
            run_config=RunConfig(streaming_mode=StreamingMode.SSE),
        ):
            reader.read(event)
    except Exception as error:  # noqa: BLE001 - what a stock run raises is its result
        reader.raised(str(error))
    else:
        reader.ended()
