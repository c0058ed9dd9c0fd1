"""The sources of extensions that the settings allow.

Source: `packages/cli` `config/extension-manager.ts`.
"""

from __future__ import annotations

import os

from services.extensions.manifest import ExtensionError
from services.extensions.origins import Origin
from services.outside_patterns import PatternLimit
from services.settings import Settings
from services.tools.js_regex import JsRegexError, compile_js

__all__ = ["is_allowed", "refuse_source"]


def is_allowed(origin: Origin | None, settings: Settings) -> bool:
    """Whether an extension may be used; `None`: somebody has put its folder there.

    Raises:
        ExtensionError: the settings have a pattern that is none.
    """
    allowed = settings.allowed_extensions
    if allowed:
        return origin is not None and any(_matches(pattern, origin.source) for pattern in allowed)
    return not (origin is not None and origin.is_remote and settings.block_git_extensions)


def refuse_source(origin: Origin, settings: Settings) -> None:
    """Refuse what the settings do not allow.

    Raises:
        ExtensionError: they do not allow it, or have a pattern that is none.
    """
    if is_allowed(origin, settings):
        return
    if settings.allowed_extensions:
        raise ExtensionError(
            f'Installing extension from source "{origin.source}" is not allowed by the '
            '"allowedExtensions" security setting.'
        )
    raise ExtensionError(
        "Installing extensions from remote sources is disallowed by your current settings."
    )


def _matches(pattern: str, source: str) -> bool:
    """Whether `pattern` is found in `source`, links followed."""
    real = os.path.realpath(source) if os.path.exists(source) else source  # noqa: PTH110 - a text
    try:
        return compile_js(pattern).search(real) is not None
    except (JsRegexError, PatternLimit) as error:
        raise ExtensionError(
            f'Invalid regex pattern in allowedExtensions setting: "{pattern}". Error: {error}'
        ) from error
