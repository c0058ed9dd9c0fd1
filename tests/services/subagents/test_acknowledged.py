from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.subagents.acknowledged import AcknowledgedAgents
from services.workspace import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


def test_an_acknowledgment_is_for_one_name_hash_and_project(place: Workspace) -> None:
    AcknowledgedAgents(place).add("a", "h1")
    elsewhere = Workspace(root=place.root.parent / "other", home=place.home)

    again = AcknowledgedAgents(place)

    assert again.knows("a", "h1")
    assert not again.knows("a", "h2")
    assert not again.knows("b", "h1")
    assert not AcknowledgedAgents(elsewhere).knows("a", "h1")


def test_the_file_is_upstreams(place: Workspace) -> None:
    AcknowledgedAgents(place).add("a", "h")

    file = place.home / ".gemini" / "acknowledgments" / "agents.json"
    assert file.read_text() == f'{{\n  "{place.root}": {{\n    "a": "h"\n  }}\n}}'
    assert [path.name for path in file.parent.iterdir()] == ["agents.json"]


def test_agents_acknowledged_in_another_session_stay(place: Workspace) -> None:
    one, other = AcknowledgedAgents(place), AcknowledgedAgents(place)
    assert not one.knows("b", "h")
    other.add("b", "h")

    one.add("a", "h")

    assert one.knows("b", "h")
    assert AcknowledgedAgents(place).knows("b", "h")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"%s": 5}', "[" * 100_000, "\xff"])
def test_an_unusable_file_counts_as_empty(place: Workspace, content: str) -> None:
    known = AcknowledgedAgents(place)
    known.file.parent.mkdir(parents=True)
    known.file.write_text(content.replace("%s", str(place.root)), encoding="latin-1")

    assert not known.knows("a", "h")
    known.add("a", "h")
    assert json.loads(known.file.read_text())[str(place.root)] == {"a": "h"}


def test_without_a_writable_file_an_acknowledgment_lasts_for_the_session(place: Workspace) -> None:
    place.home.mkdir()
    (place.home / ".gemini").write_text("in the way")
    known = AcknowledgedAgents(place)

    known.add("a", "h")

    assert known.knows("a", "h")
