"""Secrets of every kind, also cut by streams, through everything that a run leaves behind."""

import base64
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.errors import LoadProblem
from harness.experiment.backend import Backend, LoadedCassette
from harness.experiment.shareable import compared_without_secrets
from harness.json_lines import JsonLines
from harness.parity.compare import compare_repeated
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers, WaiverStatus
from harness.replay.observation import Observation
from harness.replay.request_log import RequestLog
from harness.report.model import RunReport
from harness.report.settled import settled_report
from harness.report.tally import Tally
from harness.signoff.reading import parse_statement
from harness.signoff.statement import payload_of
from harness.timeline.model import Moment, MomentKind, Row, Timelines, pack, unpack
from services.redaction import MASK
from services.state import RetryAttempt
from tests.harness.report.journals import HEADER
from tests.harness.report.test_hostile import WRITERS
from tests.harness.samples import BACKEND, Facts, ask, model, observation, user, write_corpus
from tests.harness.signoff.signed import sign_off
from tests.services.redaction.specimens import GOOGLE, SECRETS

SPOKEN = " and ".join(frame.format(secret) for _, frame, secret in SECRETS.values())
PIECE = 7
"""Characters of a delta, as models stream them."""
WINDOW = 6
"""So many characters of a secret in a row are a piece of it."""


def pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def leaks(text: str) -> set[str]:
    """The kinds of secrets that have a piece in `text`."""
    found = set()
    for name, (_, _, secret) in SECRETS.items():
        words = [secret[at : at + WINDOW] for at in range(len(secret) - WINDOW + 1)]
        if any(word in text for word in words if not word.isspace()):
            found.add(name)
    return found


def delta(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "streamId": "s0",
        "role": "agent",
        "content": [{"type": "text", "text": text}],
    }


def secretive(runtime: str, name: str, spoken: str = SPOKEN) -> Observation:
    """A run that has them in every channel; the candidate says one word more each time."""
    more = "" if runtime == "legacy" else " well,"
    seen = observation(runtime, name=name)
    log = RequestLog(seen.paths)
    said = model(f"{spoken}{more}")
    contents = [user(f"q{more}{spoken}"), said, user("and")]
    log.observe("generateContentStream", ask(contents[:1]))
    log.observe("generateContentStream", ask(contents))
    deltas = [delta(f"so{more} "), *map(delta, pieces(spoken)), delta(f" that{more}")]
    events = [*seen.events[:3], *deltas, *seen.events[3:]]
    return replace(
        seen,
        events=events,
        requests=log.requests,
        transcript=contents,
        recording={"a.jsonl": [{"type": "gemini", "content": [{"text": f"{spoken}{more}"}]}]},
        retries=[
            RetryAttempt(
                attempt=1, max_attempts=2, delay_ms=5.0, error=f"E {spoken}{more}", model="m"
            )
        ],
        side_events=[{"event": "model-changed", "model": f"{spoken}{more}"}],
        workspace_changes={f"{spoken}.txt": f"{spoken}{more}"},
        notes=[f"no step: {spoken}{more}"],
        error=f"it ended: {spoken}{more}",
    )


def run(cassette: LoadedCassette, runtime: str) -> Observation:
    if "crash" in cassette.name:
        raise RuntimeError(f"no such key: {SPOKEN}")
    if "apart" in cassette.name:
        # Nothing but the secrets differs, and those in length and shape do not.
        return secretive("legacy", cassette.name, SPOKEN if runtime == "legacy" else other(SPOKEN))
    return secretive(runtime, cassette.name)


def other(text: str) -> str:
    return text.replace("4b", "5c").replace("9f8e", "1a2b").replace("karlotta", "leopolda")


STAND_IN: Backend = replace(BACKEND, run=run)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    text = f"note: {SPOKEN}\n"
    return write_corpus(tmp_path / "in", a__differs=text, a__apart=text, a__crash=text)


def invoke(*words: object) -> Result:
    asked = [str(word) for word in words]
    return CliRunner().invoke(parity, asked, obj=STAND_IN, prog_name="parity")


def inside(text: str) -> Iterator[str]:
    """What is packed in a text: zlib in base64, as pages and journals keep details."""
    for packed in re.findall(r'"(eJ[A-Za-z0-9+/=]{20,})"', text):
        yield zlib.decompress(base64.b64decode(packed)).decode()


