"""Where things are: the corpus, the waivers, what is trusted, and what build this is.

Read by the commands only; below them everybody is handed plain values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.versions import distributions

__all__ = [
    "code_digest",
    "core_baselines",
    "corpus_digest",
    "default_baselines",
    "default_corpus",
    "default_waivers",
    "trusted_roots",
    "versions",
]

_HERE: Final = Path(__file__).resolve().parent
_PACKAGES: Final = ("agent_protocol", "services", "runtimes", "harness")


def default_corpus() -> Path:
    """What runs when nothing is named: `./cassettes`, else the bundled corpus, else the checkout's.

    Raises:
        UsageError: there is none of the three.
    """
    for folder in (Path("cassettes"), *trusted_roots()):
        if folder.is_dir():
            return folder
    raise UsageError("there are no cassettes here", "name files or folders")


def default_baselines() -> Path:
    """What the published core was observed to do: `./baselines/upstream`, else the checkout's.

    The first of them where there is none of the two.
    """
    places = (Path(), *_checkout())
    folders = [place / "baselines" / "upstream" for place in places]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def default_waivers() -> Path | None:
    """`./parity_tests/waivers.toml`, else the checkout's, else none."""
    places = (Path("parity_tests"), *(root / "parity_tests" for root in _checkout()))
    files = (place / "waivers.toml" for place in places)
    return next((file for file in files if file.is_file()), None)


def core_baselines() -> tuple[Path, ...]:
    """Where baselines of the published core are looked for, be they there or not.

    `./baselines/upstream`, then the bundled ones, then the checkout's.
    """
    own = Path("baselines", "upstream")
    return (own, _HERE / own, *(root / own for root in _checkout()))


def trusted_roots() -> tuple[Path, ...]:
    """The corpora whose cassettes may start processes: bundled, and the checkout's."""
    return (_HERE / "corpus", *(root / "cassettes" for root in _checkout()))


def versions() -> Mapping[str, str]:
    """What is being run: distributions by version, our own code by digest."""
    return {"code": code_digest(), **distributions()}


def code_digest() -> str:
    """12 hex digits over the sources of our packages."""
    running = hashlib.sha256()
    for package in _PACKAGES:
        for file in sorted((_HERE.parent / package).rglob("*.py")):
            running.update(f"{file.relative_to(_HERE.parent).as_posix()}\0".encode())
            running.update(hashlib.sha256(file.read_bytes()).digest())
    return running.hexdigest()[:12]


def corpus_digest(files: Sequence[tuple[str, Path]]) -> str:
    """SHA-256 over cassettes as (name, file); one that cannot be read counts by name only."""
    running = hashlib.sha256()
    for name, file in sorted(files):
        running.update(f"{name}\0".encode())
        try:
            with file.open("rb") as stream:
                running.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError:
            running.update(b"unreadable")
    return running.hexdigest()


def _checkout() -> tuple[Path, ...]:
    """The folder of the checkout that this code runs from, if it is one."""
    root = _HERE.parent
    return (root,) if (root / "pyproject.toml").is_file() else ()
