from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from services.settings import settings_from_parameters
from services.subagents.definition import LocalAgentDefinition
from services.subagents.loader import load_agents
from tests.services.subagents.registries import Place

SKIPPED = (
    "Skipping project agents due to untrusted folder. "
    "To enable, ensure that the project root is trusted."
)
BUILT_IN = ["codebase_investigator", "cli_help", "generalist"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def duplicate(name: str) -> tuple[str, str]:
    message = (
        f"Duplicate agent name '{name}' detected. The later definition will be ignored. "
        "Rename one of the agents to avoid this conflict."
    )
    return "warning", message


def test_built_in_agents_come_first_then_project_user_and_extensions(
    place: Place, tmp_path: Path
) -> None:
    extension = tmp_path / "extension" / "agents"
    place.write(extension, "ext")
    place.write(place.user, "user")
    file = place.write(place.project, "own")
    known = place.registry().acknowledged
    known.add("own", load_agents(file.parent).agents[0].hash or "")

    registry = place.loaded(builtin=True, extensions=lambda: [load_agents(extension)])

    assert registry.names() == [*BUILT_IN, "own", "user", "ext"]
    assert [agent.name for agent in registry.definitions()] == registry.names()
    assert place.feedback == []


def test_of_two_agents_with_one_name_the_first_wins_with_a_warning(
    place: Place, tmp_path: Path
) -> None:
    extension = tmp_path / "extension"
    place.write(place.user, "one", "description: first")
    place.write(place.user, "generalist")
    (place.user / "two.md").write_text((place.user / "one.md").read_text())
    place.write(extension, "one", "description: third")

    registry = place.loaded(builtin=True, extensions=lambda: [load_agents(extension)])

    one = registry.definition("one")
    assert one is not None
    assert one.description == "first"
    assert registry.names() == [*BUILT_IN, "one"]
    assert place.feedback == [duplicate("generalist"), duplicate("one"), duplicate("one")]


def test_settings_can_disable_all_agents(place: Place) -> None:
    place.write(place.user, "user")

    registry = place.loaded(builtin=True, parameters={"enableAgents": False})

    assert registry.definitions() == []
    assert place.feedback == []


def test_a_project_that_is_not_trusted_has_no_agents(place: Place) -> None:
    place.write(place.project, "own")

    registry = place.loaded(parameters={"trustedFolder": False})

    assert (registry.names(), place.unknown) == ([], [])
    assert place.feedback == [("info", SKIPPED)]


def test_without_the_setting_folder_trust_is_ignored(place: Place) -> None:
    place.write(place.project, "own")

    place.loaded(parameters={"trustedFolder": False, "folderTrust": False})

    assert (place.feedback, place.unknown) == ([], ["own"])


def test_a_projects_agent_is_registered_after_its_acknowledgment(place: Place) -> None:
    file = place.write(place.project, "own")
    registry = place.loaded()
    assert (registry.names(), place.unknown) == ([], ["own"])

    assert [agent.name for agent in registry.waiting()] == ["own"]

    asyncio.run(registry.acknowledge("own"))
    assert (registry.names(), registry.waiting(), place.refreshed) == (["own"], [], 1)
    asyncio.run(registry.acknowledge("own"))
    assert (place.feedback, place.refreshed) == ([], 1)
    assert place.loaded().names() == ["own"]

    file.write_text(file.read_text() + "changed")
    assert place.loaded().names() == []
    assert place.unknown == ["own", "own"]


def test_a_file_that_fails_is_reported_and_the_others_load(place: Place) -> None:
    place.write(place.user, "good")
    broken = place.write(place.user, "bad", "tools: [nothing]")

    registry = place.loaded()

    assert registry.names() == ["good"]
    message = (
        f"Agent loading error: Failed to load agent from {broken}: Validation failed: "
        "Agent Definition:\ntools.0: Invalid tool name"
    )
    assert place.feedback == [("error", message)]


def test_agents_that_name_agents_as_tools_are_named_with_their_circle(place: Place) -> None:
    place.write(place.user, "good")
    first = place.write(place.user, "first", "tools: [second]")
    place.write(place.user, "second", "tools: [third, read_file]")
    place.write(place.user, "third", "tools: [first, good]")
    caller = place.write(place.user, "caller", "tools: [invoke_agent]")

    registry = place.loaded()

    warnings = [message for severity, message in place.feedback if severity == "warning"]
    assert registry.names() == ["caller", "good"]
    assert len(warnings) == 4
    assert warnings[0] == (
        f"Agent 'caller' lists invoke_agent among its tools ({caller}). Agents cannot call "
        'agents. Take this out of "tools"; let the main agent call both.'
    )
    assert warnings[1] == (
        f"Agent 'first' lists second among its tools ({first}), which makes a circle: "
        "first → second → third → first. Agents cannot call agents. "
        'Take this out of "tools"; let the main agent call both.'
    )
    assert "lists first, good among its tools" in warnings[3]


def test_the_built_in_generalist_is_no_reason_for_a_warning(place: Place) -> None:
    place.loaded(builtin=True)

    assert place.feedback == []


def test_a_disabled_agent_is_discovered(place: Place) -> None:
    place.write(place.user, "user")

    registry = place.loaded(
        builtin=True, parameters={"agents": {"overrides": {"user": {"enabled": False}}}}
    )

    assert registry.names() == BUILT_IN
    assert registry.definition("user") is None
    assert registry.discovered_names() == [*BUILT_IN, "user"]


def test_reloading_says_what_has_changed(place: Place) -> None:
    place.write(place.user, "same")
    place.write(place.user, "gone").touch()
    changed = place.write(place.user, "changed")
    registry = place.loaded(builtin=True)
    (place.user / "gone.md").unlink()
    changed.write_text(changed.read_text() + "more")
    place.write(place.user, "new")
    place.write(place.user, "bad", "tools: 5")

    result = asyncio.run(registry.reload())

    assert (result.total_loaded, result.local_count, result.remote_count) == (6, 6, 0)
    assert (result.new_agents, result.updated_agents) == (["new"], ["changed"])
    assert result.deleted_agents == ["gone"]
    assert len(result.errors) == 1
    assert result.errors[0].startswith("Agent loading error: Failed to load agent from ")
    assert place.refreshed == 1


def test_reloading_takes_new_settings(place: Place) -> None:
    place.write(place.user, "user")
    registry = place.loaded()
    off = settings_from_parameters({"agents": {"overrides": {"user": {"enabled": False}}}})

    result = asyncio.run(registry.reload(off))

    assert (registry.names(), result.deleted_agents) == ([], ["user"])


def test_the_registry_describes_each_agent_by_name(place: Place) -> None:
    place.write(place.user, "user", "description: does this")
    registry = place.loaded(builtin=True)

    assert registry.descriptions() == {
        agent.name: agent.description for agent in registry.definitions()
    }
    assert list(registry.descriptions()) == registry.names()


def test_looking_agents_up_does_not_read_anything_again(place: Place) -> None:
    file = place.write(place.user, "user")
    registry = place.loaded()
    file.unlink()

    agent = registry.definition("user")

    assert isinstance(agent, LocalAgentDefinition)
    assert agent.prompt.system == "Do it."
