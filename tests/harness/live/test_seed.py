"""What a recording takes along of the agents that a person has defined."""

from pathlib import Path

import pytest

from harness.live.secrets import Scrubber
from harness.live.seed import Seed, read_home, read_seed
from services.workspace import Workspace

PLAIN = "---\nname: helper\ndescription: d\n---\nYou help.\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


def seed_of(workspace: Workspace, place: str, text: str) -> Seed:
    root = workspace.home if place == "home" else workspace.root
    folder = root / ".gemini" / "agents"
    folder.mkdir(parents=True)
    (folder / "helper.md").write_text(text)
    read = read_home if place == "home" else read_seed
    return read(root, Scrubber({}, workspace))


@pytest.mark.parametrize("place", ["home", "workspace"])
def test_definitions_of_agents_are_part_of_a_recording(workspace: Workspace, place: str) -> None:
    seed = seed_of(workspace, place, PLAIN)
    assert seed.files == {".gemini/agents/helper.md": PLAIN}
    assert seed.left_out == []


@pytest.mark.parametrize("place", ["home", "workspace"])
@pytest.mark.parametrize(
    "keys",
    [
        "auth:\n  type: http\n  scheme: Bearer\n  token: hunter2-hunter2",
        "mcp_servers:\n  s:\n    url: u\n    headers:\n      X-Key: hunter2-hunter2",
        "mcp_servers:\n  s:\n    command: c\n    env: {KEY: hunter2-hunter2}",
    ],
)
def test_definitions_that_may_hold_credentials_are_left_out(
    workspace: Workspace, place: str, keys: str
) -> None:
    seed = seed_of(workspace, place, PLAIN.replace("description: d", f"description: d\n{keys}"))
    assert seed.files == {}
    assert seed.left_out == [".gemini/agents/helper.md"]


def test_the_sessions_own_folder_is_not_the_workspace_that_it_is_named_after() -> None:
    scrubber = Scrubber({}, Workspace(root=Path("/tmp/ws"), home=Path("/home/user")))

    text = scrubber.text("-I/tmp/ws and /tmp/ws/a, /home/user/.gemini/tmp/ws/chats")

    assert text == "-I<WS> and <WS>/a, <HOME>/.gemini/tmp/ws/chats"
