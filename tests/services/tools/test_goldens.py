"""The tools against what the published core showed for the same calls."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_protocol.events import ToolDisplay
from services.tools.contract import InvalidToolParams

ORACLE = Path(__file__).parents[3] / ".." / "shared" / "oracle"
NAMES = [
    "error",
    "image",
    "invalid_args",
    "parallel_mixed",
    "parallel_reads",
    "read_file",
    "read_file_long",
    "replace_yolo",
    "shell_echo",
    "update_topic",
    "write_yolo",
]


def content_of(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if "base64" in value:
        return base64.b64decode(value["base64"])
    if "$lines" in value:
        spec = value["$lines"]
        return "".join(f"{spec['prefix']}{n}\n" for n in range(1, spec["count"] + 1)).encode()
    spec = value["$repeat"]
    return (spec["text"] * spec["times"]).encode()


def calls_of(cassette: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        part["functionCall"]
        for step in cassette["model"]
        for chunk in step.get("stream", [])
        for candidate in chunk.get("candidates", [])
        for part in candidate.get("content", {}).get("parts", [])
        if "functionCall" in part
    ]


def as_wire(display: ToolDisplay | None) -> dict[str, Any]:
    if display is None:
        return {}
    named = {
        "name": display.name,
        "description": display.description,
        "resultSummary": display.result_summary,
        "format": display.format,
    }
    wire: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    result = display.result
    if result is not None and result.type == "text":
        wire["result"] = {"type": "text", "text": result.text}
    elif result is not None and result.type == "diff":
        wire["result"] = {
            "type": "diff",
            "path": result.path,
            "beforeText": result.before_text,
            "afterText": result.after_text,
        }
    return wire


@pytest.mark.skipif(not ORACLE.is_dir(), reason="the published core's goldens are not here")
@pytest.mark.parametrize("name", NAMES)
async def test_results_are_shown_as_the_published_core_shows_them(bench, name):
    cassette = yaml.safe_load((ORACLE / "cassettes" / "tools" / f"{name}.yaml").read_text())
    golden = json.loads((ORACLE / "golden" / "tools" / f"{name}.json").read_text())
    for path, value in cassette.get("files", {}).items():
        bench.write(path, content_of(value))
    seen = [event for event in golden["events"] if event["type"] == "tool_response"]
    calls = calls_of(cassette)
    assert len(calls) == len(seen)
    compared = 0
    for call, event in zip(calls, seen, strict=True):
        try:
            result = await bench.run(call["name"], **call.get("args", {}))
        except InvalidToolParams as refused:
            message: str | None = str(refused)
        else:
            message = result.error.message if result.error else None
            if result.display is not None:
                shown = json.loads(
                    json.dumps(as_wire(result.display)).replace(str(bench.root), "<WS>")
                )
                # A notice's text is added when the display is populated.
                expected = {
                    key: item
                    for key, item in event["display"].items()
                    if key in shown or key != "result"
                }
                assert shown == expected
                compared += 1
        if event["isError"]:
            expected = event["content"][0]["text"]
            masked = str(message).replace(str(bench.root), "<WS>")
            assert masked.replace(str(bench.host.workspace.home), "<HOME>") == expected
            compared += 1
    assert compared == len(calls)
