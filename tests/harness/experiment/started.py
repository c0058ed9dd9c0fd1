"""What worker processes of the guard's tests do: they find it by its name."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from services.leftovers import child_started, folder_made


def a_tree(folder: str, words: str) -> subprocess.Popen[bytes]:
    """Start processes in a session of their own, which hold our standard output.

    `words` is the shell's command, run in `folder`, which is announced as a run's folder.
    """
    Path(folder).mkdir(exist_ok=True)
    folder_made(folder)
    child = subprocess.Popen(["sh", "-c", words], cwd=folder, start_new_session=True)
    child_started(child.pid)
    return child


def a_tree_and_die(task: tuple[str, str]) -> int:
    """The same, and then be killed."""
    a_tree(*task)
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def unannounced_tree_and_die(task: tuple[str, str]) -> int:
    """Be killed between starting a process and announcing it."""
    folder, words = task
    Path(folder).mkdir(exist_ok=True)
    folder_made(folder)
    subprocess.Popen(["sh", "-c", words], cwd=folder, start_new_session=True)
    os.kill(os.getpid(), signal.SIGKILL)
    return 0
