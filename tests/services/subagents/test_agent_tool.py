"""`invoke_agent`: which agent is run, with which inputs, and what is asked before."""

from __future__ import annotations

from typing import Any

import pytest

from services.abort import AbortController
from services.clock import SystemClock
from services.settings import AdkFlags, Settings
from services.steering import InjectionService, InjectionSource
from services.subagents.agent_tool import AgentTool
from services.subagents.definition import AgentDefinition, RemoteAgentDefinition
from services.tools.base import Invocation
from services.tools.contract import (
    DelegatedQuestion,
    InvalidToolParams,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.wire import JsonObject
from tests.services.subagents.invocation_kit import Bench, agent, ended

FAR = RemoteAgentDefinition(name="far", description="d", card_url="http://far.example/card")


class RemoteCall(Invocation):
    """What a call of a remote agent looks like from here."""

    def __init__(self, params: JsonObject) -> None:
        self._params = params

    @property
    def shown_name(self) -> str:
        return "far"

    def description(self) -> str:
        return "Calling remote agent far"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        return ToolResult(llm_content=self.params["query"])


class Rig:
    """The tool over a session that knows `agents`."""

    def __init__(self, *agents: AgentDefinition, sessions: bool = False) -> None:
        self.bench = Bench(self._work)
        self.steering = InjectionService(SystemClock(), steering=True)
        known = {each.name: each for each in agents}
        settings = Settings(adk=AdkFlags(agent_session_subagent_enabled=sessions))
        self.tool = AgentTool(
            self.bench.parts,
            find=known.get,
            settings=settings,
            steering=self.steering,
            remote=lambda definition, inputs: RemoteCall(inputs),
        )

    async def _work(self, child: Any) -> Any:
        return ended()

    def fault(self, **params: Any) -> str:
        with pytest.raises(InvalidToolParams) as refused:
            self.tool.build(params)
        return str(refused.value)

    async def run(self, name: str, prompt: str) -> ToolResult:
        call = self.tool.build({"agent_name": name, "prompt": prompt})
        signal = AbortController().signal
        return await call.execute(ToolExecution(call_id="c", signal=signal))


def test_the_tool_is_what_settings_events_and_models_know() -> None:
    tool = Rig().tool
    assert (tool.name, tool.display_name, tool.kind) == (
        "invoke_agent",
        "Invoke Subagent",
        ToolKind.AGENT,
    )
    assert type(tool).__name__ == "AgentTool"
    assert tool.can_update_output
    declared = tool.declaration()["parametersJsonSchema"]
    assert declared["required"] == ["agent_name", "prompt"]
    assert list(declared["properties"]) == ["agent_name", "prompt", "wait_for_previous"]


def test_arguments_are_checked_before_the_agent_is_looked_for() -> None:
    rig = Rig(agent())
    assert rig.fault(agent_name="missing") == "params must have required property 'prompt'"
    assert rig.fault(agent_name="missing", prompt="x") == "Subagent 'missing' not found."


async def test_the_prompt_goes_to_the_agents_input() -> None:
    rig = Rig(agent(input_name="objective"))
    await rig.run("helper", "find it")
    assert rig.bench.children[0].inputs == {"objective": "find it"}


async def test_the_flag_decides_whether_the_agent_is_sent_its_inputs() -> None:
    definition = agent()
    direct, session = Rig(definition), Rig(definition, sessions=True)
    result = await direct.run("helper", "go")
    also = await session.run("helper", "go")
    assert direct.bench.children[0].sent == []
    assert session.bench.children[0].sent == ["go"]
    assert result.llm_content == also.llm_content
    assert result.data == {"agentId": "AGENT"}
    assert also.data is None


async def test_inputs_that_are_no_query_are_sent_before_an_empty_message() -> None:
    rig = Rig(agent(input_name="objective"), sessions=True)
    await rig.run("helper", "go")
    assert rig.bench.children[0].sent == [{"objective": "go"}, ""]
    assert rig.bench.children[0].inputs == {"objective": "go"}


def test_the_confirmation_is_that_of_the_agents_own_call() -> None:
    rig = Rig(agent(display_name="The Helper"))
    call = rig.tool.build({"agent_name": "helper", "prompt": "go"})
    assert isinstance(call, DelegatedQuestion)
    assert (call.asked_name, call.asked_args) == ("helper", {"query": "go"})
    assert call.asked_shown_name == "The Helper"
    details = call.confirmation_details()
    assert details is not None
    assert details.title == "Confirm: The Helper"
    assert details.fields == {"prompt": "Running subagent 'helper' with inputs: { query: go }"}
    assert call.description() == "Delegating to agent 'helper'"


async def test_a_remote_agent_receives_the_hints_since_its_call_was_built() -> None:
    rig = Rig(FAR)
    rig.steering.add("too early", InjectionSource.USER_STEERING)
    call: Any = rig.tool.build({"agent_name": "far", "prompt": "go"})
    rig.steering.add("hurry  up", InjectionSource.USER_STEERING)
    rig.steering.add("done", InjectionSource.BACKGROUND_COMPLETION)
    asked = str(call.asked_args["query"])
    assert asked.startswith("User hints:\n<user_input>\n- hurry up\n</user_input>\n\n")
    assert asked.endswith(".\n\ngo")
    signal = AbortController().signal
    result = await call.execute(ToolExecution(call_id="c", signal=signal))
    assert result.llm_content == asked


async def test_a_remote_agent_without_a_prompt_receives_no_hints() -> None:
    rig = Rig(FAR)
    call: Any = rig.tool.build({"agent_name": "far", "prompt": "  "})
    rig.steering.add("hurry", InjectionSource.USER_STEERING)
    assert call.asked_args == {"query": "  "}


async def test_a_local_agent_is_given_no_hints_with_its_prompt() -> None:
    rig = Rig(agent())
    call: Any = rig.tool.build({"agent_name": "helper", "prompt": "go"})
    rig.steering.add("hurry", InjectionSource.USER_STEERING)
    assert call.asked_args == {"query": "go"}
