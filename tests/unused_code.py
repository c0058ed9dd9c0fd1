"""Names that the packages define and only tests use: `python -m tests.unused_code`.

vulture finds them; being exported in `__all__` is no use. `unused_code.toml` lists the names that
may stay, by the reason. A listed name that is used, or gone, has to leave the list.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from vulture import Vulture

REPOSITORY: Final = Path(__file__).parents[1]
PACKAGES: Final = (
    "agent_protocol", "seeded_faults", "services", "runtimes", "surfaces", "harness",
    "adapters", "parity", "parity_entry", "benchmarks",
)  # fmt: skip
_LIST: Final = Path(__file__).with_name("unused_code.toml")
_KINDS: Final = frozenset({"attribute", "class", "function", "method", "property", "variable"})
_ARGUMENT: Final = 100
"""vulture's confidence in an unused argument, which a signature may have to take."""


def unused(root: Path, folders: Iterable[str], decorators: list[str]) -> Mapping[str, int]:
    """The names below `root` that nothing in `folders` uses, as `file:name`, and their lines.

    Members of enumerations and functions under one of `decorators` count as used.
    """
    vulture = Vulture(ignore_decorators=decorators)
    members: dict[Path, frozenset[int]] = {}
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text)
            members[file] = frozenset(_enumeration_lines(tree))
            vulture.scan(_without_exports(text, tree), file)
    return {
        f"{Path(item.filename).relative_to(root)}:{item.name}": item.first_lineno
        for item in vulture.get_unused_code()
        if item.typ in _KINDS
        and item.confidence < _ARGUMENT
        and item.first_lineno not in members[Path(item.filename)]
    }


def problems(found: Mapping[str, int], allowed: Iterable[str]) -> list[str]:
    """A line for each name that is neither used nor allowed, and for each that is allowed in vain.

    Args:
        found: names as `file:name`, and their lines.
        allowed: patterns of such names.
    """
    patterns = tuple(allowed)
    matched = {name: [one for one in patterns if fnmatchcase(name, one)] for name in found}
    needed = {pattern for names in matched.values() for pattern in names}
    return [
        *(
            f"{name} (line {found[name]}): only tests use it, if anything does; use it, delete it "
            "with its tests, or list it with the reason"
            for name, ones in matched.items()
            if not ones
        ),
        *(f"{one}: is used or gone; take it off the list" for one in patterns if one not in needed),
    ]


def _without_exports(text: str, tree: ast.Module) -> str:
    lines = text.splitlines()
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    return "\n".join(lines)


def _enumeration_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(b) for b in node.bases):
            yield from (statement.lineno for statement in node.body)


def main() -> int:
    """Print what is wrong; 1 where anything is."""
    listed = tomllib.loads(_LIST.read_text(encoding="utf-8"))
    found = unused(REPOSITORY, PACKAGES, listed["decorators"])
    lines = problems(found, (name for group in listed["reasons"].values() for name in group))
    print("\n".join(lines) or "only tests use nothing")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
