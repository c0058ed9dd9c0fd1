"""`parity adopt`: a finding becomes a cassette of the corpus."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from harness.canonical import printable
from harness.cassette.document import parse_document, read_text
from harness.cassette.find import find_cassettes
from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.cassette.trust import starts_processes
from harness.commands import checks
from harness.errors import HarnessError, UsageError
from harness.experiment.backend import Backend
from harness.experiment.case import Baselined, BaselineTask, CaseTask, baseline, judge
from harness.explain import explain
from harness.http.case import load_case
from harness.live.secrets import Scrubber
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers, settle
from harness.replay.confining import confining
from harness.scenarios.adoption import Place, cleaned, corpus_name, readme_count
from harness.scenarios.shrinking import tidied
from harness.scenarios.trial import Trial, try_document
from harness.wording import counted
from harness.wrapping import say
from services.environment import Environment
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["adopt"]

_CORPUS: Final = Path("cassettes")
_BASELINES: Final = Path("baselines") / "upstream"
_SIDES: Final = ("legacy", "adk")


class _NotAdopted(HarnessError):
    """The runtimes do not agree on the finding."""

    def __init__(self, problem: str, exit_code: int) -> None:
        super().__init__(problem)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What was asked for."""

    found: Path
    name: str | None
    note: str | None
    force: bool
    no_upstream: bool
    trust: bool
    waivers_file: Path | None


@click.pass_context
def adopt(ctx: click.Context, /, **asked: Any) -> None:
    """Run `parity adopt`."""
    _adopt(_Plan(**asked), checks.backend_of(ctx))


def _adopt(plan: _Plan, backend: Backend) -> None:
    if not _CORPUS.is_dir():
        raise UsageError(f"no folder {_CORPUS} here", "go to the checkout's root")
    document = _loaded(plan)
    name = corpus_name(plan.name, str(document["name"]))
    place = Place(_CORPUS, name)
    _check_place(plan, place.file)
    document = _clean(plan, document, name)
    _check_trust(plan, document, place.file)
    waivers = checks.current_waivers(plan.waivers_file)
    trial = _run(plan, document, waivers)
    place.put(tidied(trial.document))
    try:
        upstream = _observe(plan, backend, place.file, name, waivers)
        plan.found.unlink()
    except OSError as error:
        place.undo()
        problem = f"{error.filename or plan.found}: {error.strerror}"
        raise UsageError(problem, "make it writable; nothing was changed") from error
    except BaseException:
        place.undo()
        raise
    say(printable(f"adopted: {place.file}, from {plan.found}"))
    for line in (*_verdict(trial), *upstream, *_left_to_do(name)):
        say(line)


def _loaded(plan: _Plan) -> JsonObject:
    if plan.found.is_dir():
        raise UsageError(f"{plan.found} is a folder", "name one finding")
    (file,) = find_cassettes([plan.found])
    if not isinstance(load_case(file.path, file.root), Cassette):
        problem = f"{plan.found} is recorded HTTP traffic"
        raise UsageError(problem, "put it into cassettes/http by hand; see the README there")
    document: JsonObject = parse_document(
        read_text(plan.found), strict_json=plan.found.suffix == ".json"
    )
    return document


def _check_place(plan: _Plan, file: Path) -> None:
    if plan.found.resolve().is_relative_to(_CORPUS.resolve()):
        raise UsageError(f"{plan.found} is already in the corpus", "name a finding elsewhere")
    if not os.access(plan.found.parent, os.W_OK):
        problem = f"{plan.found} cannot be moved: its folder is not writable"
        raise UsageError(problem, "copy it to a folder that is")
    if file.exists() and not plan.force:
        raise UsageError(f"{file} already exists", "choose another name with --as, or give --force")


def _clean(plan: _Plan, document: JsonObject, name: str) -> JsonObject:
    variables = Environment.of_this_machine().variables
    scrubber = Scrubber(variables, Workspace.at(Path(), Path.home()))
    result = cleaned(document, name, scrubber, plan.note)
    for remark in result.remarks:
        say(remark, err=True)
    return result.document


def _check_trust(plan: _Plan, document: JsonObject, file: Path) -> None:
    try:
        reason = starts_processes(build_cassette(document, file.absolute(), _CORPUS.absolute()))
    except FormatProblem as problem:
        raise problem.in_file(plan.found) from problem
    if reason is not None and not plan.trust:
        raise UsageError(f"not run: {reason}", "read it, then give --trust")


def _run(plan: _Plan, document: JsonObject, waivers: Waivers) -> Trial:
    """Both runtimes on it.

    Raises:
        _NotAdopted: they do not agree.
    """
    with confining(not plan.trust):
        trial = try_document(document, *_SIDES, waivers, root=_CORPUS.absolute())
    verdict = trial.result.verdict
    # What a confined run was ended for is no difference that could be accepted.
    forced = plan.force and (plan.trust or verdict is CaseVerdict.DIVERGENT)
    if verdict is not CaseVerdict.PARITY and not forced:
        reasons = "\n".join(f"  {line}" for line in explain(trial.result, *_SIDES))
        sides = " and ".join(_SIDES)
        raise _NotAdopted(
            f"not adopted: {sides} are {verdict.value} in it; fix that first, or give --force\n"
            f"{reasons}",
            1 if verdict is CaseVerdict.DIVERGENT else 3,
        )
    return trial


def _observe(plan: _Plan, backend: Backend, file: Path, name: str, waivers: Waivers) -> list[str]:
    """Keep what the published core does with it; return the result in lines."""
    words = ["parity", "baseline", str(_CORPUS), "--runtime", "upstream"]
    later = shlex.join([*words, "--out", str(_BASELINES), "-k", name])
    if plan.no_upstream:
        return [f"to do: observe the published core: {later}"]
    problem, mend = backend.check("upstream") or ("", "")
    if problem:
        return [f"to do: {problem}; {mend}; then observe it: {later}"]
    seen = baseline(
        BaselineTask(
            backend=backend,
            name=name,
            file=file,
            root=_CORPUS.absolute(),
            runtime="upstream",
            out=_BASELINES,
            trusted=True,
        )
    )
    if not isinstance(seen, Baselined):
        raise UsageError(f"not adopted: {seen.message}", "observe it later with --no-upstream")
    if seen.doubt is not None:
        return [f"to do: the published core was not observed: {seen.doubt}; later: {later}"]
    return [f"observed: {_BASELINES / name}.json", *_against(backend, file, name, waivers)]


def _against(backend: Backend, file: Path, name: str, waivers: Waivers) -> list[str]:
    """Whether the published core does the same."""
    task = CaseTask(
        backend=backend,
        name=name,
        file=file,
        root=_CORPUS.absolute(),
        control=f"baseline:{_BASELINES}",
        candidate="legacy",
        trusted=True,
    )
    result = judge(task)
    if not isinstance(result, CaseResult):
        return []
    settled = settle([result], waivers)[0][0]
    reasons = [f"  {line}" for line in explain(settled, "upstream", "legacy")]
    return [f"upstream and legacy: {settled.verdict.value}", *reasons]


def _verdict(trial: Trial) -> list[str]:
    return [f"{' and '.join(_SIDES)}: {trial.result.verdict.value}"]


def _left_to_do(name: str) -> list[str]:
    family = name.partition("/")[0]
    there, counted_there = readme_count(_CORPUS, family)
    if counted_there == there:
        return []
    has = f"`{family}` has {counted(there, 'cassette')} now"
    row = "has no row for it" if counted_there is None else f"says {counted_there}"
    return [f"to do: {_CORPUS / 'README.md'}: {has}, the table {row}"]
