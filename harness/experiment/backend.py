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
from harness.errors import Unplayable
from harness.experiment.limits import Limits
from harness.http.case import HttpCase, load_case
from harness.parity.divergence import ChannelName
from harness.parity.shown import unknown_channels
from harness.replay.handover import script_halves
from harness.replay.observation import Observation
from harness.sides import engines_of, provider_name
from parity import own_name
from runtimes.contract import RuntimeUnavailable, UnusableRuntime
from runtimes.registry import (
    UnknownRuntime,
    check_runtime,
    known_runtimes,
    runtime_traits,
    warm_modules,
)
from services.providers.provider import Provider

__all__ = ["Backend", "LoadedCassette", "real_backend"]

_USUAL: Final = Limits()
_ALWAYS: Final = ("harness.replay.runner", "harness.http.case")
"""The modules that every run needs."""


class LoadedCassette(Protocol):
    """The attributes of a cassette that running and judging read."""

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
        """Ids of the behaviours that the cassette declares."""
        ...

    @property
    def unused(self) -> Collection[int]:
        """Indices of the model steps that the cassette expects to stay unused."""
        ...


def _none(_: Collection[str]) -> list[str]:
    return []


def _fine(_: str) -> None:
    return None


def _plain(cassette: LoadedCassette, _: str) -> LoadedCassette:
    return cassette


def _unchanged(
    cassette: LoadedCassette, _: Collection[str]
) -> tuple[LoadedCassette, tuple[str, ...]]:
    return cassette, ()


def _never(_: LoadedCassette) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """The functions that load and run cases. All must be picklable by name."""

    load: Callable[[Path, Path], LoadedCassette]
    """Load a cassette from its file and root; raises `CassetteError`."""
    run: Callable[[LoadedCassette, str], Observation]
    """Run a cassette once in the named runtime."""
    starts_processes: Callable[[LoadedCassette], str | None]
    """Return why a cassette could start a process of its choosing; `None` if it could not."""
    runtimes: Callable[[], list[str]]
    """Return the names of the known runtimes, sorted."""
    preload: Callable[[Collection[str]], None]
    """Import the modules that the named runtimes need."""
    check: Callable[[str], tuple[str, str] | None] = _fine
    """Return why a runtime cannot be opened on this machine and how to mend that, or `None`."""
    vary: Callable[[LoadedCassette, str], LoadedCassette] = _plain
    """Return the named variant of a cassette."""
    carried: Callable[[LoadedCassette, Collection[str]], tuple[LoadedCassette, tuple[str, ...]]] = (
        _unchanged
    )
    """Return a cassette with the answers that the providers of all given sides carry, and remarks
    about what they do not."""
    can_hand_over: Callable[[LoadedCassette], bool] = _never
    """Return whether a session of the cassette could begin in one runtime and resume in another."""
    modules: Callable[[Collection[str]], list[str]] = _none
    """Return the names of the modules that `preload` imports, for the server of workers."""
    limits: Limits | None = None
    """The limits of one case with one run of each side.

    With limits, every case runs in a worker process, and a watchdog ends a case that exceeds one.
    Without limits, no case is watched, and a run with one job stays in this process.
    """

    def repeated(self, runs: int) -> Backend:
        """Return this backend with limits for cases that run each side `runs` times."""
        return self if self.limits is None else replace(self, limits=self.limits.times(runs))


def real_backend(limits: Limits | None = _USUAL) -> Backend:
    """Return the backend of the harness itself; without `limits` no case is watched."""
    return Backend(
        load=load_case,
        run=_run,
        starts_processes=_starts_processes,
        runtimes=known_runtimes,
        check=_check,
        vary=_vary,
        carried=_carried,
        can_hand_over=_can_hand_over,
        preload=_preload,
        modules=_modules,
        limits=limits,
    )


def _vary(cassette: LoadedCassette, variant: str) -> LoadedCassette:
    return as_variant(cassette, variant) if isinstance(cassette, Cassette) else cassette


def _carried(
    cassette: LoadedCassette, sides: Collection[str]
) -> tuple[LoadedCassette, tuple[str, ...]]:
    providers = {provider_name(side) for side in sides}
    if providers == {None}:
        return cassette, ()
    if not isinstance(cassette, Cassette):
        if len(providers) > 1:
            raise Unplayable("two providers", "recorded traffic has the format of one provider")
        return cassette, ()
    from harness.http.carried import as_carried

    return as_carried(cassette, [Provider(each) for each in sorted(filter(None, providers))])


def _run(cassette: LoadedCassette, runtime: str) -> Observation:
    from harness.replay.runner import run_cassette  # 0.2 s, for workers alone

    if isinstance(cassette, HttpCase):
        return run_cassette(cassette.cassette, runtime, model=cassette.model)
    assert isinstance(cassette, Cassette)
    return run_cassette(cassette, runtime)


def _starts_processes(cassette: LoadedCassette) -> str | None:
    if isinstance(cassette, HttpCase):
        return None  # a headless session in default mode: the policy refuses every command
    assert isinstance(cassette, Cassette)
    return starts_processes(cassette)


def _can_hand_over(cassette: LoadedCassette) -> bool:
    played = cassette.cassette if isinstance(cassette, HttpCase) else cassette
    assert isinstance(played, Cassette)
    return script_halves(played.script) is not None


def _check(name: str) -> tuple[str, str] | None:
    try:
        check_runtime(name)
        unknown = unknown_channels(runtime_traits(name).channels or frozenset())
    except RuntimeUnavailable as missing:
        return missing.problem, missing.mend
    except UnknownRuntime as error:
        return f"unknown runtime {name!r}", f"known: {', '.join(error.known)}"
    if unknown:
        problem = f"the traits of the runtime {name!r} name channels that do not exist"
        return f"{problem}: {', '.join(unknown)}", f"there are {', '.join(ChannelName)}"
    return None


def _preload(names: Collection[str]) -> None:
    with suppress(UnusableRuntime):  # opening the runtime reports the problem
        for module in _modules(names):
            importlib.import_module(module)


def _modules(names: Collection[str]) -> list[str]:
    engines = dict.fromkeys(engine for side in names for engine in engines_of(side))
    return [*map(own_name, _ALWAYS), *warm_modules(list(engines))]
