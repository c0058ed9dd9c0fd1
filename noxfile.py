"""Every check, by the name that CI uses. `nox -l` lists them; `nox` runs `tests` and `parity`."""

from __future__ import annotations

import re
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
MEASURED = [0, 1, 3]
"""Exit codes after which there is a result, good or bad: what it means, the gate says."""


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
    journal = ["--journal", str(REPORT / "upstream.jsonl")]
    against = ["parity", "run", *CORPUS, "--candidate", "legacy", "-n", "2", *journal]
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
def gate(session: nox.Session) -> None:
    """Whether phase A may be flipped as far as a pull request can tell; signed and verified.

    Takes the journals that `parity` and `upstream` left in parity-report/, and measures what lacks.
    `-- --policy-from origin/main` judges by the gates and waivers of that revision. The key is made
    for this run and thrown away: what it signs proves that signing works, and flips nothing.
    """
    session.install("-e", ".")
    report = str(REPORT)
    for engines in ("legacy", "adk"), ("adk", "legacy"):
        # Begun in the first, resumed in the second; beside it the second from the beginning.
        name = "-then-".join(engines)
        control = f"{engines[1]}+{engines[1]}"
        sides = ["--control", control, "--candidate", "+".join(engines)]
        journal = ["--journal", str(REPORT / f"{name}.jsonl")]
        session.run("parity", "run", *CORPUS, *sides, "-n", "2", *journal, success_codes=MEASURED)
    faults = ["--sample", "60", "--corpus-only", "-n", "2"]
    kills = ["--json", str(REPORT / "kills.json")]
    session.run("parity", "faults", *CORPUS, *faults, *kills, success_codes=MEASURED)
    drawn = ["--sample", "--examples", "300", "--seed", str(commit_seed(session)), "-n", "2"]
    sample = ["--json", str(REPORT / "sample.json")]
    session.run("parity", "generate", *drawn, *sample, success_codes=MEASURED)
    asked = ["--phase", "A", "--profile", "pull_request", "--journal", report]
    answer = ["--json", str(REPORT / "gate.json")]
    session.run("parity", "gate", *asked, *answer, *session.posargs)
    folder = Path(session.create_tmp()).resolve()
    for old in ("ci.key", "ci.key.pub"):
        (folder / old).unlink(missing_ok=True)
    shutil.rmtree(folder / "signoffs", ignore_errors=True)
    key, records = str(folder / "ci.key"), ["--signoffs", str(folder / "signoffs")]
    session.run("parity", "keygen", "--out", key, "--name", "ci", "--no-passphrase")
    signed = ["--key", key, "--signer", "ci", "-n", "2", "--yes", *records]
    session.run("parity", "sign", *asked, *signed)
    session.run("parity", "verify", *records, "--also-trust", f"ci={key}.pub", "--replay", "5")


def commit_seed(session: nox.Session) -> int:
    """A seed that is another one for each commit, and the same one when it is run again.

    A bound is about draws that nobody looked at while the code was written.
    """
    said = session.run(
        "git", "rev-parse", "HEAD", silent=True, external=True, success_codes=[0, 128]
    )
    first = str(said).strip()[:8]
    return int(first, 16) if re.fullmatch(r"[0-9a-f]{8}", first) else 0


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
