"""The prompts of MCP servers as commands. Source: `packages/cli` `services/McpPromptLoader.ts`."""

from __future__ import annotations

from collections.abc import Sequence

from services.mcp.prompt_commands import (
    PromptCommand,
    PromptCommandError,
    prompt_commands,
    prompt_help,
    run_prompt,
)
from surfaces.commands.contract import (
    Argument,
    CommandContext,
    CommandError,
    CommandKind,
    CommandSession,
    SlashCommand,
)
from surfaces.commands.results import Item, ItemKind, Result, SubmitPrompt

__all__ = ["server_prompts"]


async def server_prompts(session: CommandSession) -> Sequence[SlashCommand]:
    """A command for each prompt of the servers that are connected."""
    servers = session.services.servers
    await servers.settled()
    manager = servers.manager
    return (
        [] if manager is None else [_command(each) for each in prompt_commands(manager.prompts())]
    )


def _command(prompt: PromptCommand) -> SlashCommand:
    server = prompt.prompt.server_name

    async def run(context: CommandContext) -> Result:
        try:
            # The text as it was written: blanks inside of quotes count.
            given = context.raw.partition(" ")[2]
            return SubmitPrompt(content=tuple(await run_prompt(prompt, given)))
        except PromptCommandError as error:
            raise CommandError(str(error)) from error

    async def explain(context: CommandContext) -> Result:
        return Item(kind=ItemKind.INFO, text=prompt_help(prompt))

    return SlashCommand(
        name=prompt.name,
        description=prompt.description,
        kind=CommandKind.MCP_PROMPT,
        server=server,
        arguments=tuple(
            Argument(name=each.name, description=each.description or "", required=each.required)
            for each in prompt.arguments
        ),
        runs_at_once=prompt.runs_at_once,
        action=run,
        subcommands=(
            SlashCommand(
                name="help",
                description="Show help for this prompt",
                kind=CommandKind.MCP_PROMPT,
                server=server,
                action=explain,
            ),
        ),
    )
