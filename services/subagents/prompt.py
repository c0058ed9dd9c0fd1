"""The prompts of a child: system instruction, initial history and first message.

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
    """The texts of one run. As upstream, templates are filled on use."""

    definition: LocalAgentDefinition
    inputs: JsonObject
    """The result of `augmented`."""
    prompts: Prompts
    """The texts of every agent."""
    tools: ToolRegistry
    """The child's."""
    folders: tuple[Path, ...]
    """The child's workspace."""

    def start_history(self) -> list[Content]:
        """Return the initial history of the chat, usually empty.

        Raises:
            NothingToSay: the definition has neither instruction nor conversation.
            MissingInputs: an input of a template is missing.
        """
        own = self.definition.prompt
        if not own.system and own.initial_messages is None:
            raise NothingToSay(_NOTHING_TO_SAY)
        return [self._filled(content) for content in own.initial_messages or ()]

    def system_instruction(self) -> str:
        """The system instruction; empty where the definition has no system prompt.

        Raises:
            MissingInputs: an input of a template is missing.
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
        """Return the agent's query. Call it when the chat is open.

        Raises:
            MissingInputs: an input of a template is missing.
        """
        own = self.definition.prompt.query
        return fill_template(own, self.inputs) if own else DEFAULT_QUERY

    def first_parts(self, query: str) -> list[Part]:
        """Return the first message: the memory of project and servers, and the query."""
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
    """Return the inputs with `cliVersion`, `activeModel` and `today`, which replace others.

    Args:
        inputs: the caller's.
        version: the product's.
        model: the parent's active model.
        now_ms: since the epoch.
    """
    today = datetime.fromtimestamp(now_ms / 1000, UTC)
    return {
        **inputs,
        "cliVersion": version,
        "activeModel": model,
        "today": f"{today.month}/{today.day}/{today.year}",
    }
