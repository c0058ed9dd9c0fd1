"""The answer of a gate as HTML: a page of its own, and a part of a run's report.

Takes the data that `harness.gate.page` makes of an answer, and decides nothing.
"""

from __future__ import annotations

from markupsafe import Markup

from harness.report.html import page_style, policy, template
from services.wire import JsonObject

__all__ = ["gate_page"]


def gate_page(gate: JsonObject) -> str:
    """The page: one file without a script."""
    style = page_style()
    return template("gate_page.html.j2").render(
        gate=gate,
        style=Markup(style),  # noqa: S704 - ours, from page/
        policy=policy(style),
    )
