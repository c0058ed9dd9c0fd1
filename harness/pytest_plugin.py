"""The pytest plugin: `pytest --parity` takes cassettes for tests, in any project.

Loaded by pytest wherever this project is installed, so it imports nothing that takes time, and does
nothing at all without `--parity` (or `parity = true` in pytest's configuration). What a case costs
is imported by `harness.pytest_cases` when the first cassette is collected.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:  # a run without cassettes does not pay for them
    from harness.pytest_cases import CassetteFileNode, Session

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_GLANCE: Final = 8192
_CASSETTE: Final = re.compile(rb"""(?:^cassette[ ]*:|[{,]\s*"cassette"\s*:)""", re.MULTILINE)
"""What a cassette begins with; a project has other YAML and JSON files."""

_OPTIONS: Final = (
    ("control", "NAME", "The runtime that is right, or baseline:DIR (legacy)."),
    ("candidate", "NAME", "The runtime that is judged (adk)."),
    ("phase", "A|B|C", "Only cassettes of this rollout phase."),
    ("repeat", "N", "Runs of each side; from 2 on, what differs from run to run is told apart (1)."),
    ("waivers", "FILE", "Accepted differences; parity_tests/waivers.toml if there is one."),
    ("as-of", "DATE", "Judge the waivers by this day, as 2026-01-31, instead of today (UTC)."),
    ("journal", "FILE", "Write a journal of the cassettes' results when the session ends."),
)
_SESSION = pytest.StashKey["Session"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `parity run`, as far as pytest has none of its own for the same."""
    group = parser.getgroup("parity", "cassettes through two runtimes")
    group.addoption(
        "--parity",
        action="store_true",
        default=None,
        help="Collect cassettes as tests: each is replayed through two runtimes and compared.",
    )
    group.addoption(
        "--parity-trust",
        action="store_true",
        default=None,
        help="Run cassettes that start processes (shell commands, hooks, servers) from anywhere.",
    )
    parser.addini("parity", "As --parity.", type="bool", default=False)
    parser.addini("parity_trust", "As --parity-trust.", type="bool", default=False)
    for name, metavar, words in _OPTIONS:
        key = f"parity_{name.replace('-', '_')}"
        group.addoption(f"--parity-{name}", dest=key, metavar=metavar, default=None, help=words)
        parser.addini(key, f"As --parity-{name}.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Check what was asked for before anything is collected."""
    if not _asked(config, "parity"):
        return
    from harness.pytest_cases import Session

    config.stash[_SESSION] = Session.of(
        {name: _asked(config, f"parity_{name.replace('-', '_')}") for name, *_ in _OPTIONS},
        trust=bool(_asked(config, "parity_trust")),
        worker=hasattr(config, "workerinput"),
    )


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> CassetteFileNode | None:
    """Take a cassette for a test."""
    session = parent.config.stash.get(_SESSION, None)
    if session is None or file_path.suffix not in _SUFFIXES or not _is_cassette(file_path):
        return None
    from harness.pytest_cases import CassetteFileNode

    return CassetteFileNode.from_parent(parent, path=file_path, parity=session)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Let a case's result travel with its report, from a worker of pytest-xdist too."""
    report = yield
    session = item.config.stash.get(_SESSION, None)
    if session is not None and call.when == "call":
        session.attach(item, report)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """See `_Collector`: this hook is not told the configuration."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say whose problem it is, and what changed, if anything is red."""
