"""The published core's half: its own functions, asked in one process of node."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from runtimes.published import DEFAULT_VERSION, find_node, package_folder

__all__ = ["core_answers"]

_SCRIPT: Final = Path(__file__).with_name("core") / "answer.mjs"


def core_answers(asked: Sequence[tuple[str, Any]]) -> list[Any]:
    """What the core answers to inputs, each with the name of its subject.

    Raises:
        UpstreamUnavailable: The core or node is not installed.
        RuntimeError: The core's half of a subject failed.
    """
    with tempfile.TemporaryDirectory(prefix="parity-core-answers-") as folder:
        out = Path(folder) / "answers.json"
        done = subprocess.run(
            [find_node(), _SCRIPT, package_folder(DEFAULT_VERSION), out],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"the core's half failed:\n{done.stderr}")
        answers: list[Any] = json.loads(out.read_text("utf-8"))
    return answers
