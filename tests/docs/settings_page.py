"""Generates docs/settings.md: `python -m tests.docs.settings_page` writes the page."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from services.settings import PARAMETERS, Parameter
from services.settings.declaring import Refused
from services.settings.without_effect import WITHOUT_EFFECT
from services.wire import js_json

REPOSITORY: Final = Path(__file__).parents[2]
PAGE: Final = REPOSITORY / "docs" / "settings.md"
_PACKAGES: Final = ("services", "runtimes", "surfaces")
_OWN: Final = "services/settings/"
_HOLDERS: Final = ("settings", "adk", "flags", "telemetry")
"""The last names of expressions whose attributes are settings."""

_HEAD: Final = """\
# Settings

`python -m tests.docs.settings_page` generates this page from the declarations in
`services/settings`, and a test checks that the page is current. A cassette sets the settings of a
session by the names of the core's configuration parameters. A user sets them by the keys of
`settings.json`. A setting that is not in the first table has no effect. If a setting has a
meaningless value, the session does not begin. The last column lists the packages that read the
setting; `tests/services/settings/test_read.py` runs sessions and checks that they do.

| parameter | key in `settings.json` | type | default | read by |
|---|---|---|---|---|
"""
_GAPS: Final = """
## Settings with less effect than in the published core

| parameter | in this build |
|---|---|
"""


_IDLE: Final = """
## Settings of the published core without effect

A session with one of these settings begins. `parity check` and a surface warn about it, unless the
value asks for what happens in any case.

| parameter | key in `settings.json` | why |
|---|---|---|
"""


def readers() -> Mapping[str, frozenset[str]]:
    """The packages that read each field of the settings, by the field's path."""
    found: dict[str, set[str]] = defaultdict(set)
    for package in _PACKAGES:
        for file in sorted((REPOSITORY / package).rglob("*.py")):
            name = file.relative_to(REPOSITORY).as_posix()
            # A seeded fault that reads a setting does not implement it.
            if name.startswith(_OWN) or "/faults/" in name:
                continue
            for holder, attribute in _attributes(file):
                if holder in _HOLDERS:
                    found[attribute].add(_module(name))
    return {
        parameter.field: frozenset(found[parameter.field.rpartition(".")[2]])
        for parameter in PARAMETERS
    }


@cache
def _attributes(file: Path) -> frozenset[tuple[str, str]]:
    """The attributes that a module reads, each after the last name of its holder."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(
        ((holder.attr if isinstance(holder, ast.Attribute) else holder.id).lstrip("_"), node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(holder := node.value, (ast.Attribute, ast.Name))
    )


def _module(name: str) -> str:
    """`services.mcp` for `services/mcp/client.py`, `services.prompts` for `services/prompts.py`."""
    parts = name.removesuffix(".py").split("/")
    return ".".join(parts[:2])


def is_refused(parameter: Parameter) -> bool:
    """Whether a session with this setting switched on does not begin."""
    return isinstance(parameter.read, Refused)


def page() -> str:
    """The page's text."""
    read_by = readers()
    rows = [
        _row(
            f"`{parameter.name}`",
            f"`{parameter.key}`" if parameter.key else "",
            _type(parameter.type),
            f"`{_default(parameter.default)}`",
            ", ".join(f"`{name}`" for name in sorted(read_by[parameter.field])),
        )
        for parameter in sorted(PARAMETERS, key=lambda parameter: parameter.name.lower())
    ]
    gaps = [
        _row(f"`{parameter.name}`", parameter.gap)
        for parameter in PARAMETERS
        if parameter.gap is not None
    ]
    idle = [
        _row(f"`{each.name}`" if each.name else "", f"`{each.key}`" if each.key else "", each.why)
        for each in WITHOUT_EFFECT
    ]
    return _HEAD + "".join(rows) + _GAPS + "".join(gaps) + _IDLE + "".join(idle)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _type(type_: Any) -> str:
    plain = [each for each in get_args(type_) if each is not type(None)]
    if type(None) in get_args(type_):
        return _type(plain[0])
    origin = get_origin(type_)
    if origin is tuple:
        return "list of texts" if plain[0] is str else "list of mappings"
    names = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    return names.get(type_, "mapping")


def _default(value: Any) -> str:
    return "none" if value is None else js_json(json.loads(json.dumps(value)))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