def all_texts(files: Iterable[Path]) -> dict[str, str]:
    shown = {file.name: file.read_text("utf-8") for file in files}
    packed = {f"in {name}": "\n".join(inside(text)) for name, text in shown.items()}
    return {**shown, **packed}


def test_no_file_of_a_run_holds_a_piece_of_a_secret(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(out / "step.md"))
    options = [
        *("--journal", out / "journal.jsonl", "--json", out / "report.json"),
        *("--junit", out / "junit.xml", "--summary", out / "comment.md"),
        *("--html", out / "page", "--github"),
    ]

    result = invoke("run", corpus, *options)

    shown = all_texts(file for file in out.rglob("*") if file.is_file())
    assert result.exit_code == 1, result.output
    assert set(shown) >= {
        *("journal.jsonl", "report.json", "junit.xml", "comment.md", "step.md", "index.html")
    }
    assert {name: leaks(text) for name, text in shown.items() if leaks(text)} == {}
    assert leaks(result.output) == set()
    plain = {name for name, text in shown.items() if MASK not in text}
    assert plain == {"in comment.md", "in step.md", "in junit.xml"}, "of those nothing is packed"
    assert all(len(shown[f"in {name}"]) > 1000 for name in ("index.html", "journal.jsonl"))
    assert MASK in result.output

    again = invoke("report", "--journal", out / "journal.jsonl")
    assert again.exit_code == 1, again.output
    assert leaks(again.output) == set()
    assert "a/apart" in again.output


def test_traces_and_baselines_hold_none_and_baselines_stay_comparable(
    corpus: Path, tmp_path: Path
) -> None:
    traced = invoke("trace", corpus, "-k", "not crash", "--runtime", "adk", "--out", tmp_path / "t")
    single = invoke("trace", corpus / "a" / "differs.yaml", "--runtime", "adk")
    kept = invoke(
        "baseline", corpus, "-k", "not crash", "--runtime", "adk", "--out", tmp_path / "b"
    )

    shown = all_texts([*(tmp_path / "t").rglob("*.json"), *(tmp_path / "b").rglob("*.json")])
    assert (traced.exit_code, single.exit_code, kept.exit_code) == (0, 0, 0), kept.output
    assert len(shown) == 4
    assert {name: leaks(text) for name, text in shown.items() if leaks(text)} == {}
    assert leaks(single.output) == set()
    document = json.loads((tmp_path / "t" / "a" / "differs.json").read_text())
    spoken = "".join(
        part["text"]
        for event in document["events"]
        for part in event.get("content") or ()
        if event["type"] == "message"
    )
    assert "my key is REDACTEDxxx" in spoken
    assert "git: REDACTEDxxx" in spoken

    check = ["baseline", corpus, "-k", "not crash", "--runtime", "adk", "--out", tmp_path / "b"]
    assert invoke(*check, "--check").exit_code == 0
    same = invoke("run", corpus, "-k", "differs", "--control", f"baseline:{tmp_path / 'b'}")
    assert same.exit_code == 0, same.output


def _held_cases() -> tuple[CaseResult, ...]:
    """Results that no worker has cleaned, as from a journal of another build."""
    found = Divergence(
        cassette="a/b",
        channel=ChannelName.EVENTS,
        kind=Kind.CHANGED,
        label=SPOKEN,
        control_index=0,
        candidate_index=0,
        path=SPOKEN,
        control=SPOKEN,
        candidate={SPOKEN: [SPOKEN]},
    )
    row = Row(
        kind=MomentKind.EVENT,
        control=Moment(index=0, line=SPOKEN, fields={"text": SPOKEN}),
        candidate=None,
        divergences=(0,),
    )
    return (
        CaseResult(
            cassette="a/b",
            divergences=(found,),
            runtimes=("legacy", SPOKEN),
            contract=(SPOKEN,),
            timelines=pack(Timelines(rows=(row,), first=0)),
        ),
        CaseResult(cassette="a/c", remarks=(SPOKEN,)),
        CaseResult.undecided("a/d", SPOKEN),
    )


def _held() -> RunReport:
    """A report of such results."""
    return RunReport(
        control="legacy",
        candidate="adk",
        cases=_held_cases(),
        planned=4,
        problems=(LoadProblem(file=SPOKEN, message=SPOKEN),),
        versions={"code": SPOKEN},
        waivers=(WaiverStatus(id=SPOKEN, state="expired", count=1, max_count=1),),
    )


