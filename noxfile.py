"""Every check, by the name that CI uses. `nox -l` lists them; `nox` runs `tests` and `parity`."""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.sessions = ["tests", "parity"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "virtualenv"

PYPROJECT = nox.project.load_toml("pyproject.toml")
PACKAGES = ["agent_protocol", "services", "runtimes", "surfaces", "harness"]
CORPUS = ["cassettes", "cassettes/http"]
BASELINES = "baselines/upstream"
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
def upstream(session: nox.Session) -> None:
    """The published core beside legacy, and its baselines observed anew; `-- --update` keeps them.

    Without node the baselines stand in for the core.
    """
    session.install("-e", ".")
    against = ["parity", "run", *CORPUS, "--candidate", "legacy", "-n", "2"]
    if shutil.which("node") is None or shutil.which("npm") is None:
        session.run(*against, "--control", f"baseline:{BASELINES}")
        session.skip("the baselines were not observed anew: that takes node 20 and npm")
    session.run("parity", "upstream", "install")
    observe = [
        "parity",
        "baseline",
        *CORPUS,
        "--runtime",
        "upstream",
        "--out",
        BASELINES,
        "-n",
        "2",
    ]
    session.run(*observe, "--prune" if "--update" in session.posargs else "--check")
    # Just now observed to be what the core does: running the core once more would tell no more.
    session.run(*against, "--control", f"baseline:{BASELINES}")


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
def docs(session: nox.Session) -> None:
    """Writes what the docs take from the waivers; with `-- --check`, only says if that is stale."""
    session.install("-e", ".")
    session.run("python", "-m", "harness.report.differences", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Ratios within one run; the figures go into benchmarks/README.md by hand."""
    session.install("-e", ".")
    session.run("python", "-m", "benchmarks", *session.posargs)
