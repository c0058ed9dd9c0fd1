from collections.abc import Callable
from typing import Any

import pytest

from services.availability.chains import fallback_candidates
from services.availability.policies import (
    FailureKind,
    FallbackAction,
    ModelPolicy,
    PolicyChain,
    Transition,
    policy_from_template,
)
from services.state import ApprovalMode

MakeWorld = Callable[..., Any]

# What the published core 0.61.0 resolves: `*` is the last resort, the number its attempts.
API_KEY = "gemini-api-key"
CHAINS = [
    ("oauth-personal", True, "auto", "gemini-3-pro-preview(3) gemini-3-flash-preview*(10)"),
    ("oauth-personal", True, "auto-gemini-2.5", "gemini-2.5-pro(3) gemini-3.5-flash*(10)"),
    ("oauth-personal", True, "pro", "gemini-3-pro-preview gemini-3-flash-preview*(10)"),
    ("oauth-personal", True, "flash", "gemini-3-flash-preview*(10) gemini-3-pro-preview"),
    (
        "oauth-personal",
        True,
        "models/gemini-3-flash-preview",
        "gemini-3-flash-preview*(10) gemini-3-pro-preview",
    ),
    ("oauth-personal", True, "gemini-2.5-pro", "gemini-2.5-pro*"),
    ("oauth-personal", True, "my-model", "my-model*"),
    ("oauth-personal", False, "auto", "gemini-2.5-pro(3) gemini-3.5-flash*(10)"),
    ("oauth-personal", False, "pro", "gemini-2.5-pro gemini-3.5-flash*(10)"),
    ("oauth-personal", False, "gemini-3-flash-preview", "gemini-3.5-flash*(10) gemini-2.5-pro"),
    (API_KEY, True, "auto", "gemini-3.1-pro-preview-customtools(3) gemini-3-flash-preview*(10)"),
    (API_KEY, True, "auto-gemini-2.5", "gemini-2.5-pro(3) gemini-3.8-flash*(10)"),
    (API_KEY, True, "flash", "gemini-3.8-flash*"),
    (API_KEY, True, "flash-lite", "gemini-3.5-flash-lite gemini-3.8-flash gemini-2.5-pro*"),
    ("vertex-ai", True, "auto", "gemini-3.1-pro-preview(3) gemini-3.8-flash*(10)"),
    ("vertex-ai", True, "flash", "gemini-3.8-flash*(10) gemini-3.1-pro-preview"),
    ("vertex-ai", True, "gemini-3-flash-preview", "gemini-3-flash-preview*"),
]
DYNAMIC = [
    ("oauth-personal", True, "auto", "gemini-3-pro-preview(3) gemini-3-flash-preview*(10)"),
    ("oauth-personal", False, "pro", "gemini-2.5-pro gemini-3.5-flash*(10)"),
    (
        API_KEY,
        True,
        "gemini-3.1-pro-preview",
        "gemini-3.1-pro-preview-customtools gemini-3-flash-preview*(10)",
    ),
    ("vertex-ai", True, "auto", "gemini-3.1-pro-preview(3) gemini-3-flash-preview*(10)"),
    ("vertex-ai", True, "flash", "gemini-3.8-flash*"),
    (API_KEY, True, "flash-lite", "gemini-3.5-flash-lite gemini-3.8-flash gemini-2.5-pro*"),
    ("oauth-personal", True, "my-model", "my-model*"),
]


def shown(chain: PolicyChain) -> str:
    return " ".join(
        policy.model
        + ("*" if policy.is_last_resort else "")
        + ("" if policy.max_attempts is None else f"({policy.max_attempts})")
        for policy in chain
    )


@pytest.mark.parametrize(
    ("auth_type", "preview", "model", "expected", "dynamic"),
    [(*row, False) for row in CHAINS] + [(*row, True) for row in DYNAMIC],
)
def test_a_chain_follows_from_access_and_the_model_it_starts_with(
    world: MakeWorld, auth_type: str, preview: bool, model: str, expected: str, dynamic: bool
) -> None:
    w = world(model, auth_type=auth_type, preview=preview, dynamic=dynamic)

    assert shown(w.availability.chains.resolve()) == expected


