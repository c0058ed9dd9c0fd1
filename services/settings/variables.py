"""Environment variables in the texts of settings and manifests.

Source: `packages/cli` `utils/envVarResolver.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["filled_in"]

_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})")


def filled_in(value: Any, variables: Mapping[str, str]) -> Any:
    """`value` with `$NAME`, `${NAME}` and `${NAME:-otherwise}` replaced in its texts.

    A name without a value and without an otherwise stays as it is.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _value(found, variables), value)
    if isinstance(value, list):
        return [filled_in(item, variables) for item in value]
    if isinstance(value, dict):
        return {key: filled_in(item, variables) for key, item in value.items()}
    return value


def _value(found: re.Match[str], variables: Mapping[str, str]) -> str:
    value = variables.get(found[1] or found[2])
    if value is not None:
        return value
    return found[3] if found[3] is not None else found[0]
