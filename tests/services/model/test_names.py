import pytest

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
    wire_model_name,
)

COLUMNS = (
    AccessFlags(),
    AccessFlags(preview=False),
    AccessFlags(gemini31_launched=True),
    AccessFlags(gemini31_launched=True, custom_tools=True),
    AccessFlags(latest_flash=True, latest_flash_lite=True),
    AccessFlags(preview=False, latest_flash=True, latest_flash_lite=True),
)
"""Preview; none; preview and 3.1; with custom tools; preview and the latest; the latest alone."""

PRO = (
    "gemini-3-pro-preview",
    "gemini-2.5-pro",
    "gemini-3.1-pro-preview",
    "gemini-3.1-pro-preview-customtools",
    "gemini-3-pro-preview",
    "gemini-2.5-pro",
)
LITE = (*["gemini-3.1-flash-lite"] * 4, *["gemini-3.5-flash-lite"] * 2)
PREVIEW_FLASH = "gemini-3-flash-preview"
FLASH = (
    PREVIEW_FLASH,
    "gemini-3.5-flash",
    PREVIEW_FLASH,
    PREVIEW_FLASH,
    "gemini-3.8-flash",
    "gemini-3.8-flash",
)


def kept_with_preview(model: str, otherwise: str, latest: str) -> tuple[str, ...]:
    return (model, otherwise, model, model, model, latest)


TABLE = {
    "auto": PRO,
    "pro": PRO,
    "auto-gemini-3": PRO,
    "gemini-3-pro-preview": PRO,
    "flash": FLASH,
    " flash\n": FLASH,
    "flash-lite": LITE,
    "none": LITE,
    "gemini-3.1-flash-lite": LITE,
    "auto-gemini-2.5": ("gemini-2.5-pro",) * 6,
    "gemini-3.1-pro-preview": kept_with_preview(
        "gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-2.5-pro"
    ),
    "gemini-3.1-pro-preview-customtools": kept_with_preview(
        "gemini-3.1-pro-preview-customtools", "gemini-2.5-pro", "gemini-2.5-pro"
    ),
    PREVIEW_FLASH: kept_with_preview(PREVIEW_FLASH, "gemini-3.5-flash", "gemini-3.8-flash"),
    "gemini-3-flash": (*["gemini-3-flash"] * 4, *["gemini-3.8-flash"] * 2),
    "gemini-3.5-flash": (*["gemini-3.5-flash"] * 4, *["gemini-3.8-flash"] * 2),
    **{
        model: (model,) * 6
        for model in (
            "gemini-3.8-flash",
            "gemini-3.5-flash-lite",
            "gemini-2.5-pro",
            "gemini-2.5-flash",
            "gemini-2.5-flash-lite",
            "my-model",
            "models/gemini-3.5-flash",
            "",
        )
    },
}


@pytest.mark.parametrize("requested", TABLE)
def test_resolution_follows_the_table(requested: str) -> None:
    assert tuple(resolve_model(requested, access) for access in COLUMNS) == TABLE[requested]


@pytest.mark.parametrize(
    ("auth_type", "pro", "flash", "preview_flash"),
    [
        ("gemini-api-key", "gemini-3.1-pro-preview-customtools", "gemini-3.8-flash", PREVIEW_FLASH),
        ("vertex-ai", "gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-3.8-flash"),
        ("gateway", "gemini-2.5-pro", "gemini-3.8-flash", "gemini-3.8-flash"),
        ("oauth-personal", "gemini-2.5-pro", "gemini-3.5-flash", PREVIEW_FLASH),
        (None, "gemini-2.5-pro", "gemini-3.5-flash", PREVIEW_FLASH),
    ],
)
def test_access_depends_on_the_sign_in(
    auth_type: str | None, pro: str, flash: str, preview_flash: str
) -> None:
    access = AccessFlags.for_auth(auth_type)

    assert resolve_model("pro", access) == pro
    assert resolve_model("flash", access) == flash
    assert access.default_flash == flash
    assert access.preview_flash == preview_flash


def test_a_gateway_keeps_the_old_preview_flash_which_is_no_preview_there() -> None:
    assert resolve_model(PREVIEW_FLASH, AccessFlags.for_auth("gateway")) == PREVIEW_FLASH


def test_routing_leaves_custom_tools_out() -> None:
    access = AccessFlags.for_auth("gemini-api-key").without_custom_tools()

    assert resolve_model("gemini-3-pro-preview", access) == "gemini-3.1-pro-preview"


def test_there_are_three_auto_models() -> None:
    names = [*TABLE, "auto-gemini-4", "AUTO"]

    assert [name for name in names if is_auto_model(name)] == [
        "auto",
        "auto-gemini-3",
        "auto-gemini-2.5",
    ]


def test_the_name_alone_marks_a_preview_model() -> None:
    assert {name for name in TABLE if is_preview_model(name)} == {
        "auto",
        "auto-gemini-3",
        "gemini-3-pro-preview",
        "gemini-3.1-pro-preview",
        "gemini-3.1-pro-preview-customtools",
        PREVIEW_FLASH,
    }


def test_the_preview_flash_is_the_accesses_own() -> None:
    vertex = AccessFlags.for_auth("vertex-ai")

    assert is_preview_model("gemini-3.8-flash", vertex)
    assert not is_preview_model(PREVIEW_FLASH, vertex)


