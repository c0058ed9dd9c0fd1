"""A checkout in which a gate is asked: gates, waivers, contract, cassettes, evidence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.gate.here import here
from tests.harness.gate.green import (
    DAY,
    GATES,
    NAMES,
    World,
    kills,
    measured,
    mutants,
    sample,
    world,
)

__all__ = ["CONTRACT", "git", "made_checkout", "world_of"]

CONTRACT = """# The contract

## Phase A: non-interactive

### tools

| id | behaviour | probes | source |
| --- | --- | --- | --- |
| P-001 | One holds. | `tool:one` | design |
| P-002 | Two holds. | `tool:two` | design |
"""


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def made_checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make one at `folder` and go there."""
    suite = folder / "parity_tests"
    suite.mkdir(parents=True)
    (suite / "gates.toml").write_text(GATES, "utf-8")
    (suite / "waivers.toml").write_text("format = 1\n")
    (suite / "contract.md").write_text(CONTRACT)
    for name in NAMES:
        file = folder / "cassettes" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"cassette: 1\nname: {name}\nphase: A\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)  # as wide as it takes
    return folder


def world_of(folder: Path) -> World:
    """Evidence of the very things that are in the checkout at `folder`, where we are."""
    assert folder == Path.cwd()
    current = here(None, None, DAY).current
    made = world()
    made.current = current
    for leg in made.legs.values():
        leg.inventory = current
    of_here = {"measured": measured(components=current.digests)}
    made.kills = kills(conditions=of_here)
    made.mutants = [mutants() | of_here]
    made.samples = [sample(**of_here)]
    return made
