"""Trace a cassette with the code of another revision, in a child process.

The child is `parity trace` of that revision, under this interpreter. For a third party's runtime it
is the `parity trace` of this installation, with the runtime's code of that revision. This harness
reads the trace.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.canonical import printable
from harness.replay.observation import Observation
from harness.triage.checkout import Worktree, clean_environment
from harness.triage.traces import TraceFormatError, read_trace
from parity import ROOT
from runtimes.project_file import PROJECT_FILE, find_project_file
from services.redaction import redacted

__all__ = ["CannotTrace", "Tracer"]

_MOST_OF_A_REASON: Final = 200
_MOST_OF_STDERR: Final = 64 * 1024
_ENTRY: Final = ROOT if (ROOT / "parity_entry").is_dir() else ROOT.parent
"""The folder of `parity_entry`, in a checkout and in a wheel."""
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
    repository: Path
    """The repository whose revisions are traced."""
    theirs: bool = False
    """Whether its code is that of third parties' runtimes, and not this project."""

    def trace(self, tree: Worktree, runtime: str) -> Observation:
        """Return the run of `runtime` of the revision in `tree`.

        Raises:
            CannotTrace: the revision has no such command, does not load, or takes too long.
        """
        if not self.theirs and not (tree.root / "harness" / "cli.py").is_file():
            raise CannotTrace("it has no harness/cli.py, so it is not a revision of this project")
        folder = self._project_in(tree) if self.theirs else self.scratch
        document = self.scratch / "trace.json"
        errors = self.scratch / "stderr.txt"
        code = self._run(tree, folder, runtime, document, errors)
        if code not in _OBSERVED:
            raise CannotTrace(_reason(errors) or f"its `parity trace` exits with {code}")
        try:
            return read_trace(document)
        except TraceFormatError as error:
            raise CannotTrace(_reason(errors) or str(error)) from error

    def _project_in(self, tree: Worktree) -> Path:
        """Return the folder of the project in the revision, or the scratch folder without one.

        Raises:
            CannotTrace: there is a project file now, and the revision has none.
        """
        file = find_project_file()
        top = self.repository.resolve()
        if file is None or not file.resolve().is_relative_to(top):
            return self.scratch
        folder = tree.root / file.resolve().parent.relative_to(top)
        if not (folder / PROJECT_FILE).is_file():
            raise CannotTrace(f"it has no {PROJECT_FILE}")
        return folder

    def _run(self, tree: Worktree, folder: Path, runtime: str, document: Path, errors: Path) -> int:
        module = "parity_entry" if self.theirs else "harness.cli"
        safely = ["-P"] if self.theirs else []
        words = [sys.executable, *safely, "-m", module, "trace", str(self.cassette)]
        words += ["--runtime", runtime, *(["--trust"] if self.trusted else [])]
        path = _theirs_first(self.repository, tree.root) if self.theirs else _search_path(tree.root)
        environment = {**clean_environment(), "PYTHONPATH": path}
        with document.open("wb") as out, errors.open("wb") as err:
            child = subprocess.Popen(
                words,
                cwd=folder,
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


def _theirs_first(repository: Path, tree: Path) -> str:
    """`PYTHONPATH` on which the folders of a repository are those of a revision.

    This project comes last: it may be imported from a folder on this process's path.
    """
    top, found = repository.resolve(), [tree]
    for name in sys.path:
        place = Path(name or ".").resolve()
        if place.is_relative_to(top) and not place.is_relative_to(ROOT):
            found.append(tree / place.relative_to(top))
        elif name in os.environ.get("PYTHONPATH", "").split(os.pathsep):
            found.append(place)
    ours = [] if Path(sysconfig.get_path("purelib")).resolve() == _ENTRY else [_ENTRY]
    return os.pathsep.join(map(str, dict.fromkeys([*found, *ours])))


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and all processes that it started."""
    with suppress(ProcessLookupError, PermissionError):  # all have ended by themselves
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _reason(errors: Path) -> str:
    """Return the last line of the child's standard error, where Python names the exception."""
    with errors.open("rb") as stream:
        stream.seek(max(0, errors.stat().st_size - _MOST_OF_STDERR))
        said = stream.read().decode(errors="replace")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return printable(redacted(lines[-1])[:_MOST_OF_A_REASON]) if lines else ""
