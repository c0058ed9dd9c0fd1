from typing import Any

import pytest

from services.model.errors import ApiError, TerminalQuotaError
from tests.services.model.retrying import quota, run

TIP = (
    "\n\n💡 Tip: The shared Google Cloud project is experiencing high traffic and has hit its "
    "quota limits. To get dedicated, uninterrupted quota, please set your own Google Cloud "
    "project by running:\n  gcloud config set project [PROJECT_ID]\n"
    "or by setting the GOOGLE_CLOUD_PROJECT environment variable."
)


@pytest.mark.parametrize(
    "auth_type",
    ["oauth-personal", "compute-default-credentials", "LOGIN_WITH_GOOGLE", "COMPUTE_ADC"],
)
def test_users_of_the_shared_project_get_a_tip_once(auth_type: str) -> None:
    outcome = run(quota("400s"), auth_type=auth_type)

    assert isinstance(outcome.error, TerminalQuotaError)
    assert outcome.error.message == "slow\nSuggested retry after 400s." + TIP
    again = run(outcome.error, auth_type=auth_type)
    assert str(again.error).count("💡 Tip:") == 1


@pytest.mark.parametrize(
    "options",
    [
        {"auth_type": "gemini-api-key"},
        {"auth_type": None},
        {"auth_type": "oauth-personal", "variables": {"GOOGLE_CLOUD_PROJECT": "mine"}},
        {"auth_type": "oauth-personal", "variables": {"GOOGLE_CLOUD_PROJECT_ID": "mine"}},
    ],
)
def test_users_of_their_own_project_get_no_tip(options: dict[str, Any]) -> None:
    assert str(run(quota("400s"), **options).error) == "slow\nSuggested retry after 400s."


def test_an_empty_project_is_none_and_other_errors_get_no_tip() -> None:
    options: dict[str, Any] = {
        "auth_type": "oauth-personal",
        "variables": {"GOOGLE_CLOUD_PROJECT": ""},
    }

    assert str(run(quota(), max_attempts=1, **options).error) == "slow" + TIP
    assert str(run(ApiError.from_parts(404, "gone"), **options).error) == "gone"
