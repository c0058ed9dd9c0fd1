"""Reading what `telemetry.outfile` holds: JSON objects over several lines, one after another."""

import json
from pathlib import Path
from typing import Any


def objects(text: str) -> list[Any]:
    """All objects of a file's text, in their order."""
    decoder, found, place = json.JSONDecoder(), [], 0
    while place < len(text):
        value, place = decoder.raw_decode(text, place)
        found.append(value)
        place += 1  # the line's end
    return found


def spans(text: str) -> list[Any]:
    """The spans, with ids as texts of their own and times as nanoseconds."""
    return [
        {
            **one["_spanContext"],
            "parentSpanId": one.get("parentSpanContext", {}).get("spanId"),
            **{key: one[key] for key in ("name", "kind", "attributes", "status", "events")},
            "began_ns": nanoseconds(one["startTime"]),
            "ended_ns": nanoseconds(one["endTime"]),
            "resource": dict(one["resource"]["_rawAttributes"]),
        }
        for one in objects(text)
        if "_spanContext" in one
    ]


def metrics(text: str) -> dict[str, Any]:
    """The metrics of the last object that has any, by name."""
    (of_scope,) = [one for one in objects(text) if "scopeMetrics" in one][-1]["scopeMetrics"]
    return {metric["descriptor"]["name"]: metric for metric in of_scope["metrics"]}


def records(text: str, name: str | None = None) -> list[Any]:
    """The records of the log, or those of one event, without `gemini_cli.`."""
    found = [one for one in objects(text) if "hrTime" in one]
    if name is None:
        return found
    return [one for one in found if one["attributes"]["event.name"] == f"gemini_cli.{name}"]


def read_records(file: Path, name: str) -> list[Any]:
    """The attributes of one event's records."""
    return [one["attributes"] for one in records(file.read_text("utf-8"), name)]


def nanoseconds(time: list[int]) -> int:
    seconds, rest = time
    return seconds * 1_000_000_000 + rest
