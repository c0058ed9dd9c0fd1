"""Every check, by the name that CI uses. `nox -l` lists them; `nox` runs `tests` and `parity`."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.sessions = ["tests", "parity"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "virtualenv"

PYPROJECT = nox.project.load_toml("pyproject.toml")
PACKAGES = ["agent_protocol", "services", "runtimes", "harness"]
CORPUS = ["cassettes", "cassettes/http"]
REPORT = Path("parity-report")


def group(name: str) -> tuple[str, ...]:
    return nox.project.dependency_groups(PYPROJECT, name)


@nox.session
def parity(session: nox.Session) -> None:
    """The main job: the corpus through both runtimes; leaves a report in parity-report/."""
    session.install("-e", ".")
    REPORT.mkdir(exist_ok=True)
    session.run(
        "parity",
        "run",
        *(session.posargs or CORPUS),
        "-n",
        "2",
        "--journal",
        str(REPORT / "journal.jsonl"),
        "--json",
        str(REPORT / "report.json"),
        "--junit",
        str(REPORT / "junit.xml"),
        "--html",
        str(REPORT),
    )


@nox.session
def tests(session: nox.Session) -> None:
    """The unit tests and the parity suite."""
    session.install("-e", ".", *group("tests"))
    session.run("pytest", *(session.posargs or ["-n", "2"]))


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and formatting, without changing anything."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types over the packages and the tests."""
    session.install("-e", ".", *group("types"))
    session.run("mypy")


@nox.session
def imports(session: nox.Session) -> None:
    """Who may import whom."""
    session.install(*group("lint"))
    session.run("lint-imports", env={"PYTHONPATH": "."})


@nox.session
def cassettes(session: nox.Session) -> None:
    """Every cassette of the corpus is valid, and is run by somebody."""
    session.install("-e", ".")
    session.run("parity", "check", *(session.posargs or CORPUS))


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Ratios within one run; the figures go into benchmarks/README.md by hand."""
    session.install("-e", ".")
    session.run("python", "-m", "benchmarks", *session.posargs)
