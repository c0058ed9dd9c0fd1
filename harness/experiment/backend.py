"""`Backend`: the functions that load and run cases; tests replace them.

Its functions are module-level, so that worker processes find them by name. No runtime is imported
before `preload`: google-adk alone takes most of a second.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from harness.cassette.format import Cassette
from harness.cassette.trust import starts_processes
from harness.cassette.variants import as_variant
from harness.experiment.limits import Limits
from harness.http.case import HttpCase, load_case
from harness.replay.handover import script_halves
from harness.replay.observation import Observation
from harness.sides import engines_of
from runtimes.contract import RuntimeUnavailable, UnusableRuntime
from runtimes.registry import UnknownRuntime, check_runtime, known_runtimes, warm_modules

__all__ = ["Backend", "LoadedCassette", "real_backend"]

_USUAL: Final = Limits()


class LoadedCassette(Protocol):
    """What running and judging read of a cassette."""

    @property
    def name(self) -> str:
        """`family/behaviour`."""
        ...

    @property
    def phase(self) -> str | None:
        """Rollout phase."""
        ...

    @property
    def contract(self) -> Collection[str]:
        """Ids of the behaviours that it says it exercises."""
        ...

    @property
    def unused(self) -> Collection[int]:
        """The model steps that are meant to be left over."""
        ...


def _none(_: Collection[str]) -> list[str]:
    return []


def _fine(_: str) -> None:
    return None


def _plain(cassette: LoadedCassette, _: str) -> LoadedCassette:
    return cassette


def _never(_: LoadedCassette) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """The functions that do the work. All must be picklable by name."""

    load: Callable[[Path, Path], LoadedCassette]
    """A cassette from its file and root; raises `CassetteError`."""
    run: Callable[[LoadedCassette, str], Observation]
    """One run of it in the runtime of that name."""
    starts_processes: Callable[[LoadedCassette], str | None]
    """Why it could start a process of its choosing, in words."""
    runtimes: Callable[[], list[str]]
    """The known runtimes' names, sorted."""
    preload: Callable[[Collection[str]], None]
    """Import what running these runtimes takes."""
    check: Callable[[str], tuple[str, str] | None] = _fine
    """Why a known runtime cannot be opened on this machine, and what mends that."""
    vary: Callable[[LoadedCassette, str], LoadedCassette] = _plain
    """The variant of that name of a cassette."""
    can_hand_over: Callable[[LoadedCassette], bool] = _never
    """Whether a session could begin in one runtime and resume in another."""
    modules: Callable[[Collection[str]], list[str]] = _none
    """The names of the modules that `preload` imports, for the server that workers fork from."""
    limits: Limits | None = None
    """What one case may use, over one run of each side.

    With limits every case runs in a worker process, and a watchdog ends it if it uses more. Without
    limits no case is watched, and cases that run one by one run in this process.
    """

    def repeated(self, runs: int) -> Backend:
        """The same for cases that run each side so many times."""
        return self if self.limits is None else replace(self, limits=self.limits.times(runs))


def real_backend(limits: Limits | None = _USUAL) -> Backend:
    """The harness itself, with the usual limits or others."""
    return Backend(
        load=load_case,
        run=_run,
        starts_processes=_starts_processes,
        runtimes=known_runtimes,
        check=_check,
        vary=_vary,
        can_hand_over=_can_hand_over,
        preload=_preload,
        modules=_modules,
        limits=limits,
    )


def _vary(cassette: LoadedCassette, variant: str) -> LoadedCassette:
    return as_variant(cassette, variant) if isinstance(cassette, Cassette) else cassette


def _run(cassette: LoadedCassette, runtime: str) -> Observation:
    from harness.replay.runner import run_cassette  # 0.2 s, for workers alone

    if isinstance(cassette, HttpCase):
        return run_cassette(cassette.cassette, runtime, model=cassette.model)
    assert isinstance(cassette, Cassette)
    return run_cassette(cassette, runtime)


def _starts_processes(cassette: LoadedCassette) -> str | None:
    if isinstance(cassette, HttpCase):
        return None  # headless in default mode: the policy refuses every command
    assert isinstance(cassette, Cassette)
    return starts_processes(cassette)


def _can_hand_over(cassette: LoadedCassette) -> bool:
    played = cassette.cassette if isinstance(cassette, HttpCase) else cassette
    assert isinstance(played, Cassette)
    return script_halves(played.script) is not None


def _check(name: str) -> tuple[str, str] | None:
    try:
        check_runtime(name)
    except RuntimeUnavailable as missing:
        return missing.problem, missing.mend
    except UnknownRuntime as unknown:
        return f"unknown runtime {name!r}", f"known: {', '.join(unknown.known)}"
    return None


def _preload(names: Collection[str]) -> None:
    with suppress(UnusableRuntime):  # opening it says what is wrong
        for module in _modules(names):
            importlib.import_module(module)


def _modules(names: Collection[str]) -> list[str]:
    engines = dict.fromkeys(engine for side in names for engine in engines_of(side))
    return ["harness.replay.runner", "harness.http.case", *warm_modules(list(engines))]
