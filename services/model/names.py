"""Model names, aliases, and their resolution.

`AccessFlags` are the models that a session may use, by its sign-in and its launched models.
Upstream keeps two of the flags in process-wide variables. Source: core `config/models.ts`, the
access predicates of `config/config.ts`, `utils/modelUtils.ts`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from services.wire import js_trim

__all__ = [
    "ALIAS_AUTO",
    "ALIAS_FLASH",
    "ALIAS_FLASH_LITE",
    "ALIAS_PRO",
    "AUTO_2_5",
    "AUTO_3",
    "BASE_FLASH",
    "BASE_FLASH_LITE",
    "DEFAULT_PRO",
    "FLASH_2_5",
    "FLASH_LITE_2_5",
    "GEMMA_4_26B",
    "GEMMA_4_31B",
    "LATEST_FLASH",
    "LATEST_FLASH_LITE",
    "LEGACY_FLASH",
    "PREVIEW_3_1_CUSTOM_TOOLS",
    "PREVIEW_3_1_PRO",
    "PREVIEW_FLASH",
    "PREVIEW_PRO",
    "AccessFlags",
    "display_name",
    "is_auto_model",
    "is_custom_model",
    "is_gemini2_model",
    "is_gemini3_model",
    "is_preview_model",
    "normalize_model_id",
    "resolve_classifier_model",
    "resolve_model",
    "supports_modern_features",
    "wire_model_name",
]

PREVIEW_PRO: Final = "gemini-3-pro-preview"
PREVIEW_3_1_PRO: Final = "gemini-3.1-pro-preview"
PREVIEW_3_1_CUSTOM_TOOLS: Final = "gemini-3.1-pro-preview-customtools"
PREVIEW_FLASH: Final = "gemini-3-flash-preview"
DEFAULT_PRO: Final = "gemini-2.5-pro"
FLASH_2_5: Final = "gemini-2.5-flash"
FLASH_LITE_2_5: Final = "gemini-2.5-flash-lite"
BASE_FLASH: Final = "gemini-3.5-flash"
LATEST_FLASH: Final = "gemini-3.8-flash"
LEGACY_FLASH: Final = "gemini-3-flash"
BASE_FLASH_LITE: Final = "gemini-3.1-flash-lite"
LATEST_FLASH_LITE: Final = "gemini-3.5-flash-lite"
GEMMA_4_31B: Final = "gemma-4-31b-it"
GEMMA_4_26B: Final = "gemma-4-26b-a4b-it"

ALIAS_AUTO: Final = "auto"
ALIAS_PRO: Final = "pro"
ALIAS_FLASH: Final = "flash"
ALIAS_FLASH_LITE: Final = "flash-lite"
AUTO_3: Final = "auto-gemini-3"
AUTO_2_5: Final = "auto-gemini-2.5"

_RETIRED: Final = "none"
"""The former name of the preview flash-lite in settings."""
_PREVIEW_PROS: Final = (PREVIEW_PRO, PREVIEW_3_1_PRO, PREVIEW_3_1_CUSTOM_TOOLS)
_LAUNCHED_AUTH: Final = ("gemini-api-key", "vertex-ai", "gateway")
_PREVIEW_AUTH: Final = ("gemini-api-key", "vertex-ai")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFlags:
    """The models that a session may use. The defaults are those of upstream's arguments.

    Attributes:
        gemini31_launched: Gemini 3.1 Pro replaces Gemini 3 Pro.
        custom_tools: Its variant for custom tools replaces it.
        preview: Preview models are accessible.
        latest_flash: The latest flash replaces earlier ones.
        latest_flash_lite: The latest flash-lite replaces earlier ones.
        preview_flash: The model that counts as the preview flash.
    """

    gemini31_launched: bool = False
    custom_tools: bool = False
    preview: bool = True
    latest_flash: bool = False
    latest_flash_lite: bool = False
    preview_flash: str = PREVIEW_FLASH

    @classmethod
    def for_auth(cls, auth_type: str | None) -> AccessFlags:
        """Return the flags of a session signed in by `auth_type`, without experiments."""
        launched = auth_type in _LAUNCHED_AUTH
        by_key = auth_type == "gemini-api-key"
        return cls(
            gemini31_launched=launched,
            custom_tools=by_key,
            preview=auth_type in _PREVIEW_AUTH,
            latest_flash=launched,
            latest_flash_lite=launched,
            preview_flash=LATEST_FLASH if launched and not by_key else PREVIEW_FLASH,
        )

    @property
    def default_flash(self) -> str:
        """The flash model of a session without previews."""
        return LATEST_FLASH if self.latest_flash else BASE_FLASH

    @property
    def default_flash_lite(self) -> str:
        """The flash-lite model."""
        return LATEST_FLASH_LITE if self.latest_flash_lite else BASE_FLASH_LITE

    def without_custom_tools(self) -> AccessFlags:
        """The flags of routing and chats, which do not use that variant."""
        return replace(self, custom_tools=False)


_OPEN: Final = AccessFlags()


def resolve_model(requested: str, access: AccessFlags = _OPEN) -> str:
    """Return the concrete model for an alias or a name.

    Only aliases and `gemini-3-pro-preview` are promoted to 3.1 Pro. A preview flash requested by
    name stays while it is accessible. Unknown names stay.
    """
    name = js_trim(requested)
    resolved = _expand(name, access)
    if resolved == _RETIRED:
        return access.default_flash_lite
    promotable = (BASE_FLASH, LEGACY_FLASH, access.preview_flash, ALIAS_FLASH)
    if access.latest_flash and resolved in promotable and name != access.preview_flash:
        return LATEST_FLASH
    if access.latest_flash_lite and resolved == BASE_FLASH_LITE:
        return LATEST_FLASH_LITE
    if not access.preview and is_preview_model(resolved, access):
        return access.default_flash if resolved == access.preview_flash else DEFAULT_PRO
    return resolved


def _expand(name: str, access: AccessFlags) -> str:
    if name in (ALIAS_AUTO, ALIAS_PRO) and not access.preview:
        return DEFAULT_PRO
    if name in (ALIAS_AUTO, ALIAS_PRO, AUTO_3, PREVIEW_PRO):
        if not access.gemini31_launched:
            return PREVIEW_PRO
        return PREVIEW_3_1_CUSTOM_TOOLS if access.custom_tools else PREVIEW_3_1_PRO
    if name == AUTO_2_5:
        return DEFAULT_PRO
    if name == ALIAS_FLASH:
        return LATEST_FLASH if access.latest_flash else access.preview_flash
    return access.default_flash_lite if name == ALIAS_FLASH_LITE else name


def resolve_classifier_model(requested: str, tier: str, access: AccessFlags) -> str:
    """Return the concrete model of `tier`: `flash`, `flash-lite`, or anything else for pro.

    `requested` is the session's model, normalised. The flash tier depends on its family only; the
    pro tier is its concrete model.
    """
    if tier == ALIAS_FLASH:
        if requested in (AUTO_2_5, DEFAULT_PRO):
            return access.default_flash
        if requested in (AUTO_3, PREVIEW_PRO, ALIAS_AUTO):
            to_preview = access.preview and not access.latest_flash
            return access.preview_flash if to_preview else access.default_flash
    return resolve_model(tier if tier in (ALIAS_FLASH, ALIAS_FLASH_LITE) else requested, access)


def display_name(model: str, access: AccessFlags = _OPEN) -> str:
    """Return the name of `model` for the user. Notices of retries use the default flags."""
    shown = {
        LEGACY_FLASH: access.default_flash,
        BASE_FLASH: access.default_flash,
        BASE_FLASH_LITE: access.default_flash_lite,
        ALIAS_AUTO: "Auto",
        AUTO_3: "Auto (Gemini 3)",
        AUTO_2_5: "Auto (Gemini 2.5)",
        ALIAS_PRO: PREVIEW_PRO,
        ALIAS_FLASH: access.preview_flash,
        PREVIEW_3_1_CUSTOM_TOOLS: PREVIEW_3_1_PRO,
    }
    return shown.get(model, model)


def is_auto_model(model: str) -> bool:
    """Whether `model` leaves the choice to the router."""
    return model in (ALIAS_AUTO, AUTO_3, AUTO_2_5)


def is_preview_model(model: str, access: AccessFlags = _OPEN) -> bool:
    """Whether `model`, not resolved, is a preview. `pro` and `flash` are not, `auto` is."""
    return model in (*_PREVIEW_PROS, access.preview_flash, AUTO_3, ALIAS_AUTO)


def is_gemini3_model(model: str) -> bool:
    """Whether `model` resolves to the Gemini 3 family."""
    return re.match(r"gemini-3(\.|-|\Z)", resolve_model(model)) is not None


def is_gemini2_model(model: str) -> bool:
    """Whether `model`, not resolved, is of the Gemini 2 family."""
    return re.match(r"gemini-2(\.|\Z)", model) is not None


def is_custom_model(model: str) -> bool:
    """Whether `model` resolves to something that is not called Gemini."""
    return not resolve_model(model).startswith("gemini-")


def supports_modern_features(model: str) -> bool:
    """Whether `model` uses thought signatures: Gemini 3, and models other than Gemini."""
    return is_gemini3_model(model) or is_custom_model(model)


def normalize_model_id(model: str) -> str:
    """`model` without a leading `models/`."""
    return model.removeprefix("models/")


def wire_model_name(model: str, access: AccessFlags, *, code_assist: bool) -> str:
    """Return the backend's name of `model`, a concrete name that may begin with `models/`.

    Code Assist uses the older name of flash.
    """
    mapping: dict[str, str] = {}
    if access.latest_flash:
        mapping = {BASE_FLASH: LATEST_FLASH, LEGACY_FLASH: LATEST_FLASH}
    elif code_assist:
        mapping = {BASE_FLASH: LEGACY_FLASH}
    if access.latest_flash_lite:
        mapping[BASE_FLASH_LITE] = LATEST_FLASH_LITE
    bare = normalize_model_id(model)
    if bare not in mapping:
        return model
    return model.removesuffix(bare) + mapping[bare]
