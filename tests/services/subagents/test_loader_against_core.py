"""The same files through this loader and through the published core's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.subagents.definition import (
    AgentDefinition,
    LocalAgentDefinition,
    RemoteAgentDefinition,
)
from services.subagents.loader import AgentLoadError, parse_agent_file
from services.subagents.templating import MissingInputs, fill_template
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.core_twin import DEFINITIONS, from_core

pytestmark = needs_core

FRONT = [
    "",
    "# nothing but this",
    "just text",
    "[]",
    "name: a",
    "name: A B\ndescription: ''",
    "name: a\ndescription: d",
    "name: a\ndescription: d\nfoo: 1\n7: x\nnull: y\ntrue: z",
    "kind: local\nname: a-_9\ndescription: d\ndisplay_name: Ä\nmodel: yes\ntemperature: 0",
    "kind: other\nname: a\ndescription: d",
    "kind: remote\nname: a",
    "name: 1\ndescription: 2020-01-01\ndisplay_name: ~\nmodel: [x]\ntemperature: .nan",
    "name: a\ndescription: 2020-1-1 10:20:30\nfoo: 1",
    "name: a\ndescription: d\nmax_turns: -1.5\ntimeout_mins: 10.0\ntemperature: .inf",
    "name: a\ndescription: d\nmax_turns: 0\ntimeout_mins: 1e1",
    "name: a\ndescription: d\nmax_turns: 0x1_0\ntimeout_mins: 0o17\ntemperature: 1_0.5",
    "name: a\ndescription: d\nmax_turns: '3'\ntimeout_mins: true",
    "name: a\ndescription: on\ndisplay_name: 'No'\nmodel: 12:30:45",
    "name: a\ndescription: d\ntools: []",
    "name: a\ndescription: d\ntools: read_file",
    (
        "name: a\ndescription: d\ntools: ['*', mcp_*, mcp_s_*, mcp_s_t, read_file, invoke_agent,"
        " search_file_content, discovered_tool_x, 'mcp_a b_c', mcp__t, mcp_s_, mcp_s__, mcp_s,"
        " nothing, Read_File, 1, null]"
    ),
    "name: a\ndescription: d\nmcp_servers: {s: {command: 1, type: x, timeout: t, extra: 1}}",
    "name: a\ndescription: d\nmcp_servers: {s: {type: 1, args: [1, a], env: {A: 1}}, t: 5}",
    (
        "name: a\ndescription: d\nmcp_servers:\n  s:\n    command: c\n    args: [x]\n    cwd: /w\n"
        "    env: {A: b}\n    timeout: 5\n    trust: true\n    description: what\n"
        "    include_tools: [p]\n    exclude_tools: [q]\n    unknown: dropped\n"
        "  h:\n    http_url: http://h\n    url: u\n    headers: {X: y}\n    tcp: t\n    type: sse\n"
        "    auth: {type: google-credentials, scopes: [s], more: 1}\n"
        "  o:\n    auth: {type: oauth, client_id: c, token_url: 'https://t', audiences: [a]}"
    ),
    "name: a\ndescription: d\nmcp_servers: {s: {auth: {type: foo}}, t: {auth: {}}, u: {auth: 1}}",
    "name: a\ndescription: d\nmcp_servers: {s: {auth: {type: oauth, token_url: x, issuer: 5}}}",
    "name: a\ndescription: d\nmcp_servers: []",
    "name: a\nagent_card_url: https://h/card",
    "name: a\nagent_card_url: h/card\ndescription: ''",
    "name: A\nagent_card_url: mailto:x\nbody: 1",
    'name: a\nagent_card_json: \'{"url": "http://h"}\'\ndisplay_name: D',
    "name: a\nagent_card_json: '{'",
    "name: a\nagent_card_json: '[NaN]'",
    "name: a\nagent_card_url: https://h\nagent_card_json: '{}'",
    "name: a\nagent_card_url: https://h\nmodel: m",
    "name: a\nagent_card_url: https://h\nmodel: m\nkind: local",
    "name: a\nauth: {type: apiKey, key: ''}\nagent_card_url: https://h",
    "name: a\nauth: {type: apiKey, key: k, name: X-K, more: 1}\nagent_card_url: https://h",
    "name: a\nauth: {type: http, scheme: Bearer}\nagent_card_url: https://h",
    "name: a\nauth: {type: http, scheme: Bearer, token: t, value: ''}\nagent_card_url: https://h",
    "name: a\nauth: {type: http, scheme: Basic}\nagent_card_json: '{'",
    "name: a\nauth: {type: http, scheme: Basic, username: u, password: p}\nagent_card_json: '{}'",
    "name: a\nauth: {type: http, scheme: Digest}\nagent_card_url: https://h",
    "name: a\nauth: {type: http, scheme: '', value: v}\nagent_card_url: https://h",
    "name: a\nauth: {type: http, scheme: Digest, value: v}\nagent_card_url: https://h",
    "name: a\nauth: {type: http}\nagent_card_url: https://h",
    "name: a\nauth: {type: google-credentials, scopes: [s]}\nagent_card_url: https://h",
    "name: a\nauth: {type: oauth, client_id: c, scopes: [s], issuer: x}\nagent_card_url: https://h",
    "name: a\nauth: {type: oauth, client_id: c, token_url: 'https://t'}\nagent_card_url: https://h",
    "name: a\nauth: {type: nothing}\nagent_card_url: https://h",
    "name: a\nauth: {}\nagent_card_url: https://h",
    "name: a\nauth: bearer\nagent_card_url: https://h",
    "- name: a\n  agent_card_url: foo\n- name: B",
    "- name: a\n  agent_card_url: https://h\n- name: b\n  agent_card_json: '{}'\n  description: d",
    "- a\n- {}\n- null",
    "base: &b {name: a}\n<<: *b\ndescription: d",
    "<<: [{name: a, description: one}, {description: two}]",
    "name: a\ndescription: &d |\n  two\n  lines\nmodel: *d",
    "name: a\ndescription: >-\n  folded\n  text\ntools:\n- glob",
    "name: !!str 5\ndescription: !!str yes",
    "? [1, null, {a: b}, true]\n: x\nname: a\ndescription: d",
    "auth: 1\n<<: {type: x, auth: 2}\nname: a\ndescription: d",
    "name: a\ndescription: |\n  two\n  lines",
    "? name\n: a\n? description\n: d",
]
WHOLE = [
    "",
    "no front matter",
    " ---\nname: a\n---",
    "\ufeff---\nname: a\n---",
    "---\r\nname: a\r\ndescription: d\r\n---\r\n\r\n body \r\n",
    "---\nname: a\ndescription: d\n---",
    "---\nname: a\ndescription: d\n--- \nx",
    "---\nname: a\ndescription: d\n---\n\n  first\n\n---\nsecond \u3000\n",
    "---\nname: a\ndescription: d\n---x\nbody",
    "----\nname: a\n---",
]
TEMPLATES: list[tuple[str, dict[str, Any]]] = [
    ("${a} and ${b}, ${a}", {"a": "x${b}", "b": 1.0}),
    ("$${a} ${ä} ${a-b} ${}", {"a": "$&$1"}),
    ("${a}${b}${c}${d}", {"a": None, "b": True, "c": [1, None, [2, "x"]], "d": {"e": 1}}),
    ("${x} ${y} ${x}", {"b": 1, "a": 2}),
    ("${x}", {}),
    ("${a}", {"a": 1e21}),
]


REFUSED = [
    "name: a\nname: b",
    "name: [a",
    "name: *x",
    "name: !x y",
    "a: b: c",
    "\tname: a",
    "<<: 5",
    "a: !!int x",
    "a: !!null ''",
]


@pytest.fixture(scope="module")
def core() -> Iterator[Any]:
    """What the core makes of a file or of a template; all are asked about at once."""
    files = [{"kind": "file", "text": text} for text in [*texts(), *map(framed, REFUSED)]]
    filled = [{"kind": "template", "text": text, "inputs": inputs} for text, inputs in TEMPLATES]
    answers = from_core([*files, *filled], DEFINITIONS)
    return iter(answers)


def texts() -> list[str]:
    return [*map(framed, FRONT), *WHOLE]


def framed(front: str) -> str:
    return f"---\n{front}\n---\n Do it. \n"


@pytest.mark.slow
def test_every_file_and_every_template_means_the_same(core: Iterator[Any]) -> None:
    for text in texts():
        assert outcome(text) == next(core), text
    for front in REFUSED:
        start = "Failed to load agent from /f.md: YAML frontmatter parsing failed: "
        assert next(core)["error"].startswith(start)
        assert outcome(framed(front))["error"].startswith(start)
    for text, inputs in TEMPLATES:
        assert filled(text, inputs) == next(core)


def outcome(text: str) -> dict[str, Any]:
    try:
        return {"agents": [as_core_has_it(each) for each in parse_agent_file(Path("/f.md"), text)]}
    except AgentLoadError as error:
        return {"error": str(error)}


def filled(text: str, inputs: dict[str, Any]) -> dict[str, str]:
    try:
        return {"text": fill_template(text, inputs)}
    except MissingInputs as error:
        return {"error": str(error)}


def as_core_has_it(agent: AgentDefinition) -> dict[str, Any]:
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
            "generateContentConfig": finite(agent.model.generation_config),
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


def finite(config: dict[str, Any]) -> dict[str, Any]:
    """The core's half comes through JSON, which has no infinity."""
    return {name: None if value == float("inf") else value for name, value in config.items()}
