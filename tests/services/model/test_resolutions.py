import pytest

from services.model.configs import ModelConfigs
from services.model.names import AccessFlags
from services.model.resolutions import ModelResolutions

KEY, VERTEX = AccessFlags.for_auth("gemini-api-key"), AccessFlags.for_auth("vertex-ai")
SIGNED_IN = AccessFlags.for_auth("oauth-personal")
OPEN = AccessFlags()


# Source of the vectors: the published core 0.61.0, run with dynamic model configuration.
@pytest.mark.parametrize(
    ("requested", "key", "vertex", "signed_in", "open_"),
    [
        (
            "auto",
            "gemini-3.1-pro-preview-customtools",
            "gemini-3.1-pro-preview",
            "gemini-2.5-pro",
            "gemini-3-pro-preview",
        ),
        (
            "gemini-3.1-pro-preview",
            "gemini-3.1-pro-preview-customtools",
            "gemini-3.1-pro-preview",
            "gemini-2.5-pro",
            "gemini-3.1-pro-preview",
        ),
        (
            "flash",
            "gemini-3.8-flash",
            "gemini-3.8-flash",
            "gemini-3.5-flash",
            "gemini-3-flash-preview",
        ),
        (
            "gemini-3-flash-preview",
            "gemini-3-flash-preview",
            "gemini-3-flash-preview",
            "gemini-3.5-flash",
            "gemini-3-flash-preview",
        ),
        (
            "gemini-2.5-flash",
            "gemini-3.8-flash",
            "gemini-3.8-flash",
            "gemini-2.5-flash",
            "gemini-2.5-flash",
        ),
        (
            "gemini-3.8-flash",
            "gemini-3.8-flash",
            "gemini-3.8-flash",
            "gemini-3.5-flash",
            "gemini-3.5-flash",
        ),
        (
            "flash-lite",
            "gemini-3.5-flash-lite",
            "gemini-3.5-flash-lite",
            "gemini-3.1-flash-lite",
            "gemini-3.1-flash-lite",
        ),
        (" my-model ", "my-model", "my-model", "my-model", "my-model"),
    ],
)
def test_the_products_tables(
    requested: str, key: str, vertex: str, signed_in: str, open_: str
) -> None:
    tables = ModelResolutions()

    resolved = [tables.concrete(requested, access) for access in (KEY, VERTEX, SIGNED_IN, OPEN)]
    assert resolved == [key, vertex, signed_in, open_]


@pytest.mark.parametrize(
    ("model", "stands_down_to"),
    [
        ("gemini-x-flash-lite", "gemini-3.1-flash-lite"),
        ("gemini-x-flash", "gemini-3.5-flash"),
        ("gemini-x", "gemini-2.5-pro"),
    ],
)
def test_an_inaccessible_preview_of_the_user_is_replaced(model: str, stands_down_to: str) -> None:
    tables = ModelResolutions(definitions={model: {"isPreview": True}})

    assert tables.concrete(model, SIGNED_IN) == stands_down_to
    assert tables.concrete(model, OPEN) == model


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"useLatestFlash": True}, True),
        ({"useGemini3_5Flash": True, "useGemini3_1FlashLite": True}, True),
        ({"useLatestFlash": True, "hasAccessToPreview": False}, False),
        ({"hasAccessToProModel": False}, False),
        ({"requestedModels": ["m"]}, False),
        ({"unheardOf": True}, False),
        ({"useLatestFlash": 1}, False),
        ({}, True),
    ],
)
def test_every_condition_must_hold_and_be_known(condition: dict[str, object], holds: bool) -> None:
    entry = {"default": "no", "contexts": [{"condition": condition, "target": "yes"}]}

    assert ModelResolutions(ids={"m": entry}).concrete("m", KEY) == ("yes" if holds else "no")


def test_a_tier_may_depend_on_the_requested_model() -> None:
    tables = ModelResolutions()

    assert tables.for_tier("auto-gemini-2.5", "pro", OPEN) == "gemini-2.5-pro"
    assert tables.for_tier("auto", "pro", OPEN) == "gemini-3-pro-preview"
    assert tables.for_tier("gemini-2.5-pro", "flash", OPEN) == "gemini-3.5-flash"
    assert tables.for_tier("auto", "flash-lite", KEY) == "gemini-3.5-flash-lite"


def test_a_chain_does_not_know_whether_previews_are_accessible() -> None:
    chain = ModelResolutions().chain("preview", SIGNED_IN)

    assert chain is not None
    assert [policy["model"] for policy in chain] == [
        "gemini-3-pro-preview",
        "gemini-3-flash-preview",
    ]
    assert ModelResolutions().chain("none", KEY) is None


def test_configs_ask_the_tables_where_there_are_any() -> None:
    tables = ModelResolutions(definitions={"mine": {"tier": "auto", "family": "gemini-3"}})
    configs = ModelConfigs(KEY, resolutions=tables)
    plain = ModelConfigs(KEY)

    assert (configs.is_auto("mine"), plain.is_auto("mine")) == (True, False)
    assert (configs.is_gemini3("mine"), plain.is_gemini3("mine")) == (True, False)
    assert configs.concrete("gemini-2.5-flash") == "gemini-3.8-flash"
    assert plain.concrete("gemini-2.5-flash") == "gemini-2.5-flash"
    assert configs.concrete("pro", custom_tools=False) == "gemini-3.1-pro-preview"
    assert plain.concrete("pro", custom_tools=False) == "gemini-3.1-pro-preview"
    assert configs.for_tier("auto", "flash") == plain.for_tier("auto", "flash")
