import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from services.clock import VirtualClock
from services.ids import CountingIds
from services.settings.telemetry import TelemetrySettings
from services.telemetry.contract import Telemetry, TelemetrySeams
from services.telemetry.opening import open_telemetry
from tests import outfiles


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

    def text(self) -> str:
        return self.file.read_text("utf-8")

    def spans(self) -> list[Any]:
        return outfiles.spans(self.text())

    def metrics(self) -> dict[str, Any]:
        return outfiles.metrics(self.text())

    def records(self, name: str) -> list[Any]:
        return [one["attributes"] for one in outfiles.records(self.text(), name)]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "telemetry.log")


@pytest.fixture
def points() -> Callable[[Any], dict[str, Any]]:
    """A metric's data points by their attributes, as sorted text."""

    def read(metric: Any) -> dict[str, Any]:
        return {
            json.dumps(one["attributes"], sort_keys=True): one["value"]
            for one in metric["dataPoints"]
        }

    return read
