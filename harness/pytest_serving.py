"""The process that judges the cassettes of a pytest session (`parity_entry.serving`).

It reads requests from standard input and writes answers to standard output, one line of JSON each,
until standard input ends:

    plan    the options' texts, before anything else    {}
    find    `path` of a file                            {cases: [{path, root, name}]}
    judge   `case`, one of these                        {skipped, says, result, problem}
    report  `outcomes`: {case, result, problem} each    {lines, red}
    keep    `test`, its `traffic`, `replace`            {lines, file, lost}

`keep` needs no `plan`: the traffic of a test becomes a file (`harness.http.keeping`).

If a request fails, the answer is {failed} with a message for the user.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final

from harness.cassette.find import CassetteFile, find_cassettes
from harness.commands.run_plan import RunPlan
from harness.errors import HarnessError, LoadProblem, UnusableSide
from harness.experiment.case import CaseOutcome, Skipped
from harness.experiment.with_parent import end_with_parent
from harness.http.keeping import keep_traffic
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.pytest_judging import (
    asked_for,
    description,
    judging,
    session_lines,
    session_report,
    settled_alone,
)
from services.redaction import redacted
from services.redaction import without_credentials as masked

__all__ = ["Session", "main"]

_LAST_CALLS: Final = -6
"""The maximum number of calls in a displayed traceback."""


class Session:
    """Answers the requests of one pytest session."""

    def __init__(self) -> None:
        self._plan: RunPlan | None = None
        self._workers = ExitStack()
        self._judge: Callable[[CassetteFile], CaseOutcome] | None = None
        self._answers: Mapping[str, Callable[..., dict[str, Any]]] = {
            "plan": self._take_plan,
            "find": self._find,
            "judge": self._judged,
            "report": self._report,
            "keep": self._keep,
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request; raise only exceptions that end the process."""
        facts = dict(request)
        before = signal.getsignal(signal.SIGINT)
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return self._answers[facts.pop("request")](**facts)
        except HarnessError as error:
            return {"failed": masked(str(error))}
        except KeyboardInterrupt:
            self.close()
            return {"failed": "interrupted"}
        except Exception:  # noqa: BLE001 - the session goes on, and shows the traceback
            return {"failed": masked(traceback.format_exc(_LAST_CALLS))}
        finally:
            signal.signal(signal.SIGINT, before)

    def close(self) -> None:
        """End the worker; the next case starts a new one."""
        self._judge = None
        self._workers.close()

    @property
    def plan(self) -> RunPlan:
        """The settings of the session."""
        assert self._plan is not None, "`plan` is the first request"
        return self._plan

    def _take_plan(
        self, texts: dict[str, str], paths: list[str], trust: bool, sys_path: list[str]
    ) -> dict[str, Any]:
        # A third-party runtime imports what the session's tests would import.
        sys.path[:] = [*sys_path, *(place for place in sys.path if place not in sys_path)]
        self._plan = asked_for(texts, paths, trust=trust)
        return {}

    def _find(self, path: str) -> dict[str, Any]:
        found = find_cassettes([Path(path)], None, self.plan.phase, variants=True)
        return {"cases": [_case(file) for file in found]}

    def _judged(self, case: dict[str, str]) -> dict[str, Any]:
        if self._judge is None:
            self._judge = self._workers.enter_context(judging(self.plan))
        file = _file(case)
        try:
            outcome = self._judge(file)
        except UnusableSide:
            self.close()
            raise
        answer: dict[str, Any] = {}.fromkeys(("skipped", "says", "result", "problem"))
        if isinstance(outcome, Skipped):
            return answer | {"skipped": f"not of phase {self.plan.phase}"}
        if isinstance(outcome, LoadProblem):
            return answer | {
                "problem": outcome.message,
                "says": redacted(f"not loaded: {outcome.message}"),
            }
        settled = settled_alone(self.plan, outcome)
        green = settled.verdict is CaseVerdict.PARITY
        why = None if green else description(self.plan, settled, file)
        return answer | {"result": outcome.to_json(), "says": why}

    def _keep(self, test: str, traffic: str, replace: bool) -> dict[str, Any]:
        kept = keep_traffic(test, traffic, os.environ, replace=replace)
        file = None if kept.file is None else str(kept.file)
        return {"lines": list(kept.lines), "file": file, "lost": kept.lost}

    def _report(self, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
        files = [_file(each["case"]) for each in outcomes]
        results = {
            file.name: CaseResult.from_json(each["result"])
            for file, each in zip(files, outcomes, strict=True)
            if each["result"] is not None
        }
        problems = {
            file.name: LoadProblem(file=str(file.path), message=each["problem"])
            for file, each in zip(files, outcomes, strict=True)
            if each["problem"] is not None
        }
        report = session_report(self.plan, results, problems, files)
        red = report.verdict is not CaseVerdict.PARITY
        return {"lines": session_lines(report), "red": red}


def _case(file: CassetteFile) -> dict[str, str]:
    return {"path": str(file.path), "root": str(file.root), "name": file.name}


def _file(case: Mapping[str, str]) -> CassetteFile:
    return CassetteFile(Path(case["path"]), Path(case["root"]), case["name"])


def main() -> None:
    """Answer requests until standard input ends."""
    end_with_parent()
    # An interrupt ends the current request. Between requests it has no effect.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger().addHandler(logging.NullHandler())
    session = Session()
    try:
        with _answers_alone() as answers:
            for line in sys.stdin.buffer:
                answers.write(json.dumps(session.answer(json.loads(line))).encode() + b"\n")
                answers.flush()
    finally:
        session.close()


def _answers_alone() -> BinaryIO:
    """Open standard output for answers only; redirect other printed text to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
