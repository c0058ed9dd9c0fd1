"""Faults in what the model's stream becomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]


def _without_usage(translate: Any) -> Any:
    def lossy(self: Any, event: Any) -> Iterator[Any]:
        return (found for found in translate(self, event) if found.type != "usage")

    return lossy


FAULTS: Final = (
    Fault(
        name="usage-dropped",
        site=Site.LEGACY,
        behaviour=Behaviour.ANSWERS,
        says="The tokens used are not told.",
        origin="a translator that knows fewer kinds of events than the turn sends",
        breaks=lambda: replaced(
            "runtimes.legacy.translate:StreamTranslator.translate", _without_usage
        ),
    ),
)
