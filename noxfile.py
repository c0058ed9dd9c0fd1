"""Every check, by the name that CI uses. `nox -l` lists them; `nox` runs `tests` and `parity`."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.sessions = ["tests", "parity"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "virtualenv"

PYPROJECT = nox.project.load_toml("pyproject.toml")
PACKAGES = ["agent_protocol", "seeded_faults", "services", "runtimes", "surfaces", "harness"]
CORPUS = ["cassettes", "cassettes/http"]
BASELINES = "baselines/upstream"
REPORT = Path("parity-report")
OBSERVED_ANEW = 150
"""How many baselines a pull request observes anew."""
MEASURED = [0, 1, 3]
"""Exit codes after which there is an answer of the gate, good or bad."""

JOBS = ["-n", "3"]
"""Workers for two processors, as some cases only wait."""
AT_ONCE = [*JOBS, "--dist", "loadfile", "--no-loadscope-reorder"]
"""Tests: a file with its fixtures in one place, in order."""
CONFORMANCE_KIT = "@modelcontextprotocol/conformance@0.1.16"
"""The kit's scenarios change with its version: `tests/services/mcp/conformance` lists them."""
ACP_CLIENT = "@agentclientprotocol/sdk@0.16.1"
"""Later versions have no example client."""
A2A_CLIENTS = ("@a2a-js/sdk@1.3.0", "a2a-js-sdk-0.3@npm:@a2a-js/sdk@0.3.13")
"""The clients of protocol 1.x and of 0.3."""
A2A_KIT = "https://github.com/a2aproject/a2a-tck"
A2A_KIT_COMMITS = {
    "0.3.x": "eb1f804c27ea25db8805264d9ed2d7ca077a7776",
    "main": "410ba92e1b264df895e1fe6eccfe22db7aeaab06",
    "1.0-dev": "357c4a87afda2818731590647cccbea31c31733a2",
}
"""The compatibility kit of A2A, and its state on each branch: for protocol 0.3, a draft of 1.0, and
1.0. `tests/surfaces/a2a/test_kit.py` lists what fails there, and why."""
A2A_KIT_NEEDS = (
    "pytest", "pytest-asyncio", "pytest-html", "pytest-json-report", "httpx", "requests",
    "responses", "deepdiff", "jsonschema", "packaging", "PyYAML", "python-dotenv", "grpcio",
    "grpcio-tools", "grpcio-status", "proto-plus", "googleapis-common-protos", "pyOpenSSL",
    "aiohttp", "gherkin-official", "Jinja2",
)  # fmt: skip
"""What the kit imports. It has an environment of its own."""
INSTALLED: dict[str, set[str]] = {}
"""What each environment has been given in this run of nox."""


def group(name: str) -> tuple[str, ...]:
    return nox.project.dependency_groups(PYPROJECT, name)


def install(session: nox.Session, *groups: str) -> None:
    """Install the project, with `groups`, into the session's environment, once in a run of nox."""
    there = INSTALLED.get(session.virtualenv.location)
    if there is None or not there.issuperset(groups):
        session.install("-e", ".", *(package for name in groups for package in group(name)))
        INSTALLED.setdefault(session.virtualenv.location, set()).update(groups)


def tools(session: nox.Session) -> None:
    """Install the linters, which do without the project."""
    if "lint" not in INSTALLED.get(session.virtualenv.location, ()):
        session.install(*group("lint"))


@nox.session
def checks(session: nox.Session) -> None:
    """All that `.ci/run` runs before the tests, in one environment that is installed once."""
    install(session, "lint", "types")
    for check in (lint, imports, types, unused, evidence):
        check(session)
    if newer := newer_adk(session):
        session.notify("newest_adk", [newer, purelib(session)])


