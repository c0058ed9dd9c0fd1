"""Subagents: the reading of definitions, and the filling of templates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.subagents.definition import (
    AgentDefinition,
    LocalAgentDefinition,
    RemoteAgentDefinition,
)
from services.subagents.loader import AgentLoadError, parse_agent_file
from services.subagents.templating import MissingInputs, fill_template

__all__ = ["SUBJECTS"]

_READER: Final = re.compile(r"(YAML frontmatter parsing failed: ).*", re.DOTALL)
"""What the reader of YAML finds wrong is said in its own words."""


def load_file(text: str) -> dict[str, Any]:
    """The definitions of a file, or why there are none."""
    try:
        return {"agents": [_as_core_has_it(each) for each in parse_agent_file(_FILE, text)]}
    except AgentLoadError as error:
        return {"error": _READER.sub(r"\1", str(error))}


def template(asked: dict[str, Any]) -> dict[str, str]:
    """A template with its inputs filled in, or which are missing."""
    try:
        return {"text": fill_template(asked["text"], asked["inputs"])}
    except MissingInputs as error:
        return {"error": str(error)}


_FILE: Final = Path("/f.md")


def _as_core_has_it(agent: AgentDefinition) -> dict[str, Any]:
    common = {
        "kind": "local",
        "name": agent.name,
        "description": agent.description,
        "inputConfig": {
            "inputSchema": {
                "type": "object",
                "properties": {
                    agent.input_name: {"type": "string", "description": "The task for the agent."}
                },
                "required": [],
            }
        },
    }
    if agent.display_name is not None:
        common["displayName"] = agent.display_name
    if isinstance(agent, RemoteAgentDefinition):
        given = {
            "auth": agent.auth,
            "agentCardUrl": agent.card_url,
            "agentCardJson": agent.card_json,
        }
        kept = {name: value for name, value in given.items() if value is not None}
        return {**common, "kind": "remote", **kept}
    assert isinstance(agent, LocalAgentDefinition)
    local = {
        **common,
        "promptConfig": {"systemPrompt": agent.prompt.system, "query": agent.prompt.query},
        "modelConfig": {
            "model": agent.model.model,
            "generateContentConfig": _finite(agent.model.generation_config),
        },
        "runConfig": {
            "maxTurns": agent.limits.max_turns,
            "maxTimeMinutes": agent.limits.max_time_minutes,
        },
    }
    if agent.tools is not None:
        local["toolConfig"] = {"tools": list(agent.tools)}
    if agent.mcp_servers:
        local["mcpServers"] = dict(agent.mcp_servers)
    return local


def _finite(config: Any) -> dict[str, Any]:
    """The core's half comes through JSON, which has no infinity."""
    return {name: None if value == float("inf") else value for name, value in config.items()}


SUBJECTS: Final = (
    Subject("subagents.load_file", load_file),
    Subject("subagents.template", template),
)
