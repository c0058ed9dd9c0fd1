"""What `runtimes/adk` relies on in google-adk without a public promise.

Each check raises `ContractBroken`, whose sentence says what google-adk changed, where the runtime
relies on it, and what to do. `test_adk_contract` runs each check, and shows it red.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final

from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.version import __version__
from google.genai import types
from pydantic import PrivateAttr

from runtimes.adk.processors.conversation import ToolsProcessor
from runtimes.adk.root import AGENT_NAME, APP_NAME, GeminiCliAgent
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import AdkTool
from services.clock import VirtualClock
from services.history.view import RequestView

__all__ = [
    "CONTRACTS",
    "Contract",
    "ContractBroken",
    "Hosted",
    "Scripted",
    "complaint",
    "run",
    "said",
]

PROCESSORS: Final = "google.adk.flows.llm_flows._base_llm_processor"


class ContractBroken(AssertionError):
    """google-adk is no longer what the runtime relies on."""


@dataclass(frozen=True)
class Contract:
    """One thing that is relied on."""

    name: str
    """As it is called in google-adk: `Class._method`, a module, or a behaviour in words."""
    where: str
    mend: str
    check: Callable[[Contract], Awaitable[None]]

    def holds(self, condition: object, changed: str) -> None:
        """Go on where `condition` is true.

        Raises:
            ContractBroken: it is not; `changed` says what google-adk does now.
        """
        if not condition:
            raise ContractBroken(complaint(self, changed))


def complaint(contract: Contract, changed: str) -> str:
    """The sentence for a maintainer who updates google-adk."""
    return (
        f"google-adk {__version__} changed `{contract.name}`: {changed}. "
        f"{contract.where} relies on it. {contract.mend}"
    )


class Scripted(BaseLlm):
    """Answers each request with the next responses, and notes in a log when it makes each one."""

    _answers: list[list[LlmResponse | Exception]] = PrivateAttr()
    _log: list[str] = PrivateAttr()

    @classmethod
    def of(cls, *answers: list[LlmResponse | Exception], log: list[str] | None = None) -> Scripted:
        model = cls(model="scripted")
        model._answers = list(answers)
        model._log = [] if log is None else log
        return model

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for response in self._answers.pop(0):
            self._log.append("model")
            if isinstance(response, Exception):
                raise response
            yield response


class Hosted(LlmAgent):
    """An agent with a flow of its own, as `HostedAgent` is."""

    _box: list[BaseLlmFlow] = PrivateAttr(default_factory=list)

    @property
    def _llm_flow(self) -> BaseLlmFlow:
        return self._box[0]

    @classmethod
    def made(cls, model: BaseLlm, flow: BaseLlmFlow | None = None, **more: Any) -> Hosted:
        agent = cls(name=AGENT_NAME, model=model, **more)
        agent._box.append(flow or SingleFlow())
        return agent


def said(text: str, *, partial: bool | None = None) -> LlmResponse:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, partial=partial)


def called(name: str) -> LlmResponse:
    call = types.FunctionCall(id="1", name=name, args={})
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def stream() -> list[LlmResponse | Exception]:
    return [said("a", partial=True), said("b", partial=True), said("ab")]


def echo(words: str) -> str:
    """A tool."""
    return words


def over_nothing() -> GcliSessionService:
    """Sessions over a conversation in which nothing was said."""
    conversation: Any = SimpleNamespace(
        view=RequestView(), turn_ids=(), expected=None, expect=lambda answer: None
    )
    return GcliSessionService(conversation, VirtualClock())


async def run(
    root: BaseAgent,
    plugins: Sequence[BasePlugin] = (),
    seen: Callable[[Event], None] = lambda event: None,
    sessions: GcliSessionService | None = None,
    make: Callable[[App, GcliSessionService], Runner] | None = None,
) -> None:
    """One invocation of `root`; `seen` gets each event as the consumer of the Runner does.

    `make` makes another Runner than ADK's.
    """
    if sessions is None:
        sessions = over_nothing()
        sessions.open(app_name=APP_NAME, user_id="u", session_id="s")
    app = App(name=APP_NAME, root_agent=root, plugins=list(plugins))
    runner = make(app, sessions) if make else Runner(app=app, session_service=sessions)
    events = runner.run_async(
        user_id="u",
        session_id="s",
        new_message=types.Content(role="user", parts=[types.Part(text="go")]),
        run_config=RunConfig(streaming_mode=StreamingMode.SSE),
    )
    try:
        async with aclosing(events):
            async for event in events:
                seen(event)
    finally:
        await runner.close()


async def processor_base(contract: Contract) -> None:
    try:
        base = importlib.import_module(PROCESSORS).BaseLlmRequestProcessor
    except (ImportError, AttributeError) as gone:
        raise ContractBroken(complaint(contract, f"it cannot be imported ({gone})")) from None
    flow = SingleFlow()
    for processor in (*flow.request_processors, *flow.tool_request_processors):
        kind = type(processor).__name__
        contract.holds(isinstance(processor, base), f"{kind} has another base class")
    taken = list(inspect.signature(base.run_async).parameters)
    wanted = ["self", "invocation_context", "llm_request"]
    contract.holds(taken == wanted, f"`run_async` takes {taken} instead of {wanted}")


async def agents_flow(contract: Contract) -> None:
    found = vars(LlmAgent).get("_llm_flow")
    contract.holds(isinstance(found, property), "it is no property of LlmAgent")
    flow, used = SingleFlow(), []

    async def noted(context: object) -> AsyncGenerator[Event, None]:
        used.append(context)
        return
        yield

    flow.run_async = noted  # type: ignore[method-assign, assignment]
    await run(GeminiCliAgent.around(Hosted.made(Scripted.of(stream()), flow)))
    contract.holds(used, "an agent no longer runs the flow that the property returns")


OVERRIDDEN: Final = {
    "_run_and_handle_error": (
        "response_generator invocation_context llm_request model_response_event call_llm_span"
    ),
    "_handle_before_model_callback": "invocation_context llm_request model_response_event",
    "_handle_after_model_callback": "invocation_context llm_response model_response_event",
    "_postprocess_handle_function_calls_async": (
        "invocation_context function_call_event llm_request"
    ),
}
"""The methods of `BaseLlmFlow` that `RuntimeFlow` overrides, with their parameters."""


class Counted(SingleFlow):
    """Counts the calls of the overridden methods."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        for name in OVERRIDDEN:
            if hasattr(self, name):
                setattr(self, name, self._counting(name, getattr(self, name)))

    def _counting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            return method(*args, **kwargs)

        return counting


