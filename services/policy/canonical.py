"""The canonical text of a call's arguments, which `argsPattern` is matched against.

Source: core `policy/stable-stringify.ts`.
"""

from __future__ import annotations

from services.wire import Json, js_json

__all__ = ["canonical_arguments"]

_BOUNDARY = "\0"


def canonical_arguments(value: Json) -> str:
    """Deterministic JSON: keys sorted at every level, no spaces, a cycle as `"[Circular]"`.

    Every top-level pair stands between NUL characters, so that a pattern can anchor on a whole
    property: data cannot hold a raw NUL, JSON escapes it.
    """
    return _text(value, (), top=True)


def _text(value: Json, ancestors: tuple[int, ...], *, top: bool = False) -> str:
    if not isinstance(value, (dict, list, tuple)):
        return js_json(value)
    if id(value) in ancestors:
        return '"[Circular]"'
    inside = (*ancestors, id(value))
    if not isinstance(value, dict):
        return "[" + ",".join(_text(item, inside) for item in value) + "]"
    edge = _BOUNDARY if top else ""
    pairs = (
        f"{edge}{js_json(key)}:{_text(value[key], inside)}{edge}"
        for key in sorted(value, key=_utf16_order)
    )
    return "{" + ",".join(pairs) + "}"


def _utf16_order(key: str) -> bytes:
    """JavaScript sorts by code units, not by code points."""
    return key.encode("utf-16-be", "surrogatepass")
