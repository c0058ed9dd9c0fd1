"""`ModelResolutions`: resolves model names by tables instead of code (experimental).

Definitions of models, tables from a name to a model, and chains of models, in the settings' shape;
a user's settings may add to all of them.

Source: core `services/modelConfigService.ts` (`resolveModelId`, `resolveClassifierModelId`,
`resolveChain`, `getModelDefinition`) and the dynamic branches of `config/models.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from services.model.default_resolutions import (
    DEFAULT_CHAINS,
    DEFAULT_CLASSIFIER_RESOLUTIONS,
    DEFAULT_DEFINITIONS,
    DEFAULT_ID_RESOLUTIONS,
)
from services.model.names import DEFAULT_PRO, AccessFlags
from services.wire import Json, JsonObject, js_trim

__all__ = ["ModelResolutions"]

Table = Mapping[str, Mapping[str, Json]]

_FLAGS: Final[Mapping[str, str]] = {
    "useGemini3_1": "useGemini3_1",
    "useCustomTools": "useCustomTools",
    "hasAccessToPreview": "hasAccessToPreview",
    "hasAccessToProModel": "hasAccessToProModel",
    "useLatestFlash": "useLatestFlash",
    "useGemini3_5Flash": "useLatestFlash",
    "useLatestFlashLite": "useLatestFlashLite",
    "useGemini3_1FlashLite": "useLatestFlashLite",
}
"""Flag of a condition → flag of a context; two have a former name."""


class ModelResolutions:
    """The tables of a session, added to the product's own by name."""

    def __init__(
        self,
        *,
        definitions: Table | None = None,
        ids: Table | None = None,
        classifier_ids: Table | None = None,
        chains: Mapping[str, Sequence[Mapping[str, Json]]] | None = None,
    ) -> None:
        self._definitions = {**DEFAULT_DEFINITIONS, **(definitions or {})}
        self._ids = {**DEFAULT_ID_RESOLUTIONS, **(ids or {})}
        self._classifier_ids = {**DEFAULT_CLASSIFIER_RESOLUTIONS, **(classifier_ids or {})}
        self._chains = {**DEFAULT_CHAINS, **(chains or {})}

    def definition(self, model: str) -> Mapping[str, Json]:
        """Return the definition of `model`; that of an unknown one is empty."""
        return self._definitions.get(model, {})

    def model_id(self, requested: str, context: Mapping[str, Json]) -> str:
        """Return the model for `requested` in `context`; itself where no table has it."""
        return _resolved(self._ids.get(requested), context, requested)

    def chain(self, name: str, access: AccessFlags) -> list[JsonObject] | None:
        """Return a chain's policies with resolved models; `None` for an unknown chain.

        Access to previews is not considered.
        """
        template = self._chains.get(name)
        if template is None:
            return None
        context = _context(access)
        del context["hasAccessToPreview"]
        return [
            {**policy, "model": self.model_id(str(policy["model"]), context)} for policy in template
        ]

    def concrete(self, requested: str, access: AccessFlags) -> str:
        """Return the concrete model for `requested`, replacing inaccessible previews."""
        resolved = self.model_id(js_trim(requested), _context(access))
        if access.preview or self.definition(resolved).get("isPreview") is not True:
            return resolved
        if "flash-lite" in resolved:
            return access.default_flash_lite
        return access.default_flash if "flash" in resolved else DEFAULT_PRO

    def for_tier(self, requested: str, tier: str, access: AccessFlags) -> str:
        """Return the concrete model of `tier` for a session set to `requested`."""
        context = {**_context(access), "requestedModel": requested}
        if tier not in self._classifier_ids:
            return self.model_id(tier, context)
        return _resolved(self._classifier_ids[tier], context, tier)

    def is_auto(self, model: str) -> bool:
        """Whether `model` leaves the choice to the router."""
        return self.definition(model).get("tier") == "auto"

    def is_gemini3(self, model: str, access: AccessFlags) -> bool:
        """Whether `model`, resolved with access to previews, is a Gemini 3."""
        open_access = AccessFlags(
            latest_flash=access.latest_flash, latest_flash_lite=access.latest_flash_lite
        )
        resolved = self.concrete(model, open_access)
        return self.definition(resolved).get("family") == "gemini-3"


def _context(access: AccessFlags) -> JsonObject:
    return {
        "useGemini3_1": access.gemini31_launched,
        "useCustomTools": access.custom_tools,
        "hasAccessToPreview": access.preview,
        "useLatestFlash": access.latest_flash,
        "useLatestFlashLite": access.latest_flash_lite,
    }


def _resolved(entry: Mapping[str, Json] | None, context: Mapping[str, Json], name: str) -> str:
    if entry is None:
        return name
    for case in entry.get("contexts") or ():
        if all(_holds(key, wanted, context) for key, wanted in case["condition"].items()):
            return str(case["target"])
    return str(entry["default"])


def _holds(key: str, wanted: Json, context: Mapping[str, Json]) -> bool:
    """Whether a condition holds; a missing flag is not false."""
    if key == "requestedModels":
        requested = context.get("requestedModel")
        return isinstance(wanted, (list, tuple)) and bool(requested) and requested in wanted
    flag = _FLAGS.get(key)
    return flag is not None and isinstance(wanted, bool) and context.get(flag) is wanted
