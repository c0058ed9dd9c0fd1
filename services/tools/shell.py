"""`run_shell_command`: one Bash command line in the workspace.

Source: core `tools/shell.ts`, with the interactive shell and the sandbox off.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from agent_protocol.events import TextDisplay, ToolDisplay
from services.confinement import may_start
from services.exhaustion import notice
from services.leftovers import folder_made
from services.private_files import open_private
from services.shell.syntax import (
    command_roots,
    detect_substitution,
    has_redirection,
    parse_command,
    strip_shell_wrapper,
)
from services.steering import InjectionSource
from services.tools.background import background_log, completion_note
from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolKind,
    ToolResult,
)
from services.tools.host import BackgroundCommand
from services.tools.live_output import LiveOutput
from services.tools.parameters import arguments, boolean, integer, string
from services.tools.paths import absolute, access_error
from services.tools.shell_process import ShellProcess, ShellStartError, shell_environment
from services.tools.texts import js_fixed, strip_ansi, wrap_untrusted
from services.wire import JsonObject, js_trim

__all__ = ["ShellTool"]

logger = logging.getLogger(__name__)

_BACKGROUND_DELAY_MS: Final = 200
_SHOWN_COMMAND: Final = 150
_BUILDER_NAMES: Final = (
    "blaze bazel build_cleaner make cmake ninja npm npx yarn pnpm bun cargo mvn gradle gradlew "
    "./gradlew pytest python python3 go"
)
_BUILDERS: Final = frozenset(_BUILDER_NAMES.split())


class ShellTool(DeclarativeTool):
    """Runs a command line."""

    name = "run_shell_command"
    display_name = "Shell"
    kind = ToolKind.EXECUTE
    is_output_markdown = False
    can_update_output = True
    description = (
        "Run a command line with `bash -c` in the workspace and return what it wrote. It leads "
        "its own process group (`kill -- -PGID` ends it) and gets no input; command substitution "
        "is refused. Prefer quiet flags and switch pagers off. The answer has the lines Output "
        "(both streams, `(empty)` for none), Exit Code (unless 0), Error (it could not be "
        "started), Signal (one ended it), Background PIDs (of jobs started with `&`) and Process "
        "Group PGID."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["command"],
        command=string("The command line, as Bash reads it."),
        description=string("What it does, for the user: one short sentence, no line breaks."),
        dir_path=string("Existing folder to run in; the workspace unless given."),
        is_background=boolean(
            "True for a server or watcher that should go on running: the call returns "
            "after a moment with its first output."
        ),
        delay_ms=integer("How long that moment is, in milliseconds; 200 unless given."),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check that there is a command, and access to its folder."""
        if not js_trim(params["command"]):
            return "Command cannot be empty."
        workspace = self.host.workspace
        if params.get("dir_path"):
            return access_error(workspace, absolute(workspace.root, params["dir_path"]))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """The end of a command; `pid` is the process id that the model sees."""

    text: str = ""
    pid: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    error: str | None = None
    jobs: tuple[int, ...] = ()
    aborted: bool = False
    timed_out: bool = False
    let_go: bool = False
    """Still running, in the background."""


