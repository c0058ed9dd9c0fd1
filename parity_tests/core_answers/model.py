"""Models: names, token estimates, errors, and which models are available."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.availability.chains import PolicyChains, fallback_candidates
from services.availability.health import ModelAvailabilityService, TerminalReason
from services.clock import VirtualClock
from services.compression.service import compression_config_key
from services.model.aliases import ModelAlias, ModelOverride
from services.model.classification import (
    classify_google_error,
    is_retryable_error,
    retry_error_type,
)
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.errors import ApiError, ModelConfigError, NetworkError, error_name
from services.model.limits import token_limit
from services.model.names import (
    AccessFlags,
    display_name,
    is_auto_model,
    is_custom_model,
    is_gemini2_model,
    is_gemini3_model,
    is_preview_model,
    normalize_model_id,
    resolve_classifier_model,
    resolve_model,
    supports_modern_features,
)
from services.model.parts import (
    function_calls,
    parse_thought,
    part_list_to_string,
    response_text,
)
from services.model.resolutions import ModelResolutions
from services.model.tokens import estimate_tokens
from services.state import ApprovalMode, CoreEvents, SessionState

__all__ = ["SUBJECTS", "access_of", "error_of", "key_of"]


def names(asked: dict[str, Any]) -> dict[str, Any]:
    """All that follows from a model's name, with the flags of an account."""
    model = asked["model"]
    access = access_of(asked["flags"])
    return {
        "resolved": resolve_model(model, access),
        "classified": [
            resolve_classifier_model(model, tier, access) for tier in ("flash", "pro", "other")
        ],
        "shown": display_name(model),
        "is": [
            is_auto_model(model),
            is_preview_model(model),
            is_gemini3_model(model),
            is_gemini2_model(model),
            is_custom_model(model),
            supports_modern_features(model),
        ],
        "limit": token_limit(model),
        "normal": normalize_model_id(model),
        "compression": compression_config_key(model),
    }


def tokens(parts: list[dict[str, Any]]) -> int:
    """The estimate for parts; a text `[t, n]` is t, n times."""
    return estimate_tokens([_written_out(part) for part in parts])


def parts(asked: Any) -> list[Any]:
    """Parts as a text, plain and with labels, and as a response; a text as a thought."""
    shown = [part_list_to_string(asked), part_list_to_string(asked, verbose=True)]
    if isinstance(asked, str):
        return [*shown, list(parse_thought(asked))]
    if not isinstance(asked, list):
        return shown
    response = {"candidates": [{"content": {"role": "model", "parts": asked}}]}
    return [*shown, response_text(response), function_calls(response)]


def classified(asked: dict[str, Any]) -> dict[str, Any]:
    """What an error of the API stands for."""
    error = error_of(asked)
    found = classify_google_error(error)
    shown = {"delay": "retry_delay_ms", "reason": "reason", "status": "status"}
    links = {"link": "validation_link", "words": "validation_description", "more": "learn_more_url"}
    fields = {key: getattr(found, name, None) for key, name in {**shown, **links}.items()}
    if fields["status"] is None:
        fields["status"] = getattr(found, "code", None)
    return {"same": found is error, "name": error_name(found), "message": str(found), **fields}


def retryable(asked: dict[str, Any]) -> list[Any]:
    """Whether an error is retried, without and with errors of fetching, and how it is named."""
    error = error_of(asked)
    return [
        is_retryable_error(error, False),
        is_retryable_error(error, True),
        retry_error_type(error),
    ]


def health(calls: list[list[Any]]) -> list[Any]:
    """What the service answers to calls of it, in their order."""
    clock = VirtualClock()
    service = ModelAvailabilityService(clock)
    return [_called(service, clock, what, given) for what, *given in calls]


def chain(asked: dict[str, Any]) -> dict[str, Any]:
    """The chain of policies from a model on, and what may replace one that failed."""
    access = access_of(asked["flags"])
    tables = ModelResolutions() if asked.get("dynamic") else None
    state = SessionState(
        session_id="s",
        model=asked["model"],
        approval_mode=ApprovalMode(asked.get("mode", "default")),
        interactive=True,
        events=CoreEvents(),
    )
    state.set_active_model(asked.get("active", asked["model"]))
    found = PolicyChains(ModelConfigs(access, resolutions=tables), state).resolve(
        asked.get("preferred")
    )
    failed, candidates = fallback_candidates(found, asked["failed"])
    return {
        "chain": [
            {
                "model": each.model,
                "actions": dict(each.actions),
                "transitions": dict(each.transitions),
                "last": each.is_last_resort,
                "attempts": each.max_attempts,
            }
            for each in found
        ],
        "failed": failed.model if failed is not None else None,
        "candidates": [each.model for each in candidates],
    }


