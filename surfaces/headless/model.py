"""The source of a run's model responses: the API, a gateway, or a file of recorded ones."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from services.clock import Clock
from services.model.auth import (
    AuthConfig,
    AuthError,
    AuthType,
    auth_from_environment,
    auth_type_from_environment,
)
from services.model.call_log import ModelCallLog
from services.model.errors import FatalAuthenticationError, FatalInputError
from services.model.generator import ContentGenerator
from services.model.metering import metered
from services.model.recording import RecordingContentGenerator
from services.model.replay.responses import (
    FakeResponsesGenerator,
    ResponsesFormatError,
    read_responses,
)
from services.private_files import open_private

__all__ = ["ModelSource", "auth_type_of", "choose_model", "open_model"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where answers come from: `auth`, or where there is none, `fake`."""

    auth_type: str
    auth: AuthConfig | None = None
    fake: FakeResponsesGenerator | None = None
    record: Path | None = None


def check_enforced(kind: AuthType | None, enforced: str | None) -> None:
    """Find out whether the way to sign in is the one that the settings enforce.

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
    """The way to sign in: what the settings select, else what the variables ask for.

    Source: `packages/cli` `validateNonInterActiveAuth.ts`.

    Raises:
        FatalAuthenticationError: the settings select what is no way to sign in.
    """
    if not selected:
        return auth_type_from_environment(variables)
    try:
        return AuthType(selected)
    except ValueError:
        known = ", ".join(AuthType)
        raise FatalAuthenticationError(
            f"Invalid auth method selected: the settings file's security.auth.selectedType is "
            f"{selected!r}; write one of {known}, or leave it out"
        ) from None


def choose_model(
    variables: Mapping[str, str],
    *,
    fake: Path | None,
    record: Path | None,
    selected: str | None = None,
    enforced: str | None = None,
    strict: bool = True,
) -> ModelSource:
    """Choose the source before the first request. Recorded answers need a key as well.

    Args:
        variables: The environment.
        fake: A file of recorded answers.
        record: Where answers are recorded.
        selected: The settings' own way to sign in.
        enforced: The only way to sign in that the settings allow; `None`: any.
        strict: Whether each call gets the next recorded answer, and not the first that fits it.

    Raises:
        FatalAuthenticationError: no way to sign in; says what to set.
        FatalInputError: a file cannot be read, or not be written.
    """
    if record is not None:
        _check_record(record)
    kind = auth_type_of(variables, selected)
    check_enforced(kind, enforced)
    if kind is None:
        raise FatalAuthenticationError(
            "Please set an Auth method in your settings (security.auth.selectedType) or specify "
            "one of the following environment variables before running: GEMINI_API_KEY, "
            "GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GEMINI_BASE_URL"
        )
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


@asynccontextmanager
async def open_model(source: ModelSource, clock: Clock) -> AsyncIterator[ContentGenerator]:
    """The generator of a run; leaving closes its connections."""
    if source.auth is None:
        assert source.fake is not None
        yield _recorded(source.fake, source)
        return
    from services.model.gemini import GeminiContentGenerator

    real = GeminiContentGenerator(source.auth, clock)
    try:
        yield _recorded(metered(real, [ModelCallLog(logger)], clock), source)
    finally:
        await real.aclose()


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
