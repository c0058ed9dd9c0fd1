"""A word to those who share a cloud project that has run out of its quota.

Source: core `utils/retry.ts`, `enrichQuotaError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.model.errors import QuotaError

__all__ = ["enrich_quota_error"]

_SHARED_PROJECT_AUTH: Final = (
    "oauth-personal",
    "compute-default-credentials",
    "LOGIN_WITH_GOOGLE",
    "COMPUTE_ADC",
)
_TIP: Final = "💡 Tip:"
_SHARED_PROJECT_TIP: Final = (
    f"\n\n{_TIP} The shared Google Cloud project is experiencing high traffic and has hit its "
    "quota limits. To get dedicated, uninterrupted quota, please set your own Google Cloud "
    "project by running:\n"
    "  gcloud config set project [PROJECT_ID]\n"
    "or by setting the GOOGLE_CLOUD_PROJECT environment variable."
)


def enrich_quota_error(
    error: Exception, auth_type: str | None, variables: Mapping[str, str]
) -> Exception:
    """Append, once, how to get a quota of one's own to a quota error of the shared project.

    Args:
        error: Returned as it is unless it is a quota error; changed in place if so.
        auth_type: Only Google sign-in and compute credentials use the shared project.
        variables: The environment; a project named there is the user's own.
    """
    if (
        isinstance(error, QuotaError)
        and auth_type in _SHARED_PROJECT_AUTH
        and not variables.get("GOOGLE_CLOUD_PROJECT")
        and not variables.get("GOOGLE_CLOUD_PROJECT_ID")
        and _TIP not in error.message
    ):
        error.args = (error.message + _SHARED_PROJECT_TIP,)
    return error
