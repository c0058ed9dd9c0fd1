"""The wheel beside a project whose packages have the names of ours, and whose runtime uses them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from parity import OWN
from tests.environments import shared_environment, site_packages

REPOSITORY = Path(__file__).parents[2]
NAMES = sorted(OWN)
CASSETTE = (REPOSITORY / "cassettes" / "text" / "blank_answer.yaml").read_text("utf-8")
RUNTIME = f"""
from contextlib import asynccontextmanager
from services.stock import LEFT
from parity.runtimes.contract import Runtime
from parity.runtimes.legacy import open_runtime as legacy
import {", ".join(NAMES)}
OWNERS = {{each.OWNER for each in ({", ".join(NAMES)})}}
@asynccontextmanager
async def open_runtime(of_parity):
    from services import stock
    assert (LEFT, stock.LEFT, OWNERS) == (3, 3, {{"the user"}})
    async with legacy(of_parity) as runtime:
        yield runtime
"""
TEST = f"""
import sys
from services.stock import LEFT
import {", ".join(NAMES)}
def test_own():
    assert LEFT == 3
    assert {{each.OWNER for each in ({", ".join(NAMES)})}} == {{"the user"}}
    loaded = {{name for name in sys.modules if name.startswith("parity")}}
    assert loaded == {{"parity_entry", "parity_entry.pytest_plugin", "parity_tests"}}
"""
CONFIGURATION = "[pytest]\nasyncio_default_fixture_loop_scope = function\n"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_environment(tmp_path_factory)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with packages of our names, a runtime, a cassette and a test."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWNER = 'the user'\n")
    facts = tmp_path / "shop-1.5.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.5\n")
    (facts / "entry_points.txt").write_text("[parity.runtimes]\nshop = shop:open_runtime\n")
    for name, text in {
        "services/stock.py": "LEFT = 3\n",
        "shop.py": RUNTIME,
        "test_own.py": TEST,
        "cassettes/text/blank_answer.yaml": CASSETTE,
        "pytest.ini": CONFIGURATION,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(scripts: Path, project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [scripts / words[0], *words[1:]],
        cwd=project,
        env={**kept, "PYTHONPATH": str(project), "PARITY_KEEP": "0"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_takes_two_names(scripts: Path) -> None:
    """Files of two projects in one folder of site-packages would overwrite each other."""
    (facts,) = site_packages(scripts).glob("parity-*.dist-info")
    names = [line.partition(",")[0] for line in (facts / "RECORD").read_text().splitlines()]

    tops = {name.partition("/")[0] for name in names if not name.startswith("../")}
    assert tops == {"parity", "parity_entry", facts.name}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.sampled(2)
def test_the_command_runs_the_users_runtime(jobs: str, scripts: Path, project: Path) -> None:
    done = run(scripts, project, "parity", "run", "--candidate", "shop", "-n", jobs)

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "parity: legacy and shop over 1 case" in done.stdout


def test_a_plain_session_of_pytest_imports_the_plugins_module_alone(
    scripts: Path, project: Path
) -> None:
    done = run(scripts, project, "pytest", "-q")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_plugin_judges_the_users_runtime(scripts: Path, project: Path) -> None:
    words = ["--parity", "--parity-candidate", "shop", "cassettes", "test_own.py"]

    (project / "test_own.py").write_text(TEST.partition("    loaded =")[0])
    done = run(scripts, project, "pytest", *words)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "parity: legacy and shop over 1 case" in done.stdout
