from __future__ import annotations

from pathlib import Path

import pytest

from services.tools.memory_imports import with_imports
from services.tools.project_memory import ProjectMemory, with_memory
from services.workspace import Workspace

FRAME = "\n\n--- Newly Discovered Project Context ---\n{}\n--- End Project Context ---"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    write(workspace.home / ".gemini/GEMINI.md", "Be brief.\n")
    write(workspace.root / "GEMINI.md", "Use tabs.\n")
    write(workspace.root / "app/GEMINI.md", "  Go only.\n\n")
    write(workspace.root / "app/web/GEMINI.md", "HTML.")
    write(workspace.root / "app/web/index.html", "<p>")
    return workspace


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def block(path: Path, text: str) -> str:
    return f"--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---"


def test_the_users_and_the_roots_files_are_read_at_the_start(workspace: Workspace) -> None:
    memory = ProjectMemory(workspace, trusted=True)
    assert memory.of_user == block(workspace.home / ".gemini/GEMINI.md", "Be brief.")
    assert memory.of_project == block(workspace.root / "GEMINI.md", "Use tabs.")
    assert memory.of_user_here == ""
    assert memory.discovered(workspace.root / "a.txt") == ""


def test_private_notes_have_an_index_before_the_older_file(workspace: Workspace) -> None:
    folder = workspace.project_temp / "memory"
    write(folder / "GEMINI.md", "old")
    assert "old" in ProjectMemory(workspace, trusted=True).of_user_here
    write(folder / "MEMORY.md", "new")
    assert ProjectMemory(workspace, trusted=True).of_user_here == block(folder / "MEMORY.md", "new")


def test_files_above_a_path_are_reported_once_topmost_first(workspace: Workspace) -> None:
    memory = ProjectMemory(workspace, trusted=True)
    app, web = (workspace.root / folder / "GEMINI.md" for folder in ("app", "app/web"))
    text = memory.discovered(workspace.root / "app/web/index.html")
    assert text == f"{block(app, 'Go only.')}\n\n{block(web, 'HTML.')}"
    assert memory.discovered(workspace.root / "app") == ""


def test_memory_for_a_folder_and_for_a_missing_file_is_found(workspace: Workspace) -> None:
    memory = ProjectMemory(workspace, trusted=True)
    assert "Go only." in memory.discovered(workspace.root / "app/missing.go")
    assert "HTML." in memory.discovered(workspace.root / "app/web")


def test_files_of_an_untrusted_folder_or_outside_are_not_reported(workspace: Workspace) -> None:
    memory = ProjectMemory(workspace, trusted=False)
    assert memory.of_project == ""
    assert memory.discovered(workspace.root / "app/web/index.html") == ""
    write(workspace.root.parent / "GEMINI.md", "outside")
    trusted = ProjectMemory(workspace, trusted=True)
    assert trusted.discovered(workspace.root.parent / "x.txt") == ""
    assert "outside" not in trusted.of_project


def test_the_search_goes_up_to_the_repositorys_root(workspace: Workspace) -> None:
    (workspace.root.parent / ".git").mkdir()
    write(workspace.root.parent / "GEMINI.md", "above")
    assert ProjectMemory(workspace, trusted=True).of_project.startswith(
        block(workspace.root.parent / "GEMINI.md", "above")
    )


def test_discovered_context_follows_the_tools_answer(workspace: Workspace) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": ""}}
    path = workspace.root / "app"
    framed = FRAME.format(block(path / "GEMINI.md", "Go only."))
    assert with_memory(ProjectMemory(workspace, trusted=True), "x", path) == "x" + framed
    assert with_memory(ProjectMemory(workspace, trusted=True), image, path) == [
        image,
        {"text": framed},
    ]
    assert with_memory(None, "x", path) == "x"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("me@here and @9 stay", "me@here and @9 stay"),
        ("`@part.md` stays", "`@part.md` stays"),
        (
            "@part.md end",
            "<!-- Imported from: part.md -->\nPart.\n<!-- End of import from: part.md --> end",
        ),
        ("@../secret.md", "<!-- Import failed: ../secret.md - Path traversal attempt -->"),
        ("@https://x/y", "<!-- Import failed: https://x/y - Path traversal attempt -->"),
        (
            "@none.md",
            (
                "<!-- Import failed: none.md - ENOENT: no such file or directory, access "
                "'{folder}/none.md' -->"
            ),
        ),
        (
            "@sub",
            "<!-- Import failed: sub - EISDIR: illegal operation on a directory, read -->",
        ),
        (
            "@loop.md",
            (
                "<!-- Imported from: loop.md -->\n<!-- File already processed: loop.md -->\n"
                "<!-- End of import from: loop.md -->"
            ),
        ),
    ],
)
def test_imports_stand_where_they_are_named(tmp_path: Path, content: str, expected: str) -> None:
    folder = tmp_path / "lib"
    write(folder / "part.md", "Part.")
    write(folder / "loop.md", "@loop.md")
    write(tmp_path / "secret.md", "secret")
    (folder / "sub").mkdir()
    assert with_imports(content, folder) == expected.replace("{folder}", str(folder))


def test_imports_end_five_levels_deep(tmp_path: Path) -> None:
    for level in range(7):
        write(tmp_path / f"{level}.md", f"@./{level + 1}.md")
    text = with_imports("@./0.md", tmp_path)
    assert text.count("Imported from") == 5
    assert "\n@./5.md\n" in text
