"""One report in which everything that a stranger can put there tries to get out of its place."""

from typing import Final

from harness.coverage.contract import Contract
from harness.errors import LoadProblem
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.provider import CommittedBy, CommittedFinding
from harness.parity.verdict import CaseResult, Noise
from harness.parity.waivers import WaiverStatus
from harness.provider.rules import ProviderFinding
from harness.report.model import RunReport
from harness.timeline.model import Moment, MomentKind, Row, Timelines, pack

SHOWN: Final = "seen,by::users"
"""Stands in every hostile text: a writer that drops it hides what it should show."""

HOSTILE: Final[dict[str, str]] = {
    "html": "</script></style><script>window.hacked=1</script><img src=x onerror=hack()>",
    "attribute": "\" onmouseover='hack()' x=\"",
    "template": "{{ 7 * 7 }} {% raw %} ${7*7} <!-- not -- closed",
    "ansi": "\x1b[31mred\x1b[0m\x1b[2J \x9b31m \x07",
    "link": "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
    "bidi": "\u202ekcab\u202c \u2066iso\u2069 \u200f\u061c",
    "unseen": "\u200bzero\u200dwidth\ufeff\u00ad",
    "control": "\x00\x01\x08\x0b\x0c\x7f\x85",
    "lines": "one\ntwo\r\nthree\rfour\u2028five\u2029six",
    "surrogate": "half \ud83d and \udc00",
    "command": "\n::error file=x,line=1::hacked\n  ::add-mask::a\n::set-output name=a::b",
    "old_command": "##[error]hacked ##[add-path]/tmp",
    "escapes": "%0A::error::hacked%0D%25",
    "fence": "```\n````````\n~~~\n    indented\n\n# head",
    "table": "a | b |\n| --- | --- |\n| \\| | `|` |",
    "inline": "`a` ``b`` *c* _d_ ~~e~~ [f](javascript:hack()) ![g](https://evil.example/x.png) $h$",
    "mention": "@everyone #1 GH-2 https://evil.example/ www.evil.example <hack@evil.example>",
    "reference": "[x]: https://evil.example\n[x] [^1] &lt;b&gt; &#60;",
    "cdata": "]]> <![CDATA[ <?xml?> <!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]> &b;",
    "markup": "[red]rich[/red] [/] [link=https://evil.example]x[/link]",
    "formula": "=HYPERLINK(1) \\\\ %s %n {0} {} \\u202e",
}
"""What each tries."""


def hostile(name: str) -> str:
    """One of them, with the word that must be shown at both ends."""
    return f"{SHOWN} {HOSTILE[name]} {SHOWN}"


EVERYTHING: Final = " ".join(map(hostile, HOSTILE)) + " " + "long" * 20_000


def hostile_report() -> RunReport:
    """A report of cases that diverge, cannot be decided, agree, or could not be loaded."""
    cases = [_divergent(name) for name in HOSTILE]
    cases += [
        CaseResult.undecided(f"::error::{name}/::warning::x", hostile(name)) for name in HOSTILE
    ]
    cases += [
        CaseResult(cassette=f"fine/{hostile(name)}", remarks=(hostile(name),), phase="A")
        for name in HOSTILE
    ]
    cases.append(CaseResult(cassette="../../../../outside", blockers=(EVERYTHING,)))
    return RunReport(
        control=f"legacy{HOSTILE['html']}",
        candidate=f"adk{HOSTILE['command']}",
        cases=tuple(sorted(cases, key=lambda case: case.cassette)),
        problems=tuple(
            LoadProblem(file=f"/etc/{HOSTILE[name]}", message=f"x.yaml: {hostile(name)}")
            for name in HOSTILE
        ),
        waivers=tuple(
            WaiverStatus(id=f"W-{hostile(name)}", state="exceeded", count=2, max_count=1)
            for name in HOSTILE
        ),
        planned=len(cases) + 1,
        versions={hostile(name): hostile(name) for name in HOSTILE},
        files={case.cassette: f"../../{case.cassette}.yaml" for case in cases},
        options=("--waivers", HOSTILE["command"]),
        contract=Contract(),
    )


def _divergent(name: str) -> CaseResult:
    text = hostile(name)
    cassette = f"{text}/{name}"
    found = tuple(
        Divergence(
            cassette=cassette,
            channel=channel,
            kind=kind,
            label=text,
            control_index=0,
            candidate_index=0,
            path=text,
            control=control,
            candidate=candidate,
        )
        for channel, kind, control, candidate in (
            (ChannelName.REQUESTS, Kind.CHANGED, text, EVERYTHING),
            (ChannelName.EVENTS, Kind.EXTRA, "<absent>", {text: [text]}),
        )
    )
    moment = Moment(index=0, line=text, fields={text: text, "long": EVERYTHING[:5000]})
    rows = (
        Row(kind=MomentKind.REQUEST, control=moment, candidate=moment, divergences=(0,)),
        Row(kind=MomentKind.EVENT, control=None, candidate=moment, divergences=(1,)),
    )
    objection = CommittedFinding(
        request=0,
        finding=ProviderFinding(rule="text-empty", path=text, message=text),
        by=CommittedBy.BOTH,
    )
    return CaseResult(
        cassette=cassette,
        divergences=found,
        remarks=(text,),
        rules={text: 1},
        noise=(Noise(place=text, hides=1),),
        inherited=(objection,),
        phase="A",
        contract=(text,),
        runtimes=(text, text),
        timelines=pack(Timelines(rows=rows, first=0)),
    )
