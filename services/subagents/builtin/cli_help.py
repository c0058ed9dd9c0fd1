"""`cli_help`: answers questions about this product from its own documentation.

Source: core `agents/cli-help-agent.ts`; the prompts are this product's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from services.model.names import ALIAS_FLASH
from services.subagents.definition import (
    AgentModel,
    AgentPrompt,
    BuiltInAgent,
    LocalAgentDefinition,
    OutputConfig,
    RunLimits,
)
from services.tools.contract import Tool
from services.wire import JsonObject, js_trim

__all__ = ["cli_help"]

_NAME: Final = "cli_help"
_DESCRIPTION: Final = (
    "Answers questions about Gemini CLI itself from its documentation: what it can do, how it is "
    "configured, how policies and agents of one's own are written."
)
_REPORT: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "description": "The answer, in as much detail as it takes."},
        "sources": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The files of the documentation that it is taken from.",
        },
    },
    "required": ["answer", "sources"],
    "additionalProperties": False,
}
# As long as upstream's query, because the length decides on the history's compression.
_QUERY: Final = """\
What somebody asks about Gemini CLI and what you are to answer:
<question>
${question}
</question>"""
_PROMPT: Final = """\
You answer questions about Gemini CLI: what it does, how it is configured, what state it is in.

What is known of this session:
- version: ${cliVersion}
- model in use: ${activeModel}
- today: ${today}

`get_internal_docs` gives you the documentation: called without a path it lists all files, with a \
path it returns one. Read what bears on the question before you answer it. Rely on what is written \
there and on the facts above, not on memory, and say so where they leave something open. No user \
can answer questions: take the likeliest meaning.

Then call `complete_task` with a `report`: the `answer`, and as `sources` the files you used."""


def cli_help(documentation: Callable[[], Tool]) -> BuiltInAgent:
    """Make the agent; `documentation` makes the tool that reads the documentation."""

    def make() -> LocalAgentDefinition:
        return LocalAgentDefinition(
            name=_NAME,
            display_name="CLI Help Agent",
            description=_DESCRIPTION,
            input_name="question",
            output=OutputConfig(
                name="report", description="The answer and where it is from.", schema=_REPORT
            ),
            process_output=_report_text,
            model=AgentModel(
                model=ALIAS_FLASH,
                generation_config={
                    "temperature": 0.1,
                    "topP": 0.95,
                    "thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1},
                },
            ),
            limits=RunLimits(max_time_minutes=3, max_turns=10),
            tools=(documentation(),),
            prompt=AgentPrompt(system=_PROMPT, query=_QUERY),
        )

    return BuiltInAgent(name=_NAME, describe=lambda: _DESCRIPTION, make=make)


def _report_text(report: Any) -> str:
    """Return the answer, followed by its distinct sources."""
    if not report:
        return ""
    answer = js_trim(report.get("answer") or "")
    sources = dict.fromkeys(js_trim(source or "") for source in report.get("sources") or [])
    listed = "\n".join(f"- {source}" for source in sources if source)
    return f"{answer}\n\n**Sources:**\n{listed}" if listed else answer
