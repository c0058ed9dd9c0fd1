"""What a project holds: kinds of files, ignored files, memory files, the tree, allowed paths."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from parity_tests.core_answers.tools import lay_files, shortened
from services.tools.file_kinds import audio_type, decode, file_kind, looks_binary, media_type
from services.tools.folder_tree import MAX_ITEMS, folder_tree
from services.tools.ignore import FileDiscovery
from services.tools.paths import access_error
from services.tools.project_memory import ProjectMemory
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="parity-files-") as name:
        yield Path(name).resolve()


def _kind(asked: list[list[str]]) -> list[Any]:
    answers: list[Any] = []
    with _folder() as top:
        for name, data in asked:
            file = top / name
            file.write_bytes(base64.b64decode(data))
            kind = file_kind(file)
            media = audio_type(file) if kind == "audio" else media_type(file)
            sent = media if kind in ("image", "pdf", "video", "audio") else None
            answers.append([kind, looks_binary(file), decode(file.read_bytes()), sent])
            file.unlink()
    return answers


def _flags(asked: list[bool | None]) -> JsonObject:
    names = ("respect_git", "respect_gemini")
    return {name: value for name, value in zip(names, asked, strict=True) if value is not None}


def _ignored(asked: JsonObject) -> list[Any]:
    with _folder() as top:
        root = top / asked["root"]
        root.mkdir(exist_ok=True)
        lay_files(top, asked["files"])
        discovery = FileDiscovery(root, **_flags(asked["default"]))
        answers: list[Any] = []
        for path, is_directory, *flags in asked["paths"]:
            full = path.replace("<TOP>", str(top))
            answers.append(discovery.hides(full, is_directory=is_directory, **_flags(flags)))
        names = [path.replace("<TOP>", str(top)) for path, is_directory, *_ in asked["paths"]]
        kept, count = discovery.visible([name for name in names if not name.endswith("/")])
        return [answers, [name.replace(str(top), "<TOP>") for name in kept], count]


def _memory(asked: JsonObject) -> list[Any]:
    with _folder() as top:
        lay_files(top, asked["files"])
        workspace = Workspace.at(top / asked["root"], top / "home")
        for folder in asked["added"]:
            workspace.add_folder(top / folder)
        memory = ProjectMemory(
            workspace,
            trusted=asked["trusted"],
            extensions=lambda: sorted(top / each for each in asked["extensions"]),
        )
        answers: list[Any] = []
        for step in asked["steps"]:
            said: Any = None
            if step is None:
                memory.reload()
            elif isinstance(step, dict):
                lay_files(top, step)
            else:
                said = memory.discovered(top / step)
            answers.append([said, len(memory.files)])
        answers.append([memory.of_user, memory.of_extensions, memory.of_project])
        answers.append(sorted(map(str, memory.files)))
        answers.append([memory.of_user_here, memory.began_with])
        shown: list[Any] = json.loads(json.dumps(answers).replace(str(top), "<TOP>"))
        return shown


def _tree(asked: JsonObject) -> list[Any]:
    with _folder() as top:
        lay_files(top, asked["files"] | _many(asked["many"]))
        hides = FileDiscovery(top).hides if asked["ignoring"] else None
        tree = folder_tree(top, hides=hides)
        return [shortened(list(tree.lines)), tree.cut, MAX_ITEMS]


def _many(counts: dict[str, int]) -> JsonObject:
    """Empty files, and folders, as many as each name with `%` counts."""
    return {
        name.replace("%", f"{number:03}").rstrip("/"): None if name.endswith("/") else ""
        for name, count in counts.items()
        for number in range(count)
    }


def _access(asked: JsonObject) -> list[str | None]:
    with _folder() as top:
        root = top / "ws"
        root.mkdir()
        (top / "home").mkdir()
        lay_files(top, asked["files"])
        workspace = Workspace.at(root, top / "home")
        for folder in asked["added"]:
            workspace.add_folder(top / folder)
        faults = [access_error(workspace, _whole(path, top)) for path in asked["paths"]]
        return [fault and fault.replace(str(top), "<TOP>") for fault in faults]


def _whole(path: Any, top: Path) -> str:
    """The path; `[text, times]` repeats a text."""
    parts = path if isinstance(path, list) else [[path, 1]]
    return "".join(text * times for text, times in parts).replace("<TOP>", str(top))


SUBJECTS: Final = (
    Subject("files.access", _access),
    Subject("files.ignored", _ignored),
    Subject("files.kind", _kind),
    Subject("files.memory", _memory),
    Subject("files.tree", _tree),
)
