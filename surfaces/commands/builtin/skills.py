"""`/skills`: the skills of the session.

Source: `packages/cli` `ui/commands/skillsCommand.ts`, `ui/components/views/SkillsList.tsx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from services.extensions.consent import skills_consent
from services.settings.declaring import look_up
from services.skills.linking import SkillsNotLinked, link_skills, linkable_skills
from services.skills.loader import Skill
from services.tools.collation import collation_key
from surfaces.commands.builtin.words import indented
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.paths import user_path
from surfaces.commands.results import Item, ItemKind, Result
from surfaces.commands.toggles import SKILLS as TOGGLE
from surfaces.commands.toggles import switched_off, switched_on

__all__ = ["SKILLS"]

_RELOAD: Final = ' You can run "/skills reload" to refresh your current instance.'
_LINK_USAGE: Final = "Usage: /skills link <path> [--scope user|workspace]"
_DISABLED: Final = "skills.disabled"


def _info(text: str) -> Item:
    return Item(kind=ItemKind.INFO, text=text)


async def _list(context: CommandContext) -> None:
    words = {word.removeprefix("--") for word in context.args.split()}
    skills = context.services.skills.all()
    shown = [each for each in skills if "all" in words or not each.is_builtin]
    described = "nodesc" not in words
    sections = [
        _lines(title, [each for each in shown if each.disabled is disabled], described)
        for title, disabled in (("Available Agent Skills:", False), ("Disabled Skills:", True))
    ]
    text = f"\n{'-' * 20}\n".join("\n".join(lines) for lines in sections if lines)
    context.panel(text or "No skills available.")


def _lines(title: str, skills: Sequence[Skill], described: bool) -> list[str]:
    if not skills:
        return []
    lines = [title, ""]
    for skill in sorted(skills, key=lambda each: (each.is_builtin, collation_key(each.name))):
        lines.append(f"  - {skill.name}{' [Built-in]' if skill.is_builtin else ''}")
        if described and skill.description:
            lines += indented(skill.description, "      ")
    return lines


async def _disable(context: CommandContext) -> Result:
    name = _named(context, "disable")
    if context.services.skills.get(name) is None:
        raise CommandError(f'Skill "{name}" not found.')
    _, said = await switched_off(TOGGLE, context.preferences, name)
    return _info(said + _RELOAD)


async def _enable(context: CommandContext) -> Result:
    _, said = await switched_on(TOGGLE, context.preferences, _named(context, "enable"))
    return _info(said + _RELOAD)


def _named(context: CommandContext, verb: str) -> str:
    if not context.args:
        raise CommandError(f"Please provide a skill name to {verb}.")
    return context.args


async def _link(context: CommandContext) -> Result:
    source, workspace = _linked(context.args.split())
    here = context.services.workspace
    folder = user_path(context, source)
    target = (here.root if workspace else here.home) / ".gemini" / "skills"
    context.info(f"Searching for skills in {folder}...")
    try:
        skills = linkable_skills(folder)
        if not await context.consents(skills_consent(skills, source, target)):
            raise SkillsNotLinked("Skill linking cancelled by user.")
        for name in link_skills(skills, target):
            context.info(f'Skill "{name}" already exists at destination. Overwriting...')
    except (SkillsNotLinked, CommandError, OSError) as error:
        raise CommandError(f"Failed to link skills: {error}") from error
    await _found_anew(context)
    scope = "workspace" if workspace else "user"
    return _info(f'Successfully linked skills from "{source}" ({scope}).')


def _linked(words: Sequence[str]) -> tuple[str, bool]:
    """The folder of `/skills link`, and whether the skills are for the workspace.

    Raises:
        CommandError: there is no folder.
    """
    if not words:
        raise CommandError(_LINK_USAGE)
    scope = "user"
    if len(words) >= 3 and words[1] == "--scope":
        scope = words[2]
    elif len(words) >= 2 and words[1].startswith("--scope="):
        scope = words[1].partition("=")[2]
    if scope not in ("user", "workspace"):
        raise CommandError(_LINK_USAGE)
    return words[0], scope == "workspace"


async def _reload(context: CommandContext) -> Result:
    skills = context.services.skills
    before = {skill.name for skill in skills.skills}
    await _found_anew(context)
    after = {skill.name for skill in skills.skills}
    added, gone = len(after - before), len(before - after)
    details = [f"{added} newly available skill{_s(added)}"] if added else []
    details += [f"{gone} skill{_s(gone)} no longer available"] if gone else []
    said = "Agent skills reloaded successfully."
    return _info(f"{said} {' and '.join(details)}." if details else said)


def _s(count: int) -> str:
    return "" if count == 1 else "s"


async def _found_anew(context: CommandContext) -> None:
    """Find the skills again, switched off as the settings say now."""
    preferences = context.session.preferences
    disabled: Any = None
    if preferences is not None:
        disabled = look_up(preferences.document, _DISABLED)[1] or []
    context.services.reload_skills(disabled)
    if context.reload is not None:
        await context.reload()


async def _complete(context: CommandContext, typed: str, *, disabled: bool) -> Sequence[str]:
    skills = (each for each in context.services.skills.all() if each.disabled is disabled)
    return [skill.name for skill in skills if skill.name.startswith(typed)]


async def _complete_enabled(context: CommandContext, typed: str) -> Sequence[str]:
    return await _complete(context, typed, disabled=False)


async def _complete_disabled(context: CommandContext, typed: str) -> Sequence[str]:
    return await _complete(context, typed, disabled=True)


_NAME: Final = (Argument(name="name", description="A skill's name", required=True),)
_LISTED: Final = (
    Argument(name="nodesc", description="Leave the descriptions out"),
    Argument(name="all", description="Include the built-in skills"),
)
SKILLS: Final = SlashCommand(
    name="skills",
    description=(
        "List, enable, disable, or reload agent skills. Usage: /skills [list | disable <name> | "
        "enable <name> | reload]"
    ),
    action=_list,
    subcommands=(
        SlashCommand(
            name="list",
            description="List available agent skills. Usage: /skills list [nodesc] [all]",
            arguments=_LISTED,
            action=_list,
        ),
        SlashCommand(
            name="link",
            description=(
                "Link an agent skill from a local path. Usage: /skills link <path> [--scope "
                "user|workspace]"
            ),
            arguments=(
                Argument(name="path", description="The skill's folder", required=True),
                Argument(name="scope", description="--scope user or workspace"),
            ),
            action=_link,
        ),
        SlashCommand(
            name="disable",
            description="Disable a skill by name. Usage: /skills disable <name>",
            arguments=_NAME,
            action=_disable,
            complete=_complete_enabled,
        ),
        SlashCommand(
            name="enable",
            description="Enable a disabled skill by name. Usage: /skills enable <name>",
            arguments=_NAME,
            action=_enable,
            complete=_complete_disabled,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description="Reload the list of discovered skills. Usage: /skills reload",
            action=_reload,
        ),
    ),
)
