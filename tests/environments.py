"""The project as a user has it: its wheel, installed into an environment of its own."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

__all__ = ["environment", "install", "shared_environment"]

ROOT = Path(__file__).parents[1]
_QUIET = ("--quiet", "--no-deps", "--disable-pip-version-check")


def environment(folder: Path) -> Path:
    """Make an environment in `folder` that has the packages of this one; return its scripts.

    An editable install here stays unseen: `.pth` files count in the environment's own folder only.
    """
    venv.create(folder, with_pip=find_spec("pip") is None)
    site_packages(folder / "bin").joinpath("dependencies.pth").write_text(
        sysconfig.get_path("purelib")
    )
    scripts = folder / "bin"
    for name in ("pip", "pytest"):
        (scripts / name).write_text(f"#!/bin/sh\nexec '{scripts}/python' -m {name} \"$@\"\n")
        (scripts / name).chmod(0o755)
    return scripts


def site_packages(scripts: Path) -> Path:
    """Return the folder of the packages of an environment."""
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return scripts.parent / "lib" / python / "site-packages"


def install(scripts: Path, checkout: Path, words: Sequence[str] = ("pip", "install", ".")) -> None:
    """Install the project of a checkout; skips the test where pip cannot get the build tool."""
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*words, *_QUIET],
        cwd=checkout,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("the wheel cannot be built: pip cannot get hatchling here")
    assert done.returncode == 0, done.stderr


def shared_environment(factory: pytest.TempPathFactory) -> Path:
    """Return the scripts of an environment with this tree's wheel, made once in a test session."""
    base = factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "installed"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scripts, made = folder / "environment" / "bin", folder / "made"
        if not made.exists():
            install(environment(folder / "environment"), ROOT)
            made.touch()
    return scripts
