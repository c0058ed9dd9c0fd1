"""Finds the node that runs the published core, and the npm that installs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Final

from runtimes.published.problems import UpstreamUnavailable
from runtimes.published.versions import MINIMUM_NODE

__all__ = ["find_node", "find_npm", "node_version"]

_VARIABLE: Final = "PARITY_NODE"
_ANSWER_S: Final = 30
"""The limit for `node --version`; a shim's first start on a busy machine takes seconds."""
_MEND: Final = f"install node {MINIMUM_NODE} or newer, or name one with {_VARIABLE}"


def find_node() -> Path:
    """The absolute path of a node that is new enough: `$PARITY_NODE`, else the one on `PATH`.

    The version of a path is checked once in this process.

    Raises:
        UpstreamUnavailable: there is none, it is too old, or it does not say its version.
    """
    named = os.environ.get(_VARIABLE)
    found = shutil.which(named or "node")
    if found is None:
        if named:
            raise UpstreamUnavailable(f"{_VARIABLE} names no program: {named}", _MEND)
        raise UpstreamUnavailable("node is not on PATH, and the published core needs it", _MEND)
    node = Path(found).absolute()
    _check_version(node)
    return node


def node_version() -> str:
    """The version of that node: `20.19.2`.

    Raises:
        UpstreamUnavailable: as `find_node`.
    """
    return _said(find_node()).removeprefix("v")


def find_npm(node: Path) -> Path:
    """The absolute path of the npm that belongs to `node`, else the one on `PATH`.

    Raises:
        UpstreamUnavailable: there is none.
    """
    beside = (str(folder) for folder in dict.fromkeys([node.parent, node.resolve().parent]))
    for path in (*beside, None):
        found = shutil.which("npm", path=path)
        if found is not None:
            return Path(found).absolute()
    raise UpstreamUnavailable(
        f"there is no npm, neither beside {node} nor on PATH",
        "install npm; it comes with node, but some systems ship it as a package of its own",
    )


@lru_cache
def _check_version(node: Path) -> None:
    said = _said(node)
    match = re.fullmatch(r"v([0-9]+)\.[0-9]+\.[0-9]+\S*", said)
    if match is None:
        raise UpstreamUnavailable(
            f"{node} does not say which node it is: `--version` gave {said[:80]!r}", _MEND
        )
    if int(match[1]) < MINIMUM_NODE:
        raise UpstreamUnavailable(
            f"{node} is node {said[1:]}, and the published core needs {MINIMUM_NODE} or newer",
            _MEND,
        )


def _said(node: Path) -> str:
    try:
        done = subprocess.run(
            [node, "--version"],
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=_ANSWER_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UpstreamUnavailable(f"{node} cannot be run: {error}", _MEND) from error
    return done.stdout.decode(errors="replace").strip()
