"""`parity agent`: one prompt through a runtime, without a terminal."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from harness.commands import options
from harness.commands.adk_plugins import adk_plugin_option, with_adk_plugins
from harness.debug_log import log_debug
from harness.output import stopping_at_broken_output
from services.settings.telemetry import TelemetryOverrides
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.presenters import OutputFormat
from surfaces.headless.program import run_headless

__all__ = ["agent", "headless_options", "run_options"]


Command = TypeVar("Command", bound=Callable[..., Any])
_EXCLUSIVE: Final = (
    ("yolo", "approval_mode", "--yolo and --approval-mode"),
    ("prompt", "query", "a prompt and --prompt"),
    ("prompt", "prompt_interactive", "--prompt and --prompt-interactive"),
    (
        "fake_responses",
        "fake_responses_non_strict",
        "--fake-responses and --fake-responses-non-strict",
    ),
)
"""Pairs of options that contradict each other, and how a message names the two."""
_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_-]+")


def _listed(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Any:
    """What the option's values name, commas between names; `None` where the option is not given."""
    if not given:
        return None
    return tuple(name.strip() for value in given for name in value.split(",") if name.strip())


def _log_debug() -> None:
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, logging.NullHandler)]:
        root.removeHandler(handler)
    log_debug()


def _list_option(flag: str, name: str, metavar: str, words: str) -> Callable[[Command], Command]:
    return click.option(flag, name, metavar=metavar, multiple=True, callback=_listed, help=words)


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
        type=options.PLACE,
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
    _list_option(
        "--policy", "policies", "FILE", "Policy files, or folders of them, in place of your own."
    ),
    _list_option(
        "--admin-policy",
        "admin_policies",
        "FILE",
        "Policy files that rank with the administrator's.",
    ),
    _list_option(
        "--allowed-tools", "allowed_tools", "TOOL", "Tools that run unasked. Better: --policy."
    ),
    _list_option(
        "--allowed-mcp-server-names", "allowed_servers", "NAME", "The only MCP servers to start."
    ),
    _list_option(
        "--include-directories", "include_directories", "FOLDER", "More folders that tools may use."
    ),
    click.option(
        "--settings",
        "settings_file",
        metavar="FILE",
        type=options.PLACE,
        help="Settings to use instead of the user's and the folder's.",
    ),
    click.option("--skip-trust", is_flag=True, help="Let the folder's own settings count."),
    click.option(
        "--fake-responses",
        metavar="FILE",
        type=options.PLACE,
        help="Answer from a file of recorded answers, one after another.",
    ),
    click.option(
        "--fake-responses-non-strict",
        metavar="FILE",
        type=options.PLACE,
        help="The same, each call with the first answer left that fits it.",
    ),
    click.option(
        "--record-responses",
        metavar="FILE",
        type=options.PLACE,
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
        type=options.PLACE,
        help="Append records, spans and metrics to a file, instead of sending them.",
    ),
)


def run_options(command: Command) -> Command:
    """What says how the agent runs; shared with `parity record`. Read by `headless_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def headless_options(given: Mapping[str, Any]) -> HeadlessOptions:
    """The options of `run_options`, as click gives them, for the surface.

    Raises:
        click.UsageError: they contradict each other.
    """
    _check_together(given)
    rest = dict(given)
    query, plugins, yolo = rest.pop("query"), rest.pop("adk_plugins"), rest.pop("yolo")
    loose = rest.pop("fake_responses_non_strict")
    enabled, outfile = rest.pop("telemetry"), rest.pop("telemetry_outfile")
    rest["prompt"] = rest["prompt"] or " ".join(query)
    rest["runtime"] = with_adk_plugins(rest["runtime"] or "", plugins) or None
    rest["output"] = OutputFormat(rest["output"]) if rest["output"] else None
    if rest["resume"] is not None:
        rest["resume"] = rest["resume"].strip() or "latest"
    rest["session_id"] = rest["session_id"] and rest["session_id"].strip()
    rest["include_directories"] = rest["include_directories"] or ()
    rest["approval_mode"] = "yolo" if yolo else rest["approval_mode"]
    rest["fake_responses"] = loose or rest["fake_responses"]
    telemetry = TelemetryOverrides(enabled=enabled, outfile=str(outfile) if outfile else None)
    return HeadlessOptions(strict_responses=loose is None, telemetry=telemetry, **rest)


def _check_together(given: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other.

    Raises:
        click.UsageError: some do; the message names them.
    """
    if given["adk_plugins"] and given["runtime"] != "adk":
        raise click.UsageError("--adk-plugin is for the runtime adk; add --runtime adk")
    for one, other, named in _EXCLUSIVE:
        if given[one] and given[other]:
            raise click.UsageError(f"{named} exclude each other; leave one out")
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
def agent(**given: Any) -> int:
    """Ask an agent to do something in the current folder.

    \b
    parity agent 'what is in this folder?'
    git diff | parity agent -p 'review this' -o json --runtime adk
    parity agent -p 'and the tests?' --resume latest -o stream-json

    The API is reached with GEMINI_API_KEY, Vertex AI's variables, or GOOGLE_GEMINI_BASE_URL.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 41 no way to sign in; 42 unusable input; 52
    unusable settings; 53 the turns ran out; 54 a tool failed for good; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are
    asked = headless_options(given)
    with stopping_at_broken_output():
        return run_headless(asked, stdin=sys.stdin, out=sys.stdout, err=sys.stderr)
