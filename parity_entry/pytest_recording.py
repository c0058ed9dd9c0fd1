"""`PARITY_RECORD=1 pytest`: the tests' traffic with models as cassettes.

vcrpy sees the HTTP traffic of a test, fixtures included, in whichever client it patches. At the
test's end a process of ours (`parity_entry.serving`) keeps the calls of models, removes secrets and
writes the file. That process starts with the first such traffic. The result is attached to pytest's
report, so that the reporting process (another one under pytest-xdist) can show it.
"""

from __future__ import annotations

import shlex
from collections.abc import Generator
from contextlib import ExitStack
from typing import Any, Final

import pytest
from vcr import VCR
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.record_mode import RecordMode
from vcr.serialize import serialize

from parity_entry.serving import JudgeFailed, Serving

__all__ = ["RecordingHooks"]

_TRAVELS: Final = "parity_recorded"
"""The attribute of pytest's report that the result travels in."""


class RecordingHooks:
    """The hooks of a session that records."""

    def __init__(self, config: pytest.Config, *, replace: bool) -> None:
        """Record; `replace` says whether cassettes that exist are written anew."""
        self._config = config
        self._replace = replace
        self._shows = not hasattr(config, "workerinput")
        """This process shows the session's result; a worker of pytest-xdist does not."""
        self._serving: Serving | None = None
        self._traffic = _Traffic()
        self._running = ExitStack()
        self._done: dict[str, Any] | None = None
        self._results: list[dict[str, Any]] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Begin to record, before the fixtures."""
        self._traffic = _Traffic()
        self._running.enter_context(self._traffic.recorded())
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """End it, after the fixtures, and keep what was recorded."""
        try:
            return (yield)
        finally:
            self._running.close()
            self._done = self._kept(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the result to the report of the teardown, the last one of a test."""
        report = yield
        if call.when == "teardown" and self._done is not None:
            setattr(report, _TRAVELS, self._done)
            self._done = None
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a result that has arrived."""
        travels: dict[str, Any] | None = getattr(report, _TRAVELS, None)
        if self._shows and travels is not None:
            self._results.append(travels)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail the session if a recording was lost."""
        lost = any(each["lost"] for each in self._results)
        if lost and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Report the files, and the next command."""
        if not self._shows:
            return
        terminalreporter.section("recorded cassettes")
        for each in self._results:
            for line in each["lines"]:
                terminalreporter.line(line)
        if not self._results:
            terminalreporter.line("no test called a model over HTTP; no file was written")
        written = [each["file"] for each in self._results if each["file"] is not None]
        if written:
            terminalreporter.line(f"next: parity run {shlex.quote(written[0])}")

    def _kept(self, nodeid: str) -> dict[str, Any] | None:
        """Let the process of ours write what the test recorded; `None` where that is nothing."""
        text = self._traffic.text
        if text is None:
            return None
        if self._serving is None:
            self._serving = Serving()
            self._config.add_cleanup(self._serving.close)
        asked = {"test": nodeid, "traffic": text, "replace": self._replace}
        try:
            kept = self._serving.ask("keep", **asked)
        except JudgeFailed as failed:
            line = f"not recorded: {nodeid}: {failed}"
            return {"lines": [line], "file": None, "lost": True}
        return kept if kept["lines"] else None


class _Traffic:
    """The traffic of one test, as vcrpy's persister: it reads nothing and writes to `text`."""

    def __init__(self) -> None:
        self.text: str | None = None

    def recorded(self) -> Any:
        """Return a context in which vcrpy records."""
        recorder = VCR(
            record_mode=RecordMode.ALL,
            before_record_request=lambda request: request if request.method == "POST" else None,
            decode_compressed_response=True,
        )
        recorder.register_persister(self)
        return recorder.use_cassette("recorded")

    def load_cassette(self, path: str, serializer: Any) -> Any:
        """Find nothing."""
        raise CassetteNotFoundError

    def save_cassette(self, path: str, cassette_dict: dict[str, Any], serializer: Any) -> None:
        """Keep the recording, in vcrpy's format."""
        self.text = serialize(cassette_dict, serializer)
