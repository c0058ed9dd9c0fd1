"""Faults of commands, how they are run and what is told of them, written after the corpus."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced

__all__ = ["FAULTS"]

_tools = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.TOOLS, held_out=True)

_PROCESS: Final = "services.tools.shell_process:ShellProcess"


def _one_stream_dropped(subprocess: Any) -> Any:
    return Altered(subprocess, STDOUT=subprocess.DEVNULL)


def _all_is_well(exit_code: Any) -> Any:
    return lambda self: None if exit_code(self) is None else 0


def _as_shells_count(_: Any) -> Any:
    def broken(self: Any) -> int | None:
        code: int | None = self._child.get_returncode()
        return 128 - code if code is not None and code < 0 else code

    return broken


def _nobody(_: Any) -> Any:
    return lambda _self: None


def _as_it_is(_: Any) -> Any:
    return lambda text: text


class _Latin1:
    """A decoder that takes every byte for a character."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """What the bytes would mean."""
        del final
        return data.decode("latin-1")


def _a_byte_a_character(init: Any) -> Any:
    def broken(self: Any, on_output: Any) -> None:
        init(self, on_output)
        self._decoder = _Latin1()

    return broken


def _in_the_workspace(run: Any) -> Any:
    async def broken(self: Any, execution: Any, _folder: Any, jobs_file: Any) -> Any:
        return await run(self, execution, self.host.workspace.root, jobs_file)

    return broken


def _untrimmed(_: Any) -> Any:
    return lambda self: self.raw_text


def _harmless(_: Any) -> Any:
    return lambda _command: False


def _nothing_sniffed(_: Any) -> Any:
    return 0


def _in_milliseconds(init: Any) -> Any:
    return lambda self, limit_s: init(self, limit_s / 1000)


def _no_jobs(_: Any) -> Any:
    return lambda _self, _file, _pid: ()


def _inherited_alone(_: Any) -> Any:
    return lambda inherited: dict(inherited)


def _unmentioned(words: Any) -> Any:
    def broken(self: Any, outcome: Any) -> Any:
        told, shown, data = words(self, outcome)
        return told, shown, None if data is not None and "exitCode" in data else data

    return broken


FAULTS: Final = (
    _tools(
        name="error-output-lost",
        says="What a command writes to its error stream is not told.",
        origin="an adapter that reads one of two pipes",
        breaks=lambda: replaced("services.tools.shell_process:subprocess", _one_stream_dropped),
    ),
    _tools(
        name="exit-code-lost",
        says="A command that failed is told as one that went well.",
        origin="the exit code of the wrapper in the place of the command's",
        breaks=lambda: replaced(f"{_PROCESS}.exit_code", _all_is_well),
    ),
    _tools(
        name="exit-code-not-in-data",
        says="Clients do not get a failed command's exit code as data.",
        origin="a result type without a place for a tool's own data",
        breaks=lambda: replaced("services.tools.shell:_Shell._words", _unmentioned),
    ),
    _tools(
        name="signal-told-as-exit-code",
        says="A command that a signal ended is told with the exit code 128 and some.",
        origin="a shell's convention for commands that signals end",
        breaks=lambda: all_of(
            replaced(f"{_PROCESS}.exit_code", _as_shells_count),
            replaced(f"{_PROCESS}.ended_by", _nobody),
        ),
    ),
    _tools(
        name="colours-kept-in-output",
        says="Escape sequences for terminals stay in a command's output.",
        origin="a filter that sat in the terminal, not in the tool",
        breaks=lambda: replaced("services.tools.shell_process:strip_ansi", _as_it_is),
    ),
    _tools(
        name="output-read-as-latin-1",
        says="A command's output is read a byte a character.",
        origin="the encoding of a pipe left to a default",
        breaks=lambda: replaced(f"{_PROCESS}.__init__", _a_byte_a_character),
    ),
    _tools(
        name="command-folder-ignored",
        says="A command runs in the workspace, whatever folder the call names.",
        origin="an executor that knows one folder",
        breaks=lambda: replaced("services.tools.shell:_Shell._run", _in_the_workspace),
    ),
    _tools(
        name="output-untrimmed",
        says="White space at both ends of a command's output is kept.",
        origin="a trim taken for cosmetics",
        breaks=lambda: replaced(f"{_PROCESS}.text", _untrimmed),
    ),
    _tools(
        name="substitution-let-through",
        says="A command with a command substitution is run instead of refused.",
        origin="a check that stayed behind in the confirmation",
        breaks=lambda: replaced("services.tools.shell:detect_substitution", _harmless),
    ),
    _tools(
        name="binary-output-told-as-text",
        says="Binary output of a command is told as if it were text.",
        origin="a pipe read in text mode",
        breaks=lambda: replaced("services.tools.shell_process:_BINARY_SAMPLE", _nothing_sniffed),
    ),
    _tools(
        name="silence-limit-in-milliseconds",
        says="A command may be silent for as many milliseconds as it should be seconds.",
        origin="a setting in seconds handed to a timer in milliseconds",
        breaks=lambda: replaced("services.tools.shell:_Watch.__init__", _in_milliseconds),
    ),
    _tools(
        name="jobs-left-behind-not-told",
        says="The model is not told of the jobs that a command left running.",
        origin="a command run without the wrapper that writes them down",
        breaks=lambda: replaced("services.tools.shell:_Shell._jobs", _no_jobs),
        closed_by="tools/shell_job_left_behind",
    ),
    _tools(
        name="commands-in-a-plain-environment",
        says="Commands do not get the variables that tell them who runs them, and page nothing.",
        origin="a process started with what was inherited",
        breaks=lambda: replaced("services.tools.shell:shell_environment", _inherited_alone),
    ),
)
