from __future__ import annotations

from pathlib import Path

import pytest

from services.state import ApprovalMode
from services.subagents.definition import LocalAgentDefinition
from services.subagents.templating import fill_template
from tests.services.subagents.registries import TOOLS, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def agent(place: Place, name: str) -> LocalAgentDefinition:
    found = place.loaded(builtin=True).definition(name)
    assert isinstance(found, LocalAgentDefinition)
    return found


@pytest.mark.parametrize(
    ("session", "model", "thinking"),
    [
        ("gemini-2.5-flash", "gemini-2.5-pro", {"thinkingBudget": 8192}),
        ("gemini-3-pro-preview", "gemini-3-flash-preview", {"thinkingLevel": "HIGH"}),
        ("auto", "gemini-3-flash-preview", {"thinkingLevel": "HIGH"}),
        ("my-own-model", "gemini-3-flash-preview", {"thinkingLevel": "HIGH"}),
    ],
)
def test_the_investigators_model_depends_on_the_sessions(
    tmp_path: Path, session: str, model: str, thinking: dict[str, object]
) -> None:
    found = agent(Place(tmp_path, session), "codebase_investigator")

    assert found.model.model == model
    assert found.model.generation_config == {
        "temperature": 0.1,
        "topP": 0.95,
        "thinkingConfig": {"includeThoughts": True, **thinking},
    }


def test_the_investigators_model_follows_the_sessions(place: Place) -> None:
    registry = place.loaded(builtin=True)
    place.state.set_model("gemini-3-pro-preview")

    found = registry.definition("codebase_investigator")

    assert isinstance(found, LocalAgentDefinition)
    assert found.model.model == "gemini-3-flash-preview"


def test_the_investigators_report_is_passed_on_as_json(place: Place) -> None:
    found = agent(place, "codebase_investigator")

    assert found.process_output is not None
    assert found.process_output({"SummaryOfFindings": "é"}) == '{\n  "SummaryOfFindings": "é"\n}'
    assert found.tools == ("list_directory", "read_file", "glob", "grep_search")


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (None, ""),
        ({"answer": " a ", "sources": []}, "a"),
        ({"answer": "a", "sources": [" x ", "", "y", "x"]}, "a\n\n**Sources:**\n- x\n- y"),
        ({"sources": ["x"]}, "\n\n**Sources:**\n- x"),
    ],
)
def test_cli_help_lists_its_sources_below_its_answer(
    place: Place, report: object, text: str
) -> None:
    found = agent(place, "cli_help")

    assert found.process_output is not None
    assert found.process_output(report) == text


def test_cli_help_has_one_tool_that_is_its_own(place: Place) -> None:
    (tool,) = agent(place, "cli_help").tools or ()

    assert not isinstance(tool, (str, dict))
    assert tool.name == "get_internal_docs"


def test_every_prompt_uses_only_the_inputs_of_a_run(place: Place) -> None:
    inputs = {"cliVersion": "1", "activeModel": "m", "today": "t"}

    for name, asked in (
        ("codebase_investigator", "objective"),
        ("cli_help", "question"),
        ("generalist", "request"),
    ):
        found = agent(place, name)
        assert found.input_name == asked
        assert fill_template(found.prompt.system or "", inputs)
        assert "WORK" in fill_template(found.prompt.query or "", {**inputs, asked: "WORK"})


def test_the_generalist_has_all_tools_and_the_main_agents_instruction(place: Place) -> None:
    found = agent(place, "generalist")

    assert found.tools == tuple(TOOLS)
    assert (found.prompt.system, found.prompt.query) == ("core", "${request}")
    assert found.model.generation_config == {}


def test_the_generalist_is_for_other_work_in_plan_mode(place: Place) -> None:
    registry = place.loaded(builtin=True)
    before = registry.descriptions()["generalist"]
    place.state.set_approval_mode(ApprovalMode.PLAN)

    now = registry.definition("generalist")

    assert now is not None
    assert now.description == registry.descriptions()["generalist"] != before
