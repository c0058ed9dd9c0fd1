"""The corpus finds at least nine of ten faults in each form of the worked migrations' agent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.examples.projects import EXAMPLES, FAULTS, examples, forgotten, run

__all__ = ["examples", "forgotten"]

PROJECTS = {"loop": "gemini_to_adk", "adk": "gemini_to_adk", "openai": "gemini_to_openai"}
MISSED = {"adk-other-instruction"}
"""What no comparison of two agents with different prompts can find; the README says so."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_a_fault_has_its_place(fault: dict[str, str]) -> None:
    code = (EXAMPLES / "tea_shop" / fault["file"]).read_text("utf-8")

    assert code.count(fault["before"]) == 1


def form(fault: str) -> str:
    return fault.partition("-")[0]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_a_fault_is_found(
    fault: dict[str, str], examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = examples / "tea_shop" / fault["file"]
    code = file.read_text("utf-8")
    file.write_text(code.replace(fault["before"], fault["after"]), "utf-8")

    done = run(
        examples / PROJECTS[form(fault["id"])], "run", "-x", "--no-keep", monkeypatch=monkeypatch
    )

    assert done.exit_code == (0 if fault["id"] in MISSED else 1), done.output


@pytest.mark.parametrize("name", PROJECTS)
def test_the_readme_has_the_figure(name: str) -> None:
    seeded = [fault["id"] for fault in FAULTS if form(fault["id"]) == name]
    assert len(seeded) == 10
    found = len(seeded) - len(MISSED.intersection(seeded))
    assert found >= 9
    readme = (EXAMPLES / PROJECTS[name] / "README.md").read_text("utf-8")
    assert f"| {name} | {found} of 10 |" in re.sub(r" +", " ", readme)
