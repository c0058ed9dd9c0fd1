"""Writing a cassette as YAML that people like to read, and that loads back to the same."""

from __future__ import annotations

from typing import Any, Final

import yaml

from services.redaction import redacted_value
from services.wire import Json, JsonObject

__all__ = ["dump_yaml"]

_WIDTH: Final = 120
_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]  # the base depends on how PyYAML was built
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, value: str) -> Any:
    """Texts of several lines as blocks, where YAML can hold them so."""
    whole = value.encode("utf-8", "replace").decode("utf-8")
    style = "|" if "\n" in whole.rstrip("\n") or (whole.endswith("\n") and whole != "\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", whole, style=style)


_Dumper.add_representer(str, _text)


def dump_yaml(document: JsonObject | list[Json]) -> str:
    """`document` as YAML text, without secrets: no cassette is written in any other way.

    Half surrogate pairs, which no file can hold, become `?`.
    """
    text: str = yaml.dump(
        redacted_value(document),
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=_WIDTH,
        default_flow_style=False,
    )
    return text
