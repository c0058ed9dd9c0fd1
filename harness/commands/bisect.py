"""`parity bisect`: which revision is the first in which a cassette is red."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from harness.canonical import printable
from harness.commands import checks
from harness.commands.naming import find_one
from harness.config import to_run, trusted_here, usual_sides
from harness.errors import UsageError
from harness.explain import explain
from harness.replay.observation import Observation
from harness.sides import engines_of
from harness.signals import terminated_like_interrupted
from harness.triage.bisection import Found, Judged, Light, search
from harness.triage.checkout import Checkout
from harness.triage.judging import Judge
from harness.triage.revision import CannotTrace, Tracer
from harness.triage.traces import read_trace
from harness.whole_file import writable_file, write_json
from harness.wrapping import say
from runtimes.registry import runtime_point
from services.redaction import redacted
from services.wire import JsonObject

__all__ = ["bisect"]

_FILES: Final = 10
"""Files of the first red revision that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The command line."""

    cassette: str
    good: str
    bad: str
    control: str | None
    runtime: str | None
    waivers: Path | None
    timeout_s: float
    trust: bool
    json_file: Path | None
    repository: Path


@click.pass_context
def bisect(ctx: click.Context, /, **asked: Any) -> int:
    """Run `parity bisect`; return its exit code."""
    plan = _Asked(**asked)
    writable_file(plan.json_file, "--json")
    return _bisect(ctx, plan)


def _bisect(ctx: click.Context, plan: _Asked) -> int:
    runtime, control = _sides(ctx, plan)
    trust = plan.trust or trusted_here({"runtime": runtime})
    ((_, cassette, trusted),) = to_run([find_one(plan.cassette)], trust=trust)
    waivers = checks.current_waivers(plan.waivers)
    checkout = Checkout.at(plan.repository)
    good, bad = _ends(checkout, plan)
    with terminated_like_interrupted(), tempfile.TemporaryDirectory() as scratch:
        tracer = Tracer(
            cassette=Path(cassette.argument).resolve(),
            trusted=trusted,
            scratch=Path(scratch),
            timeout_s=plan.timeout_s,
            repository=checkout.root,
            theirs=any(map(_is_theirs, (runtime, control))),
        )
        with checkout.worktree() as tree:
            say(f"{checkout.count(good, bad)} revisions to search", err=True)
            judge = Judge(
                tree=tree,
                tracer=tracer,
                runtime=runtime,
                control=runtime if control is None else control,
                waivers=waivers,
                on_judged=lambda judged: _show_judged(checkout, judged),
            )
            if control is None:
                judge.control = _expected(judge, good, plan)
            else:
                _check_end(judge.judge(good), plan.good, "--good", "green", judge)
            _check_end(judge.judge(bad), plan.bad, "--bad", "red", judge)
            found = search(bad, good, checkout.between, judge.judge)
    _show(checkout, plan, found, judge)
    return 3 if found.suspects else 0


def _sides(ctx: click.Context, plan: _Asked) -> tuple[str, str | Observation | None]:
    """The runtime that is judged, and by what; `None`: by what it did in the good revision."""
    backend = checks.backend_of(ctx)
    if plan.control is not None and (
        plan.control.endswith(".json") or Path(plan.control).is_file()
    ):
        expected = read_trace(Path(plan.control))
        runtime = plan.runtime or expected.runtime
        checks.runtimes(backend, runtime)
        return runtime, expected
    if plan.runtime is not None and plan.control is None:
        checks.runtimes(backend, plan.runtime)
        return plan.runtime, None
    usual_control, usual = usual_sides()
    runtime, control = plan.runtime or usual, plan.control or usual_control
    checks.runtimes(backend, control, runtime)
    return runtime, control


def _is_theirs(side: str | Observation | None) -> bool:
    """Whether a runtime of a third party plays on a side."""
    names = engines_of(side) if isinstance(side, str) else ()
    return any(runtime_point(name) is not None for name in names)


def _ends(checkout: Checkout, plan: _Asked) -> tuple[str, str]:
    good = checkout.commit(plan.good, "--good")
    bad = checkout.commit(plan.bad, "--bad")
    if good == bad:
        raise UsageError(f"--good {plan.good} and --bad {plan.bad} are one revision", "name two")
    if not checkout.is_ancestor(good, bad):
        problem = f"--good {plan.good} is not an ancestor of --bad {plan.bad}"
        mend = f"start from `git merge-base {plan.good} {plan.bad}`"
        if checkout.is_ancestor(bad, good):
            mend = "exchange them: the good revision must be the older one"
        raise UsageError(problem, mend)
    return good, bad


def _expected(judge: Judge, good: str, plan: _Asked) -> Observation:
    try:
        return judge.trace(good)
    except CannotTrace as error:
        problem = f"--good {plan.good} cannot be traced: {error}"
        raise UsageError(
            problem, "name another revision, or give a trace with --control"
        ) from error


def _check_end(judged: Judged, revision: str, option: str, light: str, judge: Judge) -> None:
    """Refuse an end of the history that is not what it was said to be."""
    if judged.light == light:
        return
    if judged.light == "skipped":
        problem = f"{option} {revision} is inconclusive: {judged.why}"
        raise UsageError(problem, f"name a revision that is {light}")
    control, runtime = judge.sides(judged.commit)
    if light == "green":
        problem = f"{option} {revision} is red already: {judged.why}"
        raise UsageError(problem, "name an older revision")
    problem = f"{option} {revision} is green: {runtime} agrees with {control} there"
    mend = (
        "commit your changes, or give the options of the red run (--runtime, --control, --waivers)"
    )
    raise UsageError(problem, mend)


def _show_judged(checkout: Checkout, judged: Judged) -> None:
    """Progress, on standard error."""
    why = f"  ({judged.why})" if judged.light == "skipped" else ""
    say(f"{judged.light.value:7}  {checkout.described(judged.commit)}{why}", err=True)


def _show(checkout: Checkout, plan: _Asked, found: Found, judge: Judge) -> None:
    """The answer, on standard output; the line with the revision, or the range, comes last."""
    first = judge.results.get(found.commit)
    said = [] if first is None else explain(first, *judge.sides(found.commit))
    lines = [redacted(line) for line in said]
    skipped = [each for each in found.judged if each.light is Light.SKIPPED]
    files = checkout.touched(f"{found.commit}^", found.commit)
    if found.suspects:
        say("not judged:")
        for suspect in found.suspects:
            why = next((each.why for each in skipped if each.commit == suspect), "")
            say(f"  {checkout.described(suspect)}  ({why})")
    say(f"red from here on: {checkout.described(found.commit)}")
    for line in lines:
        say(f"  {line}")
    for file in files[:_FILES]:
        say(f"  changed there: {printable(file)}")
    if len(files) > _FILES:
        say(f"  … and {len(files) - _FILES} more files")
    looked = f"{len(found.judged) + 2} revisions looked at, {len(skipped)} skipped"
    if found.suspects:
        count = len(found.suspects) + 1
        between = f"{found.green[:12]}..{found.commit[:12]}"
        say(f"the first red revision is one of {count} in {between} ({looked})")
    else:
        say(f"the first red revision is {found.commit} ({looked})")
    if plan.json_file is not None:
        write_json(plan.json_file, _document(found, lines, files))


def _document(found: Found, lines: Sequence[str], files: Sequence[str]) -> JsonObject:
    return {
        "bisect": 1,
        "exact": not found.suspects,
        "first": found.commit,
        "green": found.green,
        "suspects": list(found.suspects),
        "explanation": list(lines),
        "files": list(files),
        "judged": [
            {"commit": each.commit, "light": each.light.value, "why": each.why}
            for each in found.judged
        ],
    }
