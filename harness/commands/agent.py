"""`parity agent`: one prompt through a runtime, for people and programs without a terminal."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from harness.commands.adk_plugins import adk_plugin_option, with_adk_plugins
from harness.output import stopping_at_broken_output

if TYPE_CHECKING:  # importing it costs what `parity --help` must not
    from surfaces.headless.options import HeadlessOptions

__all__ = ["agent", "headless_options", "run_options"]


Command = TypeVar("Command", bound=Callable[..., Any])
_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_-]+")


def _listed(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Any:
    """What the option's values name, commas between names; `None` where the option is not given."""
    if not given:
        return None
    return tuple(name.strip() for value in given for name in value.split(",") if name.strip())


def _log_debug() -> None:
    from harness.debug_log import log_debug

    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, logging.NullHandler)]:
        root.removeHandler(handler)
    log_debug()


def _list_option(flag: str, metavar: str, words: str) -> Callable[[Command], Command]:
    return click.option(flag, metavar=metavar, multiple=True, callback=_listed, help=words)


_OPTIONS: Final = (
    click.argument("query", nargs=-1, metavar="[PROMPT]..."),
    click.option("-p", "--prompt", default="", help="What to ask; @path sends a file along."),
    click.option(
        "-i",
        "--prompt-interactive",
        metavar="TEXT",
        help="Refused: there is no interactive mode yet.",
    ),
    click.option("--runtime", metavar="NAME", help="legacy or adk; else the settings decide."),
    adk_plugin_option("Diagnostic: let this ADK plugin take part. Needs --runtime adk."),
    click.option(
        "-o",
        "--output-format",
        "output",
        type=click.Choice(["text", "json", "stream-json"]),
        help="What standard output gets.  [default: text]",
    ),
    click.option(
        "-r",
        "--resume",
        metavar="[WHICH]",
        is_flag=False,
        flag_value="latest",
        help="Go on with `latest`, a number, or an id.",
    ),
    click.option("--session-id", metavar="ID", help="The id of the new session."),
    click.option(
        "--session-file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Go on with the conversation of a session file.",
    ),
    click.option("--list-sessions", is_flag=True, help="List the folder's sessions, and end."),
    click.option("--delete-session", metavar="WHICH", help="Delete a session, and end."),
    click.option("-m", "--model", metavar="MODEL", help="The model, or an alias of one."),
    click.option(
        "--approval-mode",
        type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
        help="What tools may do unasked.",
    ),
    click.option("-y", "--yolo", is_flag=True, help="Short for --approval-mode yolo."),
    _list_option("--policy", "FILE", "Policy files, or folders of them, in place of your own."),
    _list_option("--admin-policy", "FILE", "Policy files that rank with the administrator's."),
    _list_option("--allowed-tools", "TOOL", "Tools that run unasked. Better: --policy."),
    _list_option("--allowed-mcp-server-names", "NAME", "The only MCP servers to start."),
    _list_option("--include-directories", "FOLDER", "More folders that tools may use."),
    click.option(
        "--settings",
        "settings_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Settings to use instead of the user's and the folder's.",
    ),
    click.option("--skip-trust", is_flag=True, help="Let the folder's own settings count."),
    click.option(
        "--fake-responses",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Answer from a file of recorded answers, one after another.",
    ),
    click.option(
        "--fake-responses-non-strict",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="The same, each call with the first answer left that fits it.",
    ),
    click.option(
        "--record-responses",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Write what the model answers to a file.",
    ),
    click.option(
        "-d",
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=lambda _ctx, _parameter, given: _log_debug() if given else None,
        help="Log what happens to standard error.",
    ),
    click.option("--raw-output", is_flag=True, help="Let the model's terminal sequences through."),
    click.option("--accept-raw-output-risk", is_flag=True, help="The same, without the warning."),
    click.option(
        "--telemetry/--no-telemetry",
        default=None,
        help="Measure the run, or don't, whatever the settings say.",
    ),
    click.option(
        "--telemetry-outfile",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Append records, spans and metrics to a file, instead of sending them.",
    ),
)


