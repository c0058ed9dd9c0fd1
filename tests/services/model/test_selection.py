import pytest

from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.names import AccessFlags
from services.model.selection import apply_model_selection
from services.state import ApprovalMode, CoreEvents, SessionState


def session(model: str = "configured") -> SessionState:
    return SessionState(
        session_id="s",
        model=model,
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=CoreEvents(),
    )


def models(auth_type: str = "gemini-api-key") -> ModelConfigs:
    return ModelConfigs(AccessFlags.for_auth(auth_type))


def test_a_concrete_model_keeps_its_config() -> None:
    key = ModelConfigKey(model="gemini-2.5-pro", is_chat_model=True)
    selection = apply_model_selection(key, models=models(), state=session())

    assert selection.model == "gemini-2.5-pro"
    assert selection.config == models().resolve(key).config
    assert selection.max_attempts is None


@pytest.mark.parametrize(
    ("auth_type", "requested", "selected"),
    [
        ("gemini-api-key", "gemini-3-pro-preview", "gemini-3.1-pro-preview-customtools"),
        ("vertex-ai", "gemini-3-pro-preview", "gemini-3.1-pro-preview"),
        ("oauth-personal", "gemini-3-pro-preview", "gemini-2.5-pro"),
        ("gemini-api-key", "loop-detection-double-check", "gemini-3.1-pro-preview-customtools"),
        ("gemini-api-key", "next-speaker-checker", "gemini-3-flash-preview"),
        ("gemini-api-key", "models/gemini-3.5-flash", "gemini-3.8-flash"),
        ("gemini-api-key", "models/my-model", "my-model"),
    ],
)
def test_the_selected_model_is_what_the_session_may_use(
    auth_type: str, requested: str, selected: str
) -> None:
    selection = apply_model_selection(
        ModelConfigKey(model=requested), models=models(auth_type), state=session()
    )

    assert selection.model == selected


def test_an_alias_of_an_alias_loses_the_config_of_its_own() -> None:
    selection = apply_model_selection(
        ModelConfigKey(model="classifier"), models=models(), state=session()
    )

    assert selection.model == "gemini-3.5-flash-lite"
    assert selection.config == {
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
    }


def test_a_chat_makes_its_model_the_active_one() -> None:
    state = session()
    key = ModelConfigKey(model="gemini-3.5-flash", is_chat_model=True)
    apply_model_selection(key, models=models(), state=state)

    assert (state.active_model, state.model) == ("gemini-3.8-flash", "configured")


def test_a_helper_does_not() -> None:
    state = session()
    apply_model_selection(ModelConfigKey(model="gemini-2.5-pro"), models=models(), state=state)

    assert state.active_model == "configured"
