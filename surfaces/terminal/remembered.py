"""What is remembered between sessions, in the file that both products share.

Source: `packages/cli` `utils/persistentState.ts`.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from services.exhaustion import notice
from services.json_values import parse_json
from services.private_files import make_private_folder, write_private
from services.regular_files import MOST_TEXT, read_regular
from services.wire import Json, JsonObject

__all__ = ["remember", "remembered"]

logger = logging.getLogger(__name__)


def remembered(home: Path) -> JsonObject:
    """The values by their names; a file that cannot be read has none."""
    file = _file(home)
    try:
        found = parse_json(read_regular(file, MOST_TEXT).decode("utf-8"))
    except (OSError, ValueError) as error:
        logger.debug("%s: nothing is remembered: %s", file, error)
        return {}
    return found if isinstance(found, dict) else {}


def remember(home: Path, name: str, value: Json) -> None:
    """Keep a value; a file that cannot be written is only logged."""
    file, state = _file(home), {**remembered(home), name: value}
    try:
        make_private_folder(file.parent)
        write_private(file, json.dumps(state, indent=2).encode("utf-8"))
    except OSError as error:
        notice(error, file)
        logger.warning("%s cannot be written: %s", file, error)


def _file(home: Path) -> Path:
    return home / ".gemini" / "state.json"
