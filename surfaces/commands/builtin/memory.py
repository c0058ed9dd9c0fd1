"""`/memory` and `/init`: the context files.

Source: core `commands/memory.ts`, `commands/init.ts`, `config/memory.ts` (`flattenMemory`).
"""

from __future__ import annotations

from typing import Final

from services.tools.project_memory import ProjectMemory
from services.wire import js_length
from surfaces.commands.contract import CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Item, ItemKind, Result, SubmitPrompt

__all__ = ["INIT", "MEMORY"]

_FILE: Final = "GEMINI.md"
_INIT_PROMPT: Final = """\
Write the file GEMINI.md for this folder: what later sessions must know before they work here.

1. Look before you write. List the files and folders, read a README if there is one, then read up \
to ten files that explain most. Let each choose the next.
2. Decide what the folder is. Build files (`package.json`, `pyproject.toml`, `go.mod`, \
`Cargo.toml`, `pom.xml`, a `src` folder) mean a code project. Otherwise it holds documents, data \
or notes.
3. For a code project, write:
   - Project Overview: its purpose, main technologies and architecture.
   - Building and Running: the commands to build, run and test it, as the files give them; a TODO \
where they do not.
   - Development Conventions: style, tests and contribution rules that the code shows.
4. For any other folder, write:
   - Directory Overview: its purpose and what it holds.
   - Key Files: the most important files, with a line about each.
   - Usage: how its contents are meant to be used.

Put the whole text into `GEMINI.md`, as well-formed Markdown.
"""


def _flat(memory: ProjectMemory) -> str:
    sections = {
        "Global": memory.of_user,
        "Private Project Memory": memory.of_user_here,
        "Extension": memory.of_extensions,
        "Project": memory.of_project,
    }
    texts = [f"--- {name} ---\n{text}" for name, text in sections.items() if text]
    return "\n\n".join(texts)


async def _show(context: CommandContext) -> Result:
    memory = context.services.memory
    text = _flat(memory)
    if not text:
        return Item(kind=ItemKind.INFO, text="Memory is currently empty.")
    head = f"Current memory content from {len(memory.files)} file(s):"
    return Item(kind=ItemKind.INFO, text=f"{head}\n\n---\n{text}\n---")


async def _reload(context: CommandContext) -> Result:
    context.info("Reloading memory from source files...")
    memory = context.services.memory
    memory.reload()
    text = _flat(memory)
    if not text:
        said = "Memory reloaded successfully. No memory content found"
        return Item(kind=ItemKind.INFO, text=said)
    return Item(
        kind=ItemKind.INFO,
        text=(
            f"Memory reloaded successfully. Loaded {js_length(text)} characters from "
            f"{len(memory.files)} file(s)"
        ),
    )


async def _list(context: CommandContext) -> Result:
    files = context.services.memory.files
    if not files:
        return Item(kind=ItemKind.INFO, text="No GEMINI.md files in use.")
    listed = "\n".join(map(str, files))
    head = f"There are {len(files)} GEMINI.md file(s) in use:"
    return Item(kind=ItemKind.INFO, text=f"{head}\n\n{listed}")


async def _init(context: CommandContext) -> Result:
    file = context.services.workspace.root / _FILE
    try:
        file.open("x").close()
    except FileExistsError:
        return Item(
            kind=ItemKind.INFO,
            text="A GEMINI.md file already exists in this directory. No changes were made.",
        )
    except OSError as error:
        raise CommandError(f"{_FILE} cannot be created: {error}") from error
    context.info("Empty GEMINI.md created. Now analyzing the project to populate it.")
    return SubmitPrompt(content=({"text": _INIT_PROMPT},))


MEMORY: Final = SlashCommand(
    name="memory",
    description="Commands for interacting with memory",
    subcommands=(
        SlashCommand(
            name="show",
            description="Show the current memory contents",
            runs_at_once=True,
            action=_show,
        ),
        SlashCommand(
            name="reload",
            aliases=("refresh",),
            description="Reload the memory from the source",
            runs_at_once=True,
            action=_reload,
        ),
        SlashCommand(
            name="list",
            description="Lists the paths of the GEMINI.md files in use",
            runs_at_once=True,
            action=_list,
        ),
    ),
)
INIT: Final = SlashCommand(
    name="init",
    description="Analyzes the project and creates a tailored GEMINI.md file",
    runs_at_once=True,
    action=_init,
)
