"""`update_topic`: the model reports what it is working on.

Source: core `tools/topicTool.ts`, `config/topicState.ts`.
"""

from __future__ import annotations

import re
from typing import ClassVar

from agent_protocol.events import ToolDisplay
from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import ToolExecution, ToolKind, ToolResult
from services.tools.host import ToolHost
from services.tools.parameters import WAIT_FOR_PREVIOUS, arguments, string
from services.wire import JsonObject, js_trim

__all__ = ["UpdateTopicTool"]


class UpdateTopicTool(DeclarativeTool):
    """Sets the session's topic and shows it to the user."""

    name = "update_topic"
    display_name = "Update Topic Context"
    kind = ToolKind.THINK
    description = (
        "Tell the user where the work stands. Give title and summary when a new phase of the "
        "work begins or its direction changes; strategic_intent alone otherwise."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["strategic_intent"],
        title=string("Title of the phase that begins."),
        summary=string(
            "What the phase before achieved and what this one is for, in 5 to 10 "
            "sentences. Needed when the title changes."
        ),
        strategic_intent=string("One sentence: what you are about to do."),
        wait_for_previous=WAIT_FOR_PREVIOUS,
    )

    def __init__(self, host: ToolHost) -> None:
        super().__init__(host)
        self.last_intent = ""
        """The intent that is shown for an empty one."""


@UpdateTopicTool.builds
class _UpdateTopic(BuiltinInvocation):
    def __init__(self, tool: UpdateTopicTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._tool = tool

    @property
    def shown_name(self) -> str:
        return UpdateTopicTool.name

    def description(self) -> str:
        title: str | None = self.params.get("title")
        if title:
            return f'Update topic to: "{title}"'
        return f'Update tactical intent: "{self.params["strategic_intent"] or "..."}"'

    async def execute(self, execution: ToolExecution) -> ToolResult:
        state = self.host.state
        title: str = self.params.get("title") or ""
        summary: str = self.params.get("summary") or "..."
        intent: str = self.params["strategic_intent"]
        is_new = bool(js_trim(title)) and js_trim(title) != state.topic_title
        if js_trim(title):
            state.topic_title = _one_line(title)
        if js_trim(intent):
            self._tool.last_intent = _one_line(intent)
        if is_new:
            topic = state.topic_title
            content = f'Current topic: "{topic}"\nTopic summary: {summary}'
            shown = f"## 📂 Topic: **{topic}**\n\n**Summary:**\n{summary}"
            if js_trim(intent):
                content += f"\n\nStrategic Intent: {js_trim(intent)}"
                shown += f"\n\n> [!STRATEGY]\n> **Intent:** {js_trim(intent)}"
        else:
            current = intent or self._tool.last_intent or "..."
            content = f"Strategic Intent: {current}"
            shown = f"> [!STRATEGY]\n> **Intent:** {current}"
        return ToolResult(
            llm_content=content,
            return_display=shown,
            display=ToolDisplay(
                name=title or UpdateTopicTool.display_name,
                description=self.description(),
                format="notice",
            ),
        )


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", js_trim(text))
