from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services.plans import with_plans
from services.settings import Settings
from services.state import CoreEvent, CoreEvents, UserFeedback
from services.workspace import Workspace


@dataclass
class Opened:
    """A workspace as a session opens it, and what the user was shown."""

    root: Path
    events: CoreEvents = field(default_factory=CoreEvents)
    shown: list[CoreEvent] = field(default_factory=list)

    def workspace(self, directory: str | None = None, *, enabled: bool = True) -> Workspace:
        self.events.subscribe(self.shown.append)
        settings = Settings(plan_directory=directory, plan_enabled=enabled)
        plain = Workspace.at(self.root / "ws", self.root / "home")
        plain.root.mkdir(exist_ok=True)
        return with_plans(plain, "s", settings, self.events)


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened(tmp_path)


def test_plans_are_among_the_files_of_the_session(opened: Opened) -> None:
    workspace = opened.workspace()
    assert workspace.plans("s") == opened.root / "home/.gemini/tmp/ws/s/plans"
    assert workspace.folders == (workspace.root,)


@pytest.mark.contract("P-264")
def test_plans_of_an_earlier_run_are_searched_too(opened: Opened) -> None:
    plans = opened.root / "home/.gemini/tmp/ws/s/plans"
    plans.mkdir(parents=True)
    assert opened.workspace().folders == (opened.root / "ws", plans)
    assert opened.workspace(enabled=False).folders == (opened.root / "ws",)


@pytest.mark.parametrize("directory", ["docs/plans", "./docs/x/../plans", "{root}/ws/docs/plans"])
def test_settings_name_a_folder_of_the_workspace(opened: Opened, directory: str) -> None:
    workspace = opened.workspace(directory.format(root=opened.root))
    assert workspace.plans("s") == workspace.plans("t") == workspace.root / "docs/plans"
    assert opened.shown == []


@pytest.mark.parametrize("directory", ["../elsewhere", "/", "link/plans", "ring/plans", "a\0b"])
def test_a_folder_outside_of_the_workspace_is_reported_and_not_used(
    opened: Opened, directory: str
) -> None:
    root = opened.root / "ws"
    root.mkdir()
    (root / "link").symlink_to(opened.root)
    (root / "ring").symlink_to(root / "ring")

    workspace = opened.workspace(directory)

    assert workspace.plans("s") == opened.root / "home/.gemini/tmp/ws/s/plans"
    [report] = opened.shown
    assert isinstance(report, UserFeedback)
    assert report.severity == "warning"
    assert report.message.startswith("Invalid custom plans directory: ")
    assert report.message.endswith("Falling back to default project temp directory.")


def test_the_report_names_the_folder_and_the_workspace(opened: Opened) -> None:
    opened.workspace("../elsewhere")
    assert opened.shown == [
        UserFeedback(
            severity="warning",
            message="Invalid custom plans directory: Custom plans directory '../elsewhere' "
            f"resolves to '{opened.root}/elsewhere', which is outside the project root "
            f"'{opened.root}/ws'.. Falling back to default project temp directory.",
        )
    ]
