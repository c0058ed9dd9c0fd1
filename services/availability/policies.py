"""Policies for a model's failures, and the built-in chains of them.

A chain lists models that replace each other, first choice first. Source: core
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
    """Whether switching to a model needs the user's consent."""

    SILENT = "silent"
    PROMPT = "prompt"


class Transition(StrEnum):
    """The state of a model after a failure."""

    TERMINAL = "terminal"
    STICKY_RETRY = "sticky_retry"


_PROMPTS: Final = dict.fromkeys(FailureKind, FallbackAction.PROMPT)
_TERMINALS: Final = dict.fromkeys(FailureKind, Transition.TERMINAL)
SILENT_ACTIONS: Final[Mapping[FailureKind, FallbackAction]] = dict.fromkeys(
    FailureKind, FallbackAction.SILENT
)
"""No failure asks the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """One model of a chain.

    Attributes:
        model: Its concrete name.
        actions: How to switch to *this* model when another fails in that way.
        transitions: The state of this model after it failed in that way; unnamed: unchanged.
        is_last_resort: Used when no model of the chain is available.
        max_attempts: The limit on attempts; `None`: that of the settings.
    """

    model: str
    actions: Mapping[FailureKind, FallbackAction] = field(default_factory=lambda: _PROMPTS)
    transitions: Mapping[FailureKind, Transition] = field(default_factory=lambda: _TERMINALS)
    is_last_resort: bool = False
    max_attempts: int | None = None


PolicyChain = tuple[ModelPolicy, ...]


def classify_failure_kind(error: Exception) -> FailureKind:
    """Return the kind of a classified failure."""
    if isinstance(error, TerminalQuotaError):
        return FailureKind.TERMINAL
    if isinstance(error, RetryableQuotaError):
        return FailureKind.TRANSIENT
    if isinstance(error, ModelNotFoundError):
        return FailureKind.NOT_FOUND
    return FailureKind.UNKNOWN


def preview_chain(access: AccessFlags, *, auto: bool) -> PolicyChain:
    """The preview pro, then the preview flash. `auto`: the router may choose the model."""
    pro = resolve_model(
        PREVIEW_PRO,
        AccessFlags(gemini31_launched=access.gemini31_launched, custom_tools=access.custom_tools),
    )
    return (_first(pro, auto=auto), _last(access.preview_flash))


def default_chain(access: AccessFlags, *, auto: bool) -> PolicyChain:
    """The stable pro, then the stable flash."""
    return (_first(DEFAULT_PRO, auto=auto), _last(access.default_flash))


def flash_lite_chain(access: AccessFlags) -> PolicyChain:
    """The models for utility requests; the user is never asked."""
    return (
        ModelPolicy(model=access.default_flash_lite, actions=SILENT_ACTIONS),
        ModelPolicy(model=access.default_flash, actions=SILENT_ACTIONS),
        ModelPolicy(model=DEFAULT_PRO, actions=SILENT_ACTIONS, is_last_resort=True),
    )


def single_model_chain(model: str) -> PolicyChain:
    """One model without a replacement."""
    return (ModelPolicy(model=model, is_last_resort=True),)


def policy_from_template(template: Mapping[str, Json]) -> ModelPolicy:
    """Read a policy of the settings; unknown words are ignored.

    A failure without an action asks the user; one without a transition changes nothing.
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
