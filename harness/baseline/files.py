"""A baseline's file: one JSON document per cassette, at `DIR/<name>.json`.

A file has the format, the cassette's name and digest, the runtime, whose words it uses (which
decides under which rules it is compared), the versions that made it, and the projected observation.
Equal runs give equal bytes on every machine. Reading is bounded, and checks every key.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harness.baseline.document import from_document, to_document
from harness.baseline.projected import projected
from harness.cassette.document import parse_document, read_text
from harness.cassette.fields import Fields, text_of
from harness.cassette.problems import FormatProblem, kind_of
from harness.errors import HarnessError, UsageError
from harness.replay.observation import Observation
from harness.whole_file import write_whole
from services.regular_files import open_regular
from services.wire import Json

__all__ = [
    "FORMAT",
    "Baseline",
    "BaselineFormatError",
    "BaselineUnfit",
    "baseline_file",
    "baseline_text",
    "cassette_digest",
    "fitting_observation",
    "parse_baseline",
    "read_baseline",
    "write_baseline",
]

FORMAT: Final = 2
"""Version of the files; goes up when a key comes, goes, or changes its meaning. 2: `provider`."""

_KEYS: Final = ("format", "name", "cassetteSha256", "runtime", "words", "versions", "observation")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_REFRESH: Final = "restore it, or create it again with `parity baseline`"


class BaselineFormatError(HarnessError):
    """A file is not a baseline of a format that this build reads. `file` is which."""

    def __init__(self, file: Path, key: str, problem: str, mend: str = _REFRESH) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(f"baseline {where}: {problem}; {mend}")
        self.file = file


class BaselineUnfit(HarnessError):
    """No baseline fits the case, which is therefore inconclusive."""

    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One cassette's baseline."""

    observation: Observation
    """Projected: see `harness.baseline.projected`."""
    cassette_sha256: str
    """Digest of the cassette's file at the time of the run."""

    @classmethod
    def of(cls, seen: Observation, name: str, cassette_sha256: str) -> Baseline:
        """The baseline of a run; `name` comes from the cassette's path."""
        kept = replace(projected(seen), name=name)
        return cls(observation=kept, cassette_sha256=cassette_sha256)


def baseline_file(folder: Path, name: str) -> Path:
    """The file of the baseline of the cassette called `name`; it may be missing.

    Raises:
        UsageError: the name leads out of the folder.
    """
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts:
        raise UsageError(
            f"a baseline cannot have the name {name!r}", "name the cassette from its root"
        )
    return folder / f"{name}.json"


def cassette_digest(file: Path) -> str:
    """SHA-256 of a cassette's file, 64 hex digits.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def baseline_text(baseline: Baseline) -> str:
    """The file's text: keys in one order, everything ASCII, a final newline."""
    seen = baseline.observation
    observation = to_document(seen)
    document = {
        "format": FORMAT,
        "name": seen.name,
        "cassetteSha256": baseline.cassette_sha256,
        "runtime": seen.runtime,
        "words": seen.words,
        "versions": dict(sorted(seen.versions.items())),
        "observation": _Laid({**observation, "recording": _Laid(observation["recording"])}),
    }
    return _laid_out(_Laid(document)) + "\n"


class _Laid(dict[str, Any]):
    """A mapping that is written with one key per line, in its order."""


def _laid_out(value: Any, *, listed: bool = False) -> str:
    """JSON for readable diffs; `indent` would give every number its own line."""
    if isinstance(value, _Laid) and value:
        pairs = (f"{json.dumps(key)}: {_laid_out(item)}" for key, item in value.items())
        return "{\n" + ",\n".join(pairs) + "\n}"
    if isinstance(value, list) and value and not listed:
        return "[\n" + ",\n".join(_laid_out(item, listed=True) for item in value) + "\n]"
    return json.dumps(value, sort_keys=True)


def write_baseline(folder: Path, baseline: Baseline) -> Path:
    """Write or replace a baseline's file, completely or not at all; return the file.

    Raises:
        BaselineFormatError: it could not be read back, so nothing was written.
        OSError: the file cannot be written.
    """
    name = baseline.observation.name
    file = baseline_file(folder, name)
    text = baseline_text(baseline)
    parse_baseline(text, file, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text)
    return file


def read_baseline(folder: Path, name: str) -> Baseline | None:
    """The baseline of the cassette called `name`; `None` where there is none.

    Raises:
        BaselineFormatError: the file cannot be read, or is no baseline of this cassette.
    """
    file = baseline_file(folder, name)
    try:
        text = read_text(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BaselineFormatError(file, "", f"cannot be read: {error.strerror}") from error
    except FormatProblem as error:
        raise BaselineFormatError(file, "", error.problem) from error
    return parse_baseline(text, file, name)


def parse_baseline(text: str, file: Path, name: str) -> Baseline:
    """Read a file's text; `file` is for messages, `name` the cassette that it must belong to.

    Raises:
        BaselineFormatError: naming the wrong key.
    """
    try:
        document = parse_document(text, strict_json=True)
        version = document.get("format", FORMAT) if isinstance(document, dict) else FORMAT
        if version != FORMAT or isinstance(version, bool):
            problem = f"is {kind_of(version)}; this build reads {FORMAT}"
            mend = "use the build that wrote it, or create it again with `parity baseline`"
            raise BaselineFormatError(file, "format", problem, mend)
        return _parsed(document, name)
    except FormatProblem as error:
        raise BaselineFormatError(file, error.key, error.problem) from error
    except ValueError as error:  # a whole number of more digits than Python takes
        raise BaselineFormatError(file, "", f"is not JSON: {error}") from error


def _parsed(document: Json, name: str) -> Baseline:
    fields = Fields(document, "", _KEYS)
    fields.need("format")
    if fields.text("name") != name:
        raise FormatProblem("name", f"is {kind_of(fields.text('name'))}, not {name!r}", _REFRESH)
    digest = fields.text("cassetteSha256")
    if not _SHA256.fullmatch(digest):
        raise FormatProblem("cassetteSha256", "is not a SHA-256 in hex digits", _REFRESH)
    fields.need("versions")
    versions = fields.mapping("versions")
    observation = from_document(
        fields.need("observation"),
        name=name,
        runtime=fields.text("runtime"),
        versions={key: text_of(each, f"versions.{key}") for key, each in versions.items()},
        path="observation",
    )
    # A no-op for files of this build; it makes texts comparable that were edited by hand.
    return Baseline.of(replace(observation, words=fields.text("words")), name, digest)


def fitting_observation(folder: Path, name: str, cassette: Path) -> Observation:
    """The baseline's observation of the cassette called `name`, whose file is `cassette`.

    Raises:
        BaselineUnfit: there is none, or it is of another version of the cassette.
        BaselineFormatError: its file cannot be read.
    """
    stored = read_baseline(folder, name)
    if stored is None:
        command = _command(cassette, "NAME", folder)
        raise BaselineUnfit(f"no baseline of {name} in {folder}; make it with `{command}`")
    if stored.cassette_sha256 != cassette_digest(cassette):
        command = _command(cassette, stored.observation.runtime, folder)
        raise BaselineUnfit(
            f"the baseline of {name} in {folder} is of another version of this cassette; "
            f"observe it anew with `{command}`"
        )
    return stored.observation


def _command(cassette: Path, runtime: str, folder: Path) -> str:
    words = ["parity", "baseline", str(cassette), "--runtime", runtime, "--out", str(folder)]
    return shlex.join(words)
