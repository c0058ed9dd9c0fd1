"""Policies: what to do when a model fails, and the catalogue of chains of them.

A chain lists the models that stand in for each other, first choice first. Source: core
`availability/modelPolicy.ts`, `policyCatalog.ts`, `errorClassification.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from services.model.errors import ModelNotFoundError, RetryableQuotaError, TerminalQuotaError
from services.model.names import DEFAULT_PRO, PREVIEW_PRO, AccessFlags, resolve_model
from services.wire import Json

__all__ = [
    "SILENT_ACTIONS",
    "FailureKind",
    "FallbackAction",
    "ModelPolicy",
    "PolicyChain",
    "Transition",
    "classify_failure_kind",
    "default_chain",
    "flash_lite_chain",
    "policy_from_template",
    "preview_chain",
    "single_model_chain",
]


class FailureKind(StrEnum):
    """How a model failed."""

    TERMINAL = "terminal"
    TRANSIENT = "transient"
    NOT_FOUND = "not_found"
    UNKNOWN = "unknown"


class FallbackAction(StrEnum):
    """Whether a model may be switched to unasked."""

    SILENT = "silent"
    PROMPT = "prompt"


class Transition(StrEnum):
    """What becomes of a model that failed."""

    TERMINAL = "terminal"
    STICKY_RETRY = "sticky_retry"


_PROMPTS: Final = dict.fromkeys(FailureKind, FallbackAction.PROMPT)
_TERMINALS: Final = dict.fromkeys(FailureKind, Transition.TERMINAL)
SILENT_ACTIONS: Final[Mapping[FailureKind, FallbackAction]] = dict.fromkeys(
    FailureKind, FallbackAction.SILENT
)
"""The user is not asked, whatever the failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """One model of a chain.

    Attributes:
        model: Its concrete name.
        actions: Whether *this* model may be switched to unasked when another one fails so.
        transitions: What becomes of this model when it fails so; nothing where it is not named.
        is_last_resort: Taken when no model of the chain is available.
        max_attempts: How often it may be tried; `None` leaves it to the settings.
    """

    model: str
    actions: Mapping[FailureKind, FallbackAction] = field(default_factory=lambda: _PROMPTS)
    transitions: Mapping[FailureKind, Transition] = field(default_factory=lambda: _TERMINALS)
    is_last_resort: bool = False
    max_attempts: int | None = None


PolicyChain = tuple[ModelPolicy, ...]


def classify_failure_kind(error: Exception) -> FailureKind:
    """The kind of a failure that has been classified already."""
    if isinstance(error, TerminalQuotaError):
        return FailureKind.TERMINAL
    if isinstance(error, RetryableQuotaError):
        return FailureKind.TRANSIENT
    if isinstance(error, ModelNotFoundError):
        return FailureKind.NOT_FOUND
    return FailureKind.UNKNOWN


def preview_chain(access: AccessFlags, *, auto: bool) -> PolicyChain:
    """The preview pro, then the preview flash. `auto`: the router may have chosen the pro."""
    pro = resolve_model(
        PREVIEW_PRO,
        AccessFlags(gemini31_launched=access.gemini31_launched, custom_tools=access.custom_tools),
    )
    return (_first(pro, auto=auto), _last(access.preview_flash))


def default_chain(access: AccessFlags, *, auto: bool) -> PolicyChain:
    """The stable pro, then the stable flash."""
    return (_first(DEFAULT_PRO, auto=auto), _last(access.default_flash))


def flash_lite_chain(access: AccessFlags) -> PolicyChain:
    """The models for small helpers: the user is never asked about them."""
    return (
        ModelPolicy(model=access.default_flash_lite, actions=SILENT_ACTIONS),
        ModelPolicy(model=access.default_flash, actions=SILENT_ACTIONS),
        ModelPolicy(model=DEFAULT_PRO, actions=SILENT_ACTIONS, is_last_resort=True),
    )


def single_model_chain(model: str) -> PolicyChain:
    """One model that nothing stands in for."""
    return (ModelPolicy(model=model, is_last_resort=True),)


def policy_from_template(template: Mapping[str, Json]) -> ModelPolicy:
    """A policy from its shape in settings; words that mean nothing there mean nothing here.

    What a template leaves out is left out: a failure without an action asks, one without a
    transition changes nothing.
    """
    actions = template.get("actions") or {}
    transitions = template.get("stateTransitions") or {}
    known = set(Transition)
    return ModelPolicy(
        model=template["model"],
        actions={
            kind: FallbackAction.SILENT
            if actions.get(kind.value) == FallbackAction.SILENT.value
            else FallbackAction.PROMPT
            for kind in FailureKind
        },
        transitions={
            kind: Transition(transitions[kind.value])
            for kind in FailureKind
            if transitions.get(kind.value) in known
        },
        is_last_resort=bool(template.get("isLastResort")),
        max_attempts=template.get("maxAttempts"),
    )


def _first(model: str, *, auto: bool) -> ModelPolicy:
    if not auto:
        return ModelPolicy(model=model)
    return ModelPolicy(
        model=model,
        actions={**_PROMPTS, FailureKind.TRANSIENT: FallbackAction.SILENT},
        transitions={**_TERMINALS, FailureKind.TRANSIENT: Transition.STICKY_RETRY},
        max_attempts=3,
    )


def _last(model: str) -> ModelPolicy:
    return ModelPolicy(model=model, is_last_resort=True, max_attempts=10)
