import io
from datetime import date

import pytest

from harness.parity.waivers import WaiverStatus
from harness.report.model import RunReport
from harness.report.terminal import show


@pytest.mark.parametrize(("days", "warned"), [(3, True), (15, False), (-1, False)])
def test_a_waiver_that_soon_expires_is_warned_of_by_name(days: int, warned: bool) -> None:
    status = WaiverStatus(
        id="W1",
        state="used",
        count=1,
        max_count=2,
        expires=date(2026, 12, 31),
        days_left=days,
    )
    report = RunReport(
        control="legacy", candidate="adk", cases=(), waivers=(status,), planned=0, versions={}
    )
    written = io.StringIO()

    show(report, written)

    assert (f"waiver W1 expires in {days} days, on 2026-12-31" in written.getvalue()) is warned
