"""Cassettes as pytest's items: one for each case, judged as by `parity run`.

A process of ours judges them (`parity_entry.serving`). A case's result is attached to pytest's
report, so that the reporting process (another one under pytest-xdist) can settle the waivers over
all cases, write a journal, and say whose problem a red session is. An inconclusive case fails,
because a skip would look green.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from parity_entry.serving import JudgeFailed, Serving

__all__ = ["CassetteHooks"]

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_GLANCE: Final = 8192
_CASSETTE: Final = re.compile(rb'^cassette[ ]*:|[{,]\s*"cassette"\s*:', re.MULTILINE)
"""What stands near the beginning of a cassette; a project has other YAML and JSON files."""
_TRAVELS: Final = "parity_result"
"""The attribute of pytest's report that the result travels in."""


class _NotParity(Exception):
    """A case that is not parity. The message is complete."""


class CassetteFileNode(pytest.File):
    """A cassette's file."""

    serving: Serving

    def collect(self) -> Iterator[pytest.Item]:
        """Its case and variants, unless the option for the phase excludes them.

        Raises:
            CollectError: the file cannot be looked at.
        """
        try:
            found = self.serving.ask("find", path=str(self.path))["cases"]
        except JudgeFailed as failed:
            raise self.CollectError(str(failed)) from None
        for case in found:
            item = CassetteItem.from_parent(self, name=case["name"])
            item.case, item.serving = case, self.serving
            yield item


class CassetteItem(pytest.Item):
    """One cassette through both runtimes."""

    case: dict[str, str]
    """`path`, `root` and `name`, as the process that judges finds the case by."""
    serving: Serving
    outcome: dict[str, Any]
    """The result: `result`, before waivers, and `problem`, why it could not be loaded."""

    def runtest(self) -> None:
        """Judge it.

        Raises:
            _NotParity: with the explainer's words and the command that shows it again.
        """
        self.outcome = {}
        try:
            self.outcome = self.serving.ask("judge", case=self.case)
        except JudgeFailed as failed:
            raise _NotParity(str(failed)) from None
        if self.outcome["skipped"] is not None:
            pytest.skip(self.outcome["skipped"])
        if self.outcome["says"] is not None:
            raise _NotParity(self.outcome["says"])

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | Any:
        """The words alone; a traceback only where the plugin itself is at fault."""
        if isinstance(excinfo.value, _NotParity):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """File, line (none) and name."""
        return self.path, None, self.name


class CassetteHooks:
    """The hooks of a session with `--parity`."""

    def __init__(self, config: pytest.Config, serving: Serving) -> None:
        self._serving = serving
        self._shows = not hasattr(config, "workerinput")
        """This process shows the session's result; a worker of pytest-xdist does not."""
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._lines: list[str] = []

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> CassetteFileNode | None:
        """Collect a cassette; any file that was named itself counts as one."""
        if file_path.suffix not in _SUFFIXES:
            return None
        if not (_is_cassette(file_path) or parent.session.isinitpath(file_path)):
            return None
        node: CassetteFileNode = CassetteFileNode.from_parent(parent, path=file_path)
        node.serving = self._serving
        return node

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach a case's result to its report."""
        report = yield
        if isinstance(item, CassetteItem) and report.when == "call":
            kept = {name: item.outcome.get(name) for name in ("result", "problem")}
            setattr(report, _TRAVELS, {"case": item.case, **kept})
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a result that has arrived."""
        travels: dict[str, Any] | None = getattr(report, _TRAVELS, None)
        if self._shows and travels is not None:
            self._outcomes[travels["case"]["name"]] = travels

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Settle the waivers over all cases, and write the journal."""
        if not self._shows or not self._outcomes:
            return
        outcomes = [self._outcomes[name] for name in sorted(self._outcomes)]
        try:
            report = self._serving.ask("report", outcomes=outcomes)
        except JudgeFailed as failed:
            report = {"lines": [f"parity: {failed}"], "red": True}
        self._lines = report["lines"]
        if report["red"] and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report whose problem it is, if there is one."""
        if self._lines:
            terminalreporter.section("cassettes")
        for line in self._lines:
            terminalreporter.line(line)


def _is_cassette(file: Path) -> bool:
    """Whether a regular file begins like a cassette; does not block on pipes."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return regular and _CASSETTE.search(stream.read(_GLANCE)) is not None
    except OSError:
        return False
