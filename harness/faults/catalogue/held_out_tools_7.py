"""Faults of MCP servers and skills, written after the corpus."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.wire import js_json

__all__ = ["FAULTS"]

_fault = partial(Fault, site=Site.SERVICE, held_out=True)
_tools = partial(_fault, behaviour=Behaviour.TOOLS)


def _errors_on_the_way(_: Any) -> Any:
    return lambda response: isinstance(response.get("error"), dict)


def _included_alone(enables: Any) -> Any:
    def broken(self: Any, tool: str) -> Any:
        if tool in (self.include_tools or ()):
            return True
        return enables(self, tool)

    return broken


def _cut_at_its_end(valid: Any) -> Any:
    def broken(name: str) -> Any:
        return valid(name if name.startswith("mcp_") else f"mcp_{name}"[:63])

    return broken


def _as_written(_: Any) -> Any:
    return lambda text, _variables: text


def _unnoticed(_: Any) -> Any:
    return lambda _self: None


def _one_page(_: Any) -> Any:
    return 1


def _without_our_own(call: Any) -> Any:
    async def broken(self: Any, tool: str, arguments: Any, call_id: str) -> Any:
        own = {key: value for key, value in arguments.items() if key != "wait_for_previous"}
        return await call(self, tool, own, call_id)

    return broken


def _unmarked(_: Any) -> Any:
    return lambda text: text


def _to_the_letter(discover: Any) -> Any:
    def broken(self: Any, *, disabled: Any = (), **places: Any) -> None:
        discover(self, **places)
        self._skills = {
            name: replace(skill, disabled=skill.name in disabled)
            for name, skill in self._skills.items()
        }

    return broken


def _structured_first(parts: Any) -> Any:
    def broken(response: Any, tool: str) -> Any:
        structured = response.get("structuredContent")
        return parts(response, tool) if structured is None else [{"text": js_json(structured)}]

    return broken


def _without_images(parts: Any) -> Any:
    def broken(response: Any, tool: str) -> Any:
        return [part for part in parts(response, tool) if "text" in part]

    return broken


def _in_seconds(timeout: Any) -> Any:
    return lambda self: timeout(self) * 1000


def _at_every_name(_: Any) -> Any:
    return lambda _self, _name: False


def _silent(_: Any) -> Any:
    return lambda _self: None


FAULTS: Final = (
    _tools(
        name="server-error-flag-unread",
        says="A result that a server marks as an error is told as a good one.",
        origin="errors expected as errors of the protocol",
        breaks=lambda: replaced("services.mcp.tools:is_tool_error", _errors_on_the_way),
    ),
    _tools(
        name="include-list-beats-exclude-list",
        says="A server's tool that is on both lists is offered.",
        origin="two lists looked at in the other order",
        breaks=lambda: replaced("services.mcp.config:McpServerConfig.enables", _included_alone),
    ),
    _tools(
        name="long-tool-names-cut-at-their-end",
        says="A server's tool with a long name keeps its beginning, not beginning and end.",
        origin="a plain limit on the length of names",
        closed_by="mcp/long_names",
        breaks=lambda: replaced("services.mcp.tools:valid_mcp_name", _cut_at_its_end),
    ),
    _tools(
        name="server-variables-not-expanded",
        says="References in a server's variables are handed to it as they are written.",
        origin="an environment taken from the settings as it is",
        closed_by="mcp/told",
        breaks=lambda: replaced("services.mcp.environment:expand_variables", _as_written),
    ),
    _tools(
        name="changed-list-not-fetched",
        says="A server's notice that its tools have changed goes unheard.",
        origin="a toolset that lists its tools when it connects",
        breaks=lambda: replaced("services.mcp.refresh:Refresher.notice", _unnoticed),
    ),
    _tools(
        name="resources-of-the-first-page",
        says="Of a server's resources only the first page is known.",
        origin="a client that does not follow cursors",
        closed_by="mcp/pages",
        breaks=lambda: replaced("services.mcp.discovery:_MOST_PAGES", _one_page),
    ),
    _tools(
        name="wait-parameter-kept-from-servers",
        says="A call's own parameter to wait for others is not sent to the server.",
        origin="arguments cleaned up on their way out",
        closed_by="mcp/told",
        breaks=lambda: replaced("services.mcp.client:McpClient.call_tool", _without_our_own),
    ),
    _tools(
        name="server-text-not-marked",
        says="What servers say is told to the model without a mark that it is not to be trusted.",
        origin="a mark put on by the shell tool alone",
        breaks=lambda: replaced("services.mcp.contents:wrap_untrusted", _unmarked),
    ),
    _tools(
        name="structured-content-told-instead",
        says="The model is told a result's structured content in place of its blocks.",
        origin="a framework's MCP tool, which prefers structure",
        breaks=lambda: replaced("services.mcp.tools:parts_of", _structured_first),
    ),
    _tools(
        name="images-of-servers-lost",
        says="Images that a server's tool returns do not reach the model.",
        origin="a conversion of results to text",
        breaks=lambda: replaced("services.mcp.tools:parts_of", _without_images),
    ),
    _tools(
        name="server-limit-in-seconds",
        says="A server may take as many seconds to answer as it should be milliseconds.",
        origin="a setting in milliseconds handed to a timer in seconds",
        breaks=lambda: replaced("services.mcp.config:McpServerConfig.timeout_s", _in_seconds),
    ),
    _tools(
        name="blocked-server-started",
        says="A server that the settings forbid is started.",
        origin="a list that only the dialog for servers reads",
        closed_by="mcp/forbidden",
        breaks=lambda: replaced("services.mcp.manager:McpManager._is_blocked", _at_every_name),
    ),
    _fault(
        name="server-instructions-not-told",
        behaviour=Behaviour.CONTEXT,
        says="What a server says of itself is not told to the model.",
        origin="a field of the handshake that nobody reads",
        closed_by="mcp/instructions",
        breaks=lambda: replaced("services.mcp.client:McpClient.instructions", _silent),
    ),
    _tools(
        name="disabled-skills-by-exact-name",
        says="A skill that is disabled in other letters than its own is offered.",
        origin="names compared as they are written",
        breaks=lambda: replaced("services.skills.manager:SkillManager.discover", _to_the_letter),
    ),
)
