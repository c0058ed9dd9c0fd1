from __future__ import annotations

import os
from dataclasses import replace

import pytest

from harness.cassette.find import CassetteFile, find_cassettes
from harness.cassette.load import load_cassette
from harness.cassette.trust import starts_processes, trusted_source

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
    assert "run_shell_command" in str(starts_processes(cassette(tmp_path, step=step)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("{hooks: {BeforeTool: [{hooks: [{type: command, command: ls}]}]}}", "hooks.BeforeTool"),
        ("{projectHooks: {BeforeTool: [{hooks: [{type: command, command: ls}]}]}}", "projectHooks"),
        ("{mcpServers: {s: {command: ls}}}", "mcpServers.s"),
        ("{toolDiscoveryCommand: ls}", "toolDiscoveryCommand"),
        ("{mcpServerCommand: ls}", "mcpServerCommand"),
    ],
)
def test_settings_that_run_commands_start_processes(tmp_path, settings, words):
    assert words in str(starts_processes(cassette(tmp_path, settings=settings)))


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
    assert "script[0]" in str(starts_processes(cassette(tmp_path, script=script)))
    call = CALL.format(call="{name: write_file, args: {file_path: .git/config, content: x}}")
    assert ".git/config" in str(starts_processes(cassette(tmp_path, step=call)))


def placed(root, name, text, *, helper=None) -> CassetteFile:
    file = root / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    if helper is not None:
        (root / "server.py").write_text(helper)
    (found,) = find_cassettes([file])
    return found


def text_of(name, command="ls"):
    return f"cassette: 1\nname: {name}\nsession: {{model: {command}}}\n"


BESIDE = text_of("a/x", "<CASSETTES>/server.py")


def test_what_lies_in_a_trusted_corpus_is_trusted_links_resolved(tmp_path):
    corpus, elsewhere = tmp_path / "corpus", tmp_path / "elsewhere"
    own = placed(corpus, "a", "")
    other = placed(elsewhere, "a", "other")
    (corpus / "link.yaml").symlink_to(elsewhere / "a.yaml")
    around = CassetteFile(corpus / ".." / "elsewhere" / "a.yaml", elsewhere, "a")
    assert trusted_source(own, [corpus]) is own
    assert trusted_source(other, [corpus]) is None
    assert trusted_source(replace(own, path=corpus / "link.yaml", name="link"), [corpus]) is None
    assert trusted_source(around, [corpus]) is None


def test_of_a_copy_the_original_is_run_wherever_the_copy_lies(tmp_path):
    original = placed(tmp_path / "corpus", "a/x", text_of("a/x"))
    copy = placed(tmp_path / "far" / "away", "a/x", text_of("a/x"))
    variant = replace(copy, name="a/x@sessions")

    assert trusted_source(copy, [tmp_path / "gone", tmp_path / "corpus"]) == original
    assert trusted_source(variant, [tmp_path / "corpus"]) == replace(original, name=variant.name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a/x", text_of("a/x", "lS")),
        ("a/x", text_of("a/x") + "#"),
        ("a/x", text_of("a/x")[:-1]),
        ("a/y", text_of("a/x")),
    ],
)
def test_what_differs_by_a_byte_or_in_its_name_is_no_copy(tmp_path, name, text):
    placed(tmp_path / "corpus", "a/x", text_of("a/x"))
    assert trusted_source(placed(tmp_path / "e", name, text), [tmp_path / "corpus"]) is None


def test_a_copy_beside_an_altered_program_is_not_trusted(tmp_path):
    original = placed(tmp_path / "corpus", "a/x", BESIDE, helper="pass")
    same = placed(tmp_path / "same", "a/x", BESIDE, helper="pass")
    altered = placed(tmp_path / "altered", "a/x", BESIDE, helper="evil")
    without = placed(tmp_path / "without", "a/x", BESIDE)

    assert trusted_source(same, [tmp_path / "corpus"]) == original
    assert trusted_source(altered, [tmp_path / "corpus"]) is None
    assert trusted_source(without, [tmp_path / "corpus"]) is None


def test_a_link_to_a_trusted_cassette_does_not_bring_its_own_folder_along(tmp_path):
    original = placed(tmp_path / "corpus", "a/x", BESIDE, helper="pass")
    (tmp_path / "evil" / "a").mkdir(parents=True)
    (tmp_path / "evil" / "server.py").write_text("evil")
    (tmp_path / "evil" / "a" / "x.yaml").symlink_to(original.path)
    (link,) = find_cassettes([tmp_path / "evil"])
    assert link.root == tmp_path / "evil"

    assert trusted_source(link, [tmp_path / "corpus"]) == original


def test_what_is_no_regular_file_is_no_copy(tmp_path):
    placed(tmp_path / "corpus", "a/x", "")
    (tmp_path / "e" / "a").mkdir(parents=True)
    os.mkfifo(tmp_path / "e" / "a" / "x.yaml")
    pipe = CassetteFile(tmp_path / "e" / "a" / "x.yaml", tmp_path / "e", "a/x")
    assert trusted_source(pipe, [tmp_path / "corpus"]) is None


def test_a_name_that_leads_out_of_the_corpus_finds_nothing_there(tmp_path):
    (tmp_path / "corpus").mkdir()
    placed(tmp_path, "x", "same")
    placed(tmp_path / "e", "x", "same")
    (tmp_path / "e" / "b").mkdir()
    outside = CassetteFile(tmp_path / "e" / "b" / ".." / "x.yaml", tmp_path / "e", "../x")
    assert trusted_source(outside, [tmp_path / "corpus"]) is None
