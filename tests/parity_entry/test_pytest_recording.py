"""`PARITY_RECORD=1 pytest` in a project of a user, with a server in the providers' place."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cassette.find import find_cassettes
from harness.cli import parity
from harness.http.case import load_http_case
from tests.parity_entry.recording_project import AGENTS, PLAIN, PROJECT, TESTS
from tests.runtimes.third_party import forgotten, forgotten_modules

__all__ = ["forgotten"]

pytest_plugins = ("pytester",)

REPOSITORY = Path(__file__).parents[2]
INSTALLED = any(point.name == "parity" for point in entry_points(group="pytest11"))
KEY = "kd83Jf0qLw72MzPx"
"""No pattern knows it: only what the request sent identifies it."""
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
CALL = {"id": "c1", "type": "function", "function": {"name": "stock", "arguments": "{}"}}


def chat(message: dict[str, Any], reason: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    kind = "chat.completion"
    return {"id": "a", "object": kind, "model": "m", "choices": [choice], "usage": USAGE}


def events(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)


class Provider(BaseHTTPRequestHandler):
    """Answers as each of the providers would, and repeats the key that it got."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = self.answer(asked)
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(200)
        kind = "text/event-stream" if text.startswith(("data:", "event:")) else "application/json"
        self.send_header("content-type", kind)
        self.send_header("set-cookie", f"session={KEY}")
        self.end_headers()
        self.wfile.write(text.encode())

    def answer(self, asked: dict[str, Any]) -> dict[str, Any] | str:
        if "/models/" in self.path:
            content = {"role": "model", "parts": [{"text": f"Tea. Your key is {KEY}."}]}
            counts = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
            candidate = {"content": content, "finishReason": "STOP", "index": 0}
            return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "m"}
        if self.path.endswith("/messages"):
            block = {"type": "text", "text": f"Tea. Your key is {KEY}."}
            counts = {"input_tokens": 3, "output_tokens": 2}
            head = {"id": "a", "type": "message", "role": "assistant", "model": "m"}
            return {**head, "content": [block], "stop_reason": "end_turn", "usage": counts}
        if self.path.endswith("/chat/completions"):
            if asked.get("stream"):
                cut = 7 if "Spell" in str(asked) else len(KEY)
                pieces = ("Tea. ", f"Your key is {KEY[:cut]}", KEY[cut:])
                deltas = [{"choices": [{"index": 0, "delta": {"content": p}}]} for p in pieces]
                end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
                return events(*deltas, end) + "data: [DONE]\n\n"
            return chat({"content": None, "tool_calls": [CALL]}, "tool_calls")
        return {"sent": asked}

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def project(
    pytester: pytest.Pytester, provider: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.Pytester]:
    """A project whose tests call models, with a client of their own."""
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(REPOSITORY), before])))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROVIDER", provider)
    monkeypatch.setenv("SHOP_LOGIN", KEY)
    monkeypatch.setattr(sys, "path", [*sys.path])
    pytester.makefile(".toml", parity=PROJECT)
    pytester.makepyfile(test_shop=PLAIN)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    yield pytester
    forgotten_modules("recorded_shop")


def record(project: pytest.Pytester, wanted: str, *words: str) -> pytest.RunResult:
    project._monkeypatch.setenv("PARITY_RECORD", wanted)
    loaded = () if INSTALLED else ("-p", "parity_entry.pytest_plugin")
    return project.runpytest_subprocess(*loaded, *words, timeout=100)


def test_each_test_that_calls_a_model_becomes_a_cassette_that_plays(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(recorded_shop=AGENTS, test_shop=TESTS)

    result = record(project, "1")

    result.assert_outcomes(passed=3)
    names = ["test_anthropic-whole", "test_gemini", "test_openai"]
    result.stdout.fnmatch_lines(
        [
            *(f"written: corpus/recorded/test_shop.{name}.yaml (* of a model)" for name in names),
            f"next: parity run corpus/recorded/test_shop.{names[0]}.yaml",
        ]
    )
    files = sorted((project.path / "corpus" / "recorded").iterdir())
    assert [file.stem.removeprefix("test_shop.") for file in files] == names
    corpus = find_cassettes([project.path / "corpus"])
    assert corpus == find_cassettes(files)  # `parity run` and `parity run FILE` agree on names
    for file in files:
        # Masks are as long as the key, and the prompt is the test's.
        assert load_http_case(file).recording.sends() == ("Have you got tea?",)
        assert KEY not in file.read_text("utf-8")
        assert f"REDACTED{'x' * (len(KEY) - 8)}" in file.read_text("utf-8").replace("\n", "")
        done = CliRunner().invoke(parity, ["run", str(file), "--no-keep"], prog_name="parity")
        assert done.exit_code == 0, done.output
        assert "parity: first and second over 1 case" in done.output


def test_a_file_that_exists_is_replaced_only_on_demand(project: pytest.Pytester) -> None:
    file = project.path / "corpus" / "recorded" / "test_shop.test_chat.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("mine")

    again = record(project, "1", "-k", "chat")
    assert file.read_text() == "mine"
    replaced = record(project, "replace", "-k", "chat", "-n", "2")

    again.assert_outcomes(passed=1, deselected=2)
    again.stdout.fnmatch_lines(["kept as it is: corpus/recorded/test_shop.test_chat.yaml (*"])
    again.stdout.no_fnmatch_line("next: *")
    replaced.stdout.fnmatch_lines(["written: corpus/recorded/test_shop.test_chat.yaml (1 call*"])
    assert "interactions:" in file.read_text()


def test_without_traffic_nothing_is_written(project: pytest.Pytester) -> None:
    result = record(project, "1", "-k", "other")

    result.assert_outcomes(passed=1, deselected=2)
    result.stdout.fnmatch_lines(["no test called a model over HTTP; no file was written"])
    assert not (project.path / "corpus").exists()


def test_a_recording_that_cannot_be_written_fails_the_session(project: pytest.Pytester) -> None:
    (project.path / "corpus").write_text("a file")

    result = record(project, "1", "-k", "chat")

    result.assert_outcomes(passed=1, deselected=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["not recorded: test_shop.py::test_chat: *corpus*"])


def test_a_key_that_no_mask_can_cover_is_not_written(project: pytest.Pytester) -> None:
    result = record(project, "1", "-k", "spelled")

    result.assert_outcomes(passed=1, deselected=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["not recorded: test_shop.py::test_spelled: *holds pieces of *"])
    assert not (project.path / "corpus").exists()


def test_an_unknown_word_is_refused(project: pytest.Pytester) -> None:
    result = record(project, "yes")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*PARITY_RECORD is 'yes'; 1 records what has no cassette*"])
