"""Evidence: the content of a file decides what it is; other files become remarks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.gate.evidence import read_evidence
from tests.harness.gate.green import NAMES, fault, kills, result, sample, world

WRONG_KILLS: dict[str, Mapping[str, Any]] = {
    "another format": {"kills": 1},
    "a count as text": {"planned": "8"},
    "a fault twice": {"faults": [fault(1), fault(1)], "planned": 2},
    "an unknown outcome": {"faults": [fault(1, outcome="fine")]},
    "a fault without a class": {"faults": [{"name": "x"}]},
    "a count that is none": {"planned": -1},
    "nothing of what was measured": {"conditions": {"measured": {}}},
    "digests that are none": {
        "conditions": {
            "measured": {"asOf": "2026-03-01", "components": {"harness": 3}, "environment": {}}
        }
    },
    "a day that is none": {
        "conditions": {"measured": {"asOf": "soon", "components": {}, "environment": {}}}
    },
}
WRONG_SAMPLES: dict[str, Mapping[str, Any]] = {
    "another format": {"generation": 7},
    "findings and a clean verdict": {"findings": [{"fingerprint": "f"}]},
    "a negative count": {"drawn": -3},
    "a fractional count": {"drawn": 3.5},
    "an unknown verdict": {"verdict": "fine"},
    "an unknown way": {"way": "guess"},
}


def test_a_folder_may_hold_all_of_it_and_more(tmp_path: Path) -> None:
    world().write(tmp_path)
    (tmp_path / "index.html").write_text("<html>")
    (tmp_path / "report.json").write_text('{"format": 1}')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "deeper").mkdir()

    evidence = read_evidence([tmp_path])

    assert sorted(run.file.name for run in evidence.legs) == [
        "adk.jsonl",
        "back.jsonl",
        "core.jsonl",
    ]
    assert [run.file.name for run in evidence.kills] == ["kills.json"]
    assert [run.drawn for run in evidence.samples] == [120]
    (remark,) = evidence.remarks
    assert "no evidence: empty.jsonl, index.html, report.json" in remark


def test_an_answer_that_was_left_beside_its_evidence_is_no_stray_file(tmp_path: Path) -> None:
    answer = world().judged(tmp_path)
    (tmp_path / "gate-A-pull_request.json").write_text(json.dumps(answer.to_json(), indent=1))

    assert read_evidence([tmp_path]).remarks == ()


def test_places_can_be_named_one_by_one(tmp_path: Path) -> None:
    world().write(tmp_path)

    evidence = read_evidence([tmp_path / "adk.jsonl", tmp_path / "kills.json"])

    assert (len(evidence.legs), len(evidence.kills), len(evidence.samples)) == (1, 1, 0)


@pytest.mark.parametrize("wrong", WRONG_KILLS)
def test_a_kill_matrix_that_is_none_is_refused_where_it_is_named(
    wrong: str, tmp_path: Path
) -> None:
    file = tmp_path / "kills.json"
    file.write_text(json.dumps(kills(**WRONG_KILLS[wrong])))

    with pytest.raises(UsageError, match=r"kills\.json: .*measure it anew"):
        read_evidence([file])


@pytest.mark.parametrize("wrong", WRONG_SAMPLES)
def test_a_summary_that_is_none_is_refused_where_it_is_named(wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "sample.json"
    file.write_text(json.dumps(sample(**WRONG_SAMPLES[wrong])))

    with pytest.raises(UsageError, match=r"sample\.json: .*measure it anew"):
        read_evidence([file])


@pytest.mark.parametrize(
    "text", ['{"kills": 2', '{"kills": ' + "[" * 5000, '{"generation": 1}', '{"kills": 2}\n{}']
)
def test_a_truncated_file_is_a_remark_in_a_folder_and_refused_by_name(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "kills.json"
    file.write_text(text)

    evidence = read_evidence([tmp_path])

    assert (evidence.kills, evidence.samples) == ((), ())
    assert evidence.remarks[0].startswith("left out: ")
    with pytest.raises(UsageError):
        read_evidence([file])


def test_a_journal_that_was_tampered_with_is_left_out_by_name(tmp_path: Path) -> None:
    world().write(tmp_path)
    file = tmp_path / "adk.jsonl"
    lines = file.read_text().splitlines()
    lines[4] = lines[4].replace('"finished"', '"finnished"')
    file.write_text("\n".join(lines) + "\n")

    evidence = read_evidence([tmp_path])

    assert [run.file.name for run in evidence.legs] == ["back.jsonl", "core.jsonl"]
    assert any("adk.jsonl" in remark for remark in evidence.remarks)


def test_a_place_that_is_not_there_or_nothing_of_this_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        read_evidence([tmp_path / "gone"])
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(UsageError, match="is not a journal, a kill matrix, a sample"):
        read_evidence([tmp_path / "x.txt"])


def test_of_a_baseline_the_runtime_counts_that_it_was_made_of(tmp_path: Path) -> None:
    made = world()
    made.legs["core"].control = "baseline:kept"
    made.write(tmp_path)

    (run,) = read_evidence([tmp_path / "core.jsonl"]).legs

    assert (run.control, run.candidate, run.baselines) == ("upstream", "legacy", ("baseline:kept",))


def test_baselines_of_two_runtimes_stand_for_none(tmp_path: Path) -> None:
    made = world()
    made.legs["core"].control = "baseline:kept"
    made.legs["core"].results[NAMES[0]] = result(NAMES[0], ("legacy", "legacy"))
    made.write(tmp_path)

    (run,) = read_evidence([tmp_path / "core.jsonl"]).legs

    assert run.control == ""


def test_recorded_traffic_that_calls_itself_by_its_family_is_read_back(tmp_path: Path) -> None:
    made = world()
    made.legs["adk"].results["a/one"] = result("http/a/one", ("legacy", "adk"))
    made.write(tmp_path)

    (run,) = read_evidence([tmp_path / "adk.jsonl"]).legs

    assert run.record.missing == ()
    assert run.record.finished["a/one"].cassette == "http/a/one"
