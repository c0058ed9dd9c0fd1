"""The sign-in and address of the API, from environment variables.

Source: core `core/contentGenerator.ts` (`getAuthTypeFromEnv`, `createContentGeneratorConfig`),
`utils/customHeaderUtils.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from services.net.addresses import require_encrypted_or_local
from services.net.errors import AddressRefused

__all__ = [
    "GOOGLE_ACCOUNTS",
    "AuthConfig",
    "AuthError",
    "AuthType",
    "auth_from_environment",
    "auth_type_from_environment",
    "parse_custom_headers",
]

_REGIONS: Final = {
    "us": "https://aiplatform.us.rep.googleapis.com",
    "eu": "https://aiplatform.eu.rep.googleapis.com",
}
"""The addresses of the locations of Vertex AI that span regions."""
SUPPORTED = (
    "Supported: an API key (GEMINI_API_KEY), Vertex AI (GOOGLE_GENAI_USE_VERTEXAI=true with "
    "GOOGLE_API_KEY, or with GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION), a gateway "
    "(GOOGLE_GEMINI_BASE_URL), Google login (GOOGLE_GENAI_USE_GCA=true), or the account of the "
    "machine (GEMINI_CLI_USE_COMPUTE_ADC=true)."
)


class AuthType(StrEnum):
    """Upstream's ways to sign in. `LEGACY_CLOUD_SHELL` is an old name of `COMPUTE_ADC`."""

    LOGIN_WITH_GOOGLE = "oauth-personal"
    USE_GEMINI = "gemini-api-key"
    USE_VERTEX_AI = "vertex-ai"
    LEGACY_CLOUD_SHELL = "cloud-shell"
    COMPUTE_ADC = "compute-default-credentials"
    GATEWAY = "gateway"


GOOGLE_ACCOUNTS: Final = (AuthType.LOGIN_WITH_GOOGLE, AuthType.COMPUTE_ADC)
"""The ways to sign in that Code Assist answers."""


class AuthError(ValueError):
    """There is no usable way to sign in; the message says what to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthConfig:
    """The address and credentials of requests. `repr` shows no secrets."""

    type: AuthType
    api_key: str | None = field(default=None, repr=False)
    vertexai: bool = False
    project: str | None = None
    location: str | None = None
    base_url: str | None = None
    """Replaces the API's address, for gateways and stand-ins."""
    api_version: str | None = None
    """For example `v1beta`; None: the SDK's default."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request. May hold tokens."""


def auth_type_from_environment(variables: Mapping[str, str]) -> AuthType | None:
    """Return the way to sign in that the variables select, in upstream's order."""
    if variables.get("GOOGLE_GENAI_USE_GCA") == "true":
        return AuthType.LOGIN_WITH_GOOGLE
    if variables.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return AuthType.USE_VERTEX_AI
    if variables.get("GOOGLE_GEMINI_BASE_URL"):
        return AuthType.GATEWAY
    if variables.get("GEMINI_API_KEY"):
        return AuthType.USE_GEMINI
    if "true" in (variables.get("CLOUD_SHELL"), variables.get("GEMINI_CLI_USE_COMPUTE_ADC")):
        return AuthType.COMPUTE_ADC
    return None


def auth_from_environment(variables: Mapping[str, str], kind: AuthType | None = None) -> AuthConfig:
    """Read the sign-in of kind `kind`, by default the kind that `variables` select.

    Raises:
        AuthError: The variables are missing or incomplete, or this build lacks the kind.
    """
    kind = kind or auth_type_from_environment(variables)
    if kind is None:
        raise AuthError(f"No way to reach the API is set. {SUPPORTED}")
    if kind is AuthType.USE_VERTEX_AI:
        return _vertex(variables)
    if kind in (AuthType.USE_GEMINI, AuthType.GATEWAY):
        key = variables.get("GEMINI_API_KEY", "")
        return AuthConfig(
            type=kind,
            api_key=key,
            base_url=_base_url(variables, "GOOGLE_GEMINI_BASE_URL"),
            api_version=variables.get("GOOGLE_GENAI_API_VERSION") or None,
            headers=_headers(variables, kind, key),
        )
    if kind in GOOGLE_ACCOUNTS:
        # Tokens come later, from `services.sign_in`.
        return AuthConfig(type=kind, headers=_headers(variables, kind, ""))
    raise AuthError(
        f"Error creating contentGenerator: Unsupported authType: {kind.value}. {SUPPORTED}"
    )


def _vertex(variables: Mapping[str, str]) -> AuthConfig:
    key = variables.get("GOOGLE_API_KEY") or None
    project = variables.get("GOOGLE_CLOUD_PROJECT") or variables.get("GOOGLE_CLOUD_PROJECT_ID")
    location = variables.get("GOOGLE_CLOUD_LOCATION")
    if key is None and not (project and location):
        raise AuthError(
            "Vertex AI needs GOOGLE_API_KEY, or both GOOGLE_CLOUD_PROJECT and "
            f"GOOGLE_CLOUD_LOCATION. {SUPPORTED}"
        )
    return AuthConfig(
        type=AuthType.USE_VERTEX_AI,
        api_key=key,
        vertexai=True,
        # The SDK takes one or the other, and upstream's prefers the key.
        project=None if key else project,
        location=None if key else location,
        base_url=_base_url(variables, "GOOGLE_VERTEX_BASE_URL") or _REGIONS.get(location or ""),
        api_version=variables.get("GOOGLE_GENAI_API_VERSION") or None,
        headers=_headers(variables, AuthType.USE_VERTEX_AI, key or ""),
    )


def _headers(variables: Mapping[str, str], kind: AuthType, key: str) -> dict[str, str]:
    headers = parse_custom_headers(variables.get("GEMINI_CLI_CUSTOM_HEADERS"))
    if (
        variables.get("GEMINI_API_KEY_AUTH_MECHANISM") == "bearer"
        and kind is not AuthType.GATEWAY
        and key
    ):
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _base_url(variables: Mapping[str, str], name: str) -> str | None:
    url = variables.get(name)
    if not url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or not parts.scheme or not parts.netloc:
        raise AuthError(f"Invalid custom base URL: {url}")
    try:
        require_encrypted_or_local(url)
    except AddressRefused as error:
        raise AuthError(f"{name}: {error}") from error
    return url


def parse_custom_headers(text: str | None) -> dict[str, str]:
    """`Name: value, Other: value` as a dict; a comma inside a value stays in the value."""
    headers: dict[str, str] = {}
    for entry in re.split(r",(?=[^,:]+:)", text or ""):
        name, colon, value = entry.strip().partition(":")
        if colon and name.strip():
            headers[name.strip()] = value.strip()
    return headers
