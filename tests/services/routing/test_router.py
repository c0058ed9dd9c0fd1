import asyncio

import pytest

from services.abort import AbortController
from services.model.configs import ModelConfigs
from services.model.names import AccessFlags
from services.routing.router import ModelRouter, RoutingContext, RoutingDecision
from services.state import ApprovalMode, CoreEvents, SessionState


def decide(
    configured: str, requested: str | None = None, auth_type: str = "gemini-api-key"
) -> RoutingDecision:
    state = SessionState(
        session_id="s",
        model=configured,
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=CoreEvents(),
    )
    router = ModelRouter(models=ModelConfigs(AccessFlags.for_auth(auth_type)), state=state)
    context = RoutingContext(
        history=[],
        request=[{"text": "x"}],
        signal=AbortController().signal,
        requested_model=requested,
    )
    return asyncio.run(router.route(context))


@pytest.mark.parametrize(
    ("requested", "auth_type", "model"),
    [
        ("gemini-2.5-pro", "gemini-api-key", "gemini-2.5-pro"),
        ("my-model", "gemini-api-key", "my-model"),
        ("flash", "gemini-api-key", "gemini-3.8-flash"),
        ("flash", "oauth-personal", "gemini-3.5-flash"),
        ("flash-lite", "gemini-api-key", "gemini-3.5-flash-lite"),
        ("pro", "gemini-api-key", "gemini-3.1-pro-preview"),
        ("gemini-3-pro-preview", "gemini-api-key", "gemini-3.1-pro-preview"),
        ("pro", "oauth-personal", "gemini-2.5-pro"),
    ],
)
def test_a_forced_model_is_resolved_without_custom_tools(
    requested: str, auth_type: str, model: str
) -> None:
    assert decide("configured", requested, auth_type) == RoutingDecision(
        model=model,
        source="agent-router/override",
        reason=f"Routing bypassed by forced model directive. Using: {requested}",
    )


def test_without_a_request_the_configured_model_is_forced() -> None:
    decision = decide("flash")

    assert (decision.model, decision.source) == ("gemini-3.8-flash", "agent-router/override")


@pytest.mark.parametrize(
    ("configured", "auth_type", "model"),
    [
        ("auto", "gemini-api-key", "gemini-3.1-pro-preview"),
        ("auto-gemini-3", "vertex-ai", "gemini-3.1-pro-preview"),
        ("auto", "oauth-personal", "gemini-2.5-pro"),
        ("auto-gemini-2.5", "gemini-api-key", "gemini-2.5-pro"),
    ],
)
def test_an_auto_model_goes_to_the_default(configured: str, auth_type: str, model: str) -> None:
    assert decide(configured, auth_type=auth_type) == RoutingDecision(
        model=model, source="agent-router/default", reason=f"Routing to default model: {model}"
    )


def test_the_default_is_the_configured_models_not_the_requested_ones() -> None:
    assert decide("gemini-2.5-flash", "auto").model == "gemini-2.5-flash"
