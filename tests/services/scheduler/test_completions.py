from typing import Any

from services.scheduler.calls import CompletedToolCall
from services.scheduler.completions import on_completed_calls


async def test_each_call_is_reported_once_at_its_end(rig: Any) -> None:
    reported: list[CompletedToolCall] = []
    on_completed_calls(rig.bus, reported.append)
    rig.tool("good")
    rig.tool("refused")
    rig.rule("refused", "deny")

    await rig.run(rig.request("good"), rig.request("refused"), rig.request("unknown"))

    assert sorted((call.request.name, str(call.status)) for call in reported) == [
        ("good", "success"),
        ("refused", "error"),
        ("unknown", "error"),
    ]


async def test_a_call_with_an_id_that_was_there_before_is_another_call(rig: Any) -> None:
    reported: list[CompletedToolCall] = []
    on_completed_calls(rig.bus, reported.append)
    rig.tool("good")

    for _ in range(2):
        await rig.run(rig.request("good", "same"))

    assert [call.request.call_id for call in reported] == ["same", "same"]


async def test_after_unsubscribing_no_call_is_reported(rig: Any) -> None:
    reported: list[CompletedToolCall] = []
    unsubscribe = on_completed_calls(rig.bus, reported.append)
    rig.tool("good")
    unsubscribe()
    await rig.run(rig.request("good"))
    assert reported == []