def overridden(name: str, times: int) -> Callable[[Contract], Awaitable[None]]:
    """A check of a method of `BaseLlmFlow`; `times` is how often two model calls call it."""

    async def check(contract: Contract) -> None:
        method = getattr(BaseLlmFlow, name, None)
        contract.holds(method is not None, "it is gone")
        assert method is not None
        taken = " ".join(inspect.signature(method).parameters).removeprefix("self ")
        wanted = OVERRIDDEN[name]
        contract.holds(taken == wanted, f"it takes `{taken}` instead of `{wanted}`")
        flow = Counted()
        model = Scripted.of([called("echo")], stream())
        await run(GeminiCliAgent.around(Hosted.made(model, flow, tools=[echo])))
        found = flow.calls.count(name)
        where = "a tool call and an answer of three responses"
        contract.holds(found == times, f"it is called {found} times, not {times}, for {where}")

    return check


async def order_of(root: BaseAgent) -> list[str]:
    """Who acts in which order: the model that makes a response, the consumer that gets it."""
    _log: list[str] = PrivateAttr()
    log: list[str] = []
    inner = root._hosted if isinstance(root, GeminiCliAgent) else root
    assert isinstance(inner, LlmAgent)
    inner.model = Scripted.of(stream(), log=log)
    await run(root, seen=lambda event: log.append("consumer"))
    return log


async def lock_step(contract: Contract) -> None:
    order = await order_of(GeminiCliAgent.around(Hosted.made(Scripted.of())))
    wanted = ["model", "consumer"] * 3
    contract.holds(order == wanted, f"model and consumer act in the order {order}")


async def not_in_step(contract: Contract) -> None:
    order = await order_of(Hosted.made(Scripted.of()))
    ahead = order[:2] == ["model", "model"]
    contract.holds(ahead, f"model and consumer act in the order {order}")


async def errors_unchanged(contract: Contract) -> None:
    error, seen = ValueError("boom"), list[Event]()
    raised: Exception | None = None
    try:
        await run(GeminiCliAgent.around(Hosted.made(Scripted.of([error]))), seen=seen.append)
    except Exception as caught:
        raised = caught
    contract.holds(raised is error, f"the model's exception arrives as {raised!r}")
    contract.holds(not seen, f"{len(seen)} events come before it")


async def live_session(contract: Contract) -> None:
    sessions = over_nothing()
    session = sessions.open(app_name=APP_NAME, user_id="u", session_id="s")
    seen = []

    class Look(BasePlugin):
        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
            seen.append(callback_context.session)
            seen[-1].events.clear()

    plugins = [Look(name="look")]
    root = GeminiCliAgent.around(Hosted.made(Scripted.of([said("x")])))
    await run(root, plugins, sessions=sessions)
    contract.holds(seen[0] is session, "the agent works on another session than the service's")
    kept = [event.author for event in session.events]
    contract.holds(kept == [AGENT_NAME], f"what was cleared came back: {kept}")


