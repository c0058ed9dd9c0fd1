"""Which model an agent asks, and with which config."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.model.configs import ModelConfigKey
from tests.services.subagents.registries import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write(place.user, "cool", "temperature: 0.3")
    return place


def key(name: str) -> ModelConfigKey:
    return ModelConfigKey(model=f"{name}-config", override_scope=name)


def test_inherit_is_the_sessions_model(place: Place) -> None:
    place.loaded()

    resolved = place.models.resolve(key("cool"))

    assert resolved.model == "gemini-2.5-flash"
    assert resolved.config == {"temperature": 0.3, "topP": 0.95}


def test_a_change_of_model_is_followed_until_the_registry_is_closed(place: Place) -> None:
    registry = place.loaded()

    place.state.set_model("gemini-2.5-pro")
    assert place.models.resolve(key("cool")).model == "gemini-2.5-pro"

    registry.close()
    place.state.set_model("gemini-2.5-flash")
    assert place.models.resolve(key("cool")).model == "gemini-2.5-pro"


def test_a_model_of_its_own_stays(place: Place) -> None:
    place.write(place.user, "own", "model: flash")
    place.loaded()
    place.state.set_model("gemini-2.5-pro")

    assert place.models.resolve(key("own")).model == "flash"


def test_only_where_the_router_chooses_the_config_goes_with_the_agents_name(tmp_path: Path) -> None:
    def scoped(model: str) -> object:
        place = Place(tmp_path, model)
        place.write(place.user, "cool", "temperature: 0.3")
        place.loaded()
        asked = ModelConfigKey(model="gemini-2.5-flash", override_scope="cool")
        return place.models.resolve(asked).config.get("temperature")

    assert scoped("auto") == 0.3
    assert scoped("gemini-2.5-pro") == 1


def test_repeated_changes_of_model_add_no_overrides(place: Place) -> None:
    place.state.set_model("auto")
    place.loaded()
    before = len(place.models._runtime_overrides)

    for model in ("gemini-2.5-pro", "auto", "gemini-2.5-pro", "auto"):
        place.state.set_model(model)

    assert len(place.models._runtime_overrides) == before == 1
