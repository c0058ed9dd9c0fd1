"""google-adk is what the runtime relies on; a change fails with a sentence that says what to do."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import llm_agent
from google.adk.agents.llm_agent import LlmAgent
from google.adk.events.event import Event
from google.adk.flows.llm_flows import base_llm_flow
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset

import runtimes.adk
from tests.runtimes.adk.adk_contract import CONTRACTS, OVERRIDDEN, PROCESSORS, ContractBroken
from tests.runtimes.adk.adk_private_names import FUNCTIONS, PRIVATE_NAMES, SCANS

BY_NAME = {contract.name: contract for contract in (*CONTRACTS, *PRIVATE_NAMES)}
Break = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("name", BY_NAME)
async def test_adk_is_what_the_runtime_relies_on(name: str) -> None:
    await BY_NAME[name].check(BY_NAME[name])


def gone(owner: type, name: str) -> Break:
    return lambda patch: patch.delattr(owner, name)


def another_module(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(sys.modules, PROCESSORS, None)


def another_base(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(f"{PROCESSORS}.BaseLlmRequestProcessor", type("Another", (), {}))


def another_flow(patch: pytest.MonkeyPatch) -> None:
    def run_impl(self: Any, context: Any) -> Any:
        return SingleFlow().run_async(context)

    patch.setattr(LlmAgent, "_run_async_impl", run_impl)


def another_parameter(name: str, owner: type = BaseLlmFlow) -> Break:
    async def changed(self: Any, step: Any) -> None:
        raise NotImplementedError

    return lambda patch: patch.setattr(owner, name, changed)


def removed(name: str) -> Break:
    return lambda patch: patch.delattr(name)


def another_function(name: str) -> Break:
    async def changed(step: Any) -> None:
        raise NotImplementedError

    return lambda patch: patch.setattr(name, changed)


def idle(patch: pytest.MonkeyPatch) -> None:
    """The Runner runs an invocation in another way than by its methods."""

    async def run_async(self: Any, **more: Any) -> AsyncGenerator[Event, None]:
        return
        yield

    patch.setattr(Runner, "run_async", run_async)


def listed_once(patch: pytest.MonkeyPatch) -> None:
    """A toolset is asked once per invocation, whatever it says."""
    whole = property(lambda _: True, lambda _self, _value: None)
    patch.setattr(BaseToolset, "_use_invocation_cache", whole, raising=False)


def left_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Runner, "_collect_toolset", lambda self, agent: set())


def model_without_flow(patch: pytest.MonkeyPatch) -> None:
    """ADK calls the model past the methods of the flow."""

    async def call(flow: Any, context: Any, request: Any, event: Any) -> AsyncGenerator[Any, None]:
        async with aclosing((await flow._get_llm(context)).generate_content_async(request)) as got:
            async for response in got:
                yield response

    patch.setattr(base_llm_flow, "call_llm_async", call)


def tools_without_flow(patch: pytest.MonkeyPatch) -> None:
    """ADK runs tools past the method of the flow."""

    async def post(
        self: Any, context: Any, request: Any, response: Any, event: Any
    ) -> AsyncGenerator[Event, None]:
        yield self._finalize_model_response_event(request, response, event)

    patch.setattr(BaseLlmFlow, "_postprocess_async", post)


def executing(change: Callable[[Any], Any]) -> Break:
    """Change how the Runner passes on the events of a root that is no LlmAgent."""
    original = Runner._exec_with_plugin
    return lambda patch: patch.setattr(
        Runner, "_exec_with_plugin", lambda *args, **more: change(original(*args, **more))
    )


async def queued(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    async with aclosing(events):
        for event in [event async for event in events]:
            yield event


async def wrapped(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except Exception as error:
        raise RuntimeError("failed") from error


async def announced(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except Exception:
        yield Event(author="agent", error_code="ValueError")
        raise


def in_step(patch: pytest.MonkeyPatch) -> None:
    """An LlmAgent root goes the way of any other root."""
    patch.setattr(llm_agent, "LlmAgent", type("Another", (), {}))


def copied_session(patch: pytest.MonkeyPatch) -> None:
    original = Runner._new_invocation_context

    def made(self: Any, session: Any, **more: Any) -> Any:
        return original(self, session.model_copy(), **more)

    patch.setattr(Runner, "_new_invocation_context", made)


def events_that_come_back(patch: pytest.MonkeyPatch) -> None:
    original = BaseSessionService.append_event

    async def append(self: Any, session: Any, event: Event) -> Event:
        session.events.insert(0, Event(author="user"))
        return await original(self, session, event)

    patch.setattr(BaseSessionService, "append_event", append)


def resolving_tools(patch: pytest.MonkeyPatch) -> None:
    async def after(context: Any, response: Any, event: Any) -> None:
        await context.agent.canonical_tools(None)

    patch.setattr(base_llm_flow, "handle_after_model_callback", after)


def judged_before_plugins(patch: pytest.MonkeyPatch) -> None:
    async def run_async(self: Any, context: Any) -> AsyncGenerator[Event, None]:
        final = False
        while not final:
            async with aclosing(self._run_one_step_async(context)) as events:
                async for event in events:
                    final = event.is_final_response()
                    yield event

    patch.setattr(BaseLlmFlow, "run_async", run_async)


def guessed_origin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Runner, "_infer_agent_origin", lambda self, agent: ("agents", None))


def no_origin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Runner, "_infer_agent_origin", lambda self, agent: (None, None))


def declared_otherwise(patch: pytest.MonkeyPatch) -> None:
    def append_tools(self: Any, tools: list[BaseTool]) -> None:
        self.config.tools = []

    patch.setattr("google.adk.models.llm_request.LlmRequest.append_tools", append_tools)


SCANNED = [(ours.__mro__[1], name) for ours, name in SCANS]
ORIGIN = [name for name in BY_NAME if "_adk_origin" in name]
BROKEN: list[tuple[str, Break, str]] = [
    (f"{PROCESSORS}.BaseLlmRequestProcessor", another_module, "it cannot be imported"),
    (f"{PROCESSORS}.BaseLlmRequestProcessor", another_base, "has another base class"),
    ("LlmAgent._llm_flow", gone(LlmAgent, "_llm_flow"), "it is no property"),
    ("LlmAgent._llm_flow", another_flow, "no longer runs the flow"),
    *((f"BaseLlmFlow.{name}", gone(BaseLlmFlow, name), "it is gone") for name in OVERRIDDEN),
    *(
        (f"BaseLlmFlow.{name}", another_parameter(name), "it takes `step` instead of")
        for name in OVERRIDDEN
    ),
    *(
        (f"BaseLlmFlow.{name}", model_without_flow, "it is called 0 times")
        for name in OVERRIDDEN
        if "function_calls" not in name
    ),
    (
        "BaseLlmFlow._postprocess_handle_function_calls_async",
        tools_without_flow,
        "it is called 0 times",
    ),
    ("lock-step of a BaseAgent root", executing(queued), "'model', 'model', 'model'"),
    ("queue of an LlmAgent root", in_step, "'model', 'consumer', 'model'"),
    ("exceptions of a BaseAgent root", executing(wrapped), "arrives as RuntimeError"),
    ("exceptions of a BaseAgent root", executing(announced), "1 events come before it"),
    ("Session.events of a running invocation", copied_session, "another session"),
    ("Session.events of a running invocation", events_that_come_back, "came back"),
    ("InvocationContext.canonical_tools_cache", resolving_tools, "tools are resolved 1 times"),
    ("Event.is_final_response after plugins", judged_before_plugins, "no longer ends"),
    *((name, guessed_origin, "guesses an app name all the same") for name in ORIGIN),
    *((name, no_origin, "so it can go") for name in ORIGIN),
    ("BaseTool._get_declaration", declared_otherwise, "a request declares []"),
    *((f"{owner.__name__}.{name}", gone(owner, name), "it is gone") for owner, name in SCANNED),
    *(
        (f"{owner.__name__}.{name}", another_parameter(name, owner), "it takes `step` instead of")
        for owner, name in SCANNED
    ),
    *((f"{owner.__name__}.{name}", idle, "does not call it") for owner, name in SCANNED),
    *((name, removed(name), "it is gone") for name in FUNCTIONS),
    *((name, another_function(name), "it takes `step` instead of") for name in FUNCTIONS),
    ("BaseToolset._use_invocation_cache", listed_once, "it is asked 1 times for two steps"),
    ("BaseAgent._iter_static_children", left_open, "leaves the toolsets"),
]


@pytest.mark.parametrize(("name", "change", "changed"), BROKEN)
async def test_a_change_of_adk_fails_with_a_sentence(
    name: str, change: Break, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = BY_NAME[name]
    change(monkeypatch)

    with pytest.raises(ContractBroken) as broken:
        await contract.check(contract)

    sentence = str(broken.value)
    assert changed in sentence
    assert f"changed `{name}`" in sentence
    assert f"{contract.where} relies on it. {contract.mend}" in sentence


def test_every_contract_is_seen_red() -> None:
    assert {name for name, _, _ in BROKEN} == set(BY_NAME)


def private_names() -> set[str]:
    """The private names of google-adk that `runtimes/adk` imports or overrides."""
    found = set()
    for info in pkgutil.walk_packages(runtimes.adk.__path__, "runtimes.adk."):
        module = importlib.import_module(info.name)
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("google.adk."):
                imported = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {name for name in imported if "._" in name}
        for value in vars(module).values():
            if inspect.isclass(value) and value.__module__ == info.name:
                found |= set(overridden(value))
                found |= {f"BaseAgent.{name}" for name in vars(value) if name.startswith("_adk_")}
    return found


def overridden(ours: type) -> list[str]:
    """`Class._name` for each private name that a class of ours takes over from google-adk.

    `Class` is the nearest one that has it.
    """
    return [
        f"{base.__name__}.{name}"
        for name in vars(ours)
        if name.startswith("_") and not name.endswith("__")
        for base in [next((base for base in ours.__mro__[1:] if name in vars(base)), object)]
        if base.__module__.startswith("google.adk.") and not name.startswith(("_abc_", "_box"))
    ]


def private_reads() -> set[str]:
    """The private attributes that `runtimes/adk` reads and nothing of the product defines."""
    read, defined = set[str](), set[str]()
    adk = Path(runtimes.adk.__path__[0])
    for file in (*adk.rglob("*.py"), *(adk.parents[1] / "services").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            elif isinstance(node, ast.Attribute):
                if not isinstance(node.ctx, ast.Load):
                    defined.add(node.attr)
                elif file.is_relative_to(adk):
                    read.add(node.attr)
    return {name for name in read - defined if name.startswith("_") and not name.endswith("__")}


def test_every_private_name_has_a_contract() -> None:
    documented = {"BaseAgent._run_async_impl"}
    """What ADK's documentation has its users override."""
    assert len(private_names()) > len(OVERRIDDEN)
    without = (private_names() | private_reads()) - set(BY_NAME) - documented
    assert not without, (
        f"private names of google-adk without a contract: {sorted(without)}; "
        "use a public name, or describe the contract in tests/runtimes/adk/adk_contract.py or "
        "adk_private_names.py"
    )
