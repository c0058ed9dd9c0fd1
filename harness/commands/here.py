"""The state of this checkout for signing commands, read anew at each call."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any

from harness.commands.case_tasks import case_tasks
from harness.config import (
    code_checkout,
    core_baselines,
    default_contract,
    default_gates,
    default_waivers,
    project_code,
    project_signoffs,
)
from harness.errors import UsageError
from harness.experiment.backend import Backend
from harness.experiment.case import CaseTask
from harness.gate.here import Here, gates_file, here
from harness.inventory import PACKAGES, code_components, installed_distributions
from harness.signoff.clean import clean_revision, stray_packages
from harness.signoff.problems import SigningRefused
from harness.triage.checkout import Checkout
from runtimes.project_file import find_project_file

__all__ = [
    "check_digest",
    "clean_revision_here",
    "folder_of",
    "found_here",
    "journalled_tasks",
    "signoffs_folder",
]


def found_here(
    gates: Path | None, waivers: Path | None, as_of: date, policy_from: str | None = None
) -> Here:
    """The rules and files as they are now, not as they were read before.

    Raises:
        HarnessError: a file is missing or cannot be used.
    """
    for read_once in (code_components, installed_distributions):
        read_once.cache_clear()
    return here(gates, waivers, as_of, policy_from)


def signoffs_folder(asked: Path | None) -> Path:
    """Where the records are: the named folder, the project's, `./signoffs`, or beside the gates."""
    project, own = find_project_file(), Path("signoffs")
    if asked is not None:
        return asked
    if project is not None:
        return project_signoffs() or project.parent / own
    if own.is_dir():
        return own
    gates = default_gates()
    return own if gates is None else gates.resolve().parents[1] / own


def check_digest(digest: str | None) -> None:
    """Make sure that `--expect-head` names a record: the beginning of nothing begins any.

    Raises:
        UsageError: it doesn't.
    """
    if digest is None:
        return
    hexadecimal = all(each in "0123456789abcdefABCDEF" for each in digest)
    if not hexadecimal or not 8 <= len(digest) <= 64:
        raise UsageError(f"--expect-head {digest!r} is no SHA-256", "give 8 to 64 hex digits")


def folder_of(record: Path, signoffs: Path | None) -> Path:
    """The folder of the chain that a record is of, which is named by its file or by its name.

    Raises:
        UsageError: the file is in another folder than the one that is named.
    """
    if len(record.parts) == 1:
        return Path() if signoffs is None and record.is_file() else signoffs_folder(signoffs)
    if signoffs is not None and signoffs.resolve() != record.parent.resolve():
        problem = f"{record} is not in the folder {signoffs}"
        raise UsageError(problem, "name the record alone, or leave --signoffs out")
    return record.parent


def clean_revision_here(place: Here, signoffs: Path) -> str | None:
    """The commit of the code, if everything that the judgement rests on is as committed.

    In a user's project it is the project's commit: our code is identified by its digest.

    Raises:
        SigningRefused: it isn't.
    """
    own = Path(__file__).resolve().parents[2]
    if strays := stray_packages(PACKAGES, own):
        problem = f"packages are not those of {own}: {', '.join(strays)}"
        raise SigningRefused(problem, "see PYTHONPATH and what is installed")
    rules = [gates_file(None), default_waivers(), default_contract()]
    places = [
        *(file for file in rules if file is not None),
        *(folder for folder in core_baselines() if folder.is_dir()),
        *(each.path for each in place.cassettes),
        *project_code(),
    ]
    code = code_checkout()
    if code is None:  # bundled files are the same in every installation
        bundled = Path(__file__).resolve().parents[1]
        places = [each for each in places if not each.resolve().is_relative_to(bundled)]
    names = [name for component in code_components().values() for name in component.files]
    revision = clean_revision(code, names, places, signoffs)
    project = find_project_file()
    return revision if project is None else Checkout.at(project.parent).git("rev-parse", "HEAD")


def journalled_tasks(
    names: Collection[str], place: Here, backend: Backend, *, trust: bool, **fields: Any
) -> list[CaseTask]:
    """The named cases, to be run as `parity run` had them; those of them that are here.

    `fields` are those of `CaseTask`.
    """
    here = sorted(place.cassettes, key=lambda file: file.name)
    named = [file for file in here if file.name in names]
    return case_tasks(named, backend, trust=trust, contract=default_contract(), **fields)
