"""The command line's flags that the published CLI has as well."""

import io
import json
from pathlib import Path

import pytest

from surfaces.headless.options import HeadlessOptions
from surfaces.headless.program import run_headless
from tests.surfaces.headless.conftest import Ran, Run, calls, says

RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
ALLOW_ECHO = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "echo"
decision = "allow"
priority = 100
"""
ECHO = calls("run_shell_command", command="echo some words")


def settings(folders: Path, **values: object) -> None:
    file = folders / "home" / ".gemini" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(values))


def policies(folder: Path, text: str = ALLOW_ECHO) -> Path:
    folder.mkdir(parents=True)
    file = folder / "policy.toml"
    file.write_text(text)
    return file


def tool_results(ran: Ran) -> list[str]:
    return [line["status"] for line in ran.lines if line["type"] == "tool_result"]


@RUNTIMES
@pytest.mark.parametrize("flag", ["policies", "admin_policies"])
def test_a_policy_file_lets_a_command_run_without_confirmation(
    run: Run, folders: Path, runtime: str, flag: str
) -> None:
    denied = run(ECHO, says("No."), output="stream-json", runtime=runtime)
    file = str(policies(folders / "policies"))
    allowed = run(ECHO, says("Yes."), output="stream-json", runtime=runtime, **{flag: (file,)})

    assert tool_results(denied) == ["error"]
    assert tool_results(allowed) == ["success"]


@RUNTIMES
def test_the_users_own_policies_count_unless_others_are_given(
    run: Run, folders: Path, runtime: str
) -> None:
    policies(folders / "home" / ".gemini" / "policies")
    other = policies(folders / "other", ALLOW_ECHO.replace('"echo"', '"ls"'))

    own = run(ECHO, says("Yes."), output="stream-json", runtime=runtime)
    given = run(ECHO, says("No."), output="stream-json", runtime=runtime, policies=(str(other),))

    assert tool_results(own) == ["success"]
    assert tool_results(given) == ["error"]


@RUNTIMES
def test_tools_that_the_command_line_allows_run_unasked(run: Run, runtime: str) -> None:
    ran = run(
        ECHO,
        says("Yes."),
        output="stream-json",
        runtime=runtime,
        allowed_tools=("run_shell_command(echo)",),
    )
    assert tool_results(ran) == ["success"]


@RUNTIMES
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_another_way_to_sign_in_than_the_enforced_one_ends_with_41(
    run: Run, folders: Path, runtime: str, output: str
) -> None:
    settings(folders, security={"auth": {"enforcedType": "vertex-ai"}})

    ran = run(says("never"), output=output, runtime=runtime)

    words = (
        "The enforced authentication type is 'vertex-ai', but the current type is "
        "'gemini-api-key'. Please re-authenticate with the correct type."
    )
    assert (ran.code, ran.out) == (41, "")
    if output == "json":
        error = json.loads(ran.err)["error"]
        assert error == {"type": "Error", "message": words, "code": 41}
    else:
        assert ran.err == f"{words}\n"


def test_no_way_to_sign_in_where_one_is_enforced_is_said(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    settings(folders, security={"auth": {"enforcedType": "gemini-api-key"}})

    ran = run(says("never"))

    assert ran.code == 41
    assert ran.err == (
        "The auth type 'gemini-api-key' is enforced, but no authentication is configured.\n"
    )


def test_recorded_answers_need_a_key_as_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    ran = run(says("never"))
    assert (ran.code, ran.out) == (41, "")


def test_an_interactive_prompt_is_refused_where_input_is_piped() -> None:
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(b"piped"))
    options = HeadlessOptions(prompt_interactive="go on")

    assert run_headless(options, stdin=stdin, out=out, err=err) == 42
    assert err.getvalue() == (
        "Error: The --prompt-interactive flag cannot be used when input is piped from stdin.\n"
    )


@RUNTIMES
def test_answers_can_be_given_to_the_calls_that_they_fit(
    run: Run, folders: Path, runtime: str
) -> None:
    counted = {"method": "countTokens", "response": {"totalTokens": 5}}
    said = {"method": "generateContentStream", "response": [says("ok")]}
    file = folders / "mixed.jsonl"
    file.write_text(f"{json.dumps(counted)}\n{json.dumps(said)}\n")

    strict = run(fake_responses=file, runtime=runtime)
    loose = run(fake_responses=file, strict_responses=False, runtime=runtime)

    assert strict.code == 1
    assert (loose.code, loose.out) == (0, "ok\n")


def test_sessions_are_listed_gone_on_with_and_deleted(run: Run) -> None:
    assert run(list_sessions=True).out == "No previous sessions found for this project.\n"
    run(says("one"), prompt="the first", session_id="my-own-id")
    run(says("two"), prompt="the second\nhas two lines")

    listed = run(list_sessions=True)

    head, first, second = listed.out.splitlines()[1:]
    assert head == "Available sessions for this project (2):"
    assert first == "  1. the first (Just now) [my-own-id]"
    assert second.startswith("  2. the second has two lines (Just now) [")
    taken = run(says("three"), session_id="my-own-id")
    assert (taken.code, 'Session ID "my-own-id" already exists' in taken.err) == (42, True)
    assert run(delete_session="1").out == "Deleted session 1: the first (Just now)\n"
    assert "(1):" in run(list_sessions=True).out
    gone = run(delete_session="my-own-id")
    assert (gone.code, 'Invalid session identifier "my-own-id"' in gone.err) == (42, True)


@RUNTIMES
def test_a_session_file_is_gone_on_from(run: Run, folders: Path, runtime: str) -> None:
    run(says("one"), prompt="the first", runtime=runtime)
    (recorded,) = (folders / "home").rglob("session-*.jsonl")
    elsewhere = folders / "elsewhere.jsonl"
    recorded.rename(elsewhere)

    ran = run(says("two"), session_file=elsewhere, output="stream-json", runtime=runtime)

    assert ran.code == 0, ran.err
    texts = [file.read_text() for file in (folders / "home").rglob("session-*.jsonl")]
    (copy,) = [text for text in texts if f"Imported session from {elsewhere}" in text]
    assert "the first" in copy
    assert ran.lines[0]["session_id"] in copy
    missing = run(says("two"), session_file=folders / "none.jsonl", runtime=runtime)
    assert (missing.code, "File not found or invalid format" in missing.err) == (42, True)


@RUNTIMES
def test_tools_may_use_the_folders_that_are_included(run: Run, folders: Path, runtime: str) -> None:
    (folders / "beside").mkdir()
    (folders / "beside" / "a.txt").write_text("one\n")
    asked = calls("read_file", file_path=str(folders / "beside" / "a.txt"))

    without = run(asked, says("No."), output="stream-json", runtime=runtime)
    ran = run(
        asked,
        says("Yes."),
        output="stream-json",
        runtime=runtime,
        include_directories=("../beside", "../none"),
    )

    assert tool_results(without) == ["error"]
    assert tool_results(ran) == ["success"]


@pytest.mark.parametrize(
    ("trust", "variable", "counts"),
    [(True, None, False), (False, None, True), (False, "false", False), (True, "true", True)],
)
def test_the_folders_settings_count_where_the_user_trusts_folders(
    run: Run,
    folders: Path,
    monkeypatch: pytest.MonkeyPatch,
    trust: bool,
    variable: str | None,
    counts: bool,
) -> None:
    settings(folders, security={"folderTrust": {"enabled": trust}})
    (folders / "ws" / ".gemini").mkdir()
    (folders / "ws" / ".gemini" / "settings.json").write_text('{"output": {"format": "json"}}')
    if variable is not None:
        monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", variable)

    ran = run(says("ok"), output=None)

    assert ran.out.startswith("{") is counts


def test_the_administrators_settings_stand_above_and_below_the_users(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = folders / "etc" / "settings.json"
    system.parent.mkdir()
    monkeypatch.delenv("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", raising=False)
    monkeypatch.setenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH", str(system))
    defaults = system.with_name("system-defaults.json")
    defaults.write_text('{"output": {"format": "json"}, "model": {"name": "below"}}')
    settings(folders, output={"format": "stream-json"})

    below = run(says("ok"), output=None, model=None)
    system.write_text('{"output": {"format": "text"}}')
    above = run(says("ok"), output=None, model=None)

    assert below.lines[0]["model"] == "below"
    assert above.out == "ok\n"