@pytest.mark.parametrize("writer", WRITERS)
def test_no_writer_shows_what_a_result_still_holds(writer: str) -> None:
    write, _ = WRITERS[writer]

    text = write(_held())

    shown = "\n".join([text, *inside(text)])
    # The terminal shows the user's own paths; files never hold them.
    homes = {"home", "mac_home", "windows_home"} if writer == "terminal" else set()
    assert leaks(shown) <= homes
    assert MASK in shown


def test_a_journal_keeps_none_of_what_a_result_still_holds(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"

    class Lines(JsonLines):
        def write(self, case: CaseResult) -> None:
            self._write({**case.to_json(), "timelines": ""})

    with Lines(file.open("w", encoding="utf-8")) as journal:
        for case in _held().cases:
            journal.write(case)

    assert leaks(file.read_text("utf-8")) == set()
    assert file.read_text("utf-8").count("\n") == 3


def test_a_journals_results_are_cleaned_and_those_of_workers_once() -> None:
    held = _held_cases()[0]
    fresh = replace(held, cassette="a/fresh")
    disguised = replace(held, cassette="http/a/twin")
    results = {"a/b": held, "a/fresh": fresh, "a/twin": disguised, "http/a/twin": disguised}

    report = settled_report(
        HEADER,
        Tally(results, fresh={"a/fresh", "http/a/twin"}),
        Waivers(as_of=date(2026, 1, 1)),
        given=4,
    )

    timelines = {case.cassette: case.timelines for case in report.cases}
    assert timelines.pop("a/fresh") == held.timelines
    assert [leaks(json.dumps(unpack(each).to_json())) for each in timelines.values()] == [set()] * 2
    shown = [{**case.to_json(), "timelines": ""} for case in report.cases]
    assert leaks(json.dumps(shown)) == set()


def test_a_crash_of_the_harness_shows_no_secret(corpus: Path) -> None:
    result = invoke("run", corpus, "-k", "crash", "--json", "-")

    assert leaks(result.output) == set()


def _judged(control: Observation, candidate: Observation) -> CaseResult:
    facts = Facts(name=control.name)
    return compared_without_secrets(
        lambda these, those: compare_repeated(these, those, facts), [control], [candidate]
    )


def test_a_result_is_judged_with_its_secrets_and_described_without() -> None:
    control, candidate = secretive("legacy", "a/b"), secretive("adk", "a/b")
    plain = compare_repeated([control], [candidate], Facts(name="a/b"))

    shown = _judged(control, candidate)

    assert shown.digests == plain.digests
    assert [(each.channel, each.kind, each.control_index) for each in shown.divergences] == [
        (each.channel, each.kind, each.control_index) for each in plain.divergences
    ]
    assert leaks(json.dumps(plain.to_json())) != set()
    assert leaks(json.dumps(shown.to_json())) == set()
    assert leaks(json.dumps(unpack(shown.timelines).to_json())) == set()


def test_runs_that_differ_in_nothing_but_a_secret_still_differ() -> None:
    control, candidate = secretive("legacy", "a/b"), secretive("legacy", "a/b", other(SPOKEN))

    shown = _judged(control, replace(candidate, runtime="adk"))

    assert shown.open
    assert leaks(json.dumps(shown.to_json())) == set()
    assert "leopol" not in json.dumps(shown.to_json())


def test_a_result_without_secrets_is_the_one_that_was_judged() -> None:
    control, candidate = observation("legacy"), observation("adk", call="other_1_0")
    events = [*candidate.events, delta(GOOGLE[:5])]
    results: list[CaseResult] = []

    def compare(these: Any, those: Any) -> CaseResult:
        results.append(compare_repeated(these, those, Facts()))
        return results[-1]

    shown = compared_without_secrets(compare, [control], [replace(candidate, events=events)])

    assert shown is results[0]
    assert len(results) == 1
    assert shown.open


def test_a_signed_record_holds_none_and_reads_back() -> None:
    statement = sign_off(not_said=(SPOKEN,), environment={"python": SPOKEN}, signer="alice")

    signed = payload_of(statement)

    assert leaks(signed.decode()) == set()
    assert MASK in signed.decode()
    assert payload_of(parse_statement(signed)) == signed
