"""`parity` holds our packages under long names, and leaves their short names to the user."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import agent_protocol.errors
import parity
from parity import own_name, short_name

REPOSITORY = Path(__file__).parents[2]

LONG = """
import sys, parity
import parity.agent_protocol.errors as errors
from parity.harness.sides import engines_of
assert errors.AgentError.__module__ == "parity.agent_protocol.errors"
assert not [name for name in sys.modules if name.partition(".")[0] in parity.OWN]
assert parity.own_name("harness.sides") == engines_of.__module__ == "parity.harness.sides"
"""
LAZY = """
import sys
from parity.seeded_faults.patching import replaced
with replaced("agent_protocol.errors:StreamActive", lambda kept: "broken"):
    assert sys.modules["parity.agent_protocol.errors"].StreamActive == "broken"
import pickle, parity.agent_protocol.errors as errors
assert pickle.loads(pickle.dumps(errors.AgentError())).__class__ is errors.AgentError
"""
OWN_SERVICES = """
import parity.services.threads
import services
assert services.OWNER == "the user"
"""
REFUSED = """
import parity.services.threads
import services.threads
"""


def python(code: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, [*paths, REPOSITORY]))
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("code", [LONG, LAZY], ids=["long", "lazy"])
def test_our_modules_have_long_names_and_find_each_other(code: str) -> None:
    done = python(code)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_short_name_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "services.py").write_text("OWNER = 'the user'\n")

    done = python(OWN_SERVICES, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_our_modules_are_not_imported_a_second_time() -> None:
    done = python(REFUSED)

    assert done.stderr.endswith("ImportError: import parity.services instead of services\n")


def test_beside_short_names_the_long_ones_are_the_same_modules() -> None:
    errors = import_module("parity.agent_protocol.errors")

    assert errors is agent_protocol.errors
    assert errors.__spec__ is not None
    assert errors.__spec__.name == "agent_protocol.errors"
    assert own_name("services.bundle") == "services.bundle"


def test_names_of_others_stay_as_they_are() -> None:
    assert short_name("parity.services.bundle") == "services.bundle"
    assert short_name("shop.parity") == own_name("shop.parity") == "shop.parity"
    assert REPOSITORY == parity.ROOT
