import pytest

from services.model.aliases import ModelAlias, ModelOverride
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.default_configs import DEFAULT_ALIASES
from services.model.errors import ModelConfigError
from services.model.names import AccessFlags

BASE = {"temperature": 0, "topP": 1}
CHAT = {"temperature": 1, "topP": 0.95, "topK": 64}
CHAT_2_5 = CHAT | {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 8192}}
CHAT_3 = CHAT | {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"}}


def product() -> ModelConfigs:
    return ModelConfigs(AccessFlags())


def bare(aliases: dict[str, ModelAlias], *overrides: ModelOverride) -> ModelConfigs:
    return ModelConfigs(AccessFlags(), aliases=aliases, overrides=overrides)


def lite(**config: object) -> tuple[str, dict[str, object]]:
    return ("flash-lite", BASE | config)


def budget(tokens: int) -> dict[str, int]:
    return {"thinkingBudget": tokens}


@pytest.mark.parametrize(
    ("alias", "model", "config"),
    [
        *[
            (m, m, CHAT_2_5)
            for m in ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite")
        ],
        *[
            (model, model, CHAT_3)
            for model in (
                "gemini-3-pro-preview",
                "gemini-3-flash-preview",
                "gemini-3.1-pro-preview",
                "gemini-3.1-pro-preview-customtools",
                "gemini-3.1-flash-lite-preview",
                "gemini-3.1-flash-lite",
                "gemini-3.5-flash-lite",
                "gemini-3.5-flash",
                "gemini-3.8-flash",
                "gemma-4-31b-it",
                "gemma-4-26b-a4b-it",
            )
        ],
        ("gemini-2.5-flash-base", "gemini-2.5-flash", BASE),
        ("gemini-3-flash-base", "gemini-3-flash-preview", BASE),
        ("gemini-3.5-flash-base", "gemini-3.5-flash", BASE),
        ("classifier", *lite(maxOutputTokens=1024, thinkingConfig=budget(512))),
        (
            "prompt-completion",
            *lite(temperature=0.3, maxOutputTokens=16000, thinkingConfig=budget(0)),
        ),
        (
            "fast-ack-helper",
            *lite(temperature=0.2, maxOutputTokens=120, thinkingConfig=budget(0)),
        ),
        ("edit-corrector", *lite(thinkingConfig=budget(0))),
        ("summarizer-default", *lite(maxOutputTokens=2000)),
        ("summarizer-shell", *lite(maxOutputTokens=2000)),
        ("web-search", "gemini-3-flash-preview", BASE | {"tools": [{"googleSearch": {}}]}),
        ("web-fetch", "gemini-3-flash-preview", BASE | {"tools": [{"urlContext": {}}]}),
        *[
            (alias, "gemini-3-flash-preview", BASE)
            for alias in (
                "web-fetch-fallback",
                "loop-detection",
                "llm-edit-fixer",
                "next-speaker-checker",
            )
        ],
        ("loop-detection-double-check", "gemini-3-pro-preview", BASE),
        (
            "context-snapshotter",
            "gemini-3-flash-preview",
            CHAT | {"thinkingConfig": {"thinkingLevel": "HIGH"}},
        ),
        ("chat-compression-3-pro", "gemini-3-pro-preview", {}),
        ("chat-compression-3-flash", "gemini-3-flash-preview", {}),
        ("chat-compression-3.1-flash-lite", "gemini-3.1-flash-lite", {}),
        ("chat-compression-2.5-pro", "gemini-2.5-pro", {}),
        ("chat-compression-2.5-flash", "gemini-2.5-flash", {}),
        ("chat-compression-2.5-flash-lite", "gemini-2.5-flash-lite", {}),
        ("chat-compression-default", "gemini-3-pro-preview", {}),
        ("agent-history-provider-summarizer", "gemini-3-flash-preview", {}),
    ],
)
def test_the_products_aliases(alias: str, model: str, config: dict[str, object]) -> None:
    resolved = product().resolve(ModelConfigKey(model=alias))

    assert (resolved.model, resolved.config) == (model, config)


def test_every_alias_is_in_the_table_above_or_a_base_without_a_model() -> None:
    configs = product()
    unresolved = []
    for alias in DEFAULT_ALIASES:
        try:
            configs.resolve(ModelConfigKey(model=alias))
        except ModelConfigError:
            unresolved.append(alias)

    assert unresolved == ["base", "chat-base", "chat-base-2.5", "chat-base-3"]
    assert len(DEFAULT_ALIASES) == 43


def test_a_name_without_an_alias_gets_the_chat_defaults_in_a_chat_and_nothing_elsewhere() -> None:
    chat = product().resolve(ModelConfigKey(model="my-model", is_chat_model=True))
    other = product().resolve(ModelConfigKey(model="my-model"))

    assert chat.model == "my-model"
    assert chat.config == CHAT | {"thinkingConfig": {"includeThoughts": True}}
    assert (other.model, other.config) == ("my-model", {})


def test_a_chat_retry_is_tried_at_temperature_one() -> None:
    configs = ModelConfigs(
        AccessFlags(),
        custom_aliases={
            "chat-base": ModelAlias(config={"temperature": 0.2}),
            "cold": ModelAlias(extends="base", model="m"),
        },
    )

    def temperature(model: str, *, retry: bool) -> object:
        return configs.resolve(ModelConfigKey(model=model, is_retry=retry)).config["temperature"]

    assert temperature("gemini-2.5-pro", retry=False) == 0.2
    assert temperature("gemini-2.5-pro", retry=True) == 1
    assert temperature("cold", retry=True) == 0


def test_a_resolved_config_may_be_changed() -> None:
    configs = product()
    key = ModelConfigKey(model="web-search")
    first = configs.resolve(key)
    first.config["tools"].append("mine")
    first.config["tools"][0]["googleSearch"]["mine"] = True

    assert configs.resolve(key).config == BASE | {"tools": [{"googleSearch": {}}]}
    assert DEFAULT_ALIASES["web-search"].config == {"tools": [{"googleSearch": {}}]}


def test_objects_merge_and_lists_and_scalars_replace() -> None:
    configs = bare(
        {
            "root": ModelAlias(config={"a": {"x": 1, "y": 1}, "l": [1, 2], "o": {"x": 1}}),
            "leaf": ModelAlias(extends="root", model="m", config={"a": {"y": 2}, "l": [3], "o": 0}),
        }
    )

    assert configs.resolve(ModelConfigKey(model="leaf")).config == {
        "a": {"x": 1, "y": 2},
        "l": [3],
        "o": 0,
    }


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        ({"a": ModelAlias(extends="b")}, 'Alias "b" not found.'),
        (
            {"a": ModelAlias(extends="b"), "b": ModelAlias(extends="a")},
            "Circular alias dependency: a -> b -> a",
        ),
        (
            {
                ("a" if n == 0 else f"a{n}"): ModelAlias(
                    extends=f"a{n + 1}" if n < 100 else None, model="m"
                )
                for n in range(101)
            },
            "Alias inheritance chain exceeded maximum depth of 100.",
        ),
        (
            {"a": ModelAlias()},
            (
                'Could not resolve a model name for alias "a". Please ensure the alias chain or a '
                "matching override specifies a model."
            ),
        ),
    ],
    ids=["missing", "circular", "deep", "no-model"],
)
def test_aliases_that_lead_nowhere(aliases: dict[str, ModelAlias], message: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        bare(aliases).resolve(ModelConfigKey(model="a"))

    assert str(caught.value) == message


def test_a_hundred_aliases_are_not_too_many() -> None:
    aliases = {
        f"a{n}": ModelAlias(extends=f"a{n + 1}" if n < 99 else None, model="m") for n in range(100)
    }

    assert bare(aliases).resolve(ModelConfigKey(model="a0")).model == "m"


TREE = {
    "root": ModelAlias(config={"v": "alias"}),
    "leaf": ModelAlias(extends="root", model="the-model"),
}


@pytest.mark.parametrize(
    ("matches", "winner"),
    [
        ([{"model": "leaf"}, {"model": "root"}], 0),
        ([{"model": "root"}, {"model": "the-model"}], 0),
        ([{"model": "root"}, {"isRetry": True, "isChatModel": True, "overrideScope": "s"}], 0),
        ([{"model": "root"}, {"model": "root"}], 1),
        ([{"model": "root", "isRetry": True}, {"model": "root"}], 0),
        ([{"model": "root"}, {"model": "elsewhere"}], 0),
        ([{"model": "root"}, {}], 0),
        ([{"model": "root"}, {"model": ["root"]}], 0),
    ],
)
def test_the_deepest_most_specific_last_override_wins(
    matches: list[dict[str, object]], winner: int
) -> None:
    configs = bare(
        TREE, *[ModelOverride(match=match, config={"v": n}) for n, match in enumerate(matches)]
    )
    key = ModelConfigKey(model="leaf", is_retry=True, is_chat_model=True, override_scope="s")

    assert configs.resolve(key).config["v"] == winner


@pytest.mark.parametrize(
    ("match", "key", "matches"),
    [
        ({"overrideScope": "core"}, ModelConfigKey(model="leaf"), True),
        ({"overrideScope": "core"}, ModelConfigKey(model="leaf", override_scope="core"), True),
        ({"overrideScope": "core"}, ModelConfigKey(model="leaf", override_scope="agent"), False),
        ({"overrideScope": "agent"}, ModelConfigKey(model="leaf", override_scope="agent"), True),
        ({"overrideScope": "agent"}, ModelConfigKey(model="leaf"), False),
        ({"overrideScope": None}, ModelConfigKey(model="leaf"), False),
        ({"isRetry": False}, ModelConfigKey(model="leaf"), False),
        ({"isRetry": 1}, ModelConfigKey(model="leaf", is_retry=True), False),
        ({"isChatModel": True}, ModelConfigKey(model="leaf", is_chat_model=True), True),
        ({"unheardOf": True}, ModelConfigKey(model="leaf"), False),
    ],
)
def test_conditions_are_strict(
    match: dict[str, object], key: ModelConfigKey, matches: bool
) -> None:
    configs = bare(TREE, ModelOverride(match=match, config={"v": "override"}))

    assert configs.resolve(key).config["v"] == ("override" if matches else "alias")


def test_an_override_may_change_the_model() -> None:
    configs = bare(TREE, ModelOverride(match={"model": "the-model"}, model="another"))

    assert configs.resolve(ModelConfigKey(model="leaf")).model == "another"


def test_runtime_aliases_and_overrides_win_and_take_effect_at_once() -> None:
    configs = ModelConfigs(
        AccessFlags(),
        aliases=TREE,
        overrides=(),
        custom_aliases={"leaf": ModelAlias(model="custom")},
        custom_overrides=[ModelOverride(match={"model": "custom"}, config={"v": "custom"})],
    )
    key = ModelConfigKey(model="leaf")
    assert (configs.resolve(key).model, configs.resolve(key).config) == ("custom", {"v": "custom"})

    configs.register_runtime_override(ModelOverride(match={"model": "custom"}, config={"v": "now"}))
    assert configs.resolve(key).config == {"v": "now"}

    configs.register_runtime_alias("leaf", ModelAlias(model="runtime"))
    assert (configs.resolve(key).model, configs.resolve(key).config) == ("runtime", {})
