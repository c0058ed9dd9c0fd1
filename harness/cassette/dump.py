"""Writing a cassette as readable YAML that loads back to the same."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from services.redaction import redacted_value
from services.wire import Json, JsonObject

__all__ = ["dump_yaml"]

_WIDTH: Final = 120
_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Characters that YAML writes as they are although they are invisible: marks of direction,
characters without width, ends of lines."""
_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]  # the base depends on how PyYAML was built
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, value: str) -> Any:
    """Texts of several lines as blocks; texts with escapes in quotes, which alone can hold them."""
    whole = value.encode("utf-8", "replace").decode("utf-8")
    if _UNSEEN.search(whole):
        return dumper.represent_scalar("tag:yaml.org,2002:str", whole, style='"')
    style = "|" if "\n" in whole.rstrip("\n") or (whole.endswith("\n") and whole != "\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", whole, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(document: JsonObject | list[Json]) -> str:
    """`document` as YAML text, without secrets. Every cassette is written by this function.

    Half surrogate pairs, which no file can hold, become `?`; invisible characters become escapes.
    """
    text: str = yaml.dump(
        redacted_value(document),
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=_WIDTH,
        default_flow_style=False,
    )
    return _UNSEEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
