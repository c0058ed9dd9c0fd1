"""A session begins in one runtime and resumes in another."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from harness.cassette.format import Cassette, Compress, Reset, Send
from harness.cassette.load import build_cassette
from harness.cli import parity
from harness.experiment.backend import real_backend
from harness.experiment.case import CaseTask, Skipped, judge
from harness.faults.catalogue import faults
from harness.faults.force import in_force
from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.replay.handover import script_halves
from harness.replay.runner import run_cassette
from harness.replay.trace import whole_contents
from harness.sides import engines_of
from runtimes.registry import UnknownRuntime

READ = {"functionCall": {"name": "read_file", "args": {"file_path": "a.txt"}}}
PAIRS = [("legacy+legacy", "adk+legacy"), ("adk+adk", "legacy+adk")]


def step(*parts: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}


def cassette(**keys: Any) -> Cassette:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "files": {"a.txt": "alpha"},
        "script": [{"send": "look"}, {"send": "and again"}, {"send": "thanks"}],
        "model": [step(READ), {"text": "alpha it is"}, {"text": "still"}, {"text": "bye"}],
        **keys,
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def handed_over(file: Path, root: Path) -> CaseTask:
    return CaseTask(
        backend=real_backend(),
        name="family/case",
        file=file,
        root=root,
        control="legacy+legacy",
        candidate="adk+legacy",
    )


def prompts(*texts: str) -> list[Send]:
    return [Send(MessageSend(content=(TextPart(text=text),))) for text in texts]


def test_a_script_is_cut_after_the_stream_of_its_middle_prompt() -> None:
    one, two, three = prompts("1", "2", "3")

    assert script_halves([one, Reset(), two]) == ((one,), (Reset(), two))
    assert script_halves([Compress(), one, two, three]) == ((Compress(), one), (two, three))


def test_a_script_of_one_prompt_cannot_be_handed_over() -> None:
    assert script_halves([*prompts("1"), Compress()]) is None


def test_a_side_names_the_runtimes_that_take_turns() -> None:
    assert engines_of("adk+legacy") == ("adk", "legacy")
    assert engines_of("adk") == ("adk",)


def test_the_second_engine_knows_what_was_said_in_the_first() -> None:
    seen = run_cassette(cassette(), "adk+legacy")

    assert seen.error is None
    assert seen.notes == []
    assert seen.unused_steps == []
    resumed = list(whole_contents(seen))[2]
    texts = [part.get("text") for content in resumed for part in content["parts"]]
    assert "look" in texts
    assert "alpha it is" in texts
    assert "and again" in texts
    whole = [path for path, lines in seen.recording.items() if "look" in str(lines)]
    assert len(whole) == 1
    assert "and again" in str(seen.recording[whole[0]])


@pytest.mark.parametrize(("control", "candidate"), PAIRS)
def test_either_engine_may_begin_a_handover(control: str, candidate: str) -> None:
    case = cassette()

    result = compare_repeated([run_cassette(case, control)], [run_cassette(case, candidate)], case)

    assert result.verdict is CaseVerdict.PARITY, result.divergences


def test_an_incomplete_recording_shows_in_the_requests_of_the_other_engine() -> None:
    case = cassette(
        script=[{"send": "look"}, {"send": "and again"}],
        model=[step(READ, READ), {"text": "alpha it is"}, {"text": "bye"}],
    )
    good = run_cassette(case, "legacy+legacy")
    with in_force(faults()["only-last-call-recorded"], "adk+legacy"):
        broken = run_cassette(case, "adk+legacy")

    result = compare_repeated([good], [broken], case)

    assert result.verdict is CaseVerdict.DIVERGENT
    assert any(found.channel == "requests" for found in result.divergences)


def test_what_happens_during_the_second_half_happens_once() -> None:
    seen = run_cassette(
        cassette(
            during=[{"when": {"request": 2}, "do": "abort"}],
            unused=[2, 3],
        ),
        "legacy+adk",
    )

    ends = [event["reason"] for event in seen.events if event["type"] == "agent_end"]
    assert ends == ["completed", "aborted", "completed"]


def test_the_users_answers_continue_after_a_handover() -> None:
    write = {"functionCall": {"name": "write_file", "args": {"file_path": "n", "content": "c"}}}
    seen = run_cassette(
        cassette(
            session={"model": "gemini-2.5-flash", "interactive": True},
            script=[{"send": "one"}, {"send": "two"}],
            answers={"confirmations": ["proceed_once", "cancel"]},
            model=[step(write), {"text": "done"}, step(write), {"text": "no?"}],
            unused=[3],
        ),
        "adk+legacy",
    )

    outcomes = [each["outcome"] for each in seen.side_events if each["event"] == "confirmation"]
    assert outcomes == ["proceed_once", "cancel"]


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(UnknownRuntime, match="absent"):
        run_cassette(cassette(), "adk+absent")


def test_one_prompt_alone_leaves_the_run_with_an_error() -> None:
    seen = run_cassette(cassette(script=[{"send": "look"}], unused=[2, 3]), "adk+legacy")

    assert seen.error is not None
    assert "two prompts" in seen.error


def test_cases_without_a_place_to_hand_over_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "family" / "case.yaml"
    file.parent.mkdir()
    file.write_text(
        "cassette: 1\nname: family/case\nsession: {model: gemini-2.5-flash}\n"
        "script: [{send: x}]\nmodel: [{text: hi}]\n"
    )
    assert isinstance(judge(handed_over(file, tmp_path)), Skipped)


def test_steps_left_over_because_of_the_handover_leave_no_doubt(tmp_path: Path) -> None:
    file = tmp_path / "family" / "case.yaml"
    file.parent.mkdir()
    file.write_text(
        "cassette: 1\nname: family/case\nsession: {model: gemini-2.5-flash}\n"
        "script: [{send: x}, {send: y}]\nmodel: [{text: hi}, {text: ho}, {text: left}]\n"
    )
    result = judge(handed_over(file, tmp_path))

    assert isinstance(result, CaseResult)
    assert result.verdict is CaseVerdict.PARITY


def test_a_corpus_of_single_prompts_cannot_hand_over(tmp_path: Path) -> None:
    file = tmp_path / "family" / "case.yaml"
    file.parent.mkdir()
    file.write_text(
        "cassette: 1\nname: family/case\nsession: {model: gemini-2.5-flash}\n"
        "script: [{send: x}]\nmodel: [{text: hi}]\n"
    )

    sides = ["--control", "legacy+legacy", "--candidate", "adk+legacy"]
    done = CliRunner().invoke(parity, ["run", str(tmp_path), *sides])

    assert done.exit_code == 2
    assert "no cassette has two prompts" in done.stderr


def test_three_engines_are_too_many(tmp_path: Path) -> None:
    done = CliRunner().invoke(parity, ["run", str(tmp_path), "--candidate", "adk+legacy+adk"])

    assert done.exit_code == 2
    assert "more than two runtimes" in done.stderr
