import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from services.clock import VirtualClock
from services.ids import CountingIds
from services.telemetry.contract import Telemetry
from services.telemetry.opening import TelemetrySeams, open_telemetry
from services.telemetry_settings import TelemetrySettings


@dataclass
class Rig:
    """A session's telemetry into a file, and what stands in it."""

    file: Path
    clock: VirtualClock = field(default_factory=VirtualClock)
    ids: CountingIds = field(default_factory=CountingIds)
    warnings: list[str] = field(default_factory=list)

    def seams(self) -> TelemetrySeams:
        return TelemetrySeams(
            clock=self.clock,
            ids=self.ids,
            session_id="the-session",
            auth_type="gemini-api-key",
            warn=self.warnings.append,
            runtime="legacy",
        )

    @contextmanager
    def opened(self, **settings: Any) -> Iterator[Telemetry]:
        asked = TelemetrySettings(**{"enabled": True, "outfile": str(self.file), **settings})
        with open_telemetry(asked, self.seams()) as telemetry:
            assert telemetry is not None
            yield telemetry

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.file.read_text("ascii").splitlines()]

    def spans(self) -> list[Any]:
        found = [line["resourceSpans"][0] for line in self.lines() if "resourceSpans" in line]
        return [plain(span) for one in found for span in one["scopeSpans"][0]["spans"]]

    def metrics(self) -> dict[str, Any]:
        (line,) = [line for line in self.lines() if "resourceMetrics" in line]
        (scope,) = line["resourceMetrics"][0]["scopeMetrics"]
        return {metric["name"]: metric for metric in scope["metrics"]}


def plain(told: Any) -> Any:
    """OTLP's attributes as a dict of their values."""
    events = [plain(event) for event in told.get("events", ())]
    values = {one["key"]: value_of(one["value"]) for one in told["attributes"]}
    return {**told, "attributes": values, **({"events": events} if "events" in told else {})}


def value_of(value: Any) -> Any:
    ((kind, inner),) = value.items()
    if kind == "arrayValue":
        return [value_of(one) for one in inner["values"]]
    return int(inner) if kind == "intValue" else inner


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "telemetry.jsonl")


@pytest.fixture
def points() -> Callable[[Any], dict[str, Any]]:
    """A metric's data points by their attributes, as sorted text."""

    def read(metric: Any) -> dict[str, Any]:
        data = metric.get("sum") or metric.get("histogram")
        return {
            json.dumps(plain(one)["attributes"], sort_keys=True): one for one in data["dataPoints"]
        }

    return read
