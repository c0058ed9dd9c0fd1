"""What the tests of tool callbacks and added tools share: a session with plugins, tools, answers.

`stock` runs the same tools and callbacks under google-adk's own `LlmAgent` and `Runner`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.adk.agents.llm_agent import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from services.message_bus import ToolCallsUpdate, ToolConfirmationResponse
from services.policy.patterns import compile_pattern
from services.policy.rules import Decision, PolicyRule
from services.tools.contract import ConfirmationOutcome

READ = {"file_path": "a.txt"}
PROMPT = "5e551017-0000-4000-8000-000000000000"


class Watching(BasePlugin):
    """Records every tool callback, and answers as the functions given to it do."""

    def __init__(self, name: str = "watching", **answers: Callable[..., Any]) -> None:
        super().__init__(name=name)
        self.answers = answers
        self.seen: list[tuple[Any, ...]] = []
        self.contexts: list[Any] = []

    def _see(self, moment, tool, args, context, value):
        self.contexts.append(context)
        self.seen.append((moment, tool.name, dict(args), context.function_call_id, value))
        answer = self.answers.get(moment)
        return None if answer is None else answer(tool, args, context, value)

    async def before_tool_callback(self, *, tool, tool_args, tool_context):
        return self._see("before", tool, tool_args, tool_context, None)

    async def after_tool_callback(self, *, tool, tool_args, tool_context, result):
        return self._see("after", tool, tool_args, tool_context, result)

    async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
        return self._see("error", tool, tool_args, tool_context, error)

    @property
    def moments(self) -> list[tuple[str, str]]:
        return [(moment, name) for moment, name, *_ in self.seen]


class AgentCallbacks:
    """The same as an agent's callbacks: `fields` are those of an `LlmAgent`."""

    def __init__(self, watching: Watching) -> None:
        async def before(tool, args, tool_context):
            return watching._see("before", tool, args, tool_context, None)

        def after(tool, args, tool_context, tool_response):
            return watching._see("after", tool, args, tool_context, tool_response)

        async def failed(tool, args, tool_context, error):
            return watching._see("error", tool, args, tool_context, error)

        self.fields = {
            "before_tool_callback": before,
            "after_tool_callback": after,
            "on_tool_error_callback": failed,
        }


def equip(loop, *, plugins: Sequence[BasePlugin] = (), tools=(), callbacks=None) -> None:
    """Give the loop of an agent plugins, tools and agent callbacks."""
    for plugin in plugins:
        loop._runner.plugin_manager.register_plugin(plugin)
    hosted = loop._runner.agent._hosted
    hosted.tools.extend(tools)
    for name, callback in (callbacks or {}).items():
        setattr(hosted, name, callback)


def play(kit, steps, *, sends=("hello",), rules=(), answer=None, on_event=None, more=None, **given):
    """Run `steps` in a session whose agent is equipped with `given`.

    Args:
        kit: the kit.
        steps: what the model answers.
        sends: the messages, one after the other.
        rules: of the policy; see `rule`.
        answer: how confirmations are answered; the session is interactive where there is one.
        on_event: called with every event and the agent.
        more: called with what was played and the agent, before the session closes.
        given: `plugins`, `tools`, `callbacks` of `equip`; the rest goes to the session.
    """
    equipment = {key: given.pop(key) for key in ("plugins", "tools", "callbacks") if key in given}
    if answer is not None:
        given["interactive"] = True

    async def script(played, runtime):
        for each in rules:
            played.services.policy.add_rule(each)
        if answer is not None:
            played.asked = confirming(played.services, answer)
        agent = runtime.agent()
        played.agent = agent
        equip(agent, **equipment)
        kit.listen(agent, played, on_event)
        for words in sends:
            await agent.send(kit.message(words))
            await runtime.settled()
        if more is not None:
            more(played, agent)

    return kit.run(script, steps, **given)


def rule(name: str, decision: Decision, args: str | None = None) -> PolicyRule:
    """A rule for a tool, above the default ones; `args` is a pattern."""
    pattern = None if args is None else compile_pattern(args)
    return PolicyRule(tool_name=name, decision=decision, priority=50.0, args_pattern=pattern)


def confirming(services, outcome: ConfirmationOutcome) -> list[str]:
    """Answer every question with `outcome`; the list fills with the names of what was asked."""
    asked: list[str] = []
    seen = set()

    def answer(update: ToolCallsUpdate) -> None:
        for call in update.calls:
            if call.correlation_id and call.correlation_id not in seen:
                seen.add(call.correlation_id)
                asked.append(call.name)
                response = ToolConfirmationResponse(
                    correlation_id=call.correlation_id,
                    confirmed=outcome is not ConfirmationOutcome.CANCEL,
                    outcome=outcome,
                )
                asyncio.get_running_loop().call_soon(services.bus.publish, response)

    services.bus.subscribe(ToolCallsUpdate, answer)
    return asked


def responses(played) -> list[dict[str, Any]]:
    """The function responses that the model got, in order."""
    return [
        part["functionResponse"]
        for part in played.model.requests[-1].contents[-1]["parts"]
        if "functionResponse" in part
    ]


def shown(played) -> list[tuple[str, bool, str]]:
    """`(name, is error, text shown)` of each `tool_response`."""
    found = []
    for event in played.events:
        if event.type == "tool_response":
            text = event.content[0].text if event.content else ""
            display = event.display and event.display.result
            found.append((event.name, event.is_error, getattr(display, "text", None) or text))
    return found


class Scripted(BaseLlm):
    """A stock model that answers with the given parts, request by request."""

    answers: list[Any]
    requests: list[Any]

    async def generate_content_async(self, llm_request, stream=False):
        self.requests.append(llm_request.model_copy(deep=False))
        parts = [types.Part.model_validate(part) for part in self.answers.pop(0)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def stock(
    answers: Sequence[Any],
    *,
    tools: Sequence[Any],
    plugins: Sequence[BasePlugin] = (),
    callbacks: Mapping[str, Any] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any], list[Any]]:
    """The function responses, the state and the events of a run of google-adk itself."""

    async def go():
        model = Scripted(model="scripted", answers=list(answers), requests=[])
        agent = LlmAgent(name="stock", model=model, tools=list(tools), **(callbacks or {}))
        app = App(name="stock", root_agent=agent, plugins=list(plugins))
        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name="stock", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="hello")])
        async with Runner(app=app, session_service=sessions) as runner:
            events = [
                event
                async for event in runner.run_async(
                    user_id="u", session_id=session.id, new_message=message
                )
            ]
        kept = await sessions.get_session(app_name="stock", user_id="u", session_id=session.id)
        assert kept is not None
        answered = [
            response.model_dump(include={"name", "response"}, exclude_none=True)
            for event in events
            for response in event.get_function_responses()
        ]
        return answered, dict(kept.state), events

    return asyncio.run(go())
