"""Cassettes with parallel agents, and programs to explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.orders.order import Choice, Order, Schedule
from harness.orders.places import Place

__all__ = ["agents_at_once", "call", "completes", "explored_program", "turn"]


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


def turn(*parts: dict[str, Any], thread: str | None = None, **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    step = {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}], **more}
    return step if thread is None else {**step, "thread": thread, "role": "subagent"}


def completes(thread: str, result: str, **more: Any) -> dict[str, Any]:
    return turn(call("complete_task", result=result), thread=thread, **more)


def agents_at_once(
    folder: Path, *children: Sequence[dict[str, Any]], tools: Sequence[str] = (), **more: Any
) -> Cassette:
    """A cassette whose first turn starts an agent for each list of model steps in `children`."""
    invoked = (call("invoke_agent", agent_name="helper", prompt=f"{n}") for n in range(9))
    listed = "".join(f"  - {name}\n" for name in tools)
    session = {"model": "gemini-2.5-flash", "approval_mode": "yolo", **more.pop("session", {})}
    document = {
        "cassette": 1,
        "name": "orders/case",
        "phase": "B",
        "session": session,
        "files": {"x.txt": "one\n", "y.txt": "two\n"},
        "home_files": {
            ".gemini/agents/helper.md": "---\nname: helper\ndescription: Helps.\n"
            f"tools:{chr(10) + listed if listed else ' []'}\n---\nYou help.\n"
        },
        "script": [{"send": "Go"}],
        "match": "by_role",
        "model": [
            turn(*(next(invoked) for _ in children)),
            *(step for steps in children for step in steps),
            {"text": "ok"},
        ],
        **more,
    }
    return build_cassette(document, folder / "orders" / "case.yaml", folder)


def explored_program(steps: Mapping[str, Sequence[str]], order: Order) -> list[Choice]:
    """Run threads of places, each ready when the one before is released; returns the choices."""
    schedule = Schedule(order)
    left = {name: [Place.parse(text) for text in texts] for name, texts in steps.items()}
    while ready := [places[0] for places in left.values() if places]:
        chosen = schedule.next(ready)
        for places in left.values():
            if places[:1] == [chosen]:
                places.pop(0)
    return schedule.choices
