"""`/export-session` and `/bug`: files about the session.

Source: `packages/cli` `ui/commands/exportSessionCommand.ts`, `bugCommand.ts`. A recorded session is
written as a cassette. `/bug` itself sends nothing.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import quote

from runtimes.contract import KeepsRecording
from services.browser import can_open_browser, open_browser
from services.clock import iso_timestamp
from services.settings.declaring import look_up
from services.wire import js_json_pretty
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.histories import BEFORE_TALK, write_history
from surfaces.commands.paths import user_path
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["BUG", "EXPORT_SESSION"]

_WITHOUT_ADDRESS: Final = "Please write an issue about the problem, with these facts:"
_EXPORTED: Final = """\
\U0001f4c4 **Chat History Exported**
To help us debug, we've exported your current chat history to:
{file}

Please consider attaching this file to your issue if you feel comfortable doing so.

**Privacy Disclaimer:** Please do not upload any logs containing sensitive or private information \
that you are not comfortable sharing publicly."""
_WRITTEN: Final = """\
The session is written, redacted, as a cassette to:
{file}

`parity run` with this file plays it again. Read it before you attach it to an issue."""
_ATTACH: Final = (
    "[ACTION REQUIRED] \U0001f4ce PLEASE ATTACH THE EXPORTED CHAT HISTORY JSON FILE TO THIS ISSUE "
    "IF YOU FEEL COMFORTABLE SHARING IT."
)


async def _export(context: CommandContext) -> Result:
    if not context.args:
        raise CommandError(
            "Please provide a file path to export the session to. "
            "Example: /export-session ./my-session.json"
        )
    runtime, services = context.runtime, context.services
    if not isinstance(runtime, KeepsRecording) or not runtime.recorded:
        raise CommandError("No active session found to export.")
    messages = list(runtime.recorded)
    session = {
        "sessionId": services.state.session_id,
        "projectHash": services.workspace.project_hash,
        "startTime": messages[0].get("timestamp"),
        "lastUpdated": iso_timestamp(services.clock.now_ms()),
        "messages": messages,
    }
    file = user_path(context, context.args)
    try:
        file.write_text(js_json_pretty(session), encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise CommandError(f"Failed to export session: {error}") from error
    return Item(kind=ItemKind.INFO, text=f"Successfully exported session to {file}")


async def _bug(context: CommandContext) -> Result:
    facts = "\n".join(f"* **{name}:** {value}" for name, value in _facts(context) if value)
    write_cassette = context.session.write_cassette
    cassette = None if write_cassette is None else await write_cassette(context.args)
    history = _export_history(context) if cassette is None else None
    exported = ""
    if cassette is not None:
        exported = f"\n\n{_WRITTEN.format(file=cassette)}"
    elif history is not None:
        exported = f"\n\n{'-' * 80}\n\n{_EXPORTED.format(file=history)}"
    template = look_up(context.session.settings, "advanced.bugCommand.urlTemplate")[1]
    if not isinstance(template, str):
        return Item(kind=ItemKind.INFO, text=f"{_WITHOUT_ADDRESS}\n\n{facts}{exported}")
    problem = context.args if history is None else f"{context.args}\n\n{_ATTACH}"
    values = {"title": context.args, "info": f"\n{facts}\n", "problem": problem}
    address = template
    for name, value in values.items():
        address = address.replace(f"{{{name}}}", quote(value, safe="!~*'()"), 1)
    context.info(
        f"To submit your bug report, please open the following URL in your browser:\n{address}"
        f"{exported}"
    )
    services = context.services
    if can_open_browser(services.environment):
        try:
            await open_browser(services.environment, services.workspace.home, address)
        except (OSError, ValueError) as error:
            raise CommandError(f"Could not open URL in browser: {error}") from error
    return None


def _facts(context: CommandContext) -> Iterable[tuple[str, str]]:
    """What a report needs to say of the session."""
    services, session = context.services, context.session
    yield "CLI Version", services.version
    yield "Session ID", services.state.session_id
    yield "Operating System", f"{sys.platform} {platform.release()}"
    yield "Sandbox Environment", services.environment.variables.get("SANDBOX") or "no sandbox"
    yield "Model Version", services.state.model
    yield "Auth Type", session.auth_type or "Unknown"
    yield "Runtime", session.runtime_name
    ide = services.ide
    yield "IDE Client", ide.ide.display_name if ide.enabled and ide.ide is not None else ""


def _export_history(context: CommandContext) -> Path | None:
    """Write the conversation to a file, if there is one."""
    history = context.runtime.transcript()
    if len(history) <= BEFORE_TALK:
        return None
    services = context.services
    name = f"bug-report-history-{services.clock.now_ms()}.json"
    file = services.workspace.project_temp / name
    write_history(file, history)
    return file


EXPORT_SESSION: Final = SlashCommand(
    name="export-session",
    description="Export the current session to a JSON file",
    arguments=(Argument(name="file", description="Where to write it", required=True),),
    runs_at_once=True,
    action=_export,
)
BUG: Final = SlashCommand(
    name="bug",
    description="Submit a bug report",
    arguments=(Argument(name="title", description="What went wrong"),),
    action=_bug,
)
