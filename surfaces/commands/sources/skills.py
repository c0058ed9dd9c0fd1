"""Skills as commands. Source: `packages/cli` `services/SkillCommandLoader.ts`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.skills.loader import Skill
from surfaces.commands.contract import (
    Argument,
    CommandContext,
    CommandKind,
    CommandSession,
    SlashCommand,
)
from surfaces.commands.results import CallTool, Result

__all__ = ["skill_commands"]


async def skill_commands(session: CommandSession) -> Sequence[SlashCommand]:
    """A command for each skill of the user and of the project that is switched on."""
    return [_command(skill) for skill in session.services.skills.skills if not skill.is_builtin]


def _command(skill: Skill) -> SlashCommand:
    async def activate(context: CommandContext) -> Result:
        prompt = context.args or f"Use the skill {skill.name}"
        return CallTool(tool="activate_skill", args={"name": skill.name}, then=({"text": prompt},))

    return SlashCommand(
        name=re.sub(r"\s+", "-", skill.name.strip()),
        description=skill.description or f"Activate the {skill.name} skill",
        kind=CommandKind.SKILL,
        extension=skill.extension,
        arguments=(Argument(name="prompt", description="What the model does with the skill"),),
        runs_at_once=True,
        action=activate,
    )
