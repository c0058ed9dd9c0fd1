"""What holds only while an agent runs, and only for that agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from services.memory_access import MEMORY_EXTRACTION, MEMORY_INBOX
from services.policy.allowed_paths import AllowedPaths
from services.policy.rules import Decision
from services.policy.safety import ConversationContext, SafetyRequest
from services.scoping import Scope, Scoped
from services.subagents.scopes import ScopeError, agent_scope, current_folders, extended_workspace
from services.tools.paths import access_error
from services.workspace import SCOPED_WORKSPACE, Workspace
from tests.services.subagents.invocation_kit import agent


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for folder in ("ws", "home", "one", "two"):
        (tmp_path / folder).mkdir()
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


def test_values_are_entered_outermost_first_and_left_innermost_first() -> None:
    value = Scoped("value", "nothing")
    seen: list[str] = []

    class Noted:
        def __init__(self, name: str) -> None:
            self._name, self._set = name, value.set(name)

        def __enter__(self) -> None:
            seen.append(f"{self._name} in {value.value}")
            self._set.__enter__()

        def __exit__(self, *exception: object) -> None:
            self._set.__exit__(None, None, None)
            seen.append(f"{self._name} out to {value.value}")

    with Scope(lambda: Noted("outer"), lambda: Noted("inner")).entered():
        assert value.value == "inner"
    assert seen == [
        "outer in nothing",
        "inner in outer",
        "inner out to outer",
        "outer out to nothing",
    ]


async def test_what_a_scope_runs_and_starts_sees_its_values_and_nobody_else_does() -> None:
    value = Scoped("value", 0)
    met = asyncio.Event()

    async def inner() -> int:
        await met.wait()
        return value.value

    async def work() -> int:
        return await asyncio.get_running_loop().create_task(inner())

    loop = asyncio.get_running_loop()
    first = loop.create_task(Scope(lambda: value.set(1)).run(work))
    second = loop.create_task(Scope(lambda: value.set(2)).run(work))
    await asyncio.sleep(0)
    assert value.value == 0
    met.set()
    assert [await first, await second] == [1, 2]


def test_a_scope_that_cannot_be_entered_leaves_nothing_behind() -> None:
    value = Scoped("value", 0)

    def broken() -> None:
        raise ScopeError("no")

    with pytest.raises(ScopeError), Scope(lambda: value.set(1), broken).entered():  # type: ignore[arg-type] # what they give back is not used
        pass
    assert value.value == 0


def test_an_agent_works_in_its_folders_as_long_as_it_runs(workspace: Workspace) -> None:
    beside = workspace.root.parent / "one"
    file = beside / "a.txt"
    scope = agent_scope(agent(workspace_directories=(str(beside), "../two")), workspace)
    assert access_error(workspace, file) is not None
    with scope.entered():
        assert current_folders(workspace) == (workspace.root, beside, beside.parent / "two")
        assert access_error(workspace, file) is None
        assert access_error(workspace, beside / ".git" / "config") is not None
    assert current_folders(workspace) == (workspace.root,)
    assert access_error(workspace, file) is not None
    assert workspace.added == []


async def test_safety_checkers_know_an_agents_folders(workspace: Workspace) -> None:
    file = str(workspace.root.parent / "one" / "a.txt")
    spoken = ConversationContext(workspace)

    async def verdict() -> Decision:
        request = SafetyRequest(
            tool_name="read_file",
            args={"file_path": file},
            context=spoken.build(["environment"]),
        )
        return (await AllowedPaths().check(request)).decision

    assert await verdict() is Decision.DENY
    scope = agent_scope(agent(workspace_directories=("../one",)), workspace)
    assert await scope.run(verdict) is Decision.ALLOW


def test_a_folder_added_by_an_agent_goes_with_it(workspace: Workspace) -> None:
    one, two = workspace.root.parent / "one", workspace.root.parent / "two"
    with agent_scope(agent(workspace_directories=(str(one),)), workspace).entered():
        workspace.add_folder(two)
        assert workspace.folders == (workspace.root, one, two)
    assert list(workspace.folders) == [workspace.root]


def test_another_sessions_workspace_keeps_its_folders(workspace: Workspace, tmp_path: Path) -> None:
    other = Workspace.at(tmp_path / "other", tmp_path / "home")
    with agent_scope(agent(workspace_directories=("../one",)), workspace).entered():
        assert other.folders == (other.root,)


async def test_two_agents_at_once_do_not_see_each_others_folders(workspace: Workspace) -> None:
    both = asyncio.Barrier(2)

    async def look() -> tuple[Path, ...]:
        await both.wait()
        return current_folders(workspace)

    loop = asyncio.get_running_loop()
    tasks = [
        loop.create_task(
            agent_scope(agent(workspace_directories=(f"../{name}",)), workspace).run(look)
        )
        for name in ("one", "two")
    ]
    seen = [await task for task in tasks]
    beside = workspace.root.parent
    assert seen == [(workspace.root, beside / "one"), (workspace.root, beside / "two")]


def test_a_childs_scope_builds_on_its_parents(workspace: Workspace) -> None:
    outer = agent_scope(agent(workspace_directories=("../one",)), workspace)
    inner = agent_scope(agent(workspace_directories=("../two",)), workspace)
    with outer.entered(), inner.entered():
        assert [folder.name for folder in workspace.folders] == ["ws", "one", "two"]


@pytest.mark.parametrize("root", ["/", "//", "/one/.."])
def test_the_file_systems_root_is_nobodys_folder(workspace: Workspace, root: str) -> None:
    scope = agent_scope(agent(workspace_directories=("../one", root)), workspace)
    with pytest.raises(ScopeError) as refused, scope.entered():
        pass
    assert str(refused.value) == f'Cannot add filesystem root "{root}" as a workspace directory'


def test_there_is_nothing_to_extend_where_there_are_no_folders(workspace: Workspace) -> None:
    class Nowhere(Workspace):
        folders = ()

    nowhere = Nowhere(root=workspace.root, home=workspace.home)
    with pytest.raises(ScopeError, match="Cannot create scoped workspace context: parent has no"):
        extended_workspace(nowhere, ("../one",))


def test_folders_that_are_not_there_are_left_out(workspace: Workspace) -> None:
    (workspace.root / "file").write_text("x")
    extended = extended_workspace(workspace, ("missing", "file", "../one", "../one"))
    assert [folder.name for folder in extended.folders] == ["ws", "one"]


def test_an_agent_without_wishes_changes_nothing(workspace: Workspace) -> None:
    with agent_scope(agent(), workspace).entered():
        assert SCOPED_WORKSPACE.value is None
        assert not MEMORY_INBOX.value
        assert not MEMORY_EXTRACTION.value


def test_the_memory_inbox_is_open_to_whom_it_is_meant_for(workspace: Workspace) -> None:
    inbox = workspace.project_temp / "memory" / ".inbox"
    patch, other = inbox / "private" / "extraction.patch", inbox / "private" / "old.patch"
    stray = inbox / "stray"

    def allowed(path: Path, *, reading: bool) -> bool:
        return access_error(workspace, path, reading=reading) is None

    assert not allowed(patch, reading=False)
    assert not allowed(patch, reading=True)
    with agent_scope(agent(memory_inbox_access=True), workspace).entered():
        assert allowed(patch, reading=False)
        assert not allowed(other, reading=False)
        assert allowed(other, reading=True)
        assert allowed(inbox, reading=True)
        assert not allowed(stray, reading=True)
        assert allowed(workspace.root / "a.txt", reading=False)
    assert not allowed(other, reading=True)


def test_a_link_does_not_lead_out_of_the_memory(workspace: Workspace) -> None:
    folder = workspace.project_temp / "memory" / ".inbox" / "global"
    folder.mkdir(parents=True)
    (folder / "extraction.patch").symlink_to(workspace.root.parent / "one" / "x")
    with agent_scope(agent(memory_inbox_access=True), workspace).entered():
        assert access_error(workspace, folder / "extraction.patch") is not None


def test_extraction_writes_skills_and_proposals_only(workspace: Workspace) -> None:
    memory = workspace.project_temp / "memory"
    skill, patch = memory / "skills" / "s.md", memory / ".inbox" / "global" / "extraction.patch"
    scope = agent_scope(agent(auto_memory_extraction_write_access=True), workspace)
    both = agent_scope(
        agent(auto_memory_extraction_write_access=True, memory_inbox_access=True), workspace
    )
    with scope.entered():
        assert access_error(workspace, skill) is None
        assert access_error(workspace, patch) is not None
        refused = access_error(workspace, workspace.root / "a.txt")
        assert refused == (
            f'Auto-memory extraction write denied: Attempted path "{workspace.root}/a.txt" is '
            "outside the extraction write allowlist. Extraction may only write extracted skills "
            f"under {memory}/skills and canonical inbox patches under "
            f"{memory}/.inbox/{{private,global}}/extraction.patch."
        )
        assert access_error(workspace, workspace.root / "a.txt", reading=True) is None
    with both.entered():
        assert access_error(workspace, patch) is None
