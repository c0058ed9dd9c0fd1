"""Runs of the command in fresh folders, with recorded answers in place of a model."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from surfaces.headless.options import HeadlessOptions, OutputFormat
from surfaces.headless.program import run_headless

USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 10,
    "totalTokenCount": 115,
    "cachedContentTokenCount": 20,
    "thoughtsTokenCount": 5,
}


def chunk(*parts: dict[str, Any], finish: str | None = "STOP") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is None:
        return {"candidates": [candidate]}
    return {"candidates": [{**candidate, "finishReason": finish}], "usageMetadata": USAGE}


def says(text: str) -> dict[str, Any]:
    return chunk({"text": text})


def calls(name: str, **args: Any) -> dict[str, Any]:
    return chunk({"functionCall": {"name": name, "args": args, "id": "c1"}})


def write_answers(file: Path, *answers: list[dict[str, Any]] | dict[str, Any]) -> Path:
    """One stream per answer; a chunk alone is a stream of one."""
    lines = [
        json.dumps(
            {
                "method": "generateContentStream",
                "response": answer if isinstance(answer, list) else [answer],
            }
        )
        for answer in answers
    ]
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Run = Callable[..., Ran]


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that is the current folder, and a home beside it; returns what holds both."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    for name in (
        "GEMINI_MODEL",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
        "GEMINI_CLI_TRUST_WORKSPACE",
        "CLOUD_SHELL",
        "GEMINI_CLI_USE_COMPUTE_ADC",
        "GEMINI_TELEMETRY_ENABLED",
        "GEMINI_TELEMETRY_OUTFILE",
    ):
        monkeypatch.delenv(name, raising=False)
    # Recorded answers need a way to sign in as well.
    monkeypatch.setenv("GEMINI_API_KEY", "no-such-key")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.fixture
def run(folders: Path) -> Run:
    """Run the command with `answers`; other arguments are its options."""

    def go(*answers: Any, output: str | None = "text", piped: str = "", **options: Any) -> Ran:
        if answers:
            options["fake_responses"] = write_answers(folders / "answers.jsonl", *answers)
        asked = HeadlessOptions(
            **{
                "prompt": "hi",
                "model": "gemini-2.5-flash",
                "output": OutputFormat(output) if output else None,
                **options,
            }
        )
        stdin = io.TextIOWrapper(io.BytesIO(piped.encode()))
        out, err = io.StringIO(), io.StringIO()
        code = run_headless(asked, stdin=stdin, out=out, err=err)
        return Ran(code, out.getvalue(), err.getvalue())

    return go
