"""What a child is told to begin with: system instruction, first history, first message.

Source: core `agents/local-executor.ts` (`buildSystemPrompt`, `createChatObject`, `runInternal`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from services.prompts import Prompts
from services.subagents.definition import DEFAULT_QUERY, LocalAgentDefinition
from services.subagents.templating import fill_template
from services.tools.registry import ToolRegistry
from services.wire import Content, JsonObject, Part

__all__ = ["ChildPrompt", "NothingToSay", "augmented"]

_NOTHING_TO_SAY: Final = "PromptConfig must define either `systemPrompt` or `initialMessages`."
_SKILL_TOOL: Final = "activate_skill"


class NothingToSay(ValueError):
    """A definition has neither a system prompt nor initial messages. `name` is the wire's."""

    name = "Error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildPrompt:
    """The texts of one run; templates are filled when they are needed, as upstream does."""

    definition: LocalAgentDefinition
    inputs: JsonObject
    """Augmented already."""
    prompts: Prompts
    """What every agent is told."""
    tools: ToolRegistry
    """The child's."""
    folders: tuple[Path, ...]
    """The workspace, as the child sees it."""

    def start_history(self) -> list[Content]:
        """What the chat begins with, before it has a recording; usually nothing.

        Raises:
            NothingToSay: there is neither instruction nor conversation.
            MissingInputs: an input that a template names is missing.
        """
        own = self.definition.prompt
        if not own.system and own.initial_messages is None:
            raise NothingToSay(_NOTHING_TO_SAY)
        return [self._filled(content) for content in own.initial_messages or ()]

    def system_instruction(self) -> str:
        """The system instruction; empty where the definition has no system prompt.

        Raises:
            MissingInputs: an input that a template names is missing.
        """
        own = self.definition.prompt
        if not own.system:
            return ""
        return self.prompts.agent_instruction(
            fill_template(own.system, self.inputs),
            folders=self.folders,
            skills=self.tools.get(_SKILL_TOOL) is not None,
            structured=self.definition.output is not None,
        )

    def query(self) -> str:
        """What the agent is asked. Call it when the chat is open.

        Raises:
            MissingInputs: an input that a template names is missing.
        """
        own = self.definition.prompt.query
        return fill_template(own, self.inputs) if own else DEFAULT_QUERY

    def first_parts(self, query: str) -> list[Part]:
        """The first message: what project and servers say, and the query."""
        memory = self.prompts.session_memory()
        texts = [memory, query] if memory else [query]
        return [{"text": text} for text in texts]

    def _filled(self, content: Content) -> Content:
        parts = [
            {"text": fill_template(part["text"], self.inputs)}
            if part.get("text") is not None
            else part
            for part in content.get("parts") or ()
        ]
        return {**content, "parts": parts}


def augmented(inputs: JsonObject, *, version: str, model: str, now_ms: int) -> JsonObject:
    """The inputs with what every agent may want to know; these win over inputs of their names.

    Args:
        inputs: the caller's.
        version: our own.
        model: the parent's active one.
        now_ms: since the epoch.
    """
    today = datetime.fromtimestamp(now_ms / 1000, UTC)
    return {
        **inputs,
        "cliVersion": version,
        "activeModel": model,
        "today": f"{today.month}/{today.day}/{today.year}",
    }
