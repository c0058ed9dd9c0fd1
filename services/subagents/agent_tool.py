"""`invoke_agent`: gives a task to a local or remote agent.

Source: core `agents/agent-tool.ts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from services.mcp.tool_schemas import with_wait_parameter
from services.settings import Settings
from services.steering import InjectionService, InjectionSource
from services.steering_texts import user_hints
from services.subagents.child_run import (
    LocalInvocation,
    LocalSessionInvocation,
    LocalSubagentInvocation,
    SessionParts,
)
from services.subagents.definition import (
    INVOKE_AGENT,
    AgentDefinition,
    LocalAgentDefinition,
    RemoteAgentDefinition,
)
from services.tools.base import Invocation, SchemaTool
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    InvalidToolParams,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.wire import JsonObject, js_trim

__all__ = ["AgentTool", "MeasuredRun", "RemoteInvoker"]

RemoteInvoker = Callable[[RemoteAgentDefinition, JsonObject], Invocation]
"""Makes a call of a remote agent from its inputs."""

MeasuredRun = Callable[[str, str, Callable[[], Awaitable[ToolResult]]], Awaitable[ToolResult]]
"""Measures the run of an agent with this name and description."""

_PROMPT: Final = "prompt"


class AgentTool(SchemaTool):
    """The tool that runs agents. Settings use the class's name."""

    name = INVOKE_AGENT
    display_name = "Invoke Subagent"
    description = "Invoke a subagent to perform a specific task or investigation."
    kind = ToolKind.AGENT
    is_output_markdown = True
    can_update_output = True
    parameters: ClassVar[JsonObject] = with_wait_parameter(
        {
            "type": "object",
            "properties": {
                "agent_name": {
                    "type": "string",
                    "description": "Which subagent is to do the work: its name.",
                },
                _PROMPT: {
                    "type": "string",
                    "description": (
                        "Everything the subagent has to know, since it sees nothing of this "
                        "conversation: the whole task, what is known so far, the questions to "
                        "answer and the form that the answer is to have. A short hint is not "
                        "enough."
                    ),
                },
            },
            "required": ["agent_name", _PROMPT],
        }
    )

    def __init__(
        self,
        parts: SessionParts,
        *,
        find: Callable[[str], AgentDefinition | None],
        settings: Settings,
        steering: InjectionService,
        remote: RemoteInvoker,
        measured: MeasuredRun | None = None,
    ) -> None:
        """Make the tool.

        Args:
            parts: the parts of the session for local agents.
            find: returns the current definition of an agent.
            settings: whether local agents run as sessions.
            steering: has the user's hints.
            remote: makes calls of remote agents.
            measured: measures the agents' runs.
        """
        self.parts = parts
        self.steering = steering
        self.remote = remote
        self.measured = measured or _unmeasured
        self.local: type[LocalInvocation] = (
            LocalSessionInvocation
            if settings.adk.agent_session_subagent_enabled
            else LocalSubagentInvocation
        )
        self._find = find

    def invocation(self, params: JsonObject) -> AgentCall:
        """Return the call of the agent that `params` name.

        Raises:
            InvalidToolParams: there is no such agent.
        """
        definition = self._find(params["agent_name"])
        if definition is None:
            raise InvalidToolParams(f"Subagent '{params['agent_name']}' not found.")
        return AgentCall(self, params, definition)


class AgentCall:
    """One call, which forwards to the agent's own invocation."""

    respects_auto_edit = False

    def __init__(self, tool: AgentTool, params: JsonObject, definition: AgentDefinition) -> None:
        self._tool = tool
        self._params = params
        self._definition = definition
        self._hinted_up_to = tool.steering.latest

    @property
    def params(self) -> JsonObject:
        """The validated arguments."""
        return self._params

    @property
    def asked_name(self) -> str:
        """The agent's name, under which the policy decides."""
        return self._definition.name

    @property
    def asked_args(self) -> JsonObject:
        """The agent's inputs."""
        return self._inputs()

    @property
    def asked_shown_name(self) -> str:
        """The agent's display name."""
        return self._definition.shown_name

    def description(self) -> str:
        """Describe the call in one line."""
        return f"Delegating to agent '{self._definition.name}'"

    def confirmation_details(self) -> ConfirmationDetails | None:
        """Return the details of the agent's own invocation."""
        return self._invocation().confirmation_details()

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """Return nothing: an "always" answer has no narrower rule."""
        return None

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run the agent.

        Raises:
            AbortError: it was aborted.
        """
        invocation, agent = self._invocation(), self._definition
        return await self._tool.measured(
            agent.name, agent.description, lambda: invocation.execute(execution)
        )

    def _invocation(self) -> LocalInvocation | Invocation:
        match self._definition:
            case RemoteAgentDefinition() as remote:
                return self._tool.remote(remote, self._inputs())
            case LocalAgentDefinition() as local:
                return self._tool.local(local, self._inputs(), self._tool.parts)
            case _:
                raise TypeError(f"{self._definition.name}: an agent is local or remote")

    def _inputs(self) -> JsonObject:
        """Return the prompt under the agent's input name, with hints before it for a remote agent.

        A local agent receives hints while it runs.
        """
        prompt: str = self._params[_PROMPT]
        if isinstance(self._definition, RemoteAgentDefinition) and js_trim(prompt):
            recent = self._tool.steering.after(self._hinted_up_to, InjectionSource.USER_STEERING)
            hints = user_hints(recent)
            if hints is not None:
                prompt = f"{hints}\n\n{prompt}"
        return {self._definition.input_name: prompt}


async def _unmeasured(
    name: str, description: str, run: Callable[[], Awaitable[ToolResult]]
) -> ToolResult:
    return await run()