@pytest.mark.parametrize(
    ("model", "gemini3", "gemini2", "custom", "modern"),
    [
        ("auto", True, False, False, True),
        ("pro", True, False, False, True),
        ("flash-lite", True, False, False, True),
        ("none", True, False, False, True),
        ("gemini-3", True, False, False, True),
        ("gemini-3.1-pro-preview", True, False, False, True),
        ("gemini-30-x", False, False, False, False),
        ("auto-gemini-2.5", False, False, False, False),
        ("gemini-2", False, True, False, False),
        ("gemini-2.5-pro", False, True, False, False),
        ("gemini-2\n", False, False, False, False),
        ("gemini-20", False, False, False, False),
        ("gemini-1.5-pro", False, False, False, False),
        ("gemma-4-31b-it", False, False, True, True),
        ("my-model", False, False, True, True),
        ("models/gemini-2.5-pro", False, False, True, True),
    ],
)
def test_families(model: str, gemini3: bool, gemini2: bool, custom: bool, modern: bool) -> None:
    assert (
        is_gemini3_model(model),
        is_gemini2_model(model),
        is_custom_model(model),
        supports_modern_features(model),
    ) == (gemini3, gemini2, custom, modern)


@pytest.mark.parametrize(
    ("model", "access", "code_assist", "expected"),
    [
        ("gemini-3.5-flash", AccessFlags(latest_flash=True), False, "gemini-3.8-flash"),
        ("gemini-3-flash", AccessFlags(latest_flash=True), True, "gemini-3.8-flash"),
        ("gemini-3.5-flash", AccessFlags(), True, "gemini-3-flash"),
        ("gemini-3.5-flash", AccessFlags(), False, "gemini-3.5-flash"),
        ("gemini-3-flash", AccessFlags(), True, "gemini-3-flash"),
        ("gemini-3.1-flash-lite", AccessFlags(), True, "gemini-3.1-flash-lite"),
        (
            "models/gemini-3.1-flash-lite",
            AccessFlags(latest_flash_lite=True),
            False,
            "models/gemini-3.5-flash-lite",
        ),
        ("gemini-2.5-pro", AccessFlags(latest_flash=True), True, "gemini-2.5-pro"),
    ],
)
def test_wire_model_names(
    model: str, access: AccessFlags, code_assist: bool, expected: str
) -> None:
    assert wire_model_name(model, access, code_assist=code_assist) == expected


def test_only_a_leading_prefix_is_stripped() -> None:
    assert normalize_model_id("models/a/models/b") == "a/models/b"
    assert normalize_model_id("tuned/models/a") == "tuned/models/a"


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("gemini-2.5-pro", 1_048_576),
        ("whatever", 1_048_576),
        ("gemma-4-31b-it", 256_000),
        ("gemma-4-26b-a4b-it", 256_000),
    ],
)
def test_token_limits(model: str, limit: int) -> None:
    assert token_limit(model) == limit


KEY, SIGNED_IN = AccessFlags.for_auth("gemini-api-key"), AccessFlags.for_auth("oauth-personal")
PREVIEW = AccessFlags()


# Source of the vectors: the published core 0.61.0, run.
@pytest.mark.parametrize(
    ("requested", "access", "flash", "pro"),
    [
        ("auto-gemini-2.5", KEY, "gemini-3.8-flash", "gemini-2.5-pro"),
        ("auto-gemini-2.5", PREVIEW, "gemini-3.5-flash", "gemini-2.5-pro"),
        ("auto", KEY, "gemini-3.8-flash", "gemini-3.1-pro-preview-customtools"),
        ("auto", PREVIEW, "gemini-3-flash-preview", "gemini-3-pro-preview"),
        ("auto", SIGNED_IN, "gemini-3.5-flash", "gemini-2.5-pro"),
        ("my-model", PREVIEW, "gemini-3-flash-preview", "my-model"),
        ("my-model", SIGNED_IN, "gemini-3.5-flash", "my-model"),
    ],
)
def test_a_tier_belongs_to_the_requested_family(
    requested: str, access: AccessFlags, flash: str, pro: str
) -> None:
    assert resolve_classifier_model(requested, "flash", access) == flash
    assert resolve_classifier_model(requested, "pro", access) == pro
    lite = access.default_flash_lite
    assert resolve_classifier_model(requested, "flash-lite", access) == lite


@pytest.mark.parametrize(
    ("model", "plain", "launched"),
    [
        ("auto", "Auto", "Auto"),
        ("auto-gemini-3", "Auto (Gemini 3)", "Auto (Gemini 3)"),
        ("auto-gemini-2.5", "Auto (Gemini 2.5)", "Auto (Gemini 2.5)"),
        ("pro", "gemini-3-pro-preview", "gemini-3-pro-preview"),
        ("flash", "gemini-3-flash-preview", "gemini-3-flash-preview"),
        ("flash-lite", "flash-lite", "flash-lite"),
        ("gemini-3-flash", "gemini-3.5-flash", "gemini-3.8-flash"),
        ("gemini-3.5-flash", "gemini-3.5-flash", "gemini-3.8-flash"),
        ("gemini-3.1-flash-lite", "gemini-3.1-flash-lite", "gemini-3.5-flash-lite"),
        ("gemini-3.1-pro-preview-customtools", "gemini-3.1-pro-preview", "gemini-3.1-pro-preview"),
        ("my-model", "my-model", "my-model"),
    ],
)
def test_display_names(model: str, plain: str, launched: str) -> None:
    assert (display_name(model), display_name(model, KEY)) == (plain, launched)
