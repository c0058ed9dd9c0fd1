"""Settings that change nothing are accepted, with a sentence that says so."""

from __future__ import annotations

from typing import Any

import pytest

from services.settings import (
    PARAMETERS,
    SettingError,
    Settings,
    settings_from_file,
    settings_from_parameters,
)
from services.settings.without_effect import WITHOUT_EFFECT, without_effect


def nested(path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {first: nested(rest, value) if rest else value}


def test_no_setting_is_in_both_tables() -> None:
    """A setting that has an effect is not in the table of those without effect."""
    assert not {each.name for each in PARAMETERS} & {each.name for each in WITHOUT_EFFECT}
    keys = {each.key for each in PARAMETERS} & {each.key for each in WITHOUT_EFFECT}
    assert keys - {None} == set()


@pytest.mark.parametrize("entry", WITHOUT_EFFECT, ids=lambda each: each.name or each.key)
def test_each_setting_without_effect_is_named_and_changes_nothing(entry: Any) -> None:
    value = "set by the user"
    for path, of_file in ((entry.name, False), (entry.key, True)):
        if path is None:
            continue
        given, sentences = nested(path, value), (f"The setting {path} has no effect: {entry.why}.",)
        settings = settings_from_file(given) if of_file else settings_from_parameters(given)
        assert without_effect(given, of_file=of_file) == sentences
        assert settings.warnings == (sentences if of_file else ())
        assert settings == Settings()


@pytest.mark.parametrize(
    ("value", "warns"), [(False, False), (True, True), (0, True), (None, False)]
)
def test_a_value_that_asks_for_what_happens_anyway_is_not_named(value: Any, warns: bool) -> None:
    assert bool(without_effect({"debugMode": value}, of_file=False)) is warns


@pytest.mark.parametrize("value", [True, "docker", {"command": "podman"}])
def test_a_sandbox_that_the_user_relies_on_is_refused(value: Any) -> None:
    with pytest.raises(SettingError, match=r"^tools\.sandbox: this build runs commands without"):
        settings_from_file({"tools": {"sandbox": value}})
    with pytest.raises(SettingError, match=r"^toolSandboxing: this build runs commands without"):
        settings_from_parameters({"toolSandboxing": True})


@pytest.mark.parametrize("value", [False, "", "false", None])
def test_no_sandbox_may_be_asked_for(value: Any) -> None:
    assert settings_from_file({"tools": {"sandbox": value}}).sandbox is False


@pytest.mark.parametrize(("value", "warns"), [(True, True), (False, False)])
def test_a_setting_with_less_than_its_whole_effect_is_named(value: bool, warns: bool) -> None:
    warned = settings_from_file({"experimental": {"contextManagement": value}}).warnings

    assert bool(warned) is warns
    assert all(
        each.startswith("The setting experimental.contextManagement has less effect than in the")
        for each in warned
    )
