"""Every accepted setting is read by the engine or a surface while a session runs, is refused, or is
listed as one without effect. A run with settings that note who reads them decides which."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import pytest

import harness.replay.runner as runner
import surfaces.headless.settings_files as settings_files
from harness.cassette.load import load_cassette
from runtimes.registry import Surface, choose_session
from services.extensions.manifest import ExtensionError
from services.extensions.origins import InstallType, Origin
from services.extensions.store import ExtensionStore
from services.hooks.system import open_hooks
from services.settings import (
    PARAMETERS,
    AdkFlags,
    Settings,
    settings_from_file,
    settings_from_parameters,
)
from services.settings.telemetry import TelemetrySettings
from services.telemetry import providers
from services.telemetry.contract import TelemetryError
from services.workspace import Workspace
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import plan_run
from tests.docs.settings_page import is_refused
from tests.services.sessions import session_at

ROOT = Path(__file__).parents[3]
CASSETTES = ROOT / "cassettes"
RUNS = (
    "text/text",
    "distillation/summed_up",
    "hooks/agent_input",
    "mcp/forbidden",
    "tools/background_ends",
    "truncation/at_limit",
)
"""A session of each kind in which further settings count."""

PRODUCT = ("services.", "runtimes.", "surfaces.")

G = TypeVar("G")
"""A group of settings."""


class Readers:
    """Notes which fields of settings are read, except by the package that declares them."""

    def __init__(self) -> None:
        self.read: set[str] = set()

    def noted(self, group: G, prefix: str = "") -> G:
        """`group`, so that each of its fields is noted when the product reads it."""
        kind: Any = type(group)
        names, read = {each.name for each in fields(kind)}, self.read

        class Noted(kind):  # type: ignore[misc]  # a class that is known when the test runs
            def __getattribute__(self, name: str) -> Any:
                reader = sys._getframe(1).f_globals["__name__"]
                own = reader.startswith("services.settings")
                if name in names and reader.startswith(PRODUCT) and not own:
                    read.add(f"{prefix}{name}")
                return super().__getattribute__(name)

        noted: G = Noted(**{name: getattr(group, name) for name in names})
        return noted

    def of(self, made: Settings) -> Settings:
        """All settings of a session, noted."""
        adk, telemetry = self.noted(made.adk, "adk."), self.noted(made.telemetry, "telemetry.")
        values = {each.name: getattr(made, each.name) for each in fields(Settings)}
        return self.noted(Settings(**{**values, "adk": adk, "telemetry": telemetry}))

    def noting(self, make: Callable[..., Settings]) -> Callable[..., Settings]:
        """`make`, whose settings are noted."""
        return lambda values, **more: self.of(make(values, **more))


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Readers:
    found = Readers()
    monkeypatch.setattr(runner, "settings_from_parameters", found.noting(settings_from_parameters))
    monkeypatch.setattr(settings_files, "settings_from_file", found.noting(settings_from_file))
    return found


def run(runtime: str, telemetry: TelemetrySettings) -> None:
    for name in RUNS:
        cassette = load_cassette(CASSETTES / f"{name}.yaml", CASSETTES)
        runner.run_cassette(cassette, runtime, telemetry=telemetry)


def send_to_a_collector(runtime: str, readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file, measurements go to the endpoint; the stand-in has none to send to."""
    asked: list[str] = []

    def refuse(endpoint: str) -> None:
        asked.append(endpoint)
        raise TelemetryError("no collector here")

    monkeypatch.setattr(providers, "checked_exporters", refuse)
    endpoint = "http://collector.invalid"
    measured = TelemetrySettings(enabled=True, otlp_endpoint=endpoint)
    cassette = load_cassette(CASSETTES / "text/text.yaml", CASSETTES)
    with pytest.raises(TelemetryError, match="no collector here"):
        runner.run_cassette(cassette, runtime, telemetry=readers.noted(measured, "telemetry."))
    assert asked == [endpoint]


def begin_headless(tmp_path: Path, variables: Mapping[str, str]) -> None:
    options = HeadlessOptions(prompt="Hi", approval_mode="yolo")
    plan_run(options, root=tmp_path, home=tmp_path, variables=variables)


def warn_of_hooks(tmp_path: Path, readers: Readers) -> None:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    hooks = open_hooks(session_at(workspace, readers.of(Settings())), notify=lambda _: None)
    assert hooks is not None
    hooks.initialize()


def refuse_an_extension(tmp_path: Path, readers: Readers) -> None:
    session = session_at(Workspace.at(tmp_path, tmp_path), readers.of(Settings()))
    store = ExtensionStore(
        session.workspace, session.settings, session.environment, session.clock, session.events
    )
    origin = Origin(source=str(tmp_path), type=InstallType.GIT)

    async def never(_: str) -> bool:
        raise AssertionError

    with pytest.raises(ExtensionError):
        asyncio.run(store.install(origin, never))


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_every_setting_is_read_or_refused(
    runtime: str, readers: Readers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = readers.noted(
        TelemetrySettings(enabled=True, outfile=str(tmp_path / "telemetry")), "telemetry."
    )

    run(runtime, measured)
    begin_headless(tmp_path, {})
    warn_of_hooks(tmp_path, readers)
    refuse_an_extension(tmp_path, readers)
    for surface in Surface:
        choose_session(surface, readers.noted(AdkFlags(), "adk."))
    send_to_a_collector(runtime, readers, monkeypatch)

    unread = [each for each in PARAMETERS if each.field not in readers.read]
    assert [each.name for each in unread if not is_refused(each)] == []
    assert {each.name for each in unread} == {
        "gemmaModelRouter.enabled",
        "sandbox",
        "toolSandboxing",
    }


def test_a_setting_that_only_its_declaration_reads_counts_as_unread(readers: Readers) -> None:
    noted = readers.of(settings_from_parameters({}))

    assert noted.max_attempts == 10
    assert readers.read == set()
