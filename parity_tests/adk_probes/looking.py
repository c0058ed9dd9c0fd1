"""Scripts under plugins that only look: nothing may be other than without them."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.adk_probes.guests import USAGE
from parity_tests.adk_probes.probe import Again, Answer, Probe, calls, chunk, text, thought
from parity_tests.adk_probes.stated import Watched
from parity_tests.adk_probes.within import AGENTS, DOCS, DONE, called, cited
from services.model.errors import ApiError

__all__ = ["LOOKING"]


def _watched(name: str, *script: Answer, **more: Any) -> Watched:
    return Watched(
        probe=Probe(name=f"watched-{name}", row="", plugins=tuple, script=script, **more)
    )


LOOKING: Final = (
    _watched(
        "deltas",
        [
            chunk(thought("**Look** around"), {"text": "one "}, finish=None),
            chunk(called("a.txt", "c1"), {"text": "two ", "odd": 1}, finish=None),
            cited({"text": "three"}, {"executableCode": {"code": "x", "language": "PYTHON"}}),
            chunk(finish=None, usageMetadata=USAGE),
        ],
        [cited({"text": "four"}, usageMetadata=USAGE)],
        [chunk({"text": "five"}, finish="MAX_TOKENS", usageMetadata={"oddCount": 1})],
        messages=("hello", "again"),
    ),
    _watched(
        "calls",
        [chunk(called("none.txt", "c1"), called("a.txt", "c2"), {"functionCall": {"name": "odd"}})],
        [chunk({"text": ""})],
        text("one"),
        text("two"),
        messages=("hello", "again"),
    ),
    _watched(
        "topic",
        calls(
            ("read_file", {"file_path": "a.txt"}), ("update_topic", {"strategic_intent": "then"})
        ),
        text("one"),
        settings={"core_tools": ("read_file", "update_topic")},
    ),
    _watched(
        "children",
        calls(*[("invoke_agent", {"agent_name": "cli_help", "prompt": each}) for each in "ab"]),
        *(DOCS, DONE, DONE),
        text("both"),
        settings=AGENTS,
    ),
    _watched(
        "attempts",
        Again(ApiError(503, "broken"), connected=True),
        [chunk({"text": "one "}, finish=None)],
        text("two"),
        ApiError(400, "no"),
        text("three"),
        messages=("hello", "again", "and then"),
    ),
)
