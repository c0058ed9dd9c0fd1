"""Cassettes as cases to judge, with what is trusted and known here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.cassette.find import CassetteFile
from harness.config import core_baselines, to_run
from harness.experiment.backend import Backend
from harness.experiment.case import CaseTask

__all__ = ["case_tasks"]


def case_tasks(
    files: Iterable[CassetteFile],
    backend: Backend,
    *,
    control: str,
    candidate: str,
    trust: bool,
    repeat: int = 1,
    phase: str | None = None,
    contract: Path | None = None,
) -> list[CaseTask]:
    """A task for each of `files`, in their order.

    Args:
        files: The cassettes.
        backend: What runs them.
        control: The side that is right.
        candidate: The side that is judged.
        trust: Run cassettes that start processes from anywhere, not only those of trusted corpora.
        repeat: Runs of each side.
        phase: Only the cassettes of this phase; the others are skipped.
        contract: The file of the behaviours that cassettes may declare; none is asked without it.
    """
    core = core_baselines()
    return [
        CaseTask(
            backend=backend,
            name=file.name,
            file=source.path,
            root=source.root,
            control=control,
            candidate=candidate,
            repeat=repeat,
            trusted=trusted,
            phase=phase,
            contract=contract,
            core=core,
        )
        for file, source, trusted in to_run(files, trust=trust)
    ]
