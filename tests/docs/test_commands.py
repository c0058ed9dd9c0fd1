"""The pages that users copy commands from: every `parity …` in them is one that there is."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from harness.cli import parity
from tests.docs.shell_blocks import blocks

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    "../README.md",
    *sorted(page.name for page in DOCS.glob("*.md") if blocks(page.read_text("utf-8"))),
]
SENT_ELSEWHERE = re.compile(r"\s*(?:\|\|?|&&|;|\d*[<>]).*")
STAND_INS = (
    (re.compile(r"\$\{\{\s*matrix\.part\s*\}\}"), "1"),
    (re.compile(r"\$\{\{[^}]*\}\}"), "x"),
    (re.compile(r"\$\(\([^)]*\)\)"), "1"),
)


def workflows() -> list[dict[str, Any]]:
    # `on` is a truth value to YAML 1.1, and a key to GitHub.
    text = (DOCS / "ci.md").read_text("utf-8")
    found = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [yaml.load(block, yaml.BaseLoader) for block in found]


def lines(page: str) -> Iterator[str]:
    """The commands of the page's shell blocks, what these print, and the workflows' scripts."""
    for block in blocks((DOCS / page).read_text("utf-8")):
        for command in block.commands:
            yield from (command.text, *command.output)
    if page == "ci.md":
        for workflow in workflows():
            for step in steps(workflow):
                yield from step.get("run", "").replace("\\\n", " ").splitlines()


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def commands(page: str) -> list[str]:
    """Every line that calls `parity`, whole, with something in the place of what is filled in."""
    found, written = [], set()
    for line in lines(page):
        words = line.strip()
        written |= {*re.findall(r"^written: (\S+\.yaml)", words)}
        if words.startswith("parity "):
            for pattern, stand_in in STAND_INS:
                words = pattern.sub(stand_in, words)
            found.append(words)
    asked = {name for words in found for name in re.findall(r"--out (\S+\.yaml|my/\S+)", words)}
    made = asked | written
    # A cassette that the page itself makes is not here yet; `test_shell_blocks.py` and
    # `test_own_agent.py` run it.
    return [words for words in found if "--out" in words or not made & {*words.split()}]


def arguments(command: str) -> list[str]:
    words = shlex.split(command, comments=True)[1:]
    end = next((at for at, word in enumerate(words) if SENT_ELSEWHERE.fullmatch(word)), len(words))
    return words[:end]


@pytest.mark.parametrize("command", [each for page in PAGES for each in commands(page)])
def test_every_command_is_one_that_there_is(command: str) -> None:
    words = arguments(command)
    group: click.Command = parity
    name = "parity"
    while isinstance(group, click.Group):
        name, words = words[0], words[1:]
        found = group.get_command(click.Context(group), name)
        assert found is not None, f"there is no {name}"
        group = found
    with group.make_context(name, words):
        pass


def test_the_pages_hold_the_commands_that_they_are_about() -> None:
    names = {page: {arguments(each)[0] for each in commands(page)} for page in PAGES}

    assert {"report", "run", "bisect", "diff", "history"} <= names["triage.md"]
    assert {"run", "merge", "gate", "sign", "verify", "keygen", "can-flip"} <= names["ci.md"]
    assert {"measure", "gate"} <= names["gate.md"]
    assert {"measure", "keygen", "sign", "verify", "revoke"} <= names["signing.md"]


def test_a_command_that_there_is_not_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        test_every_command_is_one_that_there_is("parity run --no-such-option")


def test_workflows_ask_for_nothing_but_to_read() -> None:
    for workflow in workflows():
        assert workflow["permissions"] == {"contents": "read"}
        assert not any("permissions" in job for job in workflow["jobs"].values())


def test_actions_are_pinned_and_leave_no_credentials_behind() -> None:
    used = [step for workflow in workflows() for step in steps(workflow) if "uses" in step]

    for step in used:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"


def test_no_expression_of_a_stranger_is_put_into_a_script() -> None:
    """What a pull request says of itself, its branch's name too, could be a script."""
    for workflow in workflows():
        for step in steps(workflow):
            inside = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", step.get("run", ""))
            assert all(name.startswith("matrix.") for name in inside), inside


def test_secrets_are_for_the_release_alone_and_on_no_command_line() -> None:
    pull_request, release = workflows()

    assert "secrets." not in str(pull_request)
    assert release["jobs"]["sign"]["environment"] == "release"
    holding = [step for step in steps(release) if "secrets." in str(step)]
    assert len(holding) == 1
    assert "parity" not in holding[0]["run"]


def test_every_job_waits_for_jobs_that_there_are_and_ends() -> None:
    for workflow in workflows():
        for job in workflow["jobs"].values():
            needs = job.get("needs", [])
            waited_for = [needs] if isinstance(needs, str) else needs
            assert set(waited_for) <= set(workflow["jobs"])
            assert int(job["timeout-minutes"]) <= 180


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert "://" in target or (DOCS / page).parent.joinpath(target).is_file(), target
