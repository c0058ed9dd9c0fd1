"""Tokens of credentials files, by Google's auth library.

The library takes long to import: import this module only where there is such a file.

Source: core `code_assist/oauth2.ts` (`GOOGLE_APPLICATION_CREDENTIALS`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import google.auth
from google.auth.exceptions import GoogleAuthError, RefreshError

from services.confinement import may_connect
from services.model.errors import FatalAuthenticationError
from services.net.google import GoogleRequest
from services.redaction import redacted
from services.sign_in.token_server import Tokens

__all__ = ["fetched_token"]


def fetched_token(file: Path, scopes: Sequence[str]) -> Tokens:
    """Fetch a new token for the account of `file`. Blocks.

    Raises:
        FatalAuthenticationError: the file holds no account, or its server refuses.
        Refused: the session is confined.
    """
    # The search for an external account can start a program.
    may_connect("the servers that issue Google's tokens")
    load: Any = google.auth.load_credentials_from_file
    try:
        found, _ = load(str(file), scopes=list(scopes))
        found.refresh(GoogleRequest())
    except RefreshError as error:
        raise FatalAuthenticationError(f"{file}: {_refusal(error)}") from error
    except (GoogleAuthError, OSError, ValueError) as error:
        raise FatalAuthenticationError(
            f"{file}: no usable account: {redacted(str(error))}; name another file in "
            "GOOGLE_APPLICATION_CREDENTIALS"
        ) from error
    # The library's times are naive, in UTC.
    expiry = None if found.expiry is None else found.expiry.replace(tzinfo=UTC)
    return Tokens(
        access=str(found.token),
        expires_ms=None if expiry is None else int(expiry.timestamp() * 1000),
    )


def _refusal(error: RefreshError) -> str:
    """The refusal as a sentence; the library's message can hold the whole answer."""
    said = next((each for each in error.args if isinstance(each, dict)), {})
    words = [said.get("error"), said.get("error_description")]
    named = " - ".join(redacted(word) for word in words if isinstance(word, str))
    text = f"Google refuses this account: {named or 'no reason given'}"
    if "reasonable timeframe" in named:
        return f"{text}. Correct the clock of this machine"
    return f"{text}. Create a new key, or name another file in GOOGLE_APPLICATION_CREDENTIALS"
