from collections.abc import Callable
from typing import Any

import pytest

from services.availability.health import TerminalReason
from services.availability.policies import FailureKind
from services.model.configs import ModelConfigKey

MakeWorld = Callable[..., Any]

PRO, FLASH = "gemini-3-pro-preview", "gemini-3-flash-preview"


def chat(model: str) -> ModelConfigKey:
    return ModelConfigKey(model=model, is_chat_model=True)


def test_a_healthy_model_keeps_its_config_and_gets_its_policys_attempts(world: MakeWorld) -> None:
    w = world("auto")
    selection = w.availability.select(chat(PRO))

    assert (selection.model, selection.max_attempts) == (PRO, 3)
    assert selection.config == w.models.resolve(chat(PRO)).config
    assert (w.state.active_model, w.state.model) == (PRO, "auto")


def test_a_fallback_model_has_its_own_config(world: MakeWorld) -> None:
    w = world("auto-gemini-2.5")
    w.availability.health.mark_terminal("gemini-2.5-pro", TerminalReason.QUOTA)
    selection = w.availability.select(chat("gemini-2.5-pro"))

    assert (selection.model, selection.max_attempts) == ("gemini-3.5-flash", 10)
    assert selection.config["thinkingConfig"]["thinkingLevel"] == "HIGH"
    assert w.state.active_model == "gemini-3.5-flash"


def test_a_helper_does_not_become_the_active_model(world: MakeWorld) -> None:
    w = world("auto")
    w.availability.select(ModelConfigKey(model="next-speaker-checker"))

    assert w.state.active_model == "auto"


def test_an_alias_of_an_alias_loses_the_config_of_its_own(world: MakeWorld) -> None:
    selection = world("auto").availability.select(ModelConfigKey(model="classifier"))

    assert selection.model == "gemini-3.1-flash-lite"
    assert selection.config["temperature"] == 1
    assert "maxOutputTokens" not in selection.config


def test_without_an_available_model_the_last_resort_is_used(world: MakeWorld) -> None:
    w = world("auto")
    for model in (PRO, FLASH):
        w.availability.health.mark_terminal(model, TerminalReason.QUOTA)

    assert w.availability.selector.select(PRO).model == FLASH


def test_only_a_call_uses_the_attempt(world: MakeWorld) -> None:
    w = world("auto")
    w.availability.health.mark_retry_once_per_turn(PRO, 2)

    looked = w.availability.select(chat(PRO), consume_attempt=False)
    asked = w.availability.select(chat(PRO))
    late = w.availability.select(chat(PRO))
    w.availability.reset_turn()
    again = w.availability.select(chat(PRO))

    assert [(s.model, s.max_attempts) for s in (looked, asked, late, again)] == [
        (PRO, 2),
        (PRO, 2),
        (FLASH, 10),
        (PRO, 2),
    ]


def test_a_context_has_the_policy_of_the_model_in_use(world: MakeWorld) -> None:
    w = world("auto")
    context = w.availability.context(PRO)
    assert context is not None
    assert context.max_attempts == 3

    w.availability.health.mark_terminal(PRO, TerminalReason.QUOTA)
    context.mark_healthy()
    assert w.health_of(PRO) == [None]


def test_a_model_with_another_name_in_its_chain_has_no_context(world: MakeWorld) -> None:
    w = world("auto", auth_type="gemini-api-key")

    assert w.availability.context(PRO) is None


@pytest.mark.parametrize(
    ("model", "kind", "reason"),
    [
        (PRO, FailureKind.TERMINAL, "quota"),
        (PRO, FailureKind.NOT_FOUND, "capacity"),
        (PRO, FailureKind.UNKNOWN, "capacity"),
        (PRO, FailureKind.TRANSIENT, "retry_once_per_turn"),
        (FLASH, FailureKind.TRANSIENT, "capacity"),
    ],
)
def test_the_state_of_a_failed_model(
    world: MakeWorld, model: str, kind: FailureKind, reason: str
) -> None:
    w = world("auto")
    context = w.availability.context(model)
    assert context is not None
    context.apply_transition(kind)

    assert w.health_of(model) == [reason]


def test_probation_has_the_policys_attempts_and_one_where_it_names_none(world: MakeWorld) -> None:
    w = world("gemini-2.5-pro", dynamic=True)
    pro = w.availability.chains.resolve("gemini-3-pro-preview")
    assert pro[0].max_attempts is None

    auto = world("auto")
    context = auto.availability.context(PRO)
    assert context is not None
    context.apply_transition(FailureKind.TRANSIENT)
    auto.availability.reset_turn()
    assert auto.availability.selector.select(PRO).attempts == 3
