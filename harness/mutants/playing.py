"""One run of one case, or one check of the suite, in the forked process that a mutant is in."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from harness.cassette.find import CassetteFile
from harness.detection.playing import Seen, play
from harness.http.case import load_found
from harness.mutants.reach import executed
from harness.mutants.source import CODE_ROOT
from harness.replay.confining import confining
from parity import own_name

__all__ = [
    "CHECKS",
    "DEADLINE_S",
    "MODULES",
    "Request",
    "Traced",
    "TracedCheck",
    "answer",
    "request",
    "traced",
    "traced_check",
]

CHECKS: Final[Mapping[str, str]] = {
    "adk_probes": own_name("parity_tests.adk_probes.checks"),
    "core_answers": own_name("parity_tests.core_answers.checks"),
}
"""By group, the module of the suite that has its checks beside the cassettes.

See `harness.mutants.checks`.
"""

DEADLINE_S: Final = 20.0
"""Real seconds that a run gets where it waits for something real; good ones take one or two."""
_TRACED_S: Final = 100.0
"""What a run gets whose lines are noted, which takes ten times as long."""
MODULES: Final = (
    __name__,
    "harness.replay.runner",
    "harness.http.recorded_yaml",
    "harness.http.replay",
    "services.mcp.session",
    "services.telemetry.providers",
    "services.warm",
)
"""What a process that plays cases has imported, besides the runtimes' own.

Whatever a run would import when it needs it is among them: otherwise each forked process would
import it again, a second of CPU time for the servers of MCP alone.
"""
_TRACED: Final = ("agent_protocol", "runtimes", "services")

Request: TypeAlias = tuple[str, str, str, str, bool]
"""The cassette's file, its root and name, the runtime, and whether the cassette is trusted."""
Traced: TypeAlias = tuple[Seen, Mapping[str, int], float]
"""A run, the lines that it executed, and how many seconds it took."""
TracedCheck: TypeAlias = tuple[tuple[str, ...], Mapping[str, int]]
"""What a check finds wrong, and the lines that it executed."""


def request(file: CassetteFile, runtime: str, *, trusted: bool) -> Request:
    """What `answer` and `traced` take: built-in types, whatever has been imported anew since."""
    return str(file.path), str(file.root), file.name, runtime, trusted


def answer(asked: Request | str) -> Seen | tuple[str, ...]:
    """Play a case, or make the check `GROUP/NAME`: then the answer is what it finds wrong.

    Raises:
        HarnessError: it cannot be played.
    """
    return _checked(asked) if isinstance(asked, str) else _played(asked, DEADLINE_S)


def _checked(name: str) -> tuple[str, ...]:
    group, _, check = name.partition("/")
    wrong: tuple[str, ...] = importlib.import_module(CHECKS[group]).check(check)
    return wrong


def _played(asked: Request, deadline_s: float) -> Seen:
    path, root, name, runtime, trusted = asked
    cassette = load_found(CassetteFile(Path(path), Path(root), name))
    with confining(not trusted):
        return play(cassette, runtime, deadline_s=deadline_s)


def traced(asked: Request) -> Traced:
    """Play a case and note which lines it executes."""
    begun = time.perf_counter()
    with executed(CODE_ROOT, _TRACED) as lines:
        seen = _played(asked, _TRACED_S)
    return seen, lines, time.perf_counter() - begun


def traced_check(name: str) -> TracedCheck:
    """Make a check and note which lines it executes."""
    with executed(CODE_ROOT, _TRACED) as lines:
        wrong = _checked(name)
    return wrong, lines
