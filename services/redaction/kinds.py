"""The kinds of secrets, and the place of one in a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Found", "SecretKind"]


class SecretKind(StrEnum):
    """A kind of secret. The value is its name in messages."""

    GOOGLE_KEY = "Google API key"
    SK_KEY = "API key (sk-…)"
    GITHUB = "GitHub token"
    AWS_KEY = "AWS access key"
    SLACK = "Slack token"
    SERVICE = "service token"
    GOOGLE_OAUTH = "Google OAuth token"
    JWT = "JSON web token"
    PEM = "PEM block"
    BEARER = "bearer token"
    BASIC = "basic credentials"
    NAMED = "named key or token"
    PASSWORD = "password"  # noqa: S105 - what messages call one
    COOKIE = "cookie"
    HOME = "home path of a person"
    KNOWN = "secret of the environment"


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """A secret in a text: characters from `start` up to `end`."""

    start: int
    end: int
    kind: SecretKind
