"""`activate_skill`: the instructions of a skill, and access to its files.

Source: core `tools/activate-skill.ts`.
"""

from __future__ import annotations

from typing import Any

from services.skills.loader import Skill
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed_as_shown
from services.tools.contract import (
    ConfirmationDetails,
    ToolErrorType,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.folder_tree import described_folder
from services.tools.host import ToolHost
from services.wire import JsonObject

__all__ = ["ActivateSkillTool"]


class ActivateSkillTool(DeclarativeTool):
    """Returns a skill. It accepts the names that were known when the tool was made."""

    name = "activate_skill"
    display_name = "Activate Skill"
    kind = ToolKind.OTHER

    def __init__(self, host: ToolHost) -> None:
        super().__init__(host)
        # Unlike those of other tools, the parameters depend on the session.
        self.description, self.parameters = _declared(host)  # type: ignore[misc]

    def declaration(self, model: str | None = None) -> JsonObject:
        """The declaration with the names of the current skills."""
        description, parameters = _declared(self.host)
        return {
            "name": self.name,
            "description": description,
            "parametersJsonSchema": parameters,
        }


def _declared(host: ToolHost) -> tuple[str, JsonObject]:
    names = [skill.name for skill in host.skills.skills]
    listed = f" One of: {', '.join(names)}." if names else ""
    description = (
        "Get the instructions of a skill, by its name, and leave to read the files that come with "
        f"it. Use it when a task is what a skill is for, before you begin.{listed}"
    )
    name: dict[str, Any] = {"type": "string", "description": "There are no skills at present."}
    if names:
        name = {"type": "string", "enum": names, "description": "Name of the skill."}
    return description, {
        "type": "object",
        "properties": {"name": name},
        "required": ["name"],
        "additionalProperties": False,
        "$schema": "http://json-schema.org/draft-07/schema#",
    }


@ActivateSkillTool.builds
class _ActivateSkill(BuiltinInvocation):
    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._name: str = params["name"]
        self._tree: str | None = None

    def description(self) -> str:
        skill = self.host.skills.get(self._name)
        if skill is None:
            return f'"{self._name}" (?) unknown skill'
        return f'"{self._name}": {skill.description}'

    def confirmation_details(self) -> ConfirmationDetails | None:
        skill = self.host.skills.get(self._name)
        if skill is None or skill.is_builtin:
            return None
        prompt = (
            f"You are about to enable the specialized agent skill **{self._name}**.\n\n"
            f"**Description:**\n{skill.description}\n\n"
            f"**Resources to be shared with the model:**\n{self._resources(skill)}"
        )
        return ConfirmationDetails(
            type="info", title=f"Activate Skill: {self._name}", fields={"prompt": prompt}
        )

    async def execute(self, execution: ToolExecution) -> ToolResult:
        skills = self.host.skills
        skill = skills.get(self._name)
        if skill is None:
            known = ", ".join(each.name for each in skills.skills)
            fault = f'Skill "{self._name}" not found. Available skills are: {known}'
            return failed_as_shown(fault, ToolErrorType.INVALID_TOOL_PARAMS)
        self.host.workspace.add_folder(skill.folder)
        resources = self._resources(skill)
        return ToolResult(
            llm_content=(
                f'<activated_skill name="{self._name}">\n'
                f"  <instructions>\n    {skill.body}\n  </instructions>\n\n"
                f"  <available_resources>\n    {resources}\n  </available_resources>\n"
                "</activated_skill>"
            ),
            return_display=(
                f"Skill **{self._name}** activated. Resources loaded from `{skill.folder}`:\n\n"
                f"{resources}"
            ),
        )

    def _resources(self, skill: Skill) -> str:
        """The tree of the skill's folder, for the confirmation and for the model."""
        if self._tree is None:
            self._tree = described_folder(skill.folder)
        return self._tree
