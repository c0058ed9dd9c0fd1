from __future__ import annotations

from typing import Any

import pytest

from services.scheduler.calls import CallStatus
from services.scheduler.scheduler import MOST_AT_ONCE
from services.tools.contract import ToolResult


@pytest.mark.timeout(60)
async def test_thousands_of_calls_are_not_published_together(rig: Any) -> None:
    rig.tool("t")
    calls = [rig.request("t", f"c{number}") for number in range(2_000)]

    completed = await rig.run(*calls)

    assert [call.request.call_id for call in completed] == [call.call_id for call in calls]
    assert max(len(update.calls) for update in rig.updates) == MOST_AT_ONCE


async def test_an_abort_cancels_also_the_calls_that_the_store_does_not_hold_yet(rig: Any) -> None:
    async def abort(_params: Any, _execution: Any) -> ToolResult:
        rig.controller.abort()
        return ToolResult(llm_content="", return_display="")

    rig.tool("t", body=abort)
    completed = await rig.run(*[rig.request("t", f"c{n}") for n in range(3 * MOST_AT_ONCE)])
    assert len(completed) == 3 * MOST_AT_ONCE
    assert {call.status for call in completed} == {CallStatus.CANCELLED}
