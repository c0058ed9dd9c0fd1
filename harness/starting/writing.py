"""Renders the files of a new project, and writes them without replacing what is there."""

from __future__ import annotations

import json
import os
import pprint
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.errors import UsageError
from harness.starting.example_tool import example_arguments
from harness.starting.side import AgentSpec
from runtimes.project_file import PROJECT_FILE
from services.wire import JsonObject

__all__ = ["Start", "cassette_files", "check_free", "project_files", "tools_file", "write_files"]

_TEMPLATES: Final = Path(__file__).with_name("files")
_WIDTH: Final = 92


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a new project consists of. Paths are relative to its folder."""

    control: AgentSpec
    candidate: AgentSpec
    package: str
    corpus: str
    model: str
    workflow: bool


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - Python, TOML and YAML, no HTML
        keep_trailing_newline=True,
    )
    environment.filters["python"] = lambda value: pprint.pformat(
        value, width=_WIDTH, sort_dicts=False
    )
    environment.filters["command"] = _command
    environment.filters["json"] = json.dumps
    return environment


def _command(words: Sequence[str]) -> str:
    """Return a list of words as Python, in which files of the project are below `PROJECT`."""

    def one(word: str) -> str:
        relative = not Path(word).is_absolute() and Path(word).is_file()
        return f"str(PROJECT / {json.dumps(word)})" if relative else json.dumps(word)

    return f"[{', '.join(map(one, words))}]"


def project_files(start: Start) -> dict[str, str]:
    """Return the files that do not depend on the agents' tools: path → text."""
    environment, own = _environment(), start.package
    facts: dict[str, Any] = {
        "control": start.control,
        "candidate": start.candidate,
        "package": own,
        "corpus": start.corpus,
        "programs": not (start.control.in_python and start.candidate.in_python),
        "requirements": "-r requirements.txt" if Path("requirements.txt").is_file() else "",
    }

    def text(name: str, **more: Any) -> str:
        return environment.get_template(f"{name}.j2").render(**facts, **more)

    files = {PROJECT_FILE: text("parity.toml"), f"{own}/__init__.py": text("package.py")}
    for agent in (start.control, start.candidate):
        files[f"{own}/{agent.module}.py"] = text("adapter.py", agent=agent)
    files[f"{own}/waivers.toml"] = text("waivers.toml")
    files[f"{own}/gates.toml"] = text("gates.toml")
    if start.workflow:
        files[".github/workflows/parity.yml"] = text("workflow.yml")
    return files


def tools_file(start: Start, tools: Mapping[str, JsonObject]) -> dict[str, str]:
    """Return the file with the tools that both agents declare."""
    text = _environment().get_template("tools.py.j2").render(tools=tools)
    return {f"{start.package}/tools.py": text}


def cassette_files(start: Start, tools: Mapping[str, JsonObject]) -> dict[str, str]:
    """Return the three example cassettes; one calls a tool, if there is any."""
    names, more = ["answer", "refused", "pieces"], {}
    if tools:
        names[2] = "tool_call"
        tool = next(iter(tools))
        more = {"tool": tool, "arguments": example_arguments(tools[tool])}
    environment = _environment()
    return {
        f"{start.corpus}/first/{name}.yaml": environment.get_template(f"{name}.yaml.j2").render(
            model=start.model, **more
        )
        for name in names
    }


def check_free(files: Mapping[str, str], *, force: bool) -> None:
    """Make sure that no file would be replaced by another text.

    Raises:
        UsageError: some would be, and `force` is not set.
    """
    there = [name for name, text in files.items() if _differs(Path(name), text)]
    if there and not force:
        problem = f"nothing was written, as these files exist: {', '.join(there)}"
        raise UsageError(
            problem, "move them away, choose other names, or replace them with --force"
        )


def _differs(file: Path, text: str) -> bool:
    if not os.path.lexists(file):
        return False
    try:
        return file.read_text("utf-8") != text
    except (OSError, UnicodeDecodeError):
        return True


def write_files(files: Mapping[str, str]) -> None:
    """Write files, with their folders.

    Raises:
        UsageError: one cannot be written.
    """
    for name, text in files.items():
        file = Path(name)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        except OSError as error:
            raise UsageError(
                f"{file} cannot be written: {error.strerror}",
                "correct that, and repeat the command",
            ) from error
