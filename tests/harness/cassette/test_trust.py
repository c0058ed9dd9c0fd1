from __future__ import annotations

import pytest

from harness.cassette.load import load_cassette
from harness.cassette.trust import is_trusted, starts_processes

RESPONSE = "{{candidates: [{{content: {{parts: [{{functionCall: {call}}}]}}}}]}}"
CALL = f"{{{{stream: [{RESPONSE}]}}}}"
GENERATE = f"{{{{generate: {RESPONSE}}}}}"


def cassette(folder, *, settings="{}", extra="", step="{text: hi}", script="{send: x}"):
    path = folder / "c.yaml"
    path.write_text(
        "cassette: 1\nname: c\n"
        f"session: {{model: m, settings: {settings}}}\n"
        f"script: [{script}]\nmodel: [{step}]\n{extra}\n"
    )
    return load_cassette(path)


def test_plain_turns_start_nothing(tmp_path):
    call = CALL.format(call="{name: read_file, args: {file_path: a}}")
    assert starts_processes(cassette(tmp_path, step=call)) is None


@pytest.mark.parametrize(
    "step",
    [
        CALL.format(call="{name: run_shell_command, args: {command: ls}}"),
        CALL.format(call="{name: {$repeat: {text: run_shell_command, times: 1}}}"),
        "{$times: 2, item: " + CALL.format(call="{name: run_shell_command}") + "}",
        GENERATE.format(call="{name: run_shell_command}"),
    ],
)
def test_a_shell_call_starts_a_process_however_it_is_written(tmp_path, step):
    assert "run_shell_command" in starts_processes(cassette(tmp_path, step=step))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{hooks: {BeforeTool: [{hooks: [{type: command, command: ls}]}]}}", "hooks.BeforeTool"),
        ("{projectHooks: {BeforeTool: [{hooks: [{command: ls}]}]}}", "projectHooks"),
        ("{mcpServers: {s: {command: ls}}}", "mcpServers.s"),
        ("{toolDiscoveryCommand: ls}", "toolDiscoveryCommand"),
        ("{mcpServerCommand: ls}", "mcpServerCommand"),
    ],
)
def test_settings_that_run_commands_start_processes(tmp_path, settings, words):
    assert words in starts_processes(cassette(tmp_path, settings=settings))


@pytest.mark.parametrize("settings", ["{hooks: {BeforeTool: []}}", "{mcpServers: {s: {url: u}}}"])
def test_settings_without_commands_start_nothing(tmp_path, settings):
    assert starts_processes(cassette(tmp_path, settings=settings)) is None


@pytest.mark.parametrize(
    "files",
    [
        "files: {.git/config: x}",
        "files: {sub/.GIT/hooks/post-checkout: x}",
        "files: {.git: 'gitdir: elsewhere'}",
        "home_files: {.gitconfig: x}",
        "home_files: {.config/git/config: x}",
        "home_files: {.gemini/settings.json: '{}'}",
        "files: {.gemini/settings.json: '{}'}",
        "home_files: {.gemini/extensions/e/gemini-extension.json: '{}'}",
        'home_files: {.gemini/agents/a.md: "mcp_servers: {}"}',
    ],
)
def test_files_that_configure_commands_start_processes(tmp_path, files):
    assert starts_processes(cassette(tmp_path, extra=files)) is not None


def test_an_agent_of_its_own_starts_nothing(tmp_path):
    files = 'home_files: {.gemini/agents/a.md: "name: a"}'
    assert starts_processes(cassette(tmp_path, extra=files)) is None


def test_files_written_during_the_run_are_looked_at_too(tmp_path):
    script = "{write_file: {path: .git/config, text: x}}"
    assert "script[0]" in starts_processes(cassette(tmp_path, script=script))
    call = CALL.format(call="{name: write_file, args: {file_path: .git/config, content: x}}")
    assert ".git/config" in starts_processes(cassette(tmp_path, step=call))


def test_what_lies_in_a_trusted_corpus_is_trusted_links_resolved(tmp_path):
    corpus, elsewhere = tmp_path / "corpus", tmp_path / "elsewhere"
    for folder in (corpus, elsewhere):
        folder.mkdir()
        (folder / "a.yaml").write_text("")
    (corpus / "link.yaml").symlink_to(elsewhere / "a.yaml")
    assert is_trusted(corpus / "a.yaml", [corpus])
    assert not is_trusted(elsewhere / "a.yaml", [corpus])
    assert not is_trusted(corpus / "link.yaml", [corpus])
    assert not is_trusted(corpus / ".." / "elsewhere" / "a.yaml", [corpus])
