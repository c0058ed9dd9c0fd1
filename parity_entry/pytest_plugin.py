"""The pytest plugin: `pytest --parity` collects cassettes as tests, in any project.

`PARITY_RECORD=1 pytest` records the tests' traffic with models as cassettes.

pytest loads it wherever this project is installed, so it imports none of our other packages, and
does nothing without `--parity` (or `parity = true` in pytest's configuration) and the variable. A
process of its own imports them, as the user's project may have packages of the same names.
"""

from __future__ import annotations

import os
import sys
from typing import Final

import pytest

__all__ = ["pytest_addoption", "pytest_configure"]

_RECORD: Final = "PARITY_RECORD"
_OPTIONS: Final = (
    ("control", "NAME", "The runtime that is right, or baseline:DIR (legacy)."),
    ("candidate", "NAME", "The runtime that is judged (adk)."),
    ("phase", "A|B|C", "Only cassettes of this rollout phase."),
    (
        "repeat",
        "N",
        "Runs of each side; from 2 on, what differs from run to run is reported apart (1).",
    ),
    ("limits", "LIMITS", "End a case that uses more, as cpu=30,wall=180,memory=1536."),
    ("waivers", "FILE", "Accepted differences; parity_tests/waivers.toml if there is one."),
    ("as_of", "DATE", "Judge the waivers by this day, as 2026-01-31, instead of today (UTC)."),
    ("journal", "FILE", "Write a journal of the cassettes' results when the session ends."),
)


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
        option = f"--parity-{name.replace('_', '-')}"
        group.addoption(option, metavar=metavar, default=None, help=words)
        parser.addini(f"parity_{name}", f"As {option}.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before anything is collected, and register the hooks."""
    _configure_recording(config)
    if not _asked(config, "parity"):
        return
    from parity_entry.pytest_session import CassetteHooks
    from parity_entry.serving import JudgeFailed, Serving

    serving = Serving()
    config.add_cleanup(serving.close)
    texts = {name: str(_asked(config, f"parity_{name}") or "") for name, *_ in _OPTIONS}
    trust = bool(_asked(config, "parity_trust"))
    try:
        serving.ask("plan", texts=texts, paths=list(config.args), trust=trust, sys_path=sys.path)
    except JudgeFailed as failed:
        raise pytest.UsageError(f"parity: {failed}") from None
    config.pluginmanager.register(CassetteHooks(config, serving), "parity-cassettes")


def _configure_recording(config: pytest.Config) -> None:
    wanted = os.environ.get(_RECORD, "")
    if wanted in ("", "0"):
        return
    if wanted not in ("1", "replace"):
        raise pytest.UsageError(
            f"parity: {_RECORD} is {wanted!r}; 1 records what has no cassette, "
            "replace records everything, 0 nothing"
        )
    from parity_entry.pytest_recording import RecordingHooks

    hooks = RecordingHooks(config, replace=wanted == "replace")
    config.pluginmanager.register(hooks, "parity-recording")


def _asked(config: pytest.Config, name: str) -> object:
    """The value of the command line, else of the configuration file."""
    value: object = config.getoption(name)
    return config.getini(name) if value is None else value
