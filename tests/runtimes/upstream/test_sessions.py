"""Sessions of the core in its process: waits, aborts, large messages, several at once."""

import asyncio
from pathlib import Path

import pytest

from harness.cassette.format import Cassette
from harness.replay.observation import Observation
from harness.replay.runner import observe_cassette, run_cassette
from harness.replay.trace import to_trace, trace_json
from runtimes.published import DEFAULT_VERSION, find_node, package_folder
from runtimes.upstream import pool
from runtimes.upstream.process import DRIVER
from services.clock import virtual_loop
from tests.runtimes.upstream.stand_ins import calls, cassette, drive_with, needs_core

pytestmark = [needs_core, pytest.mark.usefixtures("nothing_left")]

SESSION = {"model": "gemini-2.5-flash", "approval_mode": "yolo"}
ASKING_MS = 1
"""The virtual time that a model request takes at least."""
QUOTA = {
    "error": {
        "status": 429,
        "message": "slow down",
        "grpc": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "5s"},
        ],
    }
}


def run(**keys: object) -> Observation:
    return run_cassette(cassette(**keys), "upstream", deadline_s=40)


def ms(seen: Observation, event: int) -> int:
    """The time of an event, in virtual milliseconds since the run's start."""
    seconds = seen.events[event]["timestamp"].removeprefix("2026-01-01T00:00:").rstrip("Z")
    return round(float(seconds) * 1000)


def test_what_calls_show_is_published_as_by_our_own_runtimes() -> None:
    seen = run(
        session={"model": "gemini-2.5-flash", "interactive": True},
        answers={"confirmations": ["proceed_once"]},
        model=[calls("run_shell_command", command="touch made; echo one"), {"text": "ok"}],
    )

    (shown,) = (seen.progress or {}).values()
    assert shown[0]["question"]["command"] == "touch made; echo one"
    assert shown[1:] == [{"process": 4242}, {"output": "one\n"}]


def test_a_hanging_model_is_left_at_once_when_aborted() -> None:
    abort = {"when": {"request": 0}, "delay_ms": 40, "do": "abort"}
    seen = run(model=[{"hang": True}], during=[abort])

    assert (seen.error, seen.notes) == (None, [])
    assert (seen.events[-1]["type"], seen.events[-1]["reason"]) == ("agent_end", "aborted")
    assert ms(seen, -1) == 40 + ASKING_MS


@pytest.mark.slow
def test_an_abort_comes_before_the_end_of_a_longer_wait() -> None:
    abort = {"when": {"request": 0}, "delay_ms": 60, "do": "abort"}
    seen = run(model=[QUOTA, {"text": "late"}], during=[abort], unused=[1])

    assert [retry.delay_ms for retry in seen.retries] == [5500]
    assert (seen.events[-1]["type"], seen.events[-1]["reason"]) == ("agent_end", "aborted")
    assert ms(seen, -1) == 60 + ASKING_MS
    assert seen.unused_steps == [1]


@pytest.mark.slow
def test_an_abort_at_a_request_comes_before_its_answer() -> None:
    asked = {"role": "utility_next_speaker", "json": {"reasoning": "r", "next_speaker": "model"}}
    seen = run(
        session={**SESSION, "settings": {"skipNextSpeakerCheck": False}},
        model=[{"text": "said"}, asked, {"text": "more"}],
        during=[{"when": {"request": 1}, "do": "abort"}],
        unused=[2],
    )

    assert [request.role for request in seen.requests] == ["main", "utility_next_speaker"]
    assert (seen.events[-1]["type"], seen.events[-1]["reason"]) == ("agent_end", "aborted")
    # Had the check been answered, its "go on" would have begun, and taken the turn back.
    assert [part["text"] for turn in seen.transcript for part in turn["parts"]][1:] == ["x", "said"]


@pytest.mark.slow
def test_a_change_of_model_reaches_the_core_which_has_another_in_force() -> None:
    route = {"reasoning": "r", "model_choice": "pro"}
    seen = run(
        session={"model": "auto-gemini-2.5"},
        script=[{"send": "a"}, {"set_model": "auto-gemini-2.5"}, {"send": "b"}],
        model=[
            {"role": "utility_router", "json": route},
            {"text": "one"},
            {"role": "utility_router", "json": route},
            {"text": "two"},
        ],
    )

    assert [request.role for request in seen.requests] == ["utility_router", "main"] * 2


@pytest.mark.slow
def test_a_wait_takes_as_long_as_was_asked_for() -> None:
    seen = run(model=[QUOTA, {"text": "late"}])

    assert [retry.delay_ms for retry in seen.retries] == [5500]
    assert ms(seen, -1) == 5500 + 2 * ASKING_MS


@pytest.mark.slow
def test_a_prompt_of_a_megabyte_comes_through_whole() -> None:
    text = "".join(f"line {n} \N{SNOWMAN}\n" for n in range(80_000))
    seen = run(script=[{"send": text}], model=[{"text": text[::-1]}])

    assert seen.error is None
    assert seen.events[0]["content"][0]["text"] == text
    assert seen.transcript[-1]["parts"][0]["text"] == text[::-1]
    (asked,) = to_trace(seen)["requests"]
    assert text in [part["text"] for part in asked["contents"][-1]["parts"]]


@pytest.mark.slow
def test_a_command_that_leaves_its_output_open_is_waited_for() -> None:
    step = calls("run_shell_command", command="sleep 0.5 & echo started")
    seen = run(model=[step, {"text": "done"}])

    assert seen.error is None
    assert seen.events[-1]["reason"] == "completed"


@pytest.mark.parametrize("many", [4, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_sessions_at_once_do_as_one_after_another(many: int) -> None:
    def one(number: int) -> Cassette:
        return cassette(
            files={"a.txt": f"content {number}"},
            script=[{"send": f"from {number}"}, {"send": "more"}],
            model=[
                QUOTA,
                {**calls("read_file", file_path="a.txt"), "delay_ms": number % 3},
                calls("run_shell_command", command=f"echo {number} > b.txt"),
                {"text": f"answer {number}", "delay_ms": 10 - number},
                {"text": "again"},
            ],
        )

    async def at_once() -> list[str]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(observe_cassette(one(number), "upstream", deadline_s=90))
                for number in range(many)
            ]
        return [trace_json(task.result()) for task in tasks]

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        together = runner.run(at_once())

    alone = [
        trace_json(run_cassette(one(number), "upstream", deadline_s=40)) for number in range(many)
    ]
    assert together == alone
    assert all('"error"' not in trace or '"error": null' in trace for trace in alone)


def test_a_version_without_a_symbol_is_named_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = package_folder(DEFAULT_VERSION)
    package = tmp_path / "node_modules/other"
    (package / "dist").mkdir(parents=True)
    (package / "package.json").write_text('{"type": "module"}')
    (package / "dist/index.js").write_text(
        "export { Config, CoreEvent, coreEvents, BaseLlmClient, LoggingContentGenerator,\n"
        "  MessageBusType, ShellExecutionService, convertSessionToClientHistory,\n"
        f"  createPolicyEngineConfig }} from '{real}/dist/index.js';\n"
    )
    (package / "node_modules").symlink_to(real.parents[1])
    drive_with(monkeypatch, [find_node(), DRIVER, package])

    seen = run_cassette(cassette(), "upstream@0.99.0")

    assert seen.blocker == (
        "broke: version 0.99.0 of the core lacks needed parts: "
        "LegacyAgentSession, loadConversationRecord; use another version"
    )
    assert pool._idle == []
