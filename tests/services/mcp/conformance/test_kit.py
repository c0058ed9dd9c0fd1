"""The official conformance kit for MCP clients, with our client.

`nox -s tests` installs the kit where there is npm. By hand: `npm install --ignore-scripts --prefix
FOLDER @modelcontextprotocol/conformance@0.1.16`, then set `PARITY_MCP_CONFORMANCE` to FOLDER.

Of these scenarios the published core's client (0.61.0) passes `BY_THE_CORE`. It fails all sign-ins,
as it wants an `iss` that the kit's server does not promise (RFC 9207, section 2.4).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from runtimes.published import UpstreamUnavailable
from runtimes.published.node import find_node

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[3]
FOLDER: Final = "PARITY_MCP_CONFORMANCE"

BY_THE_CORE: Final = ("initialize", "tools_call", "auth/resource-mismatch")
ALSO_AT_EACH_CHANGE: Final = ("auth/metadata-default", "auth/pre-registration")
BY_NIGHT: Final = (
    "sse-retry",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
)
FAILED: Final = {
    "elicitation-sep1034-client-defaults": "the client declares no elicitation, as upstream",
    "auth/basic-cimd": "there is no client metadata document; the client registers instead",
    "auth/scope-step-up": "no sign-in begins within an open connection",
    "auth/scope-retry-limit": "no sign-in begins within an open connection",
    "auth/2025-03-26-oauth-metadata-backcompat": "the metadata name another issuer (RFC 8414, 3.3)",
    "auth/client-credentials-jwt": "an extension: no user signs in",
    "auth/client-credentials-basic": "an extension: no user signs in",
    "auth/cross-app-access-complete-flow": "an extension: no user signs in",
}
"""Scenarios that our client does not pass, with the reasons. The published core fails them too."""


@pytest.fixture(scope="module")
def kit() -> list[str]:
    """The command of the kit."""
    folder = os.environ.get(FOLDER)
    if not folder:
        pytest.skip(f"{FOLDER} names no folder with the conformance kit; npm installs one")
    program = Path(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
    if not program.is_file():
        pytest.skip(f"{folder} has no conformance kit")
    try:
        node = find_node()
    except UpstreamUnavailable as error:
        pytest.skip(str(error))
    return [str(node), "--import", str(HERE / "node20.mjs"), str(program)]


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    "scenario",
    [
        *BY_THE_CORE,
        *ALSO_AT_EACH_CHANGE,
        *(pytest.param(name, marks=pytest.mark.slow) for name in BY_NIGHT),
    ],
)
def test_our_client_passes(kit: list[str], scenario: str) -> None:
    client = shlex.join([sys.executable, "-m", "tests.services.mcp.conformance.client"])
    done = _run([*kit, "client", "--scenario", scenario, "--command", client])
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_scenario_of_the_kit_is_passed_or_has_a_reason(kit: list[str]) -> None:
    done = _run([*kit, "list", "--client"])
    listed = re.findall(r"^  - (\S+)", done.stdout, re.MULTILINE)
    known = [*BY_THE_CORE, *ALSO_AT_EACH_CHANGE, *BY_NIGHT, *FAILED]
    assert sorted(listed) == sorted(known), done.stderr