def run_options(command: Command) -> Command:
    """What says how the agent runs; shared with whoever records it. Read by `headless_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def headless_options(given: Mapping[str, Any]) -> HeadlessOptions:
    """The options of `run_options`, as click gives them, for the surface.

    Raises:
        click.UsageError: they contradict each other.
    """
    from services.settings.telemetry import TelemetryOverrides
    from surfaces.headless.options import HeadlessOptions
    from surfaces.headless.presenters import OutputFormat

    _check_together(given)
    output, loose = given["output"], given["fake_responses_non_strict"]
    return HeadlessOptions(
        prompt=given["prompt"] or " ".join(given["query"]),
        prompt_interactive=given["prompt_interactive"],
        runtime=with_adk_plugins(given["runtime"] or "", given["adk_plugins"]) or None,
        output=OutputFormat(output) if output else None,
        resume=None if given["resume"] is None else given["resume"].strip() or "latest",
        session_id=given["session_id"] and given["session_id"].strip(),
        session_file=given["session_file"],
        list_sessions=given["list_sessions"],
        delete_session=given["delete_session"],
        model=given["model"],
        policies=given["policy"],
        admin_policies=given["admin_policy"],
        allowed_tools=given["allowed_tools"],
        allowed_servers=given["allowed_mcp_server_names"],
        include_directories=given["include_directories"] or (),
        approval_mode="yolo" if given["yolo"] else given["approval_mode"],
        settings_file=given["settings_file"],
        skip_trust=given["skip_trust"],
        fake_responses=loose or given["fake_responses"],
        strict_responses=loose is None,
        record_responses=given["record_responses"],
        raw_output=given["raw_output"],
        accept_raw_output_risk=given["accept_raw_output_risk"],
        telemetry=TelemetryOverrides(
            enabled=given["telemetry"],
            outfile=str(given["telemetry_outfile"]) if given["telemetry_outfile"] else None,
        ),
    )


def _check_together(given: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other.

    Raises:
        click.UsageError: some do; the message names them.
    """
    if given["adk_plugins"] and given["runtime"] != "adk":
        raise click.UsageError("--adk-plugin is for the runtime adk; add --runtime adk")
    if given["yolo"] and given["approval_mode"]:
        raise click.UsageError("--yolo and --approval-mode exclude each other; leave one out")
    if given["prompt"] and given["query"]:
        raise click.UsageError("a prompt and --prompt exclude each other; leave one out")
    if given["prompt"] and given["prompt_interactive"]:
        raise click.UsageError(
            "--prompt and --prompt-interactive exclude each other; leave one out"
        )
    if given["fake_responses"] and given["fake_responses_non_strict"]:
        raise click.UsageError(
            "--fake-responses and --fake-responses-non-strict exclude each other; leave one out"
        )
    if sum(given[name] is not None for name in ("resume", "session_id", "session_file")) > 1:
        raise click.UsageError(
            "--resume, --session-id and --session-file exclude each other; give one of them"
        )
    session_id = given["session_id"]
    if session_id is not None and not _SESSION_ID.fullmatch(session_id.strip()):
        raise click.UsageError(
            f"--session-id {session_id!r} is no id; write letters, digits, dashes and underscores"
        )


@click.command()
@run_options
@click.version_option(None, "-v", "--version", package_name="parity", message="%(version)s")
@click.pass_context
def agent(ctx: click.Context, /, **given: Any) -> None:
    """Ask an agent to do something in the current folder.

    \b
    parity agent 'what is in this folder?'
    git diff | parity agent -p 'review this' -o json --runtime adk
    parity agent -p 'and the tests?' --resume latest -o stream-json

    The API is reached with GEMINI_API_KEY, Vertex AI's variables, or GOOGLE_GEMINI_BASE_URL.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 41 no way to sign in; 42 unusable input; 52
    unusable settings; 53 the turns ran out; 54 a tool failed for good; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from surfaces.headless.program import run_headless

    options = headless_options(given)
    with stopping_at_broken_output():
        code = run_headless(options, stdin=sys.stdin, out=sys.stdout, err=sys.stderr)
    ctx.exit(code)
