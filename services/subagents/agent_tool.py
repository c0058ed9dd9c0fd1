"""`invoke_agent`: hands a task to an agent, local or remote.

Source: core `agents/agent-tool.ts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from services.mcp.tool_schemas import with_wait_parameter
from services.settings import Settings
from services.steering import InjectionService, InjectionSource
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
from services.subagents.steering_inbox import user_hints
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
"""Makes a call of a remote agent out of its inputs."""

MeasuredRun = Callable[[str, str, Callable[[], Awaitable[ToolResult]]], Awaitable[ToolResult]]
"""Runs an agent, given its name and description and what runs it."""

_PROMPT: Final = "prompt"


class AgentTool(SchemaTool):
    """The tool that runs agents. The class's name is the one that settings know."""

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
        """Make it.

        Args:
            parts: what running a local agent needs of the session.
            find: the agent of a name, as it is now.
            settings: says whether local agents run as sessions.
            steering: where hints of the user's come in.
            remote: makes calls of remote agents.
            measured: what watches the agents' runs, if anything does.
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
        """The call of the agent that `params` name.

        Raises:
            InvalidToolParams: there is none of that name.
        """
        definition = self._find(params["agent_name"])
        if definition is None:
            raise InvalidToolParams(f"Subagent '{params['agent_name']}' not found.")
        return AgentCall(self, params, definition)


class AgentCall:
    """One call: what it asks and does is up to the agent's own invocation."""

    respects_auto_edit = False

    def __init__(self, tool: AgentTool, params: JsonObject, definition: AgentDefinition) -> None:
        self._tool = tool
        self._params = params
        self._definition = definition
        self._hinted_up_to = tool.steering.latest

    @property
    def params(self) -> JsonObject:
        """The arguments, as validated."""
        return self._params

    @property
    def asked_name(self) -> str:
        """The policy is asked about the agent, as if it were a tool."""
        return self._definition.name

    @property
    def asked_args(self) -> JsonObject:
        """The agent's inputs."""
        return self._inputs()

    @property
    def asked_shown_name(self) -> str:
        """The agent's name for people."""
        return self._definition.shown_name

    def description(self) -> str:
        """What this call does, in a short line for people."""
        return f"Delegating to agent '{self._definition.name}'"

    def confirmation_details(self) -> ConfirmationDetails | None:
        """What the agent's own invocation would have asked."""
        return self._invocation().confirmation_details()

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """Nothing narrows an "always" answer."""
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
        """The prompt under the name that the agent gives it; hints before it for remote agents.

        A local agent hears of hints while it runs.
        """
        key = _primary_input(self._definition.input_schema)
        prompt: str = self._params[_PROMPT]
        if isinstance(self._definition, RemoteAgentDefinition) and js_trim(prompt):
            said = self._tool.steering.after(self._hinted_up_to, InjectionSource.USER_STEERING)
            hints = user_hints(said)
            if hints is not None and isinstance(
                self._definition.input_schema.get("properties"), dict
            ):
                prompt = f"{hints}\n\n{prompt}"
        return {key: prompt}


async def _unmeasured(
    name: str, description: str, run: Callable[[], Awaitable[ToolResult]]
) -> ToolResult:
    return await run()


def _primary_input(schema: JsonObject) -> str:
    """The agent's one input, or `prompt` where it has none or several."""
    properties = schema.get("properties")
    if isinstance(properties, dict) and len(properties) == 1:
        return str(next(iter(properties)))
    return _PROMPT
