"""`parity agent` beside the published CLI, with the same recorded answers.

Exit codes, and everything that programs read of the output, must be equal. What is compared is
less: times, session ids, and words of this product's own. The CLI's agent session is switched on,
because its older loop is not what `AgentProtocol` replaces; see `docs/headless.md`.
"""

import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from surfaces.headless.options import HeadlessOptions
from surfaces.headless.presenters import OutputFormat
from surfaces.headless.program import run_headless
from tests import outfiles
from tests.standin_thread import standin_thread
from tests.surfaces.headless.conftest import calls, chunk, says, write_answers

VERSION = "0.61.0"
RECORDINGS = Path(__file__).parents[3] / ".." / "shared" / "recordings" / "gemini-cli"
NO_RECORDINGS = pytest.mark.skip(reason="the recordings are missing: ../shared/recordings")
FORMATS = ("text", "json", "stream-json")


def _published() -> list[str] | None:
    """How the published CLI is started, if it is there in the version that is compared."""
    bundle = os.environ.get("PARITY_PUBLISHED_CLI")
    command = ["node", bundle] if bundle else ["gemini"]
    if shutil.which(command[0]) is None or (bundle and not Path(bundle).is_file()):
        return None
    return command


PUBLISHED = _published()
pytestmark = pytest.mark.skipif(
    PUBLISHED is None,
    reason=f"the published CLI is missing: `npm install -g @google/gemini-cli@{VERSION}`, or name "
    "its bundle/gemini.js in PARITY_PUBLISHED_CLI",
)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One run. `options` are those of `parity agent`, by their long names without dashes."""

    name: str
    answers: Sequence[Any] = ()
    served: Sequence[Mapping[str, Any]] | None = None
    """Steps of the stand-in for the API, in place of recorded answers."""
    recorded: Path | None = None
    """A file of recorded answers, in place of `answers`."""
    prompt: str = "hi"
    piped: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[Any] = ()
    """Answers of a run before this one, which this one may go on with."""
    keyless: bool = False
    formats: Sequence[str] = FORMATS
    code: int | None = 0
    """What it ends with; `None` where that depends on the format."""


REFUSED = {"status": 400, "message": "No such thing.", "grpc": "INVALID_ARGUMENT"}
QUOTA = {
    "status": 429,
    "message": "You exceeded your current quota.",
    "grpc": "RESOURCE_EXHAUSTED",
    "details": [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
        }
    ],
}
SIGNED_IN = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
"""The CLI cannot use a gateway by itself: it calls that an invalid auth method."""
SAY = {"type": "command", "command": "cat > /dev/null; echo '%s'"}


def hook(event: str, **fields: Any) -> dict[str, Any]:
    command = {**SAY, "command": SAY["command"] % json.dumps(fields)}
    return {event: [{"hooks": [command]}]}


SCENARIOS = (
    Scenario(name="text", answers=[[chunk({"text": "Hello "}, finish=None), says("world")]]),
    Scenario(
        name="thought",
        answers=[[chunk({"text": "Hm", "thought": True}, finish=None), says("ok")]],
        formats=("json", "stream-json"),
    ),
    Scenario(
        name="tool_call",
        answers=[calls("read_file", file_path="a.txt"), says("One.")],
        files={"a.txt": "one\n"},
    ),
    Scenario(
        name="text_before_tool_call",
        answers=[
            chunk(
                {"text": "I look."},
                {"functionCall": {"name": "list_directory", "args": {"dir_path": "."}, "id": "x"}},
            ),
            says("Done."),
        ],
        files={"a.txt": "one\n"},
    ),
    Scenario(name="tool_error", answers=[calls("read_file", file_path="none.txt"), says("No.")]),
    Scenario(name="unknown_tool", answers=[calls("no_such_tool", a=1), says("No.")]),
    Scenario(
        name="invalid_arguments",
        answers=[calls("read_file"), says("No.")],
        formats=("stream-json",),
    ),
    Scenario(
        name="denied_tool",
        answers=[calls("write_file", file_path="a.txt", content="x"), says("Not allowed.")],
    ),
    Scenario(
        name="denied_command",
        answers=[calls("run_shell_command", command="echo hi"), says("Not allowed.")],
        formats=("stream-json",),
    ),
    Scenario(
        name="edit",
        answers=[
            calls("write_file", file_path="a.txt", content="x\ny\n"),
            calls("replace", file_path="a.txt", old_string="y", new_string="z", instruction="do"),
            says("Done."),
        ],
        options={"approval_mode": "yolo"},
    ),
    Scenario(
        name="command",
        answers=[calls("run_shell_command", command="echo hi; exit 3"), says("Done.")],
        options={"approval_mode": "yolo"},
        formats=("json", "stream-json"),
    ),
    Scenario(
        name="parallel_calls",
        answers=[
            chunk(
                {"functionCall": {"name": "read_file", "args": {"file_path": "a"}, "id": "1"}},
                {"functionCall": {"name": "read_file", "args": {"file_path": "b"}, "id": "2"}},
            ),
            says("Both."),
        ],
        files={"a": "1\n", "b": "2\n"},
        formats=("stream-json",),
    ),
    Scenario(
        name="max_turns",
        answers=[calls("list_directory", dir_path="."), says("never")],
        settings={"model": {"maxSessionTurns": 1}},
        code=53,
    ),
    Scenario(name="no_way_to_sign_in", keyless=True, formats=FORMATS, code=41),
    Scenario(name="recorded_answers_without_a_key", keyless=True, answers=[says("no")], code=41),
    Scenario(
        name="another_way_to_sign_in_is_enforced",
        answers=[says("no")],
        settings={"security": {"auth": {"enforcedType": "vertex-ai"}}},
        code=41,
    ),
    Scenario(
        name="hook_message",
        answers=[says("ok")],
        settings={"hooks": hook("BeforeAgent", systemMessage="Looking")},
    ),
    Scenario(name="no_input", prompt="", answers=[says("never")], code=42),
    Scenario(name="answers_run_out", answers=[calls("list_directory", dir_path=".")], code=1),
    Scenario(name="api_error", served=[{"error": REFUSED}], settings=SIGNED_IN, code=None),
    Scenario(name="quota", served=[{"error": QUOTA}] * 3, settings=SIGNED_IN, code=None),
    Scenario(name="stdin", answers=[says("ok")], piped="from a pipe\n", formats=("stream-json",)),
    Scenario(
        name="stdin_alone",
        answers=[says("ok")],
        prompt="",
        piped="from a pipe\n",
        formats=("stream-json",),
    ),
    Scenario(
        name="resume_latest",
        before=[says("I am one")],
        answers=[says("two")],
        options={"resume": "latest"},
        formats=("text", "stream-json"),
    ),
    Scenario(
        name="resume_nothing",
        answers=[says("ok")],
        options={"resume": "latest"},
        formats=("text", "json"),
    ),
    Scenario(
        name="resume_unknown",
        before=[says("I am one")],
        answers=[says("two")],
        options={"resume": "7"},
        formats=("text", "json"),
        code=42,
    ),
    Scenario(
        name="empty_answer",
        answers=[chunk({"text": ""})] * 4,
    ),
    Scenario(
        name="only_thoughts",
        answers=[chunk({"text": "Hm", "thought": True})] * 4,
        formats=("json", "stream-json"),
    ),
    Scenario(
        name="session_start_hook",
        answers=[says("ok")],
        settings={
            "hooks": hook(
                "SessionStart",
                systemMessage="Welcome",
                hookSpecificOutput={"additionalContext": "It <rains>"},
            )
        },
        formats=("text", "stream-json"),
    ),
    Scenario(
        name="session_start_hook_asks",
        answers=[says("ok")],
        prompt="",
        settings={
            "hooks": hook("SessionStart", hookSpecificOutput={"additionalContext": "It rains"})
        },
        formats=("stream-json",),
    ),
    Scenario(
        name="agent_stopped",
        answers=[says("never")],
        settings={
            "hooks": {"BeforeAgent": hook("X", **{"continue": False, "stopReason": "No."})["X"]}
        },
    ),
    Scenario(
        name="agent_blocked",
        answers=[says("never")],
        settings={"hooks": hook("BeforeAgent", decision="block", reason="Not now.")},
    ),
    Scenario(
        name="tool_stops_the_run",
        answers=[calls("list_directory", dir_path="."), says("never")],
        settings={
            "hooks": {"AfterTool": hook("X", **{"continue": False, "stopReason": "Enough."})["X"]}
        },
    ),
    Scenario(
        name="loop",
        answers=[calls("list_directory", dir_path=".")] * 12,
        formats=("json", "stream-json"),
    ),
)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def test_the_published_cli_is_the_version_that_is_compared() -> None:
    assert PUBLISHED is not None
    told = subprocess.run([*PUBLISHED, "--version"], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == VERSION


@pytest.mark.parametrize(
    ("scenario", "output", "runtime"),
    [
        (scenario, output, runtime)
        for scenario in SCENARIOS
        for output in scenario.formats
        # Formats are no business of a runtime: one of them is enough to compare both.
        for runtime in (("legacy", "adk") if output == scenario.formats[-1] else ("legacy",))
    ],
    ids=lambda value: value.name if isinstance(value, Scenario) else value,
)
def test_both_end_and_print_alike(
    scenario: Scenario,
    output: str,
    runtime: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = _published_outcome(scenario, output, tmp_path_factory)
    ours = _our_outcome(scenario, output, runtime, tmp_path, monkeypatch)

    assert ours.code == theirs.code, (ours, theirs)
    assert scenario.code in (None, ours.code)
    assert _shown(ours.out, output) == _shown(theirs.out, output), (ours.err, theirs.err)
    if output == "json" and not ours.out:
        assert _error_object(ours.err) == _error_object(theirs.err)


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(
    "file",
    # Those of the browser agent call subagents, which this build has not yet.
    sorted(set(RECORDINGS.rglob("*.responses")) - set(RECORDINGS.rglob("browser-agent*")))
    or [pytest.param(None, marks=NO_RECORDINGS)],
    ids=lambda file: getattr(file, "stem", "none"),
)
def test_both_make_the_same_of_recorded_files(
    file: Path,
    runtime: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = Scenario(name=str(file), recorded=file, settings={"useWriteTodos": True})

    theirs = _published_outcome(scenario, "stream-json", tmp_path_factory)
    ours = _our_outcome(scenario, "stream-json", runtime, tmp_path, monkeypatch)

    assert ours.code == theirs.code, (ours.err, theirs.err)
    assert _shown(ours.out, "stream-json") == _shown(theirs.out, "stream-json")


def test_recorded_answers_are_the_same_file_both_ways(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = calls("list_directory", dir_path=".")
    last = [chunk({"text": "Dön"}, finish=None), says("e \u2028 ok")]
    scenario = Scenario(name="recording", answers=[call, last])
    theirs, ours = tmp_path_factory.mktemp("t") / "seen.jsonl", tmp_path / "seen.jsonl"
    outputs = []
    for file, folder in ((theirs, "first"), (ours, "second")):
        place = tmp_path / folder
        place.mkdir()
        with _place(scenario, place) as variables:
            answers = write_answers(place / "answers.jsonl", *scenario.answers)
            recorded = replace(scenario, options={"record_responses": file})
            if file is theirs:
                outputs.append(_publish(place, answers, variables, recorded).out)
            else:
                monkeypatch.setenv("GEMINI_CLI_HOME", str(place / "home"))
                monkeypatch.setenv("GEMINI_API_KEY", variables["GEMINI_API_KEY"])
                monkeypatch.chdir(place / "ws")
                outputs.append(_run(recorded, "text", "legacy", place / "answers.jsonl").out)

    assert theirs.read_bytes() == ours.read_bytes()
    # And each answers from what the other has recorded.
    lines = [json.loads(line)["response"] for line in theirs.read_text().split("\n") if line]
    again = replace(scenario, name="again", answers=lines)
    outputs.append(_published_outcome(again, "text", tmp_path_factory).out)
    (tmp_path / "third").mkdir()
    outputs.append(_our_outcome(again, "text", "adk", tmp_path / "third", monkeypatch).out)
    assert outputs == ["Döne \u2028 ok\n"] * 4


MENTIONS = (
    "what is in @a.txt?",
    "@a.txt",
    "compare @a.txt and @sub/b.md, please",
    "read @sub",
    "read @sub/ now",
    "find @b.md.",
    "nothing like @missing.txt here",
    "mail me@example.com",
    r"not \@a.txt",
    r"with @sp\ ace.txt spaces",
    "two:@a.txt@sub/b.md",
    "line\n@a.txt\nline",
    "secret @hidden.log and @a.txt",
    "outside @../outside.txt @/etc/hostname",
    "alone @ sign",
    "twice @a.txt @a.txt",
    "picture @p.png",
    "let @generalist look",
)


@pytest.mark.parametrize("prompt", MENTIONS)
def test_the_files_that_a_prompt_mentions_go_along_alike(
    prompt: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {
        "a.txt": "one\ntwo\n",
        "sub/b.md": "# b\n",
        "sub/c.txt": "c",
        "sp ace.txt": "s",
        "hidden.log": "h",
        ".geminiignore": "*.log\n",
        "p.png": "not really",
    }
    # With no answer left the error holds the request that was made.
    scenario = Scenario(name=f"mention {prompt}", prompt=prompt, files=files)

    theirs = _published_outcome(scenario, "json", tmp_path_factory)
    ours = _our_outcome(scenario, "json", "legacy", tmp_path, monkeypatch)

    assert _asked(ours.err) == _asked(theirs.err)


def _asked(err: str) -> list[Any]:
    """The parts that a failed run had sent, without the environment's own."""
    message = json.JSONDecoder().raw_decode(err[err.index('{\n  "session_id"') :])[0]["error"]
    request = json.loads(message["message"].split("got request:\n", 1)[1])
    parts = [part for content in request["contents"] for part in content["parts"]]
    kept = [part for part in parts if "<session_context>" not in part.get("text", "")]
    return [_plain(part) for part in kept]


