"""The source of a run's model responses: the API, a gateway, an account, or a recorded file."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.clock import Clock
from services.model.auth import (
    GOOGLE_ACCOUNTS,
    AuthConfig,
    AuthError,
    AuthType,
    auth_from_environment,
    auth_type_from_environment,
)
from services.model.call_log import ModelCallLog
from services.model.errors import FatalAuthenticationError, FatalInputError
from services.model.generator import ContentGenerator
from services.model.mapping import BackendNames, MappedContentGenerator, SessionNames
from services.model.metering import metered
from services.model.names import AccessFlags
from services.model.recording import RecordingContentGenerator
from services.model.replay.responses import (
    FakeResponsesGenerator,
    ResponsesFormatError,
    read_responses,
)
from services.private_files import open_private
from services.sign_in.api_key import ApiKeyStore
from surfaces.headless.providers import OtherProvider, opened_provider

if TYPE_CHECKING:
    # An editor gets its first answer before these are needed.
    from services.code_assist.setup import UserData
    from services.interaction.interaction import Interaction
    from surfaces.headless.machine import Machine

__all__ = ["ModelSource", "OpenedModel", "auth_type_of", "choose_model", "open_model"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where answers come from: `auth`, `other`, or where there is neither, `fake`."""

    auth_type: str
    auth: AuthConfig | None = None
    other: OtherProvider | None = None
    fake: FakeResponsesGenerator | None = None
    record: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedModel:
    """A session's model."""

    generator: ContentGenerator
    user: UserData | None = None
    """What Code Assist knows of the account, where it answers."""


def check_enforced(kind: AuthType | None, enforced: str | None) -> None:
    """Check that the way to sign in is the one that the settings enforce.

    Source: `packages/cli` `validateNonInterActiveAuth.ts`.

    Raises:
        FatalAuthenticationError: it is another, or there is none.
    """
    if enforced is None or kind == enforced:
        return
    if kind is None:
        raise FatalAuthenticationError(
            f"The auth type '{enforced}' is enforced, but no authentication is configured."
        )
    raise FatalAuthenticationError(
        f"The enforced authentication type is '{enforced}', but the current type is '{kind}'. "
        "Please re-authenticate with the correct type."
    )


def auth_type_of(variables: Mapping[str, str], selected: str | None) -> AuthType | None:
    """The way to sign in: what the settings select, else what the variables select.

    Source: `packages/cli` `validateNonInterActiveAuth.ts`.

    Raises:
        FatalAuthenticationError: the settings select an unknown way to sign in.
    """
    if not selected:
        return auth_type_from_environment(variables)
    try:
        kind = AuthType(selected)
    except ValueError:
        known = ", ".join(AuthType)
        raise FatalAuthenticationError(
            f"Invalid auth method selected: the settings file's security.auth.selectedType is "
            f"{selected!r}; write one of {known}, or leave it out"
        ) from None
    if kind is AuthType.LEGACY_CLOUD_SHELL and _is_cloud_machine(variables):
        return AuthType.COMPUTE_ADC
    return kind


def _is_cloud_machine(variables: Mapping[str, str]) -> bool:
    return "true" in (variables.get("CLOUD_SHELL"), variables.get("GEMINI_CLI_USE_COMPUTE_ADC"))


def choose_model(
    variables: Mapping[str, str],
    *,
    fake: Path | None,
    record: Path | None,
    selected: str | None = None,
    enforced: str | None = None,
    provider: OtherProvider | None = None,
    strict: bool = True,
    home: Path | None = None,
) -> ModelSource:
    """Choose the source before the first request. Recorded answers need a key as well.

    Args:
        variables: The environment.
        fake: A file of recorded answers.
        record: Where answers are recorded.
        selected: The settings' own way to sign in.
        enforced: The only way to sign in that the settings allow; `None`: any.
        provider: The provider; `None`: Gemini, which one signs in to.
        strict: Whether each call gets the next recorded answer, and not the first that fits it.
        home: Where a stored API key counts; `None`: only that of the environment does.

    Raises:
        FatalAuthenticationError: no way to sign in; says what to set.
        FatalInputError: a file cannot be read, or not be written.
    """
    if record is not None:
        _check_record(record)
    if provider is not None:
        return _other_source(provider, fake, record, enforced, strict)
    kind = auth_type_of(variables, selected)
    check_enforced(kind, enforced)
    if kind is None:
        raise FatalAuthenticationError(
            "Please set an Auth method in your settings (security.auth.selectedType) or specify "
            "one of the following environment variables before running: GEMINI_API_KEY, "
            "GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GEMINI_BASE_URL, GOOGLE_GENAI_USE_GCA"
        )
    if kind is AuthType.USE_GEMINI and not variables.get("GEMINI_API_KEY") and home is not None:
        stored = ApiKeyStore(home).load()
        variables = {**variables, "GEMINI_API_KEY": stored} if stored else variables
    if kind is AuthType.USE_GEMINI and not variables.get("GEMINI_API_KEY"):
        raise FatalAuthenticationError(
            "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n"
            "Update your environment and try again (no reload needed if using .env)!"
        )
    if fake is not None:
        return ModelSource(auth_type=kind, fake=_fake(fake, strict), record=record)
    try:
        auth = auth_from_environment(variables, kind)
    except AuthError as error:
        raise FatalAuthenticationError(str(error)) from error
    return ModelSource(auth_type=auth.type, auth=auth, record=record)


