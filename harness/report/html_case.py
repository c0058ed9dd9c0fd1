"""One case as the report's page shows it: a row of the list, and the details that are compressed.

Texts are as they were seen, and inert wherever they go: the page puts them in as text.
"""

from __future__ import annotations

import base64
import json
import zlib

from harness.explain import first_cause
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.html_cassettes import CassetteText
from harness.timeline.model import Timelines, unpack
from services.wire import JsonObject

__all__ = ["case_details", "case_kind", "deflated", "is_shown", "virtual_ms"]


def is_shown(case: CaseResult) -> bool:
    """Whether there is more to say of a case than that it is parity."""
    return bool(
        case.verdict is not CaseVerdict.PARITY or case.divergences or case.cut or case.noise
    )


def case_kind(case: CaseResult) -> str:
    """Which toggle a shown case belongs to: `finding` to none, `waived`, `noise`."""
    if case.verdict is not CaseVerdict.PARITY:
        return "finding"
    return "waived" if case.divergences or case.cut else "noise"


def virtual_ms(case: CaseResult) -> int | None:
    """How long the longer run of a case took in virtual time; `None` where that is not known."""
    sides = (side for row in _timelines(case).rows for side in (row.control, row.candidate))
    known = [side.at_ms for side in sides if side is not None and side.at_ms is not None]
    return max(known, default=None)


def _timelines(case: CaseResult) -> Timelines:
    try:
        return unpack(case.timelines) if case.timelines else Timelines(rows=())
    except ValueError:  # a journal is untrusted; the differences themselves are still there
        return Timelines(rows=())


def case_details(case: CaseResult, file: str | None, text: CassetteText | None) -> JsonObject:
    """What a case shows once it is opened."""
    lines = _timelines(case)
    return {
        **lines.to_json(),
        "first": _first_row(case, lines),
        "divergences": [
            {
                "place": found.place,
                "kind": found.kind.value,
                "path": found.path,
                "control": found.control,
                "candidate": found.candidate,
                "waivedBy": case.waived.get(index),
            }
            for index, found in enumerate(case.divergences)
        ],
        "note": "" if text is None else text.note,
        "noise": [{"place": noise.place, "hides": noise.hides} for noise in case.noise],
        "cassette": text.text if text is not None and text.text else None,
        "cassetteCut": text is not None and text.cut,
        "cassetteFile": file,
    }


def _first_row(case: CaseResult, lines: Timelines) -> int | None:
    """The row to open: of the first cause that no waiver covers, if there is one."""
    cause = first_cause(case)
    if cause is not None:
        index = next(i for i, found in enumerate(case.divergences) if found is cause)
        for number, row in enumerate(lines.rows):
            if index in row.divergences:
                return number
    return lines.first


def deflated(details: JsonObject) -> str:
    """`details` as zlib in base64: letters, digits, `+`, `/` and `=` alone."""
    text = json.dumps(details, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode("ascii")
