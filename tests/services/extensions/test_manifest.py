"""`gemini-extension.json`: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.extensions.manifest import ExtensionError, context_file, read_manifest


def written(folder: Path, **manifest: Any) -> Path:
    (folder / "gemini-extension.json").write_text(json.dumps(manifest))
    return folder


def test_everything_is_read_and_variables_are_filled_in(tmp_path: Path) -> None:
    written(
        tmp_path,
        name="demo",
        version="1.2.3",
        contextFileName="CONTEXT.md",
        mcpServers={
            "s": {"command": "${extensionPath}${/}run", "args": ["${workspacePath}"], "trust": True}
        },
        excludeTools=["write_file"],
        settings=[{"name": "Key", "envVar": "DEMO_KEY", "sensitive": True}],
        plan={"directory": "plans"},
        migratedTo="https://example.com/new",
        unknown="${nothing}",
    )

    manifest = read_manifest(tmp_path, Path("/ws"))

    assert (manifest.name, manifest.version) == ("demo", "1.2.3")
    assert manifest.context_file_names == ("CONTEXT.md",)
    assert manifest.mcp_servers == {"s": {"command": f"{tmp_path}/run", "args": ["/ws"]}}
    assert manifest.exclude_tools == ("write_file",)
    assert [(each.variable, each.sensitive) for each in manifest.settings] == [("DEMO_KEY", True)]
    assert manifest.plan_directory == "plans"
    assert manifest.migrated_to == "https://example.com/new"


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"version": "1"}, 'missing "name"'),
        ({"name": "a"}, 'missing "version"'),
        ({"name": "a b", "version": "1"}, "Invalid extension name"),
        ({"name": "a", "version": 1}, "a text expected"),
        ({"name": "a", "version": "1", "excludeTools": "x"}, "a list of texts expected"),
        ({"name": "a", "version": "1", "mcpServers": []}, None),
        ({"name": "a", "version": "1", "mcpServers": ["x"]}, "an object of servers expected"),
        ({"name": "a", "version": "1", "settings": {"x": 1}}, "a list expected"),
        ({"name": "a", "version": "1", "settings": [1]}, "an object expected"),
        (
            {"name": "a", "version": "1", "settings": [{"name": "x", "envVar": "a-b"}]},
            "Invalid environment variable name",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(
    tmp_path: Path, manifest: dict[str, Any], words: str | None
) -> None:
    written(tmp_path, **manifest)

    if words is None:
        assert read_manifest(tmp_path, tmp_path).mcp_servers == {}
        return
    with pytest.raises(ExtensionError, match=words):
        read_manifest(tmp_path, tmp_path)


@pytest.mark.parametrize("text", ["", "[", "[]", "\x00", '"' * 3, "[" * 100_000])
def test_what_is_no_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "gemini-extension.json").write_text(text)

    with pytest.raises(ExtensionError):
        read_manifest(tmp_path, tmp_path)


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExtensionError, match="Configuration file not found at"):
        read_manifest(tmp_path, tmp_path)


@pytest.mark.parametrize("name", ["", " ", "/etc/passwd", "../x", "a/%2e%2e/x", "C:\\x", "a\0"])
def test_a_context_file_stays_in_the_extension(name: str, tmp_path: Path) -> None:
    with pytest.raises(ExtensionError):
        context_file(name, tmp_path)


@pytest.mark.parametrize("folder", ["/tmp", "../x", "", 5])
def test_a_plan_directory_stays_in_the_workspace(tmp_path: Path, folder: Any) -> None:
    written(tmp_path, name="a", version="1", plan={"directory": folder})

    assert read_manifest(tmp_path, tmp_path).plan_directory is None
