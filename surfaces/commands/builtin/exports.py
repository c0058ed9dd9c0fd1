"""`/export-session` and `/bug`: files about the session.

Source: `packages/cli` `ui/commands/exportSessionCommand.ts`. `/bug` is our own: it writes the
session as a cassette, and sends nothing.
"""

from __future__ import annotations

from typing import Final

from runtimes.contract import KeepsRecording
from services.clock import iso_timestamp
from services.wire import js_json_pretty
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.paths import user_path
from surfaces.commands.results import Item, ItemKind, Result

__all__ = ["BUG", "EXPORT_SESSION"]


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
    if context.session.write_cassette is None:
        raise CommandError(
            "This session is not recorded, so there is nothing to report; "
            "start it with `parity record`."
        )
    file = await context.session.write_cassette(context.args)
    return Item(
        kind=ItemKind.INFO,
        text=(
            f"The session is written, redacted, to {file}. "
            "Read it before you attach it to an issue."
        ),
    )


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
