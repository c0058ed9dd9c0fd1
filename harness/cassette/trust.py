"""Which cassettes are trusted, and an early message for those that need it.

A cassette is trusted if it is in a trusted corpus, or a copy of a cassette there. For a copy the
original is run, so that no file beside the copy can change what is started.

A cassette is code: the shell tool, hooks and MCP servers in it run commands. `starts_processes`
finds the plain cases in a loaded cassette before anything runs. It enforces nothing:
`harness.replay.confining` does, where a run would start a process.

Source: the cassette format, "Trust".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from harness.cassette.find import CassetteFile
from harness.cassette.format import Cassette
from harness.cassette.needs import function_calls
from harness.cassette.variants import plain_name
from harness.inventory import helpers_component
from services.regular_files import open_regular
from services.wire import Json, JsonObject

__all__ = ["starts_processes", "trusted_source"]

_SHELL: Final = "run_shell_command"
_COMMAND_SETTINGS: Final = ("toolDiscoveryCommand", "toolCallCommand", "mcpServerCommand")
_AGENT_COMMANDS: Final = ("mcp_servers", "mcpservers", "hooks:")
_BESIDE: Final = b"<CASSETTES>"
"""The placeholder of the cassette's root."""
_DEEPEST: Final = 8
"""The most folders between a corpus and a cassette."""


def trusted_source(file: CassetteFile, corpora: Sequence[Path]) -> CassetteFile | None:
    """The file of a trusted corpus that `file` is or that it equals byte for byte, else None.

    The caller has to run the returned file, from its `root`. A copy that names files beside it is
    trusted only if the programs beside it are equal too, as the originals are run.

    Args:
        file: The cassette as the user named it.
        corpora: The folders of the trusted corpora, links resolved; they need not exist.
    """
    place = file.path.resolve()
    for corpus in corpora:
        if place.is_relative_to(corpus):
            return _at(place, corpus, file)
        for candidate in _namesakes(file, corpus):
            source = _at(candidate, corpus, file)
            if source is not None and _is_copy(file, source):
                return source
    return None


def _at(place: Path, corpus: Path, file: CassetteFile) -> CassetteFile | None:
    """`file` at `place`, below `corpus`; None where its name does not fit there."""
    if file.root.resolve().is_relative_to(corpus):
        return file
    parts = PurePosixPath(plain_name(file.name)).parts
    if place.with_suffix("").parts[-len(parts) :] != parts:
        return None
    return replace(file, path=place, root=place.parents[len(parts) - 1])


def _namesakes(file: CassetteFile, corpus: Path) -> Iterator[Path]:
    """Files below `corpus` that the end of the path of `file` leads to, links resolved."""
    parts = file.path.absolute().parts
    shortest = len(PurePosixPath(plain_name(file.name)).parts)
    for length in range(shortest, min(len(parts), _DEEPEST + 1)):
        candidate = corpus.joinpath(*parts[-length:])
        if candidate.is_file() and (found := candidate.resolve()).is_relative_to(corpus):
            yield found


def _is_copy(file: CassetteFile, source: CassetteFile) -> bool:
    try:
        with open_regular(file.path) as copy, open_regular(source.path) as original:
            if os.fstat(copy.fileno()).st_size != os.fstat(original.fileno()).st_size:
                return False
            content = original.read()
            if copy.read(len(content) + 1) != content:
                return False
    except OSError:  # loading it reports why
        return False
    return _BESIDE not in content or _helpers(file) == _helpers(source)


def _helpers(file: CassetteFile) -> object:
    """The programs beside the cassettes of the root that `file` is named from, by digest."""
    return helpers_component([(plain_name(file.name), file.path)])


def starts_processes(cassette: Cassette) -> str | None:
    """A sentence why running `cassette` could start a process; None when it could not."""
    reasons = (
        _of_settings(cassette.session.settings),
        _of_files(cassette),
        _of_calls(cassette.document.get("model") or []),
    )
    return next((reason for group in reasons for reason in group), None)


def _of_settings(settings: JsonObject) -> Iterator[str]:
    for name in ("hooks", "projectHooks"):
        for event, definitions in settings.get(name, {}).items():
            if any(hook for definition in definitions for hook in definition["hooks"]):
                yield f"session.settings.{name}.{event} runs a hook"
    for server, spec in settings.get("mcpServers", {}).items():
        if "command" in spec:
            yield f"session.settings.mcpServers.{server} starts a server"
    for name in _COMMAND_SETTINGS:
        if settings.get(name):
            yield f"session.settings.{name} is a command"


def _of_files(cassette: Cassette) -> Iterator[str]:
    written = [
        *((f"files.{path}", path, text) for path, text in cassette.files.items()),
        *((f"home_files.{path}", path, text) for path, text in cassette.home_files.items()),
        *_written_by_script(cassette.document.get("script") or []),
    ]
    for key, path, content in written:
        reason = _of_file(path, content)
        if reason is not None:
            yield f"{key} {reason}"


def _written_by_script(script: list[Json]) -> Iterator[tuple[str, str, str]]:
    for position, action in enumerate(script):
        if "write_file" in action:
            target = action["write_file"]
            yield f"script[{position}].write_file", target["path"], target["text"]


def _of_file(path: str, content: str | bytes) -> str | None:
    """Why the product, or a program it runs, may start a process for this file."""
    place = f"/{path.lower()}"
    if "/.git/" in place or place.endswith(("/.git", "/.gitconfig", "/git/config")):
        return "configures git, which can run commands"
    if "/.gemini/" not in place:
        return None
    if place.endswith("/settings.json") or "/.gemini/extensions/" in place:
        return "configures hooks or servers"
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    if "/.gemini/agents/" in place and any(word in text.lower() for word in _AGENT_COMMANDS):
        return "defines an agent with servers or hooks"
    return None


def _of_calls(steps: list[JsonObject]) -> Iterator[str]:
    for call in function_calls(steps):
        name = call.get("name")
        if name == _SHELL:
            yield f"the model calls {_SHELL}: {_shown((call.get('args') or {}).get('command'))}"
        target = (call.get("args") or {}).get("file_path")
        if isinstance(target, str) and name in ("write_file", "replace"):
            reason = _of_file(target, "")
            if reason is not None:
                yield f"the model writes {_shown(target)}, which {reason}"


def _shown(text: Json) -> str:
    shown = str(text).replace("\n", " ")
    return shown if len(shown) <= 60 else f"{shown[:59]}…"
