import re

import pytest

from services.model.config_settings import model_configs_from_settings
from services.model.configs import ModelConfigKey, ModelConfigs, ResolvedModelConfig
from services.model.names import AccessFlags
from services.wire import JsonObject


def configs(value: JsonObject | None = None, *, dynamic: bool = False) -> ModelConfigs:
    return model_configs_from_settings(value, AccessFlags(), dynamic=dynamic)


def resolve(value: JsonObject | None, model: str) -> ResolvedModelConfig:
    return configs(value).resolve(ModelConfigKey(model=model))


def test_without_a_setting_the_products_configs_apply() -> None:
    assert resolve(None, "classifier") == resolve({}, "classifier")
    assert resolve(None, "classifier").config["maxOutputTokens"] == 1024
    assert configs().resolutions is None


def test_custom_aliases_and_overrides_go_over_the_products() -> None:
    value = {
        "customAliases": {
            "mine": {
                "extends": "classifier",
                "modelConfig": {"generateContentConfig": {"maxOutputTokens": 5}},
            },
            "bare": {"extends": "mine"},
        },
        "customOverrides": [
            {
                "match": {"model": "mine", "overrideScope": "core"},
                "modelConfig": {"model": "m2", "generateContentConfig": {"topK": 1}},
            }
        ],
    }

    assert resolve(value, "bare") == ResolvedModelConfig(
        "m2",
        {
            "temperature": 0,
            "topP": 1,
            "topK": 1,
            "maxOutputTokens": 5,
            "thinkingConfig": {"thinkingBudget": 512},
        },
    )


def test_aliases_and_overrides_replace_the_products_whole() -> None:
    own = {"aliases": {"chat-base": {"modelConfig": {"generateContentConfig": {"topK": 2}}}}}
    key = ModelConfigKey(model="gemini-2.5-pro", is_chat_model=True, is_retry=True)

    assert configs(own).resolve(key).config == {"topK": 2, "temperature": 1}
    assert configs({**own, "overrides": []}).resolve(key).config == {"topK": 2}


def test_tables_are_added_name_by_name_and_used_where_they_are_switched_on() -> None:
    value = {
        "modelDefinitions": {"mine": {"tier": "auto"}},
        "modelIdResolutions": {"mine": {"default": "gemini-2.5-pro"}},
        "classifierIdResolutions": {"flash": {"default": "m"}},
        "modelChains": {"mine": [{"model": "mine", "maxAttempts": 2}]},
    }
    dynamic = configs(value, dynamic=True)

    assert configs(value).concrete("mine") == "mine"
    assert (dynamic.concrete("mine"), dynamic.is_auto("mine")) == ("gemini-2.5-pro", True)
    assert dynamic.for_tier("auto", "flash") == "m"
    assert dynamic.concrete("auto") == "gemini-3-pro-preview"
    assert dynamic.resolutions is not None
    assert dynamic.resolutions.chain("mine", AccessFlags()) == [
        {"model": "gemini-2.5-pro", "maxAttempts": 2}
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"aliases": []}, "modelConfigs.aliases: a mapping expected, not []"),
        ({"aliases": {"a": 1}}, "modelConfigs.aliases.a: a mapping expected, not 1"),
        (
            {"customAliases": {"a": {"extends": 1}}},
            "modelConfigs.customAliases.a.extends: a text expected, not 1",
        ),
        (
            {"aliases": {"a": {"modelConfig": {"generateContentConfig": "x"}}}},
            "modelConfigs.aliases.a.modelConfig.generateContentConfig: a mapping expected, not 'x'",
        ),
        ({"overrides": {}}, "modelConfigs.overrides: a list expected, not {}"),
        (
            {"customOverrides": [{"match": []}]},
            "modelConfigs.customOverrides[0].match: a mapping expected, not []",
        ),
        (
            {"modelIdResolutions": {"m": {}}},
            "modelConfigs.modelIdResolutions.m.default: a text expected, not None",
        ),
        (
            {"modelIdResolutions": {"m": {"default": "d", "contexts": [{"condition": {}}]}}},
            "modelConfigs.modelIdResolutions.m.contexts[0].target: a text expected, not None",
        ),
        (
            {"modelChains": {"c": [{"model": "m", "actions": {"terminal": "loud"}}]}},
            "modelConfigs.modelChains.c[0].actions.terminal: silent or prompt expected, not 'loud'",
        ),
        (
            {"modelChains": {"c": [{"model": "m", "stateTransitions": {"odd": "terminal"}}]}},
            (
                "modelConfigs.modelChains.c[0].stateTransitions: 'odd' is no kind of failure; "
                "terminal or transient or not_found or unknown are"
            ),
        ),
        (
            {"modelChains": {"c": [{"model": "m", "maxAttempts": True}]}},
            "modelConfigs.modelChains.c[0].maxAttempts: a whole number expected, not True",
        ),
    ],
)
def test_an_error_names_the_wrong_value_and_its_place(value: JsonObject, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        configs(value)
