"""The results of exploring a case's completion orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.codec import Coded
from harness.orders.across import Difference
from harness.parity.verdict import CaseResult, CaseVerdict
from services.wire import JsonObject

__all__ = ["Explored", "Finding", "OrderRun", "OrdersResult", "verdict_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRun:
    """One order through both engines."""

    number: int
    """From 0, which is the default order."""
    places: tuple[str, ...]
    """The places in the order in which the control's were released."""
    preemptions: int
    chunks: bool = False
    """Whether chunks after the first were held, too."""
    result: CaseResult
    left: str | None = None
    """Where the control left the requested order."""
    missed: str | None = None
    """Where the candidate left the control's order."""

    @property
    def verdict(self) -> CaseVerdict:
        """The comparison's verdict; parity counts only if both sides had the same order."""
        if self.missed is not None and self.result.verdict is CaseVerdict.PARITY:
            return CaseVerdict.INCONCLUSIVE
        return self.result.verdict

    def to_json(self) -> JsonObject:
        """For the report; at parity without the result."""
        parity = self.verdict is CaseVerdict.PARITY
        return {
            "number": self.number,
            "verdict": self.verdict.value,
            "places": list(self.places),
            "preemptions": self.preemptions,
            "chunks": self.chunks,
            "left": self.left,
            "missed": self.missed,
            "result": None if parity else self.result.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One engine behaved differently under another order.

    `order-dependent` if something shared was accessed in another order before, else `order-leak`,
    which is a fault of the engine.
    """

    runtime: str
    difference: Difference

    @property
    def kind(self) -> Literal["order-dependent", "order-leak"]:
        """What sort of finding it is."""
        return "order-dependent" if self.difference.shared else "order-leak"

    def to_json(self) -> JsonObject:
        """For the report."""
        return {
            "kind": self.kind,
            "runtime": self.runtime,
            "orders": [self.difference.one, self.difference.other],
            "shared": list(self.difference.shared),
            "first": self.difference.first.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Explored(Coded):
    """How many orders were tried, and whether these are all."""

    orders: int
    exhaustive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersResult:
    """One cassette under the orders in which its parallel work can complete."""

    cassette: str
    runs: tuple[OrderRun, ...] = ()
    findings: tuple[Finding, ...] = ()
    answers: Explored = Explored(0, False)
    """Orders of answers and calls."""
    chunks: Explored | None = None
    """Orders of chunks after the first; `None` if they were not tried."""
    blockers: tuple[str, ...] = ()
    """Why no order could be tried."""

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that are faults of an engine."""
        return tuple(found for found in self.findings if found.kind == "order-leak")

    @property
    def dependent(self) -> tuple[Finding, ...]:
        """The findings that a shared thing explains."""
        return tuple(found for found in self.findings if found.kind == "order-dependent")

    @property
    def unreachable(self) -> int:
        """How many orders the control did not follow."""
        return sum(run.left is not None for run in self.runs)

    @property
    def side_by_side(self) -> bool:
        """Whether there was more than one order."""
        return len(self.runs) > 1

    @property
    def verdict(self) -> CaseVerdict:
        """Divergent if an order is or an engine leaks order; parity only if every order is."""
        verdicts = {run.verdict for run in self.runs}
        if CaseVerdict.DIVERGENT in verdicts or self.leaks:
            return CaseVerdict.DIVERGENT
        if self.blockers or not verdicts or CaseVerdict.INCONCLUSIVE in verdicts:
            return CaseVerdict.INCONCLUSIVE
        return CaseVerdict.PARITY

    @property
    def worst(self) -> OrderRun | None:
        """The first order that diverges, else the first that is inconclusive."""
        for verdict in (CaseVerdict.DIVERGENT, CaseVerdict.INCONCLUSIVE):
            for run in self.runs:
                if run.verdict is verdict:
                    return run
        return None

    @classmethod
    def undecided(cls, cassette: str, reason: str) -> OrdersResult:
        """A case that could not be decided."""
        return cls(cassette=cassette, blockers=(reason,))

    def to_json(self) -> JsonObject:
        """For the report."""
        return {
            "cassette": self.cassette,
            "verdict": self.verdict.value,
            "blockers": list(self.blockers),
            "answers": self.answers.to_json(),
            "chunks": None if self.chunks is None else self.chunks.to_json(),
            "unreachable": self.unreachable,
            "findings": [found.to_json() for found in self.findings],
            "orders": [run.to_json() for run in self.runs],
        }


def verdict_of(results: Sequence[OrdersResult]) -> CaseVerdict:
    """The verdict of several cases."""
    verdicts = {result.verdict for result in results}
    for verdict in (CaseVerdict.DIVERGENT, CaseVerdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return CaseVerdict.PARITY if verdicts else CaseVerdict.INCONCLUSIVE
