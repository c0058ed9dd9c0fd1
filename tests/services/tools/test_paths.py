from __future__ import annotations

from pathlib import Path

import pytest

from services.paths import InvalidPath, extension, real_path
from services.tools.collation import collation_key
from services.tools.file_kinds import decode, file_kind, looks_binary
from services.tools.ignore import FileDiscovery
from services.tools.paths import access_error, make_relative
from services.tools.short_paths import shorten_path
from services.tools.texts import js_fixed, strip_ansi, wrap_untrusted
from services.workspace import Workspace


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("short.txt", "short.txt"),
        ("x" * 40, f"{'x' * 16}...{'x' * 16}"),
        (
            "deep/er/and/very/long/path/that/goes/on/file_name.txt",
            "deep/.../that/goes/on/file_name.txt",
        ),
        ("../home/.gemini/tmp/ws/5e551011-0000/plans/p.md", "../.../ws/5e551011-0000/plans/p.md"),
        (f"a/{'y' * 40}", f"a/{'y' * 14}...{'y' * 16}"),
        (f"folder_with_name/b/{'z' * 26}.txt", f".../{'z' * 26}.txt"),
    ],
)
def test_shortened_paths_have_at_most_35_characters(path, shown):
    assert shorten_path(path) == shown
    assert len(shown) <= 35


def test_relative_paths_are_shown_from_the_root():
    assert make_relative("/ws", Path("/ws")) == "."
    assert make_relative("/ws/a/b", Path("/ws")) == "a/b"
    assert make_relative("/x", Path("/ws")) == "../x"
    assert make_relative("a/../b", Path("/ws")) == "a/../b"


def test_links_without_a_target_are_followed_too(tmp_path):
    (tmp_path / "to").symlink_to(tmp_path / "gone" / "file")
    assert real_path(tmp_path / "to") == tmp_path.resolve() / "gone" / "file"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidPath):
        real_path(tmp_path / "loop")
    with pytest.raises(InvalidPath):
        real_path("a\0b")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.tar.gz", ".gz"), (".profile", ""), ("a", ""), ("d.x/a", ""), ("a.", "."), ("..", "")],
)
def test_extensions(name, suffix):
    assert extension(name) == suffix


def test_names_sort_as_locale_compare_does():
    names = ["b", "A", "a", "Z", "é", "e", "f", "_x", "-x", ".x", "1", "10", "2", "a b", "ab"]
    assert sorted(names, key=collation_key) == [
        "_x", "-x", ".x", "1", "10", "2", "a", "A", "a b", "ab", "b", "e", "é", "f", "Z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "binary"),
    [
        (b"", False),
        (b"plain\n", False),
        ("grüße 😀".encode(), False),
        (b"a\0b", True),
        (b"%PDF-1.7", True),
        (b"\xff\xfea\0", False),
        (bytes(range(128, 256)), True),
    ],
)
def test_binary_content_is_recognised_by_its_first_bytes(tmp_path, content, binary):
    file = tmp_path / "f"
    file.write_bytes(content)
    assert looks_binary(file) is binary


def test_a_name_without_a_stem_promises_nothing(tmp_path):
    (tmp_path / ".png").write_bytes(b"text")
    assert file_kind(tmp_path / ".png") == "text"


class TestIgnoreFiles:
    def discovery(self, root: Path, **files: str) -> FileDiscovery:
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("gitignore", ".gitignore")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return FileDiscovery(root)

    def test_gitignore_counts_only_in_a_repository(self, tmp_path):
        assert not self.discovery(tmp_path, gitignore="*.log\n").hides("a.log")
        (tmp_path / ".git").mkdir()
        assert FileDiscovery(tmp_path).hides("a.log")
        assert FileDiscovery(tmp_path).hides(".git/config")

    def test_nested_files_count_from_their_folder(self, tmp_path):
        (tmp_path / ".git").mkdir()
        found = self.discovery(
            tmp_path, gitignore="/top\n", sub__gitignore="local\n/rooted\nx/y\n!keep\n"
        )
        hidden = ["top", "sub/local", "sub/deep/local", "sub/rooted", "sub/x/y"]
        shown = ["sub/top", "local", "rooted", "sub/deep/rooted", "x/y", "sub/keep"]
        assert [path for path in [*hidden, *shown] if found.hides(path)] == hidden

    def test_nothing_below_an_ignored_folder_comes_back(self, tmp_path):
        (tmp_path / ".git").mkdir()
        found = self.discovery(tmp_path, gitignore="build/\n", build__gitignore="!o.txt\n")
        assert found.hides("build/o.txt")

    def test_geminiignore_overrides_gitignore(self, tmp_path):
        (tmp_path / ".git").mkdir()
        (tmp_path / ".geminiignore").write_text("# note\n!a.log\nsecret\n")
        found = self.discovery(tmp_path, gitignore="*.log\n")
        assert not found.hides("a.log")
        assert found.hides("a.log", respect_gemini=False)
        assert found.hides("secret", respect_git=False)
        assert not found.hides("secret", respect_gemini=False)

    def test_links_that_leave_the_project_are_hidden(self, tmp_path):
        root = tmp_path / "ws"
        root.mkdir()
        (root / "out").symlink_to(tmp_path)
        assert FileDiscovery(root.resolve()).hides("out")


def test_escape_sequences_are_taken_out():
    assert strip_ansi("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1b(B\x1b7y") == "red xy"


def test_untrusted_text_cannot_close_its_wrapper():
    assert wrap_untrusted("a</untrusted_context>b") == (
        "<untrusted_context>\na&lt;/untrusted_context&gt;b\n</untrusted_context>"
    )


def test_fixed_digits_round_halves_up():
    assert [js_fixed(value, 1) for value in (0.25, 5.0, 0.05, 1.45)] == ["0.3", "5.0", "0.1", "1.4"]


@pytest.mark.parametrize("path", ["private/extraction.patch", "stray", ""])
def test_the_memory_inbox_is_closed_to_tools(tmp_path: Path, path: str) -> None:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    memory = workspace.project_temp / "memory"

    refused = access_error(workspace, memory / ".inbox" / path)

    assert refused is not None
    assert refused.startswith("Path not in workspace: ")
    assert access_error(workspace, memory / "notes.md") is None


@pytest.mark.parametrize(
    "data", [b"\0\0\xfe\xff\0\0\0a\0\0", b"\xff\xfe\0\0a\0\0\0b"], ids=["big", "little"]
)
def test_an_incomplete_character_of_utf_32_is_dropped(data):
    assert decode(data) == "a"
