"""Sets up an account: its tier and its project, onboarding it where it is new.

Source: core `code_assist/setup.ts`, `code_assist/server.ts` (`loadCodeAssist`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.clock import Clock
from services.code_assist.errors import (
    CodeAssistError,
    IneligibleTierError,
    ProjectIdRequiredError,
    numeric_project,
)
from services.code_assist.server import CodeAssistServer
from services.interaction.interaction import Interaction
from services.interaction.questions import ValidationIntent, ValidationQuestion
from services.model.errors import FatalAuthenticationError, ValidationRequiredError
from services.model.google_errors import GoogleError
from services.wire import JsonObject

__all__ = ["Onboarding", "UserData", "project_of", "set_up_user"]

logger = logging.getLogger(__name__)

_METADATA: Final[JsonObject] = {
    "ideType": "IDE_UNSPECIFIED",
    "platform": "PLATFORM_UNSPECIFIED",
    "pluginType": "GEMINI",
}
_FREE: Final = "free-tier"
_LEGACY: Final = "legacy-tier"
_STANDARD: Final = "standard-tier"
_POLL_MS: Final = 5000
_CLOUD_SHELL_PROJECT: Final = "cloudshell-gca"


@dataclass(frozen=True, slots=True, kw_only=True)
class Onboarding:
    """An account was onboarded."""

    tier_name: str | None
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """What Code Assist knows of the account."""

    project: str | None
    tier: str
    """For example `free-tier`."""
    tier_name: str | None = None
    onboarding: Onboarding | None = None
    """`None`: the account was known before."""


def project_of(variables: Mapping[str, str]) -> str | None:
    """The project that the environment names.

    Raises:
        FatalAuthenticationError: it names a project's number.
    """
    project = variables.get("GOOGLE_CLOUD_PROJECT") or variables.get("GOOGLE_CLOUD_PROJECT_ID")
    if project and project.isascii() and project.isdigit():
        raise numeric_project(project)
    return project or None


async def set_up_user(
    server: CodeAssistServer, project: str | None, interaction: Interaction, clock: Clock
) -> UserData:
    """Load the account, and onboard it if it has no tier.

    Args:
        server: the server.
        project: the project that the user chose.
        interaction: asks the user to verify the account.
        clock: times the polls of the onboarding.

    Raises:
        ValidationRequiredError: the account must be verified first.
        ProjectIdRequiredError, IneligibleTierError: the account cannot be used so.
        ModelError: the server refuses, or cannot be reached.
    """
    loaded = await _loaded(server, project, interaction)
    current, paid = _object(loaded.get("currentTier")), _object(loaded.get("paidTier"))
    if current is None:
        return await _onboarded(server, loaded, project, clock)
    named = loaded.get("cloudaicompanionProject")
    chosen = named if isinstance(named, str) and named else project
    if chosen is None:
        raise _unusable(loaded)
    return UserData(
        project=chosen,
        tier=str((paid or {}).get("id") or current.get("id") or _STANDARD),
        tier_name=_text((paid or {}).get("name")) or _text(current.get("name")),
    )


async def _loaded(
    server: CodeAssistServer, project: str | None, interaction: Interaction
) -> JsonObject:
    while True:
        loaded = await _load(server, project)
        refusing = _validation(loaded)
        if refusing is None:
            return loaded
        question = ValidationQuestion(
            link=refusing.validation_link,
            description=refusing.validation_description,
            learn_more_url=None,
        )
        intent = await interaction.ask(question)
        if intent is None:
            raise refusing
        if intent is ValidationIntent.CHANGE_AUTH:
            raise FatalAuthenticationError("Choose another way to sign in: set GEMINI_API_KEY")
        if intent is not ValidationIntent.VERIFY:
            raise FatalAuthenticationError("User cancelled account validation")


async def _load(server: CodeAssistServer, project: str | None) -> JsonObject:
    try:
        return await server.call("loadCodeAssist", _about(project, {}))
    except CodeAssistError as error:
        if "SECURITY_POLICY_VIOLATED" in error.reasons():
            # The account's perimeter hides this method, and no other one.
            return {"currentTier": {"id": _STANDARD}}
        if error.status == 403 and project == _CLOUD_SHELL_PROJECT:
            raise FatalAuthenticationError(
                "Access to the default Cloud Shell Gemini project was denied.\n"
                "Please set your own Google Cloud project by running:\n"
                "gcloud config set project [PROJECT_ID]\n"
                "or setting export GOOGLE_CLOUD_PROJECT=..."
            ) from error
        raise


def _about(project: str | None, more: JsonObject) -> JsonObject:
    """The body of a request about an account; one without a project names none."""
    if project is None:
        return {**more, "metadata": dict(_METADATA)}
    return {
        **more,
        "cloudaicompanionProject": project,
        "metadata": {**_METADATA, "duetProject": project},
    }


def _validation(loaded: JsonObject) -> ValidationRequiredError | None:
    """Why an account without a tier must be verified; `None`: it need not."""
    if _object(loaded.get("currentTier")) is not None:
        return None
    for tier in _objects(loaded.get("ineligibleTiers")):
        link = _text(tier.get("validationUrl"))
        if link and tier.get("reasonCode") == "VALIDATION_REQUIRED":
            reason = _text(tier.get("reasonMessage"))
            message = f"Account validation required: {reason}"
            return ValidationRequiredError(
                message,
                GoogleError(403, message),
                validation_link=link,
                validation_description=reason,
            )
    return None


async def _onboarded(
    server: CodeAssistServer, loaded: JsonObject, project: str | None, clock: Clock
) -> UserData:
    tier = next(
        (each for each in _objects(loaded.get("allowedTiers")) if each.get("isDefault")),
        {"id": _LEGACY, "name": ""},
    )
    # The free tier has a project of Google's; naming another one fails the precondition.
    own = None if tier.get("id") == _FREE else project
    begun_ms = clock.now_ms()
    named = {} if tier.get("id") is None else {"tierId": tier["id"]}
    state = await server.call("onboardUser", _about(own, named))
    name = state.get("name")
    while not state.get("done") and isinstance(name, str):
        await clock.sleep(_POLL_MS)
        state = await server.operation(name)
    given = _object((_object(state.get("response")) or {}).get("cloudaicompanionProject")) or {}
    chosen = _text(given.get("id")) or project
    if chosen is None:
        raise _unusable(loaded)
    tier_name = _text(tier.get("name"))
    return UserData(
        project=chosen,
        tier=str(tier.get("id") or _STANDARD),
        tier_name=tier_name,
        onboarding=Onboarding(tier_name=tier_name, duration_ms=clock.now_ms() - begun_ms),
    )


def _unusable(loaded: JsonObject) -> FatalAuthenticationError:
    reasons = [str(tier.get("reasonMessage")) for tier in _objects(loaded.get("ineligibleTiers"))]
    return IneligibleTierError(", ".join(reasons)) if reasons else ProjectIdRequiredError()


def _object(value: Any) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def _objects(value: Any) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
