from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.abort import AbortError
from services.clock import virtual_loop
from services.model.generator import LlmRole
from services.model.utility import UtilityRequest
from services.scheduler.truncation import ShortOutput
from services.settings import Settings
from services.tool_distillation import (
    ToolDistillation,
    truncate_proportionally,
    truncated_response,
)
from services.tools.contract import LlmContent
from services.wire import JsonObject
from services.workspace import Workspace
from tests.services.sessions import session_at

PREFIX = "[Message Normalized: Tool output exceeded size limit]"
SUMMARY: JsonObject = {"candidates": [{"content": {"parts": [{"text": "facts"}]}}]}


class Model:
    """Answers with `answer`, or fails, or waits until it is called off."""

    def __init__(self, answer: JsonObject | Exception | None = None) -> None:
        self.answer = answer
        self.asked: list[UtilityRequest] = []

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        self.asked.append(request)
        if self.answer is None:
            await request.signal.wait()
            raise AbortError
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        raise NotImplementedError


@pytest.fixture
def distillation(tmp_path: Path) -> Callable[[Model], ToolDistillation]:
    def build(model: Model) -> ToolDistillation:
        settings = Settings(
            distillation_max_output_tokens=100, distillation_summary_threshold_tokens=200
        )
        workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
        session = session_at(workspace, settings, session_id="s/1")
        session.state.last_prompt_id = "prompt"
        return ToolDistillation(session, model, lambda: "be helpful")

    return build


Build = Callable[[Model], ToolDistillation]


def run(service: ToolDistillation, content: LlmContent, tool: str = "grep_search") -> ShortOutput:
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(service.distill(tool, f"{tool}__1", content))


def test_a_long_text_keeps_its_edges_and_names_its_file(
    distillation: Build, tmp_path: Path
) -> None:
    short = run(distillation(Model()), "a" * 300 + "b" * 300)

    folder = tmp_path / "home/.gemini/tmp/ws/tool-outputs/session-s_1"
    assert short.file == folder / "grep_search__1.txt"
    assert short.file.read_text() == "a" * 300 + "b" * 300
    # 100 tokens at a third of a token each are 303 characters, notes and marks included.
    head, tail = "a" * 48, "b" * 196
    assert short.content == f"{PREFIX}\n{head}\n...\n{tail}\n\nFull output saved to: {short.file}"


def test_the_reader_of_files_limits_itself(distillation: Build) -> None:
    assert run(distillation(Model()), "x" * 5000, "read_file") == ShortOutput("x" * 5000)


@pytest.mark.parametrize(
    "content", ["x" * 400, ["x" * 200, {"text": "y" * 200}], {"text": "z" * 900}]
)
def test_an_output_that_fits_or_is_one_part_stays(distillation: Build, content: LlmContent) -> None:
    assert run(distillation(Model()), content) == ShortOutput(content)


def test_a_list_keeps_its_shape(distillation: Build) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
    content: LlmContent = ["t" * 350, {"text": "u" * 350, "other": 1}, image]

    short = run(distillation(Model()), content)

    assert short.file is not None
    assert json.loads(short.file.read_text()) == content
    assert isinstance(short.content, list)
    text, part, same = short.content
    assert isinstance(text, str)
    assert text.startswith(PREFIX)
    assert "Full output" not in text
    assert isinstance(part, dict)
    assert list(part) == ["text"]
    assert part["text"].endswith(f"\n\nFull output saved to: {short.file}")
    assert same is image


def test_a_response_is_cut_value_by_value() -> None:
    part = {
        "functionResponse": {
            "id": "1",
            "response": {"long": "x" * 900, "short": "y" * 100, "n": 5},
        },
        "thoughtSignature": "gone",
    }

    cut = truncated_response(part, 0.5, " (note)")

    assert list(cut) == ["functionResponse"]
    response = cut["functionResponse"]["response"]
    assert (response["short"], response["n"]) == ("y" * 100, 5)
    assert response["long"].startswith(f"{PREFIX}\nx")
    assert response["long"].endswith("x (note)")
    assert truncated_response(part, 2.0, "") is part


@pytest.mark.contract("P-102")
def test_a_very_long_text_is_summed_up(distillation: Build) -> None:
    model = Model(SUMMARY)

    short = run(distillation(model), "x" * 801)

    assert str(short.content).endswith(
        f"{short.file}\n\n--- Strategic Significance of Truncated Content ---\nfacts"
    )
    [asked] = model.asked
    assert (asked.config_key, asked.role) == (
        "agent-history-provider-summarizer",
        LlmRole.UTILITY_COMPRESSOR,
    )
    assert (asked.prompt_id, asked.system_instruction) == ("prompt", "be helpful")
    text = asked.contents[0]["parts"][0]["text"]
    assert text.startswith("The following output from the tool 'grep_search' is large")
    assert text.endswith("Output to summarize:\n" + "x" * 801 + "...")


@pytest.mark.parametrize("size", [800, 1_000_001])
def test_neither_is_a_shorter_nor_a_huge_one(distillation: Build, size: int) -> None:
    model = Model(SUMMARY)

    assert "Strategic" not in str(run(distillation(model), "x" * size).content)
    assert model.asked == []


@pytest.mark.parametrize(
    "answer",
    [RuntimeError("no"), {}, {"candidates": [{"content": {"parts": [{"text": ""}]}}]}, None],
)
def test_a_summary_that_does_not_come_is_done_without(
    distillation: Build, answer: JsonObject | Exception | None
) -> None:
    model = Model(answer)

    short = run(distillation(model), "x" * 900)

    assert str(short.content).endswith(f"saved to: {short.file}")
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (99, f"{PREFIX}\n{'a' * 8}\n...\n{'b' * 32}"),
        (59, PREFIX),
        (100, "a" * 50 + "b" * 50),
    ],
)
def test_the_edges_are_one_to_four(target: int, shown: str) -> None:
    assert truncate_proportionally("a" * 50 + "b" * 50, target) == shown
