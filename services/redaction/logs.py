"""Log records without secrets, tracebacks included."""

from __future__ import annotations

import logging

from services.redaction.redactor import without_credentials

__all__ = ["SecretsMasked"]


class SecretsMasked(logging.Formatter):
    """Formats as the one it is made like, then takes keys and tokens out."""

    def format(self, record: logging.LogRecord) -> str:
        """The whole text of a record."""
        return without_credentials(super().format(record))
