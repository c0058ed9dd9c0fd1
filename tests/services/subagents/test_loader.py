"""Folders of definitions; what a single file means is compared with the core's own reading."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from services.front_matter import MAX_DEPTH, MAX_FRONT_MATTER
from services.subagents import loader
from services.subagents.definition import LocalAgentDefinition, RemoteAgentDefinition
from services.subagents.loader import AgentLoadError, load_agents, parse_agent_file

HELPER = "---\nname: helper\ndescription: helps\n---\nYou help.\n"


def write(folder: Path, name: str, text: str | bytes = HELPER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def fault(front: str) -> str:
    with pytest.raises(AgentLoadError) as caught:
        parse_agent_file(Path("/f.md"), f"---\n{front}\n---\n")
    return str(caught.value).removeprefix("Failed to load agent from /f.md: ")


def test_a_local_agent_is_what_its_file_says(tmp_path: Path) -> None:
    front = "name: n\ndescription: d\ntools: []\nmax_turns: 3\ntimeout_mins: 2\ntemperature: 0"
    text = f"---\n{front}\n---\n\n Do it. \n"
    file = write(tmp_path, "a.md", text)

    (agent,) = load_agents(tmp_path).agents

    assert isinstance(agent, LocalAgentDefinition)
    assert (agent.name, agent.description, agent.tools) == ("n", "d", ())
    assert (agent.prompt.system, agent.prompt.query) == ("Do it.", "${query}")
    assert (agent.limits.turns, agent.limits.minutes) == (3, 2)
    assert agent.model.model == "inherit"
    assert agent.model.generation_config == {"temperature": 0, "topP": 0.95}
    assert agent.hash == hashlib.sha256(text.encode()).hexdigest()
    assert agent.file == str(file)


def test_a_missing_list_of_tools_differs_from_an_empty_one(tmp_path: Path) -> None:
    write(tmp_path, "a.md")

    (agent,) = load_agents(tmp_path).agents

    assert isinstance(agent, LocalAgentDefinition)
    assert agent.tools is None
    assert (agent.limits.turns, agent.limits.minutes) == (30, 10)


def test_files_are_read_by_name_and_only_definitions(tmp_path: Path) -> None:
    for name in ("b", "B", "ä", "a"):
        write(tmp_path, f"{name}.md", f"---\nname: {ord(name)}x\ndescription: d\n---\n")
    write(tmp_path, "_hidden.md")
    write(tmp_path, "notes.txt")
    write(tmp_path, "upper.MD")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    os.mkfifo(tmp_path / "pipe.md")

    found = load_agents(tmp_path)

    assert found.errors == []
    assert [agent.name for agent in found.agents] == ["66x", "97x", "98x", "228x"]


def test_a_missing_folder_has_no_agents(tmp_path: Path) -> None:
    found = load_agents(tmp_path / "none")

    assert (found.agents, found.errors) == ([], [])


def test_a_path_that_is_no_folder_is_an_error_entry(tmp_path: Path) -> None:
    file = write(tmp_path, "agents")

    (error,) = load_agents(file).errors

    assert str(error) == (
        f"Failed to load agent from {file}: Could not list directory: "
        f"ENOTDIR: not a directory, scandir '{file}'"
    )


def test_broken_files_are_named_and_the_rest_still_loads(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "---\nname: [\n---\n")
    write(tmp_path, "b.md", b"\xff\xfe\x00binary")
    write(tmp_path, "c.md", "---\nname: c\ndescription: d\ntools: [no_such_tool]\n---\n")
    write(tmp_path, "d.md")

    found = load_agents(tmp_path)

    assert [agent.name for agent in found.agents] == ["helper"]
    assert [error.path.name for error in found.errors] == ["a.md", "b.md", "c.md"]
    assert str(found.errors[2]) == (
        f"Failed to load agent from {tmp_path / 'c.md'}: Validation failed: Agent Definition:\n"
        "(Local Agent) tools.0: Invalid tool name"
    ).replace("(Local Agent) ", "")
    assert (found.errors[2].name, found.errors[2].tools) == ("c", ("no_such_tool",))


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    text = HELPER.encode().replace(b"helps", b"h\xe4lps")
    write(tmp_path, "a.md", text)

    (agent,) = load_agents(tmp_path).agents

    assert agent.description == "h\ufffdlps"
    assert agent.hash == hashlib.sha256(text.decode("utf-8", "replace").encode()).hexdigest()


def test_a_file_that_vanishes_is_an_error_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "a.md")
    listed = loader._is_definition

    def vanishing(entry: os.DirEntry[str]) -> bool:
        found = listed(entry)
        file.unlink()
        return found

    monkeypatch.setattr(loader, "_is_definition", vanishing)
    (error,) = load_agents(tmp_path).errors

    assert str(error) == (
        f"Failed to load agent from {file}: Unexpected error: "
        f"ENOENT: no such file or directory, open '{file}'"
    )


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    write(tmp_path, "a.md", HELPER + "x" * loader.MAX_FILE_BYTES)

    (error,) = load_agents(tmp_path).errors

    assert "the file is larger than 1000000 bytes; shorten its instructions" in str(error)


def test_front_matter_has_bounds() -> None:
    assert "longer than 100000 characters" in fault(f"name: {'x' * MAX_FRONT_MATTER}")
    for deep in ("[" * 30_000, "{a: " * 20_000, f"{'[' * (MAX_DEPTH + 2)}{']' * (MAX_DEPTH + 2)}"):
        assert "nested more than 50 levels deep" in fault(f"name: {deep}")


def test_aliases_do_not_multiply() -> None:
    lists = ["a0: &a0 {x: 1}"]
    lists += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    merges = ["m0: &m0 {k0: 1}"]
    merges += [
        f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, 40)
    ]
    faulty = f"x: &x [{'1, ' * 9000}]\nmcp_servers:\n"
    faulty += "".join(f"  s{n}: {{args: *x}}\n" for n in range(3000))

    for front in ("\n".join(lists), "\n".join(merges), faulty):
        assert "more than 100000 values" in fault(front)
    assert "nested arrays are not supported" in fault(f"{lists[0]}\nb: &b [[1]]\n? *b\n: 1")


def test_a_value_may_be_used_again() -> None:
    assert "Unrecognized key(s) in object: 'x'" in fault("name: a\nx: &x [1]\ntools: *x")


def test_a_value_that_refers_to_itself_is_refused() -> None:
    assert "refers to itself (line 3)" in fault("name: a\nx: &x [*x]")


def test_a_character_that_yaml_does_not_know_is_refused() -> None:
    assert "a character that YAML does not allow (number 0x7)" in fault("name: \a")


def test_errors_of_yaml_have_the_files_line_numbers() -> None:
    assert fault("name: a\nname: b") == (
        "YAML frontmatter parsing failed: duplicated mapping key (line 3)"
    )


def test_a_very_long_number_is_accepted() -> None:
    front = "name: a\ndescription: d\nmax_turns: "

    assert "Expected integer, received float" in fault(f"{front}-{'9' * 5000}")
    assert "Expected integer, received float" in fault(f"{front}0x{'f' * 5000}")
    assert "Number must be greater than 0" in fault(f"{front}-{'9' * 300}")


def test_a_file_may_list_remote_agents() -> None:
    listed = "- name: a\n  agent_card_url: https://h\n- name: b\n  agent_card_json: '{}'"

    first, second = parse_agent_file(Path("/f.md"), f"---\n{listed}\n---\nignored")

    assert isinstance(first, RemoteAgentDefinition)
    assert isinstance(second, RemoteAgentDefinition)
    assert (first.card_url, second.card_json, second.description) == ("https://h", "{}", "")
