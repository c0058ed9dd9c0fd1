"""Faults of commands: how they run and what is reported of them."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import instead, put, result, returns, then

held_out = Faults(Site.SERVICE, Behaviour.TOOLS, held_out=True)
_PROCESS: Final = "services.tools.shell_process:ShellProcess"


@instead
def _as_shells_count(_: Any, self: Any) -> int | None:
    code: int | None = self._child.get_returncode()
    return 128 - code if code is not None and code < 0 else code


error_output_lost = held_out.wrap(
    "services.tools.shell_process:subprocess",
    lambda subprocess: Altered(subprocess, STDOUT=subprocess.DEVNULL),
    says="What a command writes to its error stream is not reported.",
    origin="an adapter that reads one of two pipes",
)
exit_code_lost = held_out.wrap(
    f"{_PROCESS}.exit_code",
    result(lambda found: None if found is None else 0),
    says="A command that failed is reported as one that went well.",
    origin="the exit code of the wrapper in the place of the command's",
)
signal_told_as_exit_code = held_out.wrap_all(
    (f"{_PROCESS}.exit_code", _as_shells_count),
    (f"{_PROCESS}.ended_by", returns(None)),
    says="A command that a signal ended is reported with the exit code 128 and some.",
    origin="a shell's convention for commands that signals end",
)
colours_kept_in_output = held_out.wrap(
    "services.tools.shell_process:strip_ansi",
    instead(lambda _, text: text),
    says="Escape sequences for terminals stay in a command's output.",
    origin="a filter that sat in the terminal, not in the tool",
)
output_untrimmed = held_out.wrap(
    f"{_PROCESS}.text",
    instead(lambda _, self: self.raw_text),
    says="White space at both ends of a command's output is kept.",
    origin="a trim taken for cosmetics",
)
substitution_let_through = held_out.wrap(
    "services.tools.shell:detect_substitution",
    returns(False),
    says="A command with a command substitution is run instead of refused.",
    origin="a check that stayed behind in the confirmation",
)
binary_output_told_as_text = held_out.wrap(
    "services.tools.shell_process:_BINARY_SAMPLE",
    lambda _: 0,
    says="Binary output of a command is returned as if it were text.",
    origin="a pipe read in text mode",
)
silence_limit_in_milliseconds = held_out.wrap(
    "services.tools.shell:_Watch.__init__",
    instead(lambda init, self, limit_s: init(self, limit_s / 1000)),
    says="A command may be silent for as many milliseconds as it should be seconds.",
    origin="a setting in seconds handed to a timer in milliseconds",
)
jobs_left_behind_not_told = held_out.wrap(
    "services.tools.shell:_Shell._jobs",
    instead(lambda _, _self, _file, _pid: ()),
    says="The model does not learn of the jobs that a command left running.",
    origin="a command run without the wrapper that writes them down",
    closed_by="tools/shell_job_left_behind",
)
commands_in_a_plain_environment = held_out.wrap(
    "services.tools.shell:shell_environment",
    instead(lambda _, inherited: dict(inherited)),
    says="Commands do not get the variables that say what runs them, and page nothing.",
    origin="a process started with what was inherited",
)


@held_out(
    "services.tools.shell:_Shell._words",
    origin="a result type without a place for a tool's own data",
)
def exit_code_not_in_data(words: Any, self: Any, outcome: Any) -> Any:
    """Clients do not get a failed command's exit code as data."""
    text, shown, data = words(self, outcome)
    return text, shown, None if data is not None and "exitCode" in data else data


output_read_as_latin_1 = held_out.wrap(
    f"{_PROCESS}.__init__",
    then(put("_decoder", getincrementaldecoder("latin-1")())),
    says="A command's output is read a byte a character.",
    origin="the encoding of a pipe left to a default",
)


command_folder_ignored = held_out.wrap(
    "services.tools.shell:_Shell._run",
    instead(
        lambda run, self, execution, _folder, *more: run(
            self, execution, self.host.workspace.root, *more
        )
    ),
    says="A command runs in the workspace, whatever folder the call names.",
    origin="an executor that knows one folder",
)
