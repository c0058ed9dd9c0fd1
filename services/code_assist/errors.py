"""The errors of Code Assist."""

from __future__ import annotations

from typing import Final

from services.json_values import parse_json
from services.model.errors import ApiError, FatalAuthenticationError
from services.wire import Json

__all__ = ["CodeAssistError", "IneligibleTierError", "ProjectIdRequiredError", "numeric_project"]

_LONGEST: Final = 4096


class CodeAssistError(ApiError):
    """Code Assist answered with an error status.

    The message is the answer's text. `response` has the shape of an HTTP client's error, which
    `services.model.google_errors` and `services.model.errors.friendly_error` read.
    """

    def __init__(self, status: int, text: str) -> None:
        try:
            data: Json = parse_json(text)
        except (ValueError, RecursionError):
            # A page of a proxy, of any length.
            data = None
        shown = text.strip()[:_LONGEST] or f"Code Assist answered with HTTP {status}"
        super().__init__(status, text if isinstance(data, dict) else shown)
        self.response: Json = {"status": status, "data": data}

    def reasons(self) -> frozenset[str]:
        """The reasons that the error's details name, such as `SECURITY_POLICY_VIOLATED`."""
        data = self.response["data"] if isinstance(self.response, dict) else None
        error = data.get("error") if isinstance(data, dict) else None
        details = error.get("details") if isinstance(error, dict) else None
        found = (
            each.get("reason")
            for each in (details if isinstance(details, list) else ())
            if isinstance(each, dict)
        )
        return frozenset(each for each in found if isinstance(each, str))


class ProjectIdRequiredError(FatalAuthenticationError):
    """The account needs a project of its own."""

    name = "ProjectIdRequiredError"

    def __init__(self) -> None:
        super().__init__(
            "This account requires setting the GOOGLE_CLOUD_PROJECT or GOOGLE_CLOUD_PROJECT_ID "
            "env var. See https://goo.gle/gemini-cli-auth-docs#workspace-gca"
        )


class IneligibleTierError(FatalAuthenticationError):
    """The account may use no tier; the message has the server's reasons."""

    name = "IneligibleTierError"


def numeric_project(project: str) -> FatalAuthenticationError:
    """The error for a project's number in place of its id."""
    return FatalAuthenticationError(
        f'Invalid Google Cloud Project ID: "{project}". The GOOGLE_CLOUD_PROJECT (or '
        "GOOGLE_CLOUD_PROJECT_ID) environment variable must be set to your string-based Project "
        'ID (e.g., "my-project-123"), not your numeric Project Number. Please update your '
        "environment variables."
    )
