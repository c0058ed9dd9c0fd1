"""`parity mcp`: the MCP servers of the settings."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.errors import UsageError
from harness.output import stopping_at_broken_output
from services.mcp.config import McpConfigError
from services.model.errors import FatalConfigError
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.server_sign_in import NotSignedIn, UnknownServer, sign_in_to_server

__all__ = ["auth"]


def auth(server: str | None, settings: Path | None, skip_trust: bool, yes: bool) -> int:
    """Run `parity mcp auth`; return its exit code.

    Raises:
        UsageError: there is no such server, or the settings cannot be used.
    """
    options = HeadlessOptions(settings_file=settings, skip_trust=skip_trust)
    with stopping_at_broken_output():
        try:
            sign_in_to_server(
                server, options, stdin=None if yes else sys.stdin, out=sys.stdout, err=sys.stderr
            )
        except (UnknownServer, FatalConfigError, McpConfigError) as error:
            raise UsageError(str(error)) from error
        except NotSignedIn as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0
