"""Cassettes as tasks of a run, with what is trusted and known here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from harness.cassette.find import CassetteFile
from harness.config import core_baselines, to_run, trusted_here
from harness.experiment.backend import Backend
from harness.experiment.case import CaseTask, CassetteTask

__all__ = ["case_tasks", "tasks_of"]

Kind = TypeVar("Kind", bound=CassetteTask)


def tasks_of(
    kind: type[Kind], files: Iterable[CassetteFile], backend: Backend, *, trust: bool, **fields: Any
) -> list[Kind]:
    """A task for each of `files`, in their order.

    Args:
        kind: The class of the tasks.
        files: The cassettes.
        backend: What runs them.
        trust: Run cassettes that start processes from anywhere, not only those of trusted corpora.
        fields: The other fields of `kind`.
    """
    return [
        kind(
            backend=backend,
            name=file.name,
            file=source.path,
            root=source.root,
            trusted=trusted,
            **fields,
        )
        for file, source, trusted in to_run(files, trust=trust or trusted_here(fields))
    ]


def case_tasks(
    files: Iterable[CassetteFile], backend: Backend, *, trust: bool, **fields: Any
) -> list[CaseTask]:
    """A task to judge each of `files`, in their order; `fields` are those of `CaseTask`."""
    return tasks_of(CaseTask, files, backend, trust=trust, core=core_baselines(), **fields)
