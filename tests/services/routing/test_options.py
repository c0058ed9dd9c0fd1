import pytest

from services.routing.options import RoutingOptions
from services.settings import SettingError, settings_from_file, settings_from_parameters


def test_a_session_without_settings_routes_by_plan_and_by_number() -> None:
    assert RoutingOptions.from_settings(settings_from_file({})) == RoutingOptions()
    assert RoutingOptions().threshold == 90


def test_switches_come_from_the_settings_file() -> None:
    settings = settings_from_file(
        {
            "general": {"plan": {"modelRouting": False}},
            "experimental": {
                "dynamicModelConfiguration": True,
                "gemmaModelRouter": {
                    "enabled": True,
                    "classifier": {"host": "http://here:1", "model": "m"},
                },
            },
            "modelConfigs": {"aliases": {}},
        }
    )

    assert RoutingOptions.from_settings(settings) == RoutingOptions(
        plan_routing=False, gemma_enabled=True, gemma_model="m"
    )
    assert settings.gemma_router_host == "http://here:1"
    assert settings.dynamic_model_configuration is True
    assert settings.model_configs == {"aliases": {}}


def test_switches_come_from_the_cores_parameters() -> None:
    settings = settings_from_parameters(
        {
            "planSettings": {"modelRouting": False},
            "dynamicModelConfiguration": True,
            "modelConfigServiceConfig": {"overrides": []},
        }
    )

    assert settings.plan_model_routing is False
    assert settings.dynamic_model_configuration is True
    assert settings.model_configs == {"overrides": []}


def test_model_configs_are_a_mapping() -> None:
    with pytest.raises(SettingError, match=r"modelConfigs: a mapping expected, not \[\]"):
        settings_from_file({"modelConfigs": []})


@pytest.mark.parametrize(
    ("remote", "threshold"),
    [(None, 90), (0, 0), (100, 100), (101, 90), (-1, 90), (33.5, 33.5), (float("nan"), 90)],
)
def test_a_remote_threshold_counts_within_0_to_100(remote: float | None, threshold: float) -> None:
    assert RoutingOptions(remote_threshold=remote).threshold == threshold
