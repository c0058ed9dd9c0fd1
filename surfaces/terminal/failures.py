"""Why a session ended by itself."""

from __future__ import annotations

from services.model.errors import FatalError

__all__ = ["exit_of", "failure_of"]


def failure_of(error: Exception) -> Exception:
    """The error itself, without the groups that task groups put around it."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def exit_of(failure: Exception) -> tuple[int, str]:
    """The exit code, and what the user reads."""
    if isinstance(failure, FatalError):
        return failure.exit_code, str(failure)
    return 1, f"{type(failure).__name__}: {failure}"
