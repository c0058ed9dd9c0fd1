"""Name → runtime factory, and which runtime a surface gets under which flags.

Runtimes are found by entry points (group `parity.runtimes`), so another package can add its own,
and in the project file of the current folder (`runtimes/project.py`). Our own runtimes are known
even where this project runs uninstalled. A runtime is imported when it is
opened: google-adk alone takes most of a second.
"""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from parity import own_name
from runtimes.contract import Runtime, RuntimeFactory, RuntimeTraits
from runtimes.loading import (
    check_engine,
    checked,
    factory_of,
    imported,
    needed_modules,
    openable,
    shaped_factory,
    traits_of,
)
from runtimes.project_file import find_project_file
from services.bundle import Services
from services.settings import AdkFlags

__all__ = [
    "FLAG_TABLE",
    "SessionChoice",
    "Surface",
    "UnknownRuntime",
    "check_runtime",
    "choose_session",
    "known_runtimes",
    "open_runtime",
    "open_session",
    "runtime_factory",
    "runtime_point",
    "runtime_traits",
    "third_party_package",
    "warm_modules",
]

_GROUP: Final = "parity.runtimes"
_OURS: Final[Mapping[str, EntryPoint]] = {
    name: EntryPoint(name, own_name(f"runtimes.{name}") + ":open_runtime", _GROUP)
    for name in ("legacy", "adk", "upstream")
}


class UnknownRuntime(LookupError):
    """No runtime of that name is installed."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"unknown runtime {name!r}; known: {', '.join(known)}")
        self.name = name
        self.known = known


def _points() -> dict[str, EntryPoint]:
    found = {point.name: point for point in entry_points(group=_GROUP)}
    if find_project_file() is not None:
        from runtimes.project import project_points  # pydantic, which other folders do not need

        found |= project_points()
    return {**found, **_OURS}


def known_runtimes() -> list[str]:
    """The names that `open_runtime` takes, sorted."""
    return sorted(_points())


def runtime_factory(name: str) -> RuntimeFactory:
    """Import the runtime called `name`, which may be `NAME@VARIANT` where it has variants.

    Raises:
        UnknownRuntime: no runtime has that name.
        UnusableRuntime: it cannot be imported, or is not shaped as a runtime.
    """
    point = _point(name)
    _, at, variant = name.partition("@")
    if not at:
        return factory_of(point)
    make = getattr(imported(point), "variant", None)
    if make is None or not variant:
        raise UnknownRuntime(name, known_runtimes())
    return shaped_factory(point, make(variant))


def runtime_traits(name: str) -> RuntimeTraits:
    """The traits of a runtime.

    Raises:
        UnknownRuntime: no runtime has that name.
        UnusableRuntime: it cannot be imported, or its traits are invalid.
    """
    return traits_of(_point(name), name.partition("@")[2] or None)


def check_runtime(name: str) -> None:
    """Find out whether a runtime can be opened on this machine.

    Raises:
        UnknownRuntime: no runtime has that name.
        UnusableRuntime: it cannot be imported, or is not shaped as a runtime.
        RuntimeUnavailable: something that it needs is missing; says how to mend that.
    """
    point = _point(name)
    checked(point, name.partition("@")[2] or None)
    runtime_factory(name)
    runtime_traits(name)
    if runtime_point(name) is not None:  # ours take time to import
        for module in warm_modules([name]):
            imported(point, module)


def runtime_point(name: str) -> EntryPoint | None:
    """The entry point of a runtime of a third party; `None` for ours and for an unknown name."""
    base = name.partition("@")[0]
    return None if base in _OURS else _points().get(base)


def third_party_package(name: str) -> str:
    """The top package of a third party's runtime; empty for ours and for an unknown name."""
    point = runtime_point(name)
    return "" if point is None else point.value.partition(":")[0].partition(".")[0]


def _point(name: str) -> EntryPoint:
    """The entry point of a runtime.

    Raises:
        UnknownRuntime: no runtime has that name.
    """
    base = name.partition("@")[0]
    # Ours come first, so they need no look at what is installed, which takes milliseconds.
    point = _OURS.get(base) or _points().get(base)
    if point is None:
        raise UnknownRuntime(name, known_runtimes())
    return point


def warm_modules(names: Collection[str]) -> list[str]:
    """Modules whose import makes runtimes ready to open: each package's `warm`, where it has one.

    Raises:
        UnknownRuntime: one of the names is unknown.
        UnusableRuntime: one of them cannot be imported.
    """
    found = []
    for name in names:
        point = _point(name)
        module = imported(point)
        warm = f"{module.__name__}.warm"
        found.append(module.__name__)
        if hasattr(module, "__path__") and importlib.util.find_spec(warm):
            found.append(warm)
        found += needed_modules(point)
    return found


@asynccontextmanager
async def open_runtime(name: str, services: Services) -> AsyncIterator[Runtime]:
    """Open the engine called `name` over `services`; leaving aborts, awaits and disposes.

    Raises:
        UnknownRuntime: no runtime has that name.
        UnusableRuntime: it cannot be imported, or is not shaped as a runtime.
    """
    point = _point(name)
    async with openable(point, runtime_factory(name)(services)) as runtime:
        check_engine(point, runtime)
        yield runtime


class Surface(StrEnum):
    """A surface for users or programs; each has a flag of its own."""

    NONINTERACTIVE = "noninteractive"
    INTERACTIVE = "interactive"
    SUBAGENT = "subagent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChoice:
    """The runtime of a surface. Without `agent_session` the surface does not use the protocol."""

    agent_session: bool
    runtime: str


FLAG_TABLE: Final[Mapping[tuple[bool, bool], SessionChoice]] = {
    (False, False): SessionChoice(agent_session=False, runtime="legacy"),
    (True, False): SessionChoice(agent_session=False, runtime="legacy"),
    (False, True): SessionChoice(agent_session=True, runtime="legacy"),
    (True, True): SessionChoice(agent_session=True, runtime="adk"),
}
"""(`runtimeEnabled`, the surface's own flag) → its runtime.

The surface's own flag decides whether it uses the agent session at all; the runtime flag only
selects the engine. Source: the replatforming plan, foundation item 2.
"""


def choose_session(surface: Surface, flags: AdkFlags) -> SessionChoice:
    """The runtime of `surface` under `flags`."""
    own = {
        Surface.NONINTERACTIVE: flags.agent_session_noninteractive_enabled,
        Surface.INTERACTIVE: flags.agent_session_interactive_enabled,
        Surface.SUBAGENT: flags.agent_session_subagent_enabled,
    }[surface]
    return FLAG_TABLE[flags.runtime_enabled, own]


@asynccontextmanager
async def open_session(surface: Surface, services: Services) -> AsyncIterator[Runtime]:
    """The session factory: open the engine that `surface` runs on under the settings' flags.

    A surface whose own flag is off does not go through the agent session yet; its caller asks
    `choose_session` first and takes the old path. A call without it gets the legacy engine.
    """
    async with open_runtime(
        choose_session(surface, services.settings.adk).runtime, services
    ) as one:
        yield one
