"""Formats records as text: a statement before signing, and the result of a verification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.gate.answer import GateAnswer
from harness.signoff.statement import Revocation, SignOff
from harness.signoff.verification import Verification

__all__ = ["shown", "signed_lines", "verified_lines"]

_SHORT: Final = 16
_MOST: Final = 50


def signed_lines(said: SignOff) -> Iterator[str]:
    """Yield the content of a sign-off in lines; its limits come last."""
    yield f"phase {said.phase}, profile {said.profile}, judged by the day {said.as_of}"
    yield from _answer(said.answer)
    code = f"commit {said.revision}" if said.revision else "an installed distribution"
    yield f"code: {code}; {sum(len(each.files) for each in said.components.values())} digests"
    for each in said.evidence:
        yield f"evidence: {each.kind} {each.file} ({each.about}), {each.sha256[:_SHORT]}"
    again = said.replayed
    blocks = f" and {len(again.blocks)} blocks of generated scenarios" if again.blocks else ""
    yield f"run again: {again.cases} cases of {again.control} ≡ {again.candidate}{blocks}"
    before = said.predecessor
    named = (
        "none, this is the first" if before is None else f"{before.file} {before.sha256[:_SHORT]}"
    )
    yield f"predecessor: {named}"
    yield "what this does not say:"
    for sentence in said.not_said:
        yield f"  - {sentence}"


def _answer(answer: GateAnswer) -> Iterator[str]:
    yield f"answer: {answer.answer.value}"
    for leg in answer.legs:
        waived = f", {leg.waived} differences waived" if leg.waived else ""
        yield f"leg {leg.name}: {leg.parity} of {leg.cases} cases parity{waived}"
    reached = sum(1 for each in answer.coverage if each.reached)
    yield f"coverage: {reached} of {len(answer.coverage)} classes reached in both runtimes"
    for kill in answer.kills:
        if kill.name == "all":
            rate = f"{kill.rate:.1%}, at least {kill.bound:.1%} at 95 %"
            yield f"seeded faults: {kill.killed} of {kill.observable} found ({rate})"
    for mutants in answer.mutants:
        share = f"{mutants.found} of {mutants.tried} found, at least {mutants.bound:.1%} at 95 %"
        yield f"mutants of the {mutants.part}: {share}"
    for sample in answer.samples:
        yield f"sample: {sample.says}"
    used = sum(1 for each in answer.waivers if each.count)
    yield f"waivers: {used} used of {len(answer.waivers)}"
    for remark in answer.remarks:
        yield f"remark: {remark}"


def verified_lines(result: Verification, *, whole: bool) -> Iterator[str]:
    """Yield the lines of a verification, the answer last; with `whole` also the content."""
    said = result.record.statement
    yield f"record: {result.record.name} ({result.record.sha256})"
    if isinstance(said, SignOff) and whole:
        yield from signed_lines(said)
    elif isinstance(said, Revocation):
        yield f"revokes {said.revokes.file}: {said.reason}"
    if result.signers:
        yield f"signed by {', '.join(result.signers)} on {said.time}"
    if result.seed is not None:
        yield f"run again: {len(result.replayed)} cases (seed {result.seed})"
    for remark in result.remarks:
        yield f"remark: {remark}"
    for doubt in result.undecided[:_MOST]:
        yield f"not known: {doubt}"
    for problem in result.problems[:_MOST]:
        yield f"does not hold: {problem}"
    hidden = len(result.problems) - _MOST
    if hidden > 0:
        yield f"does not hold: {hidden} more reasons (--json has them all)"
    yield shown(result)


def shown(result: Verification) -> str:
    """Return the answer in one line."""
    name = result.record.name
    if result.problems:
        count = len(result.problems)
        return f"{name} does not hold: {count} reason{'' if count == 1 else 's'}"
    return f"{name} cannot be decided" if result.undecided else f"{name} holds"
