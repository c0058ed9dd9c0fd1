"""Reports to look at: results of real comparisons of observations that are made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseResult, Noise
from harness.parity.waivers import WaiverStatus
from harness.report.model import RunReport
from tests.harness.samples import Facts, observation

HOSTILE: Final = (
    "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
    "\x1b[31mred\x1b[0m \u202eback\u202c \x00 \u200bwide <!-- {{ 7 * 7 }} ]]> &amp; \u2028line"
)


def divergent(name: str, text: str = "It says bye.", **facts: Any) -> CaseResult:
    """The candidate's last message, and nothing else, is another."""
    control, candidate = observation("legacy", name=name), observation("adk", name=name)
    events = [dict(event) for event in candidate.events]
    events[3]["content"] = [{"type": "text", "text": text}]
    result = compare_repeated([control], [replace(candidate, events=events)], Facts(name=name))
    assert result.open
    return replace(result, phase="A", **facts)


def equal(name: str, **facts: Any) -> CaseResult:
    """Both sides did the same."""
    sides = [observation("legacy", name=name)], [observation("adk", name=name)]
    return replace(compare_repeated(*sides, Facts(name=name)), phase="A", **facts)


def shown_equal(name: str, **facts: Any) -> CaseResult:
    """Both sides did the same, and what they did was kept: the last event after two seconds."""
    times = {("events", number): at for number, at in enumerate((0, 1, 5, 5, 1000, 1000, 2000))}
    sides = [replace(observation(runtime, name=name), times=times) for runtime in ("legacy", "adk")]
    result = compare_repeated(sides[:1], sides[1:], Facts(name=name), shows_parity=True)
    return replace(result, phase="A", **facts)


def waived(name: str) -> CaseResult:
    """All that differs is covered by `W-1`."""
    found = divergent(name, text="It says nothing.")
    return replace(found, waived=dict.fromkeys(range(len(found.divergences)), "W-1"))


def half_waived(name: str) -> CaseResult:
    """A waived difference in the first moment that differs, an open one in a later one."""
    control, candidate = observation("legacy", name=name), observation("adk", name=name)
    events = [dict(event) for event in candidate.events]
    events[3]["content"] = [{"type": "text", "text": "Another word."}]
    events[4]["inputTokens"] = 11
    found = compare_repeated([control], [replace(candidate, events=events)], Facts(name=name))
    index = next(i for i, each in enumerate(found.divergences) if each.label.startswith("message"))
    return replace(found, phase="A", waived={index: "W-1"})


def noisy(name: str) -> CaseResult:
    """The control differs from itself, in a place that hides nothing."""
    return replace(equal(name), noise=(Noise(place="events[2] tool_response: display", hides=2),))


def report(*cases: CaseResult, files: Mapping[str, str] | None = None, **facts: Any) -> RunReport:
    """A whole run over these cases."""
    return RunReport(
        control="legacy",
        candidate="adk",
        cases=tuple(sorted(cases, key=lambda case: case.cassette)),
        planned=len(cases),
        versions={"code": "0123456789ab", "google-adk": "2.13.0"},
        files=files or {},
        waivers=(WaiverStatus(id="W-1", state="used", count=1, max_count=3),),
        **facts,
    )


def several(folder: Path) -> RunReport:
    """One of each: divergent twice (one hostile), waived, noisy, undecided, and at parity."""
    cassette = folder / "cassettes" / "text" / "hostile.yaml"
    cassette.parent.mkdir(parents=True, exist_ok=True)
    cassette.write_text(f"format: 1\nscript: |\n  {HOSTILE}\n", "utf-8")
    return report(
        divergent("text/hostile", HOSTILE),
        divergent("tools/read"),
        half_waived("tools/half"),
        waived("tools/accepted"),
        noisy("tools/noisy"),
        CaseResult.undecided("abort/wait", f"legacy could not go on: {HOSTILE}"),
        equal("tools/alike"),
        equal("text/alike"),
        files={"text/hostile": str(cassette)},
    )
