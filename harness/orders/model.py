"""What exploring a case's completion orders comes to."""

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
    """From 0, the default order."""
    places: tuple[str, ...]
    """What was let go in the control, one after the other."""
    preemptions: int
    chunks: bool = False
    """Whether chunks after the first were places of their own."""
    result: CaseResult
    left: str | None = None
    """Why the control could not be brought into the order that was asked for; it went `places`."""
    missed: str | None = None
    """Where the candidate did not follow the control, in words."""

    @property
    def verdict(self) -> CaseVerdict:
        """The comparison's; agreement in two different orders is none."""
        if self.missed is not None and self.result.verdict is CaseVerdict.PARITY:
            return CaseVerdict.INCONCLUSIVE
        return self.result.verdict

    def to_json(self) -> JsonObject:
        """As written to the report; a case at parity says nothing more than that."""
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
    """One engine did something else under another order.

    `order-dependent` where something shared was touched in another order before; `order-leak`
    where nothing was, which no engine may do.
    """

    kind: Literal["order-dependent", "order-leak"]
    runtime: str
    difference: Difference

    @classmethod
    def of(cls, runtime: str, difference: Difference) -> Finding:
        """The finding that a difference is."""
        kind: Literal["order-dependent", "order-leak"]
        kind = "order-dependent" if difference.shared else "order-leak"
        return cls(kind=kind, runtime=runtime, difference=difference)

    def to_json(self) -> JsonObject:
        """As written to the report."""
        return {
            "kind": self.kind,
            "runtime": self.runtime,
            "orders": [self.difference.one, self.difference.other],
            "shared": list(self.difference.shared),
            "first": self.difference.first.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Explored(Coded):
    """How much of a level was tried."""

    orders: int
    exhaustive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersResult:
    """One cassette under the orders in which what runs side by side can complete."""

    cassette: str
    runs: tuple[OrderRun, ...] = ()
    findings: tuple[Finding, ...] = ()
    answers: Explored = Explored(0, False)
    """Orders of answers and calls."""
    chunks: Explored | None = None
    """Orders of the chunks after the first, too; `None` where nothing was left to spend on them."""
    blockers: tuple[str, ...] = ()
    """Why nothing could be tried."""

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that are faults."""
        return tuple(found for found in self.findings if found.kind == "order-leak")

    @property
    def dependent(self) -> tuple[Finding, ...]:
        """The findings that something shared explains."""
        return tuple(found for found in self.findings if found.kind == "order-dependent")

    @property
    def unreachable(self) -> int:
        """How many orders the control could not be brought into."""
        return sum(run.left is not None for run in self.runs)

    @property
    def side_by_side(self) -> bool:
        """Whether there was more than one order."""
        return len(self.runs) > 1

    @property
    def verdict(self) -> CaseVerdict:
        """Divergent if any order is or an engine leaks order; parity only if every order is."""
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
        """An undecided case, and why."""
        return cls(cassette=cassette, blockers=(reason,))

    def to_json(self) -> JsonObject:
        """As written to the report."""
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
