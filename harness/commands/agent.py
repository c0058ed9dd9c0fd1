"""`parity agent`: one prompt through a runtime, or a session in the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, TextIO, TypeVar

import click

from harness.command_line.deferred import deferred
from harness.output import stopping_at_broken_output
from harness.sides import with_adk_plugins
from surfaces.acp.program import run_acp
from surfaces.headless.options import HeadlessOptions, OutputFormat

__all__ = ["agent", "headless_options", "opens_terminal"]


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
_NO_A2A: Final = (
    "Error: --a2a needs the packages a2a-sdk[http-server] and uvicorn, and one is not installed; "
    "install them with `pip install 'parity[a2a]'`"
)
_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_-]+")

# Their imports may not delay the answer to an editor.
_run_headless: Final[Callable[..., int]] = deferred("surfaces.headless.program:run_headless")
_run_a2a: Final[Callable[..., int]] = deferred("surfaces.a2a.program:run_a2a")
_run_terminal: Final[Callable[..., int]] = deferred("surfaces.terminal.program:run_terminal")
_session_recorder: Final[Callable[..., Any]] = deferred(
    "harness.live.session_recorder:session_recorder"
)
_telemetry: Final = deferred("services.settings.telemetry:TelemetryOverrides")


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
    outfile = str(outfile) if outfile else None
    asked = enabled is not None or outfile is not None
    telemetry = _telemetry(enabled=enabled, outfile=outfile) if asked else None
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


def opens_terminal(asked: HeadlessOptions) -> bool:
    """Whether the user gets an interactive session: it is asked for, and there is a terminal."""
    streams: tuple[TextIO | None, ...] = (sys.stdin, sys.stdout)
    return asked.opens_terminal and all(each is not None and each.isatty() for each in streams)


def agent(*, acp: bool, a2a: bool, host: str | None, port: int | None, **given: Any) -> int:
    """Run `parity agent`; return its exit code."""
    asked = headless_options(given)
    if acp and a2a:
        raise click.UsageError("--acp and --a2a exclude each other; leave one out")
    if not a2a and (host is not None or port is not None):
        raise click.UsageError("--host and --port are for the server; add --a2a")
    if acp:
        return run_acp(asked, stdin=sys.stdin, err=sys.stderr)
    if a2a:
        return _serve_a2a(asked, host or "127.0.0.1", port)
    if opens_terminal(asked):
        witness = partial(_session_recorder, runtime=asked.runtime)  # For `/bug`.
        return _run_terminal(asked, out=sys.stdout, err=sys.stderr, witness=witness)
    with stopping_at_broken_output():
        return _run_headless(asked, stdin=sys.stdin, out=sys.stdout, err=sys.stderr)


def _serve_a2a(asked: HeadlessOptions, host: str, port: int | None) -> int:
    """Serve other agents; return the exit code: 42 where the packages are missing."""
    if any(find_spec(name) is None for name in ("a2a", "starlette", "uvicorn")):
        print(_NO_A2A, file=sys.stderr)
        return 42
    return _run_a2a(asked, host=host, port=port, err=sys.stderr)