def _other_source(
    provider: OtherProvider,
    fake: Path | None,
    record: Path | None,
    enforced: str | None,
    strict: bool,
) -> ModelSource:
    """The source of a session with another provider; see `choose_model`."""
    name = str(provider.provider)
    if enforced is not None:
        raise FatalAuthenticationError(
            f"The enforced authentication type is '{enforced}', but the provider is '{name}'; "
            "leave out --provider, PARITY_PROVIDER and the setting model.provider"
        )
    opened_provider(provider, replayed=fake is not None)
    if fake is not None:
        return ModelSource(auth_type=name, fake=_fake(fake, strict), record=record)
    return ModelSource(auth_type=name, other=provider, record=record)


@asynccontextmanager
async def open_model(
    source: ModelSource,
    machine: Machine,
    *,
    model: str,
    session_id: str,
    interaction: Interaction,
    warn: Callable[[str], None],
) -> AsyncIterator[OpenedModel]:
    """The generator of a session; leaving closes its connections.

    Args:
        source: Where answers come from.
        machine: Its clock, environment and home.
        model: The session's model.
        session_id: The session.
        interaction: Asks the user to verify a Google account.
        warn: Receives the problem of a stored sign-in that cannot be read.

    Raises:
        FatalAuthenticationError: The user has not signed in, or the account cannot be used.
    """
    auth, clock = source.auth, machine.clock
    if auth is None and source.other is None:
        assert source.fake is not None
        yield OpenedModel(generator=_recorded(source.fake, source))
        return
    async with AsyncExitStack() as stack:
        real: ContentGenerator
        user = None
        by_account = auth is not None and auth.type in GOOGLE_ACCOUNTS
        if auth is None:
            assert source.other is not None
            real = _opened(source.other, clock, stack)
        elif by_account:
            from services.code_assist.opening import open_code_assist

            by_google = await stack.enter_async_context(
                open_code_assist(
                    auth,
                    session_id=session_id,
                    environment=machine.environment,
                    home=machine.workspace.home,
                    clock=clock,
                    interaction=interaction,
                    warn=warn,
                )
            )
            real, user = by_google, by_google.user
        else:
            from services.model.gemini import GeminiContentGenerator

            real = GeminiContentGenerator(auth, clock)
            stack.push_async_callback(real.aclose)
        if auth is None:
            rename: Callable[[str], str] = SessionNames(model)
        else:
            rename = BackendNames(AccessFlags.for_auth(auth.type), code_assist=by_account)
        mapped = MappedContentGenerator(real, rename)
        measured = metered(mapped, [ModelCallLog(logger)], clock)
        yield OpenedModel(generator=_recorded(measured, source), user=user)


def _opened(other: OtherProvider, clock: Clock, stack: AsyncExitStack) -> ContentGenerator:
    """A generator over the SDK of another provider, which `stack` closes."""
    from services.providers.opening import open_provider

    real = open_provider(other.provider, clock, key=other.key, address=other.address)
    stack.push_async_callback(real.aclose)
    return real


def _recorded(inner: ContentGenerator, source: ModelSource) -> ContentGenerator:
    return inner if source.record is None else RecordingContentGenerator(inner, source.record)


def _check_record(file: Path) -> None:
    """Find out whether answers can be recorded in `file`; leaves nothing behind."""
    if not file.parent.is_dir():
        raise FatalInputError(
            f"{file}: the folder {file.parent} is not there; make it, or name another file "
            "with --record-responses"
        )
    if file.is_dir():
        raise FatalInputError(f"{file}: is a folder; name a file with --record-responses")
    known = file.exists()
    try:
        open_private(file, "ab").close()
        if not known:
            file.unlink()
    except OSError as error:
        raise FatalInputError(
            f"{file}: cannot be written: {error.strerror}; name another file with "
            "--record-responses"
        ) from error


def _fake(file: Path, strict: bool) -> FakeResponsesGenerator:
    try:
        return FakeResponsesGenerator(read_responses(file), strict=strict)
    except OSError as error:
        raise FatalInputError(
            f"{file}: cannot be read: {error.strerror}; name a file of recorded answers with "
            "--fake-responses"
        ) from error
    except ResponsesFormatError as error:
        raise FatalInputError(
            f"{file}, {error}; each line is an object "
            '{"method": "generateContentStream", "response": […]}'
        ) from error