def test_the_configured_model_says_whether_a_chain_is_of_the_router(world: MakeWorld) -> None:
    w = world("auto-gemini-2.5")

    assert shown(w.availability.chains.resolve("gemini-3.5-flash")) == (
        "gemini-3.5-flash*(10) gemini-2.5-pro(3)"
    )
    assert shown(w.availability.chains.resolve("gemini-3-pro-preview")) == "gemini-3-pro-preview*"


def test_only_the_routers_pro_is_used_silently_after_a_transient_failure(
    world: MakeWorld,
) -> None:
    pro, flash = world("auto").availability.chains.resolve()
    silent = [k for k in FailureKind if pro.actions[k] is FallbackAction.SILENT]
    sticky = [k for k in FailureKind if pro.transitions[k] is Transition.STICKY_RETRY]

    assert (silent, sticky) == ([FailureKind.TRANSIENT], [FailureKind.TRANSIENT])
    assert set(flash.actions.values()) == {FallbackAction.PROMPT}
    assert set(flash.transitions.values()) == {Transition.TERMINAL}


def test_fallbacks_are_silent_in_plan_mode_and_for_utility_models(world: MakeWorld) -> None:
    planning = world("auto", mode=ApprovalMode.PLAN).availability.chains.resolve()
    helpers = world("flash-lite").availability.chains.resolve()

    for policy in (*planning, *helpers):
        assert set(policy.actions.values()) == {FallbackAction.SILENT}
    assert planning[0].transitions[FailureKind.TRANSIENT] is Transition.STICKY_RETRY


def test_a_chain_named_like_the_configured_auto_model_is_the_users(world: MakeWorld) -> None:
    w = world(
        "auto-gemini-3",
        dynamic=True,
        modelChains={
            "auto-gemini-3": [
                {"model": "pro", "actions": {"terminal": "silent"}},
                {"model": "gemini-2.5-flash", "isLastResort": True, "maxAttempts": 2},
            ]
        },
    )

    chain = w.availability.chains.resolve()
    assert shown(chain) == "gemini-3-pro-preview gemini-2.5-flash*(2)"
    assert chain[0].actions[FailureKind.TERMINAL] is FallbackAction.SILENT
    assert chain[0].actions[FailureKind.TRANSIENT] is FallbackAction.PROMPT
    assert chain[0].transitions == {}


def test_tables_go_by_the_family_of_the_model_that_a_name_comes_to(world: MakeWorld) -> None:
    resolution = {
        "default": "gemini-3-pro-preview",
        "contexts": [{"condition": {"useCustomTools": True}, "target": "gemini-2.5-pro"}],
    }
    w = world("mine", auth_type=API_KEY, dynamic=True, modelIdResolutions={"mine": resolution})

    chain = w.availability.chains.resolve()
    assert shown(chain) == "gemini-2.5-pro gemini-3.8-flash*(10)"
    # The two ways differ in what becomes of a stable pro that fails in passing.
    assert chain[0].transitions[FailureKind.TRANSIENT] is Transition.STICKY_RETRY


def test_unknown_words_of_a_template_are_ignored() -> None:
    policy = policy_from_template(
        {"model": "m", "actions": {"terminal": "loudly"}, "stateTransitions": {"unknown": "gone"}}
    )

    assert set(policy.actions.values()) == {FallbackAction.PROMPT}
    assert policy.transitions == {}


A, B, C = (ModelPolicy(model=name) for name in "abc")


def test_candidates_follow_the_failed_model_and_may_wrap_around() -> None:
    assert fallback_candidates((A, B, C), "models/b") == (B, (C,))
    assert fallback_candidates((A, B, C), "x") == (None, (A, B, C))
