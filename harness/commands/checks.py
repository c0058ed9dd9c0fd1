"""What several commands check before they begin: runtimes, cassettes, and places to write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Final

import click

from harness.cassette.find import CassetteFile, find_cassettes
from harness.commands.naming import near_baselines
from harness.config import default_corpora, default_waivers
from harness.errors import UsageError
from harness.experiment.backend import Backend, real_backend
from harness.experiment.limits import LIMITS_VARIABLE, Limits
from harness.faults.catalogue import faults
from harness.faults.force import breaks_side
from harness.parity.waivers import Waivers, load_waivers
from harness.sides import (
    base_names,
    baseline_folder,
    engines_of,
    provider_name,
    surface_name,
    with_provider,
    with_surface,
)
from harness.wording import did_you_mean, near_words
from harness.wrapping import say
from services.providers.provider import Provider, missing_package

__all__ = [
    "backend_of",
    "chosen_cassettes",
    "current_waivers",
    "fault",
    "over",
    "runtimes",
    "sides",
    "temporary_folder",
    "through",
    "usual_limits",
    "worker_count",
]

_PACKAGES: Final = {
    "terminal": ("textual", "Textual"),
    "acp": ("acp", "agent-client-protocol"),
    "a2a": ("starlette", "Starlette"),
}
"""Surface to the module that it needs, and the name of its package."""


def backend_of(ctx: click.Context, limits: Limits | None = None) -> Backend:
    """The backend that a test handed in, or the real one, with `limits` in place of its own.

    Without `limits` those of the environment count. A backend that watches nothing stays so.

    Raises:
        UsageError: the environment's limits cannot be read, or its runs would have no place.
    """
    temporary_folder()
    backend = ctx.obj if isinstance(ctx.obj, Backend) else real_backend()
    if backend.limits is None:
        return backend
    return replace(backend, limits=usual_limits() if limits is None else limits)


def usual_limits() -> Limits:
    """The limits that the environment sets, or else the defaults.

    Raises:
        UsageError: the environment's cannot be read.
    """
    text = os.environ.get(LIMITS_VARIABLE, "")
    try:
        return Limits.parse(text) if text else Limits()
    except ValueError as error:
        raise UsageError(f"{LIMITS_VARIABLE}: {error}", f"write it as {Limits()}") from error


def temporary_folder() -> None:
    """Refuse a TMPDIR in which no run can have its folders.

    Raises:
        UsageError: naming it.
    """
    asked = os.environ.get("TMPDIR")
    if asked and not (Path(asked).is_dir() and os.access(asked, os.W_OK | os.X_OK)):
        problem = f"TMPDIR is {asked!r}, which is not a writable folder"
        raise UsageError(problem, "set it to one, or unset it")


def chosen_cassettes(
    paths: Sequence[Path],
    expr: str | None,
    phase: str | None = None,
    *,
    variants: bool = False,
    on_stderr: bool = False,
) -> list[CassetteFile]:
    """The cassettes that the command line names; says which corpus where it names none.

    With `variants` each is followed by its variants (`harness.cassette.variants`).

    Raises:
        UsageError, CassetteNotFound: nothing there, or nothing left of it.
    """
    if not paths:
        paths = default_corpora()
        say(f"corpus: {' and '.join(map(str, paths))}", err=on_stderr)
    found = find_cassettes(paths, expr, phase, variants=variants)
    if not found:
        asked = " and ".join(
            text for text in (expr and f"-k {expr!r}", phase and f"--phase {phase}") if text
        )
        raise UsageError(f"no cassette fits {asked}", "see `parity list`")
    found.sort(key=lambda file: file.name)
    for one, other in pairwise(found):
        if one.name == other.name:
            problem = f"two cassettes have the name {one.name!r}: {one.path} and {other.path}"
            raise UsageError(problem, "run them separately, or rename one")
    return found


def runtimes(backend: Backend, *names: str) -> None:
    """Refuse a name that no runtime has.

    Raises:
        UsageError: naming the known ones.
    """
    known = backend.runtimes()
    for side in names:
        if baseline_folder(side) is not None:
            problem = f"{side!r} is a baseline and cannot be run"
            raise UsageError(problem, f"name a runtime: {', '.join(known)}")
        if len(engines_of(side)) > 2:
            problem = f"{side!r} names more than two runtimes"
            raise UsageError(
                problem, "name one that begins the session and one that resumes it: adk+legacy"
            )
    for side in names:
        _surface(side)
        _provider(side)
    for name in dict.fromkeys(engine for side in names for engine in engines_of(side)):
        if name.partition("@")[0] not in known:
            raise UsageError(f"unknown runtime {name!r}", f"known: {', '.join(known)}")
        problem, mend = backend.check(name) or ("", "")
        if problem:
            raise UsageError(problem, mend)


def through(surface: str, side: str) -> str:
    """Return `side` played through `surface`; a side that names a surface stays as it is.

    Raises:
        UsageError: it is a baseline: baselines have no surface.
    """
    if baseline_folder(side) is not None:
        problem = f"{side!r} is a baseline, which was not observed through the {surface}"
        raise UsageError(problem, "name a runtime for each side")
    return side if surface_name(side) is not None else with_surface(side, surface)


def _surface(side: str) -> None:
    """Refuse a surface that cannot show a runtime of this side.

    Raises:
        UsageError: the runtime has a surface of its own, or the surface is not installed.
    """
    surface = surface_name(side)
    if surface is None:
        return
    if "upstream" in base_names(side):
        problem = f"{side!r}: the published core does not run behind our surfaces"
        raise UsageError(problem, "name legacy or adk")
    module, package = _PACKAGES[surface]
    if find_spec(module) is None:
        problem = f"the surface {surface} needs {package}, which is not installed"
        raise UsageError(problem, f"pip install 'parity[{surface}]'")


def over(provider: str, side: str) -> str:
    """Return `side` played over `provider`; a side that names a provider stays as it is.

    Raises:
        UsageError: it is a baseline: baselines have no provider.
    """
    if baseline_folder(side) is not None:
        problem = f"{side!r} is a baseline, which was not observed over {provider}"
        raise UsageError(problem, "name a runtime for each side")
    return side if provider_name(side) is not None else with_provider(side, provider)


def _provider(side: str) -> None:
    """Refuse a provider whose SDK is not installed.

    Raises:
        UsageError: with the command that installs it.
    """
    name = provider_name(side)
    lacks = None if name is None else missing_package(Provider(name))
    if lacks is not None:
        problem, _, mend = lacks.partition("; ")
        raise UsageError(problem, mend)


def sides(backend: Backend, *sides: str) -> None:
    """Refuse what can be no side of a comparison.

    A side is a runtime's name, or `baseline:DIR` with a folder that exists.

    Raises:
        UsageError: naming the known runtimes, or the folder that is missing.
    """
    folders = {side: baseline_folder(side) for side in sides}
    for side, folder in folders.items():
        if folder is not None and (side == "baseline:" or not folder.is_dir()):
            problem = f"{side!r}: there is no folder {str(folder)!r} of baselines"
            mend = "make it with `parity baseline --runtime NAME --out DIR`"
            near = [] if side == "baseline:" else near_baselines(folder)
            raise UsageError(problem, did_you_mean(near, mend))
    runtimes(backend, *(side for side in sides if folders[side] is None))


def fault(name: str | None, *sides: str) -> None:
    """Refuse a seeded fault that there is none of, or that neither side can have.

    Raises:
        UsageError: naming near ones, or the runtime that it is of.
    """
    if name is None:
        return
    known = faults()
    if name not in known:
        mend = did_you_mean(near_words(name, known), "see `parity faults --list`")
        raise UsageError(f"unknown fault {name!r}", mend)
    found = known[name]
    if not any(breaks_side(found, side) for side in sides):
        problem = f"the fault {name} is one of {found.site}, and neither side is one"
        raise UsageError(problem, f"name {found.site} with --control or --candidate")


def current_waivers(file: Path | None) -> Waivers:
    """The waivers in `file`, or else the usual ones, as they hold today (UTC).

    Raises:
        WaiverFileError: the file cannot be used.
    """
    return load_waivers(file or default_waivers(), as_of=datetime.now(UTC).date())


def worker_count(jobs: int) -> int:
    """What `-n` asks for."""
    return jobs or os.cpu_count() or 1
