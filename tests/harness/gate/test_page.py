"""The gate's answer as a page of its own, and on the page of a run beside it."""

import json
import os
from dataclasses import replace
from pathlib import Path

from harness.gate.answer import GateAnswer
from harness.gate.evidence import Evidence
from harness.gate.page import answer_file, gate_html, gates_beside
from harness.gate.plan import plan_of
from harness.report.html import html_report
from tests.harness.gate.green import inventory, kills, spoiled, world
from tests.harness.gate.spoils import OTHER, dropped, has
from tests.harness.report.pages import equal, report

COMPONENTS = inventory().digests


def judged(folder: Path, *, without: str = "", profile: str = "pull_request") -> GateAnswer:
    made = spoiled(dropped(without)) if without else world()
    made.profile = profile
    return made.judged(folder / f"evidence-{without}")


def left(answer: GateAnswer, folder: Path, when: int = 1, name: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name if name else answer_file(folder, answer.phase, answer.profile)
    file.write_text(json.dumps(answer.to_json()))
    os.utime(file, (when, when))
    return file


def page_with(folder: Path, components: dict[str, str] = COMPONENTS) -> str:
    return html_report(replace(report(equal("a/one")), gates=gates_beside(folder, components)))


def test_a_report_shows_the_answer_that_lies_beside_it(tmp_path: Path) -> None:
    left(judged(tmp_path, without="adk"), tmp_path / "out")

    page = page_with(tmp_path / "out")

    assert "it is not known whether phase A may be switched on" in page
    assert "parity measure --phase A --profile pull_request" in page
    assert "Not of this run" not in page


def test_a_report_without_an_answer_shows_none(tmp_path: Path) -> None:
    assert 'class="gate"' not in page_with(tmp_path)


def test_an_answer_about_something_else_than_the_run_says_so(tmp_path: Path) -> None:
    left(judged(tmp_path), tmp_path / "out")

    page = page_with(tmp_path / "out", inventory(services=OTHER).digests)

    assert "Not of this run.</strong> The gate was judged with other services." in page


def test_of_two_answers_to_one_question_the_newer_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    left(judged(tmp_path, without="adk"), folder, when=2, name="gate-A.json")
    left(judged(tmp_path), folder, when=1)

    (shown,) = gates_beside(folder, COMPONENTS)

    assert shown["answer"] == "unknown"


def test_what_is_called_like_an_answer_and_is_none_is_left_alone(tmp_path: Path) -> None:
    names = ("gate-x.json", "gate-y.json", "gate-z.json")
    for name, text in zip(names, ("[" * 10_000, '{"gate": 1}', "no json"), strict=True):
        (tmp_path / name).write_text(text)
    (tmp_path / "gate-folder.json").mkdir()

    assert gates_beside(tmp_path, COMPONENTS) == ()


def test_the_page_names_what_is_measured_and_how_long_it_takes(tmp_path: Path) -> None:
    made = spoiled(has(kills=None))
    answer = made.judged(tmp_path)
    plan = plan_of([reason.measure for reason in answer.reasons if reason.measure], Evidence(), 1)

    page = gate_html(answer, "non-interactive", "gates.toml", plan, "parity measure --phase A")

    assert "about 20s: seeded faults (4 faults)" in page
    assert "about 20s in total (an estimate)" in page
    assert "Not of this run" not in page
    assert "parity faults cassettes --corpus-only" in page


def test_secrets_of_evidence_are_not_on_the_page(tmp_path: Path) -> None:
    secret = "AIza" + "x1Y2z3" * 6
    made = world()
    made.change_case("adk", "a/one", blockers=(f"the key {secret[:39]} is refused",))
    made.kills = kills()

    page = gate_html(made.judged(tmp_path), "t", "s", [], "")

    assert "is refused" in page
    assert secret[:39] not in page
