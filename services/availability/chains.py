"""`PolicyChains`: which models replace one that fails.

Source: core `availability/policyHelpers.ts`, `resolvePolicyChain`, `buildFallbackPolicyContext`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.availability.policies import (
    SILENT_ACTIONS,
    ModelPolicy,
    PolicyChain,
    default_chain,
    flash_lite_chain,
    policy_from_template,
    preview_chain,
    single_model_chain,
)
from services.model.configs import ModelConfigs
from services.model.names import AUTO_2_5, AUTO_3, normalize_model_id
from services.model.resolutions import ModelResolutions
from services.state import ApprovalMode, SessionState

__all__ = ["PolicyChains", "fallback_candidates"]


class PolicyChains:
    """Builds chains from the session's access, configured model and approval mode."""

    def __init__(self, models: ModelConfigs, state: SessionState) -> None:
        self._models = models
        self._state = state

    def resolve(self, preferred: str | None = None) -> PolicyChain:
        """Return the chain that starts with `preferred`, by default the active model.

        A model outside every chain is alone in its own. Chains of the Gemini 3 family and of auto
        models wrap around: the models before the start follow those behind it.
        """
        models = self._models
        asked = normalize_model_id(preferred) if preferred else None
        start = normalize_model_id(self._state.active_model) if asked is None else asked
        configured = normalize_model_id(self._state.model)
        gemini3 = models.is_gemini3(start)
        resolved = normalize_model_id(models.concrete(start))
        auto_asked = asked is not None and models.is_auto(asked)
        auto = auto_asked or models.is_auto(configured)
        if resolved == models.access.default_flash_lite:
            chain = self._lite()
        elif gemini3 or auto:
            chain = self._family(asked, configured, resolved, gemini3=gemini3, auto=auto)
        else:
            chain = single_model_chain(resolved)
        chain = _from(chain, resolved, wraps_around=auto or gemini3)
        if self._state.approval_mode is ApprovalMode.PLAN:
            # A plan is not interrupted by a question.
            return tuple(replace(policy, actions=SILENT_ACTIONS) for policy in chain)
        return chain

    def policy_of(self, model: str) -> ModelPolicy | None:
        """Return the policy of exactly `model` in the chain that starts with it."""
        return next((policy for policy in self.resolve(model) if policy.model == model), None)

    def _lite(self) -> PolicyChain:
        tables = self._models.resolutions
        if tables is None:
            return flash_lite_chain(self._models.access)
        return self._template(tables, "lite")

    def _family(
        self, asked: str | None, configured: str, resolved: str, *, gemini3: bool, auto: bool
    ) -> PolicyChain:
        access, tables = self._models.access, self._models.resolutions
        if tables is not None:
            gemini3 = self._models.is_gemini3(resolved)
        preview = (
            access.preview and configured != AUTO_2_5 and (gemini3 or AUTO_3 in (asked, configured))
        )
        if tables is None:
            build = preview_chain if preview else default_chain
            return build(access, auto=auto)
        own = self._template(tables, configured) if tables.is_auto(configured) else ()
        name = ("auto-" if auto else "") + ("preview" if preview else "default")
        return own or self._template(tables, name)

    def _template(self, tables: ModelResolutions, name: str) -> PolicyChain:
        """The chain of this name in the settings; empty without one."""
        templates = tables.chain(name, self._models.access) or ()
        return tuple(policy_from_template(template) for template in templates)


def fallback_candidates(
    chain: Sequence[ModelPolicy], failed_model: str
) -> tuple[ModelPolicy | None, PolicyChain]:
    """Return the policy of the failed model, and the policies that may replace it, in order.

    A model outside the chain has no policy, and the whole chain may replace it.
    """
    index = _index(chain, failed_model)
    if index is None:
        return None, tuple(chain)
    return chain[index], tuple(chain[index + 1 :])


def _from(chain: PolicyChain, model: str, *, wraps_around: bool) -> PolicyChain:
    index = _index(chain, model)
    if index is None:
        return single_model_chain(model)
    return chain[index:] + (chain[:index] if wraps_around else ())


def _index(chain: Sequence[ModelPolicy], model: str) -> int | None:
    name = normalize_model_id(model)
    for index, policy in enumerate(chain):
        if normalize_model_id(policy.model) == name:
            return index
    return None
