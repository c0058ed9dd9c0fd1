"""The envelope of one run: fresh folders, and seams that make it a function of its cassette.

The virtual clock begins at 2026-01-01T00:00:00Z, ids count, jitter is 0.5, process ids are 4242,
4243, …: two runs of one runtime give the same bytes.
"""

from __future__ import annotations

import base64
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness.cassette.macros import Paths
from harness.replay.observation import RunPaths
from harness.replay.run_folders import run_folder
from services.clock import VirtualClock
from services.compose import ServicesSetup
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.model.generator import ContentGenerator
from services.workspace import Workspace

__all__ = ["Envelope", "FolderState", "folder_state", "open_envelope"]

_SKIPPED: Final = frozenset({".git", "node_modules"})
_APART_NS: Final = 5_000_000
"""More than one tick of the clock for file times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One run's folders and seams."""

    workspace: Workspace
    clock: VirtualClock
    ids: CountingIds
    rng: FixedRandom
    process_ids: CountingProcessIds

    @property
    def folder(self) -> Path:
        """The folder that holds everything that the run writes."""
        return self.workspace.root.parent

    @property
    def environment(self) -> Environment:
        """The machine's facts, which are the same in every run."""
        return Environment.for_replay(home=str(self.workspace.home))

    def setup(
        self, model: str, generator: ContentGenerator, *, session_id: str | None = None
    ) -> ServicesSetup:
        """Return the setup of a session in this envelope, with default settings."""
        return ServicesSetup(
            session_id=session_id or self.ids.uuid("session"),
            model=model,
            workspace=self.workspace,
            clock=self.clock,
            ids=self.ids,
            rng=self.rng,
            process_ids=self.process_ids,
            environment=self.environment,
            content_generator=generator,
        )

    def placeholders(self, cassettes: Path, port: int | None) -> Paths:
        """Return the values of a cassette's placeholders in this run."""
        root, home = self.workspace.root, self.workspace.home
        return Paths(workspace=root, home=home, cassettes=cassettes.resolve(), port=port)

    def paths(self, cassettes: Path, others: Mapping[str, str] | None = None) -> RunPaths:
        """Return the replacements for this run's folders, `others`, and Python's package folders.

        Package folders appear in stacks and command lines, and differ between machines.
        """
        return RunPaths(
            workspace=str(self.workspace.root),
            home=str(self.workspace.home),
            cassettes=str(cassettes.resolve()),
            around=str(self.folder),
            others={**_installed(), **(others or {})},
        )


@cache
def _installed() -> Mapping[str, str]:
    """Return the folders of programs and packages on this machine, with their replacements."""
    code = Path(__file__).resolve().parents[2]
    places = {
        sys.executable: "<PYTHON>",
        str(code): "<CODE>",
        sysconfig.get_path("stdlib"): "<STDLIB>",
        sysconfig.get_path("purelib"): "<PACKAGES>",
    }
    return {place: shown for place, shown in places.items() if len(place) > 1}


@contextmanager
def open_envelope() -> Iterator[Envelope]:
    """Make a run's folders (`ws` and `home`, side by side) and remove them afterwards.

    Raises:
        ReplayFailure: the folder cannot be made.
    """
    with run_folder() as base:
        workspace = Workspace.at(base / "ws", base / "home")
        workspace.root.mkdir()
        workspace.home.mkdir()
        yield Envelope(
            workspace=workspace,
            clock=VirtualClock(),
            ids=CountingIds(),
            rng=FixedRandom(),
            process_ids=CountingProcessIds(),
        )


def write_files(folder: Path, files: Mapping[str, str | bytes], *, followed_by: int = 0) -> None:
    """Create `files` (path relative to `folder` → content); shell scripts become executable.

    Tools list files by age, so each file is a little younger than the one before, and all are older
    than the run. `followed_by` is the number of files written later for the same run.
    """
    paths = [folder / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if path.suffix == ".sh":
            path.chmod(0o755)
    for age, path in enumerate(reversed(paths), start=followed_by + 1):
        written_ns = path.stat().st_mtime_ns - age * _APART_NS
        os.utime(path, ns=(written_ns, written_ns))


FolderState = Mapping[str, bytes]
"""Path relative to the folder, with `/` → the file's bytes."""


def folder_state(folder: Path) -> FolderState:
    """Read every file below `folder`; a link reads as the text of its target."""
    state: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if _SKIPPED.intersection(relative.parts):
            continue
        if path.is_symlink():
            state[relative.as_posix()] = f"-> {path.readlink()}".encode()
        elif path.is_file():
            state[relative.as_posix()] = path.read_bytes()
    return state


def changes(before: FolderState, after: FolderState) -> dict[str, str | None]:
    """Return the changes between two states: path → new text, `None` for a deleted file.

    Bytes that are not UTF-8 become `base64:` and base64.
    """
    found: dict[str, str | None] = {name: None for name in before if name not in after}
    for name, content in after.items():
        if before.get(name) != content:
            found[name] = _text(content)
    return dict(sorted(found.items()))


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(content).decode()
