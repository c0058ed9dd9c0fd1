"""Every setting that the product accepts has an effect, or is refused, and the page shows it."""

from __future__ import annotations

import pytest

from services.settings import (
    PARAMETERS,
    SettingError,
    settings_from_file,
    settings_from_parameters,
)
from tests.docs.settings_page import PAGE, is_refused, page, readers


def test_every_setting_is_read_by_the_product_or_refused() -> None:
    read_by = readers()

    unread = [each.name for each in PARAMETERS if not read_by[each.field] and not is_refused(each)]

    assert unread == []


def test_a_setting_without_its_whole_effect_says_so() -> None:
    gaps = {parameter.name for parameter in PARAMETERS if parameter.gap is not None}

    assert gaps == {
        "contextManagement.enabled",
        "gemmaModelRouter.enabled",
        "sandbox",
        "toolSandboxing",
    }


def test_the_local_classifier_is_refused_with_the_settings_own_name() -> None:
    why = "this build has no local classifier; remove the setting, or set it to false"
    router = {"gemmaModelRouter": {"enabled": True}}

    with pytest.raises(SettingError, match=f"^gemmaModelRouter.enabled: {why}$"):
        settings_from_parameters(router)
    with pytest.raises(SettingError, match=f"^experimental.gemmaModelRouter.enabled: {why}$"):
        settings_from_file({"experimental": router})
    assert settings_from_parameters({"gemmaModelRouter": {"enabled": False}}).gemma_router is False


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.docs.settings_page"
