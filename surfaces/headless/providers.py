"""Which provider of models a session has, other than Gemini.

The command line counts before the environment, and the environment before the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from services.model.errors import FatalAuthenticationError, FatalConfigError, FatalInputError
from services.net.addresses import require_encrypted_or_local
from services.net.errors import AddressRefused
from services.providers.provider import FACTS, Provider, missing_package
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.settings_files import LoadedSettings

__all__ = ["OtherProvider", "chosen_provider", "model_of", "opened_provider"]

_GEMINI: Final = ("gemini-", "gemma-", "auto", "pro", "flash")
_PROVIDER: Final = "PARITY_PROVIDER"
_NO_PROVIDER: Final = (
    "--base-url is for another provider: add --provider openai or --provider anthropic. For the "
    "Gemini API set the environment variable GOOGLE_GEMINI_BASE_URL."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherProvider:
    """A provider, and where it is. `repr` shows no key."""

    provider: Provider
    address: str | None = None
    """Replaces the address of the provider's API."""
    key: str | None = field(default=None, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether the requests go to the provider itself, and not to a server like it."""
        return self.address in (None, FACTS[self.provider].address)


def chosen_provider(
    options: HeadlessOptions, loaded: LoadedSettings, variables: Mapping[str, str]
) -> OtherProvider | None:
    """Return the provider that the command line, the environment or the settings name.

    `None` stands for Gemini.

    Raises:
        FatalConfigError: there is no such provider, or its address must not be used.
        FatalInputError: the command line gives an address for Gemini.
    """
    name = options.provider or variables.get(_PROVIDER) or loaded.text("model.provider")
    if not name or name == Provider.GEMINI:
        if options.base_url:
            raise FatalInputError(_NO_PROVIDER)
        return None
    try:
        provider = Provider(name)
    except ValueError:
        known = ", ".join(Provider)
        raise FatalConfigError(
            f"there is no provider {name!r}; name one of {known} with --provider, {_PROVIDER} or "
            "the setting model.provider"
        ) from None
    facts = FACTS[provider]
    address = (
        options.base_url
        or variables.get(facts.address_variable)
        or loaded.text("model.baseUrl")
        or None
    )
    if address is not None:
        try:
            require_encrypted_or_local(address)
        except AddressRefused as error:
            raise FatalConfigError(f"the address of {provider} cannot be used: {error}") from error
    return OtherProvider(
        provider=provider, address=address, key=variables.get(facts.key_variable) or None
    )


def model_of(
    other: OtherProvider,
    options: HeadlessOptions,
    loaded: LoadedSettings,
    variables: Mapping[str, str],
) -> str:
    """Return the model of a session with that provider.

    Raises:
        FatalConfigError: none is named, or one that the provider does not have.
    """
    provider = other.provider
    variable = f"{provider.upper()}_MODEL"
    asked = options.model or variables.get(variable) or loaded.text("model.name") or ""
    name = asked.strip()
    mend = f"name one with --model, {variable} or the setting model.name"
    if not name:
        raise FatalConfigError(f"a session with the provider {provider} needs a model; {mend}")
    if other.is_own and name.startswith(_GEMINI):
        raise FatalConfigError(f"{name} is no model of the provider {provider}; {mend}")
    return name


def opened_provider(other: OtherProvider, *, replayed: bool) -> None:
    """Return if the provider can be asked; `replayed`: recorded answers replace it.

    Raises:
        FatalInputError: its SDK is not installed.
        FatalAuthenticationError: it wants a key, and there is none.
    """
    if replayed:
        return
    missing = missing_package(other.provider)
    if missing is not None:
        raise FatalInputError(missing)
    facts = FACTS[other.provider]
    if other.key is None and other.is_own:
        raise FatalAuthenticationError(
            f"When using {facts.title}, you must specify the {facts.key_variable} environment "
            "variable, or the address of another server with --base-url."
        )
