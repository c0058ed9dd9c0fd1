"""The project hooks that the user was warned of: `~/.gemini/trusted_hooks.json`.

Source: core `hooks/trustedHooks.ts`, `hooks/hookRegistry.ts`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from services.exhaustion import notice
from services.regular_files import MOST_TEXT, read_regular
from services.settings.hooks import HookDefinition
from services.wire import Json, js_json_pretty

__all__ = ["warning_for_new_hooks"]

logger = logging.getLogger(__name__)


def warning_for_new_hooks(
    definitions: Sequence[HookDefinition], *, home: Path, project: Path
) -> str | None:
    """The warning for hooks of `project` not seen before; they are remembered at once.

    A file that cannot be read counts as empty; one that cannot be written is logged, and the
    warning comes again next time.
    """
    notes = home / ".gemini" / "trusted_hooks.json"
    known = _read(notes)
    if not isinstance(known, dict):
        return None
    seen = known.get(str(project)) or []
    if not isinstance(seen, list):
        return None
    hooks = [hook for definition in definitions for hook in definition.hooks]
    new = list(dict.fromkeys(hook.shown_name for hook in hooks if hook.key not in seen))
    if not new:
        return None
    known[str(project)] = list(dict.fromkeys([*seen, *(hook.key for hook in hooks)]))
    try:
        notes.parent.mkdir(parents=True, exist_ok=True)
        notes.write_text(js_json_pretty(known), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        notice(error, notes)
        logger.warning("trusted hooks could not be saved: %s", error)
    listed = "\n".join(f"  - {name}" for name in new)
    return (
        "WARNING: The following project-level hooks have been detected in this workspace:\n"
        f"{listed}\n\n"
        "These hooks will be executed. If you did not configure these hooks or do not trust this "
        "project,\n"
        "please review the project settings (.gemini/settings.json) and remove them."
    )


def _read(notes: Path) -> Json:
    try:
        return json.loads(read_regular(notes, MOST_TEXT).decode(errors="replace"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("trusted hooks could not be read: %s", error)
        return {}
