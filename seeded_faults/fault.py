"""`Fault`: one way in which a good runtime or service can be broken, and how it is put in.

A fault is a small wrapper around one function, in force while one run lasts. A fault of a runtime
is put into that runtime alone; one of a service into both, which only the comparison with the
published core can show.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias, TypedDict, Unpack

from seeded_faults.patching import all_of, replaced
from seeded_faults.wrappers import Wrap, instead

__all__ = ["Behaviour", "Fault", "Faults", "Site", "faults_in"]


class Site(StrEnum):
    """What is broken."""

    LEGACY = "legacy"
    ADK = "adk"
    SERVICE = "service"


class Behaviour(StrEnum):
    """Which behaviour a fault spoils."""

    ANSWERS = "answers"
    """What the model's stream becomes: text, thoughts, usage, finish reasons, citations."""
    ERRORS = "errors"
    """How a failing model is handled: retries, nudges, errors shown."""
    FALLBACK = "fallback"
    """Models: routing, availability, which model is asked instead of which."""
    TOOLS = "tools"
    """Calls: arguments, order, truncation, states, results."""
    APPROVAL = "approval"
    """Policy, confirmations, approval modes."""
    HOOKS = "hooks"
    LOOPS = "loops"
    """Loop detection, limits, next-speaker checks."""
    CONTEXT = "context"
    """Masking, compression, what is kept of the history."""
    RECORDING = "recording"
    """The chat recording, and a session resumed from it."""
    LIFECYCLE = "lifecycle"
    """Starts, ends, aborts, and the order of events."""
    SUBAGENTS = "subagents"
    """Agents that a call starts: how they end, what they may call, whose services they use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A named fault."""

    name: str
    """Words joined by hyphens, unique: `masking-by-index`."""
    site: Site
    behaviour: Behaviour
    says: str
    """What goes wrong, one sentence."""
    origin: str
    """Where such a fault was seen or would come from: a migration, an upstream change, a review."""
    breaks: Callable[[], AbstractContextManager[None]]
    """Puts the fault in; leaving the context takes it out again. Made of `replaced` alone, so that
    it is known which runs it can touch."""
    held_out: bool = False
    """Written after the corpus was done, so that neither is tuned to the other."""
    closed_by: str | None = None
    """Of a held-out fault that the corpus did not find: the cassette that was added because of it.
    The held-out part goes on counting it as one that was not found."""
    unobservable: str | None = None
    """Why no run can show it, and the test that proves that."""


Unnamed: TypeAlias = "partial[Fault]"
"""A fault that still needs the name of its attribute."""


class _Marks(TypedDict, total=False):
    """What may be said of a fault besides; see `Fault`."""

    closed_by: str
    unobservable: str


@dataclass(frozen=True, slots=True)
class Faults:
    """Makes the faults of one kind. They are attributes of their module, which `faults_in` names.

    Called as a decorator, it makes a fault of the function that runs instead of the target: see
    `seeded_faults.wrappers.instead`. The docstring of the function says what goes wrong.
    """

    site: Site
    behaviour: Behaviour
    held_out: bool = False

    def __call__(
        self, target: str, *, origin: str, **marks: Unpack[_Marks]
    ) -> Callable[[Callable[..., Any]], Unnamed]:
        """Decorate what runs instead of `target`: see `seeded_faults.patching.replaced`."""

        def made(replacement: Callable[..., Any]) -> Unnamed:
            says = inspect.getdoc(replacement) or ""
            return self.wrap(target, instead(replacement), says=says, origin=origin, **marks)

        return made

    def wrap(
        self, target: str, wrap: Wrap, *, says: str, origin: str, **marks: Unpack[_Marks]
    ) -> Unnamed:
        """A fault that puts `wrap(original)` in the place of `target`."""
        return self.wrap_all((target, wrap), says=says, origin=origin, **marks)

    def wrap_all(
        self, *parts: tuple[str, Wrap], says: str, origin: str, **marks: Unpack[_Marks]
    ) -> Unnamed:
        """A fault that wraps several targets."""

        def breaks() -> AbstractContextManager[None]:
            return all_of(*(replaced(target, wrap) for target, wrap in parts))

        return self.breaking(breaks, says=says, origin=origin, **marks)

    def breaking(
        self,
        breaks: Callable[[], AbstractContextManager[None]],
        *,
        says: str,
        origin: str,
        **marks: Unpack[_Marks],
    ) -> Unnamed:
        """A fault whose parts share something for as long as it is in force."""
        return partial(
            Fault,
            site=self.site,
            behaviour=self.behaviour,
            held_out=self.held_out,
            says=says,
            origin=origin,
            breaks=breaks,
            **marks,
        )


def faults_in(package: ModuleType) -> Iterator[Fault]:
    """Import the modules of a package, and name the faults in each of them."""
    for module in pkgutil.iter_modules(package.__path__):
        found = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
        for attribute, value in found.items():
            if isinstance(value, partial) and value.func is Fault:
                yield value(name=attribute.replace("_", "-"))
