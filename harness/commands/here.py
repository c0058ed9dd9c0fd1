"""What signing commands find here, read anew each time they look."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing these costs what `parity --help` must not
    from harness.experiment.backend import Backend
    from harness.experiment.case import CaseTask
    from harness.gate.here import Here

__all__ = ["case_tasks", "clean_revision_here", "found_here", "signoffs_folder"]


def found_here(gates: Path | None, waivers: Path | None, as_of: date) -> Here:
    """What is judged by, as it is at this moment and not as it was read before.

    Raises:
        HarnessError: a file is missing or cannot be used.
    """
    from harness.gate.here import here
    from harness.inventory import code_components, installed_distributions

    for read_once in (code_components, installed_distributions):
        read_once.cache_clear()
    return here(gates, waivers, as_of)


def signoffs_folder(asked: Path | None) -> Path:
    """Where the records are: the named folder, `./signoffs`, or the one beside the gates."""
    from harness.config import default_gates

    own = Path("signoffs")
    if asked is not None or own.is_dir():
        return asked or own
    gates = default_gates()
    return own if gates is None else gates.resolve().parents[1] / own


def clean_revision_here(place: Here, signoffs: Path) -> str | None:
    """The commit of the code, of which all that is judged by is as committed.

    Raises:
        SigningRefused: it isn't.
    """
    from harness.config import code_checkout, core_baselines, default_contract, default_waivers
    from harness.gate.here import gates_file
    from harness.inventory import code_components
    from harness.signoff.clean import clean_revision

    rules = [gates_file(None), default_waivers(), default_contract()]
    places = [
        *(file for file in rules if file is not None),
        *(folder for folder in core_baselines() if folder.is_dir()),
        *(each.path for each in place.cassettes),
    ]
    code = code_checkout()
    if code is None:  # what came with it can be had by everybody who installs it
        bundled = Path(__file__).resolve().parents[1]
        places = [each for each in places if not each.resolve().is_relative_to(bundled)]
    names = [name for component in code_components().values() for name in component.files]
    return clean_revision(code, names, places, signoffs)


def case_tasks(
    names: Collection[str],
    place: Here,
    backend: Backend,
    *,
    control: str,
    candidate: str,
    trust: bool,
    repeat: int = 1,
) -> list[CaseTask]:
    """The named cases, to be run as `parity run` had them; those of them that are here."""
    from harness.cassette.trust import is_trusted
    from harness.config import core_baselines, default_contract, trusted_roots
    from harness.experiment.case import CaseTask

    roots, core, contract = trusted_roots(), core_baselines(), default_contract()
    return [
        CaseTask(
            backend=backend,
            name=each.name,
            file=each.path,
            root=each.root,
            control=control,
            candidate=candidate,
            repeat=repeat,
            trusted=trust or is_trusted(each.path, roots),
            contract=contract,
            core=core,
        )
        for each in sorted(place.cassettes, key=lambda file: file.name)
        if each.name in names
    ]
