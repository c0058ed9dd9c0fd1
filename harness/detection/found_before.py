"""Which cassette found a seeded fault in an earlier measurement: it is run first.

The file `found_before.json` only decides the order. `python -m harness.detection.found_before
kills.json` updates it from a kill matrix of `parity faults --json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.cassette.find import CassetteFile

__all__ = ["first_of_all", "write"]

_FILE: Final = Path(__file__).with_name("found_before.json")


def first_of_all(fault: str, files: Sequence[CassetteFile]) -> list[CassetteFile]:
    """The `files`, first the one that found the fault before, then the others in their order."""
    name = _known().get(fault)
    return sorted(files, key=lambda file: file.name != name)


def write(matrix: Path, file: Path = _FILE) -> int:
    """Add the findings of a kill matrix to the file; return how many faults it knows then."""
    document = json.loads(matrix.read_text("utf-8"))
    found = {
        row["name"]: row["corpus"]["cassette"]
        for row in document["faults"]
        if row["outcome"] == "killed" and isinstance(row["corpus"], dict)
    }
    known = {**_read(file), **found}
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    return len(known)


@lru_cache(maxsize=1)
def _known() -> Mapping[str, str]:
    return _read(_FILE)


def _read(file: Path) -> dict[str, str]:
    return dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}


if __name__ == "__main__":
    sys.stdout.write(f"{write(Path(sys.argv[1]))} faults\n")
