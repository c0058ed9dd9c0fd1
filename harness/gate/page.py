"""The gate's answer as data of an HTML page, of its own or of a run's report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.gate.answer import Answer, Condition, GateAnswer
from harness.gate.plan import Planned, in_about, measure_command, needed
from harness.gate.show import alternatives, consequences, in_short, meaning, units
from harness.report.gate_page import gate_page
from services.redaction import redacted_value
from services.regular_files import read_regular
from services.wire import JsonObject

__all__ = ["answer_file", "gate_data", "gate_html", "gates_beside"]

_LARGEST: Final = 16 * 1024 * 1024
_WORST_FIRST: Final = (Answer.NO, Answer.UNKNOWN, Answer.YES)


def answer_file(folder: Path, phase: str, profile: str) -> Path:
    """The file of an answer: `parity measure` writes it, and a report in that folder reads it."""
    return folder / f"gate-{phase}-{profile}.json"


def gate_html(
    answer: GateAnswer, title: str, source: str, plan: Sequence[Planned], measure: str
) -> str:
    """The answer as one HTML file without scripts; the arguments are those of `show_answer`."""
    return gate_page(gate_data(answer, title=title, source=source, plan=plan, measure=measure))


def gate_data(
    answer: GateAnswer,
    *,
    title: str = "",
    source: str = "",
    plan: Sequence[Planned] = (),
    measure: str = "",
) -> JsonObject:
    """The page's data as redacted JSON values."""
    open_ = consequences(answer)
    grouped = {about for _, abouts in open_ for about in abouts}
    shown = [each for each in answer.conditions if each.about not in grouped]
    shown.sort(key=lambda condition: _WORST_FIRST.index(condition.answer))
    lacking = [
        {
            "takes": in_about(each.seconds),
            "about": each.measurement.about,
            "count": f"{each.measurement.units:,} {units(each.measurement)}",
            "command": each.measurement.command,
        }
        for each in plan
    ]
    found: JsonObject = redacted_value(
        {
            "answer": answer.answer.value,
            "means": meaning(answer),
            "phase": answer.phase,
            "title": title,
            "profile": answer.profile,
            "asOf": answer.as_of,
            "source": source,
            "conditions": [_condition(answer, each) for each in shown],
            "open": [{"without": list(names), "abouts": list(about)} for names, about in open_],
            "remarks": list(answer.remarks),
            "plan": lacking,
            "total": in_about(sum(each.seconds for each in plan)) if plan else "",
            "measure": measure if needed(answer) else "",
            "other": "",
        }
    )
    return found


def _condition(answer: GateAnswer, condition: Condition) -> JsonObject:
    reasons = [each for each in answer.reasons if each.condition == condition.about]
    return {
        "answer": condition.answer.value,
        "about": condition.about,
        "says": condition.says,
        "reasons": in_short(reasons),
        "changes": alternatives(reasons),
    }


def gates_beside(folder: Path, components: Mapping[str, str]) -> tuple[JsonObject, ...]:
    """The newest answer of each phase and profile in `folder`, for a report there.

    Args:
        folder: The folder of `gate*.json`; other files of that name are ignored.
        components: Component to digest of the reported run; answers name the ones that differ.
    """
    newest: dict[tuple[str, str], tuple[int, GateAnswer]] = {}
    for when, answer in _answers(folder):
        key = (answer.phase, answer.profile)
        if key not in newest or newest[key][0] < when:
            newest[key] = (when, answer)
    return tuple(_beside(newest[key][1], components) for key in sorted(newest))


def _answers(folder: Path) -> Iterator[tuple[int, GateAnswer]]:
    """Each answer with the time of its file."""
    for file in sorted(folder.glob("gate*.json")):
        try:
            document = json.loads(read_regular(file, _LARGEST))
            yield file.stat().st_mtime_ns, GateAnswer.from_json(document)
        except (OSError, UsageError, ValueError, TypeError, RecursionError):
            continue  # another file of that name


def _beside(answer: GateAnswer, components: Mapping[str, str]) -> JsonObject:
    data = gate_data(answer, measure=measure_command(answer.phase, answer.profile))
    moved = [name for name, digest in components.items() if answer.inventory.get(name) != digest]
    data["other"] = ", ".join(moved)
    return data
