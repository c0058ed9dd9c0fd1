"""The client of the process that judges cassettes for a pytest session.

The session runs in the user's interpreter, where `harness` or `services` may be the user's own
packages. So a process of ours loads, runs and judges the cassettes. Requests and answers are one
line of JSON each; `harness.pytest_serving` answers them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

__all__ = ["JudgeFailed", "Serving"]

_PROGRAM: Final = Path(__file__).with_name("serve.py")
_GRACE_S: Final = 10.0
"""Seconds for the process to end its workers before it is killed."""
_LAST_WORDS: Final = 2000
"""Bytes of its standard error that are searched for the reason of its end."""


class JudgeFailed(Exception):
    """The process could not answer. The message is complete."""


class Serving:
    """One process that answers one request at a time."""

    def __init__(self) -> None:
        """Start the process. It does not see the terminal's Ctrl-C, which `ask` passes on."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self._owed = 0
        """Number of answers to requests that were interrupted."""

    def ask(self, request: str, **facts: Any) -> dict[str, Any]:
        """Send a request, with `facts` as JSON, and return the answer.

        If the caller is interrupted, the process ends the request too.

        Raises:
            JudgeFailed: the process has ended, or the request failed.
        """
        assert self._child.stdin is not None
        line = json.dumps({"request": request, **facts}).encode() + b"\n"
        try:
            self._child.stdin.write(line)
            self._child.stdin.flush()
            self._owed += 1
            answer = self._answer()
            while self._owed:
                answer = self._answer()
        except BrokenPipeError:
            raise JudgeFailed(self._last_words()) from None
        except JudgeFailed:
            raise
        except BaseException:
            self._child.send_signal(signal.SIGINT)
            raise
        if "failed" in answer:
            raise JudgeFailed(answer["failed"])
        return answer

    def close(self) -> None:
        """End the process and what it started; does nothing the second time."""
        if self._errors.closed:
            return
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with suppress(BrokenPipeError):  # it has ended before
            self._child.stdin.close()
        if self._owed:
            self._child.terminate()
        try:
            self._child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child.stdout.close()
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line.endswith(b"\n"):
            self._owed = 0
            raise JudgeFailed(self._last_words())
        self._owed -= 1
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        code = self._child.wait()
        self._errors.seek(max(0, os.fstat(self._errors.fileno()).st_size - _LAST_WORDS))
        said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        why = f" ({said[-1].strip()})" if said else ""
        return f"the process that judges cassettes has ended with exit code {code}{why}; try again"