_SEEN: dict[tuple[str, str], Outcome] = {}


def _published_outcome(scenario: Scenario, output: str, folders: pytest.TempPathFactory) -> Outcome:
    """Run once for both runtimes: what it does does not depend on ours."""
    key = (scenario.name, output)
    if key not in _SEEN:
        place = folders.mktemp("published")
        with _place(scenario, place) as variables:
            if scenario.before:
                _publish(place, write_answers(place / "before.jsonl", *scenario.before), variables)
            answers = None
            if scenario.served is None:
                answers = _answers(scenario, place / "answers.jsonl")
            _SEEN[key] = _publish(place, answers, variables, scenario, output)
    return _SEEN[key]


def _publish(
    place: Path,
    answers: Path | None,
    variables: Mapping[str, str],
    scenario: Scenario | None = None,
    output: str = "text",
) -> Outcome:
    assert PUBLISHED is not None
    asked = scenario or Scenario(name="before")
    words = ["-m", "gemini-2.5-flash", "-o", output]
    words += ["-p", asked.prompt] if asked.prompt else []
    words += ["--fake-responses", str(answers)] if answers is not None else []
    for option, value in asked.options.items():
        words += [f"--{option.replace('_', '-')}", str(value)]
    ran = subprocess.run(
        [*PUBLISHED, *words],
        cwd=place / "ws",
        env={**_BASE, **variables, "HOME": str(place / "home")},
        input=asked.piped,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Outcome(ran.returncode, ran.stdout, ran.stderr)


def _answers(scenario: Scenario, file: Path) -> Path:
    return scenario.recorded or write_answers(file, *scenario.answers)


_BASE = {
    "PATH": os.environ.get("PATH", os.defpath),
    "NO_COLOR": "1",
    "TERM": "dumb",
    "GEMINI_CLI_NO_RELAUNCH": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
}


@contextmanager
def _place(scenario: Scenario, place: Path) -> Iterator[dict[str, str]]:
    """Make the folders, serve what is to be served; yields the environment's variables."""
    (place / "ws").mkdir()
    (place / "home" / ".gemini").mkdir(parents=True)
    for name, text in scenario.files.items():
        (place / "ws" / name).parent.mkdir(exist_ok=True)
        (place / "ws" / name).write_text(text)
    adk = {"agentSessionNoninteractiveEnabled": True}
    settings = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "experimental": {"adk": adk},
        **scenario.settings,
    }
    (place / "home" / ".gemini" / "settings.json").write_text(json.dumps(settings))
    variables = {"GEMINI_CLI_HOME": str(place / "home"), "NO_COLOR": "1"}
    if not scenario.keyless:
        variables["GEMINI_API_KEY"] = "key-of-nobody"
    served = nullcontext() if scenario.served is None else standin_thread(scenario.served)
    with served as standin:
        if standin is not None:
            variables["GOOGLE_GEMINI_BASE_URL"] = standin.base_url
        yield variables


