from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.policy.saved import SavedAnswers
from services.policy.updates import UpdatePolicy
from services.state import ApprovalMode, CoreEvent, CoreEvents, UserFeedback
from services.workspace import Workspace


class Saved:
    def __init__(self, folder: Path) -> None:
        self.emitted: list[CoreEvent] = []
        events = CoreEvents()
        events.subscribe(self.emitted.append)
        workspace = Workspace.at(folder / "ws", folder / "home")
        self.user = workspace.home / ".gemini/policies/auto-saved.toml"
        self.workspace = workspace.root / ".gemini/policies/auto-saved.toml"
        self._answers = SavedAnswers(workspace=workspace, events=events)

    def save(self, tool_name: str, **more: Any) -> None:
        given = {"persist_scope": "user", **more}
        self._answers.save(UpdatePolicy(tool_name=tool_name, **given))

    @property
    def feedback(self) -> list[tuple[str, str]]:
        return [(e.severity, e.message) for e in self.emitted if isinstance(e, UserFeedback)]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    return Saved(tmp_path)


@pytest.mark.contract("P-191")
def test_an_answer_is_written_as_upstream_writes_it(saved: Saved) -> None:
    modes = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO)

    saved.save("run_shell_command", command_prefix=["git", 'say "x"'], modes=modes)
    saved.save("mcp_srv_read", mcp_name="srv", modes=(ApprovalMode.YOLO,))
    saved.save("web_fetch", args_pattern='"a"', allow_redirection=True)

    assert saved.user.read_text() == (
        "[[rule]]\n"
        'decision = "allow"\n'
        "priority = 950\n"
        'toolName = "run_shell_command"\n'
        'commandPrefix = [ "git", "say \\"x\\"" ]\n'
        'modes = [ "default", "autoEdit", "yolo" ]\n'
        "\n"
        "[[rule]]\n"
        'decision = "allow"\n'
        "priority = 950\n"
        'toolName = "read"\n'
        'mcpName = "srv"\n'
        'modes = [ "yolo" ]\n'
        "\n"
        "[[rule]]\n"
        'decision = "allow"\n'
        "priority = 950\n"
        'toolName = "web_fetch"\n'
        "argsPattern = '\"a\"'\n"
        "allowRedirection = true\n"
    )
    assert list(saved.user.parent.iterdir()) == [saved.user]


def test_the_same_answer_again_renews_its_rule(saved: Saved) -> None:
    saved.save("t", modes=(ApprovalMode.YOLO,))
    saved.save("t", modes=(ApprovalMode.DEFAULT, ApprovalMode.YOLO))

    text = saved.user.read_text()
    assert text.count("[[rule]]") == 1
    assert 'modes = [ "default", "yolo" ]' in text


def test_a_workspaces_answers_are_kept_in_it(saved: Saved) -> None:
    saved.save("t", persist_scope="workspace")

    assert saved.workspace.exists()
    assert not saved.user.exists()


def test_a_file_that_is_no_toml_is_put_aside(saved: Saved) -> None:
    saved.user.parent.mkdir(parents=True)
    saved.user.write_text("x = ")

    saved.save("t")

    assert Path(f"{saved.user}.bak").read_text() == "x = "
    assert 'toolName = "t"' in saved.user.read_text()
    assert saved.feedback == [
        (
            "warning",
            (
                "Syntax error found in policy file. Backing up corrupted file to "
                f"{saved.user}.bak and starting fresh."
            ),
        )
    ]


def test_a_file_with_an_array_of_several_types_is_put_aside(saved: Saved) -> None:
    saved.user.parent.mkdir(parents=True)
    saved.user.write_text('a = [1, "x"]\n')

    saved.save("t")

    assert Path(f"{saved.user}.bak").read_text() == 'a = [1, "x"]\n'
    assert saved.user.read_text().startswith("[[rule]]\n")


def test_a_file_whose_rules_are_numbers_stays_as_it_is(saved: Saved) -> None:
    saved.user.parent.mkdir(parents=True)
    saved.user.write_text("rule = [1, 2]\n")

    saved.save("t")

    assert saved.user.read_text() == "rule = [1, 2]\n"
    assert saved.feedback == [
        ("error", "Failed to persist policy for t: Array values can't have mixed types")
    ]


def test_what_else_a_file_holds_is_kept(saved: Saved) -> None:
    saved.user.parent.mkdir(parents=True)
    saved.user.write_text("[[safety_checker]]\npriority = 1000\n")

    saved.save("t")

    assert saved.user.read_text().startswith("[[safety_checker]]\npriority = 1_000\n\n[[rule]]\n")


def test_a_failure_is_emitted(saved: Saved) -> None:
    saved.user.mkdir(parents=True)

    saved.save("t")

    ((severity, message),) = saved.feedback
    assert severity == "error"
    assert message.startswith("Failed to persist policy for t: EISDIR: ")
