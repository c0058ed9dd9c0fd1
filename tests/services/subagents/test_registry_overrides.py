"""What settings change about agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.settings import SettingError, settings_from_file, settings_from_parameters
from services.settings.agents import read_overrides
from services.subagents.definition import (
    AgentModel,
    AgentPrompt,
    LocalAgentDefinition,
    RunLimits,
)
from services.subagents.overriding import overridden
from tests.services.subagents.registries import Place

AGENT = LocalAgentDefinition(
    name="a",
    description="d",
    hash="h",
    prompt=AgentPrompt(system="s"),
    model=AgentModel(model="flash", generation_config={"topP": 0.9, "thinkingConfig": {"x": 1}}),
    limits=RunLimits(max_turns=5, max_time_minutes=6),
    tools=("read_file",),
    mcp_servers={"s": {"command": "c"}},
    process_output=str,
)


def changed(**override: Any) -> LocalAgentDefinition:
    return overridden(AGENT, read_overrides({"a": override})["a"])


def test_without_an_override_nothing_changes() -> None:
    assert overridden(AGENT, None) is AGENT


def test_every_override_drops_the_fields_that_upstream_does_not_copy() -> None:
    assert changed(enabled=True) == replace(AGENT, mcp_servers={})


def test_a_model_config_merges_deeply_and_limits_one_by_one() -> None:
    config = {"thinkingConfig": {"y": 2}, "stopSequences": ["x"]}

    agent = changed(modelConfig={"generateContentConfig": config}, runConfig={"maxTurns": 9})

    assert agent.model == AgentModel(
        model="flash",
        generation_config={
            "topP": 0.9,
            "thinkingConfig": {"x": 1, "y": 2},
            "stopSequences": ["x"],
        },
    )
    assert agent.limits == RunLimits(max_turns=9, max_time_minutes=6)
    assert changed(modelConfig={"model": "pro"}).model.model == "pro"
    assert AGENT.model.generation_config["thinkingConfig"] == {"x": 1}


def test_servers_are_added() -> None:
    assert changed(mcpServers={"t": {"url": "u"}}).mcp_servers == {
        "s": {"command": "c"},
        "t": {"url": "u"},
    }


def test_experimental_agents_are_off_unless_switched_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    registry = place.registry()
    registry._register_local(replace(AGENT, experimental=True), "user")
    assert registry.names() == []

    on = {"agents": {"overrides": {"a": {"enabled": True}}}}
    registry = place.registry(parameters=on)
    registry._register_local(replace(AGENT, experimental=True), "user")
    assert registry.names() == ["a"]


def test_overrides_reach_built_in_agents_and_their_model(tmp_path: Path) -> None:
    place = Place(tmp_path)
    override = {"runConfig": {"maxTurns": 1}, "modelConfig": {"model": "pro"}}
    parameters = {"agents": {"overrides": {"codebase_investigator": override}}}

    agent = place.loaded(builtin=True, parameters=parameters).definition("codebase_investigator")

    assert isinstance(agent, LocalAgentDefinition)
    assert (agent.limits.turns, agent.limits.minutes) == (1, 10)
    assert (agent.model.model, agent.model.generation_config["temperature"]) == ("pro", 0.1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (5, "agents.overrides.a: a mapping expected, not 5"),
        ({"enabled": 1}, "agents.overrides.a.enabled: true or false expected, not 1"),
        ({"tools": "x"}, "agents.overrides.a.tools: a list of texts expected, not 'x'"),
        ({"modelConfig": {"model": 1}}, "agents.overrides.a.modelConfig.model: a text expected"),
        (
            {"modelConfig": {"generateContentConfig": []}},
            "agents.overrides.a.modelConfig.generateContentConfig: a mapping expected, not []",
        ),
        (
            {"runConfig": {"maxTurns": 1.5}},
            "agents.overrides.a.runConfig.maxTurns: a whole number expected, not 1.5",
        ),
        (
            {"runConfig": {"maxTimeMinutes": "x"}},
            "agents.overrides.a.runConfig.maxTimeMinutes: a number expected, not 'x'",
        ),
        ({"mcpServers": 1}, "agents.overrides.a.mcpServers: a mapping expected, not 1"),
    ],
)
def test_an_error_names_an_invalid_override_and_its_place(override: Any, message: str) -> None:
    for settings in (settings_from_parameters, settings_from_file):
        with pytest.raises(SettingError) as caught:
            settings({"agents": {"overrides": {"a": override}}})
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize("tools", [[], ["glob"]])
def test_an_agent_whose_tools_settings_would_replace_is_left_out(
    tmp_path: Path, tools: list[str]
) -> None:
    place = Place(tmp_path)
    place.write(place.user, "helper")
    place.write(place.user, "other")
    overrides = {"helper": {"tools": tools}, "generalist": {"tools": tools}}
    registry = place.loaded(builtin=True, parameters={"agents": {"overrides": overrides}})
    assert registry.names() == ["codebase_investigator", "cli_help", "other"]
    problem = "Cannot set property toolConfig of #<Object> which has only a getter"
    assert place.feedback == [
        ("error", f'Error registering {where} agent "{name}": {problem}')
        for where, name in (("built-in", "generalist"), ("user", "helper"))
    ]
