"""Places in the file system: real paths, build files, and folders that the user trusts."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.browser import can_open_browser
from services.build_files import is_build_file, is_edit_like, target_path
from services.clock import iso_timestamp
from services.environment import Environment
from services.folder_trust import TrustedFolders, settled_trust
from services.ids import stable_id
from services.interaction.interaction import Interaction
from services.interaction.questions import TrustChoice
from services.json_comments import without_comments
from services.mode_words import plan_mode_exit
from services.output_files import save_tool_output, tool_outputs_folder
from services.paths import InvalidPath, extension, real_path
from services.settings import Settings
from services.state import ApprovalMode
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


def _in_folder(asked: Any, ask: Callable[[Any, Path], Any]) -> Any:
    """Ask in a temporary folder with the files and links of the input; `@` stands for it."""
    with tempfile.TemporaryDirectory(prefix="places-") as made:
        root = Path(made).resolve()
        for name, target in asked["tree"].items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if target is None:
                place.mkdir(exist_ok=True)
            elif target == "":
                place.touch()
            else:
                place.symlink_to(target.replace("@", str(root)))
        given = json.loads(json.dumps(asked).replace("@", str(root)))
        return json.loads(json.dumps(ask(given, root)).replace(str(root), "@"))


def _real(asked: Any) -> Any:
    def ask(given: Any, root: Path) -> Any:
        path = given["path"]
        try:
            real: Any = ["real", str(real_path(path, root))]
        except (InvalidPath, OSError) as error:
            real = ["refused", str(error)]
        return [*real, is_build_file(path, root)]

    return _in_folder(asked, ask)


def _target(args: Any) -> list[Any]:
    """The file that arguments name, and whether it is a build file."""
    path = target_path(args)
    return [path, path is not None and is_build_file(path)]


def _refused(error: Exception) -> dict[str, bool]:
    return {"refused": bool(str(error))}


class _Silent:
    """Answers no question about a folder."""

    def answers(self, question: type[Any]) -> bool:
        return True

    async def ask(self, question: Any) -> None:
        return None


def _trust(asked: Any) -> Any:
    def ask(given: Any, root: Path) -> Any:
        home = root / "home"
        file = home / ".gemini" / "trustedFolders.json"
        if given["rules"] is not None:
            file.parent.mkdir(parents=True)
            file.write_text(given["rules"], "utf-8")
        settings = replace(Settings(), folder_trust=given["enabled"])
        settled: list[Any] = []
        for folder in given["folders"]:
            workspace = SimpleNamespace(home=home, root=Path(folder))
            asking = settled_trust(
                settings,
                cast("Workspace", workspace),
                cast("Interaction", _Silent()),
                given["variables"],
            )
            try:
                parameters = asyncio.run(asking).parameters
            except ValueError as error:
                return _refused(error)
            decided = parameters.get("trustedFolder", None if given["enabled"] else True)
            empty = decided is None and "trustedFolder" in parameters
            settled.append("empty" if empty else decided)
        folders = TrustedFolders(home)
        try:
            folders.load()
        except ValueError as error:
            return _refused(error)
        for folder, level in given["remember"]:
            folders.remember(Path(folder), TrustChoice(level))
        kept = file.read_text("utf-8") if given["remember"] else None
        later = [folders.trusts(Path(folder)) for folder in given["folders"]]
        mode = oct(file.stat().st_mode & 0o777) if given["remember"] else None
        left = sorted(each.name for each in file.parent.iterdir()) if given["remember"] else None
        return [settled, kept, later, mode, left]

    return _in_folder(asked, ask)


def _words(asked: Any) -> list[Any]:
    ms, mode, manual = asked
    return [
        Environment().long_date(ms),
        iso_timestamp(ms),
        plan_mode_exit(ApprovalMode(mode), manual=manual),
        plan_mode_exit(ApprovalMode(mode)),
    ]


def _saved(asked: Any) -> Any:
    """The file of an output that is too long, and what it has."""
    content, tool, output_id, session = asked
    with tempfile.TemporaryDirectory(prefix="places-") as made:
        folder = tool_outputs_folder(Path(made), session)
        file = save_tool_output(content, tool, output_id, folder)
        return [str(file.relative_to(made)), list(file.read_bytes())]


SUBJECTS: Final = (
    Subject("places.real", _real),
    Subject("places.extension", extension),
    Subject("places.target", _target),
    Subject("places.edit_like", lambda name: is_edit_like([name])),
    Subject("places.trust", _trust),
    Subject("places.comments", without_comments),
    Subject("places.words", _words),
    Subject("places.browser", lambda asked: can_open_browser(Environment(variables=asked))),
    Subject("places.stable_id", lambda sources: stable_id(*sources)),
    Subject("places.saved", _saved),
)
