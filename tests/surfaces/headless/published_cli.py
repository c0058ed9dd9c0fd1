"""Runs a scenario in the published CLI and in `parity agent`, and prepares both outputs."""

import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from surfaces.headless.options import HeadlessOptions, OutputFormat
from surfaces.headless.program import run_headless
from tests.standin_thread import standin_thread
from tests.surfaces.headless.conftest import write_answers
from tests.surfaces.headless.published_scenarios import Scenario

VERSION = "0.61.0"


def _published() -> list[str] | None:
    """How the published CLI is started, if it is there in the version that is compared."""
    bundle = os.environ.get("PARITY_PUBLISHED_CLI")
    command = ["node", bundle] if bundle else ["gemini"]
    if shutil.which(command[0]) is None or (bundle and not Path(bundle).is_file()):
        return None
    return command


PUBLISHED = _published()
NEEDS_THE_CLI = pytest.mark.skipif(
    PUBLISHED is None,
    reason=f"the published CLI is missing: `npm install -g @google/gemini-cli@{VERSION}`, or name "
    "its bundle/gemini.js in PARITY_PUBLISHED_CLI",
)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


_SEEN: dict[tuple[str, str], Outcome] = {}


def published_outcome(scenario: Scenario, output: str, folders: pytest.TempPathFactory) -> Outcome:
    """Run once for both runtimes: what it does does not depend on ours."""
    key = (scenario.name, output)
    if key not in _SEEN:
        place = folders.mktemp("published")
        with placed(scenario, place) as variables:
            if scenario.before:
                publish(place, write_answers(place / "before.jsonl", *scenario.before), variables)
            answers = None
            if scenario.served is None:
                answers = answers_file(scenario, place / "answers.jsonl")
            _SEEN[key] = publish(place, answers, variables, scenario, output)
    return _SEEN[key]


def publish(
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


def answers_file(scenario: Scenario, file: Path) -> Path:
    return scenario.recorded or write_answers(file, *scenario.answers)


_BASE = {
    "PATH": os.environ.get("PATH", os.defpath),
    "NO_COLOR": "1",
    "TERM": "dumb",
    "GEMINI_CLI_NO_RELAUNCH": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
}


@contextmanager
def placed(scenario: Scenario, place: Path) -> Iterator[dict[str, str]]:
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
        variables["GEMINI_API_KEY"] = "key-without-owner"
    served = nullcontext() if scenario.served is None else standin_thread(scenario.served)
    with served as standin:
        if standin is not None:
            variables["GOOGLE_GEMINI_BASE_URL"] = standin.base_url
        yield variables


def our_outcome(
    scenario: Scenario, output: str, runtime: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Outcome:
    with placed(scenario, place) as variables:
        for name in list(os.environ):
            if name.startswith(("GEMINI_", "GOOGLE_")):
                monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(place / "ws")
        if scenario.before:
            before = Scenario(name="before", answers=scenario.before)
            run_ours(before, "text", runtime, place / "before.jsonl")
        return run_ours(scenario, output, runtime, place / "answers.jsonl")


def run_ours(scenario: Scenario, output: str, runtime: str, answers: Path) -> Outcome:
    fake = answers_file(scenario, answers) if scenario.served is None else None
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


def compared_output(out: str, output: str) -> Any:
    """What is compared of standard output."""
    if output == "text" or not out:
        return out
    if output == "json":
        return without_own_values(json.loads(out))
    return [without_own_values(json.loads(line)) for line in out.splitlines()]


def without_own_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "…"
            if key in _TIMES or key == "session_id"
            else _call_id(item)
            if key == "tool_id"
            else without_own_values(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_own_values(item) for item in value]
    return _words(value) if isinstance(value, str) else value


def _call_id(text: str) -> str:
    """Ids that the client makes hold the time."""
    return re.sub(r"_\d{10,}", "_…", text)


def _words(text: str) -> str:
    """A text without what is this product's own in it, and without the folder of the run."""
    text = re.sub(r"(?s)got request:.*", "got request:", text)
    text = re.sub(r"(?s)Please set an Auth method.*", "Please set an Auth method", text)
    return re.sub(r"/[^\s\"']*/(ws|home)\b", r"<\1>", text)


def error_object(err: str) -> Any:
    """The JSON object at the end of standard error; `None` for words alone."""
    start = err.find('{\n  "session_id"')
    if start < 0:
        return None
    document, _ = json.JSONDecoder().raw_decode(err[start:])
    return without_own_values(document)