def _our_outcome(
    scenario: Scenario, output: str, runtime: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Outcome:
    with _place(scenario, place) as variables:
        for name in list(os.environ):
            if name.startswith(("GEMINI_", "GOOGLE_")):
                monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(place / "ws")
        if scenario.before:
            before = Scenario(name="before", answers=scenario.before)
            _run(before, "text", runtime, place / "before.jsonl")
        return _run(scenario, output, runtime, place / "answers.jsonl")


def _run(scenario: Scenario, output: str, runtime: str, answers: Path) -> Outcome:
    fake = _answers(scenario, answers) if scenario.served is None else None
    options = HeadlessOptions(
        prompt=scenario.prompt,
        runtime=runtime,
        model="gemini-2.5-flash",
        output=OutputFormat(output),
        fake_responses=fake,
        **scenario.options,
    )
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(scenario.piped.encode()))
    code = run_headless(options, stdin=stdin, out=out, err=err)
    return Outcome(code, out.getvalue(), err.getvalue())


_TIMES = frozenset({"timestamp", "duration_ms", "totalLatencyMs", "totalDurationMs", "durationMs"})


def _shown(out: str, output: str) -> Any:
    """What is compared of standard output."""
    if output == "text" or not out:
        return out
    if output == "json":
        return _plain(json.loads(out))
    return [_plain(json.loads(line)) for line in out.splitlines()]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "…"
            if key in _TIMES or key == "session_id"
            else _call_id(item)
            if key == "tool_id"
            else _plain(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return _words(value) if isinstance(value, str) else value


def _call_id(text: str) -> str:
    """Ids that the client makes hold the time."""
    return re.sub(r"_\d{10,}", "_…", text)


def _words(text: str) -> str:
    """A text without what is this product's own in it, and without the folder of the run."""
    text = re.sub(r"(?s)got request:.*", "got request:", text)
    text = re.sub(r"(?s)Please set an Auth method.*", "Please set an Auth method", text)
    return re.sub(r"/[^\s\"']*/(ws|home)\b", r"<\1>", text)


def _error_object(err: str) -> Any:
    """The JSON object at the end of standard error; `None` for words alone."""
    start = err.find('{\n  "session_id"')
    if start < 0:
        return None
    document, _ = json.JSONDecoder().raw_decode(err[start:])
    return _plain(document)


HOOKED = {"hooks": hook("BeforeAgent")}
LOGGED = (
    Scenario(name="logged_text", answers=[says("ok")]),
    Scenario(
        name="logged_tools",
        answers=[
            calls("write_file", file_path="a.txt", content="x\ny\n"),
            calls("replace", file_path="a.txt", old_string="y", new_string="z", instruction="do"),
            calls("read_file", file_path="a.txt"),
            calls("read_file", file_path="none.txt"),
            calls("no_such_tool", a=1),
            says("Done."),
        ],
        options={"approval_mode": "yolo"},
        settings=HOOKED,
    ),
    Scenario(
        name="logged_retry",
        answers=[chunk(finish="STOP"), says("ok")],
    ),
    Scenario(name="logged_error", answers=[calls("read_file", file_path="none.txt")], code=1),
)
_NODES_OWN = frozenset({"gemini_cli.startup_stats", "gemini_cli.ripgrep_fallback"})
"""Records of the JavaScript program's own start, and of a helper program that it looks for."""
_NOT_LOGGED = {
    "gemini_cli.file_operation": {"mimetype", "programming_language"},
    "gen_ai.client.inference.operation.details": {
        "gen_ai.system_instructions",
        "server.address",
        "server.port",
    },
}
"""What `docs/telemetry.md` says is left out."""
_CHANGES = frozenset(
    {
        *("event.timestamp", "session.id", "prompt_id", "duration_ms", "routing_latency_ms"),
        *("duration", "sandbox_enabled"),
        *("request_text", "response_text", "finish_reasons", "hook_input", "gen_ai.provider.name"),
        *("gen_ai.response.finish_reasons", "content_length", "metadata"),
        *("error", "error.message"),
    }
)
"""Times, ids, prompts, and this product's own words: in both, and not the same."""
_PUBLISHED_ONLY = frozenset({"installation.id", "start_time", "end_time"})


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize("scenario", LOGGED, ids=lambda scenario: scenario.name)
def test_the_log_is_the_published_clis(
    scenario: Scenario,
    runtime: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path_factory.mktemp("log") / "telemetry.log"
    telemetry = {"enabled": True, "outfile": str(file)}
    asked = replace(scenario, settings={**SIGNED_IN, **scenario.settings, "telemetry": telemetry})
    place = tmp_path_factory.mktemp("published")
    with _place(asked, place) as variables:
        published = _publish(place, _answers(asked, place / "answers.jsonl"), variables, asked)
    assert published.code == scenario.code, published.err
    theirs, their_metrics = _log(file)
    file.unlink()
    ours_at = tmp_path / "at"
    ours_at.mkdir()
    assert _our_outcome(asked, "text", runtime, ours_at, monkeypatch).code == scenario.code
    ours, our_metrics = _log(file)

    assert [one["event.name"] for one in ours] == [one["event.name"] for one in theirs]
    for mine, yours in zip(ours, theirs, strict=True):
        assert mine == yours
    assert their_metrics - our_metrics <= {"gemini_cli.startup.duration"}


def _log(file: Path) -> tuple[list[dict[str, Any]], set[str]]:
    """The log's records as they are compared, and the names of the metrics."""
    text = file.read_text("utf-8")
    found = [one["attributes"] for one in outfiles.records(text)]
    return [_logged(one) for one in found if one["event.name"] not in _NODES_OWN], set(
        outfiles.metrics(text)
    )


def _logged(record: dict[str, Any]) -> dict[str, Any]:
    left_out = _NOT_LOGGED.get(record["event.name"], set())
    return {
        key: "…" if key in _CHANGES else _plain(value)
        for key, value in sorted(record.items())
        if key not in left_out | _PUBLISHED_ONLY
    }
