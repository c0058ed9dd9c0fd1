"""Adopts a finding into the corpus: cleans it, names it, and writes it whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.cassette.document import parse_document
from harness.cassette.dump import dump_yaml
from harness.cassette.find import SUFFIXES
from harness.cassette.load import CASSETTE_KEYS
from harness.cassette.paths import inside
from harness.cassette.problems import FormatProblem
from harness.errors import UsageError
from harness.live.secrets import Scrubber, is_secret_file
from harness.whole_file import write_whole
from services.wire import Json, JsonObject

__all__ = ["Cleaned", "Place", "cleaned", "corpus_name", "readme_count"]

_NAME: Final = re.compile(r"[a-z0-9_]+(?:/[a-z0-9_]+)+")
_README_ROW: Final = r"^\| `{family}/?` \| *(\d*) *\|"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A document that can be shared, and remarks on what was removed."""

    document: JsonObject
    remarks: tuple[str, ...]


def cleaned(document: JsonObject, name: str, scrubber: Scrubber, note: str | None) -> Cleaned:
    """The document for the corpus, under `name`.

    Secrets and this machine's paths are masked, and files that usually hold keys are left out. The
    provenance loses its seed, which draws another scenario once the grammar changes.

    Raises:
        UsageError: a secret remains that no mask can cover.
    """
    scrubbed: JsonObject = scrubber.value(document)
    remarks = ["struck out: secrets or paths of this machine"] if scrubbed != document else []
    provenance = dict(scrubbed.get("provenance") or {})
    provenance.pop("seed", None)
    found = {**scrubbed, "name": name, "provenance": provenance}
    if note is not None:
        found["note"] = scrubber.text(note)
    session = dict(found["session"])
    if "settings" in session:
        session["settings"] = scrubber.settings(session["settings"])
    found["session"] = session
    for key in ("files", "home_files"):
        kept, left_out = _without_secret_files(found.get(key) or {})
        remarks += [f"left out: {path}, which may hold secrets" for path in left_out]
        if left_out:
            found[key] = kept
    ordered: JsonObject = {key: found[key] for key in CASSETTE_KEYS if key in found}
    scrubber.refuse_remains(ordered, name)
    return Cleaned(ordered, tuple(remarks))


def _without_secret_files(files: Mapping[str, Json]) -> tuple[JsonObject, list[str]]:
    left_out = [path for path in files if is_secret_file(path)]
    return {path: text for path, text in files.items() if path not in left_out}, left_out


def corpus_name(asked: str | None, own: str) -> str:
    """The cassette's name: `asked`, or its `own`.

    Raises:
        UsageError: the name is no `family/behaviour`.
    """
    name = own if asked is None else asked
    stem, dot, suffix = name.rpartition(".")
    if dot and f".{suffix}" in SUFFIXES:
        name = stem
    try:
        inside(name, "name")
    except FormatProblem as error:
        raise UsageError(f"{name!r} is no name: {error.problem}", error.mend) from error
    if asked is not None and not _NAME.fullmatch(name):
        problem = f"{name!r} is no name for a cassette of the corpus"
        raise UsageError(problem, "write --as family/behaviour: small letters, digits, _")
    if "/" not in name:
        raise UsageError(f"{name!r} has no family", "name it with --as family/behaviour")
    return name


class Place:
    """The file of a cassette that is being adopted; `undo` restores the state before."""

    def __init__(self, corpus: Path, name: str) -> None:
        self.file = corpus / f"{name}.yaml"
        self._before: bytes | None = None
        self._made: list[Path] = []

    def put(self, document: JsonObject) -> None:
        """Write it, whole or not at all.

        Raises:
            UsageError: it cannot be written, or would not be read as the same document.
        """
        text = dump_yaml(document)
        if parse_document(text) != document:
            problem = "it holds text that no file can hold (half of a surrogate pair)"
            raise UsageError(problem, "shrink it, or mend it by hand")
        try:
            self._make_folder()
            self._before = self.file.read_bytes() if self.file.exists() else None
            write_whole(self.file, text)
        except OSError as error:
            self._leave_folders()
            problem = f"{self.file} cannot be written: {error.strerror}"
            raise UsageError(problem, "make the folder writable; nothing was changed") from error

    def undo(self) -> None:
        """Restore the file from before, or remove the new one."""
        with suppress(OSError):
            if self._before is not None:
                write_whole(self.file, self._before)
            else:
                self.file.unlink(missing_ok=True)
        self._leave_folders()

    def _make_folder(self) -> None:
        folder = self.file.parent
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._made = missing

    def _leave_folders(self) -> None:
        for folder in self._made:
            with suppress(OSError):
                folder.rmdir()


def readme_count(corpus: Path, family: str) -> tuple[int, int | None]:
    """How many cassettes a family has, and how many the corpus's README states, if it does."""
    there = sum(1 for file in (corpus / family).rglob("*") if file.suffix in SUFFIXES)
    try:
        text = (corpus / "README.md").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return there, None
    row = re.search(_README_ROW.format(family=re.escape(family)), text, re.MULTILINE)
    return there, int(row[1]) if row is not None and row[1] else None
