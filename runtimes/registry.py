"""Name → runtime factory, and which runtime a surface gets under which flags.

Runtimes are found by entry points (group `parity.runtimes`), so a stranger's package adds its own;
the ones of this project are known even where it runs uninstalled. Nothing is imported before it
is asked for: google-adk alone takes most of a second.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import entry_points
from typing import Final, cast

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime, RuntimeFactory, RuntimeTraits
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
    "open_agent",
    "open_runtime",
    "open_session",
    "runtime_factory",
    "runtime_traits",
    "warm_modules",
]

_GROUP: Final = "parity.runtimes"
_OURS: Final[Mapping[str, str]] = {
    "legacy": "runtimes.legacy:open_runtime",
    "adk": "runtimes.adk:open_runtime",
    "upstream": "runtimes.upstream:open_runtime",
}


class UnknownRuntime(LookupError):
    """No runtime of that name is installed."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"unknown runtime {name!r}; known: {', '.join(known)}")
        self.name = name
        self.known = known


def _targets() -> dict[str, str]:
    found = {entry.name: entry.value for entry in entry_points(group=_GROUP)}
    return {**found, **_OURS}


def known_runtimes() -> list[str]:
    """The names that `open_runtime` takes, sorted."""
    return sorted(_targets())


def runtime_factory(name: str) -> RuntimeFactory:
    """Import the runtime called `name`, which may be `NAME@VARIANT` where it has variants.

    Raises:
        UnknownRuntime: there is none of that name.
    """
    package, attribute = _located(name)
    _, at, variant = name.partition("@")
    module = importlib.import_module(package)
    if not at:
        return cast("RuntimeFactory", getattr(module, attribute))
    make = getattr(module, "variant", None)
    if make is None or not variant:
        raise UnknownRuntime(name, known_runtimes())
    return cast("RuntimeFactory", make(variant))


def runtime_traits(name: str) -> RuntimeTraits:
    """What is known of a runtime before it is opened.

    Raises:
        UnknownRuntime: there is none of that name.
    """
    package, _ = _located(name)
    module = importlib.import_module(package)
    make = getattr(module, "traits", None)
    traits = make(name.partition("@")[2] or None) if make else getattr(module, "TRAITS", None)
    return traits if isinstance(traits, RuntimeTraits) else RuntimeTraits()


def check_runtime(name: str) -> None:
    """Find out whether a runtime can be opened on this machine.

    Raises:
        UnknownRuntime: there is none of that name.
        RuntimeUnavailable: something that it needs is missing; says how to mend that.
    """
    package, _ = _located(name)
    check = getattr(importlib.import_module(package), "check", None)
    if check is not None:
        check(name.partition("@")[2] or None)


def _located(name: str) -> tuple[str, str]:
    """The package of a runtime and the name of its factory in it.

    Raises:
        UnknownRuntime: there is none of that name.
    """
    base = name.partition("@")[0]
    # Ours come first, so they need no look at what is installed, which takes milliseconds.
    target = _OURS.get(base) or _targets().get(base)
    if target is None:
        raise UnknownRuntime(name, known_runtimes())
    package, _, attribute = target.partition(":")
    return package, attribute


def warm_modules(names: Collection[str]) -> list[str]:
    """Modules whose import makes runtimes ready to open: each package's `warm`, where it has one.

    Raises:
        UnknownRuntime: there is none of one of the names.
    """
    found = []
    for name in names:
        package, _ = _located(name)
        found += [
            module for module in (package, f"{package}.warm") if importlib.util.find_spec(module)
        ]
    return found


@asynccontextmanager
async def open_runtime(name: str, services: Services) -> AsyncIterator[Runtime]:
    """Open the engine called `name` over `services`; leaving aborts, awaits and disposes.

    Raises:
        UnknownRuntime: there is none of that name.
    """
    async with runtime_factory(name)(services) as runtime:
        yield runtime


@asynccontextmanager
async def open_agent(
    name: str, services: Services, *, prompt_id: str | None = None
) -> AsyncIterator[AgentProtocol]:
    """Open an engine and one agent over it: all that a client needs for one conversation.

    Raises:
        UnknownRuntime: there is none of that name.
    """
    async with open_runtime(name, services) as runtime:
        yield runtime.agent(prompt_id=prompt_id)


class Surface(StrEnum):
    """What people and programs touch; each has a flag of its own."""

    NONINTERACTIVE = "noninteractive"
    INTERACTIVE = "interactive"
    SUBAGENT = "subagent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChoice:
    """What a surface runs on. Without `agent_session` it takes its old path, past the protocol."""

    agent_session: bool
    runtime: str


FLAG_TABLE: Final[Mapping[tuple[bool, bool], SessionChoice]] = {
    (False, False): SessionChoice(agent_session=False, runtime="legacy"),
    (True, False): SessionChoice(agent_session=False, runtime="legacy"),
    (False, True): SessionChoice(agent_session=True, runtime="legacy"),
    (True, True): SessionChoice(agent_session=True, runtime="adk"),
}
"""(`runtimeEnabled`, the surface's own flag) → what it runs on.

The runtime flag only selects; whether a surface goes through the agent session at all is up to
its own flag, which therefore comes first. Source: the replatforming plan, foundation item 2.
"""


def choose_session(surface: Surface, flags: AdkFlags) -> SessionChoice:
    """What `surface` runs on under `flags`."""
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
    `choose_session` first and takes the old path. Asked all the same, it gets the legacy engine.
    """
    async with open_runtime(
        choose_session(surface, services.settings.adk).runtime, services
    ) as one:
        yield one
