"""Trace a cassette with the code of another revision, in a child process.

The child is `parity trace` of that revision, under this interpreter. This harness reads the trace.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.canonical import printable
from harness.replay.observation import Observation
from harness.triage.checkout import Worktree, clean_environment
from harness.triage.traces import TraceFormatError, read_trace
from services.redaction import redacted

__all__ = ["CannotTrace", "Tracer"]

_MOST_OF_A_REASON: Final = 200
_MOST_OF_STDERR: Final = 64 * 1024
_OBSERVED: Final = frozenset({0, 3})
"""Exit codes of a written trace; after 3 the document has the error of the run."""


class CannotTrace(Exception):
    """The revision cannot trace the cassette. The message says why, on one printable line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracer:
    """Traces one cassette with the revision in a worktree."""

    cassette: Path
    trusted: bool
    scratch: Path
    """A folder for the documents."""
    timeout_s: float

    def trace(self, tree: Worktree, runtime: str) -> Observation:
        """The run of `runtime` of the revision in `tree`.

        Raises:
            CannotTrace: the revision has no such command, does not load, or takes too long.
        """
        if not (tree.root / "harness" / "cli.py").is_file():
            raise CannotTrace("it has no harness/cli.py, so it is not a revision of this project")
        document = self.scratch / "trace.json"
        errors = self.scratch / "stderr.txt"
        code = self._run(tree, runtime, document, errors)
        if code not in _OBSERVED:
            raise CannotTrace(_reason(errors) or f"its `parity trace` exits with {code}")
        try:
            return read_trace(document)
        except TraceFormatError as error:
            raise CannotTrace(_reason(errors) or str(error)) from error

    def _run(self, tree: Worktree, runtime: str, document: Path, errors: Path) -> int:
        words = [sys.executable, "-m", "harness.cli", "trace", str(self.cassette)]
        words += ["--runtime", runtime, *(["--trust"] if self.trusted else [])]
        environment = {**clean_environment(), "PYTHONPATH": _search_path(tree.root)}
        with document.open("wb") as out, errors.open("wb") as err:
            child = subprocess.Popen(
                words,
                cwd=self.scratch,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                return child.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                problem = f"it was not done with {runtime} after {self.timeout_s:g} s"
                raise CannotTrace(problem) from None
            finally:
                _end(child)


def _search_path(root: Path) -> str:
    """`PYTHONPATH` with the revision's packages first, and without those of other revisions."""
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [place for place in before if place and not Path(place, "harness", "cli.py").is_file()]
    return os.pathsep.join([str(root), *others])


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and all processes that it started."""
    with suppress(ProcessLookupError, PermissionError):  # all gone by themselves
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _reason(errors: Path) -> str:
    """The last line of the child's standard error, where Python names the exception."""
    with errors.open("rb") as stream:
        stream.seek(max(0, errors.stat().st_size - _MOST_OF_STDERR))
        said = stream.read().decode(errors="replace")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return printable(redacted(lines[-1])[:_MOST_OF_A_REASON]) if lines else ""
