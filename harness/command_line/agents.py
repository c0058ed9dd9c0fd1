"""The commands that run an agent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from harness.command_line import options
from harness.command_line.deferred import command
from harness.command_line.extensions import AgentCommand
from harness.debug_log import log_debug
from harness.sides import PROVIDERS

__all__ = ["agent", "mcp", "record", "run_options"]

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
    click.option("-p", "--prompt", default="", help="The prompt; @path attaches a file."),
    click.option(
        "-i",
        "--prompt-interactive",
        metavar="TEXT",
        help="Open the terminal with this prompt.",
    ),
    click.option("--runtime", metavar="NAME", help="legacy or adk.  [default: from the settings]"),
    options.adk_plugin_option("Diagnostic: add this ADK plugin. Needs --runtime adk."),
    click.option(
        "-o",
        "--output-format",
        "output",
        type=click.Choice(["text", "json", "stream-json"]),
        help="The format of standard output.  [default: text]",
    ),
    click.option(
        "-r",
        "--resume",
        metavar="[WHICH]",
        is_flag=False,
        flag_value="latest",
        help="Resume a session: `latest`, a number, or an id.",
    ),
    click.option("--session-id", metavar="ID", help="The id of the new session."),
    _file_option("Resume the session of this file.", "--session-file"),
    click.option("--list-sessions", is_flag=True, help="List the sessions of the folder and exit."),
    click.option("--delete-session", metavar="WHICH", help="Delete a session and exit."),
    click.option("-m", "--model", metavar="MODEL", help="The model, or an alias of one."),
    click.option(
        "--provider",
        type=click.Choice(PROVIDERS),
        help="The provider of models.  [default: $PARITY_PROVIDER, the settings, or gemini]",
    ),
    click.option(
        "--base-url",
        metavar="URL",
        help="The address of the provider, or of a server like it. Needs --provider.",
    ),
    click.option(
        "--approval-mode",
        type=click.Choice(["default", "auto_edit", "yolo", "plan"]),
        help="What tools may do without confirmation.",
    ),
    click.option("-y", "--yolo", is_flag=True, help="Short for --approval-mode yolo."),
    _list_option("--policy", "policies", "FILE", "Policy files or folders that replace your own."),
    _list_option(
        "--admin-policy",
        "admin_policies",
        "FILE",
        "Policy files with the priority of the administrator's.",
    ),
    _list_option(
        "--allowed-tools",
        "allowed_tools",
        "TOOL",
        "Tools that run without confirmation. Prefer --policy.",
    ),
    _list_option(
        "--allowed-mcp-server-names", "allowed_servers", "NAME", "The only MCP servers to start."
    ),
    _list_option(
        "--include-directories", "include_directories", "FOLDER", "More folders that tools may use."
    ),
    click.option(
        "-e",
        "--extensions",
        metavar="NAME",
        multiple=True,
        callback=_listed,
        help="The only extensions to use; `none` for none.",
    ),
    click.option(
        "-l", "--list-extensions", is_flag=True, help="List the installed extensions and exit."
    ),
    _file_option(
        "Settings that replace those of the user and the folder.", "--settings", "settings_file"
    ),
    click.option("--skip-trust", is_flag=True, help="Trust the settings of the folder."),
    _file_option("Replay the responses of this file, in order.", "--fake-responses"),
    _file_option(
        "The same, but use the first unused response that matches the request.",
        "--fake-responses-non-strict",
    ),
    _file_option("Write the responses of the model to this file.", "--record-responses"),
    click.option(
        "-d",
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=lambda _ctx, _parameter, given: _log_debug() if given else None,
        help="Write debug logs to standard error.",
    ),
    click.option(
        "--screen-reader/--no-screen-reader",
        default=None,
        help="Write an interactive session as plain lines; overrides the settings.",
    ),
    click.option(
        "--raw-output", is_flag=True, help="Print terminal sequences of the model unchanged."
    ),
    click.option("--accept-raw-output-risk", is_flag=True, help="The same, without the warning."),
    click.option(
        "--telemetry/--no-telemetry",
        default=None,
        help="Switch telemetry on or off; overrides the settings.",
    ),
    _file_option(
        "Append records, spans and metrics to this file instead of sending them.",
        "--telemetry-outfile",
    ),
)


def run_options(command: Command) -> Command:
    """What says how the agent runs; shared with `parity record`. Read by `headless_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@command("agent:agent", cls=AgentCommand)
@click.option(
    "--acp",
    "--experimental-acp",
    "acp",
    is_flag=True,
    help="Serve an editor with the Agent Client Protocol on standard input and output.",
)
@click.option(
    "--a2a",
    "a2a",
    is_flag=True,
    help="Serve editors and other agents with the A2A protocol over HTTP.",
)
@click.option(
    "--host",
    metavar="HOST",
    help="With --a2a: the address to listen on; by default 127.0.0.1.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="With --a2a: the port; by default CODER_AGENT_PORT, or a free one.",
)
@run_options
@click.version_option(None, "-v", "--version", package_name="parity", message="%(version)s")
def agent() -> None:
    """Run an agent with a prompt in the current folder.

    \b
    parity agent 'what is in this folder?'
    git diff | parity agent -p 'review this' -o json --runtime adk
    parity agent -p 'and the tests?' --resume latest -o stream-json
    parity agent extensions --help
    parity agent -p 'fix the test' --provider anthropic -m claude-sonnet-5-5 -y
    parity agent -p hello --provider openai -m qwen3 \\
        --base-url http://localhost:11434/v1

    Authentication: GEMINI_API_KEY, Vertex AI's variables, or GOOGLE_GEMINI_BASE_URL. With
    --provider openai: OPENAI_API_KEY; with --provider anthropic: ANTHROPIC_API_KEY.

    Exit codes: 0 done; 1 failed; 2 wrong usage; 41 authentication failed; 42 invalid input; 52
    invalid settings; 53 turn limit reached; 54 fatal tool error; 130 interrupted.
    """


@command("record:record")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=options.FILE,
    help="The cassette to write, FAMILY/NAME.yaml; folder and file name become its name.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing cassette.")
@click.option("--no-files", is_flag=True, help="Omit the files of the workspace.")
@click.option(
    "--note", default="", metavar="TEXT", help="A description in one line.  [default: the prompt]"
)
@run_options
def record() -> None:
    """Run the agent as `parity agent` does, and record a cassette.

    \b
    parity record --out my/first.yaml -p 'what is in this folder?'
    parity record --out my/edit.yaml -p 'fix the typo in a.txt' -y --runtime adk
    parity run my/first.yaml

    The cassette contains the files of the current folder before the run, the settings, the prompt,
    and every response chunk and error of the model. The requests are in NAME.requests.jsonl beside
    it, one line each.

    Keys and tokens (those of the environment, and texts that look like one) are masked, even across
    chunks. The paths of the folder and of the home are replaced. HTTP headers and files such as
    .env are omitted. If no mask can cover a secret of the environment, nothing is written. Read a
    cassette before you share it.

    Ctrl-C ends the run and writes the recording so far. If the API gives no response (it is not
    reachable, or refuses the key), no file or folder is written.

    Exit codes: those of `parity agent`; 2 if no cassette is written.
    """


@click.group()
def mcp() -> None:
    """Sign in to the MCP servers of the settings.

    \b
    parity mcp auth
    parity mcp auth my-server
    """


@command("mcp:auth", group=mcp)
@click.argument("server", required=False)
@_file_option("Settings that replace those of the user and the folder.", "--settings", "settings")
@click.option("--skip-trust", is_flag=True, help="Trust the settings of the folder.")
@click.option("-y", "--yes", is_flag=True, help="Open the browser without a question.")
def auth() -> None:
    """Sign in to a server with OAuth, in the browser; without SERVER, list those that need it.

    The tokens are stored encrypted in ~/.gemini/gemini-credentials.json and refreshed as needed. Do
    this again when a server rejects them. Where no browser can be opened, the address is printed;
    it must be opened on this machine, as the browser returns to http://localhost.

    \b
    parity mcp auth my-server
    OAUTH_CALLBACK_PORT=7777 parity mcp auth my-server

    Exit codes: 0 signed in; 1 the sign-in failed; 2 wrong usage, or settings that cannot be used;
    130 interrupted.
    """


@click.group("auth")
def google() -> None:
    """Sign in to a Google account for `parity agent`, or sign out.

    \b
    parity auth login
    parity auth logout
    """


@command("auth:login", group=google)
@click.option("--no-browser", is_flag=True, help="Type the code that a page shows.")
def login() -> None:
    """Sign in with OAuth, in the browser.

    Set PARITY_OAUTH_CLIENT_ID and PARITY_OAUTH_CLIENT_SECRET to an OAuth client of the type for
    desktop applications. The tokens are stored encrypted in ~/.gemini/gemini-credentials.json and
    refreshed as needed.

    \b
    parity auth login
    GOOGLE_GENAI_USE_GCA=true parity agent "What is in this folder?"

    Exit codes: 0 signed in; 1 the sign-in failed; 2 wrong usage; 130 interrupted.
    """


@command("auth:logout", group=google)
def logout() -> None:
    """Revoke the tokens of the sign-in, and remove them.

    \b
    parity auth logout

    Exit codes: 0 signed out, or there was no sign-in; 1 the tokens are removed, but could not be
    revoked; 2 wrong usage.
    """


@click.group()
def upstream() -> None:
    """Install, list and remove versions of the published core.

    Several versions can be installed in a cache folder: $PARITY_CACHE_HOME, else the cache of the
    user. The runtime `upstream` is the default version, `upstream@V` the version V. The core needs
    node 20 or newer, on PATH or in $PARITY_NODE; npm installs it.

    \b
    parity upstream install
    parity upstream list
    parity run --control upstream --candidate legacy
    """


@command("upstream:install", group=upstream)
@click.option(
    "--version",
    metavar="V",
    help="An exact version, or a tag such as latest.  [default: that of `upstream`]",
)
def install() -> None:
    """Install a version of the published core with npm.

    Needs about 400 MB of disk. The settings of npm apply (registry, proxy); package scripts do not
    run. An interrupted install does not count as installed.

    \b
    parity upstream install
    parity upstream install --version 0.60.0
    parity upstream install --version latest

    Exit codes: 0 installed, now or before; 2 wrong usage, or it cannot be installed; 130
    interrupted.
    """


@command("upstream:list_", "list", group=upstream)
@click.option("--json", "as_json", is_flag=True, help="Write JSON, sizes in bytes.")
def list_() -> None:
    """List the installed versions, oldest first, with their node version and size.

    The runtime `upstream` runs the version marked `default`.

    \b
    parity upstream list
    parity upstream list --json

    Exit codes: 0, also when nothing is installed; 2 wrong usage, or the folder cannot be read.
    """


@command("upstream:remove", group=upstream)
@click.argument("version", required=False)
@click.option("--all", "remove_all", is_flag=True, help="Remove every installed version.")
def remove() -> None:
    """Remove an installed version of the published core.

    \b
    parity upstream remove 0.60.0
    parity upstream remove --all

    Exit codes: 0 removed; 2 wrong usage, or it is not installed.
    """
