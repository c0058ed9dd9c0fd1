"""The product's model aliases and overrides.

Three layers: the bases, the models that users may name, and the names that the product's own
utility requests use. Source: core `config/defaultModelConfigs.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.model.aliases import ModelAlias, ModelOverride
from services.model.names import (
    ALIAS_FLASH_LITE,
    BASE_FLASH,
    BASE_FLASH_LITE,
    DEFAULT_PRO,
    FLASH_2_5,
    FLASH_LITE_2_5,
    GEMMA_4_26B,
    GEMMA_4_31B,
    LATEST_FLASH,
    LATEST_FLASH_LITE,
    PREVIEW_3_1_CUSTOM_TOOLS,
    PREVIEW_3_1_PRO,
    PREVIEW_FLASH,
    PREVIEW_PRO,
)
from services.wire import JsonObject

__all__ = ["DEFAULT_ALIASES", "DEFAULT_OVERRIDES"]

_CHAT_SAMPLING: Final[JsonObject] = {"temperature": 1, "topP": 0.95, "topK": 64}

_BASES: Final[Mapping[str, ModelAlias]] = {
    "base": ModelAlias(config={"temperature": 0, "topP": 1}),
    "chat-base": ModelAlias(
        extends="base", config={"thinkingConfig": {"includeThoughts": True}, **_CHAT_SAMPLING}
    ),
    "chat-base-2.5": ModelAlias(
        extends="chat-base", config={"thinkingConfig": {"thinkingBudget": 8192}}
    ),
    "chat-base-3": ModelAlias(
        extends="chat-base", config={"thinkingConfig": {"thinkingLevel": "HIGH"}}
    ),
    "gemini-2.5-flash-base": ModelAlias(extends="base", model=FLASH_2_5),
    "gemini-3-flash-base": ModelAlias(extends="base", model=PREVIEW_FLASH),
    "gemini-3.5-flash-base": ModelAlias(extends="base", model=BASE_FLASH),
}

_CHAT_MODELS: Final[Mapping[str, ModelAlias]] = {
    **{
        model: ModelAlias(extends="chat-base-2.5", model=model)
        for model in (DEFAULT_PRO, FLASH_2_5, FLASH_LITE_2_5)
    },
    **{
        model: ModelAlias(extends="chat-base-3", model=model)
        for model in (
            PREVIEW_PRO,
            PREVIEW_FLASH,
            PREVIEW_3_1_PRO,
            PREVIEW_3_1_CUSTOM_TOOLS,
            "gemini-3.1-flash-lite-preview",
            BASE_FLASH_LITE,
            LATEST_FLASH_LITE,
            BASE_FLASH,
            LATEST_FLASH,
            GEMMA_4_31B,
            GEMMA_4_26B,
        )
    },
}


def _lite(**config: object) -> ModelAlias:
    return ModelAlias(extends="base", model=ALIAS_FLASH_LITE, config=config)


def _flash(**config: object) -> ModelAlias:
    return ModelAlias(extends="gemini-3-flash-base", config=config)


_HELPERS: Final[Mapping[str, ModelAlias]] = {
    "classifier": _lite(maxOutputTokens=1024, thinkingConfig={"thinkingBudget": 512}),
    "prompt-completion": _lite(
        temperature=0.3, maxOutputTokens=16000, thinkingConfig={"thinkingBudget": 0}
    ),
    "fast-ack-helper": _lite(
        temperature=0.2, maxOutputTokens=120, thinkingConfig={"thinkingBudget": 0}
    ),
    "edit-corrector": _lite(thinkingConfig={"thinkingBudget": 0}),
    "summarizer-default": _lite(maxOutputTokens=2000),
    "summarizer-shell": _lite(maxOutputTokens=2000),
    "web-search": _flash(tools=[{"googleSearch": {}}]),
    "web-fetch": _flash(tools=[{"urlContext": {}}]),
    "web-fetch-fallback": _flash(),
    "loop-detection": _flash(),
    "loop-detection-double-check": ModelAlias(extends="base", model=PREVIEW_PRO),
    "llm-edit-fixer": _flash(),
    "next-speaker-checker": _flash(),
    "context-snapshotter": _flash(thinkingConfig={"thinkingLevel": "HIGH"}, **_CHAT_SAMPLING),
    "chat-compression-3-pro": ModelAlias(model=PREVIEW_PRO),
    "chat-compression-3-flash": ModelAlias(model=PREVIEW_FLASH),
    "chat-compression-3.1-flash-lite": ModelAlias(model=BASE_FLASH_LITE),
    "chat-compression-2.5-pro": ModelAlias(model=DEFAULT_PRO),
    "chat-compression-2.5-flash": ModelAlias(model=FLASH_2_5),
    "chat-compression-2.5-flash-lite": ModelAlias(model=FLASH_LITE_2_5),
    "chat-compression-default": ModelAlias(model=PREVIEW_PRO),
    "agent-history-provider-summarizer": ModelAlias(model=PREVIEW_FLASH),
}

DEFAULT_ALIASES: Final[Mapping[str, ModelAlias]] = {**_BASES, **_CHAT_MODELS, **_HELPERS}

DEFAULT_OVERRIDES: Final[tuple[ModelOverride, ...]] = (
    ModelOverride(match={"model": "chat-base", "isRetry": True}, config={"temperature": 1}),
)
"""A retried chat uses temperature 1."""
