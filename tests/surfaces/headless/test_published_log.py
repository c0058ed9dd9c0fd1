"""The log of `parity agent` beside that of the published CLI, with the same recorded answers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import outfiles
from tests.surfaces.headless.conftest import calls, chunk, says
from tests.surfaces.headless.published_cli import (
    NEEDS_THE_CLI,
    answers_file,
    our_outcome,
    placed,
    publish,
    without_own_values,
)
from tests.surfaces.headless.published_scenarios import SIGNED_IN, Scenario, hook

pytestmark = NEEDS_THE_CLI
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
    with placed(asked, place) as variables:
        published = publish(place, answers_file(asked, place / "answers.jsonl"), variables, asked)
    assert published.code == scenario.code, published.err
    theirs, their_metrics = _log(file)
    file.unlink()
    ours_at = tmp_path / "at"
    ours_at.mkdir()
    assert our_outcome(asked, "text", runtime, ours_at, monkeypatch).code == scenario.code
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
        key: "…" if key in _CHANGES else without_own_values(value)
        for key, value in sorted(record.items())
        if key not in left_out | _PUBLISHED_ONLY
    }
