"""`codebase_investigator`: reads a codebase and reports on its structure.

Source: core `agents/codebase-investigator.ts`; the prompts are this product's own.
"""

from __future__ import annotations

from typing import Final

from services.model.configs import ModelConfigs
from services.model.names import DEFAULT_PRO, supports_modern_features
from services.state import SessionState
from services.subagents.definition import (
    AgentModel,
    AgentPrompt,
    BuiltInAgent,
    LocalAgentDefinition,
    OutputConfig,
    RunLimits,
)
from services.wire import JsonObject, js_json_pretty

__all__ = ["codebase_investigator"]

_NAME: Final = "codebase_investigator"
_DESCRIPTION: Final = (
    "Reads a codebase and reports how it is built, what depends on what, and where a change would "
    "have to be made. For vague requests, for the cause of a bug, before larger refactorings and "
    "features, and for questions that take more than a look. It brings back a report with files, "
    "symbols and conclusions."
)
_THINKING_BUDGET: Final = 8192
_REPORT: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "SummaryOfFindings": {
            "type": "string",
            "description": "What was found out and what follows from it.",
        },
        "ExplorationTrace": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What was done to find it out, step by step, with the tools used.",
        },
        "RelevantLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "FilePath": {"type": "string"},
                    "Reasoning": {"type": "string"},
                    "KeySymbols": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["FilePath", "Reasoning", "KeySymbols"],
                "additionalProperties": False,
            },
            "description": "The files that matter, and the symbols in them that do.",
        },
    },
    "required": ["SummaryOfFindings", "ExplorationTrace", "RelevantLocations"],
    "additionalProperties": False,
}
# As long as upstream's query, because the length decides on the history's compression.
_QUERY: Final = """\
Look deeply into this codebase: which files and places matter, how they hang together, and what \
an engineer needs to know to reach the goal below before any of that code is changed.
<objective>
${objective}
</objective>"""
_PROMPT: Final = """\
You investigate codebases. Another agent hands you a goal; you read until you can explain the part \
of the code that the goal is about, and report. You change nothing, and you write none of the \
code that the goal may call for.

What a good investigation does:
- It begins at what is certain: names, messages and paths in the goal. It follows them outwards, \
to callers, to definitions, to tests, to configuration.
- It asks why the code is as it is. What looks odd is looked into until it is understood.
- It is complete and no larger than need be: every place that a change would touch or break is in \
it, and nothing that has no bearing.
- It thinks a step ahead. Who calls what would change? Which types, files or formats depend on it? \
What is there already that could be used?

While you work, keep a list: what is to be found out, what is still unclear, what you know by now \
and from where, what turned out not to matter. Bring it up to date after every answer of a tool. \
You have finished when nothing on it is unclear any more.

Your report is the `report` of `complete_task`:
- `SummaryOfFindings`: for a bug, its cause, its effects and how to mend it; for a feature, where \
it belongs and what it takes; for a question, the answer. Say how sure you are.
- `ExplorationTrace`: what you did, one step an entry, for example "Searched for the callers of \
parse_line; there are three."
- `RelevantLocations`: for each file that matters its path, why it matters, and the functions, \
classes or settings in it to look at."""


def codebase_investigator(state: SessionState, models: ModelConfigs) -> BuiltInAgent:
    """Make the agent, whose model depends on the session's."""

    def make() -> LocalAgentDefinition:
        modern = supports_modern_features(state.model)
        model = models.access.preview_flash if modern else DEFAULT_PRO
        thinking: JsonObject = {"includeThoughts": True}
        if supports_modern_features(model):
            thinking["thinkingLevel"] = "HIGH"
        else:
            thinking["thinkingBudget"] = _THINKING_BUDGET
        return LocalAgentDefinition(
            name=_NAME,
            display_name="Codebase Investigator Agent",
            description=_DESCRIPTION,
            input_name="objective",
            output=OutputConfig(
                name="report", description="What the investigation found.", schema=_REPORT
            ),
            process_output=js_json_pretty,
            model=AgentModel(
                model=model,
                generation_config={"temperature": 0.1, "topP": 0.95, "thinkingConfig": thinking},
            ),
            limits=RunLimits(max_time_minutes=10, max_turns=50),
            tools=("list_directory", "read_file", "glob", "grep_search"),
            prompt=AgentPrompt(system=_PROMPT, query=_QUERY),
        )

    return BuiltInAgent(name=_NAME, describe=lambda: _DESCRIPTION, make=make)
