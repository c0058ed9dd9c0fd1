"""The same folders and settings through this registry and through the published core's."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from services.model.aliases import ModelAlias, ModelOverride
from services.model.configs import ModelConfigs
from services.model.names import AccessFlags
from services.state import AgentsDiscovered, CoreEvent
from services.subagents.definition import LocalAgentDefinition
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.core_twin import DEFINITIONS, from_core
from tests.services.subagents.registries import TOOLS, Place

pytestmark = needs_core

# None of them replaces tools: the core's registry then ends with a JavaScript error.
OVERRIDES: dict[str, Any] = {
    "generalist": {"enabled": True, "runConfig": {"maxTurns": 2}},
    "cli_help": {"enabled": False},
    "codebase_investigator": {
        "modelConfig": {"generateContentConfig": {"topK": 1, "thinkingConfig": {"a": 1}}},
    },
    "served": {"mcpServers": {"more": {"command": "c"}}},
    "dropped": {"enabled": True},
    "routed": {"modelConfig": {"model": "auto"}},
}
AGENTS = {
    "b": "tools: [read_file]",
    "a": "temperature: 0.2\nmodel: auto",
    "bad": "tools: [nothing]",
    "cli_help": "",
    "generalist": "",
    "served": "mcp_servers: {own: {command: d}}",
    "dropped": "mcp_servers: {own: {command: d}}",
    "routed": "model: flash",
}


class Recorded(ModelConfigs):
    """Keeps what is registered, in its order."""

    def __init__(self) -> None:
        super().__init__(AccessFlags())
        self.registered: list[list[Any]] = []

    def register_runtime_alias(self, name: str, alias: ModelAlias) -> None:
        self.registered.append([name, {"model": alias.model, **config(alias.config)}])
        super().register_runtime_alias(name, alias)

    def register_runtime_override(self, override: ModelOverride) -> None:
        self.registered.append([override.match, config(override.config)])
        super().register_runtime_override(override)


def config(given: Any) -> dict[str, Any]:
    return {"generateContentConfig": dict(given)} if given else {}


@pytest.mark.slow
def test_agents_changes_and_feedback_equal_the_cores(tmp_path: Path) -> None:
    jobs, ours = [], []
    for number, (model, trusted) in enumerate(
        [("gemini-2.5-flash", True), ("auto", False), ("gemini-3-pro-preview", True)]
    ):
        place = prepared(tmp_path / str(number), model)
        job = {"model": model, "trusted": trusted, "overrides": OVERRIDES, "tools": TOOLS}
        folders = {"root": str(place.workspace.root), "home": str(place.workspace.home)}
        jobs.append({"kind": "registry", **job, **folders})
        ours.append(outcome(place, trusted))

    for own, theirs in zip(ours, from_core(jobs, DEFINITIONS), strict=True):
        assert own["agents"] == theirs["agents"]
        assert own["discovered"] == theirs["discovered"]
        assert own["feedback"] == theirs["feedback"]
        assert own["models"] == theirs["models"]


def prepared(base: Path, model: str) -> Place:
    place = Place(base, model)
    place.models = Recorded()
    for name, more in AGENTS.items():
        place.write(place.user, name, more)
    known = place.write(place.project, "known")
    place.write(place.project, "unknown")
    place.write(place.project, "b")
    (place.project / "_left.md").write_text(known.read_text())
    acknowledged = place.registry().acknowledged
    for name in ("known", "b"):
        acknowledged.add(name, sha256((place.project / f"{name}.md").read_bytes()).hexdigest())
    place.feedback.clear()
    return place


def outcome(place: Place, trusted: bool) -> dict[str, Any]:
    feedback: list[Any] = []

    def note(event: CoreEvent) -> None:
        if isinstance(event, AgentsDiscovered):
            feedback.append(list(event.names))
        elif hasattr(event, "severity"):
            feedback.append([event.severity, event.message])

    place.events.subscribe(note)
    registry = place.loaded(
        builtin=True,
        parameters={"trustedFolder": trusted, "agents": {"overrides": OVERRIDES}},
    )
    assert isinstance(place.models, Recorded)
    return {
        "agents": [about(agent) for agent in registry.definitions()],
        "discovered": registry.discovered_names(),
        "feedback": feedback,
        "models": place.models.registered,
    }


def about(agent: Any) -> dict[str, Any]:
    assert isinstance(agent, LocalAgentDefinition)
    given = {
        "name": agent.name,
        "displayName": agent.display_name,
        "model": agent.model.model,
        "generation": agent.model.generation_config or None,
        "minutes": agent.limits.max_time_minutes,
        "turns": agent.limits.max_turns,
        "tools": None
        if agent.tools is None
        else [each if isinstance(each, str) else each.name for each in agent.tools],
        "servers": dict(agent.mcp_servers) or None,
        "inputs": [agent.input_name],
        "output": agent.output and agent.output.name,
        "outputFields": agent.output and list(agent.output.schema["properties"]),
    }
    return {name: value for name, value in given.items() if value is not None}
