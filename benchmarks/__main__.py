"""`python -m benchmarks [NAME...] [--quick] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast

from benchmarks.figures import MeasurementError, Section, document, table

__all__ = ["MEASUREMENTS", "main"]

MEASUREMENTS: Final = {
    "turns": "benchmarks.turns",
    "adk_step": "benchmarks.adk_step",
    "services": "benchmarks.services_on",
    "memory": "benchmarks.memory",
    "children": "benchmarks.children",
    "published_core": "benchmarks.published_core",
    "harness": "benchmarks.harness_overhead",
    "corpus": "benchmarks.corpus",
    "upstream": "benchmarks.upstream_corpus",
    "generation": "benchmarks.generation",
    "report": "benchmarks.report",
    "explaining": "benchmarks.explaining",
    "help": "benchmarks.help_time",
    "acp_start": "benchmarks.acp_start",
    "terminal": "benchmarks.terminal",
    "a2a_load": "benchmarks.a2a_load",
}


class _Measure(Protocol):
    def __call__(self, *, quick: bool, progress: Callable[[str], None]) -> Section: ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 only when something could not be measured."""
    asked = _parser().parse_args(arguments)
    unknown = [name for name in asked.names if name not in MEASUREMENTS]
    if unknown:
        known = ", ".join(MEASUREMENTS)
        print(
            f"benchmarks: no measurement {', '.join(unknown)}; there are {known}", file=sys.stderr
        )
        return 1
    sections: list[Section] = []
    failures: list[tuple[str, str]] = []
    for name in asked.names or MEASUREMENTS:
        try:
            measure = cast("_Measure", import_module(MEASUREMENTS[name]).measure)
            section = measure(quick=asked.quick, progress=_progress)
        except Exception as error:  # noqa: BLE001 - a border: the other measurements go on
            foreseen = isinstance(error, MeasurementError)
            problem = str(error) if foreseen else f"{type(error).__name__}: {error}"
            failures.append((name, problem))
            print(f"benchmarks: {name} could not be measured: {problem}", file=sys.stderr)
            continue
        sections.append(section)
        print(table(section), end="\n\n", flush=True)
    if asked.json is not None:
        found = document(sections, failures, _facts(quick=asked.quick))
        asked.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Cost as ratios within one run. Exit code 1 only if one could not be measured.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--quick", action="store_true", help="fewer repeats: a rough idea")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    return parser


def _progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _facts(*, quick: bool) -> dict[str, Any]:
    return {"python": platform.python_version(), "cores": os.cpu_count(), "quick": quick}


if __name__ == "__main__":
    sys.exit(main())
