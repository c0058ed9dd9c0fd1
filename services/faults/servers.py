"""Faults of MCP servers and skills."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, passing, result, returns
from services.wire import js_json

held_out = Faults(Site.SERVICE, Behaviour.TOOLS, held_out=True)
held_out_context = Faults(Site.SERVICE, Behaviour.CONTEXT, held_out=True)

server_error_flag_unread = held_out.wrap(
    "services.mcp.tools:is_tool_error",
    instead(lambda _, response: isinstance(response.get("error"), dict)),
    says="A result that a server marks as an error is reported as a good one.",
    origin="errors expected as errors of the protocol",
)
long_tool_names_cut_at_their_end = held_out.wrap(
    "services.mcp.tools:valid_mcp_name",
    passing(name=lambda name: name if name.startswith("mcp_") else f"mcp_{name}"[:63]),
    says="A server's tool with a long name keeps its beginning, not beginning and end.",
    origin="a plain limit on the length of names",
    closed_by="mcp/long_names",
)
server_variables_not_expanded = held_out.wrap(
    "services.mcp.environment:expand_variables",
    instead(lambda _, text, _variables: text),
    says="References in a server's variables are handed to it as they are written.",
    origin="an environment taken from the settings as it is",
    closed_by="mcp/server_input",
)
changed_list_not_fetched = held_out.wrap(
    "services.mcp.refresh:Refresher.notice",
    returns(None),
    says="A server's notice that its tools have changed goes unheard.",
    origin="a toolset that lists its tools when it connects",
)
resources_of_the_first_page = held_out.wrap(
    "services.mcp.discovery:_MOST_PAGES",
    lambda _: 1,
    says="Of a server's resources only the first page is known.",
    origin="a client that does not follow cursors",
    closed_by="mcp/pages",
)
server_text_not_marked = held_out.wrap(
    "services.mcp.contents:wrap_untrusted",
    instead(lambda _, text: text),
    says="What servers say reaches the model without a mark that it is not to be trusted.",
    origin="a mark put on by the shell tool alone",
)
images_of_servers_lost = held_out.wrap(
    "services.mcp.tools:parts_of",
    result(lambda found: [part for part in found if "text" in part]),
    says="Images that a server's tool returns do not reach the model.",
    origin="a conversion of results to text",
)
server_limit_in_seconds = held_out.wrap(
    "services.mcp.config:McpServerConfig.timeout_s",
    result(lambda found: found * 1000),
    says="A server may take as many seconds to answer as it should be milliseconds.",
    origin="a setting in milliseconds handed to a timer in seconds",
)
blocked_server_started = held_out.wrap(
    "services.mcp.manager:McpManager._is_blocked",
    returns(False),
    says="A server that the settings forbid is started.",
    origin="a list that only the dialog for servers reads",
    closed_by="mcp/forbidden",
)
server_instructions_not_told = held_out_context.wrap(
    "services.mcp.client:McpClient.instructions",
    returns(None),
    says="What a server says of itself does not reach the model.",
    origin="a field of the handshake that no code reads",
    closed_by="mcp/instructions",
)


@held_out(
    "services.mcp.config:McpServerConfig.enables", origin="two lists looked at in the other order"
)
def include_list_beats_exclude_list(enables: Any, self: Any, tool: str) -> Any:
    """A server's tool that is on both lists is offered."""
    if tool in (self.include_tools or ()):
        return True
    return enables(self, tool)


wait_parameter_kept_from_servers = held_out.wrap(
    "services.mcp.client:McpClient.call_tool",
    passing(
        arguments=lambda given: {key: given[key] for key in given if key != "wait_for_previous"}
    ),
    says="A call's own parameter to wait for others is not sent to the server.",
    origin="arguments cleaned up on their way out",
    closed_by="mcp/server_input",
)


@held_out("services.mcp.tools:parts_of", origin="a framework's MCP tool, which prefers structure")
def structured_content_told_instead(parts: Any, response: Any, tool: str) -> Any:
    """The model gets a result's structured content in place of its blocks."""
    structured = response.get("structuredContent")
    return parts(response, tool) if structured is None else [{"text": js_json(structured)}]


@held_out(
    "services.skills.manager:SkillManager.discover", origin="names compared as they are written"
)
def disabled_skills_by_exact_name(
    discover: Any, /, self: Any, *, disabled: Any = (), **places: Any
) -> None:
    """A skill that is disabled in other letters than its own is offered."""
    discover(self, **places)
    self._skills = {
        name: replace(skill, disabled=skill.name in disabled)
        for name, skill in self._skills.items()
    }
