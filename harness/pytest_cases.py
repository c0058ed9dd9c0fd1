"""Cassettes as pytest's items: one for each file, judged as `parity run` judges it.

What a case comes to travels with pytest's report of it, so that the process that shows them, with
pytest-xdist another one, can settle the waivers over all of them, keep a journal, and say in the
end whose problem it is. An inconclusive case fails: it must not be green, and a skip reads as if.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from harness.commands.run_plan import RunPlan
from harness.errors import HarnessError, LoadProblem
from services.regular_files import open_regular

if TYPE_CHECKING:  # imported when the first cassette runs
    from harness.cassette.find import CassetteFile
    from harness.experiment.case import CaseOutcome
    from harness.parity.verdict import CaseResult
    from harness.report.model import RunReport

__all__ = ["CassetteHooks", "asked_for"]

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_GLANCE: Final = 8192
_CASSETTE: Final = re.compile(rb'^cassette[ ]*:|[{,]\s*"cassette"\s*:', re.MULTILINE)
"""What stands near the beginning of a cassette; a project has other YAML and JSON files."""
_TRAVELS: Final = "parity_result"
"""The attribute of pytest's report that the result travels in."""


class _NotParity(Exception):
    """A case that is not parity. The message is complete as it stands."""


def asked_for(texts: Mapping[str, str], paths: Sequence[str], *, trust: bool) -> RunPlan:
    """Read the options' texts; an empty one was not given.

    Raises:
        pytest.UsageError: one of them cannot be what was meant.
    """
    from harness.commands.options import check_sides, check_writable_file, usual_limits
    from harness.experiment.backend import real_backend
    from harness.experiment.limits import Limits
    from harness.parity.waivers import load_waivers

    now = datetime.now(UTC)
    control, candidate = texts["control"] or "legacy", texts["candidate"] or "adk"
    phase, repeat = texts["phase"] or None, texts["repeat"] or "1"
    try:
        limits = Limits.parse(texts["limits"]) if texts["limits"] else usual_limits()
    except ValueError as error:
        problem = f"--parity-limits: {error}; write it as {Limits()}"
        raise pytest.UsageError(problem) from error
    except HarnessError as error:
        raise pytest.UsageError(f"parity: {error}") from error
    if phase not in (None, "A", "B", "C"):
        raise pytest.UsageError(f"--parity-phase {phase}: write A, B or C")
    if not re.fullmatch(r"[1-9]|1[0-9]|20", repeat):
        raise pytest.UsageError(f"--parity-repeat {repeat}: write a number from 1 to 20")
    try:
        as_of = date.fromisoformat(texts["as_of"]) if texts["as_of"] else now.date()
    except ValueError as error:
        problem = f"--parity-as-of {texts['as_of']}: write a day as 2026-01-31"
        raise pytest.UsageError(problem) from error
    journal = Path(texts["journal"]) if texts["journal"] else None
    waivers = Path(texts["waivers"]) if texts["waivers"] else None
    try:
        check_sides(real_backend(), control, candidate)
        load_waivers(waivers, as_of=as_of)
        check_writable_file(journal, "--parity-journal")
    except HarnessError as error:
        raise pytest.UsageError(f"parity: {error}") from error
    return RunPlan(
        control=control,
        candidate=candidate,
        phase=phase,
        expr=None,
        # Of `tests/x.yaml::name` only the file is a path.
        paths=tuple(Path(path.partition("::")[0]) for path in paths),
        jobs=1,
        limits=limits,
        trust=trust,
        repeat=int(repeat),
        shard="",
        last_failed=False,
        resume=False,
        journal=journal,
        keep=False,
        places={},
        waivers_file=waivers,
        as_of=as_of,
        started_at=now,
    )


class CassetteFileNode(pytest.File):
    """A cassette's file."""

    asked: RunPlan
    judge: Callable[[CassetteFile], CaseOutcome]

    def collect(self) -> Iterator[pytest.Item]:
        """Its one case, unless another phase was asked for."""
        from harness.cassette.find import find_cassettes

        for found in find_cassettes([self.path], None, self.asked.phase, variants=True):
            item = CassetteItem.from_parent(self, name=found.name)
            item.file, item.asked, item.judge = found, self.asked, self.judge
            yield item


