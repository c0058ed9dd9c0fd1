"""The log of `--debug`: all log messages, without secrets, on standard error."""

from __future__ import annotations

import logging
import sys

from services.redaction.logs import SecretsMasked

__all__ = ["debug_is_logged", "log_debug"]


def log_debug() -> None:
    """Start logging to standard error, unless this process already does."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(SecretsMasked(logging.BASIC_FORMAT))
    logging.basicConfig(level=logging.DEBUG, handlers=[handler])


def debug_is_logged() -> bool:
    """Return whether this process logs for `--debug`; its workers then log, too."""
    return logging.getLogger().isEnabledFor(logging.DEBUG)
