"""The providers of models that this project has a format for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import Final

__all__ = ["FACTS", "Provider", "ProviderFacts", "missing_package"]


class Provider(StrEnum):
    """A provider, by the name that options, settings and sides use for it."""

    GEMINI = "gemini"
    OPENAI = "openai"
    """OpenAI's Chat Completions, and every server that is compatible with them."""
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFacts:
    """How to reach a provider other than Gemini."""

    title: str
    """Its name in sentences."""
    package: str
    """The module of its SDK; also the name of the extra that installs it."""
    address: str
    """The address of its API."""
    key_variable: str
    """The environment variable of the key."""
    address_variable: str
    """The environment variable that replaces `address`."""


FACTS: Final[Mapping[Provider, ProviderFacts]] = {
    Provider.OPENAI: ProviderFacts(
        title="OpenAI",
        package="openai",
        address="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        address_variable="OPENAI_BASE_URL",
    ),
    Provider.ANTHROPIC: ProviderFacts(
        title="Anthropic",
        package="anthropic",
        address="https://api.anthropic.com",
        key_variable="ANTHROPIC_API_KEY",
        address_variable="ANTHROPIC_BASE_URL",
    ),
}


def missing_package(provider: Provider) -> str | None:
    """Return how to install the SDK of `provider`, as a sentence; `None` if it is installed."""
    facts = FACTS.get(provider)
    if facts is None or find_spec(facts.package) is not None:
        return None
    return (
        f"The provider {provider} needs the package {facts.package}, which is not installed; "
        f"install it with `pip install 'parity[{facts.package}]'`"
    )