class CassetteItem(pytest.Item):
    """One cassette through both runtimes."""

    file: CassetteFile
    asked: RunPlan
    judge: Callable[[CassetteFile], CaseOutcome]
    result: CaseResult | None = None
    """Before waivers, as journals keep it."""
    problem: str | None = None
    """Why the file could not be loaded."""

    def runtest(self) -> None:
        """Judge it.

        Raises:
            _NotParity: with the explainer's words and the command that shows it again.
        """
        from harness.experiment.case import Skipped
        from harness.parity.verdict import CaseVerdict
        from harness.pytest_judging import settled_alone, told
        from services.redaction import redacted

        outcome = self.judge(self.file)
        if isinstance(outcome, Skipped):
            pytest.skip(f"not of phase {self.asked.phase}")
        if isinstance(outcome, LoadProblem):
            self.problem = outcome.message
            raise _NotParity(redacted(f"not loaded: {outcome.message}"))
        self.result = outcome
        settled = settled_alone(self.asked, outcome)
        if settled.verdict is not CaseVerdict.PARITY:
            raise _NotParity(told(self.asked, settled, self.file))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | Any:
        """The words alone; a traceback only where the harness itself is at fault."""
        if isinstance(excinfo.value, _NotParity | HarnessError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it is, and what to call it."""
        return self.path, None, self.name


class CassetteHooks:
    """What takes part in a session with `--parity`."""

    def __init__(self, config: pytest.Config, asked: RunPlan) -> None:
        self._config = config
        self._asked = asked
        self._shows = not hasattr(config, "workerinput")
        """This process shows what comes of the session; a worker of pytest-xdist does not."""
        self._results: dict[str, CaseResult] = {}
        self._problems: dict[str, LoadProblem] = {}
        self._files: dict[str, CassetteFile] = {}
        self._report: RunReport | None = None
        self._worker = ExitStack()
        self._ask: Callable[[CassetteFile], CaseOutcome] | None = None

    def _judge(self, file: CassetteFile) -> CaseOutcome:
        """Judge one cassette in the session's worker, which the first one starts."""
        if self._ask is None:
            from harness.pytest_judging import judging

            self._ask = self._worker.enter_context(judging(self._asked))
        return self._ask(file)

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> CassetteFileNode | None:
        """Take a cassette for a test; a file that was named itself is one in any case."""
        if file_path.suffix not in _SUFFIXES:
            return None
        if not (_is_cassette(file_path) or parent.session.isinitpath(file_path)):
            return None
        node: CassetteFileNode = CassetteFileNode.from_parent(parent, path=file_path)
        node.asked, node.judge = self._asked, self._judge
        return node

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a case's result travel with its report."""
        report = yield
        if isinstance(item, CassetteItem) and report.when == "call":
            result = None if item.result is None else item.result.to_json()
            travels = {"file": _texts(item.file), "result": result, "problem": item.problem}
            setattr(report, _TRAVELS, travels)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a result that has arrived."""
        travels: dict[str, Any] | None = getattr(report, _TRAVELS, None)
        if self._shows and travels is not None:
            from harness.cassette.find import CassetteFile
            from harness.parity.verdict import CaseResult

            path, root, name = travels["file"]
            self._files[name] = CassetteFile(Path(path), Path(root), name)
            if travels["result"] is not None:
                self._results[name] = CaseResult.from_json(travels["result"])
            if travels["problem"] is not None:
                self._problems[name] = LoadProblem(file=path, message=travels["problem"])

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Settle the waivers over all cases, as they count; keep the journal."""
        self._worker.close()
        if not self._shows or not self._files:
            return
        from harness.parity.verdict import CaseVerdict
        from harness.pytest_judging import session_report

        files = [self._files[name] for name in sorted(self._files)]
        self._report = session_report(self._asked, self._results, self._problems, files)
        red = self._report.verdict is not CaseVerdict.PARITY
        if red and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say whose problem it is, if it is anybody's."""
        if self._report is None:
            return
        from harness.report.words import headline
        from harness.triage.blame import blame

        found = blame(self._report)
        terminalreporter.section("cassettes")
        for status in self._report.waivers:
            if status.state not in ("used", "unused"):
                terminalreporter.line(f"waiver {status.id}: {status.state}")
        if found is not None:
            terminalreporter.line(found.line)
        terminalreporter.line(headline(self._report))


def _texts(file: CassetteFile) -> list[str]:
    return [str(file.path), str(file.root), file.name]


def _is_cassette(file: Path) -> bool:
    try:
        with open_regular(file) as stream:
            return _CASSETTE.search(stream.read(_GLANCE)) is not None
    except OSError:
        return False
