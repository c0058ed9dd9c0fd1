"""No untrusted cassette leaves its run, whatever setting, file or call it tries.

The witness is an audit hook of this module. It records the starts of processes, the connections and
the uses of the canary's folder that the interpreter is asked for while an attempt runs.
"""

from __future__ import annotations

import importlib
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import harness.replay.confining
from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.errors import HarnessError
from harness.replay.confining import confining
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json
from runtimes.registry import warm_modules
from tests.security.breakouts import Document, Target, breakouts

RUNTIMES = ("legacy", "adk")
CANARY = "CANARY-5f1d"
PLACE = Path("breakout")
NAMES = sorted(
    breakouts(Target(marker=Path("/m"), canary=Path("/c/canary.txt"), url="http://127.0.0.1:1"))
)
WITNESSED = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.system",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.sendto",
    "subprocess.Popen",
}
# What the services refuse by themselves; files are the wall's.
_KINDS = "agent_ auth_ card_ hook key_ override_ rewound_ server_ setting_checkpointing shell web_"
BY_SEAMS = tuple(f"breakout/{kind}" for kind in _KINDS.split())
REAL = ("auth_token_json", "hooks_BeforeTool", "key_hex", "server_start_shell", "shell_after_bom")

_witnesses: list[Witness] = []


@dataclass
class Witness:
    """What the interpreter was asked for, and the effect in the world."""

    target: Target
    server: socket.socket
    events: list[str]

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in WITNESSED:
            self.events.append(f"{event} {arguments!r}")

    def found(self) -> list[str]:
        """Everything that got out."""
        found = list(self.events)
        if self.target.marker.exists():
            found.append("the command ran")
        if list(self.target.canary.parent.iterdir()) != [self.target.canary]:
            found.append("a file was written beside the canary")
        if self.target.canary.read_text() != CANARY:
            found.append("the canary was changed")
        try:
            self.server.accept()[0].close()
            found.append("something connected")
        except BlockingIOError:
            pass
        return found


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for witness in _witnesses:
        witness.note(event, arguments)


sys.addaudithook(_hook)
for _module in ("services.warm", *warm_modules(RUNTIMES)):
    importlib.import_module(_module)


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    canary = folder / "canary.txt"
    canary.write_text(CANARY)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        target = Target(marker=tmp_path / "marker", canary=canary, url=url)
        yield Witness(target, server, [])


@contextmanager
def watching(witness: Witness) -> Iterator[None]:
    _witnesses.append(witness)
    try:
        yield
    finally:
        _witnesses.remove(witness)


def loaded(document: Document) -> Cassette:
    return build_cassette(document, PLACE / f"{document['name']}.yaml", PLACE)


def tried(document: Document, runtime: str, witness: Witness) -> Observation | None:
    """One confined run; `None` where the loader or the harness refuses the cassette."""
    try:
        cassette = loaded(document)
        with confining(True), watching(witness):
            return run_cassette(cassette, runtime)
    except (FormatProblem, HarnessError):
        return None


def test_there_are_enough_attempts() -> None:
    assert len(NAMES) >= 200


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(15)
def test_no_attempt_gets_out(name: str, runtime: str, witness: Witness) -> None:
    seen = tried(breakouts(witness.target)[name], runtime, witness)

    assert witness.found() == []
    if seen is not None:
        assert CANARY not in trace_json(seen)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(BY_SEAMS)])
@pytest.mark.sampled(7)
def test_the_services_refuse_without_the_wall(
    name: str, runtime: str, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness.replay.confining, "walled", lambda *given: nullcontext())

    tried(breakouts(witness.target)[name], runtime, witness)

    assert witness.found() == []


@pytest.mark.parametrize("name", REAL)
def test_an_attempt_is_real(name: str, witness: Witness) -> None:
    run_cassette(loaded(breakouts(witness.target)[f"breakout/{name}"]), "legacy")

    assert witness.found() == ["the command ran"]


@pytest.mark.parametrize("name", REAL)
def test_a_refusal_names_the_seam_and_the_place(name: str, witness: Witness) -> None:
    seen = tried(breakouts(witness.target)[f"breakout/{name}"], "adk", witness)

    assert seen is not None
    assert seen.blocker is not None
    assert "starting a process is refused to a cassette that is not trusted (" in seen.blocker
    assert seen.blocker.endswith("give --trust if you trust it")
    places = ("home_files", "session.settings", "model[0].stream[0]", "script[0], after model")
    assert any(f"trusted ({place}" in seen.blocker for place in places)
