"""An interrupt of npm at the worst moment: the process runs, and Python has no handle yet."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtimes.published.npm import npm_install
from tests.runtimes.published.stand_ins import Machine


def test_an_interrupt_while_npm_begins_ends_npm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine.make(tmp_path, monkeypatch)
    script = machine.npm("exec sleep 600\n")
    begun: list[int] = []
    real = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        child = real(*arguments, **options)
        begun.append(child.pid)
        signal.raise_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    folder = tmp_path / "here"
    folder.mkdir()

    with pytest.raises(KeyboardInterrupt):
        npm_install(script, script, "0.61.0", folder)

    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)
