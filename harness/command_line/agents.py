"""The commands that run an agent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from harness.command_line import options
from harness.command_line.deferred import command
from harness.debug_log import log_debug

__all__ = ["agent", "record", "run_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


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


def _file_option(words: str, *names: str) -> Callable[[Command], Command]:
    return click.option(*names, metavar="FILE", type=options.PLACE, help=words)


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
    options.adk_plugin_option("Diagnostic: let this ADK plugin take part. Needs --runtime adk."),
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
    _file_option("Go on with the conversation of a session file.", "--session-file"),
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
    _file_option(
        "Settings to use instead of the user's and the folder's.", "--settings", "settings_file"
    ),
    click.option("--skip-trust", is_flag=True, help="Let the folder's own settings count."),
    _file_option("Answer from a file of recorded answers, one after another.", "--fake-responses"),
    _file_option(
        "The same, each call with the first answer left that fits it.",
        "--fake-responses-non-strict",
    ),
    _file_option("Write what the model answers to a file.", "--record-responses"),
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
    _file_option(
        "Append records, spans and metrics to a file, instead of sending them.",
        "--telemetry-outfile",
    ),
)


def run_options(command: Command) -> Command:
    """What says how the agent runs; shared with `parity record`. Read by `headless_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@command("agent:agent")
@run_options
@click.version_option(None, "-v", "--version", package_name="parity", message="%(version)s")
def agent() -> None:
    """Ask an agent to do something in the current folder.

    \b
    parity agent 'what is in this folder?'
    git diff | parity agent -p 'review this' -o json --runtime adk
    parity agent -p 'and the tests?' --resume latest -o stream-json

    The API is reached with GEMINI_API_KEY, Vertex AI's variables, or GOOGLE_GEMINI_BASE_URL.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 41 no way to sign in; 42 unusable input; 52
    unusable settings; 53 the turns ran out; 54 a tool failed for good; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("record:record")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=options.FILE,
    help="The cassette to write, FAMILY/NAME.yaml; its folder and file name are its name.",
)
@click.option("--force", is_flag=True, help="Write over a cassette that is there already.")
@click.option("--no-files", is_flag=True, help="Leave the workspace's files out.")
@click.option(
    "--note", default="", metavar="TEXT", help="One line about it.  [default: the prompt]"
)
@run_options
def record() -> None:
    """Run the agent as `parity agent` does, and keep a cassette.

    \b
    parity record --out my/first.yaml -p 'what is in this folder?'
    parity record --out my/edit.yaml -p 'fix the typo in a.txt' -y --runtime adk
    parity run my/first.yaml

    The cassette holds the files of the current folder as they were before, the settings, the
    prompt, and every answer and error of the model as it came, piece by piece. What the model was
    asked is beside it, in NAME.requests.jsonl, a line for each request.

    Keys and tokens are masked, those of the environment and whatever looks like one, also where the
    answer's pieces cut them; the paths of the folder and the home are replaced; HTTP headers and
    files such as .env are left out. Where a secret of the environment is spread so that no mask can
    cover it, nothing is written. Read a cassette before you share it.

    Ctrl-C ends the run; what was recorded so far is written. Where the API answers nothing (it
    cannot be reached, or refuses the key), nothing is written, and no folder is left behind.

    Exit codes: those of `parity agent`; 2 where the cassette cannot be, or is not, written.
    """  # noqa: D301 - click's mark for lines that stay as they are


@click.group()
def upstream() -> None:
    """Install, list and remove versions of the published core.

    They live side by side in a cache folder: $PARITY_CACHE_HOME, else the user's own. The runtime
    `upstream` is the default version, `upstream@V` the version V. The core needs node 20 or newer,
    the one on PATH or the one that $PARITY_NODE names; npm installs it.

    \b
    parity upstream install
    parity upstream list
    parity run --control upstream --candidate legacy
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("upstream:install", group=upstream)
@click.option(
    "--version",
    metavar="V",
    help="An exact version, or a tag such as latest; without it, the one that `upstream` names.",
)
def install() -> None:
    """Install a version of the published core with npm.

    Takes about 400 MB of disk. npm's own settings hold (registry, proxy); no script of a package
    is run. An install that is cut short leaves nothing that counts as installed.

    \b
    parity upstream install
    parity upstream install --version 0.60.0
    parity upstream install --version latest

    Exit codes: 0 installed, now or before; 2 wrong usage, or it cannot be installed; 130
    interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("upstream:list_", "list", group=upstream)
@click.option("--json", "as_json", is_flag=True, help="Write JSON, sizes in bytes.")
def list_() -> None:
    """List the installed versions, oldest first, with what each needs and takes.

    The one marked `default` is what the runtime `upstream` runs.

    \b
    parity upstream list
    parity upstream list --json

    Exit codes: 0, also when nothing is installed; 2 wrong usage, or the folder cannot be read.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("upstream:remove", group=upstream)
@click.argument("version", required=False)
@click.option("--all", "remove_all", is_flag=True, help="Remove every installed version.")
def remove() -> None:
    """Remove an installed version of the published core.

    \b
    parity upstream remove 0.60.0
    parity upstream remove --all

    Exit codes: 0 removed; 2 wrong usage, or it is not installed.
    """  # noqa: D301 - click's mark for lines that stay as they are