def config(asked: dict[str, Any]) -> list[list[Any]]:
    """The configs of these keys, with aliases and overrides of the settings and of later."""
    configs = ModelConfigs(
        AccessFlags(),
        custom_aliases={name: _alias(each) for name, each in asked["aliases"].items()},
        custom_overrides=[_override(each) for each in asked["overrides"]],
    )
    for name, each in asked["later"].items():
        configs.register_runtime_alias(name, _alias(each))
    for each in asked["more"]:
        configs.register_runtime_override(_override(each))
    return [_resolved(configs, key) for key in asked["keys"]]


def tables(asked: dict[str, Any]) -> dict[str, Any]:
    """What the tables of models say, with those of the settings added."""
    given, ids, access = asked["settings"], asked["ids"], access_of(asked["flags"])
    found = ModelResolutions(
        definitions=given.get("modelDefinitions"),
        ids=given.get("modelIdResolutions"),
        classifier_ids=given.get("classifierIdResolutions"),
        chains=given.get("modelChains"),
    )
    return {
        "ids": [found.model_id(each, asked["context"]) for each in ids],
        "concrete": [found.concrete(each, access) for each in ids],
        "tiers": [found.for_tier(each, tier, access) for each in ids for tier in asked["tiers"]],
        "auto": [found.is_auto(each) for each in ids],
        "gemini3": [found.is_gemini3(each, access) for each in ids],
        "chains": [found.chain(name, access) for name in asked["chains"]],
    }


def _resolved(configs: ModelConfigs, key: dict[str, Any]) -> list[Any]:
    try:
        found = configs.resolve(key_of(key))
    except ModelConfigError as error:
        return [str(error)]
    return [found.model, found.config]


def key_of(about: dict[str, Any]) -> ModelConfigKey:
    """The key of a config, from the core's form."""
    return ModelConfigKey(
        model=about["model"],
        is_chat_model=about.get("isChatModel", False),
        is_retry=about.get("isRetry", False),
        override_scope=about.get("overrideScope"),
    )


def _alias(about: dict[str, Any]) -> ModelAlias:
    given = about["modelConfig"]
    return ModelAlias(
        extends=about.get("extends"),
        model=given.get("model"),
        config=given.get("generateContentConfig", {}),
    )


def _override(about: dict[str, Any]) -> ModelOverride:
    given = about["modelConfig"]
    return ModelOverride(
        match=about["match"],
        model=given.get("model"),
        config=given.get("generateContentConfig", {}),
    )


def _called(
    service: ModelAvailabilityService, clock: VirtualClock, what: str, given: list[Any]
) -> Any:
    if what == "wait":
        clock.advance(given[0])
    elif what == "select":
        selected = service.select_first_available(given[0])
        return [selected.model, selected.attempts]
    elif what == "snapshot":
        shown = service.snapshot(given[0])
        return [shown.available, shown.reason]
    elif what == "markTerminal":
        service.mark_terminal(given[0], TerminalReason(given[1]))
    else:
        _METHODS[what](service, *given)
    return None


_METHODS: Final[Mapping[str, Callable[..., None]]] = {
    "markHealthy": ModelAvailabilityService.mark_healthy,
    "markRetryOncePerTurn": ModelAvailabilityService.mark_retry_once_per_turn,
    "consumeStickyAttempt": ModelAvailabilityService.consume_sticky_attempt,
    "resetTurn": ModelAvailabilityService.reset_turn,
    "reset": ModelAvailabilityService.reset,
}


def _written_out(part: dict[str, Any]) -> dict[str, Any]:
    text = part.get("text")
    return {**part, "text": text[0] * text[1]} if isinstance(text, list) else part


def access_of(flags: list[bool]) -> AccessFlags:
    """The access of an account: Gemini 3.1, custom tools, previews, latest flash, latest lite."""
    launched, custom, preview, flash, lite = flags
    return AccessFlags(
        gemini31_launched=launched,
        custom_tools=custom,
        preview=preview,
        latest_flash=flash,
        latest_flash_lite=lite,
    )


def error_of(asked: dict[str, Any]) -> Exception:
    """An error as the SDK raises it: of an answer, or of the network."""
    if "status" in asked:
        return ApiError(asked["status"], asked["message"])
    return NetworkError(
        asked["message"],
        name=asked.get("name", "Error"),
        code=asked.get("code"),
        cause=asked.get("cause"),
    )


SUBJECTS: Final = (
    Subject("model.names", names),
    Subject("model.tokens", tokens),
    Subject("model.parts", parts),
    Subject("model.classified", classified),
    Subject("model.retryable", retryable),
    Subject("model.health", health),
    Subject("model.chain", chain),
    Subject("model.config", config),
    Subject("model.tables", tables),
)
