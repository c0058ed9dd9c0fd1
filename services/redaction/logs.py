"""Log records without secrets, tracebacks included."""

from __future__ import annotations

import logging

from services.redaction.redactor import without_credentials

__all__ = ["SecretsMasked"]


class SecretsMasked(logging.Formatter):
    """Formats a record, then masks keys and tokens."""

    def format(self, record: logging.LogRecord) -> str:
        """The whole text of a record."""
        return without_credentials(super().format(record))
