"""`parity auth`: the user's Google account."""

from __future__ import annotations

import sys

from harness.output import stopping_at_broken_output
from services.model.errors import FatalAuthenticationError
from surfaces.headless.google_sign_in import log_in, log_out

__all__ = ["login", "logout"]


def login(no_browser: bool) -> int:
    """Run `parity auth login`; return its exit code."""
    with stopping_at_broken_output():
        try:
            log_in(by_code=no_browser, stdin=sys.stdin, out=sys.stdout, err=sys.stderr)
        except FatalAuthenticationError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


def logout() -> int:
    """Run `parity auth logout`; return its exit code."""
    with stopping_at_broken_output():
        try:
            log_out(out=sys.stdout, err=sys.stderr)
        except FatalAuthenticationError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0