async def tools_cache(contract: Contract) -> None:
    asked: list[str] = []

    class Counting(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
            asked.append("tools")
            return []

    class Cached(ToolsProcessor):
        def __init__(self) -> None:
            """Needs no tools."""

        async def run_async(self, context: Any, request: Any) -> AsyncGenerator[Event, None]:
            context.canonical_tools_cache = []
            return
            yield

    flow = SingleFlow()
    flow.replace_request_processor("agent_tools", Cached())
    model = Scripted.of(stream())
    await run(GeminiCliAgent.around(Hosted.made(model, flow, tools=[Counting()])))
    contract.holds(not asked, f"tools are resolved {len(asked)} times beside the cache")


async def final_after_plugins(contract: Contract) -> None:
    class Last(BasePlugin):
        async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
            event.actions.skip_summarization = bool(event.get_function_responses()) or None

    log: list[str] = []
    model = Scripted.of([called("echo")], [said("one more")], log=log)
    await run(GeminiCliAgent.around(Hosted.made(model, tools=[echo])), [Last(name="last")])
    contract.holds(
        len(log) == 1, "a mark that a plugin made in the event no longer ends the invocation"
    )


async def agents_origin(contract: Contract) -> None:
    attribute = contract.name.rpartition(".")[2]
    warned = await _warnings_of_origin(GeminiCliAgent)
    contract.holds(not warned, f"the Runner guesses an app name all the same: {warned}")
    without = type("Without", (GeminiCliAgent,), {attribute: None, "__module__": __name__})
    warned = await _warnings_of_origin(without)
    contract.holds(warned, "without it the Runner guesses no app name any more, so it can go")


async def _warnings_of_origin(base: type[GeminiCliAgent]) -> list[str]:
    """What the Runner logs of a root whose class lies in a folder `agents`."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("google_adk")
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        file = Path(folder, "agents", "root.py")
        file.parent.mkdir()
        file.write_text("class Root(Base): pass\n")
        spec = importlib.util.spec_from_file_location("contract_root", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        vars(module)["Base"] = base
        spec.loader.exec_module(module)
        logger.addHandler(handler)
        try:
            sys.modules[spec.name] = module  # where `inspect.getmodule` looks for it
            app = App(name=APP_NAME, root_agent=module.Root.around(Hosted.made(Scripted.of())))
            await Runner(app=app, session_service=InMemorySessionService()).close()
        finally:
            del sys.modules[spec.name]
            logger.removeHandler(handler)
    return [message for message in messages if "mismatch" in message]


async def tools_declaration(contract: Contract) -> None:
    request = LlmRequest()
    request.append_tools([AdkTool({"name": "t", "description": "d"})])
    declared = [
        each.name
        for tool in request.config.tools or ()
        if isinstance(tool, types.Tool)
        for each in tool.function_declarations or ()
    ]
    contract.holds(declared == ["t"], f"a request declares {declared} for a tool named t")


def _flow(name: str, times: int, mend: str) -> Contract:
    where = "RuntimeFlow in runtimes/adk/flow.py"
    return Contract(f"BaseLlmFlow.{name}", where, mend, overridden(name, times))


_SHELL: Final = "GeminiCliAgent in runtimes/adk/root.py"
CONTRACTS: Final = (
    Contract(
        f"{PROCESSORS}.BaseLlmRequestProcessor",
        "Every processor in runtimes/adk/processors and runtimes/adk/child/processors.py",
        "Import the base class from where ADK's own processors take it now.",
        processor_base,
    ),
    Contract(
        "LlmAgent._llm_flow",
        "HostedAgent in runtimes/adk/root.py",
        "Give the agent its flow as LlmAgent takes it now.",
        agents_flow,
    ),
    _flow("_run_and_handle_error", 2, "Compare the override with ADK's and handle errors there."),
    _flow("_handle_before_model_callback", 2, "Without it each model call builds a context."),
    _flow("_handle_after_model_callback", 4, "Without it each chunk builds a context."),
    _flow(
        "_postprocess_handle_function_calls_async",
        1,
        "Hand the calls of a turn to the scheduler where ADK runs them now.",
    ),
    Contract(
        "lock-step of a BaseAgent root",
        _SHELL,
        "The client would get deltas late, and loops and aborts would end the model late.",
        lock_step,
    ),
    Contract(
        "queue of an LlmAgent root",
        _SHELL,
        "If an LlmAgent root is in step now, the shell around it can go.",
        not_in_step,
    ),
    Contract(
        "exceptions of a BaseAgent root",
        _SHELL,
        "`Step.failure` has to arrive at `invoke` unchanged, and without an error event.",
        errors_unchanged,
    ),
    Contract(
        "Session.events of a running invocation",
        "GcliSessionService in runtimes/adk/sessions.py",
        "Settled events have to leave the session that ADK reads.",
        live_session,
    ),
    Contract(
        "InvocationContext.canonical_tools_cache",
        "ToolsProcessor in runtimes/adk/processors/conversation.py",
        "Find where ADK resolves an agent's tools for each chunk, and prevent it there.",
        tools_cache,
    ),
    Contract(
        "Event.is_final_response after plugins",
        "CompleteTaskAdkPlugin in runtimes/adk",
        "End the invocation of a completed task in another way.",
        final_after_plugins,
    ),
    *(
        Contract(
            f"BaseAgent.{attribute}",
            _SHELL,
            "Set what the Runner reads now, or remove the attribute.",
            agents_origin,
        )
        for attribute in ("_adk_origin_app_name", "_adk_origin_path")
    ),
    Contract(
        "BaseTool._get_declaration",
        "AdkTool in runtimes/adk/tools.py",
        "Declare a tool as LlmRequest.append_tools asks for it now.",
        tools_declaration,
    ),
)
"""The flow and the root agent: private names of google-adk, and behaviours without a promise."""
