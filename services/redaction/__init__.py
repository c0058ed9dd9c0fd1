"""Redaction: masks for keys, tokens and home paths in all that is written or shown.

A mask is as long as its secret, in characters and in UTF-8 bytes, so that offsets, cuts between
stream chunks and byte counts stay. Text without a secret is returned as the same object.
"""

from services.redaction.kinds import Found, SecretKind
from services.redaction.masks import MASK, is_masked, masked
from services.redaction.redactor import (
    Redactor,
    redacted,
    redacted_value,
    secrets_in,
    without_credentials,
)
from services.redaction.walk import Located, secrets_in_value

__all__ = [
    "MASK",
    "Found",
    "Located",
    "Redactor",
    "SecretKind",
    "is_masked",
    "masked",
    "redacted",
    "redacted_value",
    "secrets_in",
    "secrets_in_value",
    "without_credentials",
]
