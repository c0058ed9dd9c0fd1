from typing import Any

from services.scheduler.calls import CompletedToolCall
from services.scheduler.completions import on_completed_calls


async def test_every_call_is_told_once_however_it_ends(rig: Any) -> None:
    told: list[CompletedToolCall] = []
    on_completed_calls(rig.bus, told.append)
    rig.tool("good")
    rig.tool("refused")
    rig.rule("refused", "deny")

    await rig.run(rig.request("good"), rig.request("refused"), rig.request("unknown"))

    assert sorted((call.request.name, str(call.status)) for call in told) == [
        ("good", "success"),
        ("refused", "error"),
        ("unknown", "error"),
    ]


async def test_a_call_with_an_id_that_was_there_before_is_another_call(rig: Any) -> None:
    told: list[CompletedToolCall] = []
    on_completed_calls(rig.bus, told.append)
    rig.tool("good")

    for _ in range(2):
        await rig.run(rig.request("good", "same"))

    assert [call.request.call_id for call in told] == ["same", "same"]


async def test_nobody_is_told_after_leaving(rig: Any) -> None:
    told: list[CompletedToolCall] = []
    leave = on_completed_calls(rig.bus, told.append)
    rig.tool("good")
    leave()
    await rig.run(rig.request("good"))
    assert told == []
