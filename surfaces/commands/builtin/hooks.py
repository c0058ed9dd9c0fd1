"""`/hooks`: the commands that run at events of the session.

Source: `packages/cli` `ui/commands/hooksCommand.ts`, `ui/components/HooksDialog.tsx`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from services.hooks.system import HookSystem, KnownHook
from services.settings.hooks import DEFAULT_TIMEOUT_MS
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Dialog, Item, ItemKind, OpenDialog, Result
from surfaces.commands.toggles import HOOKS as TOGGLE
from surfaces.commands.toggles import switched_off, switched_on

__all__ = ["HOOKS", "hook_lines"]

_LIST: Final = "hooksConfig.disabled"


def _info(text: str) -> Item:
    return Item(kind=ItemKind.INFO, text=text)


async def _panel(context: CommandContext) -> Result:
    """The dialog's details: `hooks`, the hooks of the session."""
    system = context.services.hooks
    hooks = [] if system is None else system.all()
    if Dialog.HOOKS in context.session.dialogs:
        return OpenDialog(dialog=Dialog.HOOKS, details={"hooks": hooks})
    lines = list(hook_lines(hooks))
    context.panel("\n".join(["Configured Hooks", "", *lines]) if lines else "No hooks configured.")
    return None


def hook_lines(hooks: Sequence[KnownHook]) -> Iterable[str]:
    """The hooks of each event, with what limits them."""
    for event in dict.fromkeys(each.definition.event for each in hooks):
        yield event
        for each in hooks:
            if each.definition.event == event:
                yield f"  {each.hook.shown_name} [{'enabled' if each.enabled else 'disabled'}]"
                yield f"    {' | '.join(_facts(each))}"


def _facts(known: KnownHook) -> Iterable[str]:
    hook, definition = known.hook, known.definition
    yield f"Source: {hook.source}"
    if hook.name:
        yield f"Command: {hook.command}"
    if definition.matcher:
        yield f"Matcher: {definition.matcher}"
    if definition.sequential:
        yield "Sequential"
    if hook.timeout_ms != DEFAULT_TIMEOUT_MS:
        yield f"Timeout: {hook.timeout_ms / 1000:g}s"


def _system(context: CommandContext) -> HookSystem:
    if context.services.hooks is None:
        raise CommandError("Hook system is not enabled.")
    return context.services.hooks


async def _enable(context: CommandContext) -> Result:
    system, name = _system(context), _named(context, "enable")
    changed, said = await switched_on(TOGGLE, context.preferences, name)
    if changed:
        system.enable(name)
    return _info(said)


async def _disable(context: CommandContext) -> Result:
    system, name = _system(context), _named(context, "disable")
    changed, said = await switched_off(TOGGLE, context.preferences, name)
    if changed:
        system.enable(name, on=False)
    return _info(said)


def _named(context: CommandContext, verb: str) -> str:
    if not context.args:
        raise CommandError(f"Usage: /hooks {verb} <hook-name>")
    return context.args


async def _enable_all(context: CommandContext) -> Result:
    system = _system(context)
    if not system.all():
        return _info("No hooks configured.")
    off = [each for each in system.all() if not each.enabled]
    if not off:
        return _info("All hooks are already enabled.")
    for scope in context.preferences.scopes:
        if context.preferences.own(_LIST, scope):
            await context.preferences.save(_LIST, [], scope)
    for each in off:
        system.enable(each.hook.shown_name)
    return _info(f"Enabled {len(off)} hook(s) successfully.")


async def _disable_all(context: CommandContext) -> Result:
    system = _system(context)
    if not system.all():
        return _info("No hooks configured.")
    on = [each for each in system.all() if each.enabled]
    if not on:
        return _info("All hooks are already disabled.")
    names = list(dict.fromkeys(each.hook.shown_name for each in system.all()))
    await context.preferences.save(_LIST, names, context.preferences.scopes[0])
    for each in on:
        system.enable(each.hook.shown_name, on=False)
    return _info(f"Disabled {len(on)} hook(s) successfully.")


async def _complete(context: CommandContext, typed: str, *, enabled: bool) -> Sequence[str]:
    system = context.services.hooks
    known = [] if system is None else system.all()
    names = (each.hook.shown_name for each in known if each.enabled is enabled)
    return [name for name in dict.fromkeys(names) if name.startswith(typed)]


async def _complete_disabled(context: CommandContext, typed: str) -> Sequence[str]:
    return await _complete(context, typed, enabled=False)


async def _complete_enabled(context: CommandContext, typed: str) -> Sequence[str]:
    return await _complete(context, typed, enabled=True)


_NAME: Final = (Argument(name="name", description="A hook's name", required=True),)
HOOKS: Final = SlashCommand(
    name="hooks",
    description="Manage hooks",
    action=_panel,
    subcommands=(
        SlashCommand(
            name="panel",
            aliases=("list", "show"),
            description="Display all registered hooks with their status",
            runs_at_once=True,
            action=_panel,
        ),
        SlashCommand(
            name="enable",
            description="Enable a hook by name",
            runs_at_once=True,
            arguments=_NAME,
            action=_enable,
            complete=_complete_disabled,
        ),
        SlashCommand(
            name="disable",
            description="Disable a hook by name",
            runs_at_once=True,
            arguments=_NAME,
            action=_disable,
            complete=_complete_enabled,
        ),
        SlashCommand(
            name="enable-all",
            aliases=("enableall",),
            description="Enable all disabled hooks",
            runs_at_once=True,
            action=_enable_all,
        ),
        SlashCommand(
            name="disable-all",
            aliases=("disableall",),
            description="Disable all enabled hooks",
            runs_at_once=True,
            action=_disable_all,
        ),
    ),
)
