"""The kill matrix (`parity faults --json`) beside a run: read from a file, and by class."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError
from services.regular_files import open_regular
from services.wire import JsonObject

__all__ = ["kill_rows", "read_kills"]

_FORMAT: Final = 2
_LARGEST: Final = 16 * 2**20


def read_kills(file: Path) -> JsonObject:
    """The document in `file`.

    Raises:
        UsageError: it cannot be read, is too large, or is not a kill matrix of this format.
    """
    mend = "name a file that `parity faults --json` wrote"
    try:
        with open_regular(file) as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UsageError(f"{file} is larger than {_LARGEST} bytes", mend)
        document = json.loads(content)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", mend) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON", mend) from error
    if not isinstance(document, dict) or kill_rows(document) is None:
        raise UsageError(f"{file} is not a kill matrix", mend)
    return document


def kill_rows(matrix: Mapping[str, Any] | None) -> JsonObject | None:
    """The kill matrix (`parity faults --json`) by class, and the faults that nothing found.

    `None` where there is none, or where it is not one.
    """
    try:
        if matrix is None or matrix["kills"] != _FORMAT:
            return None
        rows = [
            {
                "name": str(tally["about"]),
                "observable": int(tally["observable"]),
                "corpus": int(tally["byCorpus"]),
                "killed": int(tally["killed"]),
                "bound": float(tally["lowerBound95"]),
            }
            for tally in matrix["classes"]
        ]
        survivors = [
            {"name": str(fault["name"]), "says": str(fault["says"])}
            for fault in matrix["faults"]
            if fault["outcome"] == "survived"
        ]
    except (KeyError, TypeError, ValueError, AttributeError):  # the user may name any file
        return None
    return {
        "rows": [row for row in rows if row["observable"]],
        "killed": sum(row["killed"] for row in rows),
        "observable": sum(row["observable"] for row in rows),
        "survivors": survivors,
    }
