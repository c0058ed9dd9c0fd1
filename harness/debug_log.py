"""What `--debug` writes: all that the machinery logs, without secrets, to standard error."""

from __future__ import annotations

import logging
import sys

from services.redaction.logs import SecretsMasked

__all__ = ["debug_is_logged", "log_debug"]


def log_debug() -> None:
    """Log to standard error from here on; does nothing in a process that logs already."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(SecretsMasked(logging.BASIC_FORMAT))
    logging.basicConfig(level=logging.DEBUG, handlers=[handler])


def debug_is_logged() -> bool:
    """Whether this process logs what `--debug` asks for; its workers are to do the same."""
    return logging.getLogger().isEnabledFor(logging.DEBUG)
