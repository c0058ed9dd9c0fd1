"""Who answers a run's questions: the real API, a gateway, or a file of recorded answers."""

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
from services.model.errors import FatalAuthenticationError, FatalInputError
from services.model.generator import ContentGenerator
from services.model.logging_generator import LoggingContentGenerator
from services.model.recording import RecordingContentGenerator
from services.model.replay.responses import (
    FakeResponsesGenerator,
    ResponsesFormatError,
    read_responses,
)
from surfaces.headless.metrics import MeteredContentGenerator, SessionMetrics

__all__ = ["ModelSource", "choose_model", "open_model"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where answers come from: `auth`, or where there is none, `fake`."""

    auth_type: str
    auth: AuthConfig | None = None
    fake: FakeResponsesGenerator | None = None
    record: Path | None = None


def choose_model(
    variables: Mapping[str, str], *, fake: Path | None, record: Path | None
) -> ModelSource:
    """Find out who answers, before anything is asked. Recorded answers need no key.

    Raises:
        FatalAuthenticationError: no way to sign in; says what to set.
        FatalInputError: a file cannot be read, or not be written.
    """
    if record is not None and not record.parent.is_dir():
        raise FatalInputError(
            f"{record}: the folder {record.parent} is not there; make it, or name another file "
            "with --record-responses"
        )
    if record is not None and record.is_dir():
        raise FatalInputError(f"{record}: is a folder; name a file with --record-responses")
    if fake is not None:
        kind = auth_type_from_environment(variables) or AuthType.USE_GEMINI
        return ModelSource(auth_type=kind, fake=_fake(fake), record=record)
    if auth_type_from_environment(variables) is None:
        raise FatalAuthenticationError(
            "Please set an Auth method: one of the following environment variables before "
            "running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GEMINI_BASE_URL"
        )
    try:
        auth = auth_from_environment(variables)
    except AuthError as error:
        raise FatalAuthenticationError(str(error)) from error
    return ModelSource(auth_type=auth.type, auth=auth, record=record)


@asynccontextmanager
async def open_model(
    source: ModelSource, metrics: SessionMetrics, clock: Clock
) -> AsyncIterator[ContentGenerator]:
    """The generator of a run; leaving closes its connections."""
    if source.auth is None:
        assert source.fake is not None
        yield _wrapped(source.fake, source, metrics, clock)
        return
    from services.model.gemini import GeminiContentGenerator

    real = GeminiContentGenerator(source.auth, clock)
    try:
        yield _wrapped(LoggingContentGenerator(real, logger), source, metrics, clock)
    finally:
        await real.aclose()


def _wrapped(
    inner: ContentGenerator, source: ModelSource, metrics: SessionMetrics, clock: Clock
) -> ContentGenerator:
    metered = MeteredContentGenerator(inner, metrics, clock)
    return metered if source.record is None else RecordingContentGenerator(metered, source.record)


def _fake(file: Path) -> FakeResponsesGenerator:
    try:
        return FakeResponsesGenerator(read_responses(file))
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
