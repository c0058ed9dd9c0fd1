"""The product's tables of models, names and chains, for `ModelResolutions`.

Source: core `config/defaultModelConfigs.ts`, `modelDefinitions`, `modelIdResolutions`,
`classifierIdResolutions`, `modelChains`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from services.model.names import (
    ALIAS_AUTO,
    ALIAS_FLASH,
    ALIAS_FLASH_LITE,
    ALIAS_PRO,
    AUTO_2_5,
    AUTO_3,
    BASE_FLASH,
    BASE_FLASH_LITE,
    DEFAULT_PRO,
    FLASH_2_5,
    GEMMA_4_26B,
    GEMMA_4_31B,
    LATEST_FLASH,
    LATEST_FLASH_LITE,
    PREVIEW_3_1_CUSTOM_TOOLS,
    PREVIEW_3_1_PRO,
    PREVIEW_FLASH,
    PREVIEW_PRO,
)
from services.wire import Json, JsonObject

__all__ = [
    "DEFAULT_CHAINS",
    "DEFAULT_CLASSIFIER_RESOLUTIONS",
    "DEFAULT_DEFINITIONS",
    "DEFAULT_ID_RESOLUTIONS",
]

_KINDS: Final = ("terminal", "transient", "not_found", "unknown")


_GEMINI_3: Final[JsonObject] = {"family": "gemini-3"}
_PREVIEW_3: Final[JsonObject] = {**_GEMINI_3, "isPreview": True}
_AUTO: Final[JsonObject] = {"tier": "auto"}

DEFAULT_DEFINITIONS: Final[Mapping[str, Mapping[str, Json]]] = {
    **dict.fromkeys((BASE_FLASH_LITE, LATEST_FLASH_LITE, BASE_FLASH, LATEST_FLASH), _GEMINI_3),
    **dict.fromkeys(
        (PREVIEW_3_1_PRO, PREVIEW_3_1_CUSTOM_TOOLS, PREVIEW_PRO, PREVIEW_FLASH), _PREVIEW_3
    ),
    **dict.fromkeys((ALIAS_AUTO, AUTO_3, AUTO_2_5), _AUTO),
}
"""Model or alias → what its definition says that has an effect here."""


def _name(default: str, *cases: tuple[JsonObject, str]) -> JsonObject:
    contexts = [{"condition": condition, "target": target} for condition, target in cases]
    return {"default": default, **({"contexts": contexts} if contexts else {})}


_NO_PREVIEW: Final[JsonObject] = {"hasAccessToPreview": False}
_ASKED_2_5: Final[JsonObject] = {"requestedModels": [DEFAULT_PRO, AUTO_2_5]}
_LATEST: Final[JsonObject] = {"useLatestFlash": True}
_LATEST_LITE: Final[JsonObject] = {"useLatestFlashLite": True}
_PRO_3_1: Final = (
    ({"useGemini3_1": True, "useCustomTools": True}, PREVIEW_3_1_CUSTOM_TOOLS),
    ({"useGemini3_1": True}, PREVIEW_3_1_PRO),
)
_PRO: Final = _name(PREVIEW_PRO, (_NO_PREVIEW, DEFAULT_PRO), *_PRO_3_1)

DEFAULT_ID_RESOLUTIONS: Final[Mapping[str, Mapping[str, Json]]] = {
    GEMMA_4_31B: _name(GEMMA_4_31B),
    GEMMA_4_26B: _name(GEMMA_4_26B),
    PREVIEW_3_1_PRO: _name(
        PREVIEW_3_1_PRO,
        (_NO_PREVIEW, DEFAULT_PRO),
        ({"useCustomTools": True}, PREVIEW_3_1_CUSTOM_TOOLS),
    ),
    PREVIEW_3_1_CUSTOM_TOOLS: _name(PREVIEW_3_1_CUSTOM_TOOLS, (_NO_PREVIEW, DEFAULT_PRO)),
    PREVIEW_FLASH: _name(
        PREVIEW_FLASH,
        ({**_NO_PREVIEW, "useLatestFlash": True}, LATEST_FLASH),
        ({**_NO_PREVIEW, "useLatestFlash": False}, BASE_FLASH),
    ),
    BASE_FLASH: _name(BASE_FLASH, (_LATEST, LATEST_FLASH)),
    LATEST_FLASH: _name(LATEST_FLASH, ({"useLatestFlash": False}, BASE_FLASH)),
    FLASH_2_5: _name(FLASH_2_5, (_LATEST, LATEST_FLASH)),
    PREVIEW_PRO: _PRO,
    ALIAS_AUTO: _PRO,
    ALIAS_PRO: _PRO,
    AUTO_3: _PRO,
    AUTO_2_5: _name(DEFAULT_PRO),
    ALIAS_FLASH: _name(PREVIEW_FLASH, (_LATEST, LATEST_FLASH), (_NO_PREVIEW, BASE_FLASH)),
    ALIAS_FLASH_LITE: _name(BASE_FLASH_LITE, (_LATEST_LITE, LATEST_FLASH_LITE)),
    BASE_FLASH_LITE: _name(BASE_FLASH_LITE, (_LATEST_LITE, LATEST_FLASH_LITE)),
    LATEST_FLASH_LITE: _name(LATEST_FLASH_LITE, ({"useLatestFlashLite": False}, BASE_FLASH_LITE)),
}
"""Name → its model: the first case that holds, else the default."""

DEFAULT_CLASSIFIER_RESOLUTIONS: Final[Mapping[str, Mapping[str, Json]]] = {
    "flash": _name(
        PREVIEW_FLASH,
        (_LATEST, LATEST_FLASH),
        (_NO_PREVIEW, BASE_FLASH),
        (_ASKED_2_5, BASE_FLASH),
    ),
    "pro": _name(PREVIEW_PRO, (_NO_PREVIEW, DEFAULT_PRO), (_ASKED_2_5, DEFAULT_PRO), *_PRO_3_1),
}
"""Tier → its model, by the requested model."""


def _policy(
    model: str,
    *,
    action: str = "prompt",
    transient: tuple[str, str] | None = None,
    attempts: int | None = None,
    last: bool = False,
) -> JsonObject:
    """A policy; `transient`: action and transition for failures that pass."""
    actions = dict.fromkeys(_KINDS, action)
    transitions = dict.fromkeys(_KINDS, "terminal")
    if transient is not None:
        actions["transient"], transitions["transient"] = transient
    return {
        "model": model,
        **({"isLastResort": True} if last else {}),
        **({} if attempts is None else {"maxAttempts": attempts}),
        "actions": actions,
        "stateTransitions": transitions,
    }


def _chosen(model: str) -> JsonObject:
    return _policy(model, transient=("silent", "sticky_retry"), attempts=3)


def _last(model: str) -> JsonObject:
    return _policy(model, attempts=10, last=True)


DEFAULT_CHAINS: Final[Mapping[str, Sequence[Mapping[str, Json]]]] = {
    "preview": (_policy(PREVIEW_PRO), _last(PREVIEW_FLASH)),
    "auto-preview": (_chosen(PREVIEW_PRO), _last(PREVIEW_FLASH)),
    # Upstream's catalogue in code differs for the same model.
    "default": (
        _policy(DEFAULT_PRO, transient=("prompt", "sticky_retry")),
        _last(BASE_FLASH),
    ),
    "auto-default": (_chosen(DEFAULT_PRO), _last(BASE_FLASH)),
    "lite": (
        _policy(BASE_FLASH_LITE, action="silent"),
        _policy(BASE_FLASH, action="silent"),
        _policy(DEFAULT_PRO, action="silent", last=True),
    ),
}
"""Chain → its policies, first choice first."""
