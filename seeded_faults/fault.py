"""`Fault`: one way to break a good runtime or service, and how to put it in.

A fault is a small wrapper around a function, in force during one run. A fault of a service breaks
both runtimes, so that only the comparison with the published core can show it.
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
    """The behaviour that a fault breaks."""

    ANSWERS = "answers"
    """What the model's stream becomes: text, thoughts, usage, finish reasons, citations."""
    ERRORS = "errors"
    """How a failing model is handled: retries, nudges, errors shown."""
    FALLBACK = "fallback"
    """Models: routing, availability, fallbacks."""
    TOOLS = "tools"
    """Calls: arguments, order, truncation, states, results."""
    APPROVAL = "approval"
    """Policy, confirmations, approval modes."""
    HOOKS = "hooks"
    LOOPS = "loops"
    """Loop detection, limits, next-speaker checks."""
    CONTEXT = "context"
    """Masking, compression, the history that is kept."""
    RECORDING = "recording"
    """The chat recording, and a session resumed from it."""
    LIFECYCLE = "lifecycle"
    """Starts, ends, aborts, and the order of events."""
    SUBAGENTS = "subagents"
    """Agents that a call starts: how they end, what they may call, whose services they use."""
    INTERACTIVE = "interactive"
    """What only interactive sessions need: live progress, hints, plans, questions, the way back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A named fault."""

    name: str
    """Words joined by hyphens, unique: `masking-by-index`."""
    site: Site
    behaviour: Behaviour
    says: str
    """What goes wrong, in one sentence."""
    origin: str
    """A possible origin of such a fault: a migration, an upstream change, a review."""
    breaks: Callable[[], AbstractContextManager[None]]
    """Puts the fault in; leaving the context takes it out. It uses `replaced` only, which records
    the targets."""
    held_out: bool = False
    """Written after the corpus, to measure the corpus with faults that it does not target."""
    closed_by: str | None = None
    """The cassette that was added because the corpus did not find this held-out fault. Among the
    held-out faults it counts as not found."""
    unobservable: str | None = None
    """Why no run can show it, and the test that proves that."""


Unnamed: TypeAlias = "partial[Fault]"
"""A fault that still needs the name of its attribute."""


class _Marks(TypedDict, total=False):
    """Optional fields of a `Fault`."""

    closed_by: str
    unobservable: str


@dataclass(frozen=True, slots=True)
class Faults:
    """Makes the faults of one kind, as attributes of a module.

    As a decorator, it makes a fault of the function that runs instead of the target
    (`seeded_faults.wrappers.instead`). The function's docstring says what goes wrong.
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
        """A fault that replaces `target` with `wrap(original)`."""
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
        """A fault with a context of its own, whose parts share state."""
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
