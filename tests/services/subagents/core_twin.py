"""The published core's half of a comparison: the same values through its own code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runtimes.published import DEFAULT_VERSION, find_node, package_folder

VALUES = Path(__file__).with_suffix(".mjs")
DEFINITIONS = Path(__file__).with_name("definitions_twin.mjs")


def from_core(jobs: Sequence[dict[str, Any]], script: Path = VALUES) -> list[Any]:
    """What the core makes of each job, `{kind, …}`; see the scripts beside this file."""
    done = subprocess.run(
        [find_node(), script, package_folder(DEFAULT_VERSION)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: list[Any] = json.loads(done.stderr.rpartition("\0")[2])
    return answers