@ShellTool.builds
class _Shell(BuiltinInvocation):
    def description(self) -> str:
        words = js_trim(self.params.get("description") or "")
        command: str = self.params["command"]
        return command if len(command) <= _SHOWN_COMMAND or not words else words

    def display_title(self) -> str:
        """The command line."""
        command: str = self.params["command"]
        return command

    def explanation(self) -> str:
        """Its folder, its description, and whether it runs in the background."""
        folder = self.params.get("dir_path")
        root = self.host.workspace.root
        words = f"[in {folder}]" if folder else f"[current working directory {root}]"
        if self.params.get("description"):
            words += f" ({self.params['description'].replace(chr(10), ' ')})"
        return js_trim(words + (" [background]" if self.params.get("is_background") else ""))

    def confirmation_details(self) -> ConfirmationDetails | None:
        command = self._inner
        parsed = parse_command(command)
        if parsed is None or parsed.has_error or not parsed.details:
            shown = (command.split() or ["shell command"])[0]
            if has_redirection(command):
                shown += ", redirection"
        else:
            shown = ", ".join(detail.name for detail in parsed.details)
        fields: dict[str, Any] = {
            "command": self.params["command"],
            "rootCommand": shown,
            "rootCommands": list(dict.fromkeys(command_roots(command))),
        }
        if self._build_files:
            fields["modifiedBuildFiles"] = self._build_files
        return ConfirmationDetails(type="exec", title="Confirm Shell Command", fields=fields)

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        always = (
            ConfirmationOutcome.PROCEED_ALWAYS,
            ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE,
        )
        if outcome not in always or self._build_files:
            return None
        roots = list(dict.fromkeys(command_roots(self._inner)))
        update: dict[str, Any] = {"commandPrefix": roots or self.params["command"]}
        if has_redirection(self._inner):
            update["allowRedirection"] = True
        return update

    @property
    def _inner(self) -> str:
        return strip_shell_wrapper(self.params["command"])

    @property
    def _build_files(self) -> list[str]:
        """The build files edited in this session, if the command builds."""
        return [str(path) for path in self.host.modified_build_files] if self._builds else []

    @property
    def _builds(self) -> bool:
        roots = command_roots(self._inner)
        if not roots:
            words = self._inner.split()
            while words and ("=" in words[0] or words[0].lower() in ("sudo", "env", "time")):
                words.pop(0)
            roots = words[:1]
        return any(_base_name(root) in _BUILDERS or root.lower() in _BUILDERS for root in roots)

    async def execute(self, execution: ToolExecution) -> ToolResult:
        if detect_substitution(self._inner):
            return ToolResult(
                llm_content=(
                    "Command injection detected: command substitution syntax ($(), backticks, "
                    "<() or >()) found in command arguments. On PowerShell, @() array "
                    "subexpressions and $() subexpressions are also blocked. This is a security "
                    "risk and the command was blocked."
                ),
                return_display="Blocked: command substitution detected in shell command.",
            )
        if execution.signal.aborted:
            return ToolResult(
                llm_content="Command was cancelled by user before it could start.",
                return_display="Command cancelled by user.",
            )
        workspace = self.host.workspace
        folder = absolute(workspace.root, self.params.get("dir_path") or ".")
        if failure := self.access_failure(folder):
            return failure
        may_start(self._inner)
        notes = Path(tempfile.mkdtemp(prefix="gemini-shell-"))
        folder_made(str(notes))
        try:
            with self.host.clock.real_work():
                return await self._run(execution, Path(folder), notes / "bgpids.tmp")
        finally:
            if not any(command.notes.parent == notes for command in self.host.background):
                shutil.rmtree(notes, ignore_errors=True)

    async def _run(self, execution: ToolExecution, folder: Path, jobs_file: Path) -> ToolResult:
        background = bool(self.params.get("is_background"))
        show = None if background else execution.update_output
        live = LiveOutput(self.host.clock, show)
        watch = _Watch(self.host.settings.shell_inactivity_timeout_s)

        def on_output(piece: str | int) -> None:
            watch.touch()
            if isinstance(piece, str):
                live.add(piece)
            else:
                live.binary(piece)

        def started(process_id: int) -> None:
            if execution.set_process_id is not None:
                execution.set_process_id(self.host.process_ids.shown(process_id))

        try:
            process = await ShellProcess.start(
                _wrapped(self._inner, jobs_file),
                folder=folder,
                environment=shell_environment(self.host.environment.child_variables),
                on_output=on_output,
                on_start=started,
            )
        except ShellStartError as error:
            return self._report(_Outcome(error=str(error), exit_code=1))
        shown_pid = self.host.process_ids.shown(process.pid)
        off = execution.signal.on_abort(process.end)
        watch.begin(process.end)
        try:
            if background:
                if not await self._ends_soon(process):
                    self._let_go(process, shown_pid, jobs_file)
                    return self._report(_Outcome(text=live.text, pid=shown_pid, let_go=True))
                # Upstream's timer has no process to move and still records it as running.
                self._open_log(shown_pid, "")
                self.host.background_history.started(shown_pid, self._inner)
            await asyncio.wait([process.closed])
            live.flush()
        except BaseException:
            # The task was cancelled: end the command before the exception goes on.
            await process.kill_and_wait()
            raise
        finally:
            off()
            watch.end()
            await live.close()
        return self._report(
            _Outcome(
                text=process.text,
                pid=shown_pid,
                exit_code=process.exit_code,
                signal=process.ended_by,
                jobs=self._jobs(jobs_file, process.pid),
                aborted=execution.signal.aborted or watch.expired,
                timed_out=watch.expired,
            )
        )

    async def _ends_soon(self, process: ShellProcess) -> bool:
        """Whether the command ends within its delay, in real time."""
        delay = self.params.get("delay_ms")
        delay = _BACKGROUND_DELAY_MS if delay is None else delay
        await asyncio.wait([process.closed], timeout=max(0, delay) / 1000)
        return process.closed.done()

    def _let_go(self, process: ShellProcess, shown_pid: int, jobs_file: Path) -> None:
        """Make a running command a background command of the session, with a log file."""
        background = self.host.background
        history = self.host.background_history
        history.started(shown_pid, self._inner, process.kill)
        text = process.raw_text
        log = self._open_log(shown_pid, f"{text}\n" if text else "")

        def write(piece: str | int) -> None:
            if isinstance(piece, str) and log is not None:
                with open_private(log, "a", encoding="utf-8") as stream:
                    stream.write(strip_ansi(piece))
                history.wrote()

        process.divert(write)
        command = BackgroundCommand(
            pid=process.pid, closed=process.closed, kill=process.kill, notes=jobs_file
        )
        background.append(command)

        def ended(_: asyncio.Future[None]) -> None:
            if command in background:
                background.remove(command)
            history.ended(shown_pid, exit_code=process.exit_code, signal=process.ended_by)
            self._report_end(shown_pid, process.text)
            shutil.rmtree(jobs_file.parent, ignore_errors=True)

        process.closed.add_done_callback(ended)

    def _report_end(self, shown_pid: int, output: str) -> None:
        """Send the running agents a note, if the settings say so."""
        log = background_log(self.host.workspace.home, shown_pid)
        note = completion_note(self.host.settings.background_completion, log, output)
        if note is not None and self.host.steering is not None:
            self.host.steering.add(note, InjectionSource.BACKGROUND_COMPLETION)

    def _open_log(self, shown_pid: int, text: str) -> Path | None:
        """A new log that begins with `text`; `None` if it cannot be created.

        An existing file is neither followed nor overwritten: it may be a link.
        """
        log = background_log(self.host.workspace.home, shown_pid)
        try:
            log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open_private(log, "x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            notice(error, log)
            logger.warning("no log for background process %d: %s", shown_pid, error)
            return None
        return log

    def _jobs(self, jobs_file: Path, pid: int) -> tuple[int, ...]:
        """The shown process ids of the jobs that are left after the command."""
        try:
            lines = jobs_file.read_text(encoding="utf-8").split()
        except OSError as error:
            notice(error)
            return ()
        return tuple(
            self.host.process_ids.shown(int(line))
            for line in lines
            if line.isdecimal() and int(line) != pid
        )

    def _report(self, outcome: _Outcome) -> ToolResult:
        content, shown, data = self._words(outcome)
        summary = f"PID: {outcome.pid}" if outcome.let_go else None
        if outcome.exit_code:
            summary = f"Exit Code: {outcome.exit_code}"
        error = None
        if outcome.error is not None:
            error = ToolFailure(message=outcome.error, type=ToolErrorType.SHELL_EXECUTE_ERROR)
        return ToolResult(
            llm_content=wrap_untrusted(content),
            return_display=shown,
            error=error,
            display=ToolDisplay(
                name=ShellTool.display_name,
                description=self.description(),
                result_summary=summary,
                result=TextDisplay(text=shown),
            ),
            data=data,
        )

    def _words(self, outcome: _Outcome) -> tuple[str, str, JsonObject | None]:
        """The texts for the model and for the user, and the data for the client."""
        if outcome.aborted:
            return self._aborted(outcome)
        if self.params.get("is_background"):
            moved = (
                f"Command moved to background (PID: {outcome.pid}). Output hidden. Press Ctrl+B "
                "to view."
            )
            command = self.params["command"]
            return (
                moved,
                moved,
                {"pid": outcome.pid, "command": command, "initialOutput": outcome.text},
            )
        lines = [f"Output: {outcome.text or '(empty)'}"]
        shown = outcome.text
        data: JsonObject | None = None
        if outcome.exit_code:
            data = {"exitCode": outcome.exit_code, "isError": True}
            shown = shown or f"Command exited with code: {outcome.exit_code}"
        if outcome.error is not None:
            lines.append(f"Error: {outcome.error}")
            shown = f"Command failed: {outcome.error}"
        if outcome.exit_code:
            lines.append(f"Exit Code: {outcome.exit_code}")
        if outcome.signal:
            lines.append(f"Signal: {outcome.signal}")
            shown = shown or f"Command terminated by signal: {outcome.signal}"
        if outcome.jobs:
            lines.append(f"Background PIDs: {', '.join(map(str, outcome.jobs))}")
        if outcome.pid is not None:
            lines.append(f"Process Group PGID: {outcome.pid}")
        return "\n".join(lines), shown, data

    def _aborted(self, outcome: _Outcome) -> tuple[str, str, None]:
        content = "Command was cancelled by user before it could complete."
        shown = "Command cancelled by user."
        if outcome.timed_out:
            minutes = js_fixed(self.host.settings.shell_inactivity_timeout_s / 60, 1)
            content = shown = (
                "Command was automatically cancelled because it exceeded the timeout of "
                f"{minutes} minutes without output."
            )
        if not outcome.text:
            return f"{content} There was no output before it was cancelled.", shown, None
        return (
            f"{content} Below is the output before it was cancelled:\n{outcome.text}",
            f"{shown}\n\nOutput before cancellation:\n{outcome.text}",
            None,
        )


class _Watch:
    """Calls a function after a period of inactivity, in real time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._expire: asyncio.TimerHandle | None = None
        self._action: Callable[[], None] | None = None
        self.expired = False

    def begin(self, action: Callable[[], None]) -> None:
        self._action = action
        self.touch()

    def touch(self) -> None:
        """Restart the period."""
        if self._expire is not None:
            self._expire.cancel()
        if self._action is not None and self._limit_s > 0:
            loop = asyncio.get_running_loop()
            self._expire = loop.call_later(self._limit_s, self._fire, self._action)

    def end(self) -> None:
        if self._expire is not None:
            self._expire.cancel()

    def _fire(self, action: Callable[[], None]) -> None:
        self.expired = True
        action()


def _wrapped(command: str, jobs_file: Path) -> str:
    """`command` in a subshell that writes the ids of its background jobs to `jobs_file`.

    The line breaks end heredocs and comments at the end of the command.
    """
    text = js_trim(command)
    if text.endswith("\\"):
        text += " "
    return (
        f"_bgpids_file={shlex.quote(str(jobs_file))}\n"
        f"(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n{text}\n)\n__code=$?\nexit $__code"
    )


def _base_name(program: str) -> str:
    name = program.replace("\\", "/").rsplit("/", 1)[-1] or program
    return re.sub(r"\.(exe|cmd|bat)$", "", name.lower())
