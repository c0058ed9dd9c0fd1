"""`parity.toml`: the runtimes of a user's project, and what `parity` compares of them.

The file lies in the project's top folder. `parity init` writes it, and docs/own-agent.md describes
its keys.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from runtimes.project_file import PROJECT_FILE, find_project_file
from services.regular_files import open_regular

__all__ = [
    "BadProjectFile",
    "Project",
    "Vary",
    "current_project",
    "project_points",
    "reserved_name",
]

_NAME: Final = r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"
_OBJECT: Final = r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*$"
_LARGEST: Final = 1 << 20
_TAKEN: Final = frozenset(
    {"legacy", "adk", "upstream", "baseline", "terminal", "acp", "gemini", "openai", "anthropic"}
)
"""Names of our runtimes, and words that a side may begin with."""

_Name = Annotated[str, Field(pattern=_NAME)]
_Text = Annotated[str, Field(min_length=1, max_length=500)]
_Paths = tuple[_Text, ...]


class BadProjectFile(Exception):
    """`parity.toml` cannot be used. `problem` is a text, or the error of the file's model."""

    def __init__(self, file: Path, problem: str | ValidationError) -> None:
        super().__init__(f"{file}: {problem}")
        self.file = file
        self.problem = problem


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Vary(_Table):
    """A value that may differ between any two runs, such as an id or a prompt."""

    channel: _Text
    path: _Text
    """The place in an item of the channel: `data.order.id`, `contents[].parts[].text`. `[]` is any
    index and `*` any key."""
    text: _Text | None = None
    """A regular expression; only what matches it is hidden. Without it, the whole value is."""
    id: bool = False
    """Whether the value identifies something: each value of one side then belongs to one of the
    other side, everywhere."""
    optional: bool = False
    """Whether one side may lack the value. It is then taken out of both."""
    reason: _Text

    @field_validator("text")
    @classmethod
    def _is_a_pattern(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"it is no regular expression: {error}") from error
        return value


class Project(_Table):
    """The whole file. Paths are relative to its folder."""

    parity: Literal[1]
    """The version of the format."""
    control: _Text | None = None
    candidate: _Text | None = None
    corpus: _Paths = Field(default=(), strict=False)
    """The folders and files of cassettes that run by default."""
    code: _Paths = Field(default=(), strict=False)
    """The files and folders of the agents. Evidence counts as long as they do not change."""
    path: _Paths = Field(default=(".",), strict=False)
    """The folders that Python imports the runtimes from."""
    trust: bool = False
    """Whether the project's cassettes may start processes where its own runtimes play them."""
    waivers: _Text | None = None
    gates: _Text | None = None
    contract: _Text | None = None
    signoffs: _Text | None = None
    runtimes: Mapping[_Name, Annotated[str, Field(pattern=_OBJECT)]] = Field(default_factory=dict)
    """Name → factory, `module:attribute`."""
    env: Mapping[_Name, str] = Field(default_factory=dict)
    """Variables that are set before the runtimes are imported, unless the environment has them."""
    leave_out: Mapping[_Name, _Text] = Field(default_factory=dict)
    """Channel that is not compared → the reason."""
    vary: tuple[Vary, ...] = Field(default=(), strict=False)

    folder: Path
    """The folder of the file; not a key of it."""

    @field_validator("runtimes")
    @classmethod
    def _own_names(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name in value:
            if reserved_name(name):
                raise ValueError(f"{name!r} has a meaning in parity; give it another name")
        return value

    @property
    def file(self) -> Path:
        """The file itself."""
        return self.folder / PROJECT_FILE

    def place(self, name: str) -> Path:
        """Return a path of the file."""
        return self.folder / name


def reserved_name(name: str) -> bool:
    """Return whether a runtime of a project cannot have that name."""
    return name in _TAKEN


def current_project() -> Project | None:
    """Read the project file of the current folder; `None` without one.

    Raises:
        BadProjectFile: it cannot be read, or a key is wrong.
    """
    file = find_project_file()
    if file is None:
        return None
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise BadProjectFile(file, f"cannot be read: {error.strerror}") from error


@lru_cache(maxsize=4)
def _read(file: Path, changed_ns: int) -> Project:
    with open_regular(file) as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise BadProjectFile(file, f"it is larger than {_LARGEST:,} bytes")
    try:
        document = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise BadProjectFile(file, f"not TOML: {error}") from error
    if "folder" in document:
        raise BadProjectFile(file, "folder: unknown key")
    try:
        return Project.model_validate({**document, "folder": file.parent})
    except ValidationError as error:
        raise BadProjectFile(file, error) from error


def project_points() -> dict[str, EntryPoint]:
    """Return the runtimes of the current project, by name; the group is the file's name.

    From then on, Python finds the project's modules: behind its own library, before the installed
    packages. The variables of `env` are set.

    Raises:
        BadProjectFile: as for `current_project`.
    """
    project = current_project()
    if project is None or not project.runtimes:
        return {}
    for name, value in project.env.items():
        os.environ.setdefault(name, value)
    _import_from([os.path.abspath(project.place(name)) for name in project.path])  # noqa: PTH100
    return {name: EntryPoint(name, value, PROJECT_FILE) for name, value in project.runtimes.items()}


def _import_from(folders: list[str]) -> None:
    new = [folder for folder in folders if folder not in sys.path]
    packages = ("site-packages", "dist-packages")
    after = (number for number, place in enumerate(sys.path) if place.endswith(packages))
    first = next(after, len(sys.path))
    sys.path[first:first] = new