@nox.session
def parity(session: nox.Session) -> None:
    """The main job: the corpus through both runtimes; leaves a report in parity-report/."""
    install(session)
    REPORT.mkdir(exist_ok=True)
    session.run(
        "parity",
        "run",
        *(session.posargs or CORPUS),
        *JOBS,
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
    install(session)
    core_agrees(session, ["--prune"] if "--update" in session.posargs else ["--check"])


def core_agrees(session: nox.Session, observing: list[str]) -> None:
    """`upstream`, with the baselines observed as `observing` says."""
    journal = ["--journal", str(REPORT / "upstream.jsonl")]
    against = ["parity", "run", *CORPUS, "--candidate", "legacy", *JOBS, *journal]
    if shutil.which("node") is None or shutil.which("npm") is None:
        session.run(*against, "--control", f"baseline:{BASELINES}")
        session.warn("the baselines were not observed anew: that takes node 20 and npm")
        return
    session.run("parity", "upstream", "install")
    observe = [
        "parity",
        "baseline",
        *CORPUS,
        "--runtime",
        "upstream",
        "--out",
        BASELINES,
        *JOBS,
    ]
    session.run(*observe, *observing)
    # Just now observed to be what the core does: another run of the core would show nothing new.
    session.run(*against, "--control", f"baseline:{BASELINES}")


@nox.session
def gate(session: nox.Session) -> None:
    """Ask the gates of all phases, profile pull_request; sign the answer of A.

    Takes the journals that `parity` and `upstream` left in parity-report/, and measures what lacks.
    `-- --policy-from origin/main` judges by the gates and waivers of that revision. The key is made
    for this run and thrown away: what it signs proves that signing works, and flips nothing.
    """
    install(session)
    asked: list[str] = []
    for phase in "CBA":
        asked = about(phase, "pull_request")
        session.run("parity", "measure", *asked, *JOBS, *session.posargs)
    if not clean_checkout(session):
        session.warn("not signed: what is signed must lie committed in a clean checkout of git")
        return
    # Not the session's own temporary folder: runs would lie in it, at longer paths than before.
    with tempfile.TemporaryDirectory(prefix="parity-signing-") as folder:
        key, records = str(Path(folder, "ci.key")), ["--signoffs", str(Path(folder, "signoffs"))]
        session.run("parity", "keygen", "--out", key, "--name", "ci", "--no-passphrase")
        signed = ["--key", key, "--signer", "ci", *JOBS, "--cases", "30", "--yes", *records]
        session.run("parity", "sign", *asked, *signed)
        session.run("parity", "verify", *records, "--also-trust", f"ci={key}.pub", "--replay", "5")


@nox.session
def evidence(session: nox.Session) -> None:
    """What CI needs of the command itself, one after the other in one environment."""
    install(session)
    session.run("python", "-m", "harness.report.differences", "--check")
    session.run("parity", "check", *CORPUS)
    parity(session)
    # Of the baselines some, others for each commit: all of them are observed by night.
    some = ["--most", str(OBSERVED_ANEW), "--seed", str(commit_seed(session))]
    core_agrees(session, ["--check", *some])
    gate(session)


@nox.session
def newest_adk(session: nox.Session) -> None:
    """What breaks with the newest google-adk of the package index: a warning, never a failure.

    `-- VERSION FOLDER` names the version, and a folder of installed packages that saves installing
    all the others.
    """
    version, folder = session.posargs if len(session.posargs) == 2 else (newer_adk(session), None)
    if version is None:
        return
    if folder is None:
        install(session, "tests")
    else:
        Path(purelib(session), "shared.pth").write_text(f"import site; site.addsitedir({folder!r})")
    corpus = ["cassettes/text", "cassettes/hooks", *JOBS]
    broken = [
        what
        for what, words in (
            ("the installation", ["pip", "install", "--quiet", f"google-adk=={version}"]),
            ("the tests", ["pytest", "-q", "--tb=line", "--timeout=20", "tests/runtimes/adk"]),
            ("the corpus", ["parity_entry", "run", *corpus]),
        )
        if not succeeds(session, "python", "-m", *words)
    ]
    if broken:
        session.warn(f"google-adk {version} breaks {', '.join(broken)}: see above (no failure)")
    else:
        session.log(f"google-adk {version} breaks nothing")


def succeeds(session: nox.Session, *words: str, seconds: int = 60) -> bool:
    """Run a command for so long at most; whether it succeeded."""
    bound = ["timeout", str(seconds)] if shutil.which("timeout") else []
    try:
        session.run(*bound, *words, external=True)
    except nox.command.CommandFailed:
        return False
    return True


def newer_adk(session: nox.Session) -> str | None:
    """The newest google-adk that the package index has; `None`, and a line, where it is ours."""
    ask = ["pip", "--retries", "0", "--timeout", "5", "index", "versions", "google-adk", "--json"]
    said = str(session.run("python", "-m", *ask, silent=True, success_codes=[0, 1, 2]))
    answer = re.search(r'"latest": "([^"]+)"', said)
    pinned = next(each for each in PYPROJECT["project"]["dependencies"] if "google-adk==" in each)
    if answer is None:
        session.log("the package index does not say which google-adk is the newest")
    elif f"google-adk=={answer[1].rpartition('.')[0]}.*" == pinned:
        session.log(f"{answer[1]} is the newest google-adk, and what {pinned} allows")
    else:
        return answer[1]
    return None


def purelib(session: nox.Session) -> str:
    """The folder of the packages in the session's environment."""
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return str(session.run("python", "-c", where, silent=True)).strip()


@nox.session
def nightly(session: nox.Session) -> None:
    """All that the gate asks for a release, and all tests: about two hours, with node.

    Nothing is signed: that is up to a person, with `parity sign --phase B --journal parity-report`.
    """
    install(session, "tests")
    session.run("parity", "upstream", "install")
    for phase in "CBA":
        words = ["parity", "measure", *about(phase, "release"), *JOBS, *session.posargs]
        session.run(*words, success_codes=MEASURED)
    # The slow ones too, and other examples each night.
    kits = {**node_peers(session), **a2a_kits(session)}
    session.run("pytest", "-m", "slow or not slow", *AT_ONCE, env=kits)
    for phase in "ABC":
        session.run("parity", "gate", *about(phase, "release"), *session.posargs)


def about(phase: str, profile: str) -> list[str]:
    """The words of a question to the gate, for who measures, asks or signs."""
    return ["--phase", phase, "--profile", profile, "--journal", str(REPORT)]


def clean_checkout(session: nox.Session) -> bool:
    """Whether this is a checkout of git in which everything is committed."""
    if shutil.which("git") is None:
        return False
    said = session.run(
        "git", "status", "--porcelain", silent=True, external=True, success_codes=[0, 128]
    )
    return not str(said).strip()


def commit_seed(session: nox.Session) -> int:
    """A seed that is another one for each commit, and the same one when it is run again.

    A bound is about draws, so it takes ones that the code was not written for.
    """
    if shutil.which("git") is None:
        return 0
    said = session.run(
        "git", "rev-parse", "HEAD", silent=True, external=True, success_codes=[0, 128]
    )
    first = str(said).strip()[:8]
    return int(first, 16) if re.fullmatch(r"[0-9a-f]{8}", first) else 0


@nox.session
def tests(session: nox.Session) -> None:
    """The unit tests and the parity suite, but for those that are slow: these run by night."""
    install(session, "tests")
    # Always the same examples: a pull request must not go red for what it did not change.
    words = ["--hypothesis-profile=ci", *(session.posargs or AT_ONCE)]
    session.run("pytest", *words, env=node_peers(session))


@nox.session
def adk_default(session: nox.Session) -> None:
    """The tests of the command with every `experimental.adk` flag on: adk is its default runtime.

    The flags are in the file of system defaults, as an administrator would set them.
    """
    install(session, "tests")
    names = (
        "runtime",
        "agentSessionNoninteractive",
        "agentSessionSubagent",
        "agentSessionInteractive",
    )
    flags = {f"{name}Enabled": True for name in names}
    defaults = Path(session.create_tmp()) / "adk-default.json"
    defaults.write_text(json.dumps({"experimental": {"adk": flags}}), "utf-8")
    where = session.posargs or ["tests/surfaces", *AT_ONCE]
    session.run("pytest", *where, env={"GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(defaults)})


def node_peers(session: nox.Session) -> dict[str, str]:
    """Install the conformance kit for MCP clients, the example client of ACP, and A2A's clients.

    Returns the variables that lead their tests to them.

    Without node and npm, or without their registry, these tests are skipped.
    """
    missing = "no conformance kit for MCP, no clients for ACP and A2A"
    if shutil.which("node") is None or shutil.which("npm") is None:
        session.warn(f"{missing}: they take node 20 and npm")
        return {}
    folder = session.cache_dir / "conformance"
    folder.mkdir(exist_ok=True)
    # A package.json of its own keeps npm from taking a folder further up for the project.
    (folder / "package.json").write_text('{"private": true}\n', "utf-8")
    quiet = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    packages = [CONFORMANCE_KIT, ACP_CLIENT, *A2A_CLIENTS]
    try:
        session.run("npm", "install", f"--prefix={folder}", *quiet, *packages, external=True)
    except nox.command.CommandFailed:
        session.warn(f"{missing}: npm could not install them")
        return {}
    names = ("PARITY_MCP_CONFORMANCE", "PARITY_ACP_SDK", "PARITY_A2A_SDK")
    return dict.fromkeys(names, str(folder))


@nox.session
def a2a_kit(session: nox.Session) -> None:
    """A2A's compatibility kit against `parity agent --a2a`, where the kit can be fetched."""
    kits = a2a_kits(session)
    if not kits:
        session.skip("the compatibility kit could not be fetched")
    install(session, "tests")
    session.run("pytest", "tests/surfaces/a2a/test_kit.py", "-m", "slow", env=kits)


def a2a_kits(session: nox.Session) -> dict[str, str]:
    """Fetch A2A's compatibility kit; return the variables that lead its tests to it."""
    folder = session.cache_dir / "a2a-kit"
    if shutil.which("git") is None:
        return {}
    try:
        for name, commit in A2A_KIT_COMMITS.items():
            place = folder / name
            session.run("git", "init", "-q", str(place), external=True)
            git = ["git", "-C", str(place)]
            session.run(*git, "fetch", "-q", "--depth=1", A2A_KIT, commit, external=True)
            session.run(*git, "checkout", "-q", "--force", "FETCH_HEAD", external=True)
        session.run("python", "-m", "venv", str(folder / "venv"))
        python = str(folder / "venv" / "bin" / "python")
        session.run(python, "-m", "pip", "install", "-q", *A2A_KIT_NEEDS, external=True)
    except nox.command.CommandFailed:
        session.warn("no compatibility kit for A2A: it could not be fetched")
        return {}
    return {"PARITY_A2A_TCK": str(folder), "PARITY_A2A_TCK_PYTHON": python}


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and formatting, without changing anything."""
    tools(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types over the packages and the tests."""
    install(session, "types")
    session.run("mypy")


@nox.session
def unused(session: nox.Session) -> None:
    """What the packages define and only tests use."""
    install(session, "types")
    session.run("python", "-m", "tests.unused_code")


@nox.session
def imports(session: nox.Session) -> None:
    """Who may import whom."""
    tools(session)
    session.run("lint-imports", env={"PYTHONPATH": "."})


@nox.session
def cassettes(session: nox.Session) -> None:
    """Every cassette of the corpus is valid, and is run by somebody."""
    install(session)
    session.run("parity", "check", *(session.posargs or CORPUS))


@nox.session
def docs(session: nox.Session) -> None:
    """Writes what the docs take from waivers and probes; with `-- --check`, says if it is stale."""
    install(session)
    session.run("python", "-m", "harness.report.differences", *session.posargs)
    session.run("python", "-m", "parity_tests.adk_probes.page", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Ratios within one run; the figures go into benchmarks/README.md by hand."""
    install(session)
    session.run("python", "-m", "benchmarks", *session.posargs)
