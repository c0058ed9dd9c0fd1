"""What good runs of the corpus do and reach: measured once for each state of the code, and kept.

The folder `<cache>/mutants/<digest>` has a file of facts for each case, and files of their own for
the observations of its two runs, since most of them are never read. The files are pickles. They lie
in the cache folder of the user, never in the working directory, which may be a stranger's checkout.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.baseline.files import cassette_digest
from harness.canonical import canonical, sha256_hex
from harness.cassette.find import CassetteFile
from harness.config import current_inventory
from harness.detection.playing import Seen
from harness.errors import UsageError
from harness.mutants.reach import Lines
from harness.whole_file import write_whole
from runtimes.published import UpstreamUnavailable
from runtimes.published.places import cache_folder

__all__ = ["RUNTIMES", "GoodRun", "Kept", "RunFacts", "Store", "good_runs_digest"]

RUNTIMES: Final = ("legacy", "adk")
_FORMAT: Final = 1
_MOST: Final = 3
"""As many states of the code are kept; the oldest goes first."""
_HARNESS: Final = (
    "harness/canonical.py",
    "harness/cassette/",
    "harness/codec.py",
    "harness/detection/playing.py",
    "harness/errors.py",
    "harness/http/",
    "harness/mutants/reach.py",
    "harness/parity/",
    "harness/prefixes.py",
    "harness/provider/",
    "harness/replay/",
    "harness/sides.py",
)
"""What a run of a case executes of the harness, and what its digest follows from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is needed of a good run to choose the cases of a mutant."""

    digest: str
    """Of all that was observed."""
    lines: Lines
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodRun:
    """What is kept of a case."""

    facts: Mapping[str, RunFacts] = field(default_factory=dict)
    """Runtime to what its run reached."""
    left_out: str = ""
    """Why the case can show nothing: it cannot be run here."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a case's good runs are kept."""

    folder: Path
    key: str

    @classmethod
    def of(cls, folder: Path, file: CassetteFile) -> Kept:
        """The place of a case, by its name and what its file says."""
        key = hashlib.sha256(f"{file.name}\0{cassette_digest(file.path)}".encode())
        return cls(folder, key.hexdigest()[:24])

    def good(self) -> GoodRun | None:
        """What was kept; `None` where nothing was, or it cannot be read."""
        found = self.read("facts")
        return found if isinstance(found, GoodRun) else None

    def seen(self, runtime: str) -> Seen:
        """The run of a runtime that `good` knows of."""
        found = self.read(runtime)
        assert isinstance(found, Seen), "the facts are written last"
        return found

    def keep(self, good: GoodRun, runs: Mapping[str, Seen]) -> None:
        """Keep a case's runs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for runtime, seen in runs.items():
            self.write(runtime, seen)
        self.write("facts", good)

    def write(self, what: str, value: Any) -> None:
        """Keep a value under a name."""
        write_whole(self.folder / f"{self.key}.{what}", pickle.dumps(value, -1))

    def read(self, what: str) -> Any:
        """Return what was kept under a name; `None` where nothing was, or it cannot be read."""
        try:
            data = (self.folder / f"{self.key}.{what}").read_bytes()
            return pickle.loads(data)  # noqa: S301 - `write` wrote it, in the user's cache folder
        except (OSError, EOFError, pickle.UnpicklingError):
            return None


@dataclass(frozen=True, slots=True)
class Store:
    """The good runs of one state of the code."""

    folder: Path

    @classmethod
    def open(cls, digest: str, base: Path | None = None) -> Store:
        """Return the store for a state of the code; delete the oldest others.

        Args:
            digest: The digest of the state.
            base: The folder of all stores; by default one in the user's cache folder.

        Raises:
            UsageError: There is no place for a cache.
        """
        try:
            base = base or cache_folder() / "mutants"
        except UpstreamUnavailable as error:
            raise UsageError(error.problem, error.mend) from error
        folder = base / digest
        folder.mkdir(parents=True, exist_ok=True)
        folder.touch()
        others = (each for each in base.iterdir() if each.is_dir() and each != folder)
        for old in sorted(others, key=_age, reverse=True)[_MOST - 1 :]:
            with suppress(OSError):
                shutil.rmtree(old)
        return cls(folder)

    def kept(self, file: CassetteFile) -> Kept:
        """Where a case's runs are."""
        return Kept.of(self.folder, file)

    def checks(self, digest: str) -> Mapping[str, Lines] | None:
        """What the checks of that digest execute, by name; `None` where it was not kept."""
        found = Kept(self.folder, digest).read("checks")
        return found if isinstance(found, dict) else None

    def keep_checks(self, digest: str, lines: Mapping[str, Lines]) -> None:
        """Keep what the checks of that digest execute."""
        Kept(self.folder, digest).write("checks", dict(lines))


def good_runs_digest(files: Sequence[CassetteFile]) -> str:
    """Digest of all that good runs follow from, but for the cassettes themselves."""
    inventory = current_inventory([(file.name, file.path) for file in files], None)
    code = {
        name: digest
        for part in ("agent_protocol", "services", "runtimes", "harness")
        for name, digest in inventory.components[part].files.items()
        if part != "harness" or name.startswith(_HARNESS)
    }
    about = {name: inventory.digests[name] for name in ("corpus helpers", "distributions")}
    return sha256_hex(canonical([_FORMAT, code, about]))[:16]


def _age(folder: Path) -> float:
    return folder.stat().st_mtime
