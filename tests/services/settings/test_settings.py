from typing import Any

import pytest

from services.settings import (
    PARAMETERS,
    AdkFlags,
    SettingError,
    Settings,
    settings_from_file,
    settings_from_parameters,
)


def test_nothing_given_means_the_defaults() -> None:
    assert settings_from_parameters({}) == Settings() == settings_from_file({})


def test_parameters_and_the_users_file_lead_to_the_same_fields() -> None:
    from_parameters = settings_from_parameters(
        {
            "maxSessionTurns": 3,
            "adk": {"runtimeEnabled": True},
            "coreTools": ["read_file"],
            "policySettings": {"tools": {"core": ["read_file"]}},
        }
    )
    from_file = settings_from_file(
        {
            "model": {"maxSessionTurns": 3},
            "experimental": {"adk": {"runtimeEnabled": True}},
            "tools": {"core": ["read_file"]},
        }
    )

    assert from_parameters == from_file
    assert from_parameters == Settings(
        max_session_turns=3,
        core_tools=("read_file",),
        policy_core_tools=("read_file",),
        adk=AdkFlags(runtime_enabled=True),
    )


def test_attempts_are_capped() -> None:
    assert settings_from_parameters({"maxAttempts": 50}).max_attempts == 10


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"maxSessionTurns": True}, "maxSessionTurns: a whole number expected, not True"),
        ({"retryFetchErrors": "yes"}, "retryFetchErrors: true or false expected, not 'yes'"),
        ({"coreTools": "read_file"}, "coreTools: a list of texts expected, not 'read_file'"),
        ({"policyRules": [1]}, r"policyRules: a list of mappings expected, not \[1\]"),
        ({"adk": {"runtimeEnabled": 1}}, "adk.runtimeEnabled: true or false expected, not 1"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=f"^{message}$"):
        settings_from_parameters(values)


def test_what_this_build_does_not_act_on_plays_no_part() -> None:
    assert settings_from_parameters({"hooks": {"BeforeTool": []}}) == Settings()


def test_every_parameter_leads_to_a_field_of_its_own() -> None:
    fields = [parameter.field for parameter in PARAMETERS]

    assert len(set(fields)) == len(fields)
