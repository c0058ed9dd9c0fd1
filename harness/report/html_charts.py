"""What the report draws: the grid of phases and classes, coverage, cost. Numbers, no markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from harness.coverage.behaviour import PHASES
from harness.coverage.contract import Contract
from harness.coverage.table import coverage
from harness.parity.verdict import CaseResult
from services.wire import JsonObject

__all__ = ["classes_of", "cost_shape", "coverage_rows", "grid"]

_UNKNOWN_PHASE: Final = "none"
_MEASURES: Final[Sequence[tuple[str, str, Callable[[Any], int]]]] = (
    ("model calls", "", lambda cost: sum(cost["modelCalls"].values())),
    ("input tokens", "", lambda cost: cost["tokens"]["inputTokens"]),
    ("output tokens", "", lambda cost: cost["tokens"]["outputTokens"]),
    ("cached tokens", "", lambda cost: cost["tokens"]["cachedTokens"]),
    ("contents sent", "", lambda cost: cost["contentsSent"]),
    (
        "contents sent before",
        "what prompt caches can serve",
        lambda cost: cost["contentsSentBefore"],
    ),
)


def classes_of(case: CaseResult, contract: Contract) -> tuple[str, ...]:
    """The classes of the behaviours that a case names; its family's first word where it names none.

    In the order of the case, each once.
    """
    found = (contract.by_id(each) for each in case.contract)
    names = dict.fromkeys(each.behaviour_class.value for each in found if each is not None)
    return tuple(names) or (case.family.partition("/")[0],)


def grid(cases: Sequence[CaseResult], contract: Contract) -> JsonObject:
    """Cases by class and phase: `{phases: [{id, says}], rows: [{name, cells}]}`.

    A cell has the counts of each verdict; one without cases is `None`. A case counts in each class
    that it names.
    """
    counts: dict[tuple[str, str], Counter[str]] = {}
    for case in cases:
        phase = case.phase or _UNKNOWN_PHASE
        for name in classes_of(case, contract):
            counts.setdefault((name, phase), Counter())[case.verdict.value] += 1
    phases = sorted({phase for _, phase in counts}, key=_phase_order)
    names = sorted({name for name, _ in counts})
    return {
        "phases": [{"id": phase, "says": PHASES.get(phase, "no phase")} for phase in phases],
        "rows": [
            {"name": name, "cells": [_cell(counts.get((name, phase))) for phase in phases]}
            for name in names
        ],
    }


def _phase_order(phase: str) -> tuple[bool, str]:
    return (phase == _UNKNOWN_PHASE, phase)


def _cell(counted: Counter[str] | None) -> JsonObject | None:
    if counted is None:
        return None
    return {
        "cases": counted.total(),
        **{name: counted[name] for name in ("parity", "divergent", "inconclusive")},
    }


def coverage_rows(cases: Sequence[CaseResult], contract: Contract) -> list[JsonObject]:
    """What of the contract's behaviours the run reached, class by class, of the phases it ran.

    `both`, `one` and `never` add up to `total`; `missing` names the ids that are not in `both`,
    neighbours joined to `P-003 to P-009`.
    """
    ran = {case.phase for case in cases}
    rows = []
    for phase in filter(ran.__contains__, PHASES):
        for each in coverage(cases, contract, phase).classes:
            total, both, never = len(each.behaviours), len(each.both), len(each.never)
            rows.append(
                {
                    "phase": phase,
                    "name": each.behaviour_class.value,
                    "cases": each.declaring,
                    "total": total,
                    "both": both,
                    "one": total - both - never,
                    "never": never,
                    "missing": _ranges(each.behaviours, each.both),
                }
            )
    return rows


def _ranges(ids: Sequence[str], but: Sequence[str]) -> list[str]:
    found = []
    for lacking, run in groupby(ids, lambda each: each not in but):
        first, *rest = run
        if lacking:
            found.append(f"{first} to {rest[-1]}" if rest else first)
    return found


def cost_shape(cases: Iterable[CaseResult]) -> list[JsonObject]:
    """What each side spent over all cases with known costs; empty without any.

    `share` is how much the candidate spent for each 1 of the control; `None` where that is 0.
    """
    costs = [case.cost for case in cases if case.cost is not None]
    rows = []
    for name, note, measured in _MEASURES:
        try:
            control, candidate = (sum(measured(cost[side]) for cost in costs) for side in (0, 1))
        except (KeyError, TypeError, AttributeError):  # a journal is untrusted
            return []
        share = candidate / control if control else None
        rows.append(
            {
                "name": name,
                "note": note,
                "control": control,
                "candidate": candidate,
                "share": share,
            }
        )
    return rows if any(row["control"] or row["candidate"] for row in rows) else []
